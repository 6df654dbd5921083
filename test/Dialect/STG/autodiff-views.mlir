// Backward of views: a split's is a concat and the other way round; parts of a
// parameter come back as one gradient in the gradient type.
//
// RUN: stg-opt %s --split-input-file --stg-name-ops --stg-autodiff --verify-roundtrip | FileCheck %s

!x = !stg.tensor<[4, 8], bf16>
!half = !stg.tensor<[4, 4], bf16>

// CHECK-LABEL: func.func @split
func.func @split(%x: !x) -> !half {
  %w = stg.param "w" : !stg.tensor<[8, 8], bf16>
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !stg.tensor<[8, 8], bf16>
  // CHECK: %[[P:.*]]:2 = stg.split
  %p, %q = stg.split dim 1 %a : !x -> !half, !half
  %y = stg.mul %p, %q : !half, !half
  // CHECK: %[[DY:.*]] = stg.splat
  // CHECK-NEXT: %[[DP:.*]] = stg.mul %[[DY]], %[[P]]#1
  // CHECK-NEXT: %[[DQ:.*]] = stg.mul %[[DY]], %[[P]]#0
  // CHECK-NEXT: %[[DA:.*]] = stg.concat dim 1 %[[DP]], %[[DQ]] <"split" bwd> : {{.*}} -> !stg.tensor<[4, 8], bf16>
  // CHECK-NEXT: stg.einsum "bd,bf->df" %{{.*}}, %[[DA]]
  // CHECK-NEXT: return
  return %y : !half
}

// -----

!x = !stg.tensor<[4, 8], bf16>
!half = !stg.tensor<[4, 4], bf16>

// A part that nobody uses has the gradient zero, which costs nothing.
// CHECK-LABEL: func.func @part_unused
func.func @part_unused(%x: !x) -> !half {
  %w = stg.param "w" : !stg.tensor<[8, 8], bf16>
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !stg.tensor<[8, 8], bf16>
  %p, %q = stg.split dim 1 %a : !x -> !half, !half
  %y = stg.activation relu %q : !half
  // CHECK: %[[DY:.*]] = stg.activation_grad
  // CHECK-NEXT: %[[ZERO:.*]] = stg.splat 0 {{.*}} : !stg.tensor<[4, 4], bf16>
  // CHECK-NEXT: stg.concat dim 1 %[[ZERO]], %[[DY]]
  return %y : !half
}

// -----

!x = !stg.tensor<[4, 8], bf16>
!half = !stg.tensor<[4, 4], bf16>

// CHECK-LABEL: func.func @concat
func.func @concat(%x: !half, %c: !half) -> !x {
  %w = stg.param "w" : !half
  %a = stg.einsum "bd,df->bf" %x, %w : !half, !half
  %j = stg.concat dim 1 %a, %c : !half, !half -> !x
  %y = stg.activation relu %j : !x
  // CHECK: %[[DJ:.*]] = stg.activation_grad
  // CHECK-NEXT: %[[D:.*]]:2 = stg.split dim 1 %[[DJ]] <"concat" bwd> : {{.*}} -> !stg.tensor<[4, 4], bf16>, !stg.tensor<[4, 4], bf16>
  // CHECK-NEXT: stg.einsum "bd,bf->df" %{{.*}}, %[[D]]#0
  // CHECK-NEXT: return
  return %y : !x
}

// -----

!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8, 8], bf16>
!half = !stg.tensor<[8, 4], bf16>

// One fused parameter, used in two parts.
// CHECK-LABEL: func.func @split_parameter
// CHECK-SAME: !stg.tensor<[8, 8], f32> {stg.gradient = #stg.gradient<"w">}
func.func @split_parameter(%x: !x) -> !stg.tensor<[4, 4], bf16> {
  %w = stg.param "w" : !w
  %p, %q = stg.split dim 1 %w : !w -> !half, !half
  %a = stg.einsum "bd,df->bf" %x, %p : !x, !half
  %b = stg.einsum "bd,df->bf" %x, %q : !x, !half
  %y = stg.add %a, %b : !stg.tensor<[4, 4], bf16>, !stg.tensor<[4, 4], bf16>
  // CHECK: %[[DQ:.*]] = stg.einsum "bd,bf->df"
  // CHECK-NEXT: %[[DP:.*]] = stg.einsum "bd,bf->df"
  // CHECK-NEXT: %[[JOINED:.*]] = stg.concat dim 1 %[[DP]], %[[DQ]]
  // CHECK-NEXT: %[[DW:.*]] = stg.cast %[[JOINED]] <{{.*}}cast> : {{.*}} -> !stg.tensor<{{.*}}, f32>
  // CHECK-NEXT: return %{{.*}}, %[[DW]]
  return %y : !stg.tensor<[4, 4], bf16>
}

// -----

!x = !stg.tensor<[4, 4], bf16>

// A parameter that is added and multiplied: both gradients are fp32.
// CHECK-LABEL: func.func @parameter_in_sum
// CHECK-SAME: !stg.tensor<[4, 4], f32> {stg.gradient = #stg.gradient<"w">}
func.func @parameter_in_sum(%x: !x) -> !x {
  %w = stg.param "w" : !x
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !x
  %y = stg.add %a, %w : !x, !x
  // CHECK: %[[DY:.*]] = stg.splat
  // CHECK-NEXT: %[[C:.*]] = stg.cast %[[DY]] {{.*}} -> !stg.tensor<{{.*}}, f32>
  // CHECK-NEXT: %[[D:.*]] = stg.einsum "bd,bf->df" %{{.*}}, %[[DY]] {into = f32
  // CHECK-NEXT: %[[SUM:.*]] = stg.add %[[C]], %[[D]] {{.*}} : !stg.tensor<[4, 4], f32>
  // CHECK-NEXT: return %{{.*}}, %[[SUM]]
  return %y : !x
}
