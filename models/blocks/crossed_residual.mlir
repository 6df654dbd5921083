// Layers of an image and a text whose feed-forward network reads what attention gives, and is added to
// what the layer reads: attention itself is not (AuraFlow).

stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "joint_attention.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @NR "tokens of a text that say nothing"
stg.symbol @PV "learned positions"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!text_heads = !stg.tensor<[B, T, H, E], bf16>
!said = !stg.tensor<[B, T = T - NR, D], bf16>

// Some learned positions, by their numbers.
stg.block @add_some_positions(%x: !stream, %places: !stg.tensor<[S], i32>) -> !stream {
  %t = stg.param "pos_embeddings" : !stg.tensor<[PV, D], bf16>
  %p = stg.embedding %t, %places <"positions"> : !stg.tensor<[PV, D], bf16>, !stg.tensor<[S], i32>
  %y = stg.bias_add %x, %p <"embeddings"> : !stream, !stg.tensor<[S, D], bf16>
  stg.return %y : !stream
}

// Learned tokens before those of the text.
stg.block @with_registers(%c: !said) -> !text {
  %w = stg.param "register_tokens" : !stg.tensor<[T = NR, D], bf16>
  %r = stg.broadcast dim 0 %w <"registers"> : !stg.tensor<[T = NR, D], bf16> -> !stg.tensor<[B, T = NR, D], bf16>
  %y = stg.concat dim 1 ordered %r, %c <"text_with_registers"> : !stg.tensor<[B, T = NR, D], bf16>, !said -> !text
  stg.return %y : !text
}

// The network of a part of a layer: `x` is what the layer reads, `out` what attention gives.
stg.block @crossed_feed_forward(%x: !stream, %out: !stream, %gate: !row, %shift2: !row, %scale2: !row, %gate2: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %y = stg.call @gated_sum(%x, %out, %gate) {part = "{part}_attention"} : (!stream, !stream, !row) -> !stream
  %m = stg.call @modulated(%y, %scale2, %shift2) : (!stream, !row, !row) -> !stream
  %f = stg.call @gated_feed_forward(%m) <"{part}"> : (!stream) -> !stream
  %z = stg.call @gated_sum(%x, %f, %gate2) : (!stream, !stream, !row) -> !stream
  stg.return %z : !stream
}

stg.block @crossed_joint_layer(%x: !stream, %c: !text, %e: !row) -> (!stream, !text) {
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!row) -> (!row, !row, !row, !row, !row, !row)
  %cshift, %cscale, %cgate, %cshift2, %cscale2, %cgate2 = stg.call @six_vectors(%e) {prefix = "text_"} : (!row) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %cn = stg.call @modulated(%c, %cscale, %cshift) {part = "text_attention"} : (!text, !row, !row) -> !text
  %a, %ca = stg.call @joint_attention(%n, %cn) : (!stream, !text) -> (!heads, !text_heads)
  %o = stg.call @stream_output(%a) : (!heads) -> !stream
  %co = stg.call @stream_output(%ca) {prefix = "text_"} : (!text_heads) -> !text
  %y = stg.call @crossed_feed_forward(%x, %o, %gate, %shift2, %scale2, %gate2) {part = "ffn"} : (!stream, !stream, !row, !row, !row, !row) -> !stream
  %cy = stg.call @crossed_feed_forward(%c, %co, %cgate, %cshift2, %cscale2, %cgate2) {part = "text_ffn"} : (!text, !text, !row, !row, !row, !row) -> !text
  stg.return %y, %cy : !stream, !text
}

stg.block @crossed_layer(%x: !stream, %e: !row) -> !stream {
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!row) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %q, %k, %v = stg.call @stream_heads(%n) : (!stream) -> (!heads, !heads, !heads)
  %a, %lse = stg.attention none %q, %k, %v : !heads, !heads, !heads
  %o = stg.call @stream_output(%a) : (!heads) -> !stream
  %y = stg.call @crossed_feed_forward(%x, %o, %gate, %shift2, %scale2, %gate2) {part = "ffn"} : (!stream, !stream, !row, !row, !row, !row) -> !stream
  stg.return %y : !stream
}
