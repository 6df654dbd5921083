// What ops that go over tokens refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[1, 8], bf16>
func.func @causal_conv_c1(%x: !x, %w: !stg.tensor<[4], bf16>) {
  // expected-error @+1 {{operand has rank 2, expected at least 3}}
  %0 = stg.causal_conv %x, %w : !x, !stg.tensor<[4], bf16>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6], bf16>
func.func @causal_conv_c2(%x: !x, %w: !stg.tensor<[5, 4], bf16>) {
  // expected-error @+1 {{weight without its last dimension has extent 5 in dimension 0, expected 6}}
  %0 = stg.causal_conv %x, %w : !x, !stg.tensor<[5, 4], bf16>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6], bf16>
!w = !stg.tensor<[6, 4], bf16>
func.func @causal_conv_c3(%x: !x, %w: !w) {
  // expected-error @+1 {{is reversed and has a state}}
  %0 = stg.causal_conv %x, %w {reversed, state = "s"} : !x, !w
  return
}

// -----

!x = !stg.tensor<[1, 8, 6], bf16>
func.func @causal_conv_weight_grad_c1(%x: !x) {
  // expected-error @+1 {{result has extent 5 in dimension 0, expected 6}}
  %0 = stg.causal_conv_weight_grad %x, %x : !x, !x -> !stg.tensor<[5, 4], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6], bf16>
