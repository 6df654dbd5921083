// RUN: stg-opt %s --split-input-file --verify-diagnostics

!x = !stg.tensor<[4, 8], f32>
func.func @f(%x: !x) {
  // elementwise_c1
  // expected-error @+1 {{has 1 operands, expected 2 of 'sub'}}
  %0 = stg.elementwise sub %x : !x
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
func.func @f(%x: !x) {
  // expected-error @+1 {{has 2 operands, expected 1 of 'exp'}}
  %0 = stg.elementwise exp %x, %x : !x, !x
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
func.func @f(%x: !x, %y: !stg.tensor<[4, 7], f32>) {
  // elementwise_c2
  // expected-error @+1 {{operand #1 has extent 7 in dimension 1, expected 8}}
  %0 = stg.elementwise max %x, %y : !x, !stg.tensor<[4, 7], f32>
  return
}

// -----

!x = !stg.tensor<[4, 8], i32>
func.func @f(%x: !x) {
  // elementwise_c3
  // expected-error @+1 {{has element type 'i32', expected a float}}
  %0 = stg.elementwise abs %x : !x
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
func.func @f(%x: !x) {
  // elementwise_grad_c1
  // expected-error @+1 {{has no gradient of operand 1 of 'exp'}}
  %0 = stg.elementwise_grad exp %x, %x {of = 1} : !x, !x
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
func.func @f(%x: !x) {
  // The gradient of a difference's first operand is that of the result.
  // expected-error @+1 {{has no gradient of operand 0 of 'sub'}}
  %0 = stg.elementwise_grad sub %x {of = 0} : !x
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
func.func @f(%x: !x) {
  // elementwise_grad_c2
  // expected-error @+1 {{has 1 values of the forward pass, expected 2}}
  %0 = stg.elementwise_grad div %x, %x {of = 1} : !x, !x
  return
}

// -----

func.func @f(%x: !stg.tensor<[4], f32>) {
  // mask_scores_c1
  // expected-error @+1 {{input has rank 1, expected at least 2}}
  %0 = stg.mask_scores causal %x : !stg.tensor<[4], f32>
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
func.func @f(%x: !x) {
  // mask_scores_c2
  // expected-error @+1 {{has a mask that hides nothing, expected a causal one}}
  %0 = stg.mask_scores none %x : !x
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
func.func @f(%x: !x) {
  // mask_scores_c3
  // expected-error @+1 {{has a window of 0, expected at least 1}}
  %0 = stg.mask_scores causal %x {window = #sym.expr<0>} : !x
  return
}
