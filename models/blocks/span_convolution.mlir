// Attention of a part of the heads, beside a convolution of each token whose window it makes itself, of a
// span of tokens (ConvBERT).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "heads of attention, and of the convolution"
stg.symbol @E "head size"

!stream = !stg.tensor<[B, S, D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!plain = !stg.tensor<[B, S, _ = H, E], bf16>

// Of each token those in its window, in one more dimension. Windows are of nine tokens.
stg.block @spread_window(%x: !plain) -> !stg.tensor<[B, S, _ = H, E, 9], bf16> {
  %p = stg.pad dim 1 %x {from = #sym.expr<4>} <"window_padded"> : !plain -> !stg.tensor<[B, S = S + 8, _ = H, E], bf16>
  %s0 = stg.slice dim 1 %p {from = #sym.expr<0>} <"window0"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %s1 = stg.slice dim 1 %p {from = #sym.expr<1>} <"window1"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %s2 = stg.slice dim 1 %p {from = #sym.expr<2>} <"window2"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %s3 = stg.slice dim 1 %p {from = #sym.expr<3>} <"window3"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %s4 = stg.slice dim 1 %p {from = #sym.expr<4>} <"window4"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %s5 = stg.slice dim 1 %p {from = #sym.expr<5>} <"window5"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %s6 = stg.slice dim 1 %p {from = #sym.expr<6>} <"window6"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %s7 = stg.slice dim 1 %p {from = #sym.expr<7>} <"window7"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %s8 = stg.slice dim 1 %p {from = #sym.expr<8>} <"window8"> : !stg.tensor<[B, S = S + 8, _ = H, E], bf16> -> !plain
  %t0 = stg.rearrange "bshe->bshe()" %s0 <"window0"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %t1 = stg.rearrange "bshe->bshe()" %s1 <"window1"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %t2 = stg.rearrange "bshe->bshe()" %s2 <"window2"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %t3 = stg.rearrange "bshe->bshe()" %s3 <"window3"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %t4 = stg.rearrange "bshe->bshe()" %s4 <"window4"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %t5 = stg.rearrange "bshe->bshe()" %s5 <"window5"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %t6 = stg.rearrange "bshe->bshe()" %s6 <"window6"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %t7 = stg.rearrange "bshe->bshe()" %s7 <"window7"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %t8 = stg.rearrange "bshe->bshe()" %s8 <"window8"> : !plain -> !stg.tensor<[B, S, _ = H, E, 1], bf16>
  %y = stg.concat dim 4 ordered %t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7, %t8 <"windows"> : !stg.tensor<[B, S, _ = H, E, 1], bf16>, !stg.tensor<[B, S, _ = H, E, 1], bf16>, !stg.tensor<[B, S, _ = H, E, 1], bf16>, !stg.tensor<[B, S, _ = H, E, 1], bf16>, !stg.tensor<[B, S, _ = H, E, 1], bf16>, !stg.tensor<[B, S, _ = H, E, 1], bf16>, !stg.tensor<[B, S, _ = H, E, 1], bf16>, !stg.tensor<[B, S, _ = H, E, 1], bf16>, !stg.tensor<[B, S, _ = H, E, 1], bf16> -> !stg.tensor<[B, S, _ = H, E, 9], bf16>
  stg.return %y : !stg.tensor<[B, S, _ = H, E, 9], bf16>
}

// What a token and its neighbours are, times its queries, says how it weighs the tokens of its window:
// a softmax of each head.
stg.block @span_convolution(%x: !stream, %q: !queries) -> !plain {
  %wd = stg.param "span_conv" : !stg.tensor<[9, 1, D], bf16>
  %c = stg.conv %x, %wd {grouped, strides = array<i64: 1>, padding = array<i64: 4>} <"span_conv"> : !stream, !stg.tensor<[9, 1, D], bf16> -> !stream
  %wp = stg.param "span_proj" : !stg.tensor<[D, H, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %c, %wp : !stream, !stg.tensor<[D, H, E], bf16>
  %bp = stg.param "span_bias" : !stg.tensor<[H, E], bf16>
  %k = stg.bias_add %p, %bp : !queries, !stg.tensor<[H, E], bf16>
  %m = stg.mul %k, %q <"span_of_queries"> : !queries, !queries
  %ww = stg.param "window_proj" : !stg.tensor<[H, E, _ = 9*H], bf16>
  %l = stg.einsum "bshe,hew->bsw" %m, %ww : !queries, !stg.tensor<[H, E, _ = 9*H], bf16>
  %bw = stg.param "window_bias" : !stg.tensor<[_ = 9*H], bf16>
  %z = stg.bias_add %l, %bw : !stg.tensor<[B, S, _ = 9*H], bf16>, !stg.tensor<[_ = 9*H], bf16>
  %r = stg.rearrange "bs(hk)->bshk" %z <"window_scores"> : !stg.tensor<[B, S, _ = 9*H], bf16> -> !stg.tensor<[B, S, _ = H, 9], bf16>
  %f = stg.softmax %r <"window_weights"> : !stg.tensor<[B, S, _ = H, 9], bf16>
  %w = stg.cast %f <"window_weights"> : !stg.tensor<[B, S, _ = H, 9], f32> -> !stg.tensor<[B, S, _ = H, 9], bf16>
  %wv = stg.param "window_values" : !stg.tensor<[D, _ = H, E], bf16>
  %v = stg.einsum "bsd,dhe->bshe" %x, %wv : !stream, !stg.tensor<[D, _ = H, E], bf16>
  %bv = stg.param "window_values_bias" : !stg.tensor<[_ = H, E], bf16>
  %y = stg.bias_add %v, %bv : !plain, !stg.tensor<[_ = H, E], bf16>
  %u = stg.call @spread_window(%y) : (!plain) -> !stg.tensor<[B, S, _ = H, E, 9], bf16>
  %o = stg.einsum "bshek,bshk->bshe" %u, %w <"window_sum"> : !stg.tensor<[B, S, _ = H, E, 9], bf16>, !stg.tensor<[B, S, _ = H, 9], bf16>
  stg.return %o : !plain
}

// Both, each by its part of one matrix, with one bias.
stg.block @span_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) {K as H, separate_projections = true, qkv_bias = true} : (!stream) -> (!queries, !queries, !queries)
  %a = stg.call @attend(%q, %k, %v) {K as H, mask = "none"} : (!queries, !queries, !queries) -> !queries
  %c = stg.call @span_convolution(%n, %q) : (!stream, !queries) -> !plain
  %wa = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %pa = stg.einsum "bshe,hed->bsd" %a, %wa : !queries, !stg.tensor<[H, E, D], bf16>
  %wc = stg.param "window_o_proj" : !stg.tensor<[_ = H, E, D], bf16>
  %pc = stg.einsum "bshe,hed->bsd" %c, %wc : !plain, !stg.tensor<[_ = H, E, D], bf16>
  %s = stg.add %pa, %pc <"attention_and_windows"> : !stream, !stream
  %b = stg.param "o_bias" : !stg.tensor<[D], bf16>
  %o = stg.bias_add %s, %b : !stream, !stg.tensor<[D], bf16>
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
