// Rows of a layer norm shard, its width does not.
//
// RUN: stg-opt %s --stg-propagate-shardings | FileCheck %s --check-prefix=PLAN
// RUN: stg-opt %s --stg-propagate-shardings --stg-insert-collectives | FileCheck %s --check-prefix=LOCAL

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @t
stg.mesh @mesh <tp = t>

!w = !stg.tensor<[D], bf16>
!g = !stg.tensor<[D], f32>
!x = !stg.tensor<[B, S, D], bf16>
!sequence = !stg.tensor<[B, S : tp, D], bf16>
!width = !stg.tensor<[B, S, D : tp], bf16>
!row = !stg.tensor<[B, S], f32>

// Mean and deviation are sharded like the rows; weight and bias are whole.
//
// PLAN-LABEL: func.func @rows
// LOCAL-LABEL: func.func @rows
func.func @rows(%x: !sequence, %w: !w, %b: !w) {
  // PLAN: stg.layer_norm {{.*}} {factors = #stg.factors<d1 : tp>}
  // PLAN-SAME: !stg.tensor<[B, S : tp, D], bf16>, !stg.tensor<[D], bf16>, !stg.tensor<[D], bf16>
  // LOCAL-NEXT: stg.layer_norm {{.*}} : !stg.tensor<[B, S/t, D], bf16>, !stg.tensor<[D], bf16>, !stg.tensor<[D], bf16>
  // LOCAL-NEXT: return
  %y, %mean, %rstd = stg.layer_norm %x, %w, %b : !sequence, !w, !w
  return
}

// A sharded width is gathered first.
//
// LOCAL-LABEL: func.func @width
func.func @width(%x: !width, %w: !w, %b: !w) {
  // LOCAL-NEXT: %[[X:.*]] = stg.all_gather dim 2 over ["tp"]
  // LOCAL-NEXT: stg.layer_norm %[[X]],
  %y, %mean, %rstd = stg.layer_norm %x, %w, %b : !width, !w, !w
  return
}

// The gradients of weight and bias are sums over the rows: partial where rows are
// sharded, reduced where somebody needs them whole.
//
// LOCAL-LABEL: func.func @gradient
func.func @gradient(%x: !sequence, %w: !w, %r: !row, %dy: !x) -> (!g, !g) {
  // LOCAL: %[[DX:.*]], %[[DP:.*]]:2 = stg.layer_norm_grad
  // LOCAL-DAG: stg.all_reduce sum over ["tp"] %[[DP]]#0{{ }}
  // LOCAL-DAG: stg.all_reduce sum over ["tp"] %[[DP]]#1{{ }}
  %dx, %dw, %db = stg.layer_norm_grad %x, %w, %r, %r, %dy : !sequence, !w, !row, !row, !x -> !x, !g, !g
  return %dw, %db : !g, !g
}
