// A rule that names two dimensions of a value does not say which one is divided.
//
// RUN: stg-opt %s -split-input-file --stg-apply-preset="tp=2 rules=D:tp" -verify-diagnostics -o /dev/null

stg.symbol @D
func.func @square() {
  // expected-error @+1 {{parameter 'w' of type '!stg.tensor<[D, D], f32>' has dimensions 0 and 1, which rule 'D:tp' both names; give one of them another name, as in 'D2 = D', or write into its type which one is divided, as in 'D : tp'}}
  %w = stg.param "w" : !stg.tensor<[D, D], f32>
  return
}
// -----
stg.symbol @D
// expected-error @+1 {{argument #1 of type '!stg.tensor<[D = 8, 2, D = 8], f32>' has dimensions 0 and 2, which rule 'D:tp' both names; give one of them another name, as in 'D2 = 8', or write into its type which one is divided, as in 'D = 8 : tp'}}
func.func @argument(%x: !stg.tensor<[D], f32>, %y: !stg.tensor<[D = 8, 2, D = 8], f32>) {
  return
}
// -----
// expected-error @+1 {{rule 'D:tp' names dimension 'D', which the model does not have; its dimensions are named F}}
module {
  stg.symbol @F
  func.func @f(%x: !stg.tensor<[F, F], f32>) { return }
}
