// RUN: stg-opt %s -split-input-file -verify-diagnostics

!q = !stg.tensor<[2, 8, 4, 16], bf16>
func.func @attention_c9_queries(%q: !q, %s: !stg.tensor<[2, 7, 3], i32>) {
  // expected-error @+1 {{selected keys has extent 7 in dimension 1, expected 8}}
  %o, %lse = stg.attention causal %q, %q, %q, %s : !q, !q, !q, !stg.tensor<[2, 7, 3], i32>
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!s = !stg.tensor<[2, 8, 3], i32>
func.func @attention_c9_window(%q: !q, %s: !s) {
  // expected-error @+1 {{'stg.attention' op has selected keys and a window, expected one of them}}
  %o, %lse = stg.attention causal %q, %q, %q, %s {window = #sym.expr<4>} : !q, !q, !q, !s
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!s = !stg.tensor<[2, 8, 3], i32>
func.func @attention_c9_prefix(%q: !q, %s: !s) {
  // expected-error @+1 {{'stg.attention' op has selected keys and a prefix, expected one of them}}
  %o, %lse = stg.attention causal %q, %q, %q, %s {prefix = #sym.expr<4>} : !q, !q, !q, !s
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!s = !stg.tensor<[2, 8, 3], i32>
func.func @attention_c9_twice(%q: !q, %s: !s, %t: !s) {
  // expected-error @+1 {{has 2 terms, expected sinks, a bias and selected keys at most}}
  %o, %lse = stg.attention causal %q, %q, %q, %s, %t : !q, !q, !q, !s, !s
  return
}

// -----

!k = !stg.tensor<[2, 8, 16], bf16>
!w = !stg.tensor<[2, 8, 4], bf16>
func.func @select_keys_c1(%q: !k, %k: !k, %w: !w) {
  // expected-error @+1 {{queries have rank 3, expected 4}}
  %s = stg.select_keys 3 %q, %k, %w : !k, !k, !w
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 8, 12], bf16>
!w = !stg.tensor<[2, 8, 4], bf16>
func.func @select_keys_c2_keys(%q: !q, %k: !k, %w: !w) {
  // expected-error @+1 {{keys has extent 12 in dimension 2, expected 16}}
  %s = stg.select_keys 3 %q, %k, %w : !q, !k, !w
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 8, 16], bf16>
!w = !stg.tensor<[2, 8, 5], bf16>
func.func @select_keys_c2_weights(%q: !q, %k: !k, %w: !w) {
  // expected-error @+1 {{weights has extent 5 in dimension 2, expected 4}}
  %s = stg.select_keys 3 %q, %k, %w : !q, !k, !w
  return
}

// -----

!q = !stg.tensor<[2, 8, 4, 16], bf16>
!k = !stg.tensor<[2, 8, 16], bf16>
!w = !stg.tensor<[2, 8, 4], bf16>
func.func @select_keys_c3(%q: !q, %k: !k, %w: !w) {
  // expected-error @+1 {{selects 0 keys, expected an integer of at least 1}}
  %s = stg.select_keys 0 %q, %k, %w : !q, !k, !w
  return
}
