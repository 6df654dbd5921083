// What the ops of mixtures of experts refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @softmax_rank(%x: !stg.tensor<[], f32>) {
  // expected-error @+1 {{operand has rank 0, expected at least 1}}
  %0 = stg.softmax %x : !stg.tensor<[], f32>
  return
}
// -----
func.func @softmax_integers(%x: !stg.tensor<[8], i32>) {
  // expected-error @+1 {{operand has element type 'i32', expected a float}}
  %0 = stg.softmax %x : !stg.tensor<[8], i32>
  return
}
// -----
func.func @softmax_grad_rank(%p: !stg.tensor<[], f32>) {
  // expected-error @+1 {{operand has rank 0, expected at least 1}}
  %0 = stg.softmax_grad %p, %p : !stg.tensor<[], f32>, !stg.tensor<[], f32> -> !stg.tensor<[], f32>
  return
}
// -----
func.func @softmax_grad_gradient(%p: !stg.tensor<[4, 8], f32>, %d: !stg.tensor<[4, 9], f32>) {
  // expected-error @+1 {{gradient has extent 9 in dimension 1, expected 8}}
  %0 = stg.softmax_grad %p, %d : !stg.tensor<[4, 8], f32>, !stg.tensor<[4, 9], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @softmax_grad_result(%p: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{result has rank 1, expected 2}}
  %0 = stg.softmax_grad %p, %p : !stg.tensor<[4, 8], f32>, !stg.tensor<[4, 8], f32> -> !stg.tensor<[8], f32>
  return
}
// -----
func.func @top_k_rank(%x: !stg.tensor<[], f32>) {
  // expected-error @+1 {{operand has rank 0, expected at least 1}}
  %0, %1 = stg.top_k 1 %x : !stg.tensor<[], f32>
  return
}
// -----
func.func @top_k_integers(%x: !stg.tensor<[8], i32>) {
  // expected-error @+1 {{operand has element type 'i32', expected a float}}
  %0, %1 = stg.top_k 2 %x : !stg.tensor<[8], i32>
  return
}
// -----
func.func @top_k_too_many(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{takes 9 of 8 elements, expected 1 to 8}}
  %0, %1 = stg.top_k 9 %x : !stg.tensor<[4, 8], f32>
  return
}
// -----
stg.symbol @X
func.func @top_k_none(%x: !stg.tensor<[4, X], f32>) {
  // expected-error @+1 {{takes 0 of X elements, expected 1 to X}}
  %0, %1 = stg.top_k 0 %x : !stg.tensor<[4, X], f32>
  return
}
// -----
stg.symbol @X
func.func @top_k_fraction(%x: !stg.tensor<[4, X], f32>) {
  // expected-error @+1 {{takes 3/2 of X elements, expected 1 to X}}
  %0, %1 = stg.top_k 3/2 %x : !stg.tensor<[4, X], f32>
  return
}
// -----
func.func @top_k_undeclared(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{uses symbol 'A', which is not declared}}
  %0, %1 = stg.top_k A %x : !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @top_k_grad_indices(%d: !stg.tensor<[4, 2], f32>) {
  // expected-error @+1 {{index operand has element type 'f32', expected an integer}}
  %0 = stg.top_k_grad %d, %d : !stg.tensor<[4, 2], f32>, !stg.tensor<[4, 2], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @top_k_grad_index_rank(%i: !stg.tensor<[], i32>, %d: !stg.tensor<[], f32>) {
  // expected-error @+1 {{index operand has rank 0, expected at least 1}}
  %0 = stg.top_k_grad %i, %d : !stg.tensor<[], i32>, !stg.tensor<[], f32> -> !stg.tensor<[8], f32>
  return
}
// -----
func.func @top_k_grad_gradient(%i: !stg.tensor<[4, 2], i32>, %d: !stg.tensor<[4, 3], f32>) {
  // expected-error @+1 {{gradient has extent 3 in dimension 1, expected 2}}
  %0 = stg.top_k_grad %i, %d : !stg.tensor<[4, 2], i32>, !stg.tensor<[4, 3], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @top_k_grad_rows(%i: !stg.tensor<[4, 2], i32>, %d: !stg.tensor<[4, 2], f32>) {
  // expected-error @+1 {{result has extent 5 in dimension 0, expected 4}}
  %0 = stg.top_k_grad %i, %d : !stg.tensor<[4, 2], i32>, !stg.tensor<[4, 2], f32> -> !stg.tensor<[5, 8], f32>
  return
}
// -----
func.func @top_k_grad_result_rank(%i: !stg.tensor<[2], i32>, %d: !stg.tensor<[2], f32>) {
  // expected-error @+1 {{result has rank 0, expected at least 1}}
  %0 = stg.top_k_grad %i, %d : !stg.tensor<[2], i32>, !stg.tensor<[2], f32> -> !stg.tensor<[], f32>
  return
}
// -----
func.func @dispatch_token_rank(%x: !stg.tensor<[], f32>, %i: !stg.tensor<[2], i32>) {
  // expected-error @+1 {{token operand has rank 0, expected at least 1}}
  %0 = stg.dispatch %x, %i : !stg.tensor<[], f32>, !stg.tensor<[2], i32> -> !stg.tensor<[8, 1, 16], f32>
  return
}
// -----
func.func @dispatch_index_rank(%x: !stg.tensor<[16], f32>, %i: !stg.tensor<[], i32>) {
  // expected-error @+1 {{index operand has rank 0, expected at least 1}}
  %0 = stg.dispatch %x, %i : !stg.tensor<[16], f32>, !stg.tensor<[], i32> -> !stg.tensor<[8, 1, 16], f32>
  return
}
// -----
func.func @dispatch_indices(%x: !stg.tensor<[4, 16], f32>, %i: !stg.tensor<[4, 2], f32>) {
  // expected-error @+1 {{index operand has element type 'f32', expected an integer}}
  %0 = stg.dispatch %x, %i : !stg.tensor<[4, 16], f32>, !stg.tensor<[4, 2], f32> -> !stg.tensor<[8, 1, 16], f32>
  return
}
// -----
func.func @dispatch_rows(%x: !stg.tensor<[4, 16], f32>, %i: !stg.tensor<[5, 2], i32>) {
  // expected-error @+1 {{index rows has extent 5 in dimension 0, expected 4}}
  %0 = stg.dispatch %x, %i : !stg.tensor<[4, 16], f32>, !stg.tensor<[5, 2], i32> -> !stg.tensor<[8, 1, 16], f32>
  return
}
// -----
func.func @dispatch_result_rank(%x: !stg.tensor<[4, 16], f32>, %i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{result has rank 2, expected 3: experts, rows, width}}
  %0 = stg.dispatch %x, %i : !stg.tensor<[4, 16], f32>, !stg.tensor<[4, 2], i32> -> !stg.tensor<[8, 16], f32>
  return
}
// -----
func.func @dispatch_width(%x: !stg.tensor<[4, 16], f32>, %i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{has a result of width 17, expected that of the tokens, 16}}
  %0 = stg.dispatch %x, %i : !stg.tensor<[4, 16], f32>, !stg.tensor<[4, 2], i32> -> !stg.tensor<[8, 1, 17], f32>
  return
}
// -----
func.func @dispatch_element_type(%x: !stg.tensor<[4, 16], bf16>, %i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{has a result of element type 'f32', expected that of the tokens, 'bf16'}}
  %0 = stg.dispatch %x, %i : !stg.tensor<[4, 16], bf16>, !stg.tensor<[4, 2], i32> -> !stg.tensor<[8, 1, 16], f32>
  return
}
// -----
func.func @dispatch_grad_rank(%d: !stg.tensor<[8, 16], f32>, %i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{gradient has rank 2, expected 3: experts, rows, width}}
  %0 = stg.dispatch_grad %d, %i : !stg.tensor<[8, 16], f32>, !stg.tensor<[4, 2], i32> -> !stg.tensor<[4, 16], f32>
  return
}
// -----
func.func @dispatch_grad_indices(%d: !stg.tensor<[8, 1, 16], f32>, %i: !stg.tensor<[4, 2], f32>) {
  // expected-error @+1 {{index operand has element type 'f32', expected an integer}}
  %0 = stg.dispatch_grad %d, %i : !stg.tensor<[8, 1, 16], f32>, !stg.tensor<[4, 2], f32> -> !stg.tensor<[4, 16], f32>
  return
}
// -----
func.func @dispatch_grad_result(%d: !stg.tensor<[8, 1, 16], f32>, %i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{result has extent 2 in dimension 1, expected 16}}
  %0 = stg.dispatch_grad %d, %i : !stg.tensor<[8, 1, 16], f32>, !stg.tensor<[4, 2], i32> -> !stg.tensor<[4, 2], f32>
  return
}
// -----
func.func @combine_rank(%h: !stg.tensor<[8, 16], f32>, %i: !stg.tensor<[4, 2], i32>, %w: !stg.tensor<[4, 2], f32>) {
  // expected-error @+1 {{expert output operand has rank 2, expected 3: experts, rows, width}}
  %0 = stg.combine %h, %i, %w : !stg.tensor<[8, 16], f32>, !stg.tensor<[4, 2], i32>, !stg.tensor<[4, 2], f32>
  return
}
// -----
func.func @combine_indices(%h: !stg.tensor<[8, 1, 16], f32>, %w: !stg.tensor<[4, 2], f32>) {
  // expected-error @+1 {{index operand has element type 'f32', expected an integer}}
  %0 = stg.combine %h, %w, %w : !stg.tensor<[8, 1, 16], f32>, !stg.tensor<[4, 2], f32>, !stg.tensor<[4, 2], f32>
  return
}
// -----
func.func @combine_weights(%h: !stg.tensor<[8, 1, 16], f32>, %i: !stg.tensor<[4, 2], i32>, %w: !stg.tensor<[4, 3], f32>) {
  // expected-error @+1 {{weight operand has extent 3 in dimension 1, expected 2}}
  %0 = stg.combine %h, %i, %w : !stg.tensor<[8, 1, 16], f32>, !stg.tensor<[4, 2], i32>, !stg.tensor<[4, 3], f32>
  return
}
// -----
func.func @combine_weight_type(%h: !stg.tensor<[8, 1, 16], f32>, %i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{weight operand has element type 'i32', expected a float}}
  %0 = stg.combine %h, %i, %i : !stg.tensor<[8, 1, 16], f32>, !stg.tensor<[4, 2], i32>, !stg.tensor<[4, 2], i32>
  return
}
// -----
func.func @combine_grad_outputs(%h: !stg.tensor<[1, 16], f32>, %i: !stg.tensor<[4, 2], i32>, %w: !stg.tensor<[4, 2], f32>, %d: !stg.tensor<[4, 16], f32>) {
  // expected-error @+1 {{expert output operand has rank 2, expected 3: experts, rows, width}}
  %0, %1 = stg.combine_grad %h, %i, %w, %d : !stg.tensor<[1, 16], f32>, !stg.tensor<[4, 2], i32>, !stg.tensor<[4, 2], f32>, !stg.tensor<[4, 16], f32>
  return
}
// -----
func.func @combine_grad_gradient(%h: !stg.tensor<[8, 1, 16], f32>, %i: !stg.tensor<[4, 2], i32>, %w: !stg.tensor<[4, 2], f32>, %d: !stg.tensor<[4, 17], f32>) {
  // expected-error @+1 {{gradient has extent 17 in dimension 1, expected 16}}
  %0, %1 = stg.combine_grad %h, %i, %w, %d : !stg.tensor<[8, 1, 16], f32>, !stg.tensor<[4, 2], i32>, !stg.tensor<[4, 2], f32>, !stg.tensor<[4, 17], f32>
  return
}
