// Where a bias is added when its input or its rows are sharded.
//
// RUN: stg-opt %s --stg-propagate-shardings --stg-insert-collectives | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @t
stg.mesh @mesh <tp = t>

!x = !stg.tensor<[B, S, D], bf16>
!sequence = !stg.tensor<[B, S : tp, D], bf16>
!column = !stg.tensor<[D, F : tp], bf16>
!row = !stg.tensor<[F : tp, D], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>
!shards = !stg.tensor<[B, S, F : tp], bf16>
!w = !stg.tensor<[D], bf16>
!v = !stg.tensor<[F], bf16>
!vs = !stg.tensor<[F : tp], bf16>

// The bias of a column-parallel product is sharded with its columns.
//
// CHECK-LABEL: func.func @column(
// CHECK-SAME: %[[X:.*]]: !stg.tensor<[B, S, D], bf16> {stg.layout = #stg.layout<>}, %[[W:.*]]: !stg.tensor<[D, F/t], bf16> {stg.layout = #stg.layout<tp : 1>}, %[[V:.*]]: !stg.tensor<[F/t], bf16> {stg.layout = #stg.layout<tp : 0>})
func.func @column(%x: !x, %w: !column, %b: !vs) {
  // CHECK-NEXT: %[[P:.*]] = stg.einsum "bsd,df->bsf" %[[X]], %[[W]] :
  // CHECK-NEXT: stg.bias_add %[[P]], %[[V]] : !stg.tensor<[B, S, F/t], bf16>, !stg.tensor<[F/t], bf16>
  // CHECK-NEXT: return
  %p = stg.einsum "bsd,df->bsf" %x, %w : !x, !column
  %y = stg.bias_add %p, %b : !hidden, !vs
  return
}

// The bias of a row-parallel product is added once: after the partial sums.
//
// CHECK-LABEL: func.func @row(
func.func @row(%h: !shards, %w: !row, %b: !w) -> !x {
  // CHECK-NEXT: %[[P:.*]] = stg.einsum
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[P]] <fwd> : !stg.tensor<[B, S, D], bf16>
  // CHECK-NEXT: %[[Y:.*]] = stg.bias_add %[[R]], %{{.*}} : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], bf16>
  // CHECK-NEXT: return %[[Y]]
  %p = stg.einsum "bsf,fd->bsd" %h, %w : !shards, !row
  %y = stg.bias_add %p, %b : !x, !w
  return %y : !x
}

// With sequence parallelism too, and the rank adds it to its tokens only.
//
// CHECK-LABEL: func.func @row_scattered(
func.func @row_scattered(%h: !shards, %w: !row, %b: !w, %x: !sequence) {
  // CHECK-NEXT: %[[P:.*]] = stg.einsum
  // CHECK-NEXT: %[[R:.*]] = stg.reduce_scatter dim 1 over ["tp"] %[[P]]
  // CHECK-NEXT: %[[Y:.*]] = stg.bias_add %[[R]], %{{.*}} : !stg.tensor<[B, S/t, D], bf16>, !stg.tensor<[D], bf16>
  // CHECK-NEXT: stg.add %{{.*}}, %[[Y]]
  %p = stg.einsum "bsf,fd->bsd" %h, %w : !shards, !row
  %y = stg.bias_add %p, %b : !x, !w
  %r = stg.add %x, %y : !sequence, !x
  return
}

// The gradient of a sharded bias is local.
//
// CHECK-LABEL: func.func @gradient_column(
func.func @gradient_column(%dy: !shards) -> !stg.tensor<[F : tp], f32> {
  // CHECK-NEXT: %[[DB:.*]] = stg.bias_grad %{{.*}} : !stg.tensor<[B, S, F/t], bf16> -> !stg.tensor<[F/t], f32>
  // CHECK-NEXT: return %[[DB]]
  %db = stg.bias_grad %dy : !shards -> !stg.tensor<[F : tp], f32>
  return %db : !stg.tensor<[F : tp], f32>
}

// That of a whole bias is a partial sum where the rows are sharded.
//
// CHECK-LABEL: func.func @gradient_row(
func.func @gradient_row(%dy: !sequence) -> !stg.tensor<[D], f32> {
  // CHECK-NEXT: %[[DB:.*]] = stg.bias_grad %{{.*}} : !stg.tensor<[B, S/t, D], bf16> -> !stg.tensor<[D], f32>
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[DB]]
  // CHECK-NEXT: return %[[R]]
  %db = stg.bias_grad %dy : !sequence -> !stg.tensor<[D], f32>
  return %db : !stg.tensor<[D], f32>
}
