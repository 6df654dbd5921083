// Sana's layers for a video: sums of rotated keys, which rotated queries read, divided by what both say
// without a rotation, and networks that see the frames before and behind (Sana Video).
//
// Tokens are the patches of all frames, frame by frame and row by row.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "diffusion.mlir"
stg.import "single_modulation.mlir"
stg.import "sum_attention.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of a video"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @HC "heads of attention to a text"
stg.symbol @EC "size of those heads"
stg.symbol @NF "frames of a video"
stg.symbol @GY "rows of a frame"
stg.symbol @GX "columns of a frame"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!six = !stg.tensor<[B, 6, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!wide_heads = !stg.tensor<[B, S, H, E], f32>
!sums = !stg.tensor<[B, H, E, _ = E], f32>
!second = !stg.tensor<[B, S, H, _ = E], f32>
!numbers = !stg.tensor<[B, S, H], bf16>
!wide_numbers = !stg.tensor<[B, S, H], f32>
!hidden = !stg.tensor<[B, S, 2*F], bf16>
!frames = !stg.tensor<[B = B*NF, _ = GY, _ = GX, 2*F], bf16>
!half = !stg.tensor<[B, S, F], bf16>
!places = !stg.tensor<[B, _ = NF, _ = GY*GX, D], bf16>

stg.block @rotated_sum_attention(%x: !stream) -> !stream {
  %hq, %hk, %hv = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %pq, %pk, %v = stg.call @prepare_heads(%hq, %hk, %hv) {K as H, rotary = false} : (!heads, !heads, !heads) -> (!heads, !heads, !heads)
  %q = stg.activation relu %pq <"relu_q"> : !heads
  %k = stg.activation relu %pk <"relu_k"> : !heads
  %tq = stg.call @rotate(%q) {name = "rope_q"} : (!heads) -> !heads
  %tk = stg.call @rotate(%k) {name = "rope_k"} : (!heads) -> !heads
  %wq = stg.cast %tq <"wide_q"> : !heads -> !wide_heads
  %wk = stg.cast %tk <"wide_k"> : !heads -> !wide_heads
  %wv = stg.cast %v <"wide_v"> : !heads -> !wide_heads
  %ks = stg.sum dim 1 %k <"sum_of_keys"> : !heads
  %kq = stg.einsum "bhe,bshe->bsh" %ks, %q <"divisors"> : !stg.tensor<[B, H, E], bf16>, !heads
  // No trace has the value of the constant.
  %c = stg.splat 1 : !numbers
  %kc = stg.add %kq, %c <"divisors_not_zero"> : !numbers, !numbers
  %z = stg.elementwise reciprocal %kc <"factors"> : !numbers
  %wz = stg.cast %z <"wide_factors"> : !numbers -> !wide_numbers
  %kn = stg.rearrange "bsh(ei)->bsh(ei)" %wk <"keys"> : !wide_heads -> !second
  %qn = stg.rearrange "bsh(ei)->bsh(ei)" %wq <"queries"> : !wide_heads -> !second
  %s = stg.einsum "bshe,bshf->bhef" %wv, %kn <"sums"> : !wide_heads, !second
  %r = stg.einsum "bhef,bshf->bshe" %s, %qn <"read_sums"> : !sums, !second
  %y = stg.mul_along %r, %wz {dims = array<i64: 0, 1, 2>} <"attention"> : !wide_heads, !wide_numbers
  %a = stg.cast %y <"narrow_attention"> : !wide_heads -> !heads
  %o = stg.call @attention_output(%a) : (!heads) -> !stream
  stg.return %o : !stream
}

// Sana's network of each frame, and a convolution over frames of each place, added to it.
stg.block @gated_video_feed_forward(%x: !stream) -> !stream {
  %w1 = stg.param "gate_up_proj" : !stg.tensor<[D, 2*F], bf16>
  %p = stg.einsum "bsd,df->bsf" %x, %w1 : !stream, !stg.tensor<[D, 2*F], bf16>
  %b1 = stg.param "gate_up_bias" : !stg.tensor<[2*F], bf16>
  %u = stg.bias_add %p, %b1 : !hidden, !stg.tensor<[2*F], bf16>
  %s = stg.activation silu %u <"silu"> : !hidden
  %m = stg.rearrange "b(nyx)f->(bn)yxf" %s <"hidden_frames"> : !hidden -> !frames
  %wc = stg.param "map_conv" : !stg.tensor<[3, 3, 1, 2*F], bf16>
  %c = stg.conv %m, %wc {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !frames, !stg.tensor<[3, 3, 1, 2*F], bf16> -> !frames
  %bc = stg.param "map_conv_bias" : !stg.tensor<[2*F], bf16>
  %v = stg.bias_add %c, %bc : !frames, !stg.tensor<[2*F], bf16>
  %t = stg.rearrange "(bn)yxf->b(nyx)f" %v <"hidden_tokens"> : !frames -> !hidden
  %h, %g = stg.split dim 2 %t : !hidden -> !half, !half
  %a = stg.activation silu %g <"gate_silu"> : !half
  %y = stg.mul %h, %a <"gated"> : !half, !half
  %w2 = stg.param "down_proj" : !stg.tensor<[F, D], bf16>
  %o = stg.einsum "bsf,fd->bsd" %y, %w2 : !half, !stg.tensor<[F, D], bf16>
  %f = stg.rearrange "b(nz)d->bnzd" %o <"places"> : !stream -> !places
  %wt = stg.param "frames_conv" : !stg.tensor<[3, 1, D, D], bf16>
  %d = stg.conv %f, %wt {strides = array<i64: 1, 1>, padding = array<i64: 1, 0>} : !places, !stg.tensor<[3, 1, D, D], bf16> -> !places
  %r = stg.add %f, %d <"with_frames"> : !places, !places
  %z = stg.rearrange "bnzd->b(nz)d" %r <"tokens"> : !places -> !stream
  stg.return %z : !stream
}

stg.block @sum_video_layer(%x: !stream, %c: !text, %m: !six) -> !stream {
  stg.option @sum_bias : bool = false "biases of queries, keys and values of sums"
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @add_table(%m) : (!six) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.if @sum_bias -> !stream {
    %z = stg.call @rotated_sum_attention(%n) {qkv_bias = true, o_bias = true} : (!stream) -> !stream
    stg.yield %z : !stream
  } else {
    %z = stg.call @rotated_sum_attention(%n) {o_bias = true} : (!stream) -> !stream
    stg.yield %z : !stream
  }
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %ca = stg.call @cross_attention(%y, %c) {H as HC, K as HC, E = EC, qkv_bias = true} : (!stream, !text) -> !stream
  %r = stg.add %y, %ca <"cross_residual"> : !stream, !stream
  %fn = stg.call @modulated(%r, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @gated_video_feed_forward(%fn) : (!stream) -> !stream
  %o = stg.call @gated_sum(%r, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %o : !stream
}
