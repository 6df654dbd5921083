// Multi-head latent attention (DeepSeek-V2): keys and values of all heads are made of one
// vector of each token, the latent, and queries of another one or of the hidden state. A
// rotary key of its own is the same for all heads; positions may be left out of it. Nothing is absorbed: keys and values of
// all heads are there, as in training.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @QL = D "size of the queries' latent"
stg.symbol @KL "size of the keys' and values' latent"
stg.symbol @EN "head size of queries and keys without positions"
stg.symbol @ER "rotary head size"
stg.symbol @EV "head size of values"
stg.symbol @HI "heads that select keys"
stg.symbol @EI "size of a head that selects keys"
stg.symbol @KT "keys that a query sees at most"

!stream = !stg.tensor<[B, S, D], bf16>
!query_latent = !stg.tensor<[B, S, QL], bf16>
!queries = !stg.tensor<[B, S, H, EN + ER], bf16>
!rotary = !stg.tensor<[B, S, ER], bf16>
!latent = !stg.tensor<[B, S, KL], bf16>
!values = !stg.tensor<[B, S, H, EV], bf16>
!selection = !stg.tensor<[B, S, _ = KT], i32>

stg.block @latent_of_queries(%x: !stream) -> !query_latent {
  stg.option @latent_bias : bool = false "biases of what makes latents, and of the output"
  %wa = stg.param "q_a_proj" : !stg.tensor<[D, QL], bf16>
  %p = stg.einsum "bsd,dr->bsr" %x, %wa : !stream, !stg.tensor<[D, QL], bf16>
  %a = stg.if @latent_bias -> !query_latent {
    %b = stg.param "q_a_bias" : !stg.tensor<[QL], bf16>
    %y = stg.bias_add %p, %b : !query_latent, !stg.tensor<[QL], bf16>
    stg.yield %y : !query_latent
  } else {
    stg.yield %p : !query_latent
  }
  %wn = stg.param "q_a_norm" : !stg.tensor<[QL], bf16>
  %n, %rstd = stg.rms_norm %a, %wn : !query_latent, !stg.tensor<[QL], bf16>
  stg.return %n : !query_latent
}

stg.block @expand_queries(%n: !query_latent) -> !queries {
  %wb = stg.param "q_b_proj" : !stg.tensor<[QL, H, EN + ER], bf16>
  stg.option @latent_scaled : bool = false "queries and the latent of keys times constants"
  %p = stg.einsum "bsr,rhe->bshe" %n, %wb : !query_latent, !stg.tensor<[QL, H, EN + ER], bf16>
  %y = stg.if @latent_scaled -> !queries {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !queries
    %s = stg.mul %p, %c <"q_scale"> : !queries, !queries
    stg.yield %s : !queries
  } else {
    stg.yield %p : !queries
  }
  stg.return %y : !queries
}

stg.block @rotate_queries(%q: !queries) -> !queries {
  stg.option @rotary : bool = true "rotary positions"
  stg.option @query_scaled : bool = false "queries times a constant of their position"
  %r = stg.if @rotary -> !queries {
    %y = stg.rope %q {rotated = #sym.expr<ER>} <"rope_q"> : !queries
    stg.yield %y : !queries
  } else {
    stg.yield %q : !queries
  }
  %s = stg.if @query_scaled -> !queries {
    // No trace has the values of constants.
    %c = stg.splat 1 : !queries
    %y = stg.mul %r, %c <"query_scale"> : !queries, !queries
    stg.yield %y : !queries
  } else {
    stg.yield %r : !queries
  }
  stg.return %s : !queries
}

stg.block @latent_queries(%x: !stream) -> !queries {
  stg.option @query_latent : bool = true "queries are made of a latent, too"
  %q = stg.if @query_latent -> !queries {
    %n = stg.call @latent_of_queries(%x) : (!stream) -> !query_latent
    %y = stg.call @expand_queries(%n) : (!query_latent) -> !queries
    stg.yield %y : !queries
  } else {
    %w = stg.param "q_proj" : !stg.tensor<[D, H, EN + ER], bf16>
    %y = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, H, EN + ER], bf16>
    stg.yield %y : !queries
  }
  %r = stg.call @rotate_queries(%q) : (!queries) -> !queries
  stg.return %r : !queries
}

