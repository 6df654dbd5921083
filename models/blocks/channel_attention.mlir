// Maps whose channels see each other, in groups, as tokens do elsewhere (DaViT, of Florence-2), and
// convolutions of each channel beside the residual stream.
//
// Tokens are the positions of a map, row by row.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @T "tokens of an encoder"
stg.symbol @D "hidden size"
stg.symbol @H "groups of channels"
stg.symbol @E "channels of a group"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @IY "rows of the map before"
stg.symbol @IX "columns of the map before"
stg.symbol @SI "positions before"
stg.symbol @CI "channels before"
stg.symbol @PS "positions along each side of a patch"
stg.symbol @PV "learned positions of rows, and of columns"
stg.symbol @DP "width of the text"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!channels = !stg.tensor<[B, E, H, S], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!vector = !stg.tensor<[D], bf16>
!before = !stg.tensor<[B, SI, CI], bf16>

// Patches that overlap, of a map that is normalized before.
stg.block @embed_normalized_patches(%x: !before) -> !stg.tensor<[B, S = GY*GX, D], bf16> {
  %n = stg.call @norm(%x) {name = "patch_norm"} : (!before) -> !before
  %m = stg.rearrange "b(yx)c->byxc" %n <"map_before"> : !before -> !stg.tensor<[B, _ = IY, _ = IX, CI], bf16>
  %w = stg.param "patch_conv" : !stg.tensor<[_ = PS, _ = PS, CI, D], bf16>
  %c = stg.conv %m, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !stg.tensor<[B, _ = IY, _ = IX, CI], bf16>, !stg.tensor<[_ = PS, _ = PS, CI, D], bf16> -> !map
  %b = stg.param "patch_bias" : !vector
  %y = stg.bias_add %c, %b : !map, !vector
  %t = stg.rearrange "byxd->b(yx)d" %y <"patches"> : !map -> !stg.tensor<[B, S = GY*GX, D], bf16>
  stg.return %t : !stg.tensor<[B, S = GY*GX, D], bf16>
}

// A convolution of each channel, added to what it reads.
stg.block @add_map_convolution(%x: !stream) -> !stream {
  %m = stg.rearrange "b(yx)d->byxd" %x <"conv_map"> : !stream -> !map
  %w = stg.param "conv" : !stg.tensor<[3, 3, 1, D], bf16>
  %c = stg.conv %m, %w {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} <"conv"> : !map, !stg.tensor<[3, 3, 1, D], bf16> -> !map
  %b = stg.param "conv_bias" : !vector
  %o = stg.bias_add %c, %b : !map, !vector
  %t = stg.rearrange "byxd->b(yx)d" %o <"conv_tokens"> : !map -> !stream
  %y = stg.add %x, %t <"conv_residual"> : !stream, !stream
  stg.return %y : !stream
}

