// Gemma 3: periods of layers that see a window of W tokens, and one that sees all, then some
// more of the first kind. Norms before and after each part of a layer, and of each query and
// key head; GeGLU; one table for tokens and for the head. The scale of the embeddings is
// left out.

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
stg.symbol @W "tokens of a window"
stg.symbol @N = 5 "layers with a window in a period"
stg.symbol @L "periods"
stg.symbol @T = 1 "layers with a window behind them"

stg.option @qk_norm : bool = true "RMSNorm of each query and key head"
stg.option @placement : "input" | "output" | "both" | "sum" = "both" "what is normalized"
stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the gate"
stg.option @glu : string = "geglu" "name of the gated activation"
stg.option @tied : bool = true "the head is the table of the tokens"
stg.option @logit_cap : bool = false "logits are capped by a tanh"
stg.option @rest : bool = true "there are layers behind the periods"

stg.config @"gemma-2-9b" "Gemma 2 9B" {D = 3584, H = 16, K = 8, E = 256, F = 14336, V = 256000, W = 4096, N = 1, L = 21, S = 8192, qk_norm = false, logit_cap = true, rest = false}
stg.config @"gemma-3-1b" "Gemma 3 1B" {D = 1152, H = 4, K = 1, E = 256, F = 6912, V = 262144, W = 512, L = 4, T = 2, S = 8192}
stg.config @"gemma-3-27b" "Gemma 3 27B" {D = 5376, H = 32, K = 16, E = 128, F = 21504, V = 262208, W = 1024, L = 10, T = 2, S = 8192}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

stg.block @local_layer(%x: !stream) -> !stream {
  %a = stg.call @attention_layer(%x) {span = "window"} : (!stream) -> !stream
  %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
  stg.return %f : !stream
}

func.func @gemma(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %p = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %l = stg.repeat "local" * N carry(%i = %h : !stream) {
      %y = stg.call @local_layer(%i) : (!stream) -> !stream
      stg.yield %y : !stream
    }
    %g = stg.repeat "global" * 1 carry(%i = %l : !stream) {
      %a = stg.call @attention_layer(%i) : (!stream) -> !stream
      %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
      stg.yield %f : !stream
    }
    stg.yield %g : !stream
  }
  %x = stg.if @rest -> !stream {
    %r = stg.repeat "rest" * T carry(%h = %p : !stream) {
      %y = stg.call @local_layer(%h) : (!stream) -> !stream
      stg.yield %y : !stream
    }
    stg.yield %r : !stream
  } else {
    stg.yield %p : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
