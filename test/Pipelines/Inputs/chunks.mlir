// A decoder whose queries see keys of their own chunk only.

stg.import "blocks/attention.mlir"
stg.import "blocks/feed_forward.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @K
stg.symbol @E
stg.symbol @F
stg.symbol @V
stg.symbol @L
stg.symbol @W "tokens of a chunk"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @chunks(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @attention_layer(%h) {span = "chunk"} : (!stream) -> !stream
    %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !stg.tensor<[B, S], f32>
  return %loss : !stg.tensor<[B, S], f32>
}
