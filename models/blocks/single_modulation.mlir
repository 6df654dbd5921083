// Diffusion transformers whose layers share what makes their scales, shifts and gates: six vectors
// of a sample are made once, and each layer adds a table of its own (PixArt, Wan). Between
// attention and the feed-forward network they attend to a text.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @C "width of what is projected"
stg.symbol @TD "features of a time step"
stg.symbol @PO "elements of a patch that is given"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!vector = !stg.tensor<[D], bf16>
!square = !stg.tensor<[D, D], bf16>
!six = !stg.tensor<[B, 6, D], bf16>
!two = !stg.tensor<[B, 2, D], bf16>
!patches = !stg.tensor<[B, S, PO], bf16>

// What all layers share.
stg.block @make_six(%e: !row) -> !six {
  %a = stg.activation silu %e <"modulation_silu"> : !row
  %w = stg.param "modulation" : !stg.tensor<[D, 6, D], bf16>
  %p = stg.einsum "bd,dne->bne" %a, %w : !row, !stg.tensor<[D, 6, D], bf16>
  %b = stg.param "modulation_bias" : !stg.tensor<[6, D], bf16>
  %y = stg.bias_add %p, %b : !six, !stg.tensor<[6, D], bf16>
  stg.return %y : !six
}

// Of a layer.
stg.block @add_table(%m: !six) -> (!row, !row, !row, !row, !row, !row) {
  %t = stg.param "modulation_table" : !stg.tensor<[6, D], bf16>
  %s = stg.bias_add %m, %t : !six, !stg.tensor<[6, D], bf16>
  %v0, %v1, %v2, %v3, %v4, %v5 = stg.split dim 1 %s : !six -> !one, !one, !one, !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  %y3 = stg.rearrange "b()d->bd" %v3 : !one -> !row
  %y4 = stg.rearrange "b()d->bd" %v4 : !one -> !row
  %y5 = stg.rearrange "b()d->bd" %v5 : !one -> !row
  stg.return %y0, %y1, %y2, %y3, %y4, %y5 : !row, !row, !row, !row, !row, !row
}

// The tokens of a text, by two matrices with gelu in between.
stg.block @project_text_twice(%x: !stg.tensor<[B, T, C], bf16>) -> !text {
  %w1 = stg.param "text_proj1" : !stg.tensor<[C, D], bf16>
  %p1 = stg.einsum "btc,cd->btd" %x, %w1 : !stg.tensor<[B, T, C], bf16>, !stg.tensor<[C, D], bf16>
  %b1 = stg.param "text_bias1" : !vector
  %y1 = stg.bias_add %p1, %b1 : !text, !vector
  %a = stg.activation gelu %y1 <"text_gelu"> : !text
  %w2 = stg.param "text_proj2" : !square
  %p2 = stg.einsum "btd,de->bte" %a, %w2 : !text, !square
  %b2 = stg.param "text_bias2" : !vector
  %y2 = stg.bias_add %p2, %b2 : !text, !vector
  stg.return %y2 : !text
}

