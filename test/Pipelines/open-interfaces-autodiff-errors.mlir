// An op between a parameter and the loss must have a gradient.

// RUN: stg-test-opt %s --stg-name-ops --stg-autodiff -split-input-file -verify-diagnostics -o /dev/null

stg.symbol @B
func.func @no_gradient() -> !stg.tensor<[B], f32> {
  %w = stg.param "w" : !stg.tensor<[B], f32>
  // expected-error @+1 {{'test.opaque' op lies between a parameter and the loss, but has no gradient; implement DifferentiableOpInterface}}
  %y = test.opaque %w : !stg.tensor<[B], f32> -> !stg.tensor<[B], f32>
  return %y : !stg.tensor<[B], f32>
}

// -----

stg.symbol @B
stg.symbol @F
func.func @no_gradient_of_sum() -> !stg.tensor<[B], f32> {
  %w = stg.param "w" : !stg.tensor<[B, F], f32>
  // expected-error @+1 {{'test.sum_features' op lies between a parameter and the loss, but has no gradient}}
  %y = test.sum_features %w : !stg.tensor<[B, F], f32> -> !stg.tensor<[B], f32>
  return %y : !stg.tensor<[B], f32>
}

// -----

// A failure that an op does not explain is said for it.
stg.symbol @B
stg.symbol @S
func.func @silent() -> !stg.tensor<[B, S], f32> {
  %w = stg.param "w" : !stg.tensor<[B, S], f32>
  // expected-error @+1 {{'test.add_previous' op fails in buildGradient without saying why}}
  %y = test.add_previous %w : !stg.tensor<[B, S], f32> -> !stg.tensor<[B, S], f32>
  return %y : !stg.tensor<[B, S], f32>
}
