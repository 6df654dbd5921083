// Convolutional networks whose layers are like those of transformers: a convolution of each channel
// by itself in the place of attention, and a network of two matrices (ConvNeXt).

stg.symbol @B "images in the global batch"
stg.symbol @IY "rows of an image"
stg.symbol @IX "columns of an image"
stg.symbol @CI "channels of an image, or of the stage before"
stg.symbol @C "channels"
stg.symbol @F = 4*C "feed-forward size"
stg.symbol @D "hidden size"

!image = !stg.tensor<[B, IY, IX, CI], bf16>
!map = !stg.tensor<[B, IY, IX, C], bf16>
!hidden = !stg.tensor<[B, IY, IX, F], bf16>
!quarter = !stg.tensor<[B, _ = IY/4, _ = IX/4, C], bf16>
!half = !stg.tensor<[B, _ = IY/2, _ = IX/2, C], bf16>
!channel = !stg.tensor<[C], bf16>
!last = !stg.tensor<[B, IY, IX, D], bf16>
!row = !stg.tensor<[B, D], bf16>

// Squares of 4 x 4 pixels, and a LayerNorm of the channels.
stg.block @embed_squares(%images: !image) -> !quarter {
  %w = stg.param "patch_conv" : !stg.tensor<[4, 4, CI, C], bf16>
  %c = stg.conv %images, %w {strides = array<i64: 4, 4>, padding = array<i64: 0, 0>} : !image, !stg.tensor<[4, 4, CI, C], bf16> -> !quarter
  %b = stg.param "patch_bias" : !channel
  %y = stg.bias_add %c, %b : !quarter, !channel
  %wn = stg.param "patch_norm.weight" : !channel
  %bn = stg.param "patch_norm.bias" : !channel
  %n, %mean, %rstd = stg.layer_norm %y, %wn, %bn <"patch_norm"> : !quarter, !channel, !channel
  stg.return %n : !quarter
}