// How many rows and columns an image has, and their ratio: three parts of one vector, two of which
// are made alike.
stg.block @add_sizes(%e: !row, %sizes: !stg.tensor<[B, 2, C], bf16>, %ratio: !stg.tensor<[B, 1, C], bf16>) -> !row {
  %w1 = stg.param "size_proj1" : !stg.tensor<[C, D/3], bf16>
  %p1 = stg.einsum "bnc,cd->bnd" %sizes, %w1 : !stg.tensor<[B, 2, C], bf16>, !stg.tensor<[C, D/3], bf16>
  %b1 = stg.param "size_bias1" : !stg.tensor<[D/3], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, 2, D/3], bf16>, !stg.tensor<[D/3], bf16>
  %a1 = stg.activation silu %y1 <"size_silu"> : !stg.tensor<[B, 2, D/3], bf16>
  %w2 = stg.param "size_proj2" : !stg.tensor<[D/3, _ = D/3], bf16>
  %p2 = stg.einsum "bnd,de->bne" %a1, %w2 : !stg.tensor<[B, 2, D/3], bf16>, !stg.tensor<[D/3, _ = D/3], bf16>
  %b2 = stg.param "size_bias2" : !stg.tensor<[_ = D/3], bf16>
  %y2 = stg.bias_add %p2, %b2 : !stg.tensor<[B, 2, _ = D/3], bf16>, !stg.tensor<[_ = D/3], bf16>
  %w3 = stg.param "ratio_proj1" : !stg.tensor<[C, D/3], bf16>
  %p3 = stg.einsum "bnc,cd->bnd" %ratio, %w3 : !stg.tensor<[B, 1, C], bf16>, !stg.tensor<[C, D/3], bf16>
  %b3 = stg.param "ratio_bias1" : !stg.tensor<[D/3], bf16>
  %y3 = stg.bias_add %p3, %b3 : !stg.tensor<[B, 1, D/3], bf16>, !stg.tensor<[D/3], bf16>
  %a3 = stg.activation silu %y3 <"ratio_silu"> : !stg.tensor<[B, 1, D/3], bf16>
  %w4 = stg.param "ratio_proj2" : !stg.tensor<[D/3, _ = D/3], bf16>
  %p4 = stg.einsum "bnd,de->bne" %a3, %w4 : !stg.tensor<[B, 1, D/3], bf16>, !stg.tensor<[D/3, _ = D/3], bf16>
  %b4 = stg.param "ratio_bias2" : !stg.tensor<[_ = D/3], bf16>
  %y4 = stg.bias_add %p4, %b4 : !stg.tensor<[B, 1, _ = D/3], bf16>, !stg.tensor<[_ = D/3], bf16>
  %c = stg.concat dim 1 %y2, %y4 : !stg.tensor<[B, 2, _ = D/3], bf16>, !stg.tensor<[B, 1, _ = D/3], bf16> -> !stg.tensor<[B, 3, _ = D/3], bf16>
  %r = stg.rearrange "bnd->b(nd)" %c <"sizes"> : !stg.tensor<[B, 3, _ = D/3], bf16> -> !row
  %y = stg.add %e, %r <"conditions"> : !row, !row
  stg.return %y : !row
}

// A layer: attention, attention to the text, and a feed-forward network.
stg.block @layer_with_text(%x: !stream, %c: !text, %m: !six) -> !stream {
  stg.option @cross_norm : bool = false "LayerNorm of what attends to the text"
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @add_table(%m) : (!six) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.call @attention(%n) {mask = "none"} : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %cn = stg.if @cross_norm -> !stream {
    %z = stg.call @norm(%y) {name = "cross_norm", norm = "layer"} : (!stream) -> !stream
    stg.yield %z : !stream
  } else {
    stg.yield %y : !stream
  }
  %ca = stg.call @cross_attention(%cn, %c) : (!stream, !text) -> !stream
  %r = stg.add %y, %ca <"cross_residual"> : !stream, !stream
  %fn = stg.call @modulated(%r, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @plain_feed_forward(%fn) : (!stream) -> !stream
  %o = stg.call @gated_sum(%r, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %o : !stream
}

// The last norm, with a scale and a shift of a table and of the sample, the patches, and the square
// of what is wrong with each element.
stg.block @patch_loss_of_table(%x: !stream, %e: !row, %target: !patches) -> !patches {
  %e1 = stg.rearrange "bd->b()d" %e : !row -> !one
  %t = stg.param "output_table" : !stg.tensor<[1, 2, D], bf16>
  %s = stg.add %e1, %t <"output_modulation"> : !one, !stg.tensor<[1, 2, D], bf16>
  %v0, %v1 = stg.split dim 1 %s : !two -> !one, !one
  %shift = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %scale = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %n = stg.call @modulated(%x, %scale, %shift) {part = "output"} : (!stream, !row, !row) -> !stream
  %w = stg.param "output" : !stg.tensor<[D, PO], bf16>
  %p = stg.einsum "bsd,dp->bsp" %n, %w : !stream, !stg.tensor<[D, PO], bf16>
  %b = stg.param "output_bias" : !stg.tensor<[PO], bf16>
  %y = stg.bias_add %p, %b : !patches, !stg.tensor<[PO], bf16>
  %d = stg.add %y, %target <"difference"> : !patches, !patches
  %q = stg.mul %d, %d <"square"> : !patches, !patches
  stg.return %q : !patches
}
