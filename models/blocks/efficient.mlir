// Layers of maps: more channels, a window of each, channels weighed by what all positions say together,
// and fewer channels again, each with a normalization over the batch (EfficientNet).
//
// A map is [batch, rows, columns, channels].

stg.symbol @B "images in the global batch"
stg.symbol @IY "rows of the map before"
stg.symbol @IX "columns of the map before"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @CI "channels before"
stg.symbol @D "channels of a map"
stg.symbol @C "channels between"
stg.symbol @CR "channels that weigh channels"
stg.symbol @KS = 3 "positions along each side of a window"

!before = !stg.tensor<[B, _ = IY, _ = IX, CI], bf16>
!wide_before = !stg.tensor<[B, _ = IY, _ = IX, C], bf16>
!same_before = !stg.tensor<[B, _ = IY, _ = IX, D], bf16>
!narrow = !stg.tensor<[B, _ = GY, _ = GX, CI], bf16>
!wide = !stg.tensor<[B, _ = GY, _ = GX, C], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!vector = !stg.tensor<[D], bf16>
!row = !stg.tensor<[B, D], bf16>
!small_row = !stg.tensor<[B, CR], bf16>

// Each channel with the mean and the deviation over the batch, and an activation.
stg.block @normalized_map(%x: !map) -> !map {
  stg.option @name : string = "norm" "of its parameters"
  stg.option @activated : bool = true "an activation behind it"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of layers"
  %w = stg.param "{name}.weight" : !vector
  %b = stg.param "{name}.bias" : !vector
  %n = stg.batch_norm %x, %w, %b <"{name}"> : !map, !vector, !vector
  %y = stg.if @activated -> !map {
    %a = stg.activation silu %n {stg.options = {function = "activation"}} <"{name}_{activation}"> : !map
    stg.yield %a : !map
  } else {
    stg.yield %n : !map
  }
  stg.return %y : !map
}

// Other channels for each position.
stg.block @normalized_matrix(%x: !narrow) -> !map {
  stg.option @name : string = "matrix" "of its parameters"
  %w = stg.param "{name}" : !stg.tensor<[1, 1, CI, D], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !narrow, !stg.tensor<[1, 1, CI, D], bf16> -> !map
  %y = stg.call @normalized_map(%c) {name = "{name}_norm"} : (!map) -> !map
  stg.return %y : !map
}

// A window of all channels.
stg.block @normalized_window(%x: !before) -> !map {
  stg.option @name : string = "conv" "of its parameters"
  stg.option @steps : string = "1,1" "from a window to the next one: rows, columns"
  stg.option @margin : string = "1,1" "zeros around a map"
  stg.option @window_bias : bool = false "bias of windows"
  %w = stg.param "{name}" : !stg.tensor<[_ = KS, _ = KS, CI, D], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, stg.options = {strides = "steps", padding = "margin"}} : !before, !stg.tensor<[_ = KS, _ = KS, CI, D], bf16> -> !map
  %o = stg.if @window_bias -> !map {
    %b = stg.param "{name}_bias" : !vector
    %z = stg.bias_add %c, %b : !map, !vector
    stg.yield %z : !map
  } else {
    stg.yield %c : !map
  }
  %y = stg.call @normalized_map(%o) {name = "{name}_norm"} : (!map) -> !map
  stg.return %y : !map
}

// A window of each channel.
stg.block @window_of_channels(%x: !same_before) -> !map {
  stg.option @name : string = "conv" "of its parameters"
  stg.option @steps : string = "1,1" "from a window to the next one: rows, columns"
  stg.option @margin : string = "1,1" "zeros around a map"
  stg.option @window_bias : bool = false "bias of windows"
  %w = stg.param "{name}" : !stg.tensor<[_ = KS, _ = KS, 1, D], bf16>
  %c = stg.conv %x, %w {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, stg.options = {strides = "steps", padding = "margin"}} : !same_before, !stg.tensor<[_ = KS, _ = KS, 1, D], bf16> -> !map
  %o = stg.if @window_bias -> !map {
    %b = stg.param "{name}_bias" : !vector
    %z = stg.bias_add %c, %b : !map, !vector
    stg.yield %z : !map
  } else {
    stg.yield %c : !map
  }
  %y = stg.call @normalized_map(%o) {name = "{name}_norm"} : (!map) -> !map
  stg.return %y : !map
}

// Every channel times what two matrices make of the means of all.
stg.block @weigh_channels(%x: !map) -> !map {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of layers"
  %p = stg.rearrange "byxc->b(yx)c" %x <"positions"> : !map -> !stg.tensor<[B, _ = GY*GX, D], bf16>
  %m = stg.mean dim 1 %p <"channel_means"> : !stg.tensor<[B, _ = GY*GX, D], bf16>
  %w1 = stg.param "weigh1" : !stg.tensor<[D, CR], bf16>
  %p1 = stg.einsum "bc,cr->br" %m, %w1 : !row, !stg.tensor<[D, CR], bf16>
  %b1 = stg.param "weigh1_bias" : !stg.tensor<[CR], bf16>
  %o1 = stg.bias_add %p1, %b1 : !small_row, !stg.tensor<[CR], bf16>
  %a1 = stg.activation silu %o1 {stg.options = {function = "activation"}} <"weigh1_{activation}"> : !small_row
  %w2 = stg.param "weigh2" : !stg.tensor<[CR, D], bf16>
  %p2 = stg.einsum "br,rc->bc" %a1, %w2 : !small_row, !stg.tensor<[CR, D], bf16>
  %b2 = stg.param "weigh2_bias" : !vector
  %o2 = stg.bias_add %p2, %b2 : !row, !vector
  %a2 = stg.activation sigmoid %o2 <"weigh2_sigmoid"> : !row
  %y = stg.mul_along %x, %a2 {dims = array<i64: 0, 3>} <"weighed"> : !map, !row
  stg.return %y : !map
}

// A window of each channel, channels that may be weighed, and other ones.
stg.block @weighed_window(%x: !wide_before) -> !map {
  stg.option @weighs : bool = true "channels are weighed"
  %c = stg.call @window_of_channels(%x) {D as C} : (!wide_before) -> !wide
  %w = stg.if @weighs -> !wide {
    %z = stg.call @weigh_channels(%c) : (!wide) -> !wide
    stg.yield %z : !wide
  } else {
    stg.yield %c : !wide
  }
  %y = stg.call @normalized_matrix(%w) {name = "reduce", activated = false} : (!wide) -> !map
  stg.return %y : !map
}

// The same behind a matrix that makes more channels.
stg.block @inverted_weighed(%x: !before) -> !map {
  %e = stg.call @normalized_matrix(%x) {name = "expand", D as C} : (!before) -> !wide_before
  %y = stg.call @weighed_window(%e) : (!wide_before) -> !map
  stg.return %y : !map
}

// Both with the map added.
stg.block @residual_weighed_window(%x: !map) -> !map {
  %r = stg.call @weighed_window(%x) {C as D} : (!map) -> !map
  %y = stg.add %r, %x <"residual"> : !map, !map
  stg.return %y : !map
}
stg.block @residual_inverted_weighed(%x: !map) -> !map {
  %r = stg.call @inverted_weighed(%x) {CI as D} : (!map) -> !map
  %y = stg.add %r, %x <"residual"> : !map, !map
  stg.return %y : !map
}
