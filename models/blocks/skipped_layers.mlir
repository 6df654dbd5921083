// Layers of an image whose second half reads what those of the first half have made, the last one first,
// with attention to two texts, a shift of a norm alone, and LayerNorms of heads (Hunyuan-DiT).

stg.import "attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of both texts"
stg.symbol @TL "tokens of the second text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @CW "width of both texts"
stg.symbol @LW "width of the tokens of the second text"
stg.symbol @HP = 8 "heads that pool the second text"
stg.symbol @PW "width of the second text as a whole"
stg.symbol @TD "features of a time step, or of a size"

!stream = !stg.tensor<[B, S, D], bf16>
!both_streams = !stg.tensor<[B, S, _ = 2*D], bf16>
!text = !stg.tensor<[B, T, CW], bf16>
!first_text = !stg.tensor<[B, T = T - TL, CW], bf16>
!letters = !stg.tensor<[B, T = TL, LW], bf16>
!wide_letters = !stg.tensor<[B, T = TL, _ = 4*LW], bf16>
!second_text = !stg.tensor<[B, T = TL, CW], bf16>
!pooled = !stg.tensor<[B, _ = TL + 1, LW], bf16>
!pool_heads = !stg.tensor<[B, _ = TL + 1, HP, LW/HP], bf16>
!one_head = !stg.tensor<[B, 1, HP, LW/HP], bf16>
!row = !stg.tensor<[B, D], bf16>
!whole = !stg.tensor<[B, PW], bf16>
!marks = !stg.tensor<[B, T, 1], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, T, H, E], bf16>
!head = !stg.tensor<[E], bf16>
!vector = !stg.tensor<[D], bf16>

// The second text in the width of the first one, behind it; a learned row in each place that has no word.
stg.block @join_two_texts(%c: !first_text, %l: !letters, %words: !marks, %gaps: !marks) -> !text {
  %w1 = stg.param "letters_proj1" : !stg.tensor<[LW, _ = 4*LW], bf16>
  %p1 = stg.einsum "btl,lm->btm" %l, %w1 : !letters, !stg.tensor<[LW, _ = 4*LW], bf16>
  %b1 = stg.param "letters_bias1" : !stg.tensor<[_ = 4*LW], bf16>
  %o1 = stg.bias_add %p1, %b1 : !wide_letters, !stg.tensor<[_ = 4*LW], bf16>
  %a = stg.activation silu %o1 <"letters_silu"> : !wide_letters
  %w2 = stg.param "letters_proj2" : !stg.tensor<[_ = 4*LW, CW], bf16>
  %p2 = stg.einsum "btm,mc->btc" %a, %w2 : !wide_letters, !stg.tensor<[_ = 4*LW, CW], bf16>
  %b2 = stg.param "letters_bias2" : !stg.tensor<[CW], bf16>
  %o2 = stg.bias_add %p2, %b2 : !second_text, !stg.tensor<[CW], bf16>
  %j = stg.concat dim 1 ordered %c, %o2 <"texts"> : !first_text, !second_text -> !text
  %v = stg.mul %j, %words <"words_of_texts"> : !text, !marks
  %t = stg.param "text_padding" : !stg.tensor<[T, CW], bf16>
  %r = stg.broadcast dim 0 %t <"paddings"> : !stg.tensor<[T, CW], bf16> -> !text
  %g = stg.mul %r, %gaps <"gaps_of_texts"> : !text, !marks
  %y = stg.add %v, %g <"texts_filled"> : !text, !text
  stg.return %y : !text
}

