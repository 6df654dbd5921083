// Attention and a feed-forward network one behind the other, and experts beside both, which read
// what the layer reads (Snowflake Arctic).

stg.import "attention.mlir"
stg.import "experts.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @I "feed-forward size of the network that all tokens see"

!stream = !stg.tensor<[B, S, D], bf16>

stg.block @residual_experts_layer(%x: !stream) -> !stream {
  %n = stg.call @norm(%x) {name = "attention_norm"} : (!stream) -> !stream
  %a = stg.call @attention(%n) : (!stream) -> !stream
  %h = stg.add %x, %a <"attention_residual"> : !stream, !stream
  %fn = stg.call @norm(%h) {name = "ffn_norm"} : (!stream) -> !stream
  %f = stg.call @gated_feed_forward(%fn) {F = I, prefix = "dense_"} : (!stream) -> !stream
  %r = stg.add %h, %f <"ffn_residual"> : !stream, !stream
  %en = stg.call @norm(%x) {name = "experts_norm"} : (!stream) -> !stream
  %e = stg.call @experts(%en) : (!stream) -> !stream
  %y = stg.add %r, %e <"experts_residual"> : !stream, !stream
  stg.return %y : !stream
}