!a = !stg.tensor<[6, 4], bf16>
!n = !stg.tensor<[1, 8, 5], bf16>
!d = !stg.tensor<[6], bf16>
func.func @selective_scan_c3(%x: !x, %a: !a, %n: !n, %d: !d) {
  // expected-error @+1 {{b has extent 5 in dimension 2, expected 4}}
  %0 = stg.selective_scan %x, %x, %a, %n, %n, %d : !x, !x, !a, !n, !n, !d
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!a = !stg.tensor<[6, 4], bf16>
!n = !stg.tensor<[1, 8, 4], bf16>
!d = !stg.tensor<[6], bf16>
func.func @selective_scan_c2(%x: !x, %a: !a, %n: !n, %d: !d) {
  // expected-error @+1 {{a has rank 2, expected 3: heads, channels, state}}
  %0 = stg.selective_scan %x, %x, %a, %n, %n, %d : !x, !x, !a, !n, !n, !d
  return
}

// -----

!x = !stg.tensor<[1, 8], bf16>
!a = !stg.tensor<[6, 4], bf16>
!d = !stg.tensor<[6], bf16>
func.func @selective_scan_c1(%x: !x, %a: !a, %d: !d) {
  // expected-error @+1 {{x has rank 2, expected 3 or 4: batch, tokens, heads or none, channels}}
  %0 = stg.selective_scan %x, %x, %a, %x, %x, %d : !x, !x, !a, !x, !x, !d
  return
}

// -----

// What heads read is of each of them.
!x = !stg.tensor<[1, 8, 2, 6], bf16>
!a = !stg.tensor<[2, 6, 4], bf16>
!n = !stg.tensor<[1, 8, 2, 4], bf16>
!m = !stg.tensor<[1, 8, 3, 4], bf16>
!d = !stg.tensor<[2, 6], bf16>
func.func @selective_scan_c3_heads(%x: !x, %a: !a, %n: !n, %m: !m, %d: !d) {
  %0 = stg.selective_scan %x, %x, %a, %n, %n, %d : !x, !x, !a, !n, !n, !d
  // expected-error @+1 {{c has extent 3 in dimension 2, expected 2}}
  %1 = stg.selective_scan %x, %x, %a, %n, %m, %d : !x, !x, !a, !n, !m, !d
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!t = !stg.tensor<[1, 8, 6], bf16>
!g = !stg.tensor<[1, 8, 4, 2], bf16>
!d = !stg.tensor<[6], bf16>
func.func @ssd_c4(%x: !x, %t: !t, %g: !g, %d: !d) {
  // expected-error @+1 {{has 6 heads, which the 4 groups do not divide}}
  %0 = stg.ssd 4 %x, %t, %d, %g, %g, %d : !x, !t, !d, !g, !g, !d
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!t = !stg.tensor<[1, 8, 6], bf16>
!n = !stg.tensor<[1, 8, 4], bf16>
!d = !stg.tensor<[6], bf16>
func.func @ssd_c5(%x: !x, %t: !t, %n: !n, %d: !d) {
  // expected-error @+1 {{has chunks of 0 tokens, expected at least 1}}
  %0 = stg.ssd 0 %x, %t, %d, %n, %n, %d : !x, !t, !d, !n, !n, !d
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!t = !stg.tensor<[1, 8, 6], bf16>
!b = !stg.tensor<[1, 8], bf16>
!d = !stg.tensor<[6], bf16>
func.func @ssd_c3(%x: !x, %t: !t, %b: !b, %d: !d) {
  // expected-error @+1 {{b has rank 2, expected 3 or 4: batch, tokens, groups or none, state}}
  %0 = stg.ssd 4 %x, %t, %d, %b, %b, %d : !x, !t, !d, !b, !b, !d
  return
}

// -----

!q = !stg.tensor<[1, 8, 4, 2], bf16>
!v = !stg.tensor<[1, 8, 6, 2], bf16>
!t = !stg.tensor<[1, 8, 6], bf16>
!d = !stg.tensor<[6], bf16>
func.func @gated_delta_rule_c4(%q: !q, %v: !v, %t: !t, %d: !d) {
  // expected-error @+1 {{has 6 heads, which the 4 key heads do not divide}}
  %0 = stg.gated_delta_rule 4 %q, %q, %v, %t, %d, %t : !q, !q, !v, !t, !d, !t
  return
}

// -----

// What a state forgets is a number of each head or of each element of a key, not of a value.
!q = !stg.tensor<[1, 8, 6, 2], bf16>
!v = !stg.tensor<[1, 8, 6, 3], bf16>
!t = !stg.tensor<[1, 8, 6], bf16>
!d = !stg.tensor<[6], bf16>
func.func @gated_delta_rule_c2(%q: !q, %v: !v, %t: !t, %d: !d) {
  %0 = stg.gated_delta_rule 4 %q, %q, %v, %q, %d, %t : !q, !q, !v, !q, !d, !t
  // expected-error @+1 {{dt has extent 3 in dimension 3, expected 2}}
  %1 = stg.gated_delta_rule 4 %q, %q, %v, %v, %d, %t : !q, !q, !v, !v, !d, !t
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!w = !stg.tensor<[6, 2], bf16>
func.func @gated_norm_c3(%x: !x, %w: !w) {
  // expected-error @+1 {{has 6 heads, which the 4 groups do not divide}}
  %0, %r = stg.gated_norm %x, %x, %w : !x, !x, !w -> !x, !stg.tensor<[1, 8, 4], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!w = !stg.tensor<[2, 6], bf16>
func.func @gated_norm_c2(%x: !x, %w: !w) {
  // expected-error @+1 {{weight has extent 2 in dimension 0, expected 6}}
  %0, %r = stg.gated_norm %x, %x, %w : !x, !x, !w -> !x, !stg.tensor<[1, 8], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!w = !stg.tensor<[6, 2], bf16>
!r = !stg.tensor<[1, 8, 3], f32>
!d = !stg.tensor<[1, 8], f32>
func.func @gated_norm_grad_c6(%x: !x, %w: !w, %r: !r, %d: !d) {
  // expected-error @+1 {{has a product of its own, and groups that are not cut}}
  %0:3 = stg.gated_norm_grad %x, %x, %w, %r, %x, %d : !x, !x, !w, !r, !x, !d -> !x, !x, !w
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!w = !stg.tensor<[6, 2], bf16>
!r = !stg.tensor<[1, 8, 3], f32>
!d = !stg.tensor<[1, 8], f32>
func.func @gated_norm_grad_c6_shape(%x: !x, %w: !w, %r: !r, %d: !d) {
  // expected-error @+1 {{product has rank 2, expected 3}}
  %0:3 = stg.gated_norm_grad %x, %x, %w, %r, %x, %d {cut} : !x, !x, !w, !r, !x, !d -> !x, !x, !w
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!w = !stg.tensor<[6, 2], bf16>
func.func @gated_norm_c4(%x: !x, %w: !w) {
  // expected-error @+1 {{has groups that are cut, and no groups}}
  %0, %r = stg.gated_norm %x, %x, %w {cut} : !x, !x, !w -> !x, !stg.tensor<[1, 8], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
func.func @gated_norm_squares_c2(%x: !x) {
  // expected-error @+1 {{has 6 heads, which the 4 groups do not divide}}
  %0 = stg.gated_norm_squares %x, %x : !x, !x -> !stg.tensor<[1, 8, 4], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!w = !stg.tensor<[6, 2], bf16>
func.func @gated_norm_dot_c4(%x: !x, %w: !w) {
  // expected-error @+1 {{result has rank 1, expected 2 or 3: batch, tokens, groups or none}}
  %0 = stg.gated_norm_dot %x, %x, %w, %x : !x, !x, !w, !x -> !stg.tensor<[1], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
!w = !stg.tensor<[6, 2], bf16>
func.func @gated_norm_c4_gathered(%x: !x, %w: !w) {
  // expected-error @+1 {{has groups that are gathered, but not cut}}
  %0, %r = stg.gated_norm %x, %x, %w {gathered} : !x, !x, !w -> !x, !stg.tensor<[1, 8, 3], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], bf16>
func.func @gated_values_c1(%x: !x) {
  // expected-error @+1 {{result has extent 4 in dimension 2, expected 6}}
  %0 = stg.gated_values %x, %x : !x, !x -> !stg.tensor<[1, 8, 4, 2], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], f32>
func.func @grouped_norm_c2(%x: !x) {
  // expected-error @+1 {{has 6 heads, which the 4 groups do not divide}}
  %0, %r = stg.grouped_norm %x : !x -> !x, !stg.tensor<[1, 8, 4], f32>
  return
}

// -----

!x = !stg.tensor<[1, 8, 6, 2], f32>
func.func @grouped_norm_apply_c2(%x: !x, %w: !stg.tensor<[4, 2], bf16>) {
  // expected-error @+1 {{weight has extent 4 in dimension 0, expected 6}}
  %0 = stg.grouped_norm_apply %x, %w : !x, !stg.tensor<[4, 2], bf16> -> !stg.tensor<[1, 8, 6, 2], bf16>
  return
}
