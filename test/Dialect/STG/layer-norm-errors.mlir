// Operand shapes that layer norms refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8], bf16>
func.func @layer_norm_c1_weight(%x: !x, %w: !w, %v: !stg.tensor<[4], bf16>) {
  // expected-error @+1 {{weight has extent 4 in dimension 0, expected 8}}
  %0:3 = stg.layer_norm %x, %v, %w : !x, !stg.tensor<[4], bf16>, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8], bf16>
func.func @layer_norm_c1_bias(%x: !x, %w: !w) {
  // expected-error @+1 {{bias has rank 2, expected 1}}
  %0:3 = stg.layer_norm %x, %w, %x : !x, !w, !x
  return
}
// -----
!x = !stg.tensor<[], bf16>
func.func @layer_norm_of_scalar(%x: !x) {
  // expected-error @+1 {{operand has rank 0, expected at least 1}}
  %0:3 = stg.layer_norm %x, %x, %x : !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8], bf16>
!r = !stg.tensor<[4], f32>
func.func @layer_norm_grad_c1_weight(%x: !x, %w: !w, %r: !r) {
  // expected-error @+1 {{weight has rank 2, expected 1}}
  %0:3 = stg.layer_norm_grad %x, %x, %r, %r, %x : !x, !x, !r, !r, !x -> !x, !w, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8], bf16>
!r = !stg.tensor<[4], f32>
func.func @layer_norm_grad_c1_mean(%x: !x, %w: !w, %r: !r) {
  // expected-error @+1 {{mean has extent 8 in dimension 0, expected 4}}
  %0:3 = stg.layer_norm_grad %x, %w, %w, %r, %x : !x, !w, !w, !r, !x -> !x, !w, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8], bf16>
!r = !stg.tensor<[4], f32>
func.func @layer_norm_grad_c1_rstd(%x: !x, %w: !w, %r: !r) {
  // expected-error @+1 {{rstd has rank 2, expected 1}}
  %0:3 = stg.layer_norm_grad %x, %w, %r, %x, %x : !x, !w, !r, !x, !x -> !x, !w, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8], bf16>
!r = !stg.tensor<[4], f32>
func.func @layer_norm_grad_c1_dy(%x: !x, %w: !w, %r: !r) {
  // expected-error @+1 {{gradient has rank 1, expected 2}}
  %0:3 = stg.layer_norm_grad %x, %w, %r, %r, %w : !x, !w, !r, !r, !w -> !x, !w, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8], bf16>
!r = !stg.tensor<[4], f32>
func.func @layer_norm_grad_c1_results(%x: !x, %w: !w, %r: !r) {
  // expected-error @+1 {{result #2 has extent 4 in dimension 0, expected 8}}
  %0:3 = stg.layer_norm_grad %x, %w, %r, %r, %x : !x, !w, !r, !r, !x -> !x, !w, !r
  return
}