// The second text as a whole: its mean asks all of its tokens.
stg.block @pool_second_text(%l: !letters) -> !whole {
  %m = stg.mean dim 1 %l <"mean_of_letters"> : !letters
  %f = stg.rearrange "bl->b()l" %m <"mean_token"> : !stg.tensor<[B, LW], bf16> -> !stg.tensor<[B, 1, LW], bf16>
  %jn = stg.concat dim 1 ordered %f, %l <"mean_and_letters"> : !stg.tensor<[B, 1, LW], bf16>, !letters -> !stg.tensor<[B, T = TL + 1, LW], bf16>
  %j = stg.rearrange "b(ti)l->b(ti)l" %jn <"pool_tokens"> : !stg.tensor<[B, T = TL + 1, LW], bf16> -> !pooled
  %t = stg.param "pool_positions" : !stg.tensor<[_ = TL + 1, LW], bf16>
  %x = stg.bias_add %j, %t <"pool_placed"> : !pooled, !stg.tensor<[_ = TL + 1, LW], bf16>
  %x0 = stg.slice dim 1 %x {from = #sym.expr<0>} <"pool_query"> : !pooled -> !stg.tensor<[B, 1, LW], bf16>
  %wq = stg.param "pool_q_proj" : !stg.tensor<[LW, HP, LW/HP], bf16>
  %pq = stg.einsum "btl,lhe->bthe" %x0, %wq : !stg.tensor<[B, 1, LW], bf16>, !stg.tensor<[LW, HP, LW/HP], bf16>
  %bq = stg.param "pool_q_bias" : !stg.tensor<[HP, LW/HP], bf16>
  %q = stg.bias_add %pq, %bq : !one_head, !stg.tensor<[HP, LW/HP], bf16>
  %wk = stg.param "pool_k_proj" : !stg.tensor<[LW, HP, LW/HP], bf16>
  %pk = stg.einsum "btl,lhe->bthe" %x, %wk : !pooled, !stg.tensor<[LW, HP, LW/HP], bf16>
  %bk = stg.param "pool_k_bias" : !stg.tensor<[HP, LW/HP], bf16>
  %k = stg.bias_add %pk, %bk : !pool_heads, !stg.tensor<[HP, LW/HP], bf16>
  %wv = stg.param "pool_v_proj" : !stg.tensor<[LW, HP, LW/HP], bf16>
  %pv = stg.einsum "btl,lhe->bthe" %x, %wv : !pooled, !stg.tensor<[LW, HP, LW/HP], bf16>
  %bv = stg.param "pool_v_bias" : !stg.tensor<[HP, LW/HP], bf16>
  %v = stg.bias_add %pv, %bv : !pool_heads, !stg.tensor<[HP, LW/HP], bf16>
  %a, %lse = stg.attention none %q, %k, %v <"pool_attention"> : !one_head, !pool_heads, !pool_heads
  %wo = stg.param "pool_o_proj" : !stg.tensor<[HP, LW/HP, PW], bf16>
  %po = stg.einsum "bthe,hep->btp" %a, %wo : !one_head, !stg.tensor<[HP, LW/HP, PW], bf16>
  %r = stg.rearrange "b()p->bp" %po <"pool_row"> : !stg.tensor<[B, 1, PW], bf16> -> !whole
  %bo = stg.param "pool_o_bias" : !stg.tensor<[PW], bf16>
  %y = stg.bias_add %r, %bo : !whole, !stg.tensor<[PW], bf16>
  stg.return %y : !whole
}

// What a sample is told beside its time step, by two matrices: the second text as a whole, or beside it the
// sizes of an image and a style.
stg.block @two_matrices_of_whole(%x: !whole) -> !row {
  %w1 = stg.param "whole_proj1" : !stg.tensor<[PW, _ = 4*D], bf16>
  %p1 = stg.einsum "bp,pm->bm" %x, %w1 : !whole, !stg.tensor<[PW, _ = 4*D], bf16>
  %b1 = stg.param "whole_bias1" : !stg.tensor<[_ = 4*D], bf16>
  %o1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, _ = 4*D], bf16>, !stg.tensor<[_ = 4*D], bf16>
  %a = stg.activation silu %o1 <"whole_silu"> : !stg.tensor<[B, _ = 4*D], bf16>
  %w2 = stg.param "whole_proj2" : !stg.tensor<[_ = 4*D, D], bf16>
  %p2 = stg.einsum "bm,md->bd" %a, %w2 : !stg.tensor<[B, _ = 4*D], bf16>, !stg.tensor<[_ = 4*D, D], bf16>
  %b2 = stg.param "whole_bias2" : !vector
  %y = stg.bias_add %p2, %b2 : !row, !vector
  stg.return %y : !row
}
stg.block @join_sizes_and_style(%x: !whole, %sizes: !stg.tensor<[B, 6, TD], bf16>, %style: !stg.tensor<[B], i32>) -> !stg.tensor<[B, PW + 6*TD + D], bf16> {
  %t = stg.param "style_embeddings" : !stg.tensor<[1, D], bf16>
  %e = stg.embedding %t, %style <"style"> : !stg.tensor<[1, D], bf16>, !stg.tensor<[B], i32>
  %s = stg.rearrange "bnt->b(nt)" %sizes <"sizes"> : !stg.tensor<[B, 6, TD], bf16> -> !stg.tensor<[B, 6*TD], bf16>
  %y = stg.concat dim 1 ordered %x, %s, %e <"whole_sizes_and_style"> : !whole, !stg.tensor<[B, 6*TD], bf16>, !row -> !stg.tensor<[B, PW + 6*TD + D], bf16>
  stg.return %y : !stg.tensor<[B, PW + 6*TD + D], bf16>
}

// A LayerNorm, and a shift that a sample is told.
stg.block @norm_and_shift(%x: !stream, %e: !row) -> !stream {
  %shift = stg.call @one_vector(%e) : (!row) -> !row
  %n = stg.call @norm(%x) {name = "attention_norm", norm = "layer"} : (!stream) -> !stream
  %y = stg.bias_add %n, %shift {dims = array<i64: 0, 2>} <"attention_shifted"> : !stream, !row
  stg.return %y : !stream
}

