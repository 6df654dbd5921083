// Views, parameters and optimizer steps that are refused.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[4, 6], f32>
func.func @split_c1_extent(%x: !x) {
  // expected-error @+1 {{part #1 has extent 5 in dimension 0, expected 4}}
  %0, %1 = stg.split dim 1 %x : !x -> !stg.tensor<[4, 3], f32>, !stg.tensor<[5, 3], f32>
  return
}
// -----
!x = !stg.tensor<[4, 6], f32>
func.func @split_c1_rank(%x: !x) {
  // expected-error @+1 {{part #1 has rank 1, expected 2}}
  %0, %1 = stg.split dim 1 %x : !x -> !stg.tensor<[4, 3], f32>, !stg.tensor<[3], f32>
  return
}
// -----
!x = !stg.tensor<[4, 6], f32>
func.func @split_c1_element_type(%x: !x) {
  // expected-error @+1 {{'stg.split' op part #1 has element type 'bf16', expected 'f32'}}
  %0, %1 = stg.split dim 1 %x : !x -> !stg.tensor<[4, 3], f32>, !stg.tensor<[4, 3], bf16>
  return
}
// -----
stg.symbol @H
stg.symbol @K
!x = !stg.tensor<[4, H + 2*K], f32>
func.func @split_c2(%x: !x) {
  // expected-error @+1 {{'stg.split' op has parts with extents that add up to H + K in dimension 1, expected H + 2*K}}
  %0, %1 = stg.split dim 1 %x : !x -> !stg.tensor<[4, H], f32>, !stg.tensor<[4, K], f32>
  return
}
// -----
!x = !stg.tensor<[4, 6], f32>
func.func @split_dimension(%x: !x) {
  // expected-error @+1 {{'stg.split' op has dimension 2, the tensor has rank 2}}
  %0 = stg.split dim 2 %x : !x -> !x
  return
}
// -----
!x = !stg.tensor<[4, 6], f32>
func.func @split_negative_dimension(%x: !x) {
  // expected-error @+1 {{'stg.split' op has dimension -1, the tensor has rank 2}}
  %0 = stg.split dim -1 %x : !x -> !x
  return
}
// -----
!x = !stg.tensor<[4, 6], f32>
func.func @concat_c1(%x: !x, %y: !stg.tensor<[3, 6], f32>) {
  // expected-error @+1 {{part #1 has extent 3 in dimension 0, expected 4}}
  %0 = stg.concat dim 1 %x, %y : !x, !stg.tensor<[3, 6], f32> -> !stg.tensor<[4, 12], f32>
  return
}
// -----
!x = !stg.tensor<[4, 6], f32>
func.func @concat_c2(%x: !x) {
  // expected-error @+1 {{'stg.concat' op has parts with extents that add up to 8 in dimension 0, expected 9}}
  %0 = stg.concat dim 0 %x, %x : !x, !x -> !stg.tensor<[9, 6], f32>
  return
}
// -----
func.func @concat_of_nothing() {
  // expected-error @+1 {{'stg.concat' op has parts with extents that add up to 0 in dimension 0, expected 9}}
  %0 = stg.concat dim 0 : !stg.tensor<[9, 6], f32>
  return
}
// -----
func.func @param_c1_empty() {
  // expected-error @+1 {{'stg.param' op expects a name for the parameter}}
  %0 = stg.param "" : !stg.tensor<[2], f32>
  return
}
// -----
func.func @param_c1_slash() {
  // expected-error @+1 {{'stg.param' op has the name 'layers/w', which may not contain ',', '=' or '/'}}
  %0 = stg.param "layers/w" : !stg.tensor<[2], f32>
  return
}
// -----
func.func @splat_of_two_types() {
  // expected-error @+1 {{'stg.splat' op requires one result}}
  %0, %1 = stg.splat 1 : !stg.tensor<[2], f32>, !stg.tensor<[2], f32>
  return
}
// -----
func.func @adam_c1(%w: !stg.tensor<[4], f32>, %g: !stg.tensor<[5], f32>) {
  // expected-error @+1 {{gradient has extent 5 in dimension 0, expected 4}}
  stg.adam f32 %w, %g : !stg.tensor<[4], f32>, !stg.tensor<[5], f32>
  return
}
// -----
!w = !stg.tensor<[4], f32>
func.func @adam_c2_integer(%w: !w, %g: !w) {
  // expected-error @+1 {{'stg.adam' op expects a float type of whole bytes for the moments, found 'i32'}}
  stg.adam i32 %w, %g : !w, !w
  return
}
// -----
!w = !stg.tensor<[4], f32>
func.func @adam_c2_sub_byte(%w: !w, %g: !w) {
  // expected-error @+1 {{'stg.adam' op expects a float type of whole bytes for the moments, found 'f4E2M1FN'}}
  stg.adam f4E2M1FN %w, %g : !w, !w
  return
}
