// Every kind of difference between two layouts, and the collective that follows.
//
// RUN: stg-opt %s --split-input-file --stg-insert-collectives | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.mesh @mesh <tp = 4, dp = 2>

// CHECK-LABEL: func.func @all_gather
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, D/4], bf16> {stg.layout = #stg.layout<tp : 1>}) -> !stg.tensor<[B, D], bf16>
func.func @all_gather(%x: !stg.tensor<[B, D : tp], bf16>) -> !stg.tensor<[B, D], bf16> {
  // CHECK-NEXT: %[[G:.*]] = stg.all_gather dim 1 over ["tp"] %[[X]] <"relu" fwd> : !stg.tensor<[B, D/4], bf16> -> !stg.tensor<[B, D], bf16>
  // CHECK-NEXT: stg.activation relu %[[G]] <"relu"> : !stg.tensor<[B, D], bf16>
  %y = stg.activation relu %x <"relu"> : !stg.tensor<[B, D : tp], bf16>
  return %y : !stg.tensor<[B, D], bf16>
}

// CHECK-LABEL: func.func @local_slice
func.func @local_slice(%x: !stg.tensor<[B, D], bf16>) -> !stg.tensor<[B, D : tp], bf16> {
  // CHECK-NEXT: stg.local_slice dim 1 over ["tp"] %{{.*}} : !stg.tensor<[B, D], bf16> -> !stg.tensor<[B, D/4], bf16>
  // CHECK-NEXT: stg.activation relu {{.*}} : !stg.tensor<[B, D/4], bf16>
  %y = stg.activation relu %x {factors = #stg.factors<d1 : tp>} : !stg.tensor<[B, D], bf16> -> !stg.tensor<[B, D : tp], bf16>
  return %y : !stg.tensor<[B, D : tp], bf16>
}

// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%x: !stg.tensor<[B, D : tp], bf16>) -> !stg.tensor<[B : tp, D], bf16> {
  // CHECK-NEXT: stg.all_to_all from 1 to 0 over ["tp"] %{{.*}} : !stg.tensor<[B, D/4], bf16> -> !stg.tensor<[B/4, D], bf16>
  %y = stg.activation relu %x {factors = #stg.factors<d0 : tp>} : !stg.tensor<[B, D : tp], bf16> -> !stg.tensor<[B : tp, D], bf16>
  return %y : !stg.tensor<[B : tp, D], bf16>
}

// CHECK-LABEL: func.func @all_reduce
func.func @all_reduce(%x: !stg.tensor<[B, D : tp], bf16>) -> !stg.tensor<[B], f32> {
  // CHECK-NEXT: %[[S:.*]] = stg.reduce sum %{{.*}} : !stg.tensor<[B, D/4], bf16>
  // CHECK-NEXT: stg.all_reduce sum over ["tp"] %[[S]] {{.*}} : !stg.tensor<[B], f32>
  %y = stg.reduce sum %x {factors = #stg.factors<v : tp>} : !stg.tensor<[B, D : tp], bf16>
  return %y : !stg.tensor<[B], f32>
}

// CHECK-LABEL: func.func @all_reduce_max
func.func @all_reduce_max(%x: !stg.tensor<[B, D : tp], bf16>) -> !stg.tensor<[B], f32> {
  // CHECK-NEXT: %[[M:.*]] = stg.reduce max %{{.*}} : !stg.tensor<[B, D/4], bf16>
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce max over ["tp"] %[[M]] {{.*}} : !stg.tensor<[B], f32>
  // CHECK-NEXT: return %[[R]]
  %y = stg.reduce max %x {factors = #stg.factors<v : tp>} : !stg.tensor<[B, D : tp], bf16>
  return %y : !stg.tensor<[B], f32>
}

// CHECK-LABEL: func.func @reduce_scatter
func.func @reduce_scatter(%x: !stg.tensor<[B, D : tp], bf16>) -> !stg.tensor<[B : tp], f32> {
  // CHECK: stg.reduce_scatter dim 0 over ["tp"] %{{.*}} : !stg.tensor<[B], f32> -> !stg.tensor<[B/4], f32>
  %y = stg.reduce sum %x {factors = #stg.factors<v : tp>} : !stg.tensor<[B, D : tp], bf16> -> !stg.tensor<[B : tp], f32>
  return %y : !stg.tensor<[B : tp], f32>
}

// A maximum has no reduce-scatter.
// CHECK-LABEL: func.func @max_is_not_scattered
func.func @max_is_not_scattered(%x: !stg.tensor<[B, D : tp], bf16>) -> !stg.tensor<[B : tp], f32> {
  // CHECK: %[[M:.*]] = stg.all_reduce max over ["tp"]
  // CHECK-NEXT: stg.local_slice dim 0 over ["tp"] %[[M]] {{.*}} -> !stg.tensor<[B/4], f32>
  %y = stg.reduce max %x {factors = #stg.factors<v : tp>} : !stg.tensor<[B, D : tp], bf16> -> !stg.tensor<[B : tp], f32>
  return %y : !stg.tensor<[B : tp], f32>
}

// Two axes of one dimension are a set: whichever is not needed is gathered.
// CHECK-LABEL: func.func @two_axes
func.func @two_axes(%x: !stg.tensor<[B : (dp, tp), D], bf16>) {
  // CHECK-NEXT: %[[T:.*]] = stg.all_gather dim 0 over ["tp"] %{{.*}} : !stg.tensor<[B/8, D], bf16> -> !stg.tensor<[B/2, D], bf16>
  // CHECK-NEXT: stg.activation relu %[[T]] : !stg.tensor<[B/2, D], bf16>
  %0 = stg.activation relu %x {factors = #stg.factors<d0 : dp>} : !stg.tensor<[B : (dp, tp), D], bf16> -> !stg.tensor<[B : dp, D], bf16>
  // CHECK-NEXT: stg.all_gather dim 0 over ["dp"] %{{.*}} : !stg.tensor<[B/8, D], bf16> -> !stg.tensor<[B/4, D], bf16>
  %1 = stg.activation relu %x {factors = #stg.factors<d0 : tp>} : !stg.tensor<[B : (dp, tp), D], bf16> -> !stg.tensor<[B : tp, D], bf16>
  return
}

// A result is complete where it is returned, and reduced once for all its users.
// CHECK-LABEL: func.func @users_of_partial
func.func @users_of_partial(%x: !stg.tensor<[B, D : tp], bf16>) -> !stg.tensor<[B], f32> {
  // CHECK: %[[R:.*]] = stg.all_reduce
  // CHECK-NEXT: stg.activation relu %[[R]]
  // CHECK-NEXT: stg.activation gelu %[[R]]
  // CHECK-NEXT: return %[[R]]
  %y = stg.reduce sum %x {factors = #stg.factors<v : tp>} : !stg.tensor<[B, D : tp], bf16>
  %0 = stg.activation relu %y : !stg.tensor<[B], f32>
  %1 = stg.activation gelu %y : !stg.tensor<[B], f32>
  return %y : !stg.tensor<[B], f32>
}
