// A short convolution between two gates, as in LFM2: a token's channels are those of a few tokens
// before it, gated before and behind.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @MC = D "channels of the mixer"
stg.symbol @CW = 3 "tokens of the convolution"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!channels = !stg.tensor<[B, S, MC], bf16>
!parts = !stg.tensor<[B, S, 3*MC], bf16>

// The gate before the convolution, the one behind it, and the channels.
stg.block @gates_and_channels(%n: !stream) -> (!channels, !channels, !channels) {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  %w = stg.param "in_proj" : !stg.tensor<[D, 3*MC], bf16>
  %p = stg.einsum "bsd,dm->bsm" %n, %w : !stream, !stg.tensor<[D, 3*MC], bf16>
  %y = stg.if @mixer_bias -> !parts {
    %b = stg.param "in_bias" : !stg.tensor<[3*MC], bf16>
    %z = stg.bias_add %p, %b : !parts, !stg.tensor<[3*MC], bf16>
    stg.yield %z : !parts
  } else {
    stg.yield %p : !parts
  }
  %before, %behind, %x = stg.split dim 2 %y : !parts -> !channels, !channels, !channels
  stg.return %before, %behind, %x : !channels, !channels, !channels
}

stg.block @short_convolution(%n: !stream) -> !stream {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  stg.option @conv_bias : bool = false "bias of the convolution"
  %before, %behind, %x = stg.call @gates_and_channels(%n) : (!stream) -> (!channels, !channels, !channels)
  %g = stg.mul %before, %x <"gate_before"> : !channels, !channels
  %w = stg.param "conv" : !stg.tensor<[MC, CW], bf16>
  %p = stg.causal_conv %g, %w : !channels, !stg.tensor<[MC, CW], bf16>
  %c = stg.if @conv_bias -> !channels {
    %b = stg.param "conv_bias" : !stg.tensor<[MC], bf16>
    %z = stg.bias_add %p, %b : !channels, !stg.tensor<[MC], bf16>
    stg.yield %z : !channels
  } else {
    stg.yield %p : !channels
  }
  %h = stg.mul %behind, %c <"gate_behind"> : !channels, !channels
  %wo = stg.param "out_proj" : !stg.tensor<[MC, D], bf16>
  %o = stg.einsum "bsm,md->bsd" %h, %wo : !channels, !stg.tensor<[MC, D], bf16>
  %y = stg.if @mixer_bias -> !stream {
    %b = stg.param "out_bias" : !vector
    %z = stg.bias_add %o, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @short_convolution_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %m = stg.call @short_convolution(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %m) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
