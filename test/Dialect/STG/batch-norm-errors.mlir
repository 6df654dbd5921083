// Shapes that normalizations over a batch and of groups of channels, and their gradients, refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @batch_norm_c1(%x: !stg.tensor<[8], f32>, %w: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{operand has rank 1, expected at least 2: a batch and channels}}
  %0 = stg.batch_norm %x, %w, %w : !stg.tensor<[8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @batch_norm_c2(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{weight has extent 4 in dimension 0, expected 8}}
  %0 = stg.batch_norm %x, %w, %w : !stg.tensor<[4, 8], f32>, !stg.tensor<[4], f32>, !stg.tensor<[4], f32>
  return
}
// -----
func.func @batch_norm_bias(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[8], f32>, %b: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{bias has rank 2, expected 1}}
  %0 = stg.batch_norm %x, %w, %b : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @batch_norm_grad_c2(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[8], f32>, %d: !stg.tensor<[2, 8], f32>) {
  // expected-error @+1 {{gradient has extent 2 in dimension 0, expected 4}}
  %0, %1, %2 = stg.batch_norm_grad %x, %w, %d : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[2, 8], f32> -> !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @batch_norm_grad_bias(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[8], f32>, %d: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{result #2 has extent 7 in dimension 0, expected 8}}
  %0, %1, %2 = stg.batch_norm_grad %x, %w, %d : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[4, 8], f32> -> !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[7], f32>
  return
}
// -----
func.func @group_norm_c3(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{has 3 groups of 8 channels, expected a number that divides them}}
  %0, %1, %2 = stg.group_norm %x, %w, %w {groups = #sym.expr<3>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @group_norm_c2(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[8], f32>, %b: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{bias has extent 4 in dimension 0, expected 8}}
  %0, %1, %2 = stg.group_norm %x, %w, %b {groups = #sym.expr<2>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[4], f32>
  return
}
// -----
func.func @group_norm_grad_c3(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[8], f32>, %m: !stg.tensor<[4, 4], f32>) {
  // expected-error @+1 {{mean has extent 4 in dimension 1, expected 2}}
  %0, %1, %2 = stg.group_norm_grad %x, %w, %m, %m, %x {groups = #sym.expr<2>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[4, 4], f32>, !stg.tensor<[4, 4], f32>, !stg.tensor<[4, 8], f32> -> !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @group_norm_grad_c2(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[8], f32>, %m: !stg.tensor<[4, 2], f32>, %d: !stg.tensor<[2, 8], f32>) {
  // expected-error @+1 {{gradient has extent 2 in dimension 0, expected 4}}
  %0, %1, %2 = stg.group_norm_grad %x, %w, %m, %m, %d {groups = #sym.expr<2>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[4, 2], f32>, !stg.tensor<[4, 2], f32>, !stg.tensor<[2, 8], f32> -> !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
  return
}
