// An image as a small map of latents, and back again, by residual layers of maps (the autoencoders of
// Stable Diffusion).
//
// A map is [batch, rows, columns, channels].

stg.import "unet.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @IY "rows of a map"
stg.symbol @IX "columns of a map"
stg.symbol @CI "channels of the input"
stg.symbol @CO "channels of the output"
stg.symbol @D "channels of a map"
stg.symbol @S "positions of a map"
stg.symbol @NG = 32 "groups of channels that are normalized"

!input = !stg.tensor<[B, IY, IX, CI], bf16>
!output = !stg.tensor<[B, IY, IX, CO], bf16>
!both = !stg.tensor<[B, IY, IX, CO = 2*CI], bf16>
!half_of_both = !stg.tensor<[B, IY, IX, CO = CI], bf16>
!map = !stg.tensor<[B, IY, IX, D], bf16>
!stream = !stg.tensor<[B, S = IY*IX, D], bf16>
!head = !stg.tensor<[B, S = IY*IX, 1, D], bf16>

// Two convolutions, each behind a norm, and the input added: as it is, or in the channels of the output.
stg.block @two_plain_convs(%x: !input) -> !output {
  %n1 = stg.call @group_norm(%x) {name = "norm1"} : (!input) -> !input
  %c1 = stg.call @map_conv(%n1) {name = "conv1"} : (!input) -> !output
  %n2 = stg.call @group_norm(%c1) {name = "norm2"} : (!output) -> !output
  %y = stg.call @map_conv(%n2) {name = "conv2"} : (!output) -> !output
  stg.return %y : !output
}
stg.block @plain_residual_map(%x: !output) -> !output {
  %c = stg.call @two_plain_convs(%x) : (!output) -> !output
  %y = stg.add %x, %c <"residual"> : !output, !output
  stg.return %y : !output
}
stg.block @plain_widening_map(%x: !input) -> !output {
  %c = stg.call @two_plain_convs(%x) : (!input) -> !output
  %s = stg.call @shortcut(%x) : (!input) -> !output
  %y = stg.add %s, %c <"residual"> : !output, !output
  stg.return %y : !output
}

// Positions see each other, by one head as wide as the map.
stg.block @map_self_attention(%x: !map) -> !map {
  %n = stg.call @group_norm(%x) {name = "attention_norm", activated = false} : (!map) -> !map
  %s = stg.rearrange "byxd->b(yx)d" %n <"positions"> : !map -> !stream
  %w = stg.param "qkv_proj" : !stg.tensor<[D, 3, _ = D], bf16>
  %p = stg.einsum "bsd,dne->bsne" %s, %w : !stream, !stg.tensor<[D, 3, _ = D], bf16>
  %b = stg.param "qkv_bias" : !stg.tensor<[3, _ = D], bf16>
  %h = stg.bias_add %p, %b : !stg.tensor<[B, S = IY*IX, 3, _ = D], bf16>, !stg.tensor<[3, _ = D], bf16>
  %q, %k, %v = stg.split dim 2 %h : !stg.tensor<[B, S = IY*IX, 3, _ = D], bf16> -> !stg.tensor<[B, S = IY*IX, 1, _ = D], bf16>, !stg.tensor<[B, S = IY*IX, 1, _ = D], bf16>, !stg.tensor<[B, S = IY*IX, 1, _ = D], bf16>
  %a, %lse = stg.attention none %q, %k, %v <"attention"> : !stg.tensor<[B, S = IY*IX, 1, _ = D], bf16>, !stg.tensor<[B, S = IY*IX, 1, _ = D], bf16>, !stg.tensor<[B, S = IY*IX, 1, _ = D], bf16>
  %wo = stg.param "o_proj" : !stg.tensor<[1, _ = D, D], bf16>
  %po = stg.einsum "bsne,ned->bsd" %a, %wo : !stg.tensor<[B, S = IY*IX, 1, _ = D], bf16>, !stg.tensor<[1, _ = D, D], bf16>
  %bo = stg.param "o_bias" : !stg.tensor<[D], bf16>
  %o = stg.bias_add %po, %bo : !stream, !stg.tensor<[D], bf16>
  %m = stg.rearrange "b(yx)d->byxd" %o <"map"> : !stream -> !map
  %y = stg.add %m, %x <"attention_residual"> : !map, !map
  stg.return %y : !map
}

// A mean and the logarithm of a variance for each latent, which is drawn of them; how far they are from
// those of noise is a loss of its own.
stg.block @draw_latents(%x: !both, %noise: !input) -> !input {
  %mo, %lo = stg.split dim 3 %x : !both -> !half_of_both, !half_of_both
  %m = stg.rearrange "byx(ck)->byx(ck)" %mo <"means"> : !half_of_both -> !input
  %l = stg.rearrange "byx(ck)->byx(ck)" %lo <"logarithms"> : !half_of_both -> !input
  %h = stg.splat 1 : !input
  %hl = stg.mul %l, %h <"half_of_logarithm"> : !input, !input
  %d = stg.elementwise exp %hl <"deviation"> : !input
  %n = stg.mul %d, %noise <"noise_of_latents"> : !input, !input
  %y = stg.add %m, %n <"latents"> : !input, !input
  %v = stg.elementwise exp %l <"variance"> : !input
  %q = stg.mul %m, %m <"square_of_mean"> : !input, !input
  %s = stg.add %v, %q <"spread"> : !input, !input
  %f = stg.elementwise sub %s, %l <"distance_to_noise"> : !input, !input
  stg.auxiliary_loss 1/1000000 %f <"loss_of_latents"> : !input
  stg.return %y : !input
}
