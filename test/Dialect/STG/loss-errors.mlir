// Operand shapes that embedding, cross-entropy and its parts refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @embedding_c1_rank(%t: !stg.tensor<[8], f32>, %i: !stg.tensor<[4], i32>) {
  // expected-error @+1 {{table has rank 1, expected 2: vocabulary and embedding size}}
  %0 = stg.embedding %t, %i : !stg.tensor<[8], f32>, !stg.tensor<[4], i32>
  return
}
// -----
func.func @embedding_c1_tables(%t: !stg.tensor<[2, 100, 8], f32>, %i: !stg.tensor<[4], i32>) {
  // expected-error @+1 {{table has extent 2 in dimension 0, expected 4}}
  %0 = stg.embedding %t, %i : !stg.tensor<[2, 100, 8], f32>, !stg.tensor<[4], i32>
  return
}
// -----
func.func @embedding_c1_ids(%t: !stg.tensor<[2, 3, 100, 8], f32>, %i: !stg.tensor<[3], i32>) {
  // expected-error @+1 {{table has 2 dimensions of tables, the ids have rank 1}}
  %0 = stg.embedding %t, %i : !stg.tensor<[2, 3, 100, 8], f32>, !stg.tensor<[3], i32>
  return
}
// -----
func.func @embedding_c3(%t: !stg.tensor<[100, 8], f32>, %i: !stg.tensor<[4], i32>) {
  // expected-error @+1 {{'pooled' is 1, expected one of the 1 dimensions of the ids}}
  %0 = stg.embedding %t, %i {pooled = 1} : !stg.tensor<[100, 8], f32>, !stg.tensor<[4], i32>
  return
}
// -----
func.func @embedding_c3_tables(%t: !stg.tensor<[2, 100, 8], f32>, %i: !stg.tensor<[4, 2], i32>) {
  // expected-error @+1 {{'pooled' is 1, expected one of the 2 dimensions of the ids that is none of the table}}
  %0 = stg.embedding %t, %i {pooled = 1} : !stg.tensor<[2, 100, 8], f32>, !stg.tensor<[4, 2], i32>
  return
}
// -----
func.func @embedding_c2(%t: !stg.tensor<[100, 8], f32>, %i: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{token id operand has element type 'f32', expected an integer}}
  %0 = stg.embedding %t, %i : !stg.tensor<[100, 8], f32>, !stg.tensor<[4], f32>
  return
}
// -----
!i = !stg.tensor<[4], i32>
!y = !stg.tensor<[4, 8], f32>
func.func @embedding_grad_c1_size(%i: !i, %y: !y) {
  // expected-error @+1 {{embedding size has extent 9 in dimension 0, expected 8}}
  %0 = stg.embedding_grad %i, %y : !i, !y -> !stg.tensor<[100, 9], f32>
  return
}
// -----
!i = !stg.tensor<[4], i32>
!y = !stg.tensor<[4, 8], f32>
func.func @embedding_grad_c1_rank(%i: !i, %y: !y) {
  // expected-error @+1 {{result has rank 1, expected 2: vocabulary and embedding size}}
  %0 = stg.embedding_grad %i, %y : !i, !y -> !stg.tensor<[8], f32>
  return
}
// -----
!i = !stg.tensor<[5], i32>
!y = !stg.tensor<[4, 8], f32>
func.func @embedding_grad_rows(%i: !i, %y: !y) {
  // expected-error @+1 {{gradient rows has extent 4 in dimension 0, expected 5}}
  %0 = stg.embedding_grad %i, %y : !i, !y -> !stg.tensor<[100, 8], f32>
  return
}
// -----
!i = !stg.tensor<[4], bf16>
!y = !stg.tensor<[4, 8], f32>
func.func @embedding_grad_ids(%i: !i, %y: !y) {
  // expected-error @+1 {{token id operand has element type 'bf16', expected an integer}}
  %0 = stg.embedding_grad %i, %y : !i, !y -> !stg.tensor<[100, 8], f32>
  return
}
// -----
!i = !stg.tensor<[], i32>
!y = !stg.tensor<[], f32>
func.func @embedding_grad_of_scalar(%i: !i, %y: !y) {
  // expected-error @+1 {{gradient has rank 0, expected at least 1}}
  %0 = stg.embedding_grad %i, %y : !i, !y -> !stg.tensor<[100, 8], f32>
  return
}
// -----
stg.symbol @V
!x = !stg.tensor<[4, V], f32>
func.func @cross_entropy_c1(%x: !x, %i: !stg.tensor<[V], i32>) {
  // expected-error @+1 {{labels has extent V in dimension 0, expected 4}}
  %0, %1 = stg.cross_entropy %x, %i : !x, !stg.tensor<[V], i32>
  return
}
// -----
!x = !stg.tensor<[4, 100], f32>
func.func @cross_entropy_c2(%x: !x, %i: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{label operand has element type 'f32', expected an integer}}
  %0, %1 = stg.cross_entropy %x, %i : !x, !stg.tensor<[4], f32>
  return
}
// -----
!x = !stg.tensor<[], f32>
func.func @cross_entropy_of_scalar(%x: !x) {
  // expected-error @+1 {{logits has rank 0, expected at least 1}}
  %0, %1 = stg.cross_entropy %x, %x : !x, !x
  return
}
// -----
!p = !stg.tensor<[4, 100], f32>
!r = !stg.tensor<[4], f32>
func.func @cross_entropy_grad_c1(%p: !p, %i: !stg.tensor<[4], i32>, %r: !r) {
  // expected-error @+1 {{result has extent 50 in dimension 1, expected 100}}
  %0 = stg.cross_entropy_grad %p, %i, %r : !p, !stg.tensor<[4], i32>, !r -> !stg.tensor<[4, 50], f32>
  return
}
// -----
!p = !stg.tensor<[4, 100], f32>
!r = !stg.tensor<[4], f32>
func.func @cross_entropy_grad_labels(%p: !p, %i: !stg.tensor<[5], i32>, %r: !r) {
  // expected-error @+1 {{labels has extent 5 in dimension 0, expected 4}}
  %0 = stg.cross_entropy_grad %p, %i, %r : !p, !stg.tensor<[5], i32>, !r -> !p
  return
}
// -----
!p = !stg.tensor<[4, 100], f32>
func.func @cross_entropy_grad_dloss(%p: !p, %i: !stg.tensor<[4], i32>) {
  // expected-error @+1 {{loss gradient has rank 2, expected 1}}
  %0 = stg.cross_entropy_grad %p, %i, %p : !p, !stg.tensor<[4], i32>, !p -> !p
  return
}
// -----
func.func @reduce_c1(%x: !stg.tensor<[], f32>) {
  // expected-error @+1 {{operand has rank 0, expected at least 1}}
  %0 = stg.reduce sum %x : !stg.tensor<[], f32>
  return
}
// -----
!x = !stg.tensor<[4, 100], f32>
func.func @exp_sum_c1(%x: !x) {
  // expected-error @+1 {{maximum has rank 2, expected 1}}
  %0, %1 = stg.exp_sum %x, %x : !x, !x
  return
}
// -----
!x = !stg.tensor<[4, 100], f32>
func.func @pick_c1(%x: !x, %i: !stg.tensor<[5], i32>) {
  // expected-error @+1 {{index has extent 5 in dimension 0, expected 4}}
  %0 = stg.pick %x, %i : !x, !stg.tensor<[5], i32>
  return
}
// -----
!x = !stg.tensor<[4, 100], f32>
func.func @pick_index(%x: !x, %i: !stg.tensor<[4], f32>) {
  // expected-error @+1 {{index has element type 'f32', expected an integer}}
  %0 = stg.pick %x, %i : !x, !stg.tensor<[4], f32>
  return
}
// -----
!r = !stg.tensor<[4], f32>
func.func @nll_c1_max(%r: !r, %m: !stg.tensor<[5], f32>) {
  // expected-error @+1 {{operand #1 has extent 5 in dimension 0, expected 4}}
  %0 = stg.nll %r, %m, %r : !r, !stg.tensor<[5], f32>, !r
  return
}
// -----
!r = !stg.tensor<[4], f32>
func.func @nll_c1_target(%r: !r, %m: !stg.tensor<[4, 1], f32>) {
  // expected-error @+1 {{operand #2 has rank 2, expected 1}}
  %0 = stg.nll %r, %r, %m : !r, !r, !stg.tensor<[4, 1], f32>
  return
}
// -----
!x = !stg.tensor<[4, 100], f32>
func.func @normalize_c1(%x: !x, %s: !stg.tensor<[100], f32>) {
  // expected-error @+1 {{sum has extent 100 in dimension 0, expected 4}}
  %0 = stg.normalize %x, %s : !x, !stg.tensor<[100], f32>
  return
}
