// Qwen 2, 2.5 and 3: Llama's layers with biases of queries, keys and values, or with RMSNorm
// of each query and key head; small ones read one table for tokens and for the head.

stg.import "blocks/attention.mlir"
stg.import "blocks/feed_forward.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E = D/H "head size"
stg.symbol @F "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"

stg.option @qkv_bias : bool = false "biases of queries, keys and values"
stg.option @qk_norm : bool = false "RMSNorm of each query and key head"
stg.option @tied : bool = false "the head is the table of the tokens"

stg.config @"qwen2-0.5b" "Qwen 2 0.5B" {D = 896, H = 14, K = 2, F = 4864, V = 151936, L = 24, S = 4096, qkv_bias = true, tied = true}
stg.config @"qwen2.5-7b" "Qwen 2.5 7B" {D = 3584, H = 28, K = 4, F = 18944, V = 152064, L = 28, S = 4096, qkv_bias = true}
stg.config @"qwen3-8b" "Qwen 3 8B" {D = 4096, H = 32, K = 8, E = 128, F = 12288, V = 151936, L = 36, S = 4096, qk_norm = true}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @qwen(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