// Attention to both texts, whose queries are rotated, with a LayerNorm of each query and key head.
stg.block @attend_to_two_texts(%x: !stream, %c: !text) -> !stream {
  %wq = stg.param "cross_q_proj" : !stg.tensor<[D, H, E], bf16>
  %pq = stg.einsum "bsd,dhe->bshe" %x, %wq : !stream, !stg.tensor<[D, H, E], bf16>
  %bq = stg.param "cross_q_bias" : !stg.tensor<[H, E], bf16>
  %oq = stg.bias_add %pq, %bq : !queries, !stg.tensor<[H, E], bf16>
  %wk = stg.param "cross_k_proj" : !stg.tensor<[CW, H, E], bf16>
  %pk = stg.einsum "btc,che->bthe" %c, %wk : !text, !stg.tensor<[CW, H, E], bf16>
  %bk = stg.param "cross_k_bias" : !stg.tensor<[H, E], bf16>
  %ok = stg.bias_add %pk, %bk : !keys, !stg.tensor<[H, E], bf16>
  %wv = stg.param "cross_v_proj" : !stg.tensor<[CW, H, E], bf16>
  %pv = stg.einsum "btc,che->bthe" %c, %wv : !text, !stg.tensor<[CW, H, E], bf16>
  %bv = stg.param "cross_v_bias" : !stg.tensor<[H, E], bf16>
  %v = stg.bias_add %pv, %bv : !keys, !stg.tensor<[H, E], bf16>
  %nwq = stg.param "cross_q_norm.weight" : !head
  %nbq = stg.param "cross_q_norm.bias" : !head
  %nq, %meanq, %rq = stg.layer_norm %oq, %nwq, %nbq <"cross_q_norm"> : !queries, !head, !head
  %nwk = stg.param "cross_k_norm.weight" : !head
  %nbk = stg.param "cross_k_norm.bias" : !head
  %k, %meank, %rk = stg.layer_norm %ok, %nwk, %nbk <"cross_k_norm"> : !keys, !head, !head
  %q = stg.rope %nq <"cross_rope_q"> : !queries
  %a, %lse = stg.attention none %q, %k, %v <"cross_attention"> : !queries, !keys, !keys
  %wo = stg.param "cross_o_proj" : !stg.tensor<[H, E, D], bf16>
  %po = stg.einsum "bshe,hed->bsd" %a, %wo : !queries, !stg.tensor<[H, E, D], bf16>
  %bo = stg.param "cross_o_bias" : !vector
  %y = stg.bias_add %po, %bo : !stream, !vector
  stg.return %y : !stream
}

stg.block @layer_with_two_texts(%x: !stream, %c: !text, %e: !row) -> !stream {
  %n = stg.call @norm_and_shift(%x, %e) : (!stream, !row) -> !stream
  %a = stg.call @attention(%n) {K as H, mask = "none", qkv_bias = true, o_bias = true, qk_norm_biased = true} : (!stream) -> !stream
  %y = stg.add %x, %a <"attention_residual"> : !stream, !stream
  %cn = stg.call @norm(%y) {name = "cross_norm", norm = "layer"} : (!stream) -> !stream
  %ca = stg.call @attend_to_two_texts(%cn, %c) : (!stream, !text) -> !stream
  %r = stg.add %y, %ca <"cross_residual"> : !stream, !stream
  %fn = stg.call @norm(%r) {name = "ffn_norm", norm = "layer"} : (!stream) -> !stream
  %f = stg.call @plain_feed_forward(%fn) {ffn_bias = true} : (!stream) -> !stream
  %z = stg.add %r, %f <"ffn_residual"> : !stream, !stream
  stg.return %z : !stream
}

// The same of a stream beside what an earlier layer has made.
stg.block @layer_with_skipped(%x: !stream, %skipped: !stream, %c: !text, %e: !row) -> !stream {
  %jn = stg.concat dim 2 ordered %x, %skipped <"with_skipped"> : !stream, !stream -> !stg.tensor<[B, S, 2*D], bf16>
  %j = stg.rearrange "bs(di)->bs(di)" %jn <"both_streams"> : !stg.tensor<[B, S, 2*D], bf16> -> !both_streams
  %w = stg.param "skip_norm.weight" : !stg.tensor<[_ = 2*D], bf16>
  %b = stg.param "skip_norm.bias" : !stg.tensor<[_ = 2*D], bf16>
  %n, %mean, %rstd = stg.layer_norm %j, %w, %b <"skip_norm"> : !both_streams, !stg.tensor<[_ = 2*D], bf16>, !stg.tensor<[_ = 2*D], bf16>
  %wp = stg.param "skip_proj" : !stg.tensor<[_ = 2*D, D], bf16>
  %p = stg.einsum "bsm,md->bsd" %n, %wp : !both_streams, !stg.tensor<[_ = 2*D, D], bf16>
  %bp = stg.param "skip_bias" : !vector
  %s = stg.bias_add %p, %bp : !stream, !vector
  %y = stg.call @layer_with_two_texts(%s, %c, %e) : (!stream, !text, !row) -> !stream
  stg.return %y : !stream
}
