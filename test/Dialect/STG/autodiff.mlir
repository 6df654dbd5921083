// The backward ops of each op: those of a textbook, and nothing else.
//
// RUN: stg-opt %s --split-input-file --stg-name-ops --stg-autodiff --verify-roundtrip | FileCheck %s

stg.symbol @B
!x = !stg.tensor<[B, 8], bf16>
!w = !stg.tensor<[8, 4], bf16>

// One product per operand with a gradient; the input has none. The mean of the result
// starts with one over its number of elements.
// CHECK-LABEL: func.func @product_of_input
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 8], bf16>)
// CHECK-SAME: -> (!stg.tensor<[B, 4], bf16>, !stg.tensor<[8, 4], f32> {stg.gradient = #stg.gradient<"w">})
func.func @product_of_input(%x: !x) -> !stg.tensor<[B, 4], bf16> {
  // CHECK-NEXT: %[[W:.*]] = stg.param "w"
  %w = stg.param "w" : !w
  // CHECK-NEXT: %[[Y:.*]] = stg.einsum "bd,df->bf" %[[X]], %[[W]] <"w" fwd>
  %y = stg.einsum "bd,df->bf" %x, %w : !x, !w
  // CHECK-NEXT: %[[DY:.*]] = stg.splat 1/(4*B) : !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: %[[DW:.*]] = stg.einsum "bd,bf->df" %[[X]], %[[DY]] {into = f32} <"w" bwd dw>
  // CHECK-NEXT: return %[[Y]], %[[DW]]
  return %y : !stg.tensor<[B, 4], bf16>
}

// -----

!x = !stg.tensor<[2, 4], bf16>
!w = !stg.tensor<[4, 4], bf16>

// CHECK-LABEL: func.func @two_products
func.func @two_products(%x: !x) -> !x {
  // CHECK: %[[V:.*]] = stg.param "v"
  // CHECK: %[[A:.*]] = stg.einsum "bd,df->bf"
  %w = stg.param "w" : !w
  %v = stg.param "v" : !w
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !w
  %y = stg.einsum "bd,df->bf" %a, %v : !x, !w
  // CHECK: %[[DY:.*]] = stg.splat 1/8
  // CHECK-NEXT: %[[DA:.*]] = stg.einsum "bf,df->bd" %[[DY]], %[[V]] <"v" bwd dx>
  // CHECK-NEXT: %[[DV:.*]] = stg.einsum "bd,bf->df" %[[A]], %[[DY]] {into = f32} <"v" bwd dw>
  // CHECK-NEXT: %[[DW:.*]] = stg.einsum "bd,bf->df" %{{.*}}, %[[DA]] {into = f32} <"w" bwd dw>
  // The order of gradients is that of the parameters.
  // CHECK-NEXT: return %{{.*}}, %[[DW]], %[[DV]]
  return %y : !x
}

// -----

!x = !stg.tensor<[4, 4], bf16>

// A residual: the gradients of both uses are added once.
// CHECK-LABEL: func.func @residual
func.func @residual(%x: !x) -> !x {
  %w = stg.param "w" : !x
  // CHECK: %[[V:.*]] = stg.param "v"
  %v = stg.param "v" : !x
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !x
  // CHECK: %[[F:.*]] = stg.einsum {{.*}} <"v" fwd>
  %f = stg.einsum "bd,df->bf" %a, %v : !x, !x
  // CHECK-NEXT: stg.add %{{.*}}, %[[F]] <"add" fwd> :
  %y = stg.add %a, %f : !x, !x
  // CHECK-NEXT: %[[DY:.*]] = stg.splat
  // CHECK-NEXT: %[[DX:.*]] = stg.einsum "bf,df->bd" %[[DY]], %[[V]]
  // CHECK-NEXT: %[[SUM:.*]] = stg.add %[[DY]], %[[DX]] <"v" bwd add>
  // CHECK-NEXT: stg.einsum "bd,bf->df" %{{.*}}, %[[DY]] {into = f32
  // CHECK-NEXT: stg.einsum "bd,bf->df" %{{.*}}, %[[SUM]] {into = f32
  // CHECK-NEXT: return
  return %y : !x
}

// -----

!x = !stg.tensor<[4, 4], bf16>

