// A second, narrower stream of where tokens stand on a page, beside that of what they are: each layer
// attends by the sum of the scores of both (LiLT).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @DL "width of the stream of places"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @EL "head size of the stream of places"
stg.symbol @PB "places along a page"
stg.symbol @CO "width of what is known of a side"
stg.symbol @P "positions"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!places = !stg.tensor<[B, S, D = DL], bf16>
!sides = !stg.tensor<[PB, CO], bf16>
!side = !stg.tensor<[B, S, CO], bf16>
!joined = !stg.tensor<[B, S, 6*CO], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!place_heads = !stg.tensor<[B, S, H, E = EL], bf16>
!both_heads = !stg.tensor<[B, S, H, E = E + EL], bf16>

// The sides, the height and the width of a token's box, joined and taken to the width of their
// stream, and the position of the token.
stg.block @embed_boxes(%left: !ids, %top: !ids, %right: !ids, %bottom: !ids, %height: !ids, %width: !ids, %positions: !ids) -> !places {
  %tx = stg.param "x_embeddings" : !sides
  %ty = stg.param "y_embeddings" : !sides
  %th = stg.param "height_embeddings" : !sides
  %tw = stg.param "width_embeddings" : !sides
  %l = stg.embedding %tx, %left <"left"> : !sides, !ids
  %t = stg.embedding %ty, %top <"top"> : !sides, !ids
  %r = stg.embedding %tx, %right <"right"> : !sides, !ids
  %b = stg.embedding %ty, %bottom <"bottom"> : !sides, !ids
  %h = stg.embedding %th, %height <"height"> : !sides, !ids
  %w = stg.embedding %tw, %width <"width"> : !sides, !ids
  %j = stg.concat dim 2 ordered %l, %t, %r, %b, %h, %w <"boxes"> : !side, !side, !side, !side, !side, !side -> !joined
  %wb = stg.param "box_proj" : !stg.tensor<[6*CO, D = DL], bf16>
  %p = stg.einsum "bsj,jd->bsd" %j, %wb : !joined, !stg.tensor<[6*CO, D = DL], bf16>
  %bb = stg.param "box_bias" : !stg.tensor<[D = DL], bf16>
  %e = stg.bias_add %p, %bb : !places, !stg.tensor<[D = DL], bf16>
  %tp = stg.param "box_positions" : !stg.tensor<[P = P + 2, D = DL], bf16>
  %q = stg.embedding %tp, %positions <"box_positions"> : !stg.tensor<[P = P + 2, D = DL], bf16>, !ids
  %y = stg.add %e, %q <"box_embeddings"> : !places, !places
  %n = stg.call @norm(%y) {name = "box_norm"} : (!places) -> !places
  stg.return %n : !places
}

// Attention with its normalizations and both residual streams. The sum of two scores is the score of
// heads that are joined, which constants scale; what both see is the same part of each.
stg.block @two_streams_attention_layer(%x: !stream, %l: !places) -> (!stream, !places) {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) {K as H, qkv_bias = true, separate_projections = true} : (!stream) -> (!heads, !heads, !heads)
  %m = stg.call @before(%l) {part = "attention"} <"place"> : (!places) -> !places
  %pq, %pk, %pv = stg.call @heads(%m) {E = EL, K as H, qkv_bias = true, separate_projections = true} <"place"> : (!places) -> (!place_heads, !place_heads, !place_heads)
  // No trace has the values of constants.
  %cq = stg.splat 1 : !place_heads
  %sq = stg.mul %pq, %cq <"place_query_scale"> : !place_heads, !place_heads
  %jq = stg.concat dim 3 ordered %q, %sq <"joined_queries"> : !heads, !place_heads -> !both_heads
  %jk = stg.concat dim 3 ordered %k, %pk <"joined_keys"> : !heads, !place_heads -> !both_heads
  %jv = stg.concat dim 3 ordered %v, %pv <"joined_values"> : !heads, !place_heads -> !both_heads
  %a, %lse = stg.attention none %jq, %jk, %jv : !both_heads, !both_heads, !both_heads
  %ax, %al = stg.split dim 3 ordered %a <"seen_of_both"> : !both_heads -> !heads, !place_heads
  %ox = stg.call @attention_output(%ax) {o_bias = true} : (!heads) -> !stream
  %ol = stg.call @attention_output(%al) {D = DL, E = EL, o_bias = true} <"place"> : (!place_heads) -> !places
  %y = stg.call @after(%x, %ox) {part = "attention"} : (!stream, !stream) -> !stream
  %z = stg.call @after(%l, %ol) {part = "attention"} <"place"> : (!places, !places) -> !places
  stg.return %y, %z : !stream, !places
}
