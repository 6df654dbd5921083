// Diffusion transformers with layers of a text by itself before those of an image or a video that attend to
// it; every part of a layer has a scale, a shift and a gate that a narrow vector of the sample makes
// (Kandinsky 5).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @DC "width of what a sample is conditioned on"
stg.symbol @C "width of what is projected"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!nine = !stg.tensor<[B, 9, D], bf16>
!condition = !stg.tensor<[B, DC], bf16>
!narrow = !stg.tensor<[DC], bf16>

// What a text as a whole says: a matrix and a LayerNorm.
stg.block @project_whole_text(%x: !stg.tensor<[B, C], bf16>) -> !condition {
  %w = stg.param "whole_text_proj" : !stg.tensor<[C, DC], bf16>
  %p = stg.einsum "bc,cd->bd" %x, %w : !stg.tensor<[B, C], bf16>, !stg.tensor<[C, DC], bf16>
  %b = stg.param "whole_text_bias" : !narrow
  %o = stg.bias_add %p, %b : !condition, !narrow
  %nw = stg.param "whole_text_norm.weight" : !narrow
  %nb = stg.param "whole_text_norm.bias" : !narrow
  %y, %mean, %rstd = stg.layer_norm %o, %nw, %nb <"whole_text_norm"> : !condition, !narrow, !narrow
  stg.return %y : !condition
}

// A layer of a text by itself.
stg.block @conditioned_layer(%x: !stream, %e: !condition) -> !stream {
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!condition) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.call @attention(%n) {mask = "none"} : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %m = stg.call @modulated(%y, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @plain_feed_forward(%m) : (!stream) -> !stream
  %z = stg.call @gated_sum(%y, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %z : !stream
}

stg.block @nine_vectors(%e: !condition) -> (!row, !row, !row, !row, !row, !row, !row, !row, !row) {
  %m = stg.call @made_vectors(%e) {NV = 9} : (!condition) -> !nine
  %v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8 = stg.split dim 1 %m : !nine -> !one, !one, !one, !one, !one, !one, !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  %y3 = stg.rearrange "b()d->bd" %v3 : !one -> !row
  %y4 = stg.rearrange "b()d->bd" %v4 : !one -> !row
  %y5 = stg.rearrange "b()d->bd" %v5 : !one -> !row
  %y6 = stg.rearrange "b()d->bd" %v6 : !one -> !row
  %y7 = stg.rearrange "b()d->bd" %v7 : !one -> !row
  %y8 = stg.rearrange "b()d->bd" %v8 : !one -> !row
  stg.return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8 : !row, !row, !row, !row, !row, !row, !row, !row, !row
}

// A layer with attention to the text, which has a scale, a shift and a gate, too.
stg.block @conditioned_layer_with_text(%x: !stream, %c: !text, %e: !condition) -> !stream {
  %shift, %scale, %gate, %shift1, %scale1, %gate1, %shift2, %scale2, %gate2 = stg.call @nine_vectors(%e) : (!condition) -> (!row, !row, !row, !row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.call @attention(%n) {mask = "none"} : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %cn = stg.call @modulated(%y, %scale1, %shift1) {part = "cross"} : (!stream, !row, !row) -> !stream
  %ca = stg.call @cross_attention(%cn, %c) : (!stream, !text) -> !stream
  %r = stg.call @gated_sum(%y, %ca, %gate1) {part = "cross"} : (!stream, !stream, !row) -> !stream
  %m = stg.call @modulated(%r, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @plain_feed_forward(%m) : (!stream) -> !stream
  %z = stg.call @gated_sum(%r, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %z : !stream
}
