// What an op destroys nobody reads afterwards.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!w = !stg.tensor<[4], f32>
func.func @total_read_later(%t: !w, %g: !w) -> !w {
  // expected-error @+1 {{'stg.accumulate' op destroys operand #0, which is read later}}
  %0 = stg.accumulate %t, %g : !w, !w
  // expected-note @+1 {{read here}}
  %1 = stg.mul %t, %0 : !w, !w
  return %1 : !w
}
// -----
!w = !stg.tensor<[4], f32>
func.func @total_read_in_later_repeat(%t: !w, %g: !w) -> !w {
  // expected-error @+1 {{'stg.accumulate' op destroys operand #0, which is read later}}
  %0 = stg.accumulate %t, %g : !w, !w
  %1 = stg.repeat "layers" * 2 carry(%c = %0 : !w) {
    // expected-note @+1 {{read here}}
    %2 = stg.mul %c, %t : !w, !w
    stg.yield %2 : !w
  }
  return %1 : !w
}
// -----
!w = !stg.tensor<[4], f32>
func.func @total_is_term(%t: !w) -> !w {
  // expected-error @+1 {{'stg.accumulate' op destroys operand #0, which is read as another operand}}
  %0 = stg.accumulate %t, %t : !w, !w
  return %0 : !w
}
// -----
!w = !stg.tensor<[4], f32>
func.func @total_from_outside(%t: !w, %g: !w) -> !w {
  %0 = stg.repeat "layers" * 2 carry(%c = %g : !w) {
    // expected-error @+1 {{'stg.accumulate' op destroys operand #0, which each iteration of the repeat reads; carry it}}
    %1 = stg.accumulate %t, %c : !w, !w
    stg.yield %1 : !w
  }
  return %0 : !w
}
// -----
!w = !stg.tensor<[4], f32>
func.func @parameter_read_after_step(%g: !w) -> !w {
  %w = stg.param "w" : !w
  // expected-error @+1 {{'stg.adam' op destroys operand #0, which is read later}}
  %n = stg.adam f32 %w, %g : !w, !w
  // expected-note @+1 {{read here}}
  return %w : !w
}
