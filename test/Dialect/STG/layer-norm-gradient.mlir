// The backward pass of stg.layer_norm.
//
// RUN: stg-opt %s --stg-autodiff | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @D

!x = !stg.tensor<[B, S, D], bf16>
!w = !stg.tensor<[D], bf16>
!table = !stg.tensor<[S, D], bf16>
!ids = !stg.tensor<[B, S], i32>

// One op gives the gradients of the input, the weight and the bias. The lookup's table
// has a gradient, its ids have none.
//
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[IDS:.*]]: !stg.tensor<[B, S], i32>)
// CHECK-SAME: -> (!stg.tensor<[B, S, D], bf16>, !stg.tensor<[S, D], f32> {stg.gradient = #stg.gradient<"table">}, !stg.tensor<[D], f32> {stg.gradient = #stg.gradient<"weight">}, !stg.tensor<[D], f32> {stg.gradient = #stg.gradient<"bias">})
func.func @gradient(%ids: !ids) -> !x {
  %table = stg.param "table" : !table
  // CHECK: %[[X:.*]] = stg.embedding
  %x = stg.embedding %table, %ids <"lookup"> : !table, !ids
  // CHECK: %[[W:.*]] = stg.param "weight"
  %w = stg.param "weight" : !w
  %b = stg.param "bias" : !w
  // CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = stg.layer_norm %[[X]], %[[W]]
  // CHECK-SAME: fwd>
  %y, %mean, %rstd = stg.layer_norm %x, %w, %b <"norm"> : !x, !w, !w
  // CHECK: %[[SEED:.*]] = stg.splat
  // CHECK-NEXT: %[[DX:.*]], %[[DP:.*]]:2 = stg.layer_norm_grad %[[X]], %[[W]], %[[MEAN]], %[[RSTD]], %[[SEED]] <"norm" bwd>
  // CHECK-NEXT: %[[DT:.*]] = stg.embedding_grad %[[IDS]], %[[DX]] <"lookup" bwd dw>
  // CHECK-NEXT: return %[[Y]], %[[DT]], %[[DP]]#0, %[[DP]]#1
  return %y : !x
}