// CHECK-LABEL: func.func @product_of_elements
func.func @product_of_elements(%x: !x) -> !x {
  // CHECK: %[[A:.*]] = stg.einsum
  %w = stg.param "w" : !x
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !x
  // CHECK: %[[B:.*]] = stg.activation gelu %[[A]]
  %b = stg.activation gelu %a : !x
  %y = stg.mul %a, %b : !x, !x
  // CHECK: %[[DY:.*]] = stg.splat
  // CHECK-NEXT: %[[DA:.*]] = stg.mul %[[DY]], %[[B]] <"mul" bwd dlhs>
  // CHECK-NEXT: %[[DB:.*]] = stg.mul %[[DY]], %[[A]] <"mul" bwd drhs>
  // CHECK-NEXT: %[[G:.*]] = stg.activation_grad gelu %[[A]], %[[DB]]
  // CHECK-NEXT: %[[SUM:.*]] = stg.add %[[DA]], %[[G]]
  // CHECK-NEXT: stg.einsum "bd,bf->df" %{{.*}}, %[[SUM]]
  // CHECK-NEXT: return
  return %y : !x
}

// -----

!x = !stg.tensor<[4, 4], bf16>

// The two gradients of a square are one product.
// CHECK-LABEL: func.func @square
func.func @square(%x: !x) -> !x {
  %w = stg.param "w" : !x
  // CHECK: %[[A:.*]] = stg.einsum
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !x
  %y = stg.mul %a, %a : !x, !x
  // CHECK: %[[DY:.*]] = stg.splat
  // CHECK-NEXT: %[[D:.*]] = stg.mul %[[DY]], %[[A]]
  // CHECK-NEXT: %[[SUM:.*]] = stg.add %[[D]], %[[D]]
  // CHECK-NEXT: stg.einsum "bd,bf->df" %{{.*}}, %[[SUM]]
  // CHECK-NEXT: return
  return %y : !x
}

// -----

!x = !stg.tensor<[4, 2, 8], bf16>
!w = !stg.tensor<[8], bf16>

// CHECK-LABEL: func.func @gated_unit
func.func @gated_unit(%x: !x) -> !stg.tensor<[4, 8], bf16> {
  %w = stg.param "w" : !stg.tensor<[2, 8, 8], bf16>
  // CHECK: %[[A:.*]] = stg.einsum
  %a = stg.einsum "bgd,gdf->bgf" %x, %w : !x, !stg.tensor<[2, 8, 8], bf16>
  %y = stg.glu silu %a : !x
  // CHECK: %[[DY:.*]] = stg.splat
  // CHECK-NEXT: %[[DA:.*]] = stg.glu_grad silu %[[A]], %[[DY]] <"glu" bwd>
  // CHECK-NEXT: stg.einsum "bgd,bgf->gdf" %{{.*}}, %[[DA]] {into = f32
  // CHECK-NEXT: return
  return %y : !stg.tensor<[4, 8], bf16>
}

// -----

!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8], bf16>

// Both gradients of a norm are one op, and the reciprocal root is saved.
// CHECK-LABEL: func.func @norm
// CHECK-SAME: !stg.tensor<[8], f32> {stg.gradient = #stg.gradient<"norm">}
func.func @norm(%x: !x) -> !x {
  // CHECK: %[[A:.*]] = stg.einsum
  %p = stg.param "w" : !stg.tensor<[8, 8], bf16>
  %a = stg.einsum "bd,df->bf" %x, %p : !x, !stg.tensor<[8, 8], bf16>
  // CHECK: %[[W:.*]] = stg.param "norm"
  %w = stg.param "norm" : !w
  // CHECK: %{{.*}}, %[[R:.*]] = stg.rms_norm %[[A]], %[[W]]
  %n, %rstd = stg.rms_norm %a, %w : !x, !w
  // CHECK: %[[DY:.*]] = stg.splat
  // CHECK-NEXT: %[[DX:.*]], %[[DN:.*]] = stg.rms_norm_grad %[[A]], %[[W]], %[[R]], %[[DY]] <"norm" bwd> : {{.*}} -> !stg.tensor<[4, 8], bf16>, !stg.tensor<[8], f32>
  // CHECK-NEXT: %[[DP:.*]] = stg.einsum "bd,bf->df" %{{.*}}, %[[DX]]
  // CHECK-NEXT: return %{{.*}}, %[[DP]], %[[DN]]
  return %n : !x
}

// -----

stg.symbol @V
!ids = !stg.tensor<[4, 8], i32>
!table = !stg.tensor<[V, 16], bf16>

