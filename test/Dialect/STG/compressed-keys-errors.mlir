// RUN: stg-opt %s -split-input-file -verify-diagnostics

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 8, 1, 16], bf16>
func.func @attention_c10_terms(%q: !q, %k: !k) {
  // expected-error @+1 {{has keys of blocks, expected keys and values as the first two terms}}
  %o, %lse = stg.attention causal %q, %k, %k {compressed = #sym.expr<4>} : !q, !k, !k
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 8, 1, 16], bf16>
!c = !stg.tensor<[2, 2, 1, 12], bf16>
func.func @attention_c10_size(%q: !q, %k: !k, %c: !c) {
  // expected-error @+1 {{keys of blocks has extent 12 in dimension 3, expected 16}}
  %o, %lse = stg.attention causal %q, %k, %k, %c, %c {compressed = #sym.expr<4>} : !q, !k, !k, !c, !c
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 8, 1, 16], bf16>
!c = !stg.tensor<[2, 2, 1, 16], bf16>
func.func @attention_c10_zero(%q: !q, %k: !k, %c: !c) {
  // expected-error @+1 {{has keys of blocks of 0 tokens, expected at least 1}}
  %o, %lse = stg.attention causal %q, %k, %k, %c, %c {compressed = #sym.expr<0>} : !q, !k, !k, !c, !c
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 8, 1, 16], bf16>
!c = !stg.tensor<[2, 2, 1, 16], bf16>
func.func @attention_c10_mask(%q: !q, %k: !k, %c: !c) {
  // expected-error @+1 {{has keys of blocks of 4 tokens, expected a causal mask without chunk, prefix and bias}}
  %o, %lse = stg.attention none %q, %k, %k, %c, %c {compressed = #sym.expr<4>} : !q, !k, !k, !c, !c
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 8, 1, 16], bf16>
func.func @attention_c10_past(%q: !q, %k: !k) {
  // expected-error @+1 {{says how many tokens are past, and has no keys of blocks}}
  %o, %lse = stg.attention causal %q, %k, %k {past = #sym.expr<4>} : !q, !k, !k
  return
}

// -----

!v = !stg.tensor<[2, 8, 16], bf16>
!b = !stg.tensor<[4, 16], bf16>
func.func @compress_c1(%v: !v, %s: !stg.tensor<[2, 7, 16], bf16>, %b: !b) {
  // expected-error @+1 {{scores has extent 7 in dimension 1, expected 8}}
  %c = stg.compress 4 %v, %s, %b : !v, !stg.tensor<[2, 7, 16], bf16>, !b -> !stg.tensor<[2, 2, 16], bf16>
  return
}

// -----

!v = !stg.tensor<[2, 8, 16], bf16>
func.func @compress_c2(%v: !v, %b: !stg.tensor<[3, 16], bf16>) {
  // expected-error @+1 {{bias has extent 3 in dimension 0, expected 4}}
  %c = stg.compress 4 %v, %v, %b : !v, !v, !stg.tensor<[3, 16], bf16> -> !stg.tensor<[2, 2, 16], bf16>
  return
}

// -----

!v = !stg.tensor<[2, 8, 16], bf16>
!b = !stg.tensor<[4, 16], bf16>
func.func @compress_c3_channels(%v: !v, %b: !b) {
  // expected-error @+1 {{expected 8 channels of each block of a sequence}}
  %c = stg.compress 4 %v, %v, %b {overlapping} : !v, !v, !b -> !stg.tensor<[2, 2, 16], bf16>
  return
}

// -----

!v = !stg.tensor<[2, 9, 16], bf16>
!b = !stg.tensor<[4, 16], bf16>
func.func @compress_c3_blocks(%v: !v, %b: !b) {
  // expected-error @+1 {{makes 2 blocks of 9 tokens, expected 3}}
  %c = stg.compress 4 %v, %v, %b : !v, !v, !b -> !stg.tensor<[2, 2, 16], bf16>
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 2, 16], bf16>
!w = !stg.tensor<[2, 8, 4], bf16>
func.func @select_keys_c3_block(%q: !q, %k: !k, %w: !w) {
  // expected-error @+1 {{has keys of blocks of 0 tokens, expected an integer of at least 1}}
  %s = stg.select_keys 1 %q, %k, %w {compressed = #sym.expr<0>} : !q, !k, !w
  return
}

// -----

func.func @take_c2(%p: !stg.tensor<[2, 8], f32>, %i: !stg.tensor<[3, 1], i32>) {
  // expected-error @+1 {{rows of indices has extent 3 in dimension 0, expected 2}}
  %w = stg.take %p, %i : !stg.tensor<[2, 8], f32>, !stg.tensor<[3, 1], i32>
  return
}

// -----

func.func @balance_c1(%p: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{operand has rank 1, expected at least 2}}
  %w = stg.balance 20 %p : !stg.tensor<[8], f32>
  return
}

// -----

func.func @balance_c3(%p: !stg.tensor<[4, 4], f32>) {
  // expected-error @+1 {{has 0 iterations, expected an integer of at least 1}}
  %w = stg.balance 0 %p : !stg.tensor<[4, 4], f32>
  return
}

// -----

func.func @glu_c2(%p: !stg.tensor<[2, 8], bf16>) {
  // expected-error @+1 {{is clamped and limited, expected one}}
  %w = stg.glu silu %p {clamped, limited} : !stg.tensor<[2, 8], bf16>
  return
}
