// Transformers that take noise out of latent images. Their norms have no weights: scale, shift
// and gate of each part of a layer are made of what the sample is conditioned on, one vector
// for all of its tokens.

stg.import "attention.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @TD "features of a time step"
stg.symbol @Y "classes, with one for none"
stg.symbol @C "width of what is projected"
stg.symbol @PO "elements of a patch that is given"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!vector = !stg.tensor<[D], bf16>
!square = !stg.tensor<[D, D], bf16>
!features = !stg.tensor<[B, C], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!patches = !stg.tensor<[B, S, PO], bf16>

//===----------------------------------------------------------------------===//
// What samples are conditioned on
//===----------------------------------------------------------------------===//

// Two matrices with silu in between: of features of a time step, or of a text.
stg.block @project_features(%x: !features) -> !row {
  stg.option @prefix : string = "time_" "before the names of parameters and ops"
  %w1 = stg.param "{prefix}proj1" : !stg.tensor<[C, D], bf16>
  %p1 = stg.einsum "bc,cd->bd" %x, %w1 : !features, !stg.tensor<[C, D], bf16>
  %b1 = stg.param "{prefix}bias1" : !vector
  %y1 = stg.bias_add %p1, %b1 : !row, !vector
  %a = stg.activation silu %y1 <"{prefix}silu"> : !row
  %w2 = stg.param "{prefix}proj2" : !square
  %p2 = stg.einsum "bd,de->be" %a, %w2 : !row, !square
  %b2 = stg.param "{prefix}bias2" : !vector
  %y2 = stg.bias_add %p2, %b2 : !row, !vector
  stg.return %y2 : !row
}

stg.block @add_class(%e: !row, %class: !stg.tensor<[B], i32>) -> !row {
  %t = stg.param "class_embeddings" : !stg.tensor<[Y, D], bf16>
  %c = stg.embedding %t, %class : !stg.tensor<[Y, D], bf16>, !stg.tensor<[B], i32>
  %y = stg.add %e, %c <"conditions"> : !row, !row
  stg.return %y : !row
}

stg.block @add_rows(%a: !row, %b: !row) -> !row {
  %y = stg.add %a, %b <"conditions"> : !row, !row
  stg.return %y : !row
}

// The tokens of a text, in the width of the model.
stg.block @project_text(%x: !stg.tensor<[B, T, C], bf16>) -> !text {
  %w = stg.param "text_proj" : !stg.tensor<[C, D], bf16>
  %p = stg.einsum "btc,cd->btd" %x, %w : !stg.tensor<[B, T, C], bf16>, !stg.tensor<[C, D], bf16>
  %b = stg.param "text_bias" : !vector
  %y = stg.bias_add %p, %b : !text, !vector
  stg.return %y : !text
}

//===----------------------------------------------------------------------===//
// Adaptive norms
//===----------------------------------------------------------------------===//

// Vectors of a sample: so many, made together.
stg.block @two_vectors(%e: !row) -> (!row, !row) {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %a = stg.activation silu %e <"{prefix}modulation_silu"> : !row
  %w = stg.param "{prefix}modulation" : !stg.tensor<[D, 2, D], bf16>
  %p = stg.einsum "bd,dne->bne" %a, %w : !row, !stg.tensor<[D, 2, D], bf16>
  %b = stg.param "{prefix}modulation_bias" : !stg.tensor<[2, D], bf16>
  %m = stg.bias_add %p, %b : !stg.tensor<[B, 2, D], bf16>, !stg.tensor<[2, D], bf16>
  %v0, %v1 = stg.split dim 1 %m : !stg.tensor<[B, 2, D], bf16> -> !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  stg.return %y0, %y1 : !row, !row
}

stg.block @three_vectors(%e: !row) -> (!row, !row, !row) {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %a = stg.activation silu %e <"{prefix}modulation_silu"> : !row
  %w = stg.param "{prefix}modulation" : !stg.tensor<[D, 3, D], bf16>
  %p = stg.einsum "bd,dne->bne" %a, %w : !row, !stg.tensor<[D, 3, D], bf16>
  %b = stg.param "{prefix}modulation_bias" : !stg.tensor<[3, D], bf16>
  %m = stg.bias_add %p, %b : !stg.tensor<[B, 3, D], bf16>, !stg.tensor<[3, D], bf16>
  %v0, %v1, %v2 = stg.split dim 1 %m : !stg.tensor<[B, 3, D], bf16> -> !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  stg.return %y0, %y1, %y2 : !row, !row, !row
}

