// Attention to the tokens of another sequence, and attention with a bias of its scores by
// relative position: what encoder-decoder models have.

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @T "tokens of the sequence that is attended to"
stg.symbol @D "hidden size"
stg.symbol @DO = D "hidden size of the tokens that are attended to"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @EP = E "head size with zeros behind its elements"
stg.symbol @N "buckets of relative positions"

!stream = !stg.tensor<[B, S, D], bf16>
!other = !stg.tensor<[B, T, DO], bf16>
!vector = !stg.tensor<[D], bf16>
!head = !stg.tensor<[E], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!other_keys = !stg.tensor<[B, T, K, E], bf16>
!scores = !stg.tensor<[H, S, _ = S], bf16>

// Adds a bias to what attention gives, if there is one.
stg.block @output_bias(%x: !stream) -> !stream {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @o_bias : bool = false "bias of the output"
  %y = stg.if @o_bias -> !stream {
    %b = stg.param "{prefix}o_bias" : !vector
    %z = stg.bias_add %x, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %x : !stream
  }
  stg.return %y : !stream
}

// What is added to the scores of all layers of a stack, of one table.
stg.block @relative_bias() -> !scores {
  %t = stg.param "relative_bias" : !stg.tensor<[N, H], bf16>
  %b = stg.relative_bias %t : !stg.tensor<[N, H], bf16> -> !scores
  stg.return %b : !scores
}

