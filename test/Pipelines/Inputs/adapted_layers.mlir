// Layers of a decoder and a norm; what it gives is the loss.

stg.import "blocks/attention.mlir"
stg.import "blocks/feed_forward.mlir"
stg.import "blocks/norm.mlir"

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @K
stg.symbol @E
stg.symbol @F
stg.symbol @L

!stream = !stg.tensor<[B, S, D], bf16>

func.func @decoder(%inputs: !stream {stg.name = "inputs"}) -> !stream {
  %x = stg.repeat "layers" * L carry(%h = %inputs : !stream) {
    %a = stg.call @attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %y = stg.call @norm(%x) : (!stream) -> !stream
  return %y : !stream
}