// Scores of a channel and another one of its group are products of all their positions.
stg.block @channel_attention(%x: !stream) -> !stream {
  %q, %k, %v = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %qc = stg.rearrange "bshe->behs" %q <"query_channels"> : !heads -> !channels
  %kc = stg.rearrange "bshe->behs" %k <"key_channels"> : !heads -> !channels
  %vc = stg.rearrange "bshe->behs" %v <"value_channels"> : !heads -> !channels
  %ac, %lse = stg.attention none %qc, %kc, %vc <"channel_attention"> : !channels, !channels, !channels
  %a = stg.rearrange "behs->bshe" %ac <"positions_of_channels"> : !channels -> !heads
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

stg.block @channel_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @channel_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// A learned row of each position's column, one of its row beside it, and a constant; the mean of all
// positions before them, a matrix and a LayerNorm (Florence-2).
stg.block @project_map_and_mean(%x: !stream) -> !stg.tensor<[B, S = S + 1, DP], bf16> {
  %tc = stg.param "column_embeddings" : !stg.tensor<[PV, D/2], bf16>
  %c = stg.slice dim 0 %tc {from = #sym.expr<0>} <"columns"> : !stg.tensor<[PV, D/2], bf16> -> !stg.tensor<[_ = GX, D/2], bf16>
  %ca = stg.broadcast dim 0 %c <"columns_of_rows"> : !stg.tensor<[_ = GX, D/2], bf16> -> !stg.tensor<[_ = GY, _ = GX, D/2], bf16>
  %tr = stg.param "row_embeddings" : !stg.tensor<[PV, D/2], bf16>
  %r = stg.slice dim 0 %tr {from = #sym.expr<0>} <"rows"> : !stg.tensor<[PV, D/2], bf16> -> !stg.tensor<[_ = GY, D/2], bf16>
  %ra = stg.broadcast dim 1 %r <"rows_of_columns"> : !stg.tensor<[_ = GY, D/2], bf16> -> !stg.tensor<[_ = GY, _ = GX, D/2], bf16>
  %p = stg.concat dim 2 ordered %ca, %ra <"map_positions"> : !stg.tensor<[_ = GY, _ = GX, D/2], bf16>, !stg.tensor<[_ = GY, _ = GX, D/2], bf16> -> !stg.tensor<[_ = GY, _ = GX, D], bf16>
  %f = stg.rearrange "yxd->(yx)d" %p <"positions"> : !stg.tensor<[_ = GY, _ = GX, D], bf16> -> !stg.tensor<[S, D], bf16>
  %xp = stg.bias_add %x, %f <"placed"> : !stream, !stg.tensor<[S, D], bf16>
  // No trace has the value of the constant.
  %k = stg.splat 1 : !vector
  %xt = stg.bias_add %xp, %k <"placed_in_time"> : !stream, !vector
  %m = stg.mean dim 1 %xt <"mean_of_map"> : !stream
  %m1 = stg.rearrange "bd->b()d" %m <"mean_token"> : !stg.tensor<[B, D], bf16> -> !stg.tensor<[B, 1, D], bf16>
  %a = stg.concat dim 1 ordered %m1, %xt <"mean_and_map"> : !stg.tensor<[B, 1, D], bf16>, !stream -> !stg.tensor<[B, S = S + 1, D], bf16>
  %w = stg.param "projector" : !stg.tensor<[D, DP], bf16>
  %y = stg.einsum "bsd,dp->bsp" %a, %w : !stg.tensor<[B, S = S + 1, D], bf16>, !stg.tensor<[D, DP], bf16>
  %wn = stg.param "projector_norm.weight" : !stg.tensor<[DP], bf16>
  %wb = stg.param "projector_norm.bias" : !stg.tensor<[DP], bf16>
  %n, %mean, %rstd = stg.layer_norm %y, %wn, %wb <"projector_norm"> : !stg.tensor<[B, S = S + 1, DP], bf16>, !stg.tensor<[DP], bf16>, !stg.tensor<[DP], bf16>
  stg.return %n : !stg.tensor<[B, S = S + 1, DP], bf16>
}

// The tokens of an image, and those of a text behind them.
stg.block @join_map_and_text(%map: !stg.tensor<[B, S = GY*GX + 1, D], bf16>, %text: !stg.tensor<[B, T = T - GY*GX - 1, D], bf16>) -> !stg.tensor<[B, T, D], bf16> {
  %m = stg.rearrange "b(nk)d->bn(kd)" %map <"image_tokens"> : !stg.tensor<[B, S = GY*GX + 1, D], bf16> -> !stg.tensor<[B, T = GY*GX + 1, D], bf16>
  %y = stg.concat dim 1 ordered %m, %text <"image_and_text"> : !stg.tensor<[B, T = GY*GX + 1, D], bf16>, !stg.tensor<[B, T = T - GY*GX - 1, D], bf16> -> !stg.tensor<[B, T, D], bf16>
  stg.return %y : !stg.tensor<[B, T, D], bf16>
}
