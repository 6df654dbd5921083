// The mean of RWKV 4: types, costs, gradients, how it is divided.
//
// RUN: stg-opt %s --verify-roundtrip -o /dev/null
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt -o /dev/null
// RUN: stg-opt %s --stg-name-ops --stg-autodiff | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="tp=2" --stg-propagate-shardings --stg-insert-collectives \
// RUN:   | FileCheck %s --check-prefix=LOCAL
// RUN: stg-opt %s --stg-name-ops --stg-pass-states --stg-autodiff --stg-apply-preset="cp=2 tp=2" --stg-context-parallel="balance=none" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-lower-recurrence | FileCheck %s --check-prefix=PASSED

stg.symbol @B
stg.symbol @S
stg.symbol @MC

!k = !stg.tensor<[B, S, MC], bf16>
!c = !stg.tensor<[MC], bf16>

// CHECK: %[[Y:.*]] = stg.decaying_mean %[[K:.*]], %[[V:.*]], %[[D:.*]], %[[U:.*]] <"mean" fwd>
// CHECK: stg.decaying_mean_grad %[[K]], %[[V]], %[[D]], %[[U]], %{{.*}} <"mean" bwd>
// CHECK-SAME: -> !stg.tensor<[B, S, MC], bf16>, !stg.tensor<[B, S, MC], bf16>, !stg.tensor<[MC], f32>, !stg.tensor<[MC], f32>
//
// COST: comp "mean.fwd"({{.*}}) ops(23*B*MC*S) bytes(4*B*MC*S + 4*MC) phase "fwd"
// COST: comp "mean.bwd"({{.*}}) ops(46*B*MC*S) bytes(6*B*MC*S + 12*MC) phase "bwd"
//
// LOCAL: stg.decaying_mean {{.*}} : !stg.tensor<[B, S, MC/2], bf16>, !stg.tensor<[B, S, MC/2], bf16>, !stg.tensor<[MC/2], bf16>, !stg.tensor<[MC/2], bf16>
//
// PASSED: stg.recv over "cp" shift -1 {{.*}} : !stg.tensor<[B, MC/2, 3], f32>
// PASSED: stg.recurrence_part 23*B*MC*S/4 {{.*}}<"mean" fwd state>
func.func @mean(%k: !k {stg.name = "k"}) -> !k {
  %p = stg.param "p" : !c
  %v = stg.mul_along %k, %p {dims = array<i64: 2>} <"values"> : !k, !c
  %d = stg.param "decay" : !c
  %u = stg.param "bonus" : !c
  %y = stg.decaying_mean %v, %v, %d, %u <"mean"> : !k, !k, !c, !c
  return %y : !k
}
