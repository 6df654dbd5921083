// Mixtral: a Llama whose feed-forward network is a mixture of experts.
//
// Each token goes through the A experts with the largest router probabilities and
// gets the sum of their outputs, weighted with these probabilities. (The published
// models scale the A weights of a token to a sum of one, 3 operations per weight,
// which is left out.) All experts get equally many tokens and none is dropped. A
// capacity factor CN/CD sizes the experts' buffers otherwise: CN = 5, CD = 4 is 1.25.

stg.import "blocks/attention.mlir"
stg.import "blocks/experts.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size of an expert"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"
stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

stg.config @"mixtral-8x7b" "Mixtral 8x7B" {D = 4096, H = 32, K = 8, E = 128, F = 14336, V = 32000, L = 32, X = 8, A = 2, S = 4096}
stg.config @"mixtral-8x22b" "Mixtral 8x22B" {D = 6144, H = 48, K = 8, E = 128, F = 16384, V = 32768, L = 56, X = 8, A = 2, S = 4096}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @mixtral(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @experts_layer(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
