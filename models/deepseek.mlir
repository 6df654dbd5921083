// DeepSeek-V2, V3 and Kimi K2: latent attention, some dense layers first, then mixtures of
// experts with a shared one. The layers for the prediction of further tokens are left out.

stg.import "blocks/latent_attention.mlir"
stg.import "blocks/experts.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @QL = D "size of the queries' latent"
stg.symbol @KL = 512 "size of the keys' and values' latent"
stg.symbol @EN = 128 "head size of queries and keys without positions"
stg.symbol @ER = 64 "rotary head size"
stg.symbol @EV = 128 "head size of values"
stg.symbol @DF "feed-forward size of a dense layer"
stg.symbol @F "feed-forward size of an expert"
stg.symbol @G = F "feed-forward size of the shared expert"
stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @NG = 1 "groups of experts"
stg.symbol @NL = 1 "groups of which a token uses experts"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"
stg.symbol @LD "dense layers, the first ones"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

stg.option @query_latent : bool = true "queries are made of a latent, too"
stg.option @router : "softmax" | "sigmoid" | "chosen" = "softmax" "scores of the experts"
stg.option @router_correction : bool = false "a correction of what is compared"
stg.option @router_groups : bool = false "of the experts of NL of NG groups"
stg.option @normalized : bool = false "weights of a token are divided by their sum"

stg.config @"deepseek-v2-lite" "DeepSeek-V2 Lite" {D = 2048, H = 16, DF = 10944, F = 1408, G = 2816, X = 64, A = 6, V = 102400, L = 27, LD = 1, S = 4096, query_latent = false}
stg.config @"deepseek-v2" "DeepSeek-V2" {D = 5120, H = 128, QL = 1536, DF = 12288, F = 1536, G = 3072, X = 160, A = 6, V = 102400, L = 60, LD = 1, S = 4096, router_groups = true, NG = 8, NL = 3}
stg.config @"deepseek-v3" "DeepSeek-V3" {D = 7168, H = 128, QL = 1536, DF = 18432, F = 2048, X = 256, A = 8, V = 129280, L = 61, LD = 3, S = 4096, router = "sigmoid", router_correction = true, router_groups = true, normalized = true, NG = 8, NL = 4}
stg.config @"kimi-k2" "Kimi K2" {D = 7168, H = 64, QL = 1536, DF = 18432, F = 2048, X = 384, A = 8, V = 163840, L = 61, LD = 1, S = 4096, router = "sigmoid", router_correction = true, normalized = true}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @deepseek(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %d = stg.repeat "dense" * LD carry(%h = %e : !stream) {
    %a = stg.call @latent_attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @feed_forward_layer(%a) {F = DF} : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %x = stg.repeat "layers" * L - LD carry(%h = %d : !stream) {
    %a = stg.call @latent_attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @experts_layer(%a) {shared_expert = true} : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
