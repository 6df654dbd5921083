// What stg.bias_add and its gradient refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: !stg.tensor<[8], f32>, %b: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{operand has rank 1, expected at least 2}}
  %0 = stg.bias_add %x, %b : !stg.tensor<[8], f32>, !stg.tensor<[4, 8], f32>
  return
}
// -----
stg.symbol @D
func.func @extent(%x: !stg.tensor<[4, 3*D], f32>, %b: !stg.tensor<[D], f32>) {
  // expected-error @+1 {{bias has extent D in dimension 0, expected 3*D}}
  %0 = stg.bias_add %x, %b : !stg.tensor<[4, 3*D], f32>, !stg.tensor<[D], f32>
  return
}
// -----
func.func @first_dimensions(%x: !stg.tensor<[4, 8], f32>, %b: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{bias has extent 4 in dimension 0, expected 8}}
  %0 = stg.bias_add %x, %b : !stg.tensor<[4, 8], f32>, !stg.tensor<[4], f32>
  return
}
// -----
func.func @element_type(%x: !stg.tensor<[4, 8], bf16>, %b: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{bias has element type 'f32', expected 'bf16'}}
  %0 = stg.bias_add %x, %b : !stg.tensor<[4, 8], bf16>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @grad_rank(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{operand has rank 1, expected at least 2}}
  %0 = stg.bias_grad %x : !stg.tensor<[8], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @grad_extent(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{result has extent 4 in dimension 0, expected 8}}
  %0 = stg.bias_grad %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[4], f32>
  return
}
// -----
func.func @dims_order(%x: !stg.tensor<[4, 2, 8], f32>, %b: !stg.tensor<[8, 4], f32>) {
  // expected-error @+1 {{'dims' has 0, expected dimensions of the operand, which has rank 3, in ascending order}}
  %0 = stg.bias_add %x, %b {dims = array<i64: 2, 0>} : !stg.tensor<[4, 2, 8], f32>, !stg.tensor<[8, 4], f32>
  return
}
// -----
func.func @dims_number(%x: !stg.tensor<[4, 2, 8], f32>, %b: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{'dims' names 2 dimensions, but the bias has rank 1}}
  %0 = stg.bias_add %x, %b {dims = array<i64: 0, 2>} : !stg.tensor<[4, 2, 8], f32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @dims_extent(%x: !stg.tensor<[4, 2, 8], f32>) {
  // expected-error @+1 {{result has extent 2 in dimension 0, expected 4}}
  %0 = stg.bias_grad %x {dims = array<i64: 0, 2>} : !stg.tensor<[4, 2, 8], f32> -> !stg.tensor<[2, 8], f32>
  return
}
