// RUN: stg-opt %s --stg-lower-context-parallel -split-input-file -verify-diagnostics -o /dev/null

!x = !stg.tensor<[2, 8, 4, 16], bf16>
stg.mesh @mesh <a = 2, b = 2>
func.func @two_axes(%q: !x) {
  // expected-error @+1 {{'stg.attention' op goes around the axes ["a", "b"], expected one}}
  %o, %lse = stg.attention none %q, %q, %q {context = #stg.context<p2p zigzag over ["a", "b"]>} : !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
stg.mesh @mesh <cp = 2>
func.func @plan_level(%q: !x) {
  // expected-error @+1 {{'stg.attention' op does not say over which axes its tokens are; run --stg-insert-collectives first}}
  %o, %lse = stg.attention none %q, %q, %q {context = #stg.context<p2p zigzag>} : !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
stg.mesh @mesh <cp = 2>
func.func @no_such_axis(%q: !x) {
  // expected-error @+1 {{'stg.attention' op has tokens over 'dp', which is not an axis of the mesh}}
  %o, %lse = stg.attention none %q, %q, %q {context = #stg.context<all_gather zigzag over ["dp"]>} : !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
stg.mesh @mesh <cp = 2>
func.func @coordinate(%q: !x) {
  // expected-error @+1 {{'stg.attention' op has ranges of tokens over mesh axis 'cp', whose coordinate is not a symbol, as --stg-context-parallel="balance=none" declares it for axes with the role context}}
  %o, %lse = stg.attention causal %q, %q, %q {context = #stg.context<p2p range over ["cp"]>} : !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
// expected-error @+1 {{has tokens over no axis}}
#none = #stg.context<p2p zigzag over []>
// -----
// expected-error @+1 {{has tokens over ["cp", "cp"], expected distinct names of axes}}
#twice = #stg.context<p2p zigzag over ["cp", "cp"]>
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
func.func @attention_block_c4_count(%q: !x) {
  // expected-error @+1 {{'stg.attention_block' op has 3 partial results, expected none or 2}}
  %o, %lse = stg.attention_block 64 %q, %q, %q, %q, %q, %q : !x, !x, !x, !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
!lse = !stg.tensor<[2, 8, 4], f32>
func.func @attention_block_c4_gradients(%q: !x, %lse: !lse) {
  // expected-error @+1 {{'stg.attention_block_grad' op has 2 partial results, expected none, that of the queries, or 3}}
  %g:3 = stg.attention_block_grad 64 %q, %q, %q, %q, %lse, %q, %q, %q : !x, !x, !x, !x, !lse, !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
func.func @attention_block_c4_sinks(%q: !x) {
  // expected-error @+1 {{sinks has rank 4, expected 1}}
  %o, %lse = stg.attention_block 64 %q, %q, %q, %q : !x, !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
func.func @attention_block_c4_type(%q: !x, %r: !x) {
  // expected-error @+1 {{'stg.attention_block' op has partial result #1 of type '!stg.tensor<[2, 8, 4, 16], bf16>', expected '!stg.tensor<[2, 8, 4], f32>'}}
  %o, %lse = stg.attention_block 64 %q, %q, %q, %q, %r : !x, !x, !x, !x, !x
  return
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
!lse = !stg.tensor<[2, 8, 4], f32>
func.func @attention_block_c4_read(%q: !x, %l: !lse) -> !lse {
  %o, %lse = stg.attention_block 36 %q, %q, %q : !x, !x, !x
  // expected-error @+1 {{'stg.attention_block' op destroys operand #4, which is read later}}
  %o1, %lse1 = stg.attention_block 64 %q, %q, %q, %o, %lse : !x, !x, !x, !x, !lse
  // expected-note @+1 {{read here}}
  return %lse : !lse
}
// -----
!x = !stg.tensor<[2, 8, 4, 16], bf16>
stg.mesh @mesh <cp = 2>
func.func @exchange_axis(%q: !x) {
  // expected-error @+1 {{'stg.exchange' op is over 'tp', which is not an axis of the mesh}}
  %r = stg.exchange over "tp" shift 1 channel 0 %q : !x
  return
}
// -----
stg.symbol @n
!x = !stg.tensor<[2, 8, 4, 16], bf16>
stg.mesh @mesh <cp = n : context>
func.func @symbolic_devices(%q: !x) {
  // expected-error @+1 {{'stg.attention' op has tokens that are divided over ["cp"], and how many keys each device sees is known for numbers only; give symbols their values, and several steps one by one}}
  %o, %lse = stg.attention causal %q, %q, %q {window = #sym.expr<4>, context = #stg.context<all_gather zigzag over ["cp"]>} : !x, !x, !x
  return
}
