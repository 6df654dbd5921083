// RUN: stg-opt %s -split-input-file -verify-diagnostics

!x = !stg.tensor<[1, 8, 1, 1], f32>
func.func @attention_c5(%x: !x) {
  // expected-error @+1 {{has a window and a chunk, expected one of them}}
  %0, %l = stg.attention causal %x, %x, %x {chunk = #sym.expr<2>, window = #sym.expr<2>} : !x, !x, !x
  return
}

// -----

!x = !stg.tensor<[1, 8, 1, 1], f32>
func.func @attention_c5_number(%x: !x) {
  // expected-error @+1 {{has a window of 0 tokens, expected at least 1}}
  %0, %l = stg.attention causal %x, %x, %x {window = #sym.expr<0>} : !x, !x, !x
  return
}

// -----

!x = !stg.tensor<[1, 8, 1, 1], f32>
!q = !stg.tensor<[1, 4, 1, 1], f32>
func.func @attention_c6(%x: !x, %q: !q) {
  // expected-error @+1 {{has 4 queries and 8 keys, expected as many of both with a chunk and no causal mask}}
  %0, %l = stg.attention none %q, %x, %x {chunk = #sym.expr<2>} : !q, !x, !x
  return
}

// -----

!x = !stg.tensor<[1, 8, 1, 4], f32>
func.func @rope_c2(%x: !x) {
  // expected-error @+1 {{rotates 6 of 4 elements, expected 1 to 4}}
  %0 = stg.rope %x {rotated = #sym.expr<6>} : !x
  return
}

// -----

func.func @broadcast_c1(%x: !stg.tensor<[1, 8], f32>) {
  // expected-error @+1 {{has dimension 3, the tensor has rank 3}}
  %0 = stg.broadcast dim 3 %x : !stg.tensor<[1, 8], f32> -> !stg.tensor<[1, 8, 4], f32>
  return
}

// -----

func.func @broadcast_c1_type(%x: !stg.tensor<[1, 8], f32>) {
  // expected-error @+1 {{has a result of element type 'bf16', expected that of the operand, 'f32'}}
  %0 = stg.broadcast dim 2 %x : !stg.tensor<[1, 8], f32> -> !stg.tensor<[1, 8, 4], bf16>
  return
}

// -----

!p = !stg.tensor<[8, 16], f32>
func.func @top_k_c4(%p: !p, %s: !stg.tensor<[8, 16], bf16>) {
  // expected-error @+1 {{compares scores of type '!stg.tensor<[8, 16], bf16>', expected that of the operand, '!stg.tensor<[8, 16], f32>'}}
  %w, %i = stg.top_k 2 %p, %s : !p, !stg.tensor<[8, 16], bf16>
  return
}

// -----

!p = !stg.tensor<[8, 16], f32>
func.func @top_k_c5(%p: !p) {
  // expected-error @+1 {{has groups and no limit}}
  %w, %i = stg.top_k 2 %p {groups = #sym.expr<4>} : !p
  return
}

// -----

!p = !stg.tensor<[8, 16], f32>
func.func @top_k_c5_number(%p: !p) {
  // expected-error @+1 {{takes the elements of 5 of 4 groups, expected 1 to 4}}
  %w, %i = stg.top_k 2 %p {groups = #sym.expr<4>, limit = #sym.expr<5>} : !p
  return
}

// -----

func.func @divide_by_sum_c2(%p: !stg.tensor<[8, 16], i32>) {
  // expected-error @+1 {{operand has element type 'i32', expected a float}}
  %w, %s = stg.divide_by_sum %p : !stg.tensor<[8, 16], i32>
  return
}
