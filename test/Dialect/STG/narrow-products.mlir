// Operands of products in layers become 8-bit floats, results keep their type.
// Backward reads the 8-bit operands; casts of parameters are replayed, gradients get
// their own type, and gradients of parameters are made in their own at once.
//
// RUN: stg-opt %s --stg-name-ops --stg-narrow-products --stg-autodiff --stg-narrow-products | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-narrow-products=outside --stg-autodiff --stg-narrow-products=outside | FileCheck %s --check-prefix=OUTSIDE
// RUN: not stg-opt %s --stg-narrow-products=type=bf16 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: type 'bf16' is not f8E4M3FN, f8E5M2 or f4E2M1FN

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// With `outside` also the product before the layers, forward and backward.
// OUTSIDE-LABEL: func.func @f
// OUTSIDE: %[[A:.*]] = stg.cast %{{.*}} <"stem" fwd cast> : {{.*}} -> !stg.tensor<{{.*}}, f8E4M3FN>
// OUTSIDE: %[[B:.*]] = stg.cast %{{.*}} <"stem" fwd cast_weight> : {{.*}} -> !stg.tensor<{{.*}}, f8E4M3FN>
// OUTSIDE: stg.einsum "bi,ij->bj" %[[A]], %[[B]] {into = bf16}
// OUTSIDE: stg.repeat "layers" * L carry
// OUTSIDE: stg.repeat "layers" * L reverse
// OUTSIDE: %[[G:.*]] = stg.cast %{{.*}} <"stem" bwd cast_gradient> : {{.*}} -> !stg.tensor<{{.*}}, f8E5M2>
// OUTSIDE: stg.einsum "bi,bj->ij" %[[A]], %[[G]] {into = f32}

// CHECK-LABEL: func.func @f
func.func @f(%x: !x) -> !x {
  // CHECK: %[[Y:.*]]:2 = stg.repeat "layers" * L carry(%[[C:.*]] = %{{.*}} : !stg.tensor<[B, D], bf16>)
  // CHECK: %[[X8:.*]] = stg.cast %[[C]] <"w" fwd cast> : {{.*}} -> !stg.tensor<{{.*}}, f8E4M3FN>
  // CHECK: %[[W:.*]] = stg.param "w"
  // CHECK: %[[W8:.*]] = stg.cast %[[W]] <"w" fwd cast_weight> : {{.*}} -> !stg.tensor<{{.*}}, f8E4M3FN>
  // CHECK: %[[Z:.*]] = stg.einsum "bi,ij->bj" %[[X8]], %[[W8]] {into = bf16
  // CHECK: stg.yield %[[Z]], %[[X8]] : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, D], f8E4M3FN>
  %w0 = stg.param "stem" : !w
  // CHECK: stg.repeat "layers" * L reverse carry(%[[DY:.*]] = %{{.*}} : !stg.tensor<[B, D], bf16>) slices(%[[S8:.*]] = %[[Y]]#1
  // CHECK-DAG: %[[D8:.*]] = stg.cast %[[DY]] <"w" bwd cast_gradient> : {{.*}} -> !stg.tensor<{{.*}}, f8E5M2>
  // CHECK-DAG: %[[A8:.*]] = stg.cast %{{.*}} <"w" bwd cast_weight> : {{.*}} -> !stg.tensor<{{.*}}, f8E4M3FN>
  // CHECK-DAG: stg.einsum "bj,ij->bi" %[[D8]], %[[A8]] {into = bf16
  // CHECK-DAG: stg.einsum "bi,bj->ij" %[[S8]], %[[D8]] {into = f32
  %e = stg.einsum "bi,ij->bj" %x, %w0 : !x, !w
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    stg.yield %z : !x
  }
  return %y : !x
}
