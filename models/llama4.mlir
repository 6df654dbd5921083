// Llama 4 Scout's text model: in each layer every token goes through one of X experts and
// through a shared expert, a feed-forward network that all tokens see.
//
// Sequences are of up to 8192 tokens, within which the model's chunked attention is causal
// attention. Left out are the norms of queries and keys (they have no parameters), the
// scaling of an expert's input by the router, which is at its output here, and that each
// fourth layer has no rotary embedding; `llama-4-scout` is a configuration that has all of
// this. A capacity factor is as in models/mixtral.mlir.

stg.import "blocks/attention.mlir"
stg.import "blocks/experts.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size of an expert, also of the shared one"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"
stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

stg.config @"llama4-scout" "Llama 4 Scout" {D = 5120, H = 40, K = 8, E = 128, F = 8192, V = 202048, L = 48, X = 16, A = 1, S = 8192}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @llama4(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @experts_layer(%a) {shared_expert = true} : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