stg.block @six_vectors(%e: !row) -> (!row, !row, !row, !row, !row, !row) {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %a = stg.activation silu %e <"{prefix}modulation_silu"> : !row
  %w = stg.param "{prefix}modulation" : !stg.tensor<[D, 6, D], bf16>
  %p = stg.einsum "bd,dne->bne" %a, %w : !row, !stg.tensor<[D, 6, D], bf16>
  %b = stg.param "{prefix}modulation_bias" : !stg.tensor<[6, D], bf16>
  %m = stg.bias_add %p, %b : !stg.tensor<[B, 6, D], bf16>, !stg.tensor<[6, D], bf16>
  %v0, %v1, %v2, %v3, %v4, %v5 = stg.split dim 1 %m : !stg.tensor<[B, 6, D], bf16> -> !one, !one, !one, !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  %y3 = stg.rearrange "b()d->bd" %v3 : !one -> !row
  %y4 = stg.rearrange "b()d->bd" %v4 : !one -> !row
  %y5 = stg.rearrange "b()d->bd" %v5 : !one -> !row
  stg.return %y0, %y1, %y2, %y3, %y4, %y5 : !row, !row, !row, !row, !row, !row
}

// The norm of the tokens, scaled and shifted.
stg.block @modulated(%x: !stream, %scale: !row, %shift: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %n, %mean, %rstd = stg.layer_norm %x <"{part}_norm"> : !stream
  %one = stg.splat 1 : !row
  %s = stg.add %scale, %one <"{part}_scale"> : !row, !row
  %m = stg.mul_along %n, %s {dims = array<i64: 0, 2>} <"{part}_scaled"> : !stream, !row
  %y = stg.bias_add %m, %shift {dims = array<i64: 0, 2>} <"{part}_shifted"> : !stream, !row
  stg.return %y : !stream
}

// The stream with what a part of a layer has made, as far as the gate lets it.
stg.block @gated_sum(%x: !stream, %out: !stream, %gate: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %g = stg.mul_along %out, %gate {dims = array<i64: 0, 2>} <"{part}_gated"> : !stream, !row
  %y = stg.add %x, %g <"{part}_residual"> : !stream, !stream
  stg.return %y : !stream
}

// One layer of a stream by itself (DiT).
stg.block @adaptive_layer(%x: !stream, %e: !row) -> !stream {
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!row) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.call @attention(%n) : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %m = stg.call @modulated(%y, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @plain_feed_forward(%m) : (!stream) -> !stream
  %z = stg.call @gated_sum(%y, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %z : !stream
}

//===----------------------------------------------------------------------===//
// From tokens to patches
//===----------------------------------------------------------------------===//

// A position of each token that is not learned.
stg.block @add_fixed_positions(%x: !stream, %positions: !stg.tensor<[S, D], bf16>) -> !stream {
  %y = stg.bias_add %x, %positions <"embeddings"> : !stream, !stg.tensor<[S, D], bf16>
  stg.return %y : !stream
}

// The last norm, the patches, and the square of what is wrong with each element.
stg.block @patch_loss(%x: !stream, %e: !row, %target: !patches) -> !patches {
  %shift, %scale = stg.call @two_vectors(%e) {prefix = "output_"} : (!row) -> (!row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "output"} : (!stream, !row, !row) -> !stream
  %w = stg.param "output" : !stg.tensor<[D, PO], bf16>
  %p = stg.einsum "bsd,dp->bsp" %n, %w : !stream, !stg.tensor<[D, PO], bf16>
  %b = stg.param "output_bias" : !stg.tensor<[PO], bf16>
  %y = stg.bias_add %p, %b : !patches, !stg.tensor<[PO], bf16>
  %d = stg.add %y, %target <"difference"> : !patches, !patches
  %s = stg.mul %d, %d <"square"> : !patches, !patches
  stg.return %s : !patches
}
