// Tokens without a batch dimension: the rows of the buffers are then of one dimension and
// of the experts of a token, and still leave ep to the experts.
//
// RUN: stg-opt %s --stg-propagate-shardings --stg-insert-collectives | FileCheck %s

stg.symbol @T
stg.symbol @D
stg.symbol @X
stg.symbol @e
stg.mesh @mesh <ep = e> rules [T : ep, X : ep]

!x = !stg.tensor<[T, D], bf16>
!w = !stg.tensor<[X : ep, D, D], bf16>
!choices = !stg.tensor<[T, 2], i32>
!buffers = !stg.tensor<[X, 2*T/X, D], bf16>

// CHECK-LABEL: func.func @rows
// CHECK: %[[ROWS:.*]] = stg.dispatch {{.*}} : !stg.tensor<[T/e, D], bf16>, !stg.tensor<[T/e, 2], i32> -> !stg.tensor<[X, 2*T/(X*e), D], bf16>
// CHECK-NEXT: %[[SENT:.*]] = stg.all_to_all from 1 to 0 over ["ep"] %[[ROWS]] {{.*}} -> !stg.tensor<[X/e, 2*T/X, D], bf16>
// CHECK: %[[OUT:.*]] = stg.einsum "xcd,xde->xce" %[[SENT]]
// CHECK-NEXT: %[[BACK:.*]] = stg.all_to_all from 0 to 1 over ["ep"] %[[OUT]] {{.*}} -> !stg.tensor<[X, 2*T/(X*e), D], bf16>
// CHECK-NEXT: stg.combine %[[BACK]]
func.func @rows(%x: !stg.tensor<[T : ep, D], bf16>, %i: !choices, %p: !stg.tensor<[T, 2], f32>) -> !x {
  %r = stg.dispatch %x, %i : !stg.tensor<[T : ep, D], bf16>, !choices -> !buffers
  %w = stg.param "w" : !w
  %o = stg.einsum "xcd,xde->xce" %r, %w : !buffers, !w
  %c = stg.combine %o, %i, %p : !buffers, !choices, !stg.tensor<[T, 2], f32>
  return %c : !x
}

// Each device has a part of the width: gradients of weights are partial sums.
//
// CHECK-LABEL: func.func @width
// CHECK: %{{.*}}, %[[DW:.*]] = stg.combine_grad {{.*}} : !stg.tensor<[X, 2*T/X, D/e], bf16>, !stg.tensor<[T, 2], i32>, !stg.tensor<[T, 2], f32>, !stg.tensor<[T, D/e], bf16>
// CHECK-NEXT: %[[SUM:.*]] = stg.all_reduce sum over ["ep"] %[[DW]] {{.*}} : !stg.tensor<[T, 2], f32>
// CHECK-NEXT: return %[[SUM]]
func.func @width(%h: !buffers, %i: !choices, %p: !stg.tensor<[T, 2], f32>, %dy: !stg.tensor<[T, D : ep], bf16>) -> !stg.tensor<[T, 2], f32> {
  %dh, %dw = stg.combine_grad %h, %i, %p, %dy : !buffers, !choices, !stg.tensor<[T, 2], f32>, !stg.tensor<[T, D : ep], bf16>
  return %dw : !stg.tensor<[T, 2], f32>
}
