// Models that cannot be differentiated.
//
// RUN: stg-opt %s --split-input-file --stg-autodiff --verify-diagnostics

// expected-error @+1 {{'func.func' op has no result to differentiate; return the loss as the first result}}
func.func @no_result(%x: !stg.tensor<[4], f32>) {
  return
}
// -----
// expected-error @+1 {{'func.func' op has a first result of type '!stg.tensor<[4], i32>', expected a float tensor: the loss}}
func.func @loss_of_integers(%x: !stg.tensor<[4], i32>) -> !stg.tensor<[4], i32> {
  return %x : !stg.tensor<[4], i32>
}
// -----
// expected-error @+1 {{'func.func' op has a first result of type 'f32', expected a float tensor: the loss}}
func.func @loss_of_no_tensor(%x: f32) -> f32 {
  return %x : f32
}
// -----
// expected-error @+1 {{'func.func' op has a loss that depends on no parameter}}
func.func @loss_without_parameter(%x: !stg.tensor<[4], f32>) -> !stg.tensor<[4], f32> {
  %y = stg.activation relu %x : !stg.tensor<[4], f32>
  return %y : !stg.tensor<[4], f32>
}
// -----
stg.symbol @B
!x = !stg.tensor<[B + 1], f32>
// expected-error @+1 {{'func.func' op has a loss of B + 1 elements, whose mean has no exact expression}}
func.func @mean_without_expression() -> !x {
  %w = stg.param "w" : !x
  return %w : !x
}
// -----
!x = !stg.tensor<[4, 4], f32>
func.func @op_without_gradient() -> !stg.tensor<[4], f32> {
  %w = stg.param "w" : !x
  // expected-error @+1 {{'stg.reduce' op lies between a parameter and the loss, but has no gradient; implement DifferentiableOpInterface}}
  %y = stg.reduce sum %w : !x
  return %y : !stg.tensor<[4], f32>
}
// -----
!x = !stg.tensor<[4, 4], f32>
func.func @index_summed_alone() -> !stg.tensor<[4], f32> {
  %w = stg.param "w" : !x
  // expected-error @+1 {{'stg.einsum' op cannot be differentiated: index 'b' is summed over in operand #0 alone}}
  %y = stg.einsum "ab->a" %w : !x
  return %y : !stg.tensor<[4], f32>
}
// -----
!x = !stg.tensor<[4, 4], f32>
!w = !stg.tensor<[4], f32>
func.func @through_rstd() -> !w {
  %x = stg.param "x" : !x
  %w = stg.param "w" : !w
  // expected-error @+1 {{'stg.rms_norm' op cannot be differentiated through its rstd result}}
  %n, %rstd = stg.rms_norm %x, %w : !x, !w
  return %rstd : !w
}
// -----
!x = !stg.tensor<[4, 4, 4, 4], f32>
func.func @through_lse() -> !stg.tensor<[4, 4, 4], f32> {
  %x = stg.param "x" : !x
  // expected-error @+1 {{'stg.attention' op cannot be differentiated through its log-sum-exp}}
  %o, %lse = stg.attention causal %x, %x, %x : !x, !x, !x
  return %lse : !stg.tensor<[4, 4, 4], f32>
}
// -----
!x = !stg.tensor<[4, 4], f32>
func.func @through_softmax(%i: !stg.tensor<[4], i32>) -> !x {
  %x = stg.param "x" : !x
  // expected-error @+1 {{'stg.cross_entropy' op cannot be differentiated through its softmax result}}
  %loss, %probs = stg.cross_entropy %x, %i : !x, !stg.tensor<[4], i32>
  return %probs : !x
}
// -----
!x = !stg.tensor<[4, 4], f32>
!w = !stg.tensor<[4], f32>
func.func @through_mean() -> !w {
  %x = stg.param "x" : !x
  %w = stg.param "w" : !w
  // expected-error @+1 {{'stg.layer_norm' op cannot be differentiated through its mean and rstd results}}
  %n:3 = stg.layer_norm %x, %w, %w : !x, !w, !w
  return %n#1 : !w
}
