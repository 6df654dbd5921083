// Layers of an image and a text that read the same scales, shifts and gates, which are made once of a
// sample (FLUX.2).

stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "joint_attention.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!three = !stg.tensor<[B, 3, D], bf16>
!six = !stg.tensor<[B, 6, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!text_heads = !stg.tensor<[B, T, H, E], bf16>

// Rows of what is made together.
stg.block @three_rows(%m: !three) -> (!row, !row, !row) {
  %v0, %v1, %v2 = stg.split dim 1 %m : !three -> !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  stg.return %y0, %y1, %y2 : !row, !row, !row
}

stg.block @six_rows(%m: !six) -> (!row, !row, !row, !row, !row, !row) {
  %v0, %v1, %v2, %v3, %v4, %v5 = stg.split dim 1 %m : !six -> !one, !one, !one, !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  %y3 = stg.rearrange "b()d->bd" %v3 : !one -> !row
  %y4 = stg.rearrange "b()d->bd" %v4 : !one -> !row
  %y5 = stg.rearrange "b()d->bd" %v5 : !one -> !row
  stg.return %y0, %y1, %y2, %y3, %y4, %y5 : !row, !row, !row, !row, !row, !row
}

// A layer of both streams.
stg.block @shared_joint_layer(%x: !stream, %c: !text, %m: !six, %t: !six) -> (!stream, !text) {
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_rows(%m) : (!six) -> (!row, !row, !row, !row, !row, !row)
  %cshift, %cscale, %cgate, %cshift2, %cscale2, %cgate2 = stg.call @six_rows(%t) : (!six) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %cn = stg.call @modulated(%c, %cscale, %cshift) {part = "text_attention"} : (!text, !row, !row) -> !text
  %a, %ca = stg.call @joint_attention(%n, %cn) : (!stream, !text) -> (!heads, !text_heads)
  %o = stg.call @stream_output(%a) : (!heads) -> !stream
  %co = stg.call @stream_output(%ca) {prefix = "text_"} : (!text_heads) -> !text
  %y = stg.call @gated_sum(%x, %o, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %cy = stg.call @gated_sum(%c, %co, %cgate) {part = "text_attention"} : (!text, !text, !row) -> !text
  %r = stg.call @adaptive_feed_forward(%y, %scale2, %shift2, %gate2) {part = "ffn"} : (!stream, !row, !row, !row) -> !stream
  %cr = stg.call @adaptive_feed_forward(%cy, %cscale2, %cshift2, %cgate2) {part = "text_ffn"} : (!text, !row, !row, !row) -> !text
  stg.return %r, %cr : !stream, !text
}

// A layer of one stream: attention and a feed-forward network side by side, both without biases.
stg.block @shared_single_layer(%x: !stream, %m: !three) -> !stream {
  %shift, %scale, %gate = stg.call @three_rows(%m) : (!three) -> (!row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "layer"} : (!stream, !row, !row) -> !stream
  %q, %k, %v = stg.call @stream_heads(%n) : (!stream) -> (!heads, !heads, !heads)
  %rq = stg.rope %q <"rope_q"> : !heads
  %rk = stg.rope %k <"rope_k"> : !heads
  %a, %lse = stg.attention none %rq, %rk, %v : !heads, !heads, !heads
  %oa = stg.call @stream_output(%a) : (!heads) -> !stream
  %of = stg.call @gated_feed_forward(%n) : (!stream) -> !stream
  %o = stg.add %oa, %of <"parallel"> : !stream, !stream
  %y = stg.call @gated_sum(%x, %o, %gate) {part = "layer"} : (!stream, !stream, !row) -> !stream
  stg.return %y : !stream
}
