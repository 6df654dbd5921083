// Whatever a repeat carries reaches the chakra level: constants are filled in, joined
// values copied, arguments and parameters read where they are.
//
// RUN: stg-opt %s --split-input-file --stg-pipeline= | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-pipeline="recompute=full" -o /dev/null
// RUN: stg-opt %s --split-input-file --stg-pipeline="recompute=selective" -o /dev/null

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>

// The gradient of the second carried value starts as zero.
// CHECK-LABEL: chakra.graph @second_carry
// CHECK: %[[SEED:.*]] = chakra.comp "layers.bwd.fill"() ops(0) bytes(32)
// CHECK: %[[ZERO:.*]] = chakra.comp "layers.bwd.fill.1"() ops(0) bytes(32)
// CHECK: chakra.repeat "layers" * L reverse carry({{.*}} = %[[SEED]] : {{.*}} = %[[ZERO]] :
func.func @second_carry(%x: !x) -> !x {
  %y:2 = stg.repeat "layers" * L carry(%c = %x : !x, %d = %x : !x) {
    %w = stg.param "w" : !x
    %a = stg.einsum "bd,df->bf" %c, %w : !x, !x
    %e = stg.add %a, %d : !x, !x
    stg.yield %e, %a : !x, !x
  }
  return %y#0 : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>
!h = !stg.tensor<[4, 2], bf16>

// What is yielded is joined of two parts: a copy.
// CHECK-LABEL: chakra.graph @joined
// CHECK: chakra.repeat "layers" * L carry(
// CHECK: %[[P:.*]] = chakra.comp "act.fwd"
// CHECK: %[[C:.*]] = chakra.comp "layers.fwd.copy"({{.*}}%[[P]]{{.*}}) ops(0) bytes(64) phase "fwd"
// CHECK: chakra.yield carry(%[[C]]
func.func @joined(%x: !x) -> !x {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %w = stg.param "w" : !stg.tensor<[4, 2], bf16>
    %a = stg.einsum "bd,df->bf" %c, %w : !x, !stg.tensor<[4, 2], bf16>
    %g = stg.activation gelu %a <"act"> : !h
    %j = stg.concat dim 1 %a, %g : !h, !h -> !x
    stg.yield %j : !x
  }
  return %y : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>

// A parameter as the first value of a stream (learned initial state).
// CHECK-LABEL: chakra.graph @parameter
// CHECK: %[[W:.*]] = chakra.state "init" : !chakra.tensor<32, parameter>
// CHECK: chakra.repeat "layers" * L carry({{.*}} = %[[W]] :
// CHECK: chakra.comp "init.opt"
func.func @parameter(%m: !x) -> !x {
  %w = stg.param "init" : !x
  %y = stg.repeat "layers" * L carry(%c = %w : !x) {
    %a = stg.einsum "bd,df->bf" %c, %m : !x, !x
    stg.yield %a : !x
  }
  return %y : !x
}
