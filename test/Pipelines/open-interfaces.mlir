// Ops of a dialect that no pass knows go from the model to traces through interfaces.

// RUN: stg-test-opt %s --stg-pipeline="tp=tp dp=dp" | FileCheck %s
// RUN: stg-test-opt %s --stg-pipeline="tp=2 dp=2 bind=B=4,D=64,F=128,L=3" > %t.mlir
// RUN: stg-translate %t.mlir --chakra-to-traces --trace-dir=%t
// RUN: stg-trace validate %t | FileCheck %s --check-prefix=VALID

// VALID: no violations in 4 ranks

stg.symbol @B
stg.symbol @D
stg.symbol @F
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!h = !stg.tensor<[B, F], bf16>

// Sharded over F like what they read; backward derived; saved by the repeat.
// CHECK-LABEL: chakra.graph @f
// CHECK: chakra.repeat "layers" * L carry
// CHECK: chakra.comp "up.fwd"{{.*}} -> !chakra.tensor<2*B*F/(dp*tp), temporary>
// CHECK: chakra.comp "softcap.fwd"({{.*}}) ops(6*B*F/(dp*tp)) bytes(4*B*F/(dp*tp)) phase "fwd" : {{.*}} -> !chakra.tensor<2*B*F/(dp*tp), activation>
// CHECK: chakra.comp "plain.fwd"({{.*}}) ops(2*B*F/(dp*tp))
// CHECK: chakra.coll all_reduce "down.fwd.all_reduce"({{.*}}) over ["tp"]
// CHECK: chakra.repeat "layers" * L reverse
// CHECK: chakra.comp "plain.bwd"
// CHECK: chakra.comp "softcap.bwd"({{.*}}) ops(4*B*F/(dp*tp))
// CHECK: chakra.coll all_reduce "gradients.grad_sync.all_reduce"({{.*}}) over ["dp"]
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %up = stg.param "up" : !stg.tensor<[D, F], bf16>
    %u = stg.einsum "bd,df->bf" %c, %up : !x, !stg.tensor<[D, F], bf16>
    %s = test.softcap %u {cap = 30.0} : !h
    %p = test.plain %s : !h -> !h
    %down = stg.param "down" : !stg.tensor<[F, D], bf16>
    %d = stg.einsum "bf,fd->bd" %p, %down : !h, !stg.tensor<[F, D], bf16>
    stg.yield %d : !x
  }
  return %y : !x
}
