// A layer of two transformer layers whose experts read what the first one's feed-forward network
// reads, and are added at the end of the second one (LongCat-Flash): what experts send goes
// beside the computations of one feed-forward network and one attention.

stg.import "experts.mlir"
stg.import "feed_forward.mlir"
stg.import "latent_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @I "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>

stg.block @shortcut_experts_layer(%x: !stream) -> !stream {
  %a = stg.call @latent_attention_layer(%x) <"first"> : (!stream) -> !stream
  %n = stg.call @before(%a) {part = "ffn"} <"first"> : (!stream) -> !stream
  %e = stg.call @experts(%n) : (!stream) -> !stream
  %f = stg.call @gated_feed_forward(%n) {F = I} <"first"> : (!stream) -> !stream
  %r = stg.call @after(%a, %f) {part = "ffn"} <"first"> : (!stream, !stream) -> !stream
  %b = stg.call @latent_attention_layer(%r) <"second"> : (!stream) -> !stream
  %s = stg.call @feed_forward_layer(%b) {F = I} <"second"> : (!stream) -> !stream
  %y = stg.add %s, %e <"shortcut"> : !stream, !stream
  stg.return %y : !stream
}
