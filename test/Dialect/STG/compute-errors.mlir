// Operand shapes that compute ops refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

stg.symbol @B
func.func @add_c1_extent(%x: !stg.tensor<[B, 4], f32>, %y: !stg.tensor<[B, 2], f32>) {
  // expected-error @+1 {{operand #1 has extent 2 in dimension 1, expected 4}}
  %0 = stg.add %x, %y : !stg.tensor<[B, 4], f32>, !stg.tensor<[B, 2], f32>
  return
}
// -----
func.func @add_c1_rank(%x: !stg.tensor<[2, 4], f32>, %y: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{operand #1 has rank 1, expected 2}}
  %0 = stg.add %x, %y : !stg.tensor<[2, 4], f32>, !stg.tensor<[4], f32>
  return
}
// -----
func.func @mul_c1_element_type(%x: !stg.tensor<[4], f32>, %y: !stg.tensor<[4], bf16>) {
  // expected-error @+1 {{operand #1 has element type 'bf16', expected 'f32'}}
  %0 = stg.mul %x, %y : !stg.tensor<[4], f32>, !stg.tensor<[4], bf16>
  return
}
// -----
func.func @activation_grad_shape(%x: !stg.tensor<[4], f32>, %y: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{operand #1 has extent 8 in dimension 0, expected 4}}
  %0 = stg.activation_grad gelu %x, %y : !stg.tensor<[4], f32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @glu_c1_rank(%x: !stg.tensor<[2], f32>) {
  // expected-error @+1 {{operand has rank 1, expected at least 2}}
  %0 = stg.glu silu %x : !stg.tensor<[2], f32>
  return
}
// -----
stg.symbol @F
func.func @glu_c1_pair(%x: !stg.tensor<[4, 3, F], f32>) {
  // expected-error @+1 {{operand has extent 3 in its second last dimension, expected 2: gate and up}}
  %0 = stg.glu silu %x : !stg.tensor<[4, 3, F], f32>
  return
}
// -----
func.func @glu_grad_shape(%x: !stg.tensor<[4, 2, 8], f32>, %y: !stg.tensor<[4, 2, 8], f32>) {
  // expected-error @+1 {{gradient has rank 3, expected 2}}
  %0 = stg.glu_grad silu %x, %y : !stg.tensor<[4, 2, 8], f32>, !stg.tensor<[4, 2, 8], f32>
  return
}
// -----
stg.symbol @D
func.func @rms_norm_c1(%x: !stg.tensor<[4, D], f32>, %w: !stg.tensor<[2*D], f32>) {
  // expected-error @+1 {{weight has extent 2*D in dimension 0, expected D}}
  %0, %1 = stg.rms_norm %x, %w : !stg.tensor<[4, D], f32>, !stg.tensor<[2*D], f32>
  return
}
// -----
func.func @rms_norm_of_scalar(%x: !stg.tensor<[], f32>, %w: !stg.tensor<[1], f32>) {
  // expected-error @+1 {{operand has rank 0, expected at least 1}}
  %0, %1 = stg.rms_norm %x, %w : !stg.tensor<[], f32>, !stg.tensor<[1], f32>
  return
}
// -----
!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8], f32>
func.func @rms_norm_grad_weight(%x: !x, %w: !w, %r: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{weight has rank 2, expected 1}}
  %0, %1 = stg.rms_norm_grad %x, %x, %r, %x : !x, !x, !stg.tensor<[4], f32>, !x -> !x, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8], f32>
func.func @rms_norm_grad_rstd(%x: !x, %w: !w) {
  // expected-error @+1 {{rstd has extent 8 in dimension 0, expected 4}}
  %0, %1 = stg.rms_norm_grad %x, %w, %w, %x : !x, !w, !w, !x -> !x, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8], f32>
func.func @rms_norm_grad_c1_dy(%x: !x, %w: !w, %r: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{gradient has rank 1, expected 2}}
  %0, %1 = stg.rms_norm_grad %x, %w, %r, %w : !x, !w, !stg.tensor<[4], f32>, !w -> !x, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8], f32>
