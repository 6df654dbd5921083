// Programs without the gradients that optimizer steps need.
//
// RUN: stg-opt %s --split-input-file --stg-optimizer --verify-diagnostics

!w = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op returns no gradients; run --stg-autodiff first}}
func.func @no_gradients() -> !w {
  %w = stg.param "w" : !w
  return %w : !w
}
// -----
!w = !stg.tensor<[4], f32>
// expected-error @+1 {{'func.func' op returns the gradient of parameter 'layers/w', which it does not read}}
func.func @gradient_of_unknown_parameter() -> (!w {stg.gradient = #stg.gradient<"layers", "w">}) {
  %w = stg.param "w" : !w
  return %w : !w
}
// -----
!w = !stg.tensor<[4], f32>
// expected-error @+1 {{gradient has extent 5 in dimension 0, expected 4}}
func.func @gradient_of_other_shape(%g: !stg.tensor<[5], f32>) -> (!stg.tensor<[5], f32> {stg.gradient = #stg.gradient<"w">}) {
  %w = stg.param "w" : !w
  return %g : !stg.tensor<[5], f32>
}
// -----
!w = !stg.tensor<[], f32>
// expected-error @+1 {{'func.func' op returns the gradient of parameter 'layers/w' with type '!stg.tensor<[], f32>', expected a tensor of rank 1: the parameter, stacked by its repeats}}
func.func @gradient_that_is_no_stack(%g: !w) -> (!w {stg.gradient = #stg.gradient<"layers", "w">}) {
  stg.repeat "layers" * 4 {
    %w = stg.param "w" : !w
  }
  return %g : !w
}
// -----
// expected-error @+1 {{'func.func' op returns the gradient of parameter 'w' with type 'f32', expected a tensor of rank 1: the parameter, stacked by its repeats}}
func.func @gradient_that_is_no_tensor(%g: f32) -> (f32 {stg.gradient = #stg.gradient<"w">}) {
  %w = stg.param "w" : !stg.tensor<[4], f32>
  return %g : f32
}
