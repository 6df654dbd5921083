// Layers by a pattern: two dense ones, then periods of three local layers and a global one,
// then one more local layer: 2 + 4*P + 1.

stg.import "blocks/attention.mlir"
stg.import "blocks/experts.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B
stg.symbol @S = 16
stg.symbol @D = 64
stg.symbol @H = 8
stg.symbol @K = 4
stg.symbol @E = D/H
stg.symbol @F = 128
stg.symbol @W = 32 "feed-forward size of an expert"
stg.symbol @X = 4
stg.symbol @A = 2
stg.symbol @V = 256
stg.symbol @P = 3 "periods"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>

stg.block @dense(%x: !stream) -> !stream {
  %a = stg.call @attention_layer(%x) : (!stream) -> !stream
  %f = stg.call @feed_forward_layer(%a) : (!stream) -> !stream
  stg.return %f : !stream
}
stg.block @sparse(%x: !stream) -> !stream {
  %a = stg.call @attention_layer(%x) : (!stream) -> !stream
  %f = stg.call @experts_layer(%a) {F = W} : (!stream) -> !stream
  stg.return %f : !stream
}

func.func @patterns(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %first = stg.repeat "dense" * 2 carry(%h = %e : !stream) {
    %y = stg.call @dense(%h) : (!stream) -> !stream
    stg.yield %y : !stream
  }
  %periods = stg.repeat "periods" * P carry(%h = %first : !stream) {
    %local = stg.repeat "local" * 3 carry(%i = %h : !stream) {
      %y = stg.call @sparse(%i) : (!stream) -> !stream
      stg.yield %y : !stream
    }
    %global = stg.repeat "global" * 1 carry(%i = %local : !stream) {
      %y = stg.call @sparse(%i) {qk_norm = true} : (!stream) -> !stream
      stg.yield %y : !stream
    }
    stg.yield %global : !stream
  }
  %last = stg.repeat "last" * 1 carry(%h = %periods : !stream) {
    %y = stg.call @sparse(%h) : (!stream) -> !stream
    stg.yield %y : !stream
  }
  %loss = stg.call @token_loss(%last, %labels) {tied = true} : (!stream, !ids) -> !stg.tensor<[B, S], f32>
  return %loss : !stg.tensor<[B, S], f32>
}