func.func @rms_norm_grad_c1_dx(%x: !x, %w: !w, %r: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{result #0 has rank 1, expected 2}}
  %0, %1 = stg.rms_norm_grad %x, %w, %r, %x : !x, !w, !stg.tensor<[4], f32>, !x -> !w, !w
  return
}
// -----
!x = !stg.tensor<[4, 8], f32>
!w = !stg.tensor<[8], f32>
func.func @rms_norm_grad_c1_dw(%x: !x, %w: !w, %r: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{result #1 has rank 2, expected 1}}
  %0, %1 = stg.rms_norm_grad %x, %w, %r, %x : !x, !w, !stg.tensor<[4], f32>, !x -> !x, !x
  return
}
// -----
func.func @rope_c1(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{operand has rank 2, expected at least 3}}
  %0 = stg.rope inverse %x : !stg.tensor<[4, 8], f32>
  return
}
// -----
!q = !stg.tensor<[2, 16, 4, 8], f32>
func.func @attention_c1(%q: !q, %k: !stg.tensor<[2, 16, 32], f32>) {
  // expected-error @+1 {{key has rank 3, expected 4: batch, tokens, heads, head size}}
  %0, %1 = stg.attention causal %q, %k, %q : !q, !stg.tensor<[2, 16, 32], f32>, !q
  return
}
// -----
!q = !stg.tensor<[2, 16, 4, 8], f32>
!k = !stg.tensor<[3, 16, 4, 8], f32>
func.func @attention_c2_batch(%q: !q, %k: !k) {
  // expected-error @+1 {{key has batch extent 3, the query has 2}}
  %0, %1 = stg.attention causal %q, %k, %k : !q, !k, !k
  return
}
// -----
!q = !stg.tensor<[2, 16, 4, 8], f32>
!k = !stg.tensor<[2, 16, 4, 9], f32>
func.func @attention_c2_size(%q: !q, %k: !k) {
  // expected-error @+1 {{key has head size 9, the query has 8}}
  %0, %1 = stg.attention causal %q, %k, %k : !q, !k, !k
  return
}
// -----
!q = !stg.tensor<[2, 16, 4, 8], f32>
!v = !stg.tensor<[2, 16, 2, 8], f32>
func.func @attention_c2_value(%q: !q, %v: !v) {
  // expected-error @+1 {{value has extent 2 in dimension 2, expected 4}}
  %0, %1 = stg.attention causal %q, %q, %v : !q, !q, !v
  return
}
// -----
!q = !stg.tensor<[2, 16, 6, 8], f32>
!k = !stg.tensor<[2, 16, 4, 8], f32>
func.func @attention_c3(%q: !q, %k: !k) {
  // expected-error @+1 {{query has 6 heads, which the 4 of the key do not divide}}
  %0, %1 = stg.attention causal %q, %k, %k : !q, !k, !k
  return
}
// -----
!q = !stg.tensor<[2, 16, 4, 8], f32>
!l = !stg.tensor<[2, 16, 4], f32>
func.func @attention_grad_output(%q: !q, %l: !l, %o: !stg.tensor<[2, 8, 4, 8], f32>) {
  // expected-error @+1 {{output has extent 8 in dimension 1, expected 16}}
  %0:3 = stg.attention_grad causal %q, %q, %q, %o, %l, %q : !q, !q, !q, !stg.tensor<[2, 8, 4, 8], f32>, !l, !q
  return
}
// -----
!q = !stg.tensor<[2, 16, 4, 8], f32>
!l = !stg.tensor<[2, 16, 4], f32>
func.func @attention_grad_dy(%q: !q, %l: !l) {
  // expected-error @+1 {{gradient has rank 3, expected 4}}
  %0:3 = stg.attention_grad causal %q, %q, %q, %q, %l, %l : !q, !q, !q, !q, !l, !l
  return
}
// -----
!q = !stg.tensor<[2, 16, 4, 8], f32>
func.func @attention_grad_lse(%q: !q) {
  // expected-error @+1 {{log-sum-exp has rank 4, expected 3}}
  %0:3 = stg.attention_grad causal %q, %q, %q, %q, %q, %q : !q, !q, !q, !q, !q, !q
  return
}
