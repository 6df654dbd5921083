// Names that would mean two things.
//
// RUN: stg-opt %s --split-input-file --stg-name-ops --verify-diagnostics

func.func @parameter_with_two_types() {
  // expected-note @+1 {{here it has type '!stg.tensor<[4], f32>'}}
  %w = stg.param "w" : !stg.tensor<[4], f32>
  // expected-error @+1 {{'stg.param' op reads parameter 'w' with type '!stg.tensor<[5], f32>'}}
  %v = stg.param "w" : !stg.tensor<[5], f32>
  return
}
// -----
func.func @parameter_with_two_types_in_repeat() {
  stg.repeat "layers" * 4 {
    // expected-note @+1 {{here it has type '!stg.tensor<[4], f32>'}}
    %w = stg.param "w" : !stg.tensor<[4], f32>
    // expected-error @+1 {{'stg.param' op reads parameter 'w' with type '!stg.tensor<[4], bf16>'}}
    %v = stg.param "w" : !stg.tensor<[4], bf16>
  }
  return
}
// -----
func.func @two_repeats_of_one_name() {
  stg.repeat "layers" * 4 {
  }
  // expected-error @+1 {{'stg.repeat' op is a second repeat named 'layers' in its scope; its parameters need a scope of their own}}
  stg.repeat "layers" * 2 {
  }
  return
}
