// Attention with grouped key/value heads. Query, key and value are one projection, as in
// Megatron-LM. A call with `{K as H}` has as many key/value heads as query heads.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @R = E "rotated elements of a head"
stg.symbol @W = S "keys that a query sees at most, or tokens of a chunk"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!head = !stg.tensor<[E], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!heads = !stg.tensor<[B, S, H + 2*K, E], bf16>

// The heads of queries, keys and values.
stg.block @heads(%x: !stream) -> (!queries, !keys, !keys) {
  stg.option @qkv_bias : bool = false "biases of queries, keys and values"
  %w = stg.param "qkv_proj" : !stg.tensor<[D, H + 2*K, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, H + 2*K, E], bf16>
  %qkv = stg.if @qkv_bias -> !heads {
    %b = stg.param "qkv_bias" : !stg.tensor<[H + 2*K, E], bf16>
    %y = stg.bias_add %p, %b : !heads, !stg.tensor<[H + 2*K, E], bf16>
    stg.yield %y : !heads
  } else {
    stg.yield %p : !heads
  }
  %q, %k, %v = stg.split dim 2 %qkv : !heads -> !queries, !keys, !keys
  stg.return %q, %k, %v : !queries, !keys, !keys
}

// What each query sees.
stg.block @attend(%q: !queries, %k: !keys, %v: !keys) -> !queries {
  stg.option @mask : "causal" | "none" = "causal" "which keys a query sees"
  stg.option @span : "full" | "window" | "chunk" = "full" "how far it sees: all, W keys, or a chunk of W"
  %a = stg.if @span = "full" -> !queries {
    %y, %lse = stg.attention causal %q, %k, %v {stg.options = {mask = "mask"}} : !queries, !keys, !keys
    stg.yield %y : !queries
  } else {
    %b = stg.if @span = "window" -> !queries {
      %y, %lse = stg.attention causal %q, %k, %v {stg.options = {mask = "mask"}, window = #sym.expr<W>} : !queries, !keys, !keys
      stg.yield %y : !queries
    } else {
      %y, %lse = stg.attention causal %q, %k, %v {stg.options = {mask = "mask"}, chunk = #sym.expr<W>} : !queries, !keys, !keys
      stg.yield %y : !queries
    }
    stg.yield %b : !queries
  }
  stg.return %a : !queries
}

stg.block @attention(%x: !stream) -> !stream {
  stg.option @qk_norm : bool = false "RMSNorm of each query and key head"
  stg.option @qk_norm_all : bool = false "one RMSNorm of all query heads, one of all key heads"
  stg.option @rotary : bool = true "rotary positions"
  stg.option @partial_rotary : bool = false "of the first R elements of each head"
  stg.option @o_bias : bool = false "bias of the output"
  %q, %k, %v = stg.call @heads(%x) : (!stream) -> (!queries, !keys, !keys)
  %qn, %kn = stg.if @qk_norm -> !queries, !keys {
    %wq = stg.param "q_norm" : !head
    %nq, %rq = stg.rms_norm %q, %wq : !queries, !head
    %wk = stg.param "k_norm" : !head
    %nk, %rk = stg.rms_norm %k, %wk : !keys, !head
    stg.yield %nq, %nk : !queries, !keys
  } else {
    %aq, %ak = stg.if @qk_norm_all -> !queries, !keys {
      %wq = stg.param "q_norm" : !stg.tensor<[H, E], bf16>
      %nq, %rq = stg.rms_norm %q, %wq : !queries, !stg.tensor<[H, E], bf16>
      %wk = stg.param "k_norm" : !stg.tensor<[K, E], bf16>
      %nk, %rk = stg.rms_norm %k, %wk : !keys, !stg.tensor<[K, E], bf16>
      stg.yield %nq, %nk : !queries, !keys
    } else {
      stg.yield %q, %k : !queries, !keys
    }
    stg.yield %aq, %ak : !queries, !keys
  }
  %qr, %kr = stg.if @rotary -> !queries, !keys {
    %rq, %rk = stg.if @partial_rotary -> !queries, !keys {
      %pq = stg.rope %qn {rotated = #sym.expr<R>} <"rope_q"> : !queries
      %pk = stg.rope %kn {rotated = #sym.expr<R>} <"rope_k"> : !keys
      stg.yield %pq, %pk : !queries, !keys
    } else {
      %pq = stg.rope %qn <"rope_q"> : !queries
      %pk = stg.rope %kn <"rope_k"> : !keys
      stg.yield %pq, %pk : !queries, !keys
    }
    stg.yield %rq, %rk : !queries, !keys
  } else {
    stg.yield %qn, %kn : !queries, !keys
  }
  %a = stg.call @attend(%qr, %kr, %v) : (!queries, !keys, !keys) -> !queries
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !queries, !stg.tensor<[H, E, D], bf16>
  %out = stg.if @o_bias -> !stream {
    %b = stg.param "o_bias" : !vector
    %y = stg.bias_add %o, %b : !stream, !vector
    stg.yield %y : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %out : !stream
}

// With its normalization and the residual stream.
stg.block @attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
