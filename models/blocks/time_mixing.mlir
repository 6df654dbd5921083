// RWKV 4: what a part of a layer reads is a token mixed with the one before it, by learned numbers.
// One part is a mean of values over the tokens so far that fades, with a gate; the other one a
// network with a gate.
//
// The token before is that of a convolution of two tokens, whose weights are constants.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @MC = D "channels of the mixer"
stg.symbol @F "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!channels = !stg.tensor<[B, S, MC], bf16>
!each = !stg.tensor<[MC], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>

stg.block @token_before(%n: !stream) -> !stream {
  stg.option @part : string = "mixer" "of the layer"
  // No trace has the values of constants.
  %c = stg.splat 1 : !stg.tensor<[D, 2], bf16>
  %y = stg.causal_conv %n, %c <"{part}_shift"> : !stream, !stg.tensor<[D, 2], bf16>
  stg.return %y : !stream
}

// A part of a token, and what that leaves of one of the token before it.
stg.block @mix(%n: !stream, %before: !stream) -> !stream {
  stg.option @name : string = "key" "of what reads it"
  %m = stg.param "{name}_mix" : !vector
  %a = stg.mul_along %n, %m {dims = array<i64: 2>} <"{name}_part"> : !stream, !vector
  %c = stg.splat 1 : !vector
  %r = stg.elementwise sub %c, %m <"{name}_rest"> : !vector, !vector
  %b = stg.mul_along %before, %r {dims = array<i64: 2>} <"{name}_part_before"> : !stream, !vector
  %y = stg.add %a, %b <"{name}_input"> : !stream, !stream
  stg.return %y : !stream
}

// A projection of a mixture.
stg.block @mixed_channels(%n: !stream, %before: !stream) -> !channels {
  stg.option @name : string = "key" "what it is"
  %x = stg.call @mix(%n, %before) : (!stream, !stream) -> !stream
  %w = stg.param "{name}_proj" : !stg.tensor<[D, MC], bf16>
  %y = stg.einsum "bsd,dm->bsm" %x, %w : !stream, !stg.tensor<[D, MC], bf16>
  stg.return %y : !channels
}

stg.block @time_mixing(%n: !stream) -> !stream {
  %before = stg.call @token_before(%n) {part = "mixer"} : (!stream) -> !stream
  %k = stg.call @mixed_channels(%n, %before) {name = "key"} : (!stream, !stream) -> !channels
  %v = stg.call @mixed_channels(%n, %before) {name = "value"} : (!stream, !stream) -> !channels
  %q = stg.call @mixed_channels(%n, %before) {name = "receptance"} : (!stream, !stream) -> !channels
  %r = stg.activation sigmoid %q <"receptance"> : !channels
  %decay = stg.param "decay" : !each
  %bonus = stg.param "bonus" : !each
  %s = stg.decaying_mean %k, %v, %decay, %bonus <"scan"> : !channels, !channels, !each, !each
  %g = stg.mul %r, %s <"gated"> : !channels, !channels
  %wo = stg.param "out_proj" : !stg.tensor<[MC, D], bf16>
  %y = stg.einsum "bsm,md->bsd" %g, %wo : !channels, !stg.tensor<[MC, D], bf16>
  stg.return %y : !stream
}

stg.block @channel_mixing(%n: !stream) -> !stream {
  %before = stg.call @token_before(%n) {part = "ffn"} : (!stream) -> !stream
  %x = stg.call @mix(%n, %before) {name = "ffn_key"} : (!stream, !stream) -> !stream
  %wk = stg.param "ffn_key_proj" : !stg.tensor<[D, F], bf16>
  %k = stg.einsum "bsd,df->bsf" %x, %wk : !stream, !stg.tensor<[D, F], bf16>
  %a = stg.activation relu2 %k <"ffn_relu2"> : !hidden
  %wv = stg.param "ffn_value_proj" : !stg.tensor<[F, D], bf16>
  %v = stg.einsum "bsf,fd->bsd" %a, %wv : !hidden, !stg.tensor<[F, D], bf16>
  %z = stg.call @mix(%n, %before) {name = "ffn_receptance"} : (!stream, !stream) -> !stream
  %wr = stg.param "ffn_receptance_proj" : !stg.tensor<[D, D], bf16>
  %q = stg.einsum "bsd,de->bse" %z, %wr : !stream, !stg.tensor<[D, D], bf16>
  %r = stg.activation sigmoid %q <"ffn_receptance"> : !stream
  %y = stg.mul %r, %v <"ffn_gated"> : !stream, !stream
  stg.return %y : !stream
}

// With their normalizations and the residual stream.
stg.block @time_mixing_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %m = stg.call @time_mixing(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %m) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

stg.block @channel_mixing_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %m = stg.call @channel_mixing(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %m) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
