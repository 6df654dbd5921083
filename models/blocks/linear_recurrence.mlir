// The recurrence of Griffin (RecurrentGemma): each of MH blocks of MP channels has a state that
// decays by what the token says, behind a convolution, and a second branch is its gate. What a token
// keeps and what it writes are made of the block's own channels, by a matrix for each block.
//
// The first token of a sequence writes all that it has; no trace shows which one that is.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @MH "blocks of channels of the mixer"
stg.symbol @MP "channels of a block"
stg.symbol @CW = 4 "tokens of the convolution"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!heads = !stg.tensor<[B, S, MH, MP], bf16>
!weight = !stg.tensor<[MH, MP], bf16>
!square = !stg.tensor<[MH, MP, MP], bf16>

// One of the two branches.
stg.block @branch(%n: !stream) -> !heads {
  stg.option @name : string = "x" "of the branch, in the names of its parameters"
  %w = stg.param "{name}_proj" : !stg.tensor<[D, MH, MP], bf16>
  %p = stg.einsum "bsd,dmp->bsmp" %n, %w : !stream, !stg.tensor<[D, MH, MP], bf16>
  %b = stg.param "{name}_bias" : !weight
  %y = stg.bias_add %p, %b : !heads, !weight
  stg.return %y : !heads
}

// A gate of each channel, made of the channels of its block.
stg.block @block_gate(%x: !heads) -> !heads {
  stg.option @name : string = "input_gate" "of the gate, in the names of its parameters"
  %w = stg.param "{name}_proj" : !square
  %p = stg.einsum "bsmp,mpq->bsmq" %x, %w : !heads, !square
  %b = stg.param "{name}_bias" : !weight
  %y = stg.bias_add %p, %b : !heads, !weight
  %g = stg.activation sigmoid %y <"{name}"> : !heads
  stg.return %g : !heads
}

// How much of a state a token keeps, and the root of what is left of one if the square of that is
// taken away, by which it writes.
stg.block @decay(%x: !heads) -> (!heads, !heads) {
  %g = stg.call @block_gate(%x) {name = "recurrent_gate"} : (!heads) -> !heads
  %w = stg.param "recurrent_param" : !weight
  %s = stg.activation softplus %w <"recurrent_softplus"> : !weight
  %m = stg.mul_along %g, %s {dims = array<i64: 2, 3>} <"recurrent_gated"> : !heads, !weight
  // No trace has the values of constants.
  %c = stg.splat 1 : !heads
  %l = stg.mul %m, %c <"log_decay"> : !heads, !heads
  %a = stg.elementwise exp %l <"decay"> : !heads
  %t = stg.mul %l, %c <"log_square"> : !heads, !heads
  %q = stg.elementwise exp %t <"decay_square"> : !heads
  %r = stg.elementwise sub %c, %q <"left"> : !heads, !heads
  %k = stg.elementwise sqrt %r <"left_root"> : !heads
  stg.return %a, %k : !heads, !heads
}

stg.block @linear_recurrence(%n: !stream) -> !stream {
  stg.option @gate_activation : "gelu" | "silu" | "relu" | "tanh" | "sigmoid" = "gelu" "of the second branch"
  %z = stg.call @branch(%n) {name = "y"} : (!stream) -> !heads
  %gate = stg.activation gelu %z {stg.options = {function = "gate_activation"}} <"gate"> : !heads
  %x = stg.call @branch(%n) {name = "x"} : (!stream) -> !heads
  %wc = stg.param "conv" : !stg.tensor<[MH, MP, CW], bf16>
  %p = stg.causal_conv %x, %wc : !heads, !stg.tensor<[MH, MP, CW], bf16>
  %bc = stg.param "conv_bias" : !weight
  %u = stg.bias_add %p, %bc : !heads, !weight
  %i = stg.call @block_gate(%u) {name = "input_gate"} : (!heads) -> !heads
  %a, %k = stg.call @decay(%u) : (!heads) -> (!heads, !heads)
  %g = stg.mul %u, %i <"gated_input"> : !heads, !heads
  %v = stg.mul %g, %k <"normalized_input"> : !heads, !heads
  %h = stg.linear_scan %v, %a <"scan"> : !heads, !heads
  %y = stg.mul %h, %gate <"gated"> : !heads, !heads
  %wo = stg.param "out_proj" : !stg.tensor<[MH, MP, D], bf16>
  %o = stg.einsum "bsmp,mpd->bsd" %y, %wo : !heads, !stg.tensor<[MH, MP, D], bf16>
  %bo = stg.param "out_bias" : !vector
  %out = stg.bias_add %o, %bo : !stream, !vector
  stg.return %out : !stream
}

// With its normalization and the residual stream.
stg.block @linear_recurrence_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %m = stg.call @linear_recurrence(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %m) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
