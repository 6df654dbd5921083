// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @cast_of_shape(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{result has extent 4 in dimension 1, expected 8}}
  %0 = stg.cast %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[4, 4], bf16>
  return
}
// -----
func.func @cast_of_rank(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{result has rank 1, expected 2}}
  %0 = stg.cast %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[32], bf16>
  return
}
// -----
func.func @cast_to_integers(%x: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{'stg.cast' op expects floats, found element type 'i32'}}
  %0 = stg.cast %x : !stg.tensor<[4], f32> -> !stg.tensor<[4], i32>
  return
}
