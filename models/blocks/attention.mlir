// Attention with grouped key/value heads. Query, key and value are one projection, as in
// Megatron-LM, unless `separate_projections` is set. A call with `{K as H}` has as many
// key/value heads as query heads.

stg.import "learned_residual.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @EP = E "head size with zeros behind its elements"
stg.symbol @EV "head size of values, where it is one of their own"
stg.symbol @R = E "rotated elements of a head"
stg.symbol @NR "tokens behind the first one that are not rotated either"
stg.symbol @W = S "keys that a query sees at most, tokens of a chunk, or of a prefix"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!head = !stg.tensor<[E], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!values = !stg.tensor<[B, S, K, EV], bf16>
!attended = !stg.tensor<[B, S, H, EV], bf16>
!heads = !stg.tensor<[B, S, H + 2*K, E], bf16>
!gated_heads = !stg.tensor<[B, S, 2*H + 2*K, E], bf16>
!sinks = !stg.tensor<[H], bf16>

// The heads of queries, keys and values.
stg.block @fused_heads(%x: !stream) -> (!queries, !keys, !keys) {
  stg.option @qkv_bias : bool = false "biases of queries, keys and values"
  stg.option @qv_bias : bool = false "biases of queries and values, not of keys"
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
  %qb, %vb = stg.if @qv_bias -> !queries, !keys {
    %bq = stg.param "q_bias" : !stg.tensor<[H, E], bf16>
    %yq = stg.bias_add %q, %bq : !queries, !stg.tensor<[H, E], bf16>
    %bv = stg.param "v_bias" : !stg.tensor<[K, E], bf16>
    %yv = stg.bias_add %v, %bv : !keys, !stg.tensor<[K, E], bf16>
    stg.yield %yq, %yv : !queries, !keys
  } else {
    stg.yield %q, %v : !queries, !keys
  }
  stg.return %qb, %k, %vb : !queries, !keys, !keys
}

// The same, with a gate for each element of the output.
stg.block @heads_with_gate(%x: !stream) -> (!queries, !keys, !keys, !queries) {
  stg.option @qkv_bias : bool = false "biases of queries, keys and values"
  %w = stg.param "qkv_proj" : !stg.tensor<[D, 2*H + 2*K, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, 2*H + 2*K, E], bf16>
  %qkv = stg.if @qkv_bias -> !gated_heads {
    %b = stg.param "qkv_bias" : !stg.tensor<[2*H + 2*K, E], bf16>
    %y = stg.bias_add %p, %b : !gated_heads, !stg.tensor<[2*H + 2*K, E], bf16>
    stg.yield %y : !gated_heads
  } else {
    stg.yield %p : !gated_heads
  }
  %q, %g, %k, %v = stg.split dim 2 %qkv : !gated_heads -> !queries, !queries, !keys, !keys
  stg.return %q, %k, %v, %g : !queries, !keys, !keys, !queries
}

// A projection of its own: the `name` of one with biases, or without.
stg.block @key_heads(%x: !stream) -> !keys {
  stg.option @qkv_bias : bool = false "biases of queries, keys and values"
  stg.option @name : string = "k" "what it is, in the names of its parameters"
  %w = stg.param "{name}_proj" : !stg.tensor<[D, K, E], bf16>
  %p = stg.einsum "bsd,dke->bske" %x, %w : !stream, !stg.tensor<[D, K, E], bf16>
  %y = stg.if @qkv_bias -> !keys {
    %b = stg.param "{name}_bias" : !stg.tensor<[K, E], bf16>
    %z = stg.bias_add %p, %b : !keys, !stg.tensor<[K, E], bf16>
    stg.yield %z : !keys
  } else {
    stg.yield %p : !keys
  }
  stg.return %y : !keys
}

