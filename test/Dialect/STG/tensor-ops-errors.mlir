// What the ops of shapes, windows and positions refuse.
//
// RUN: stg-opt %s -split-input-file -verify-diagnostics

func.func @pattern_sides(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{pattern 'ab' has no '->'}}
  %0 = stg.rearrange "ab" %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[8, 4], f32>
  return
}
// -----
func.func @pattern_sign(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{pattern 'aB->Ba' has 'B', expected lower-case letters, pairs of parentheses and '->'}}
  %0 = stg.rearrange "aB->Ba" %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[8, 4], f32>
  return
}
// -----
func.func @pattern_open(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{pattern 'ab->(ba' has a '(' without its ')'}}
  %0 = stg.rearrange "ab->(ba" %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[32], f32>
  return
}
// -----
func.func @pattern_twice(%x: !stg.tensor<[4, 4], f32>) {
  // expected-error @+1 {{pattern 'aa->a' has 'a' twice on one side}}
  %0 = stg.rearrange "aa->a" %x : !stg.tensor<[4, 4], f32> -> !stg.tensor<[4], f32>
  return
}
// -----
func.func @pattern_letters(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{pattern 'ab->ac' has other letters on its left than on its right}}
  %0 = stg.rearrange "ab->ac" %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @pattern_operand_rank(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{has an operand of rank 2, the pattern has 3 dimensions}}
  %0 = stg.rearrange "abc->(abc)" %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[32], f32>
  return
}
// -----
func.func @pattern_result_rank(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{has a result of rank 1, the pattern has 2 dimensions}}
  %0 = stg.rearrange "ab->ba" %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[32], f32>
  return
}
// -----
stg.symbol @B
stg.symbol @S
func.func @pattern_names(%x: !stg.tensor<[B, S], f32>) {
  // expected-error @+1 {{has dimension 'a' as B and as S = B}}
  %0 = stg.rearrange "ab->ba" %x : !stg.tensor<[B, S], f32> -> !stg.tensor<[S, S = B], f32>
  return
}
// -----
func.func @pattern_one(%x: !stg.tensor<[4, 2, 8], f32>) {
  // expected-error @+1 {{has extent 2 where the pattern has '()', expected 1}}
  %0 = stg.rearrange "a()b->ab" %x : !stg.tensor<[4, 2, 8], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @pattern_elements(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{makes 30 elements of 32}}
  %0 = stg.rearrange "ab->(ab)" %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[30], f32>
  return
}
// -----
func.func @pattern_types(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{has element types 'f32' and 'bf16', expected one}}
  %0 = stg.rearrange "ab->ba" %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[8, 4], bf16>
  return
}
// -----
func.func @slice_dim(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{has dimension 2, the tensor has rank 2}}
  %0 = stg.slice dim 2 %x {from = #sym.expr<0>} : !stg.tensor<[4, 8], f32> -> !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @slice_other_dim(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{part has extent 3 in dimension 0, expected 4}}
  %0 = stg.slice dim 1 %x {from = #sym.expr<0>} : !stg.tensor<[4, 8], f32> -> !stg.tensor<[3, 2], f32>
  return
}
// -----
func.func @slice_end(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{has a part from 7 to 9 of a dimension of 8 elements}}
  %0 = stg.slice dim 1 %x {from = #sym.expr<7>} : !stg.tensor<[4, 8], f32> -> !stg.tensor<[4, 2], f32>
  return
}
// -----
func.func @pad_begin(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{has a part from 3 to 11 of a dimension of 10 elements}}
  %0 = stg.pad dim 1 %x {from = #sym.expr<3>} : !stg.tensor<[4, 8], f32> -> !stg.tensor<[4, 10], f32>
  return
}
// -----
func.func @sum_dim(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{has dimension 2, the tensor has rank 2}}
  %0 = stg.sum dim 2 %x : !stg.tensor<[4, 8], f32>
  return
}
// -----
func.func @mean_dim(%x: !stg.tensor<[], f32>) {
  // expected-error @+1 {{has dimension 0, the tensor has rank 0}}
  %0 = stg.mean dim 0 %x : !stg.tensor<[], f32>
  return
}
// -----
func.func @along_nothing(%x: !stg.tensor<[4, 8], f32>, %v: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{requires attribute 'dims'}}
  %0 = stg.mul_along %x, %v : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @along_order(%x: !stg.tensor<[4, 8], f32>, %v: !stg.tensor<[8, 4], f32>) {
  // expected-error @+1 {{has dimension 0, expected ascending ones of a tensor of rank 2}}
  %0 = stg.mul_along %x, %v {dims = array<i64: 1, 0>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[8, 4], f32>
  return
}
// -----
func.func @along_shape(%x: !stg.tensor<[4, 8], f32>, %v: !stg.tensor<[8], f32>) {
  // expected-error @+1 {{operand #1 has extent 8 in dimension 0, expected 4}}
  %0 = stg.mul_along %x, %v {dims = array<i64: 0>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[8], f32>
  return
}
// -----
func.func @along_type(%x: !stg.tensor<[4, 8], f32>, %v: !stg.tensor<[4], bf16>) {
  // expected-error @+1 {{operand #1 has element type 'bf16', expected 'f32'}}
  %0 = stg.mul_along %x, %v {dims = array<i64: 0>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[4], bf16>
  return
}
// -----
func.func @along_grad_shapes(%x: !stg.tensor<[4, 8], f32>, %d: !stg.tensor<[4, 9], f32>) {
  // expected-error @+1 {{gradient has extent 9 in dimension 1, expected 8}}
  %0 = stg.mul_along_grad %x, %d {dims = array<i64: 0>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[4, 9], f32> -> !stg.tensor<[4], f32>
  return
}
// -----
func.func @conv_rank(%x: !stg.tensor<[4, 8], f32>, %w: !stg.tensor<[8, 2], f32>) {
  // expected-error @+1 {{has an input of rank 2 and a result of rank 2, expected one rank of at least 3: batch, positions, channels}}
  %0 = stg.conv %x, %w {strides = array<i64>, padding = array<i64>} : !stg.tensor<[4, 8], f32>, !stg.tensor<[8, 2], f32> -> !stg.tensor<[4, 2], f32>
  return
}
// -----
func.func @conv_weight_rank(%x: !stg.tensor<[4, 9, 8], f32>, %w: !stg.tensor<[8, 2], f32>) {
  // expected-error @+1 {{has a weight of rank 2 for an input of rank 3, expected one rank: window, channels, outputs}}
  %0 = stg.conv %x, %w {strides = array<i64: 1>, padding = array<i64: 1>} : !stg.tensor<[4, 9, 8], f32>, !stg.tensor<[8, 2], f32> -> !stg.tensor<[4, 9, 2], f32>
  return
}
// -----
func.func @conv_strides(%x: !stg.tensor<[4, 9, 8], f32>, %w: !stg.tensor<[3, 8, 2], f32>) {
  // expected-error @+1 {{has 1 extents of a window, 2 strides and 1 paddings for 1 dimensions of positions}}
  %0 = stg.conv %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1>} : !stg.tensor<[4, 9, 8], f32>, !stg.tensor<[3, 8, 2], f32> -> !stg.tensor<[4, 9, 2], f32>
  return
}
// -----
func.func @conv_stride(%x: !stg.tensor<[4, 9, 8], f32>, %w: !stg.tensor<[3, 8, 2], f32>) {
  // expected-error @+1 {{has a window of 3, a stride of 0 and a padding of 1, expected at least 1, 1 and 0}}
  %0 = stg.conv %x, %w {strides = array<i64: 0>, padding = array<i64: 1>} : !stg.tensor<[4, 9, 8], f32>, !stg.tensor<[3, 8, 2], f32> -> !stg.tensor<[4, 9, 2], f32>
  return
}
// -----
func.func @conv_positions(%x: !stg.tensor<[4, 9, 8], f32>, %w: !stg.tensor<[3, 8, 2], f32>) {
  // expected-error @+1 {{has 4 positions in dimension 1, expected 5 of 9 with a window of 3, stride 2 and padding 1}}
  %0 = stg.conv %x, %w {strides = array<i64: 2>, padding = array<i64: 1>} : !stg.tensor<[4, 9, 8], f32>, !stg.tensor<[3, 8, 2], f32> -> !stg.tensor<[4, 4, 2], f32>
  return
}
// -----
func.func @conv_batch(%x: !stg.tensor<[4, 9, 8], f32>, %w: !stg.tensor<[3, 8, 2], f32>) {
  // expected-error @+1 {{result has extent 3 in dimension 0, expected 4}}
  %0 = stg.conv %x, %w {strides = array<i64: 1>, padding = array<i64: 1>} : !stg.tensor<[4, 9, 8], f32>, !stg.tensor<[3, 8, 2], f32> -> !stg.tensor<[3, 9, 2], f32>
  return
}
// -----
func.func @conv_outputs(%x: !stg.tensor<[4, 9, 8], f32>, %w: !stg.tensor<[3, 8, 2], f32>) {
  // expected-error @+1 {{output has extent 3 in dimension 0, expected 2}}
  %0 = stg.conv %x, %w {strides = array<i64: 1>, padding = array<i64: 1>} : !stg.tensor<[4, 9, 8], f32>, !stg.tensor<[3, 8, 2], f32> -> !stg.tensor<[4, 9, 3], f32>
  return
}
// -----
func.func @conv_channels(%x: !stg.tensor<[4, 9, 8], f32>, %w: !stg.tensor<[3, 4, 2], f32>) {
  // expected-error @+1 {{has a weight for 4 channels, the input has 8}}
  %0 = stg.conv %x, %w {strides = array<i64: 1>, padding = array<i64: 1>} : !stg.tensor<[4, 9, 8], f32>, !stg.tensor<[3, 4, 2], f32> -> !stg.tensor<[4, 9, 2], f32>
  return
}
// -----
func.func @conv_groups(%x: !stg.tensor<[4, 9, 8], f32>, %w: !stg.tensor<[3, 3, 2], f32>) {
  // expected-error @+1 {{has groups of 3 channels, which do not divide the 8 of the input}}
  %0 = stg.conv %x, %w {strides = array<i64: 1>, padding = array<i64: 1>, grouped} : !stg.tensor<[4, 9, 8], f32>, !stg.tensor<[3, 3, 2], f32> -> !stg.tensor<[4, 9, 2], f32>
  return
}
// -----
func.func @pool_window(%x: !stg.tensor<[4, 9, 8], f32>) {
  // expected-error @+1 {{has 2 extents of a window, 1 strides and 1 paddings for 1 dimensions of positions}}
  %0 = stg.pool mean %x {window = array<i64: 3, 3>, strides = array<i64: 3>, padding = array<i64: 0>} : !stg.tensor<[4, 9, 8], f32> -> !stg.tensor<[4, 3, 8], f32>
  return
}
// -----
func.func @pool_channels(%x: !stg.tensor<[4, 9, 8], f32>) {
  // expected-error @+1 {{result has extent 7 in dimension 0, expected 8}}
  %0 = stg.pool max %x {window = array<i64: 3>, strides = array<i64: 3>, padding = array<i64: 0>} : !stg.tensor<[4, 9, 8], f32> -> !stg.tensor<[4, 3, 7], f32>
  return
}
// -----
func.func @pool_grad_input(%d: !stg.tensor<[4, 3, 8], f32>) {
  // expected-error @+1 {{of a max needs the input}}
  %0 = stg.pool_grad max %d {window = array<i64: 3>, strides = array<i64: 3>, padding = array<i64: 0>} : !stg.tensor<[4, 3, 8], f32> -> !stg.tensor<[4, 9, 8], f32>
  return
}
// -----
func.func @pool_grad_no_input(%x: !stg.tensor<[4, 9, 8], f32>, %d: !stg.tensor<[4, 3, 8], f32>) {
  // expected-error @+1 {{of a mean has an input, expected none}}
  %0 = stg.pool_grad mean %d, %x {window = array<i64: 3>, strides = array<i64: 3>, padding = array<i64: 0>} : !stg.tensor<[4, 3, 8], f32>, !stg.tensor<[4, 9, 8], f32> -> !stg.tensor<[4, 9, 8], f32>
  return
}
// -----
func.func @relative_ranks(%t: !stg.tensor<[32, 8], f32>) {
  // expected-error @+1 {{has a table of rank 2 and a bias of rank 2, expected [buckets, heads] and [heads, queries, keys]}}
  %0 = stg.relative_bias %t : !stg.tensor<[32, 8], f32> -> !stg.tensor<[8, 4], f32>
  return
}
// -----
func.func @relative_heads(%t: !stg.tensor<[32, 8], f32>) {
  // expected-error @+1 {{bias has extent 4 in dimension 0, expected 8}}
  %0 = stg.relative_bias %t : !stg.tensor<[32, 8], f32> -> !stg.tensor<[4, 5, 5], f32>
  return
}
// -----
func.func @scores_ranks(%x: !stg.tensor<[2, 5, 9], f32>) {
  // expected-error @+1 {{has ranks 3 and 2, expected one rank, at least 2: [..., tokens, buckets] and [..., queries, keys]}}
  %0 = stg.relative_scores %x : !stg.tensor<[2, 5, 9], f32> -> !stg.tensor<[5, 7], f32>
  return
}
// -----
func.func @scores_rows(%x: !stg.tensor<[2, 5, 9], f32>) {
  // expected-error @+1 {{scores has extent 3 in dimension 0, expected 2}}
  %0 = stg.relative_scores %x : !stg.tensor<[2, 5, 9], f32> -> !stg.tensor<[3, 5, 7], f32>
  return
}
// -----
func.func @scores_queries(%x: !stg.tensor<[2, 5, 9], f32>) {
  // expected-error @+1 {{has 7 queries, expected 5}}
  %0 = stg.relative_scores %x : !stg.tensor<[2, 5, 9], f32> -> !stg.tensor<[2, 7, 5], f32>
  return
}
// -----
func.func @scores_keys(%x: !stg.tensor<[2, 5, 9], f32>) {
  // expected-error @+1 {{has 7 keys, expected 5}}
  %0 = stg.relative_scores %x {of_keys} : !stg.tensor<[2, 5, 9], f32> -> !stg.tensor<[2, 5, 7], f32>
  return
}
// -----
func.func @scores_elements(%x: !stg.tensor<[2, 5, 9], f32>) {
  // expected-error @+1 {{has element types 'f32' and 'bf16', expected one}}
  %0 = stg.relative_scores %x : !stg.tensor<[2, 5, 9], f32> -> !stg.tensor<[2, 5, 7], bf16>
  return
}
// -----
func.func @scores_gradient(%x: !stg.tensor<[2, 5, 7], f32>) {
  // expected-error @+1 {{has 5 queries, expected 7}}
  %0 = stg.relative_scores_grad %x : !stg.tensor<[2, 5, 7], f32> -> !stg.tensor<[2, 7, 9], f32>
  return
}
// -----
!q = !stg.tensor<[2, 5, 8, 16], f32>
func.func @bias_batch(%q: !q, %b: !stg.tensor<[3, 8, 5, 5], f32>) {
  // expected-error @+1 {{bias has extent 3 in dimension 0, expected 2}}
  %0, %1 = stg.attention none %q, %q, %q, %b : !q, !q, !q, !stg.tensor<[3, 8, 5, 5], f32>
  return
}
// -----
!q = !stg.tensor<[2, 5, 8, 16], f32>
func.func @bias_heads(%q: !q, %b: !stg.tensor<[2, 4, 5, 5], f32>) {
  // expected-error @+1 {{bias has 4 heads, expected 8}}
  %0, %1 = stg.attention none %q, %q, %q, %b : !q, !q, !q, !stg.tensor<[2, 4, 5, 5], f32>
  return
}
// -----
!q = !stg.tensor<[2, 5, 8, 16], f32>
func.func @term_kind(%q: !q, %b: !stg.tensor<[2, 8, 5, 5], i32>) {
  // expected-error @+1 {{sinks have element type 'i32', expected a float}}
  %0, %1 = stg.attention none %q, %q, %q, %b : !q, !q, !q, !stg.tensor<[2, 8, 5, 5], i32>
  return
}
// -----
!q = !stg.tensor<[2, 5, 8, 16], f32>
func.func @term_rank(%q: !q, %b: !stg.tensor<[8, 5], f32>) {
  // expected-error @+1 {{sinks has rank 2, expected 1}}
  %0, %1 = stg.attention none %q, %q, %q, %b : !q, !q, !q, !stg.tensor<[8, 5], f32>
  return
}
// -----
!q = !stg.tensor<[2, 5, 8, 16], f32>
!k = !stg.tensor<[2, 7, 8, 16], f32>
func.func @bias_keys(%q: !q, %k: !k, %b: !stg.tensor<[8, 5, 5], f32>) {
  // expected-error @+1 {{bias has 5 keys, expected 7}}
  %0, %1 = stg.attention none %q, %k, %k, %b : !q, !k, !k, !stg.tensor<[8, 5, 5], f32>
  return
}
// -----
!q = !stg.tensor<[2, 5, 8, 16], f32>
func.func @two_biases(%q: !q, %b: !stg.tensor<[8, 5, 5], f32>, %c: !stg.tensor<[8, 5, 5], f32>) {
  // expected-error @+1 {{has 2 terms, expected sinks, a bias and selected keys at most}}
  %0, %1 = stg.attention none %q, %q, %q, %b, %c : !q, !q, !q, !stg.tensor<[8, 5, 5], f32>, !stg.tensor<[8, 5, 5], f32>
  return
}
// -----
!q = !stg.tensor<[2, 5, 8, 16], f32>
func.func @prefix_mask(%q: !q) {
  // expected-error @+1 {{has a prefix, expected a causal mask without window and chunk}}
  %0, %1 = stg.attention none %q, %q, %q {prefix = #sym.expr<2>} : !q, !q, !q
  return
}
// -----
!q = !stg.tensor<[2, 5, 8, 16], f32>
func.func @prefix_length(%q: !q) {
  // expected-error @+1 {{has a prefix of 6 tokens, expected at least 1 and at most those of the queries}}
  %0, %1 = stg.attention causal %q, %q, %q {prefix = #sym.expr<6>} : !q, !q, !q
  return
}
// -----
func.func @resize_c1(%x: !stg.tensor<[4, 8], f32>) {
  // expected-error @+1 {{has an input of rank 2 and a result of rank 2, expected one rank of at least 3: batch, positions, channels}}
  %0 = stg.resize nearest %x : !stg.tensor<[4, 8], f32> -> !stg.tensor<[4, 16], f32>
  return
}
// -----
func.func @resize_batch(%x: !stg.tensor<[4, 9, 8], f32>) {
  // expected-error @+1 {{result has extent 2 in dimension 0, expected 4}}
  %0 = stg.resize nearest %x : !stg.tensor<[4, 9, 8], f32> -> !stg.tensor<[2, 18, 8], f32>
  return
}
// -----
func.func @resize_channels(%x: !stg.tensor<[4, 9, 8], f32>) {
  // expected-error @+1 {{result has extent 7 in dimension 0, expected 8}}
  %0 = stg.resize linear %x : !stg.tensor<[4, 9, 8], f32> -> !stg.tensor<[4, 18, 7], f32>
  return
}
// -----
func.func @resize_elements(%x: !stg.tensor<[4, 9, 8], f32>) {
  // expected-error @+1 {{has element types 'f32' and 'bf16', expected one}}
  %0 = stg.resize linear %x : !stg.tensor<[4, 9, 8], f32> -> !stg.tensor<[4, 18, 8], bf16>
  return
}
// -----
func.func @resize_c2(%x: !stg.tensor<[4, 9, 8], f32>) {
  // expected-error @+1 {{has 1/2 positions, expected at least 1}}
  %0 = stg.resize linear %x : !stg.tensor<[4, 9, 8], f32> -> !stg.tensor<[4, 1/2, 8], f32>
  return
}
// -----
func.func @resize_gradient(%x: !stg.tensor<[4, 18, 8], f32>) {
  // expected-error @+1 {{result has extent 8 in dimension 0, expected 7}}
  %0 = stg.resize_grad linear %x : !stg.tensor<[4, 18, 8], f32> -> !stg.tensor<[4, 9, 7], f32>
  return
}
