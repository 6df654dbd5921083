// GPT: LayerNorm before attention and before a two-matrix feed-forward network, learned
// positions, biases everywhere but in the head.
//
// `@gpt` reads the same table for tokens and for the head (tied, as in GPT-2, GPT-3 and
// Megatron-LM). Query, key and value are one projection. The positions of the tokens are
// an input of the step, like the tokens.

stg.import "blocks/attention.mlir"
stg.import "blocks/feed_forward.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E = D/H "head size"
stg.symbol @F = 4*D "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @P "positions"
stg.symbol @L "layers"

stg.option @dropout : bool = false "of what layers add to the residual stream"

stg.config @"gpt2-1.5b" "GPT-2 1.5B" {D = 1600, H = 25, V = 50257, P = 1024, L = 48, S = 1024}
stg.config @"gpt3-175b" "GPT-3 175B" {D = 12288, H = 96, V = 50257, P = 2048, L = 96, S = 2048}
stg.config @"megatron-22b" "Megatron-LM 22B" {D = 6144, H = 64, V = 51200, P = 2048, L = 48, S = 2048}
stg.config @"megatron-530b" "Megatron-Turing NLG 530B" {D = 20480, H = 128, V = 51200, P = 2048, L = 105, S = 2048}
stg.config @"megatron-1t" "Megatron-LM 1T" {D = 25600, H = 160, V = 51200, P = 2048, L = 128, S = 2048}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @gpt(%tokens: !ids {stg.name = "tokens"}, %positions: !ids {stg.name = "positions"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %t = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %e = stg.call @add_positions(%t, %positions) : (!stream, !ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @attention_layer(%h) {K as H, norm = "layer", qkv_bias = true, o_bias = true, rotary = false} : (!stream) -> !stream
    %f = stg.call @feed_forward_layer(%a) {norm = "layer", gated = false, ffn_bias = true} : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) {norm = "layer", tied = true} : (!stream, !ids) -> !loss
  return %loss : !loss
}
