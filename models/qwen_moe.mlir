// Qwen 3 with mixtures of experts: RMSNorm of each query and key head, weights of a token's
// experts that sum up to one.

stg.import "blocks/attention.mlir"
stg.import "blocks/experts.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E = D/H "head size"
stg.symbol @F "feed-forward size of an expert"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"

stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

stg.option @qk_norm : bool = true "RMSNorm of each query and key head"
stg.option @normalized : bool = true "weights of a token are divided by their sum"

stg.config @"qwen3-30b-a3b" "Qwen 3 30B-A3B" {D = 2048, H = 32, K = 4, E = 128, F = 768, V = 151936, L = 48, X = 128, A = 8, S = 4096}
stg.config @"qwen3-235b-a22b" "Qwen 3 235B-A22B" {D = 4096, H = 64, K = 4, E = 128, F = 1536, V = 151936, L = 94, X = 128, A = 8, S = 4096}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @qwen_moe(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @experts_layer(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
