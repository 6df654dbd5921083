// Attention and a Mamba-2 mixer side by side, as in Falcon-H1: both read the same normalized
// input, and the residual stream gets the sum of what they give.
//
// Each may be scaled by constants, of what it reads and of what it gives. No trace has their
// values.

stg.import "attention.mlir"
stg.import "mamba2.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"

!stream = !stg.tensor<[B, S, D], bf16>

// Times a constant, or as it is.
stg.block @times_constant(%x: !stream) -> !stream {
  stg.option @name : string "of the product"
  stg.option @times : bool = false "it is scaled"
  %y = stg.if @times -> !stream {
    %c = stg.splat 1 : !stream
    %m = stg.mul %x, %c <"{name}"> : !stream, !stream
    stg.yield %m : !stream
  } else {
    stg.yield %x : !stream
  }
  stg.return %y : !stream
}

stg.block @attention_and_mamba2_layer(%x: !stream) -> !stream {
  stg.option @attention_input_scaled : bool = false "what attention reads, times a constant"
  stg.option @attention_output_scaled : bool = false "what attention gives, times a constant"
  stg.option @mixer_input_scaled : bool = false "what the mixer reads, times a constant"
  stg.option @mixer_output_scaled : bool = false "what the mixer gives, times a constant"
  %n = stg.call @norm(%x) {name = "mixer_norm"} : (!stream) -> !stream
  %ai = stg.call @times_constant(%n) {name = "attention_input", times = attention_input_scaled} : (!stream) -> !stream
  %a = stg.call @attention(%ai) : (!stream) -> !stream
  %ao = stg.call @times_constant(%a) {name = "attention_output", times = attention_output_scaled} : (!stream) -> !stream
  %mi = stg.call @times_constant(%n) {name = "mixer_input", times = mixer_input_scaled} : (!stream) -> !stream
  %m = stg.call @mamba2_mixer(%mi) : (!stream) -> !stream
  %mo = stg.call @times_constant(%m) {name = "mixer_output", times = mixer_output_scaled} : (!stream) -> !stream
  %s = stg.add %mo, %ao <"side_by_side"> : !stream, !stream
  %y = stg.add %x, %s <"mixer_residual"> : !stream, !stream
  stg.return %y : !stream
}
