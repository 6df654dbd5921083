// Layers of Mamba-2 and a norm; what it gives is the loss.

stg.import "blocks/mamba2.mlir"
stg.import "blocks/norm.mlir"

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @MH
stg.symbol @MP
stg.symbol @MG
stg.symbol @MN
stg.symbol @CW
stg.symbol @MQ
stg.symbol @L

!stream = !stg.tensor<[B, S, D], bf16>

func.func @mixers(%inputs: !stream {stg.name = "inputs"}) -> !stream {
  %x = stg.repeat "layers" * L carry(%h = %inputs : !stream) {
    %m = stg.call @mamba2_layer(%h) {mixer_groups = true} : (!stream) -> !stream
    stg.yield %m : !stream
  }
  %y = stg.call @norm(%x) : (!stream) -> !stream
  return %y : !stream
}