// Attention within a sequence with that bias.
stg.block @biased_attention(%x: !stream, %bias: !scores) -> !stream {
  stg.option @mask : "causal" | "none" = "causal" "which keys a query sees"
  %q, %k, %v = stg.call @heads(%x) : (!stream) -> (!queries, !keys, !keys)
  %a, %lse = stg.attention causal %q, %k, %v, %bias {stg.options = {mask = "mask"}} : !queries, !keys, !keys, !scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !queries, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @biased_attention_layer(%x: !stream, %bias: !scores) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @biased_attention(%n, %bias) : (!stream, !scores) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Queries of one sequence, keys and values of another one, which has no mask.
stg.block @cross_attention(%x: !stream, %other: !other) -> !stream {
  stg.option @qkv_bias : bool = false "biases of queries, keys and values"
  stg.option @qv_bias : bool = false "biases of queries and values, not of keys"
  stg.option @score_cap : bool = false "scores are capped by a tanh"
  stg.option @heads_padded : bool = false "zeros behind the elements of each head, up to EP"
  stg.option @cross_qk_norm : bool = false "RMSNorm of each query and key head"
  stg.option @cross_qk_norm_all : bool = false "one RMSNorm of all query heads, one of all key heads"
  %wq = stg.param "cross_q_proj" : !stg.tensor<[D, H, E], bf16>
  %mq = stg.einsum "bsd,dhe->bshe" %x, %wq : !stream, !stg.tensor<[D, H, E], bf16>
  %wkv = stg.param "cross_kv_proj" : !stg.tensor<[DO, 2*K, E], bf16>
  %mkv = stg.einsum "btd,dhe->bthe" %other, %wkv : !other, !stg.tensor<[DO, 2*K, E], bf16>
  %pq, %kv = stg.if @qkv_bias -> !queries, !stg.tensor<[B, T, 2*K, E], bf16> {
    %bq = stg.param "cross_q_bias" : !stg.tensor<[H, E], bf16>
    %yq = stg.bias_add %mq, %bq : !queries, !stg.tensor<[H, E], bf16>
    %bkv = stg.param "cross_kv_bias" : !stg.tensor<[2*K, E], bf16>
    %ykv = stg.bias_add %mkv, %bkv : !stg.tensor<[B, T, 2*K, E], bf16>, !stg.tensor<[2*K, E], bf16>
    stg.yield %yq, %ykv : !queries, !stg.tensor<[B, T, 2*K, E], bf16>
  } else {
    stg.yield %mq, %mkv : !queries, !stg.tensor<[B, T, 2*K, E], bf16>
  }
  %k, %pv = stg.split dim 2 %kv : !stg.tensor<[B, T, 2*K, E], bf16> -> !other_keys, !other_keys
  %q, %v = stg.if @qv_bias -> !queries, !other_keys {
    %bq = stg.param "cross_q_bias" : !stg.tensor<[H, E], bf16>
    %yq = stg.bias_add %pq, %bq : !queries, !stg.tensor<[H, E], bf16>
    %bv = stg.param "cross_v_bias" : !stg.tensor<[K, E], bf16>
    %yv = stg.bias_add %pv, %bv : !other_keys, !stg.tensor<[K, E], bf16>
    stg.yield %yq, %yv : !queries, !other_keys
  } else {
    stg.yield %pq, %pv : !queries, !other_keys
  }
  %qn, %kn = stg.if @cross_qk_norm_all -> !queries, !other_keys {
    %nwq = stg.param "cross_q_norm" : !stg.tensor<[H, E], bf16>
    %nq, %rq = stg.rms_norm %q, %nwq : !queries, !stg.tensor<[H, E], bf16>
    %nwk = stg.param "cross_k_norm" : !stg.tensor<[K, E], bf16>
    %nk, %rk = stg.rms_norm %k, %nwk : !other_keys, !stg.tensor<[K, E], bf16>
    stg.yield %nq, %nk : !queries, !other_keys
  } else {
    %hq, %hk = stg.if @cross_qk_norm -> !queries, !other_keys {
      %nwq = stg.param "cross_q_norm" : !head
      %nq, %rq = stg.rms_norm %q, %nwq : !queries, !head
      %nwk = stg.param "cross_k_norm" : !head
      %nk, %rk = stg.rms_norm %k, %nwk : !other_keys, !head
      stg.yield %nq, %nk : !queries, !other_keys
    } else {
      stg.yield %q, %k : !queries, !other_keys
    }
    stg.yield %hq, %hk : !queries, !other_keys
  }
  %a = stg.if @heads_padded -> !queries {
    %qp = stg.pad dim 3 %qn {from = #sym.expr<0>} <"cross_q_padded"> : !queries -> !stg.tensor<[B, S, H, EP], bf16>
    %kp = stg.pad dim 3 %kn {from = #sym.expr<0>} <"cross_k_padded"> : !other_keys -> !stg.tensor<[B, T, K, EP], bf16>
    %vp = stg.pad dim 3 %v {from = #sym.expr<0>} <"cross_v_padded"> : !other_keys -> !stg.tensor<[B, T, K, EP], bf16>
    %z, %lse = stg.attention none %qp, %kp, %vp {capped, stg.options = {capped = "score_cap"}} <"cross_attention"> : !stg.tensor<[B, S, H, EP], bf16>, !stg.tensor<[B, T, K, EP], bf16>, !stg.tensor<[B, T, K, EP], bf16>
    %s = stg.slice dim 3 %z {from = #sym.expr<0>} <"cross_without_padding"> : !stg.tensor<[B, S, H, EP], bf16> -> !queries
    stg.yield %s : !queries
  } else {
    %s, %lse = stg.attention none %qn, %kn, %v {capped, stg.options = {capped = "score_cap"}} <"cross_attention"> : !queries, !other_keys, !other_keys
    stg.yield %s : !queries
  }
  %wo = stg.param "cross_o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !queries, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) {prefix = "cross_"} : (!stream) -> !stream
  stg.return %y : !stream
}

stg.block @cross_attention_layer(%x: !stream, %other: !other) -> !stream {
  %n = stg.call @before(%x) {part = "cross"} : (!stream) -> !stream
  %a = stg.call @cross_attention(%n, %other) : (!stream, !other) -> !stream
  %y = stg.call @after(%x, %a) {part = "cross"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// The other sequence in the width of this one.
stg.block @project_read(%other: !other) -> !stg.tensor<[B, T, D], bf16> {
  %w = stg.param "read_proj" : !stg.tensor<[DO, D], bf16>
  %p = stg.einsum "bto,od->btd" %other, %w : !other, !stg.tensor<[DO, D], bf16>
  %b = stg.param "read_bias" : !vector
  %y = stg.bias_add %p, %b : !stg.tensor<[B, T, D], bf16>, !vector
  stg.return %y : !stg.tensor<[B, T, D], bf16>
}
