// What attention with sinks, and the gradient of sinks, refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

!q = !stg.tensor<[1, 8, 4, 2], bf16>
func.func @attention_c7(%q: !q, %s: !stg.tensor<[2], bf16>) {
  // expected-error @+1 {{sinks has extent 2 in dimension 0, expected 4}}
  %0, %l = stg.attention causal %q, %q, %q, %s : !q, !q, !q, !stg.tensor<[2], bf16>
  return
}

// -----

!q = !stg.tensor<[1, 8, 4, 2], bf16>
func.func @attention_c7_type(%q: !q, %s: !stg.tensor<[4], i32>) {
  // expected-error @+1 {{sinks have element type 'i32', expected a float}}
  %0, %l = stg.attention causal %q, %q, %q, %s : !q, !q, !q, !stg.tensor<[4], i32>
  return
}

// -----

!q = !stg.tensor<[1, 8, 4, 2], bf16>
func.func @attention_block_c4(%q: !q, %s: !stg.tensor<[8], bf16>) {
  // expected-error @+1 {{sinks has extent 8 in dimension 0, expected 4}}
  %0, %l = stg.attention_block 36 %q, %q, %q, %s : !q, !q, !q, !stg.tensor<[8], bf16>
  return
}

// -----

!q = !stg.tensor<[1, 8, 4, 2], bf16>
!l = !stg.tensor<[1, 8, 4], f32>
!s = !stg.tensor<[4], bf16>
func.func @attention_sinks_grad_c1(%q: !q, %l: !l, %s: !s) {
  // expected-error @+1 {{result has extent 2 in dimension 0, expected 4}}
  %0 = stg.attention_sinks_grad %s, %q, %l, %q : !s, !q, !l, !q -> !stg.tensor<[2], f32>
  return
}

// -----

!l = !stg.tensor<[1, 8, 4], f32>
!s = !stg.tensor<[4], bf16>
func.func @attention_sinks_grad_rank(%l: !l, %s: !s) {
  // expected-error @+1 {{has an output of rank 3, expected 4}}
  %0 = stg.attention_sinks_grad %s, %l, %l, %l : !s, !l, !l, !l -> !stg.tensor<[4], f32>
  return
}
