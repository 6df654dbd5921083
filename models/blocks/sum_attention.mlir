// Attention without a softmax: queries and keys are not negative, so what a query reads are sums over
// all tokens, which are made once, and the network of a layer has a convolution of each channel over
// positions (Sana).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "diffusion.mlir"
stg.import "single_modulation.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @HC "heads of attention to a text"
stg.symbol @EC "size of those heads"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!six = !stg.tensor<[B, 6, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!wide_heads = !stg.tensor<[B, S, H, E], f32>
!with_ones = !stg.tensor<[B, S, H, E + 1], f32>
!sums = !stg.tensor<[B, H, E + 1, E], f32>
!hidden = !stg.tensor<[B, S, 2*F], bf16>
!hidden_map = !stg.tensor<[B, _ = GY, _ = GX, 2*F], bf16>
!half = !stg.tensor<[B, S, F], bf16>

// Keys times values, and times one behind these, summed over all tokens; of each query its products
// with the sums, divided by the last one.
stg.block @sum_attention(%x: !stream) -> !stream {
  %hq, %hk, %hv = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %pq, %pk, %v = stg.call @prepare_heads(%hq, %hk, %hv) {K as H, rotary = false} : (!heads, !heads, !heads) -> (!heads, !heads, !heads)
  %rq = stg.activation relu %pq <"relu_q"> : !heads
  %rk = stg.activation relu %pk <"relu_k"> : !heads
  %q = stg.cast %rq <"wide_q"> : !heads -> !wide_heads
  %k = stg.cast %rk <"wide_k"> : !heads -> !wide_heads
  %vw = stg.cast %v <"wide_v"> : !heads -> !wide_heads
  %vo = stg.pad dim 3 %vw {from = #sym.expr<0>} <"v_and_one"> : !wide_heads -> !with_ones
  %s = stg.einsum "bsha,bshe->bhae" %vo, %k <"sums"> : !with_ones, !wide_heads
  %r = stg.einsum "bhae,bshe->bsha" %s, %q <"read_sums"> : !sums, !wide_heads
  %n, %d = stg.split dim 3 %r : !with_ones -> !wide_heads, !stg.tensor<[B, S, H, 1], f32>
  %y = stg.elementwise div %n, %d <"attention"> : !wide_heads, !stg.tensor<[B, S, H, 1], f32>
  %a = stg.cast %y <"narrow_attention"> : !wide_heads -> !heads
  %o = stg.call @attention_output(%a) : (!heads) -> !stream
  stg.return %o : !stream
}

// Two matrices, before the second of which each channel sees 3 x 3 positions, and one half of them is
// the gate of the other.
stg.block @gated_map_feed_forward(%x: !stream) -> !stream {
  %w1 = stg.param "gate_up_proj" : !stg.tensor<[D, 2*F], bf16>
  %p = stg.einsum "bsd,df->bsf" %x, %w1 : !stream, !stg.tensor<[D, 2*F], bf16>
  %b1 = stg.param "gate_up_bias" : !stg.tensor<[2*F], bf16>
  %u = stg.bias_add %p, %b1 : !hidden, !stg.tensor<[2*F], bf16>
  %s = stg.activation silu %u <"silu"> : !hidden
  %m = stg.rearrange "b(yx)f->byxf" %s <"hidden_map"> : !hidden -> !hidden_map
  %wc = stg.param "map_conv" : !stg.tensor<[3, 3, 1, 2*F], bf16>
  %c = stg.conv %m, %wc {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !hidden_map, !stg.tensor<[3, 3, 1, 2*F], bf16> -> !hidden_map
  %bc = stg.param "map_conv_bias" : !stg.tensor<[2*F], bf16>
  %v = stg.bias_add %c, %bc : !hidden_map, !stg.tensor<[2*F], bf16>
  %t = stg.rearrange "byxf->b(yx)f" %v <"hidden_tokens"> : !hidden_map -> !hidden
  %h, %g = stg.split dim 2 %t : !hidden -> !half, !half
  %a = stg.activation silu %g <"gate_silu"> : !half
  %y = stg.mul %h, %a <"gated"> : !half, !half
  %w2 = stg.param "down_proj" : !stg.tensor<[F, D], bf16>
  %o = stg.einsum "bsf,fd->bsd" %y, %w2 : !half, !stg.tensor<[F, D], bf16>
  stg.return %o : !stream
}

stg.block @sum_attention_layer(%x: !stream, %c: !text, %m: !six) -> !stream {
  stg.option @sum_bias : bool = false "biases of queries, keys and values of sums"
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @add_table(%m) : (!six) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.if @sum_bias -> !stream {
    %z = stg.call @sum_attention(%n) {qkv_bias = true, o_bias = true} : (!stream) -> !stream
    stg.yield %z : !stream
  } else {
    %z = stg.call @sum_attention(%n) {o_bias = true} : (!stream) -> !stream
    stg.yield %z : !stream
  }
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %ca = stg.call @cross_attention(%y, %c) {H as HC, K as HC, E = EC, qkv_bias = true} : (!stream, !text) -> !stream
  %r = stg.add %y, %ca <"cross_residual"> : !stream, !stream
  %fn = stg.call @modulated(%r, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @gated_map_feed_forward(%fn) : (!stream) -> !stream
  %o = stg.call @gated_sum(%r, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %o : !stream
}
