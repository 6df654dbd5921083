// Stacks of fewer tokens each, whose first layer asks with the means of two tokens, and what makes of
// the last stack's tokens as many as there were (Funnel). Queries score contents, distances and segments
// as in XLNet; what the first token has is not by distance and segment, so that scores are masked.

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens that ask"
stg.symbol @T "tokens that are asked"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"

!stream = !stg.tensor<[B, S, D], bf16>
!asked = !stg.tensor<[B, T, D], bf16>
!half = !stg.tensor<[B, S = S/2, D], bf16>
!fourth = !stg.tensor<[B, S = S/4, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!asked_heads = !stg.tensor<[B, T, H, E], bf16>
!head = !stg.tensor<[H, E], bf16>
!projection = !stg.tensor<[D, H, E], bf16>
!scores = !stg.tensor<[B, H, S, _ = T], bf16>
!segments = !stg.tensor<[B, S, _ = T, _ = 2], bf16>

// Scores of fixed positions: two rows for each token that is asked.
stg.block @distance_row_scores(%q: !heads) -> !scores {
  %w = stg.param "position_row" : !head
  %qw = stg.bias_add %q, %w <"position_query"> : !heads, !head
  // No trace has the values of constants.
  %f = stg.splat 1 : !stg.tensor<[N = 2*T, D], bf16>
  %wp = stg.param "position_proj" : !projection
  %p = stg.einsum "nd,dhe->nhe" %f, %wp : !stg.tensor<[N = 2*T, D], bf16>, !projection
  %b = stg.einsum "bshe,nhe->bhsn" %qw, %p <"position_scores"> : !heads, !stg.tensor<[N = 2*T, H, E], bf16>
  %y = stg.relative_scores %b <"relative_scores"> : !stg.tensor<[B, H, S, N = 2*T], bf16> -> !scores
  %c = stg.splat 1 : !scores
  %m = stg.mul %y, %c <"relative_scores_masked"> : !scores, !scores
  stg.return %m : !scores
}

// Scores of whether a token is of the same segment.
stg.block @kind_row_scores(%q: !heads, %segments: !segments) -> !scores {
  %w = stg.param "segment_row" : !head
  %qw = stg.bias_add %q, %w <"segment_query"> : !heads, !head
  %t = stg.param "segment_embeddings" : !stg.tensor<[_ = 2, H, E], bf16>
  %g = stg.einsum "bshe,ghe->bshg" %qw, %t <"segment_parts"> : !heads, !stg.tensor<[_ = 2, H, E], bf16>
  %y = stg.einsum "bstg,bshg->bhst" %segments, %g <"segment_scores"> : !segments, !stg.tensor<[B, S, H, _ = 2], bf16>
  %c = stg.splat 1 : !scores
  %m = stg.mul %y, %c <"segment_scores_masked"> : !scores, !scores
  stg.return %m : !scores
}

stg.block @asking_layer(%x: !stream, %asked: !asked, %segments: !segments) -> !stream {
  %q = stg.call @key_heads(%x) {name = "q", K as H} : (!stream) -> !heads
  %k = stg.call @key_heads(%asked) {name = "k", K as H, qkv_bias = true} : (!asked) -> !asked_heads
  %v = stg.call @key_heads(%asked) {name = "v", K as H, qkv_bias = true} : (!asked) -> !asked_heads
  // No trace has the value of the constant.
  %one = stg.splat 1 : !heads
  %qs = stg.mul %q, %one <"query_scale"> : !heads, !heads
  %w = stg.param "content_row" : !head
  %qw = stg.bias_add %qs, %w <"content_query"> : !heads, !head
  %p = stg.call @distance_row_scores(%qs) {T as T} : (!heads) -> !scores
  %s = stg.call @kind_row_scores(%qs, %segments) : (!heads, !segments) -> !scores
  %t = stg.add %p, %s <"other_scores"> : !scores, !scores
  %a, %lse = stg.attention none %qw, %k, %v, %t : !heads, !asked_heads, !asked_heads, !scores
  %o = stg.call @attention_output(%a) {o_bias = true} : (!heads) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// The first token, and means of two of it and of all others but the last one.
stg.block @halve(%x: !stream) -> !half {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first"> : !stream -> !stg.tensor<[B, 1, D], bf16>
  %r = stg.slice dim 1 %x {from = #sym.expr<0>} <"but_the_last"> : !stream -> !stg.tensor<[B, S = S - 1, D], bf16>
  %c = stg.concat dim 1 ordered %f, %r <"first_twice"> : !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, S = S - 1, D], bf16> -> !stream
  %p = stg.rearrange "b(nk)d->bnkd" %c <"in_twos"> : !stream -> !stg.tensor<[B, S = S/2, _ = 2, D], bf16>
  %y = stg.mean dim 2 %p <"means_of_two"> : !stg.tensor<[B, S = S/2, _ = 2, D], bf16>
  stg.return %y : !half
}

// Each token four times but the first one, and zeros, added to what the first stack gave.
stg.block @repeat_and_add(%x: !fourth, %first: !stream) -> !stream {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first"> : !fourth -> !stg.tensor<[B, 1, D], bf16>
  %r = stg.slice dim 1 %x {from = #sym.expr<1>} <"others"> : !fourth -> !stg.tensor<[B, S = S/4 - 1, D], bf16>
  %t = stg.broadcast dim 2 %r <"four_times"> : !stg.tensor<[B, S = S/4 - 1, D], bf16> -> !stg.tensor<[B, S = S/4 - 1, _ = 4, D], bf16>
  %j = stg.rearrange "bnkd->b(nk)d" %t <"in_a_row"> : !stg.tensor<[B, S = S/4 - 1, _ = 4, D], bf16> -> !stg.tensor<[B, S = S - 4, D], bf16>
  %z = stg.pad dim 1 %j {from = #sym.expr<0>} <"filled"> : !stg.tensor<[B, S = S - 4, D], bf16> -> !stg.tensor<[B, S = S - 1, D], bf16>
  %c = stg.concat dim 1 ordered %f, %z <"all_tokens"> : !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, S = S - 1, D], bf16> -> !stream
  %y = stg.add %c, %first <"with_first"> : !stream, !stream
  stg.return %y : !stream
}
