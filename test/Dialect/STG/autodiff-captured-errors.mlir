// What a repeat reads from outside of the repeat around it has no gradient yet: an
// error, whether it is carried in or read slice by slice.
//
// RUN: stg-opt %s --split-input-file --stg-name-ops --stg-autodiff -verify-diagnostics -o /dev/null

stg.symbol @B
stg.symbol @L
!x = !stg.tensor<[B, 4], f32>
!w = !stg.tensor<[4, 4], f32>
func.func @carried(%x: !x) -> !x {
  %w0 = stg.param "w0" : !w
  // expected-note @+1 {{the value is defined here}}
  %e = stg.einsum "bi,ij->bj" %x, %w0 : !x, !w
  %y = stg.repeat "outer" * L carry(%c = %x : !x) {
    // expected-error @+1 {{cannot be differentiated: it uses a value from outside of its repeat}}
    %g = stg.repeat "inner" * L carry(%d = %e : !x) {
      %w = stg.param "w" : !w
      %z = stg.einsum "bi,ij->bj" %d, %w : !x, !w
      stg.yield %z : !x
    }
    stg.yield %g : !x
  }
  return %y : !x
}
