// Attention whose queries score the contents of keys, how far away they are, and whether they are of
// the same segment, each behind a learned row of their own (Transformer-XL, XLNet).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!head = !stg.tensor<[H, E], bf16>
!projection = !stg.tensor<[D, H, E], bf16>
!scores = !stg.tensor<[B, H, S, _ = S], bf16>
!segments = !stg.tensor<[B, S, _ = S, _ = 2], bf16>

// Scores of positions, which are fixed: one more than there are distances, as frameworks have it.
stg.block @position_row_scores(%q: !heads) -> !scores {
  %w = stg.param "position_row" : !head
  %qw = stg.bias_add %q, %w <"position_query"> : !heads, !head
  // No trace has the values of constants.
  %f = stg.splat 1 : !stg.tensor<[N = 2*S, D], bf16>
  %wp = stg.param "position_proj" : !projection
  %p = stg.einsum "nd,dhe->nhe" %f, %wp : !stg.tensor<[N = 2*S, D], bf16>, !projection
  %b = stg.einsum "bshe,nhe->bhsn" %qw, %p <"position_scores"> : !heads, !stg.tensor<[N = 2*S, H, E], bf16>
  %d = stg.slice dim 3 %b {from = #sym.expr<1>} <"distance_scores"> : !stg.tensor<[B, H, S, N = 2*S], bf16> -> !stg.tensor<[B, H, S, N = 2*S - 1], bf16>
  %y = stg.relative_scores %d <"relative_scores"> : !stg.tensor<[B, H, S, N = 2*S - 1], bf16> -> !scores
  stg.return %y : !scores
}

// Scores of the two cases: a key is of the query's segment, or of another one. `segments` is 1 in one
// of both places of each pair of tokens.
stg.block @segment_row_scores(%q: !heads, %segments: !segments) -> !scores {
  %w = stg.param "segment_row" : !head
  %qw = stg.bias_add %q, %w <"segment_query"> : !heads, !head
  %t = stg.param "segment_embeddings" : !stg.tensor<[_ = 2, H, E], bf16>
  %g = stg.einsum "bshe,ghe->bshg" %qw, %t <"segment_parts"> : !heads, !stg.tensor<[_ = 2, H, E], bf16>
  %y = stg.einsum "bstg,bshg->bhst" %segments, %g <"segment_scores"> : !segments, !stg.tensor<[B, S, H, _ = 2], bf16>
  stg.return %y : !scores
}

stg.block @rows_attention(%x: !stream, %segments: !segments) -> !stream {
  %q, %k, %v = stg.call @heads(%x) {K as H, separate_projections = true} : (!stream) -> (!heads, !heads, !heads)
  %w = stg.param "content_row" : !head
  %qw = stg.bias_add %q, %w <"content_query"> : !heads, !head
  %p = stg.call @position_row_scores(%q) : (!heads) -> !scores
  %s = stg.call @segment_row_scores(%q, %segments) : (!heads, !segments) -> !scores
  %t = stg.add %p, %s <"other_scores"> : !scores, !scores
  %c = stg.splat 1 : !scores
  %m = stg.mul %t, %c <"other_score_scale"> : !scores, !scores
  %a, %lse = stg.attention none %qw, %k, %v, %m : !heads, !heads, !heads, !scores
  %y = stg.call @attention_output(%a) : (!heads) -> !stream
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @rows_attention_layer(%x: !stream, %segments: !segments) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @rows_attention(%n, %segments) : (!stream, !segments) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// A row for tokens that are to be said, which one stream alone has no use for.
stg.block @unread_query_token(%x: !stream) -> !stream {
  %w = stg.param "query_token" {frozen} : !stg.tensor<[D], bf16>
  stg.keep %w : !stg.tensor<[D], bf16>
  stg.return %x : !stream
}
