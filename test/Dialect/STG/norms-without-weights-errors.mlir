// What norms refuse of their parameters.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8], f32>
func.func @layer_norm_c2(%x: !x, %w: !w) {
  // expected-error @+1 {{has 3 parameters, expected a weight and a bias}}
  %0, %m, %r = stg.layer_norm %x, %w, %w, %w : !x, !w, !w, !w
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
!r = !stg.tensor<[4], f32>
func.func @layer_norm_grad_c2(%x: !x, %r: !r) {
  // expected-error @+1 {{has gradients of 1 parameters, expected at most 0}}
  %0, %1 = stg.layer_norm_grad %x, %r, %r, %x : !x, !r, !r, !x -> !x, !stg.tensor<[8], f32>
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
!r = !stg.tensor<[4], f32>
func.func @rms_norm_grad_c2(%x: !x, %r: !r) {
  // expected-error @+1 {{has no weight and a gradient of one}}
  %0, %1 = stg.rms_norm_grad %x, %r, %x : !x, !r, !x -> !x, !stg.tensor<[8], f32>
  return
}

// -----

!x = !stg.tensor<[4, 8], f32>
!r = !stg.tensor<[4], f32>
!w = !stg.tensor<[8], f32>
func.func @rms_norm_grad_c2_weight(%x: !x, %w: !w, %r: !r) {
  // expected-error @+1 {{has a weight and no gradient of it}}
  %0 = stg.rms_norm_grad %x, %w, %r, %x : !x, !w, !r, !x -> !x
  return
}
