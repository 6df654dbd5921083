// Experts of the tokens of images, and others of those of the text behind them: each token goes
// through some of its own, and all go through a shared one (ERNIE 4.5 with images).

stg.import "experts.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @F "feed-forward size of an expert of the text"
stg.symbol @FI "feed-forward size of an expert of images"
stg.symbol @G = F "feed-forward size of the shared expert"
stg.symbol @IM = 1 "images per sequence"
stg.symbol @IT "tokens of an image"

!stream = !stg.tensor<[B, S, D], bf16>
!image = !stg.tensor<[B, S = IM*IT, D], bf16>
!text = !stg.tensor<[B, S = S - IM*IT, D], bf16>

stg.block @modality_experts_layer(%x: !stream) -> !stream {
  stg.option @shared_expert : bool = false "a feed-forward network that all tokens see"
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %i, %t = stg.split dim 1 ordered %n : !stream -> !image, !text
  %ei = stg.call @experts(%i) {F = FI, shared_expert = false} <"image"> : (!image) -> !image
  %et = stg.call @experts(%t) {shared_expert = false} <"text"> : (!text) -> !text
  %e = stg.concat dim 1 ordered %ei, %et <"experts_joined"> : !image, !text -> !stream
  %y = stg.call @with_shared_expert(%n, %e) : (!stream, !stream) -> !stream
  %z = stg.call @after(%x, %y) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %z : !stream
}