// Ids and labels have no gradient; the table's is a scatter; the tied head adds its own.
// CHECK-LABEL: func.func @tied_embedding
// CHECK-SAME: (%[[IDS:.*]]: !stg.tensor<[4, 8], i32>, %[[LABELS:.*]]: !stg.tensor<[4, 8], i32>)
// CHECK-SAME: -> (!stg.tensor<[4, 8], f32>, !stg.tensor<[V, 16], f32> {stg.gradient = #stg.gradient<"table">})
func.func @tied_embedding(%ids: !ids, %labels: !ids) -> !stg.tensor<[4, 8], f32> {
  %t = stg.param "table" : !table
  // CHECK: %[[E:.*]] = stg.embedding
  %e = stg.embedding %t, %ids : !table, !ids
  // CHECK: %[[T:.*]] = stg.param "table"
  %h = stg.param "table" : !table
  %z = stg.einsum "bsd,vd->bsv" %e, %h : !stg.tensor<[4, 8, 16], bf16>, !table
  // CHECK: %{{.*}}, %[[P:.*]] = stg.cross_entropy
  %loss, %probs = stg.cross_entropy %z, %labels : !stg.tensor<[4, 8, V], bf16>, !ids
  // CHECK-NEXT: %[[ONE:.*]] = stg.splat 1/32 : !stg.tensor<[4, 8], f32>
  // CHECK-NEXT: %[[DZ:.*]] = stg.cross_entropy_grad %[[P]], %[[LABELS]], %[[ONE]] {{.*}} -> !stg.tensor<[4, 8, V], bf16>
  // CHECK-NEXT: %[[DE:.*]] = stg.einsum "bsv,vd->bsd" %[[DZ]], %[[T]]
  // CHECK-NEXT: %[[DH:.*]] = stg.einsum "bsd,bsv->vd" %[[E]], %[[DZ]] {into = f32
  // CHECK-NEXT: %[[DT:.*]] = stg.embedding_grad %[[IDS]], %[[DE]] {{.*}} -> !stg.tensor<[V, 16], f32>
  // CHECK-NEXT: %[[SUM:.*]] = stg.add %[[DT]], %[[DH]] <"table" bwd add> : !stg.tensor<[V, 16], f32>
  // CHECK-NEXT: return %{{.*}}, %[[SUM]]
  return %loss : !stg.tensor<[4, 8], f32>
}

// -----

!x = !stg.tensor<[4, 4], bf16>

// What no parameter leads to, and what does not lead to the loss, has no gradient.
// CHECK-LABEL: func.func @dead
// CHECK-SAME: -> (!stg.tensor<[4, 4], bf16>, !stg.tensor<[4, 4], bf16>, !stg.tensor<[4, 4], f32> {stg.gradient = #stg.gradient<"w">})
func.func @dead(%x: !x) -> (!x, !x) {
  %w = stg.param "w" : !x
  %u = stg.param "unused" : !x
  %i = stg.activation relu %x : !x
  %y = stg.einsum "bd,df->bf" %i, %w : !x, !x
  %z = stg.einsum "bd,df->bf" %y, %u : !x, !x
  // CHECK-NEXT: %[[W:.*]] = stg.param "w"
  // CHECK-NEXT: %[[U:.*]] = stg.param "unused"
  // CHECK-NEXT: %[[I:.*]] = stg.activation relu %{{.*}} <
  // CHECK-NEXT: %[[Y:.*]] = stg.einsum "bd,df->bf" %[[I]], %[[W]] <
  // CHECK-NEXT: %[[Z:.*]] = stg.einsum "bd,df->bf" %[[Y]], %[[U]] <
  // CHECK-NEXT: %[[DY:.*]] = stg.splat 1/16 :
  // CHECK-NEXT: %[[DW:.*]] = stg.einsum "bd,bf->df" %[[I]], %[[DY]] {
  // CHECK-NEXT: return %[[Y]], %[[Z]], %[[DW]]
  return %y, %z : !x, !x
}

// -----

// CHECK-LABEL: func.func private @library_function
// CHECK-NEXT: %[[W:.*]] = stg.param "w" : !stg.tensor<[4], f32>{{$}}
// CHECK-NEXT: return %[[W]] : !stg.tensor<[4], f32>
func.func private @library_function() -> !stg.tensor<[4], f32> {
  %w = stg.param "w" : !stg.tensor<[4], f32>
  return %w : !stg.tensor<[4], f32>
}
