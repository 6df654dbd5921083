// Attention beside a convolution of values over tokens, of which each head has a window of its own
// (Nystromformer).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "heads"
stg.symbol @E "head size"
stg.symbol @CW = 65 "tokens of a window"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!elements = !stg.tensor<[B = B*E, S, H], bf16>

// Each element of a head by itself, with the window of its head.
stg.block @convolve_values(%v: !heads) -> !heads {
  stg.option @tokens_before : string = "32" "zeros before the first token, and behind the last"
  %r = stg.rearrange "bshe->(be)sh" %v <"elements_of_values"> : !heads -> !elements
  %w = stg.param "value_conv" : !stg.tensor<[CW, 1, H], bf16>
  %c = stg.conv %r, %w {grouped, strides = array<i64: 1>, padding = array<i64: 32>, stg.options = {padding = "tokens_before"}} <"value_conv"> : !elements, !stg.tensor<[CW, 1, H], bf16> -> !elements
  %y = stg.rearrange "(be)sh->bshe" %c <"convolved_values"> : !elements -> !heads
  stg.return %y : !heads
}

stg.block @convolved_values_attention_layer(%x: !stream) -> !stream {
  stg.option @has_window : bool = true "there is such a convolution"
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) {K as H, separate_projections = true, qkv_bias = true} : (!stream) -> (!heads, !heads, !heads)
  %a = stg.call @attend(%q, %k, %v) {K as H, mask = "none"} : (!heads, !heads, !heads) -> !heads
  %s = stg.if @has_window -> !heads {
    %c = stg.call @convolve_values(%v) : (!heads) -> !heads
    %z = stg.add %a, %c <"attention_and_values"> : !heads, !heads
    stg.yield %z : !heads
  } else {
    stg.yield %a : !heads
  }
  %o = stg.call @attention_output(%s) {o_bias = true} : (!heads) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