stg.block @latent_keys(%x: !stream) -> (!queries, !values) {
  stg.option @latent_scaled : bool = false "queries and the latent of keys times constants"
  stg.option @rotary : bool = true "rotary positions"
  stg.option @latent_bias : bool = false "biases of what makes latents, and of the output"
  %wa = stg.param "kv_a_proj" : !stg.tensor<[D, KL + ER], bf16>
  %u = stg.einsum "bsd,dr->bsr" %x, %wa : !stream, !stg.tensor<[D, KL + ER], bf16>
  %a = stg.if @latent_bias -> !stg.tensor<[B, S, KL + ER], bf16> {
    %b = stg.param "kv_a_bias" : !stg.tensor<[KL + ER], bf16>
    %y = stg.bias_add %u, %b : !stg.tensor<[B, S, KL + ER], bf16>, !stg.tensor<[KL + ER], bf16>
    stg.yield %y : !stg.tensor<[B, S, KL + ER], bf16>
  } else {
    stg.yield %u : !stg.tensor<[B, S, KL + ER], bf16>
  }
  %c, %p = stg.split dim 2 %a : !stg.tensor<[B, S, KL + ER], bf16> -> !latent, !rotary
  %wn = stg.param "kv_a_norm" : !stg.tensor<[KL], bf16>
  %normed, %rstd = stg.rms_norm %c, %wn : !latent, !stg.tensor<[KL], bf16>
  %n = stg.if @latent_scaled -> !latent {
    %d = stg.splat 1 : !latent
    %s = stg.mul %normed, %d <"kv_scale"> : !latent, !latent
    stg.yield %s : !latent
  } else {
    stg.yield %normed : !latent
  }
  %wb = stg.param "kv_b_proj" : !stg.tensor<[KL, H, EN + EV], bf16>
  %kv = stg.einsum "bsr,rhe->bshe" %n, %wb : !latent, !stg.tensor<[KL, H, EN + EV], bf16>
  %k, %v = stg.split dim 3 %kv : !stg.tensor<[B, S, H, EN + EV], bf16> -> !stg.tensor<[B, S, H, EN], bf16>, !values
  %r = stg.if @rotary -> !rotary {
    %y = stg.rope %p <"rope_k"> : !rotary
    stg.yield %y : !rotary
  } else {
    stg.yield %p : !rotary
  }
  %h = stg.broadcast dim 2 %r <"rotary_keys"> : !rotary -> !stg.tensor<[B, S, H, ER], bf16>
  %keys = stg.concat dim 3 %k, %h : !stg.tensor<[B, S, H, EN], bf16>, !stg.tensor<[B, S, H, ER], bf16> -> !queries
  stg.return %keys, %v : !queries, !values
}