// One projection for keys and values, which are the same.
stg.block @fused_queries_and_keys(%x: !stream) -> (!queries, !keys) {
  stg.option @qkv_bias : bool = false "biases of queries, keys and values"
  %w = stg.param "qk_proj" : !stg.tensor<[D, H + K, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, H + K, E], bf16>
  %qk = stg.if @qkv_bias -> !stg.tensor<[B, S, H + K, E], bf16> {
    %b = stg.param "qk_bias" : !stg.tensor<[H + K, E], bf16>
    %y = stg.bias_add %p, %b : !stg.tensor<[B, S, H + K, E], bf16>, !stg.tensor<[H + K, E], bf16>
    stg.yield %y : !stg.tensor<[B, S, H + K, E], bf16>
  } else {
    stg.yield %p : !stg.tensor<[B, S, H + K, E], bf16>
  }
  %q, %k = stg.split dim 2 %qk : !stg.tensor<[B, S, H + K, E], bf16> -> !queries, !keys
  stg.return %q, %k : !queries, !keys
}

stg.block @heads(%x: !stream) -> (!queries, !keys, !keys) {
  stg.option @separate_projections : bool = false "query, key and value are products of their own; gate and up, too"
  stg.option @keys_are_values : bool = false "values are the projection of keys, before it is normalized and rotated"
  %q, %k, %v = stg.if @separate_projections -> !queries, !keys, !keys {
    %qs = stg.call @key_heads(%x) {name = "q", K as H} : (!stream) -> !queries
    %ks = stg.call @key_heads(%x) {name = "k"} : (!stream) -> !keys
    %vs = stg.if @keys_are_values -> !keys {
      stg.yield %ks : !keys
    } else {
      %vo = stg.call @key_heads(%x) {name = "v"} : (!stream) -> !keys
      stg.yield %vo : !keys
    }
    stg.yield %qs, %ks, %vs : !queries, !keys, !keys
  } else {
    %qf, %kf, %vf = stg.if @keys_are_values -> !queries, !keys, !keys {
      %qk, %kk = stg.call @fused_queries_and_keys(%x) : (!stream) -> (!queries, !keys)
      stg.yield %qk, %kk, %kk : !queries, !keys, !keys
    } else {
      %qo, %ko, %vo = stg.call @fused_heads(%x) : (!stream) -> (!queries, !keys, !keys)
      stg.yield %qo, %ko, %vo : !queries, !keys, !keys
    }
    stg.yield %qf, %kf, %vf : !queries, !keys, !keys
  }
  stg.return %q, %k, %v : !queries, !keys, !keys
}

