// A feed-forward network whose input is scaled by what a condition of the whole batch says, such as
// how far a text is behind a sound (Voxtral Realtime).

stg.import "norm.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @CN = 32 "width between a condition and what it scales"

!stream = !stg.tensor<[B, S, D], bf16>
!condition = !stg.tensor<[1, 1, D], bf16>
!narrow = !stg.tensor<[1, 1, CN], bf16>

stg.block @conditioned_feed_forward_layer(%x: !stream, %condition: !condition) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %w1 = stg.param "condition1" : !stg.tensor<[D, CN], bf16>
  %p1 = stg.einsum "bsd,dc->bsc" %condition, %w1 : !condition, !stg.tensor<[D, CN], bf16>
  %a = stg.activation gelu %p1 <"condition_gelu"> : !narrow
  %w2 = stg.param "condition2" : !stg.tensor<[CN, D], bf16>
  %p2 = stg.einsum "bsc,cd->bsd" %a, %w2 : !narrow, !stg.tensor<[CN, D], bf16>
  %one = stg.splat 1 : !condition
  %g = stg.add %p2, %one <"condition_scale"> : !condition, !condition
  %s = stg.mul %n, %g <"conditioned"> : !stream, !condition
  %f = stg.call @gated_feed_forward(%s) : (!stream) -> !stream
  %y = stg.call @after(%x, %f) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
