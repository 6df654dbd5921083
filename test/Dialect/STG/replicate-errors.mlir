// What stg.replicate and its gradient refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @dim(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{has dimension 1, the tensor has rank 1}}
  %0 = stg.replicate dim 1 %x : !stg.tensor<[8], f32> -> !stg.tensor<[16], f32>
  return
}
// -----
func.func @rank(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{replicated tensor has rank 2, expected 1}}
  %0 = stg.replicate dim 0 %x : !stg.tensor<[8], f32> -> !stg.tensor<[8, 2], f32>
  return
}
// -----
func.func @other_extent(%x: !stg.tensor<[8, 4], f32>) {
  // expected-error @+1 {{replicated tensor has extent 8 in dimension 1, expected 4}}
  %0 = stg.replicate dim 0 %x : !stg.tensor<[8, 4], f32> -> !stg.tensor<[8, 8], f32>
  return
}
// -----
func.func @element_type(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{expects operand and result of one element type, found '!stg.tensor<[8], f32>' and '!stg.tensor<[16], bf16>'}}
  %0 = stg.replicate dim 0 %x : !stg.tensor<[8], f32> -> !stg.tensor<[16], bf16>
  return
}
// -----
func.func @multiple(%x: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{makes 12 slices of 8, expected a multiple}}
  %0 = stg.replicate dim 0 %x : !stg.tensor<[8], f32> -> !stg.tensor<[12], f32>
  return
}
// -----
stg.symbol @H
stg.symbol @K
func.func @gradient(%x: !stg.tensor<[H], f32>) {
  // expected-error @+1 {{makes H slices of H + K, expected a multiple}}
  %0 = stg.replicate_grad dim 0 %x : !stg.tensor<[H], f32> -> !stg.tensor<[H = H + K], f32>
  return
}
