// The rule of RWKV-7: types, costs, gradients, how it is divided, what it keeps.
//
// RUN: stg-opt %s --verify-roundtrip -o /dev/null
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt -o /dev/null
// RUN: stg-opt %s --stg-name-ops --stg-autodiff | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-bind="S=130" --convert-stg-to-chakra | FileCheck %s --check-prefix=COST
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="tp=2" --stg-propagate-shardings --stg-insert-collectives \
// RUN:   | FileCheck %s --check-prefix=LOCAL
// RUN: stg-opt %s --stg-name-ops --stg-pass-states --stg-autodiff --stg-apply-preset="cp=2 tp=2" --stg-context-parallel="balance=none" \
// RUN:   --stg-bind="S=256" --stg-propagate-shardings --stg-insert-collectives --stg-lower-recurrence | FileCheck %s --check-prefix=PASSED

stg.symbol @B
stg.symbol @S
stg.symbol @H

!k = !stg.tensor<[B, S, H, 16], bf16>
!v = !stg.tensor<[B, S, H, 32], bf16>
!w = !stg.tensor<[H, 16], bf16>

// CHECK: %[[Y:.*]] = stg.general_delta_rule 64 %[[Q:.*]], %[[K:.*]], %[[V:.*]], %[[D:.*]], %[[A:.*]], %[[W:.*]] <"rule" fwd>
// CHECK: stg.general_delta_rule_grad 64 %[[Q]], %[[K]], %[[V]], %[[D]], %[[A]], %[[W]], %{{.*}} <"rule" bwd>
//
// Two chunks of 64 and one of 2: 8196*(10*16 + 8*32) + 8*130*16*32 + 2*64*63*127/3 + 2*1*3/3 for each head.
// COST: comp "rule.fwd"({{.*}}) ops(4283394*B*H) matrix bytes(37440*B*H) phase "fwd"
// COST-SAME: kernel <general_delta_rule bf16 -> bf16, [3,
// COST: comp "rule.bwd"({{.*}}) ops(8566788*B*H) matrix
//
// LOCAL: stg.general_delta_rule 64 {{.*}} : !stg.tensor<[B, S, H/2, 16], bf16>, !stg.tensor<[B, S, H/2, 16], bf16>, !stg.tensor<[B, S, H/2, 32], bf16>
//
// Two chunks on each device: values written and found wait for nothing but the state.
// PASSED: stg.recurrence_part 1678016*B*H {{.*}}<"rule" fwd own>
// PASSED: stg.recv over "cp" shift -1 {{.*}} : !stg.tensor<[B, H/2, 16, 32], f32>
// PASSED: stg.recurrence_part 131072*B*H {{.*}}<"rule" fwd state>
func.func @rule(%q: !k {stg.name = "q"}, %k: !k {stg.name = "k"}, %v: !v {stg.name = "v"}, %d: !k {stg.name = "d"}, %a: !k {stg.name = "a"}) -> !v {
  %p = stg.param "p" : !w
  %b = stg.mul_along %a, %p {dims = array<i64: 2, 3>} <"written"> : !k, !w
  %y = stg.general_delta_rule 64 %q, %k, %v, %d, %a, %b <"rule"> : !k, !k, !v, !k, !k, !k
  return %y : !v
}
