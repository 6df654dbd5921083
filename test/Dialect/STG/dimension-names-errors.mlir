// Dimensions whose names do not go together, and how names are not written.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

// What is added has the same names.
stg.symbol @S
// expected-note @+2 {{'S' comes from here}}
// expected-note @+1 {{'T' comes from here}}
func.func @add(%x: !stg.tensor<[S], f32>, %y: !stg.tensor<[T = S], f32>) {
  // expected-error @+1 {{operand #1 has dimension 0 named 'T', expected 'S'}}
  %0 = stg.add %x, %y : !stg.tensor<[S], f32>, !stg.tensor<[T = S], f32>
  return
}
// -----
// A number without a name is not the dimension of that extent.
stg.symbol @S
func.func @made(%x: !stg.tensor<[S = 8], f32>, %y: !stg.tensor<[8], f32>) {
  // expected-note @+1 {{'S' comes from here}}
  %0 = stg.activation relu %x : !stg.tensor<[S = 8], f32>
  // expected-note @+1 {{'_' comes from here}}
  %1 = stg.activation relu %y : !stg.tensor<[8], f32>
  // expected-error @+1 {{operand #1 has dimension 0 named '_', expected 'S'}}
  %2 = stg.mul %0, %1 : !stg.tensor<[S = 8], f32>, !stg.tensor<[8], f32>
  return
}
// -----
stg.symbol @H
stg.symbol @K
// expected-note @+2 {{'(H, K)' comes from here}}
// expected-note @+1 {{'K' comes from here}}
func.func @einsum_c7(%x: !stg.tensor<[H + K, 4], f32>, %w: !stg.tensor<[4, K = H + K], f32>) {
  // expected-error @+1 {{index 'h' is named '(H, K)' in operand #0 and 'K' in operand #1}}
  %0 = stg.einsum "he,eh->h" %x, %w : !stg.tensor<[H + K, 4], f32>, !stg.tensor<[4, K = H + K], f32>
  return
}
// -----
stg.symbol @D
// expected-note @+2 {{'D' comes from here}}
// expected-note @+1 {{'W' comes from here}}
func.func @weight(%x: !stg.tensor<[2, D], f32>, %w: !stg.tensor<[W = D], f32>) {
  // expected-error @+1 {{weight has dimension 0 named 'W', expected 'D'}}
  %0, %1 = stg.rms_norm %x, %w : !stg.tensor<[2, D], f32>, !stg.tensor<[W = D], f32>
  return
}
// -----
stg.symbol @D
// expected-note @+2 {{'D' comes from here}}
// expected-note @+1 {{'W' comes from here}}
func.func @bias(%x: !stg.tensor<[2, D], f32>, %b: !stg.tensor<[W = D], f32>) {
  // expected-error @+1 {{bias has dimension 0 named 'W', expected 'D'}}
  %0 = stg.bias_add %x, %b : !stg.tensor<[2, D], f32>, !stg.tensor<[W = D], f32>
  return
}
// -----
// Queries and keys may have different positions, but not different sequences.
stg.symbol @B
stg.symbol @S
!q = !stg.tensor<[B, S, 4, 8], f32>
!k = !stg.tensor<[C = B, T = S, 4, 8], f32>
// expected-note @+2 {{'B' comes from here}}
// expected-note @+1 {{'C' comes from here}}
func.func @attention_c4(%q: !q, %k: !k) {
  // expected-error @+1 {{key has dimension 0 named 'C', expected 'B'}}
  %0, %1 = stg.attention causal %q, %k, %k : !q, !k, !k
  return
}
// -----
stg.symbol @H
stg.symbol @K
func.func @split_c3(%x: !stg.tensor<[H + K], f32>) {
  // expected-error @+1 {{'stg.split' op has parts that together are named '(G, H)' in dimension 0, expected '(H, K)'}}
  %0, %1 = stg.split dim 0 %x : !stg.tensor<[H + K], f32> -> !stg.tensor<[H], f32>, !stg.tensor<[G = K], f32>
  return
}
// -----
stg.symbol @D
stg.mesh @mesh <tp = 2>
func.func @gather(%x: !stg.tensor<[D/2], f32>) {
  // expected-error @+1 {{unsharded tensor has dimension 0 named 'E', expected 'D'}}
  %0 = stg.all_gather dim 0 over ["tp"] %x : !stg.tensor<[D/2], f32> -> !stg.tensor<[E = D], f32>
  return
}
// -----
func.func private @unquoted(
// expected-error @+1 {{expected '='}}
  !stg.tensor<["a b"], f32>)
// -----
func.func private @no_name(
// expected-error @+1 {{expected a name of the dimension}}
  !stg.tensor<[(H, 2) = 4], f32>)
// -----
func.func private @no_extent(
// expected-error @+1 {{expected a symbol, an integer or '('}}
  !stg.tensor<[H = ], f32>)
// -----
stg.symbol @S
stg.symbol @here coordinate "cp"
stg.mesh @mesh <cp = 2>
func.func @coordinate() {
  %0 = stg.param "named" : !stg.tensor<[S = S*here], f32>
  // expected-error @+1 {{'stg.param' op has a dimension named 'here', which is a coordinate; write its name, as in 'NAME = S*here'}}
  %1 = stg.param "w" : !stg.tensor<[S*here], f32>
  return
}
