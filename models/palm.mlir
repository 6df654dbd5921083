// PaLM: attention and a SwiGLU feed-forward network side by side, both of the same
// normalized input; one key/value head for all query heads; rotary positions; no biases;
// one table for tokens and for the head.
//
// The normalization is an RMSNorm, that of T5X: a scale, neither a mean nor a shift. Query,
// key and value are one projection, gate and up another. In the largest model the query
// heads together are narrower than the hidden size.

stg.import "blocks/parallel.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F = 4*D "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"

stg.config @"palm-8b" "PaLM 8B" {D = 4096, H = 16, K = 1, E = 256, V = 256000, L = 32, S = 2048}
stg.config @"palm-62b" "PaLM 62B" {D = 8192, H = 32, K = 1, E = 256, V = 256000, L = 64, S = 2048}
stg.config @"palm-540b" "PaLM 540B" {D = 18432, H = 48, K = 1, E = 256, V = 256000, L = 118, S = 2048}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @palm(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %y = stg.call @parallel_layer(%h) : (!stream) -> !stream
    stg.yield %y : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) {tied = true} : (!stream, !ids) -> !loss
  return %loss : !loss
}
