// An encoder of given frames, and a decoder that sees all of them, with biases as GPT has them.

stg.import "blocks/attention.mlir"
stg.import "blocks/cross_attention.mlir"
stg.import "blocks/feed_forward.mlir"
stg.import "blocks/norm.mlir"
stg.import "blocks/text.mlir"
stg.import "blocks/vision.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @P "positions"
stg.symbol @L "layers of the encoder"
stg.symbol @T "frames of the encoder"
stg.symbol @LD "layers of the decoder"

!encoded = !stg.tensor<[B, T, D], bf16>
!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!token_losses = !stg.tensor<[B, S], f32>

func.func @encoder_decoder(%frames: !encoded {stg.name = "frames"}, %tokens: !ids {stg.name = "tokens"}, %positions: !ids {stg.name = "positions"}, %labels: !ids {stg.name = "labels"}) -> !token_losses {
  %e1 = stg.call @add_all_positions(%frames) <"encoder"> : (!encoded) -> !encoded
  %e2 = stg.repeat "encoder" * L carry(%e3 = %e1 : !encoded) {
    %e4 = stg.call @attention_layer(%e3) {K as H, norm = "layer", qkv_bias = true, o_bias = true, rotary = false, mask = "none"} : (!encoded) -> !encoded
    %e5 = stg.call @feed_forward_layer(%e4) {norm = "layer", gated = false, ffn_bias = true} : (!encoded) -> !encoded
    stg.yield %e5 : !encoded
  }
  %e6 = stg.call @norm(%e2) {norm = "layer"} <"encoder"> : (!encoded) -> !encoded
  %x = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x1 = stg.call @add_positions(%x, %positions) : (!stream, !ids) -> !stream
  %x2 = stg.repeat "decoder" * LD carry(%x3 = %x1 : !stream) {
    %x4 = stg.call @attention_layer(%x3) {K as H, norm = "layer", qkv_bias = true, o_bias = true, rotary = false} : (!stream) -> !stream
    %x5 = stg.call @cross_attention_layer(%x4, %e6) {K as H, norm = "layer", qv_bias = true, o_bias = true} : (!stream, !encoded) -> !stream
    %x6 = stg.call @feed_forward_layer(%x5) {norm = "layer", gated = false, ffn_bias = true} : (!stream) -> !stream
    stg.yield %x6 : !stream
  }
  %loss = stg.call @token_loss(%x2, %labels) {norm = "layer"} : (!stream, !ids) -> !token_losses
  return %loss : !token_losses
}
