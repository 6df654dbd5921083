// Llama 2, 3 and 3.1: one description, different symbol values.
//
// RMSNorm before attention and before a SwiGLU feed-forward network, rotary
// positions, grouped key/value heads, untied head, no biases. Query, key and value
// are one projection, gate and up another, as in Megatron-LM; or each is one, as in
// torchtitan. The program is the forward pass of a training step: it gives the
// cross-entropy of each token.

stg.import "blocks/attention.mlir"
stg.import "blocks/feed_forward.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"
stg.option @separate_projections : bool = false "query, key and value are products of their own; gate and up, too"

stg.config @"llama2-7b" "Llama 2 7B" {D = 4096, H = 32, K = 32, E = 128, F = 11008, V = 32000, L = 32, S = 4096}
stg.config @"llama2-70b" "Llama 2 70B" {D = 8192, H = 64, K = 8, E = 128, F = 28672, V = 32000, L = 80, S = 4096}
stg.config @"llama3-8b" "Llama 3 8B" {D = 4096, H = 32, K = 8, E = 128, F = 14336, V = 128256, L = 32, S = 8192}
stg.config @"llama3-70b" "Llama 3 70B" {D = 8192, H = 64, K = 8, E = 128, F = 28672, V = 128256, L = 80, S = 8192}
stg.config @"llama3.1-405b" "Llama 3.1 405B" {D = 16384, H = 128, K = 8, E = 128, F = 53248, V = 128256, L = 126, S = 8192}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @llama(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
