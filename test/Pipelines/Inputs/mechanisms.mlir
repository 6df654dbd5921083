// A decoder whose layers have a window, chunks or a prefix, or gated linear attention.

stg.import "blocks/attention.mlir"
stg.import "blocks/feed_forward.mlir"
stg.import "blocks/gated_delta.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @K = H
stg.symbol @E
stg.symbol @F
stg.symbol @V = 1
stg.symbol @L
stg.symbol @W = 1
stg.symbol @LK = 1
stg.symbol @LV = 1
stg.symbol @EK = 1
stg.symbol @EL = 1
stg.symbol @MQ = 1

stg.option @linear : bool = false "linear attention"
stg.option @span : "full" | "window" | "chunk" | "prefix" = "full"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>

stg.block @mixer(%x: !stream) -> !stream {
  %y = stg.if @linear -> !stream {
    %a = stg.call @linear_attention_layer(%x) : (!stream) -> !stream
    stg.yield %a : !stream
  } else {
    %a = stg.call @attention_layer(%x) : (!stream) -> !stream
    stg.yield %a : !stream
  }
  stg.return %y : !stream
}

func.func @decoder(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @mixer(%h) : (!stream) -> !stream
    %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !stg.tensor<[B, S], f32>
  return %loss : !stg.tensor<[B, S], f32>
}