// Before the next stage: a LayerNorm, and squares of 2 x 2 positions become one.
stg.block @join_positions(%x: !image) -> !half {
  %wn = stg.param "norm.weight" : !stg.tensor<[CI], bf16>
  %bn = stg.param "norm.bias" : !stg.tensor<[CI], bf16>
  %n, %mean, %rstd = stg.layer_norm %x, %wn, %bn <"norm"> : !image, !stg.tensor<[CI], bf16>, !stg.tensor<[CI], bf16>
  %w = stg.param "conv" : !stg.tensor<[2, 2, CI, C], bf16>
  %c = stg.conv %n, %w {strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : !image, !stg.tensor<[2, 2, CI, C], bf16> -> !half
  %b = stg.param "bias" : !channel
  %y = stg.bias_add %c, %b : !half, !channel
  stg.return %y : !half
}

// Each channel times how long it is over all positions, compared with the mean of all channels, and
// added to itself.
stg.block @response_norm(%x: !hidden) -> !hidden {
  %q = stg.elementwise square %x <"response_square"> : !hidden
  %p = stg.rearrange "byxf->b(yx)f" %q <"response_positions"> : !hidden -> !stg.tensor<[B, _ = IY*IX, F], bf16>
  %s = stg.sum dim 1 %p <"response_sum"> : !stg.tensor<[B, _ = IY*IX, F], bf16>
  %l = stg.elementwise sqrt %s <"response_length"> : !stg.tensor<[B, F], bf16>
  %m = stg.mean dim 1 %l <"response_mean"> : !stg.tensor<[B, F], bf16>
  %r = stg.elementwise reciprocal %m <"response_root"> : !stg.tensor<[B], bf16>
  %n = stg.mul_along %l, %r {dims = array<i64: 0>} <"response"> : !stg.tensor<[B, F], bf16>, !stg.tensor<[B], bf16>
  %a = stg.mul_along %x, %n {dims = array<i64: 0, 3>} <"response_applied"> : !hidden, !stg.tensor<[B, F], bf16>
  %w = stg.param "response_weight" : !stg.tensor<[F], bf16>
  %g = stg.mul_along %a, %w {dims = array<i64: 3>} <"response_weighted"> : !hidden, !stg.tensor<[F], bf16>
  %b = stg.param "response_bias" : !stg.tensor<[F], bf16>
  %h = stg.bias_add %g, %b : !hidden, !stg.tensor<[F], bf16>
  %y = stg.add %h, %x <"response_residual"> : !hidden, !hidden
  stg.return %y : !hidden
}

stg.block @depthwise_layer(%x: !map) -> !map {
  stg.option @channel_scaled : bool = true "the output times a learned number for each channel"
  stg.option @has_response_norm : bool = false "a norm of what the second matrix reads, over positions"
  %wd = stg.param "conv" : !stg.tensor<[7, 7, 1, C], bf16>
  %c = stg.conv %x, %wd {grouped, strides = array<i64: 1, 1>, padding = array<i64: 3, 3>} : !map, !stg.tensor<[7, 7, 1, C], bf16> -> !map
  %bd = stg.param "conv_bias" : !channel
  %cb = stg.bias_add %c, %bd : !map, !channel
  %wn = stg.param "norm.weight" : !channel
  %bn = stg.param "norm.bias" : !channel
  %n, %mean, %rstd = stg.layer_norm %cb, %wn, %bn <"norm"> : !map, !channel, !channel
  %w1 = stg.param "fc1" : !stg.tensor<[C, F], bf16>
  %u = stg.einsum "byxc,cf->byxf" %n, %w1 : !map, !stg.tensor<[C, F], bf16>
  %b1 = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
  %ub = stg.bias_add %u, %b1 : !hidden, !stg.tensor<[F], bf16>
  %a = stg.activation gelu %ub <"gelu"> : !hidden
  %h = stg.if @has_response_norm -> !hidden {
    %r = stg.call @response_norm(%a) : (!hidden) -> !hidden
    stg.yield %r : !hidden
  } else {
    stg.yield %a : !hidden
  }
  %w2 = stg.param "fc2" : !stg.tensor<[F, C], bf16>
  %d = stg.einsum "byxf,fc->byxc" %h, %w2 : !hidden, !stg.tensor<[F, C], bf16>
  %b2 = stg.param "fc2_bias" : !channel
  %db = stg.bias_add %d, %b2 : !map, !channel
  %s = stg.if @channel_scaled -> !map {
    %w = stg.param "channel_scale" : !channel
    %m = stg.mul_along %db, %w {dims = array<i64: 3>} <"channel_scale"> : !map, !channel
    stg.yield %m : !map
  } else {
    stg.yield %db : !map
  }
  %y = stg.add %x, %s <"residual"> : !map, !map
  stg.return %y : !map
}

// The mean of all positions, and a LayerNorm.
stg.block @mean_of_positions(%x: !last) -> !row {
  %r = stg.rearrange "byxd->b(yx)d" %x <"positions"> : !last -> !stg.tensor<[B, _ = IY*IX, D], bf16>
  %m = stg.mean dim 1 %r <"average_pool"> : !stg.tensor<[B, _ = IY*IX, D], bf16>
  %w = stg.param "norm.weight" : !stg.tensor<[D], bf16>
  %b = stg.param "norm.bias" : !stg.tensor<[D], bf16>
  %n, %mean, %rstd = stg.layer_norm %m, %w, %b <"norm"> : !row, !stg.tensor<[D], bf16>, !stg.tensor<[D], bf16>
  stg.return %n : !row
}

// The mean of all positions in front of these, and a LayerNorm of each (DINOv3).
stg.block @mean_before_positions(%x: !last) -> !row {
  %r = stg.rearrange "byxd->b(yx)d" %x <"positions"> : !last -> !stg.tensor<[B, _ = IY*IX, D], bf16>
  %m = stg.mean dim 1 %r <"average_pool"> : !stg.tensor<[B, _ = IY*IX, D], bf16>
  %f = stg.rearrange "bd->b()d" %m <"first_position"> : !row -> !stg.tensor<[B, _ = 1, D], bf16>
  %c = stg.concat dim 1 ordered %f, %r <"all_positions"> : !stg.tensor<[B, _ = 1, D], bf16>, !stg.tensor<[B, _ = IY*IX, D], bf16> -> !stg.tensor<[B, _ = IY*IX + 1, D], bf16>
  %w = stg.param "norm.weight" : !stg.tensor<[D], bf16>
  %b = stg.param "norm.bias" : !stg.tensor<[D], bf16>
  %n, %mean, %rstd = stg.layer_norm %c, %w, %b <"norm"> : !stg.tensor<[B, _ = IY*IX + 1, D], bf16>, !stg.tensor<[D], bf16>, !stg.tensor<[D], bf16>
  %s = stg.slice dim 1 %n {from = #sym.expr<0>} <"mean_of_image"> : !stg.tensor<[B, _ = IY*IX + 1, D], bf16> -> !stg.tensor<[B, _ = 1, D], bf16>
  %y = stg.rearrange "b()d->bd" %s <"row_of_image"> : !stg.tensor<[B, _ = 1, D], bf16> -> !row
  stg.return %y : !row
}
