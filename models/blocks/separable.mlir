// Convolutions over 3 x 3 positions of each channel between those of one position over all channels,
// each with a normalization over the batch (MobileNet). An image is [batch, rows, columns, channels].

stg.symbol @B "images in the global batch"
stg.symbol @IY "rows of a map"
stg.symbol @IX "columns of a map"
stg.symbol @CI "channels of the input"
stg.symbol @C "channels between"
stg.symbol @CO "channels of the output"
stg.symbol @Y = 2 "classes"

!input = !stg.tensor<[B, IY, IX, CI], bf16>
!wide = !stg.tensor<[B, IY, IX, C], bf16>
!half_wide = !stg.tensor<[B, IY/2, IX/2, C], bf16>
!output = !stg.tensor<[B, IY, IX, CO], bf16>
!half_output = !stg.tensor<[B, IY/2, IX/2, CO], bf16>

// Each channel with the mean and the deviation over the batch, between two limits.
stg.block @norm_and_limits(%x: !input) -> !input {
  stg.option @name : string "of its parameters"
  stg.option @limits : bool = true "values are between 0 and 6 behind it"
  %w = stg.param "{name}.weight" : !stg.tensor<[CI], bf16>
  %b = stg.param "{name}.bias" : !stg.tensor<[CI], bf16>
  %n = stg.batch_norm %x, %w, %b <"{name}"> : !input, !stg.tensor<[CI], bf16>, !stg.tensor<[CI], bf16>
  %y = stg.if @limits -> !input {
    %r = stg.clamp %n <"{name}_limits"> : !input
    stg.yield %r : !input
  } else {
    stg.yield %n : !input
  }
  stg.return %y : !input
}

// A convolution of one position each.
stg.block @pointwise(%x: !input) -> !output {
  stg.option @name : string "what it is, in the names of its parameters"
  stg.option @limits : bool = true "values are between 0 and 6 behind it"
  %w = stg.param "{name}" : !stg.tensor<[1, 1, CI, CO], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, CO], bf16> -> !output
  %y = stg.call @norm_and_limits(%c) {name = "{name}_norm"} : (!output) -> !output
  stg.return %y : !output
}

// Of each channel over 3 x 3 positions; with every second position.
stg.block @each_channel(%x: !input) -> !input {
  %w = stg.param "conv" : !stg.tensor<[3, 3, 1, CI], bf16>
  %c = stg.conv %x, %w {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !input, !stg.tensor<[3, 3, 1, CI], bf16> -> !input
  %y = stg.call @norm_and_limits(%c) {name = "conv_norm"} : (!input) -> !input
  stg.return %y : !input
}
stg.block @each_channel_half(%x: !input) -> !stg.tensor<[B, IY/2, IX/2, CI], bf16> {
  %w = stg.param "conv" : !stg.tensor<[3, 3, 1, CI], bf16>
  %c = stg.conv %x, %w {grouped, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !input, !stg.tensor<[3, 3, 1, CI], bf16> -> !stg.tensor<[B, IY/2, IX/2, CI], bf16>
  %y = stg.call @norm_and_limits(%c) {name = "conv_norm"} : (!stg.tensor<[B, IY/2, IX/2, CI], bf16>) -> !stg.tensor<[B, IY/2, IX/2, CI], bf16>
  stg.return %y : !stg.tensor<[B, IY/2, IX/2, CI], bf16>
}

// The first layer: windows of 3 x 3 pixels, every second one. Where zeros stand on one side alone,
// there are as many.
stg.block @separable_stem(%x: !input) -> !half_output {
  %w = stg.param "stem" : !stg.tensor<[3, 3, CI, CO], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !input, !stg.tensor<[3, 3, CI, CO], bf16> -> !half_output
  %y = stg.call @norm_and_limits(%c) {name = "stem_norm"} : (!half_output) -> !half_output
  stg.return %y : !half_output
}

stg.block @separable(%x: !input) -> !output {
  stg.option @limits : bool = true "values are between 0 and 6 behind it"
  %c = stg.call @each_channel(%x) {limits = true} : (!input) -> !input
  %y = stg.call @pointwise(%c) {name = "reduce"} : (!input) -> !output
  stg.return %y : !output
}
stg.block @separable_half(%x: !input) -> !half_output {
  stg.option @limits : bool = true "values are between 0 and 6 behind it"
  %c = stg.call @each_channel_half(%x) {limits = true} : (!input) -> !stg.tensor<[B, IY/2, IX/2, CI], bf16>
  %y = stg.call @pointwise(%c) {name = "reduce"} : (!stg.tensor<[B, IY/2, IX/2, CI], bf16>) -> !half_output
  stg.return %y : !half_output
}

// More channels, a convolution of each, and fewer again; added to the input where both have as many.
stg.block @inverted(%x: !input) -> !output {
  %e = stg.call @pointwise(%x) {name = "expand", CO as C} : (!input) -> !wide
  %y = stg.call @separable(%e) {limits = false} : (!wide) -> !output
  stg.return %y : !output
}
stg.block @inverted_half(%x: !input) -> !half_output {
  %e = stg.call @pointwise(%x) {name = "expand", CO as C} : (!input) -> !wide
  %y = stg.call @separable_half(%e) {limits = false} : (!wide) -> !half_output
  stg.return %y : !half_output
}
stg.block @inverted_residual(%x: !input) -> !input {
  %r = stg.call @inverted(%x) {CO as CI} : (!input) -> !input
  %y = stg.add %x, %r <"residual"> : !input, !input
  stg.return %y : !input
}

// The mean of all positions.
stg.block @map_mean(%x: !input) -> !stg.tensor<[B, CI], bf16> {
  %r = stg.rearrange "byxc->b(yx)c" %x <"positions"> : !input -> !stg.tensor<[B, _ = IY*IX, CI], bf16>
  %m = stg.mean dim 1 %r <"average_pool"> : !stg.tensor<[B, _ = IY*IX, CI], bf16>
  stg.return %m : !stg.tensor<[B, CI], bf16>
}
