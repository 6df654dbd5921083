// Values that make an extent, a count or a size something else than a positive integer:
// the error stands at the op and names the expression.
//
// RUN: stg-opt %s --split-input-file --stg-bind="B=6 tp=4" --verify-diagnostics

stg.symbol @B
stg.symbol @tp
func.func @extent_not_an_integer() {
  // expected-error @+1 {{'stg.param' op has extent B/tp, which is 3/2 and not a positive integer with B = 6, tp = 4}}
  %w = stg.param "w" : !stg.tensor<[B/tp], f32>
  return
}
// -----
stg.symbol @B
stg.symbol @tp
// expected-error @+1 {{'func.func' op has extent B - 2*tp, which is -2 and not a positive integer with B = 6, tp = 4}}
func.func @extent_of_argument(%x: !stg.tensor<[B - 2*tp], f32>) {
  return
}
// -----
stg.symbol @B
stg.symbol @tp
func.func @count() {
  // expected-error @+1 {{'stg.repeat' op has extent B/tp, which is 3/2 and not a positive integer with B = 6, tp = 4}}
  stg.repeat "layers" * B/tp {
  }
  return
}
// -----
stg.symbol @B
stg.symbol @tp
// expected-error @+1 {{'stg.mesh' op has extent B/tp, which is 3/2 and not a positive integer with B = 6, tp = 4}}
stg.mesh @size <dp = B/tp>
// -----
stg.symbol @B
stg.symbol @tp
func.func @second_of_several(%x: !stg.tensor<[B], f32>) {
  %0 = stg.splat 1/(B*tp) : !stg.tensor<[2], f32>
  %1 = stg.activation relu %x <"x"> : !stg.tensor<[B], f32>
  // expected-error @+1 {{'stg.param' op has extent (B + 1)/tp, which is 7/4 and not a positive integer with B = 6, tp = 4}}
  %2 = stg.param "w" : !stg.tensor<[(B + 1)/tp], f32>
  return
}