// The keys that each query sees, which a small attention of its own selects (DeepSeek-V3.2). What it
// gives are numbers, so nothing trains its parameters.
stg.block @latent_selection(%x: !stream, %n: !query_latent) -> !selection {
  %wq = stg.param "index_q_proj" {frozen} : !stg.tensor<[QL, HI, EI], bf16>
  %q = stg.einsum "bsr,rhe->bshe" %n, %wq : !query_latent, !stg.tensor<[QL, HI, EI], bf16>
  %rq = stg.rope %q {rotated = #sym.expr<ER>} <"index_rope_q"> : !stg.tensor<[B, S, HI, EI], bf16>
  %wk = stg.param "index_k_proj" {frozen} : !stg.tensor<[D, EI], bf16>
  %k = stg.einsum "bsd,de->bse" %x, %wk : !stream, !stg.tensor<[D, EI], bf16>
  %wn = stg.param "index_k_norm.weight" {frozen} : !stg.tensor<[EI], bf16>
  %bn = stg.param "index_k_norm.bias" {frozen} : !stg.tensor<[EI], bf16>
  %nk, %mean, %rstd = stg.layer_norm %k, %wn, %bn <"index_k_norm"> : !stg.tensor<[B, S, EI], bf16>, !stg.tensor<[EI], bf16>, !stg.tensor<[EI], bf16>
  %rk = stg.rope %nk {rotated = #sym.expr<ER>} <"index_rope_k"> : !stg.tensor<[B, S, EI], bf16>
  %ww = stg.param "index_weights" {frozen} : !stg.tensor<[D, HI], bf16>
  %w = stg.einsum "bsd,dh->bsh" %x, %ww : !stream, !stg.tensor<[D, HI], bf16>
  %s = stg.select_keys KT %rq, %rk, %w <"index"> : !stg.tensor<[B, S, HI, EI], bf16>, !stg.tensor<[B, S, EI], bf16>, !stg.tensor<[B, S, HI], bf16>
  stg.return %s : !selection
}

stg.block @latent_attention(%x: !stream) -> !stream {
  stg.option @selects_keys : bool = false "each query sees KT keys at most, which are selected"
  stg.option @latent_bias : bool = false "biases of what makes latents, and of the output"
  %a = stg.if @selects_keys -> !values {
    %n = stg.call @latent_of_queries(%x) : (!stream) -> !query_latent
    %p = stg.call @expand_queries(%n) : (!query_latent) -> !queries
    %q = stg.call @rotate_queries(%p) : (!queries) -> !queries
    %k, %v = stg.call @latent_keys(%x) : (!stream) -> (!queries, !values)
    %s = stg.call @latent_selection(%x, %n) : (!stream, !query_latent) -> !selection
    %y, %lse = stg.attention causal %q, %k, %v, %s : !queries, !queries, !values, !selection
    stg.yield %y : !values
  } else {
    %q = stg.call @latent_queries(%x) : (!stream) -> !queries
    %k, %v = stg.call @latent_keys(%x) : (!stream) -> (!queries, !values)
    %y, %lse = stg.attention causal %q, %k, %v : !queries, !queries, !values
    stg.yield %y : !values
  }
  %wo = stg.param "o_proj" : !stg.tensor<[H, EV, D], bf16>
  %p = stg.einsum "bshe,hed->bsd" %a, %wo : !values, !stg.tensor<[H, EV, D], bf16>
  %o = stg.if @latent_bias -> !stream {
    %b = stg.param "o_bias" : !stg.tensor<[D], bf16>
    %y = stg.bias_add %p, %b : !stream, !stg.tensor<[D], bf16>
    stg.yield %y : !stream
  } else {
    stg.yield %p : !stream
  }
  stg.return %o : !stream
}

// With its normalization and the residual stream.
stg.block @latent_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @latent_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// The same with a gate for each element of values, which is one projection with the queries: of
// their latent as it is, beside what it is normalized (A.X K2).
stg.block @gated_latent_attention_layer(%x: !stream) -> !stream {
  %r = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %wa = stg.param "q_a_proj" : !stg.tensor<[D, QL], bf16>
  %a = stg.einsum "bsd,dr->bsr" %r, %wa : !stream, !stg.tensor<[D, QL], bf16>
  %wn = stg.param "q_a_norm" : !stg.tensor<[QL], bf16>
  %n, %rstd = stg.rms_norm %a, %wn : !query_latent, !stg.tensor<[QL], bf16>
  %j = stg.concat dim 2 ordered %n, %a <"both_latents"> : !query_latent, !query_latent -> !stg.tensor<[B, S, 2*QL], bf16>
  %wb = stg.param "q_gate_proj" : !stg.tensor<[2*QL, H, EN + ER + EV], bf16>
  %p = stg.einsum "bsr,rhe->bshe" %j, %wb : !stg.tensor<[B, S, 2*QL], bf16>, !stg.tensor<[2*QL, H, EN + ER + EV], bf16>
  %pq, %pg = stg.split dim 3 ordered %p <"queries_and_gates"> : !stg.tensor<[B, S, H, EN + ER + EV], bf16> -> !queries, !values
  %q = stg.call @rotate_queries(%pq) : (!queries) -> !queries
  %k, %v = stg.call @latent_keys(%r) : (!stream) -> (!queries, !values)
  %s = stg.call @latent_selection(%r, %n) : (!stream, !query_latent) -> !selection
  %y, %lse = stg.attention causal %q, %k, %v, %s : !queries, !queries, !values, !selection
  %g = stg.activation sigmoid %pg <"output_gate"> : !values
  %m = stg.mul %y, %g <"gated_output"> : !values, !values
  %wo = stg.param "o_proj" : !stg.tensor<[H, EV, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %m, %wo : !values, !stg.tensor<[H, EV, D], bf16>
  %z = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %z : !stream
}
