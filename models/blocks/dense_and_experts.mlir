// A feed-forward network and experts side by side, with normalizations around each of them and
// around both (Gemma 4): the first reads the stream with a normalization of its own, and so do the
// experts and their router.

stg.import "experts.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @I "feed-forward size of the network that all tokens see"
stg.symbol @X "experts"
stg.symbol @A "experts per token"

!stream = !stg.tensor<[B, S, D], bf16>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>

stg.block @dense_and_experts_layer(%x: !stream) -> !stream {
  %n = stg.call @norm(%x) {name = "ffn_norm"} : (!stream) -> !stream
  %f = stg.call @gated_feed_forward(%n) {F = I, prefix = "dense_"} : (!stream) -> !stream
  %fn = stg.call @norm(%f) {name = "dense_output_norm"} : (!stream) -> !stream
  %r = stg.call @norm(%x) {name = "router_norm"} : (!stream) -> !stream
  %w, %choice = stg.call @route(%r) : (!stream) -> (!weights, !choices)
  %table = stg.param "expert_scales" : !stg.tensor<[X, 1], bf16>
  %l = stg.embedding %table, %choice <"chosen_scales"> : !stg.tensor<[X, 1], bf16>, !choices
  %s = stg.rearrange "bsa()->bsa" %l : !stg.tensor<[B, S, A, 1], bf16> -> !stg.tensor<[B, S, A], bf16>
  %c = stg.cast %s <"chosen_scales_cast"> : !stg.tensor<[B, S, A], bf16> -> !weights
  %ws = stg.mul %w, %c <"scaled_weights"> : !weights, !weights
  %en = stg.call @norm(%x) {name = "experts_norm"} : (!stream) -> !stream
  %e = stg.call @chosen_experts(%en, %ws, %choice) : (!stream, !weights, !choices) -> !stream
  %eo = stg.call @norm(%e) {name = "experts_output_norm"} : (!stream) -> !stream
  %sum = stg.add %fn, %eo <"dense_and_experts"> : !stream, !stream
  %o = stg.call @norm(%sum) {name = "ffn_output_norm"} : (!stream) -> !stream
  %y = stg.add %x, %o <"ffn_residual"> : !stream, !stream
  stg.return %y : !stream
}
