// Layers of maps that are made in groups of channels between two matrices, each with a normalization
// over the batch; what all positions say together may weigh channels (RegNet).
//
// A map is [batch, rows, columns, channels].

stg.import "residual.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @IY "rows of a map"
stg.symbol @IX "columns of a map"
stg.symbol @CI "channels of the input"
stg.symbol @CO "channels of the output"
stg.symbol @CG "channels of a group"
stg.symbol @CR = 1 "channels that weigh channels"

!input = !stg.tensor<[B, IY, IX, CI], bf16>
!output = !stg.tensor<[B, IY, IX, CO], bf16>
!half = !stg.tensor<[B, IY/2, IX/2, CO], bf16>
!row = !stg.tensor<[B, CO], bf16>

// A matrix for each position.
stg.block @matrix_of_positions(%x: !input) -> !output {
  stg.option @name : string "of its parameters"
  stg.option @rectified : bool = true "a ReLU behind it"
  %w = stg.param "{name}" : !stg.tensor<[1, 1, CI, CO], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, CO], bf16> -> !output
  %y = stg.call @batch_norm(%c) {name = "{name}_norm"} : (!output) -> !output
  stg.return %y : !output
}

// Every channel times what two matrices make of the means of all.
stg.block @weighed_channels(%x: !output) -> !output {
  %p = stg.rearrange "byxc->b(yx)c" %x <"positions"> : !output -> !stg.tensor<[B, _ = IY*IX, CO], bf16>
  %m = stg.mean dim 1 %p <"channel_means"> : !stg.tensor<[B, _ = IY*IX, CO], bf16>
  %w1 = stg.param "weigh1" : !stg.tensor<[CO, CR], bf16>
  %p1 = stg.einsum "bc,cr->br" %m, %w1 : !row, !stg.tensor<[CO, CR], bf16>
  %b1 = stg.param "weigh1_bias" : !stg.tensor<[CR], bf16>
  %o1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, CR], bf16>, !stg.tensor<[CR], bf16>
  %a1 = stg.activation relu %o1 <"weigh1_relu"> : !stg.tensor<[B, CR], bf16>
  %w2 = stg.param "weigh2" : !stg.tensor<[CR, CO], bf16>
  %p2 = stg.einsum "br,rc->bc" %a1, %w2 : !stg.tensor<[B, CR], bf16>, !stg.tensor<[CR, CO], bf16>
  %b2 = stg.param "weigh2_bias" : !stg.tensor<[CO], bf16>
  %o2 = stg.bias_add %p2, %b2 : !row, !stg.tensor<[CO], bf16>
  %a2 = stg.activation sigmoid %o2 <"weigh2_sigmoid"> : !row
  %y = stg.mul_along %x, %a2 {dims = array<i64: 0, 3>} <"weighed"> : !output, !row
  stg.return %y : !output
}

// Behind the convolution in groups: its norm, the weights of channels, and a matrix.
stg.block @behind_groups(%x: !output) -> !output {
  stg.option @weighs : bool = false "channels are weighed"
  %n = stg.call @batch_norm(%x) {name = "groups_norm"} : (!output) -> !output
  %w = stg.if @weighs -> !output {
    %z = stg.call @weighed_channels(%n) : (!output) -> !output
    stg.yield %z : !output
  } else {
    stg.yield %n : !output
  }
  %y = stg.call @matrix_of_positions(%w) {name = "last", rectified = false} : (!output) -> !output
  stg.return %y : !output
}

stg.block @grouped_map_layer(%x: !output) -> !output {
  %f = stg.call @matrix_of_positions(%x) {name = "first", CO as CO} : (!output) -> !output
  %w = stg.param "groups" : !stg.tensor<[3, 3, _ = CG, CO], bf16>
  %c = stg.conv %f, %w {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !output, !stg.tensor<[3, 3, _ = CG, CO], bf16> -> !output
  %l = stg.call @behind_groups(%c) : (!output) -> !output
  %s = stg.add %l, %x <"residual"> : !output, !output
  %y = stg.activation relu %s <"residual_relu"> : !output
  stg.return %y : !output
}

// The first of a stage: every second position, in other channels.
stg.block @first_half_grouped_map_layer(%x: !input) -> !half {
  %f = stg.call @matrix_of_positions(%x) {name = "first", CO as CO} : (!input) -> !output
  %w = stg.param "groups" : !stg.tensor<[3, 3, _ = CG, CO], bf16>
  %c = stg.conv %f, %w {grouped, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !output, !stg.tensor<[3, 3, _ = CG, CO], bf16> -> !half
  %l = stg.call @behind_groups(%c) : (!half) -> !half
  %wd = stg.param "downsample" : !stg.tensor<[1, 1, CI, CO], bf16>
  %d = stg.conv %x, %wd {strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, CO], bf16> -> !half
  %nd = stg.call @batch_norm(%d) {name = "downsample_norm", rectified = false} : (!half) -> !half
  %s = stg.add %l, %nd <"residual"> : !half, !half
  %y = stg.activation relu %s <"residual_relu"> : !half
  stg.return %y : !half
}

// The first layer: windows of 3 x 3 pixels, every second one.
stg.block @half_stem(%x: !input) -> !half {
  %w = stg.param "stem" : !stg.tensor<[3, 3, CI, CO], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !input, !stg.tensor<[3, 3, CI, CO], bf16> -> !half
  %y = stg.call @batch_norm(%c) {name = "stem_norm"} : (!half) -> !half
  stg.return %y : !half
}
