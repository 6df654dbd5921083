// Attention over the keys and values of another layer, as in Gemma 3n and Gemma 4: a layer hands on
// those that it has made, and later ones have queries only. Whatever is kept of the keys for later
// steps of inference is kept once.

stg.import "attention.mlir"
stg.import "learned_residual.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"

!stream = !stg.tensor<[B, S, D], bf16>
!head = !stg.tensor<[E], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>

// Attention whose keys and values other layers read, too.
stg.block @attention_layer_with_keys(%x: !stream) -> (!stream, !keys, !keys) {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) : (!stream) -> (!queries, !keys, !keys)
  %qp, %kp, %vp = stg.call @prepare_heads(%q, %k, %v) : (!queries, !keys, !keys) -> (!queries, !keys, !keys)
  %a = stg.call @attend(%qp, %kp, %vp) : (!queries, !keys, !keys) -> !queries
  %o = stg.call @attention_output(%a) : (!queries) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  %z = stg.call @behind_attention(%y, %n) : (!stream, !stream) -> !stream
  stg.return %z, %kp, %vp : !stream, !keys, !keys
}

// Attention over keys and values that another layer has made.
stg.block @attention_layer_of_keys(%x: !stream, %k: !keys, %v: !keys) -> !stream {
  stg.option @qk_norm : bool = false "RMSNorm of each query and key head"
  stg.option @rotary : bool = true "rotary positions"
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q = stg.call @key_heads(%n) {name = "q", K as H} : (!stream) -> !queries
  %qn = stg.if @qk_norm -> !queries {
    %w = stg.param "q_norm" : !head
    %y, %rstd = stg.rms_norm %q, %w : !queries, !head
    stg.yield %y : !queries
  } else {
    stg.yield %q : !queries
  }
  %qr = stg.if @rotary -> !queries {
    %y = stg.call @rotate(%qn) {name = "rope_q"} : (!queries) -> !queries
    stg.yield %y : !queries
  } else {
    stg.yield %qn : !queries
  }
  %a = stg.call @attend(%qr, %k, %v) : (!queries, !keys, !keys) -> !queries
  %o = stg.call @attention_output(%a) : (!queries) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  %z = stg.call @behind_attention(%y, %n) : (!stream, !stream) -> !stream
  stg.return %z : !stream
}
