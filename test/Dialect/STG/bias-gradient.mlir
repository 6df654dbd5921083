// The backward pass of stg.bias_add.
//
// RUN: stg-opt %s --stg-autodiff | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E

!x = !stg.tensor<[B, S, H, E], bf16>
!in = !stg.tensor<[B, S], bf16>
!w = !stg.tensor<[H, E], bf16>

// The input's gradient is the result's, without an op; the bias' is its sum over rows.
//
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: !stg.tensor<[H, E], f32> {stg.gradient = #stg.gradient<"w">}, !stg.tensor<[H, E], f32> {stg.gradient = #stg.gradient<"b">}
func.func @gradient(%x: !in) -> !x {
  %w = stg.param "w" : !w
  %p = stg.einsum "bs,he->bshe" %x, %w <"p"> : !in, !w
  %b = stg.param "b" : !w
  // CHECK: %[[Y:.*]] = stg.bias_add
  %y = stg.bias_add %p, %b <"b"> : !x, !w
  // CHECK-NEXT: %[[SEED:.*]] = stg.splat
  // CHECK-NEXT: %[[DB:.*]] = stg.bias_grad %[[SEED]] <"b" bwd db>
  // CHECK-NEXT: %[[DW:.*]] = stg.einsum "bs,bshe->he" %{{.*}}, %[[SEED]]
  // CHECK-NEXT: return %[[Y]], %[[DW]], %[[DB]]
  return %y : !x
}

// A bias that is no parameter has no gradient.
//
// CHECK-LABEL: func.func @constant_bias
func.func @constant_bias(%x: !in, %b: !w) -> !x {
  %w = stg.param "w" : !w
  %p = stg.einsum "bs,he->bshe" %x, %w <"p"> : !in, !w
  // CHECK-NOT: stg.bias_grad
  %y = stg.bias_add %p, %b <"b"> : !x, !w
  return %y : !x
}