// What each query sees.
stg.block @attend(%q: !queries, %k: !keys, %v: !values) -> !attended {
  stg.option @mask : "causal" | "none" = "causal" "which keys a query sees"
  stg.option @span : "full" | "window" | "chunk" | "prefix" = "full" "how far it sees: all, W keys, a chunk of W, or the first W tokens each other"
  stg.option @score_cap : bool = false "scores are capped by a tanh"
  stg.option @alibi : bool = false "scores fall with the distance of query and key"
  %a = stg.if @span = "full" -> !attended {
    %y, %lse = stg.attention causal %q, %k, %v {alibi, capped, stg.options = {mask = "mask", capped = "score_cap", alibi = "alibi"}} : !queries, !keys, !values
    stg.yield %y : !attended
  } else {
    %b = stg.if @span = "window" -> !attended {
      %y, %lse = stg.attention causal %q, %k, %v {alibi, capped, stg.options = {mask = "mask", capped = "score_cap", alibi = "alibi"}, window = #sym.expr<W>} : !queries, !keys, !values
      stg.yield %y : !attended
    } else {
      %c = stg.if @span = "chunk" -> !attended {
        %y, %lse = stg.attention causal %q, %k, %v {alibi, capped, stg.options = {mask = "mask", capped = "score_cap", alibi = "alibi"}, chunk = #sym.expr<W>} : !queries, !keys, !values
        stg.yield %y : !attended
      } else {
        %y, %lse = stg.attention causal %q, %k, %v {alibi, capped, stg.options = {capped = "score_cap", alibi = "alibi"}, prefix = #sym.expr<W>} : !queries, !keys, !values
        stg.yield %y : !attended
      }
      stg.yield %c : !attended
    }
    stg.yield %b : !attended
  }
  stg.return %a : !attended
}

// The same, with a score of each head that no key has: a sink.
stg.block @attend_with_sinks(%q: !queries, %k: !keys, %v: !values) -> !attended {
  stg.option @sinks_frozen : bool = false "nothing trains the sinks"
  stg.option @mask : "causal" | "none" = "causal" "which keys a query sees"
  stg.option @span : "full" | "window" | "chunk" | "prefix" = "full" "how far it sees: all, W keys, a chunk of W, or the first W tokens each other"
  stg.option @score_cap : bool = false "scores are capped by a tanh"
  stg.option @alibi : bool = false "scores fall with the distance of query and key"
  %s = stg.param "sinks" {frozen, stg.options = {frozen = "sinks_frozen"}} : !sinks
  %a = stg.if @span = "full" -> !attended {
    %y, %lse = stg.attention causal %q, %k, %v, %s {alibi, capped, stg.options = {mask = "mask", capped = "score_cap", alibi = "alibi"}} : !queries, !keys, !values, !sinks
    stg.yield %y : !attended
  } else {
    %b = stg.if @span = "window" -> !attended {
      %y, %lse = stg.attention causal %q, %k, %v, %s {alibi, capped, stg.options = {mask = "mask", capped = "score_cap", alibi = "alibi"}, window = #sym.expr<W>} : !queries, !keys, !values, !sinks
      stg.yield %y : !attended
    } else {
      %c = stg.if @span = "chunk" -> !attended {
        %y, %lse = stg.attention causal %q, %k, %v, %s {alibi, capped, stg.options = {mask = "mask", capped = "score_cap", alibi = "alibi"}, chunk = #sym.expr<W>} : !queries, !keys, !values, !sinks
        stg.yield %y : !attended
      } else {
        %y, %lse = stg.attention causal %q, %k, %v, %s {alibi, capped, stg.options = {capped = "score_cap", alibi = "alibi"}, prefix = #sym.expr<W>} : !queries, !keys, !values, !sinks
        stg.yield %y : !attended
      }
      stg.yield %c : !attended
    }
    stg.yield %b : !attended
  }
  stg.return %a : !attended
}

// Rotary positions, of all tokens or of those behind the first one and NR more.
stg.block @rotate(%h: !queries) -> !queries {
  stg.option @name : string "of the rotation"
  stg.option @rotary_behind : bool = false "of the tokens behind the first one and NR more"
  stg.option @partial_rotary : bool = false "of the first R elements of each head"
  %y = stg.if @rotary_behind -> !queries {
    %first, %rest = stg.split dim 1 ordered %h : !queries -> !stg.tensor<[B, S = NR + 1, H, E], bf16>, !stg.tensor<[B, S = S - NR - 1, H, E], bf16>
    %r = stg.rope %rest <"{name}"> : !stg.tensor<[B, S = S - NR - 1, H, E], bf16>
    %c = stg.concat dim 1 ordered %first, %r <"{name}_all"> : !stg.tensor<[B, S = NR + 1, H, E], bf16>, !stg.tensor<[B, S = S - NR - 1, H, E], bf16> -> !queries
    stg.yield %c : !queries
  } else {
    %p = stg.if @partial_rotary -> !queries {
      %r = stg.rope %h {rotated = #sym.expr<R>} <"{name}"> : !queries
      stg.yield %r : !queries
    } else {
      %r = stg.rope %h <"{name}"> : !queries
      stg.yield %r : !queries
    }
    stg.yield %p : !queries
  }
  stg.return %y : !queries
}

// All that is done to queries, keys and values before scores.
stg.block @prepare_heads(%q: !queries, %k: !keys, %v: !values) -> (!queries, !keys, !values) {
  stg.option @qk_norm : bool = false "RMSNorm of each query and key head"
  stg.option @qk_norm_layer : bool = false "LayerNorm without bias of each query and key head, with weights of its own"
  stg.option @qk_norm_layer_bias : bool = false "biases of that, of its own"
  stg.option @qk_norm_biased : bool = false "LayerNorm of each query and key head"
  stg.option @qk_norm_bare : bool = false "RMSNorm without weights of each query and key head"
  stg.option @qk_norm_rotated : bool = false "RMSNorm without weights of each query and key head, behind the rotation"
  stg.option @qk_norm_late : bool = false "RMSNorm of each query and key head, behind the rotation"
  stg.option @qk_norm_all : bool = false "one RMSNorm of all query heads, one of all key heads"
  stg.option @rotary : bool = true "rotary positions"
  stg.option @query_scaled : bool = false "queries times a constant of their position"
  stg.option @key_scaled : bool = false "keys times a constant"
  stg.option @value_scaled : bool = false "values times a constant"
  stg.option @value_norm : bool = false "RMSNorm without weights of each value head"
  stg.option @qkv_clamped : bool = false "queries, keys and values are between two limits"
  %kc = stg.if @key_scaled -> !keys {
    // No trace has the values of constants.
    %c = stg.splat 1 : !keys
    %y = stg.mul %k, %c <"key_scale"> : !keys, !keys
    stg.yield %y : !keys
  } else {
    stg.yield %k : !keys
  }
  %vs = stg.if @value_scaled -> !values {
    %c = stg.splat 1 : !values
    %y = stg.mul %v, %c <"value_scale"> : !values, !values
    stg.yield %y : !values
  } else {
    stg.yield %v : !values
  }
  %qn, %kn = stg.if @qk_norm -> !queries, !keys {
    %wq = stg.param "q_norm" : !head
    %nq, %rq = stg.rms_norm %q, %wq : !queries, !head
    %wk = stg.param "k_norm" : !head
    %nk, %rk = stg.rms_norm %kc, %wk : !keys, !head
    stg.yield %nq, %nk : !queries, !keys
  } else {
    %aq, %ak = stg.if @qk_norm_all -> !queries, !keys {
      %wq = stg.param "q_norm" : !stg.tensor<[H, E], bf16>
      %nq, %rq = stg.rms_norm %q, %wq : !queries, !stg.tensor<[H, E], bf16>
      %wk = stg.param "k_norm" : !stg.tensor<[K, E], bf16>
      %nk, %rk = stg.rms_norm %kc, %wk : !keys, !stg.tensor<[K, E], bf16>
      stg.yield %nq, %nk : !queries, !keys
    } else {
      %lq, %lk = stg.if @qk_norm_layer -> !queries, !keys {
        %mq, %meanq, %rq = stg.layer_norm %q <"q_norm"> : !queries
        %wq = stg.param "q_norm" : !stg.tensor<[H, E], bf16>
        %sq = stg.einsum "bshe,he->bshe" %mq, %wq <"q_norm_scale"> : !queries, !stg.tensor<[H, E], bf16>
        %mk, %meank, %rk = stg.layer_norm %kc <"k_norm"> : !keys
        %wk = stg.param "k_norm" : !stg.tensor<[K, E], bf16>
        %sk = stg.einsum "bshe,he->bshe" %mk, %wk <"k_norm_scale"> : !keys, !stg.tensor<[K, E], bf16>
        %nq, %nk = stg.if @qk_norm_layer_bias -> !queries, !keys {
          %bq = stg.param "q_norm_bias" : !stg.tensor<[H, E], bf16>
          %yq = stg.bias_add %sq, %bq : !queries, !stg.tensor<[H, E], bf16>
          %bk = stg.param "k_norm_bias" : !stg.tensor<[K, E], bf16>
          %yk = stg.bias_add %sk, %bk : !keys, !stg.tensor<[K, E], bf16>
          stg.yield %yq, %yk : !queries, !keys
        } else {
          stg.yield %sq, %sk : !queries, !keys
        }
        stg.yield %nq, %nk : !queries, !keys
      } else {
        %hq, %hk = stg.if @qk_norm_biased -> !queries, !keys {
          %wq = stg.param "q_norm.weight" : !head
          %bq = stg.param "q_norm.bias" : !head
          %nq, %meanq, %rq = stg.layer_norm %q, %wq, %bq <"q_norm"> : !queries, !head, !head
          %wk = stg.param "k_norm.weight" : !head
          %bk = stg.param "k_norm.bias" : !head
          %nk, %meank, %rk = stg.layer_norm %kc, %wk, %bk <"k_norm"> : !keys, !head, !head
          stg.yield %nq, %nk : !queries, !keys
        } else {
          %uq, %uk = stg.if @qk_norm_bare -> !queries, !keys {
            %nq, %rq = stg.rms_norm %q <"q_norm"> : !queries
            %nk, %rk = stg.rms_norm %kc <"k_norm"> : !keys
            stg.yield %nq, %nk : !queries, !keys
          } else {
            stg.yield %q, %kc : !queries, !keys
          }
          stg.yield %uq, %uk : !queries, !keys
        }
        stg.yield %hq, %hk : !queries, !keys
      }
      stg.yield %lq, %lk : !queries, !keys
    }
    stg.yield %aq, %ak : !queries, !keys
  }
  %qm, %km, %vm = stg.if @qkv_clamped -> !queries, !keys, !values {
    %cq = stg.clamp %qn <"clamp_q"> : !queries
    %ck = stg.clamp %kn <"clamp_k"> : !keys
    %cv = stg.clamp %vs <"clamp_v"> : !values
    stg.yield %cq, %ck, %cv : !queries, !keys, !values
  } else {
    stg.yield %qn, %kn, %vs : !queries, !keys, !values
  }
  %qr, %kr = stg.if @rotary -> !queries, !keys {
    %rq = stg.call @rotate(%qm) {name = "rope_q"} : (!queries) -> !queries
    %rk = stg.call @rotate(%km) {name = "rope_k"} : (!keys) -> !keys
    stg.yield %rq, %rk : !queries, !keys
  } else {
    stg.yield %qm, %km : !queries, !keys
  }
  %ql, %kl = stg.if @qk_norm_rotated -> !queries, !keys {
    %nq, %rq = stg.rms_norm %qr <"q_norm"> : !queries
    %nk, %rk = stg.rms_norm %kr <"k_norm"> : !keys
    stg.yield %nq, %nk : !queries, !keys
  } else {
    %lateq, %latek = stg.if @qk_norm_late -> !queries, !keys {
      %wq = stg.param "q_norm" : !head
      %nq, %rq = stg.rms_norm %qr, %wq : !queries, !head
      %wk = stg.param "k_norm" : !head
      %nk, %rk = stg.rms_norm %kr, %wk : !keys, !head
      stg.yield %nq, %nk : !queries, !keys
    } else {
      stg.yield %qr, %kr : !queries, !keys
    }
    stg.yield %lateq, %latek : !queries, !keys
  }
  %qs = stg.if @query_scaled -> !queries {
    // No trace has the values of constants.
    %c = stg.splat 1 : !queries
    %y = stg.mul %ql, %c <"query_scale"> : !queries, !queries
    stg.yield %y : !queries
  } else {
    stg.yield %ql : !queries
  }
  %vn = stg.if @value_norm -> !values {
    %nv, %rv = stg.rms_norm %vm <"v_norm"> : !values
    stg.yield %nv : !values
  } else {
    stg.yield %vm : !values
  }
  stg.return %qs, %kl, %vn : !queries, !keys, !values
}

// The same of heads with zeros behind their elements, which kernels may expect.
stg.block @attend_padded(%q: !queries, %k: !keys, %v: !values) -> !attended {
  %qp = stg.pad dim 3 %q {from = #sym.expr<0>} <"q_padded"> : !queries -> !stg.tensor<[B, S, H, EP], bf16>
  %kp = stg.pad dim 3 %k {from = #sym.expr<0>} <"k_padded"> : !keys -> !stg.tensor<[B, S, K, EP], bf16>
  %vp = stg.pad dim 3 %v {from = #sym.expr<0>} <"v_padded"> : !values -> !stg.tensor<[B, S, K, EP], bf16>
  %a = stg.call @attend(%qp, %kp, %vp) : (!stg.tensor<[B, S, H, EP], bf16>, !stg.tensor<[B, S, K, EP], bf16>, !stg.tensor<[B, S, K, EP], bf16>) -> !stg.tensor<[B, S, H, EP], bf16>
  %y = stg.slice dim 3 %a {from = #sym.expr<0>} <"without_padding"> : !stg.tensor<[B, S, H, EP], bf16> -> !attended
  stg.return %y : !attended
}

// From the heads to what each query sees.
stg.block @attend_heads(%q: !queries, %k: !keys, %v: !values) -> !attended {
  stg.option @sinks : bool = false "a score of each head that no key has"
  stg.option @heads_padded : bool = false "zeros behind the elements of each head, up to EP"
  %qp, %kp, %vp = stg.call @prepare_heads(%q, %k, %v) : (!queries, !keys, !values) -> (!queries, !keys, !values)
  %a = stg.if @sinks -> !attended {
    %y = stg.call @attend_with_sinks(%qp, %kp, %vp) : (!queries, !keys, !values) -> !attended
    stg.yield %y : !attended
  } else {
    %z = stg.if @heads_padded -> !attended {
      %y = stg.call @attend_padded(%qp, %kp, %vp) : (!queries, !keys, !values) -> !attended
      stg.yield %y : !attended
    } else {
      %y = stg.call @attend(%qp, %kp, %vp) : (!queries, !keys, !values) -> !attended
      stg.yield %y : !attended
    }
    stg.yield %z : !attended
  }
  stg.return %a : !attended
}

// The output of all heads together.
stg.block @attention_output(%x: !attended) -> !stream {
  stg.option @inner_norm : bool = false "RMSNorm of what the last matrix of attention, or of a feed-forward network, reads"
  stg.option @inner_layer_norm : bool = false "LayerNorm of what the last matrix of attention, or of a feed-forward network, reads"
  stg.option @o_bias : bool = false "bias of the output"
  %an = stg.if @inner_norm -> !attended {
    %w = stg.param "attention_inner_norm" : !stg.tensor<[H, EV], bf16>
    %y, %rstd = stg.rms_norm %x, %w : !attended, !stg.tensor<[H, EV], bf16>
    stg.yield %y : !attended
  } else {
    %l = stg.if @inner_layer_norm -> !attended {
      %j = stg.rearrange "bshe->bs(he)" %x <"joined_heads"> : !attended -> !stg.tensor<[B, S, H*EV], bf16>
      %w = stg.param "attention_inner_norm.weight" : !stg.tensor<[H*EV], bf16>
      %b = stg.param "attention_inner_norm.bias" : !stg.tensor<[H*EV], bf16>
      %n, %mean, %rstd = stg.layer_norm %j, %w, %b <"attention_inner_norm"> : !stg.tensor<[B, S, H*EV], bf16>, !stg.tensor<[H*EV], bf16>, !stg.tensor<[H*EV], bf16>
      %y = stg.rearrange "bs(he)->bshe" %n <"normalized_heads"> : !stg.tensor<[B, S, H*EV], bf16> -> !attended
      stg.yield %y : !attended
    } else {
      stg.yield %x : !attended
    }
    stg.yield %l : !attended
  }
  %wo = stg.param "o_proj" : !stg.tensor<[H, EV, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %an, %wo : !attended, !stg.tensor<[H, EV, D], bf16>
  %out = stg.if @o_bias -> !stream {
    %b = stg.param "o_bias" : !vector
    %y = stg.bias_add %o, %b : !stream, !vector
    stg.yield %y : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %out : !stream
}

// A gate for each head of what each query sees, made of what the layer reads.
stg.block @gate_heads(%x: !stream, %a: !attended) -> !attended {
  stg.option @head_gate : bool = false "a gate for each head of the output"
  stg.option @gate_activation : "sigmoid" | "softplus" = "sigmoid" "of the output's gates"
  %y = stg.if @head_gate -> !attended {
    %w = stg.param "head_gate_proj" : !stg.tensor<[D, H], bf16>
    %p = stg.einsum "bsd,dh->bsh" %x, %w : !stream, !stg.tensor<[D, H], bf16>
    %g = stg.activation sigmoid %p {stg.options = {function = "gate_activation"}} <"head_gate"> : !stg.tensor<[B, S, H], bf16>
    %m = stg.mul_along %a, %g {dims = array<i64: 0, 1, 2>} <"gated_heads"> : !attended, !stg.tensor<[B, S, H], bf16>
    stg.yield %m : !attended
  } else {
    stg.yield %a : !attended
  }
  stg.return %y : !attended
}

stg.block @attention(%x: !stream) -> !stream {
  stg.option @output_gate : bool = false "a gate for each element of the output"
  stg.option @gate_activation : "sigmoid" | "softplus" = "sigmoid" "of the output's gates"
  stg.option @value_size : bool = false "heads of values have a size of their own"
  %out = stg.if @value_size -> !stream {
    %q = stg.call @key_heads(%x) {name = "q", K as H} : (!stream) -> !queries
    %k = stg.call @key_heads(%x) {name = "k"} : (!stream) -> !keys
    %v = stg.call @key_heads(%x) {name = "v", E as EV} : (!stream) -> !values
    %a = stg.call @attend_heads(%q, %k, %v) : (!queries, !keys, !values) -> !attended
    %ag = stg.call @gate_heads(%x, %a) : (!stream, !attended) -> !attended
    %o = stg.call @attention_output(%ag) : (!attended) -> !stream
    stg.yield %o : !stream
  } else {
    // Without a gate nothing reads the fourth.
    %q, %k, %v, %g = stg.if @output_gate -> !queries, !keys, !keys, !queries {
      %gq, %gk, %gv, %gg = stg.call @heads_with_gate(%x) : (!stream) -> (!queries, !keys, !keys, !queries)
      stg.yield %gq, %gk, %gv, %gg : !queries, !keys, !keys, !queries
    } else {
      %pq, %pk, %pv = stg.call @heads(%x) : (!stream) -> (!queries, !keys, !keys)
      stg.yield %pq, %pk, %pv, %pq : !queries, !keys, !keys, !queries
    }
    %a = stg.call @attend_heads(%q, %k, %v) : (!queries, !keys, !keys) -> !queries
    %ag = stg.if @output_gate -> !queries {
      %s = stg.activation sigmoid %g {stg.options = {function = "gate_activation"}} <"output_gate"> : !queries
      %y = stg.mul %a, %s <"gated_output"> : !queries, !queries
      stg.yield %y : !queries
    } else {
      stg.yield %a : !queries
    }
    %ah = stg.call @gate_heads(%x, %ag) : (!stream, !queries) -> !queries
    %o = stg.call @attention_output(%ah) : (!queries) -> !stream
    stg.yield %o : !stream
  }
  stg.return %out : !stream
}

// With its normalization and the residual stream.
stg.block @attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  %z = stg.call @behind_attention(%y, %n) : (!stream, !stream) -> !stream
  stg.return %z : !stream
}
