// The memory of xLSTM: types, costs, gradients, how it is divided, what it hands on.
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
!g = !stg.tensor<[B, S, H], bf16>
!w = !stg.tensor<[H, 32], bf16>

// CHECK: %[[Y:.*]] = stg.matrix_memory 64 %[[Q:.*]], %[[K:.*]], %[[V:.*]], %[[I:.*]], %[[F:.*]] <"memory" fwd>
// CHECK: stg.matrix_memory_grad 64 %[[Q]], %[[K]], %[[V]], %[[I]], %[[F]], %{{.*}} <"memory" bwd>
//
// Two chunks of 64 and one of 2: 2*8196*(16 + 32 + 1) + 4*130*16*(32 + 1) for each head.
// COST: comp "memory.fwd"({{.*}}) ops(1077768*B*H) matrix bytes(25480*B*H) phase "fwd"
// COST-SAME: kernel <matrix_memory bf16 -> bf16, [3,
// COST: comp "memory.bwd"({{.*}}) ops(2155536*B*H) matrix
//
// LOCAL: stg.matrix_memory 64 {{.*}} : !stg.tensor<[B, S, H/2, 16], bf16>, !stg.tensor<[B, S, H/2, 16], bf16>, !stg.tensor<[B, S, H/2, 32], bf16>, !stg.tensor<[B, S, H/2], bf16>
//
// Two chunks on each device: 2*2*4096*49 + 2*128*16*33 for each of H/2 heads; 16*33 + 1 numbers of a state.
// PASSED: stg.recurrence_part 468992*B*H {{.*}}<"memory" fwd own>
// PASSED: stg.recv over "cp" shift -1 {{.*}} : !stg.tensor<[B, H/2, 529], f32>
// PASSED: stg.recurrence_part 529*B*H {{.*}}<"memory" fwd state>
func.func @memory(%q: !k {stg.name = "q"}, %k: !k {stg.name = "k"}, %x: !v {stg.name = "x"}, %i: !g {stg.name = "i"}, %f: !g {stg.name = "f"}) -> !v {
  %p = stg.param "p" : !w
  %v = stg.mul_along %x, %p {dims = array<i64: 2, 3>} <"values"> : !v, !w
  %y = stg.matrix_memory 64 %q, %k, %v, %i, %f <"memory"> : !k, !k, !v, !g, !g
  return %y : !v
}
