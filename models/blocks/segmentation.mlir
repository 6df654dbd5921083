// Which pixels of an image belong to what a text says: layers of a small width read some layers of a
// tower, and each position becomes a square of pixels (CLIPSeg).

stg.symbol @B "images in the global batch"
stg.symbol @S "positions of an image, and a token in front of them"
stg.symbol @D "hidden size"
stg.symbol @DO "hidden size of the tower"
stg.symbol @PD "size of what a text says"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @UP "pixels along each side of a square"
stg.symbol @UQ = 1 "pixels along each side of what a first convolution makes, where there are two"

!stream = !stg.tensor<[B, S, D], bf16>
!tower = !stg.tensor<[B, S, DO], bf16>
!vector = !stg.tensor<[D], bf16>
!row = !stg.tensor<[B, D], bf16>
!text = !stg.tensor<[B, PD], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!square = !stg.tensor<[B, _ = GY, _ = UQ, _ = GX, _ = UQ, _ = D/2], bf16>
!larger = !stg.tensor<[B, _ = GY*UQ, _ = GX*UQ, _ = D/2], bf16>
!plain = !stg.tensor<[B, _ = GY, _ = UP, _ = GX, _ = UP], bf16>
!pixels = !stg.tensor<[B, _ = GY*UQ*UP, _ = GX*UQ*UP], bf16>
!losses = !stg.tensor<[B], f32>

// A layer of the tower in the width of these layers, and added to what they have made.
stg.block @reduce_tower(%x: !tower) -> !stream {
  %w = stg.param "reduce" : !stg.tensor<[DO, D], bf16>
  %p = stg.einsum "bso,od->bsd" %x, %w : !tower, !stg.tensor<[DO, D], bf16>
  %b = stg.param "reduce_bias" : !vector
  %y = stg.bias_add %p, %b : !stream, !vector
  stg.return %y : !stream
}
stg.block @add_reduced(%x: !stream, %tower: !tower) -> !stream {
  %r = stg.call @reduce_tower(%tower) : (!tower) -> !stream
  %y = stg.add %r, %x <"reduced_and_made"> : !stream, !stream
  stg.return %y : !stream
}

// Each element times a factor that a text makes, and another one added to it.
stg.block @modulate_by_text(%x: !stream, %text: !text) -> !stream {
  %wm = stg.param "factor" : !stg.tensor<[PD, D], bf16>
  %pm = stg.einsum "bp,pd->bd" %text, %wm : !text, !stg.tensor<[PD, D], bf16>
  %bm = stg.param "factor_bias" : !vector
  %m = stg.bias_add %pm, %bm : !row, !vector
  %wa = stg.param "summand" : !stg.tensor<[PD, D], bf16>
  %pa = stg.einsum "bp,pd->bd" %text, %wa : !text, !stg.tensor<[PD, D], bf16>
  %ba = stg.param "summand_bias" : !vector
  %a = stg.bias_add %pa, %ba : !row, !vector
  %s = stg.mul_along %x, %m {dims = array<i64: 0, 2>} <"scaled_by_text"> : !stream, !row
  %y = stg.bias_add %s, %a {dims = array<i64: 0, 2>} <"modulated_by_text"> : !stream, !row
  stg.return %y : !stream
}

// Each position without the token in front as a square of pixels: by one transposed convolution whose
// stride is its size, or behind a convolution by two of them, with ReLU in between.
stg.block @positions_to_pixels(%x: !stream) -> !pixels {
  stg.option @pixels_twice : bool = false "a convolution, and squares of squares"
  %p = stg.slice dim 1 %x {from = #sym.expr<1>} <"positions"> : !stream -> !stg.tensor<[B, S - 1, D], bf16>
  %m = stg.rearrange "b(yx)d->byxd" %p <"position_map"> : !stg.tensor<[B, S - 1, D], bf16> -> !map
  %y = stg.if @pixels_twice -> !pixels {
    %w0 = stg.param "pixels0" : !stg.tensor<[3, 3, D, D], bf16>
    %c0 = stg.conv %m, %w0 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !map, !stg.tensor<[3, 3, D, D], bf16> -> !map
    %b0 = stg.param "pixels0_bias" : !vector
    %s0 = stg.bias_add %c0, %b0 : !map, !vector
    %a0 = stg.activation relu %s0 <"pixels0_relu"> : !map
    %w1 = stg.param "pixels1" : !stg.tensor<[D, _ = UQ, _ = UQ, _ = D/2], bf16>
    %c1 = stg.einsum "byxd,dijc->byixjc" %a0, %w1 : !map, !stg.tensor<[D, _ = UQ, _ = UQ, _ = D/2], bf16>
    %b1 = stg.param "pixels1_bias" : !stg.tensor<[_ = D/2], bf16>
    %s1 = stg.bias_add %c1, %b1 : !square, !stg.tensor<[_ = D/2], bf16>
    %a1 = stg.activation relu %s1 <"pixels1_relu"> : !square
    %l = stg.rearrange "byixjc->b(yi)(xj)c" %a1 <"larger_map"> : !square -> !larger
    %w2 = stg.param "pixels2" : !stg.tensor<[_ = D/2, _ = UP, _ = UP], bf16>
    %c2 = stg.einsum "byxc,cij->byixj" %l, %w2 : !larger, !stg.tensor<[_ = D/2, _ = UP, _ = UP], bf16>
    %b2 = stg.param "pixels2_bias" : !stg.tensor<[], bf16>
    %s2 = stg.bias_add %c2, %b2 : !stg.tensor<[B, _ = GY*UQ, _ = UP, _ = GX*UQ, _ = UP], bf16>, !stg.tensor<[], bf16>
    %z = stg.rearrange "byixj->b(yi)(xj)" %s2 <"pixels"> : !stg.tensor<[B, _ = GY*UQ, _ = UP, _ = GX*UQ, _ = UP], bf16> -> !pixels
    stg.yield %z : !pixels
  } else {
    %w = stg.param "pixels" : !stg.tensor<[D, _ = UP, _ = UP], bf16>
    %c = stg.einsum "byxd,dij->byixj" %m, %w : !map, !stg.tensor<[D, _ = UP, _ = UP], bf16>
    %b = stg.param "pixels_bias" : !stg.tensor<[], bf16>
    %s = stg.bias_add %c, %b : !plain, !stg.tensor<[], bf16>
    %r = stg.rearrange "b(yk)ixj->by(ki)xj" %s <"squares"> : !plain -> !stg.tensor<[B, _ = GY*UQ, _ = UP, _ = GX, _ = UP], bf16>
    %z = stg.rearrange "byixj->b(yi)(xj)" %r <"pixels"> : !stg.tensor<[B, _ = GY*UQ, _ = UP, _ = GX, _ = UP], bf16> -> !pixels
    stg.yield %z : !pixels
  }
  stg.return %y : !pixels
}

// A yes or a no for each pixel.
stg.block @pixel_loss(%x: !pixels, %yes: !pixels) -> !losses {
  %s = stg.activation softplus %x <"pixel_softplus"> : !pixels
  %m = stg.mul %x, %yes <"pixels_given"> : !pixels, !pixels
  %d = stg.elementwise sub %s, %m <"pixel_losses"> : !pixels, !pixels
  %r = stg.mean dim 2 %d <"row_means"> : !pixels
  %t = stg.mean dim 1 %r <"pixel_mean"> : !stg.tensor<[B, _ = GY*UQ*UP], bf16>
  %y = stg.cast %t <"pixel_mean"> : !stg.tensor<[B], bf16> -> !losses
  stg.return %y : !losses
}
