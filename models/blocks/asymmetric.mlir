// Layers of two streams of different widths, of an image or a video and of a text, whose attention is
// one. A sample scales what parts of a layer read, and the tanh of vectors of it gates their normalized
// outputs; the heads of the image are rotated by learned frequencies (Mochi).

stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "joint_attention.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @DO "hidden size of the text"
stg.symbol @FO "feed-forward size of the text"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @TW "width of a text's tokens"
stg.symbol @PH "heads that pool a text"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, DO], bf16>
!row = !stg.tensor<[B, D], bf16>
!text_row = !stg.tensor<[B, DO], bf16>
!vector = !stg.tensor<[D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!half = !stg.tensor<[B, S, H, E/2], bf16>
!turns = !stg.tensor<[S, H, E/2], bf16>
!text_heads = !stg.tensor<[B, T, H, E], bf16>
!all = !stg.tensor<[B, S + T, H, E], bf16>
!words = !stg.tensor<[B, T, TW], bf16>
!mean = !stg.tensor<[B, TW], bf16>

// How far each head of each token is turned: cosines and sines of learned frequencies times frame, row
// and column.
stg.block @learned_turns(%places: !stg.tensor<[S, 3], bf16>) -> (!turns, !turns) {
  %f = stg.param "pos_frequencies" : !stg.tensor<[3, H, E/2], bf16>
  %a = stg.einsum "sn,nhf->shf" %places, %f <"angles"> : !stg.tensor<[S, 3], bf16>, !stg.tensor<[3, H, E/2], bf16>
  %c = stg.elementwise cos %a <"cosines"> : !turns
  %s = stg.elementwise sin %a <"sines"> : !turns
  stg.return %c, %s : !turns, !turns
}

stg.block @turn_heads(%h: !heads, %c: !turns, %s: !turns) -> !heads {
  stg.option @name : string "of the rotation"
  %x, %y = stg.split dim 3 %h : !heads -> !half, !half
  %xc = stg.mul_along %x, %c {dims = array<i64: 1, 2, 3>} <"{name}_xc"> : !half, !turns
  %ys = stg.mul_along %y, %s {dims = array<i64: 1, 2, 3>} <"{name}_ys"> : !half, !turns
  %u = stg.elementwise sub %xc, %ys <"{name}_x"> : !half, !half
  %xs = stg.mul_along %x, %s {dims = array<i64: 1, 2, 3>} <"{name}_xs"> : !half, !turns
  %yc = stg.mul_along %y, %c {dims = array<i64: 1, 2, 3>} <"{name}_yc"> : !half, !turns
  %v = stg.add %xs, %yc <"{name}_y"> : !half, !half
  %r = stg.concat dim 3 %u, %v <"{name}"> : !half, !half -> !heads
  stg.return %r : !heads
}

// One row of a text: the mean of its tokens reads them and itself.
stg.block @pool_words(%words: !words) -> !row {
  %m = stg.mean dim 1 %words <"mean_of_words"> : !words
  %m1 = stg.rearrange "bw->b()w" %m : !mean -> !stg.tensor<[B, 1, TW], bf16>
  %all = stg.concat dim 1 ordered %m1, %words <"mean_and_words"> : !stg.tensor<[B, 1, TW], bf16>, !words -> !stg.tensor<[B, T = T + 1, TW], bf16>
  %wkv = stg.param "pool_kv_proj" : !stg.tensor<[TW, 2*PH, _ = TW/PH], bf16>
  %pkv = stg.einsum "btw,whe->bthe" %all, %wkv : !stg.tensor<[B, T = T + 1, TW], bf16>, !stg.tensor<[TW, 2*PH, _ = TW/PH], bf16>
  %bkv = stg.param "pool_kv_bias" : !stg.tensor<[2*PH, _ = TW/PH], bf16>
  %kv = stg.bias_add %pkv, %bkv : !stg.tensor<[B, T = T + 1, 2*PH, _ = TW/PH], bf16>, !stg.tensor<[2*PH, _ = TW/PH], bf16>
  %k, %v = stg.split dim 2 %kv : !stg.tensor<[B, T = T + 1, 2*PH, _ = TW/PH], bf16> -> !stg.tensor<[B, T = T + 1, PH, _ = TW/PH], bf16>, !stg.tensor<[B, T = T + 1, PH, _ = TW/PH], bf16>
  %wq = stg.param "pool_q_proj" : !stg.tensor<[TW, PH, _ = TW/PH], bf16>
  %pq = stg.einsum "btw,whe->bthe" %m1, %wq : !stg.tensor<[B, 1, TW], bf16>, !stg.tensor<[TW, PH, _ = TW/PH], bf16>
  %bq = stg.param "pool_q_bias" : !stg.tensor<[PH, _ = TW/PH], bf16>
  %q = stg.bias_add %pq, %bq : !stg.tensor<[B, 1, PH, _ = TW/PH], bf16>, !stg.tensor<[PH, _ = TW/PH], bf16>
  %a, %lse = stg.attention none %q, %k, %v <"pool_attention"> : !stg.tensor<[B, 1, PH, _ = TW/PH], bf16>, !stg.tensor<[B, T = T + 1, PH, _ = TW/PH], bf16>, !stg.tensor<[B, T = T + 1, PH, _ = TW/PH], bf16>
  %wo = stg.param "pool_o_proj" : !stg.tensor<[PH, _ = TW/PH, D], bf16>
  %o = stg.einsum "bthe,hed->btd" %a, %wo : !stg.tensor<[B, 1, PH, _ = TW/PH], bf16>, !stg.tensor<[PH, _ = TW/PH, D], bf16>
  %bo = stg.param "pool_o_bias" : !vector
  %z = stg.bias_add %o, %bo : !stg.tensor<[B, 1, D], bf16>, !vector
  %y = stg.rearrange "b()d->bd" %z <"pooled_words"> : !stg.tensor<[B, 1, D], bf16> -> !row
  stg.return %y : !row
}

// What the image and the text give, before their output projections.
stg.block @turned_joint_attention(%x: !stream, %c: !text, %cos: !turns, %sin: !turns) -> (!heads, !text_heads) {
  %hq, %hk, %v = stg.call @stream_heads(%x) {stream_bias = false} : (!stream) -> (!heads, !heads, !heads)
  %q = stg.call @turn_heads(%hq, %cos, %sin) {name = "turned_q"} : (!heads, !turns, !turns) -> !heads
  %k = stg.call @turn_heads(%hk, %cos, %sin) {name = "turned_k"} : (!heads, !turns, !turns) -> !heads
  %tq, %tk, %tv = stg.call @stream_heads(%c) {prefix = "text_", stream_bias = false} : (!text) -> (!text_heads, !text_heads, !text_heads)
  %aq = stg.concat dim 1 ordered %q, %tq : !heads, !text_heads -> !all
  %ak = stg.concat dim 1 ordered %k, %tk : !heads, !text_heads -> !all
  %av = stg.concat dim 1 ordered %v, %tv : !heads, !text_heads -> !all
  %a, %lse = stg.attention none %aq, %ak, %av : !all, !all, !all
  %y, %t = stg.split dim 1 ordered %a : !all -> !heads, !text_heads
  stg.return %y, %t : !heads, !text_heads
}

// The network of a stream, with its norms, scale and gate.
stg.block @asymmetric_feed_forward(%x: !stream, %scale: !row, %gate: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %n = stg.call @scaled_norm(%x, %scale) {adaptive = "rms_bare"} : (!stream, !row) -> !stream
  %f = stg.call @gated_feed_forward(%n) <"{part}"> : (!stream) -> !stream
  %y = stg.call @tanh_gated_sum(%x, %f, %gate) {norms_weighted = false} : (!stream, !stream, !row) -> !stream
  stg.return %y : !stream
}

// A layer of both streams.
stg.block @asymmetric_layer(%x: !stream, %c: !text, %e: !row, %cos: !turns, %sin: !turns) -> (!stream, !text) {
  %scale, %gate, %scale2, %gate2 = stg.call @four_vectors(%e) : (!row) -> (!row, !row, !row, !row)
  %cscale, %cgate, %cscale2, %cgate2 = stg.call @four_vectors(%e) {D as DO, prefix = "text_"} : (!row) -> (!text_row, !text_row, !text_row, !text_row)
  %n = stg.call @scaled_norm(%x, %scale) {part = "attention", adaptive = "rms_bare"} : (!stream, !row) -> !stream
  %cn = stg.call @scaled_norm(%c, %cscale) {part = "text_attention", adaptive = "rms_bare"} : (!text, !text_row) -> !text
  %a, %ca = stg.call @turned_joint_attention(%n, %cn, %cos, %sin) : (!stream, !text, !turns, !turns) -> (!heads, !text_heads)
  %o = stg.call @stream_output(%a) : (!heads) -> !stream
  %co = stg.call @stream_output(%ca) {D as DO, prefix = "text_"} : (!text_heads) -> !text
  %y = stg.call @tanh_gated_sum(%x, %o, %gate) {part = "attention", norms_weighted = false} : (!stream, !stream, !row) -> !stream
  %cy = stg.call @tanh_gated_sum(%c, %co, %cgate) {part = "text_attention", norms_weighted = false} : (!text, !text, !text_row) -> !text
  %z = stg.call @asymmetric_feed_forward(%y, %scale2, %gate2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %cz = stg.call @asymmetric_feed_forward(%cy, %cscale2, %cgate2) {part = "text_ffn", F = FO} : (!text, !text_row, !text_row) -> !text
  stg.return %z, %cz : !stream, !text
}

// The last layer, behind which nobody reads the text.
stg.block @last_asymmetric_layer(%x: !stream, %c: !text, %e: !row, %cos: !turns, %sin: !turns) -> !stream {
  %scale, %gate, %scale2, %gate2 = stg.call @four_vectors(%e) : (!row) -> (!row, !row, !row, !row)
  %cscale = stg.call @one_vector(%e) {D as DO, prefix = "text_"} : (!row) -> !text_row
  %n = stg.call @scaled_norm(%x, %scale) {part = "attention", adaptive = "rms_bare"} : (!stream, !row) -> !stream
  %cn = stg.call @scaled_norm(%c, %cscale) {part = "text_attention", adaptive = "rms_bare"} : (!text, !text_row) -> !text
  %a, %ca = stg.call @turned_joint_attention(%n, %cn, %cos, %sin) : (!stream, !text, !turns, !turns) -> (!heads, !text_heads)
  %o = stg.call @stream_output(%a) : (!heads) -> !stream
  %y = stg.call @tanh_gated_sum(%x, %o, %gate) {part = "attention", norms_weighted = false} : (!stream, !stream, !row) -> !stream
  %z = stg.call @asymmetric_feed_forward(%y, %scale2, %gate2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  stg.return %z : !stream
}
