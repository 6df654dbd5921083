// Multi-head latent attention (DeepSeek-V2): keys and values of all heads are made of one
// vector of each token, the latent, and queries of another one or of the hidden state. A
// rotary key of its own is the same for all heads. Nothing is absorbed: keys and values of
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

!stream = !stg.tensor<[B, S, D], bf16>
!queries = !stg.tensor<[B, S, H, EN + ER], bf16>
!rotary = !stg.tensor<[B, S, ER], bf16>
!latent = !stg.tensor<[B, S, KL], bf16>
!values = !stg.tensor<[B, S, H, EV], bf16>

stg.block @latent_queries(%x: !stream) -> !queries {
  stg.option @query_latent : bool = true "queries are made of a latent, too"
  %q = stg.if @query_latent -> !queries {
    %wa = stg.param "q_a_proj" : !stg.tensor<[D, QL], bf16>
    %a = stg.einsum "bsd,dr->bsr" %x, %wa : !stream, !stg.tensor<[D, QL], bf16>
    %wn = stg.param "q_a_norm" : !stg.tensor<[QL], bf16>
    %n, %rstd = stg.rms_norm %a, %wn : !stg.tensor<[B, S, QL], bf16>, !stg.tensor<[QL], bf16>
    %wb = stg.param "q_b_proj" : !stg.tensor<[QL, H, EN + ER], bf16>
    %y = stg.einsum "bsr,rhe->bshe" %n, %wb : !stg.tensor<[B, S, QL], bf16>, !stg.tensor<[QL, H, EN + ER], bf16>
    stg.yield %y : !queries
  } else {
    %w = stg.param "q_proj" : !stg.tensor<[D, H, EN + ER], bf16>
    %y = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, H, EN + ER], bf16>
    stg.yield %y : !queries
  }
  %r = stg.rope %q {rotated = #sym.expr<ER>} <"rope_q"> : !queries
  stg.return %r : !queries
}

stg.block @latent_keys(%x: !stream) -> (!queries, !values) {
  %wa = stg.param "kv_a_proj" : !stg.tensor<[D, KL + ER], bf16>
  %a = stg.einsum "bsd,dr->bsr" %x, %wa : !stream, !stg.tensor<[D, KL + ER], bf16>
  %c, %p = stg.split dim 2 %a : !stg.tensor<[B, S, KL + ER], bf16> -> !latent, !rotary
  %wn = stg.param "kv_a_norm" : !stg.tensor<[KL], bf16>
  %n, %rstd = stg.rms_norm %c, %wn : !latent, !stg.tensor<[KL], bf16>
  %wb = stg.param "kv_b_proj" : !stg.tensor<[KL, H, EN + EV], bf16>
  %kv = stg.einsum "bsr,rhe->bshe" %n, %wb : !latent, !stg.tensor<[KL, H, EN + EV], bf16>
  %k, %v = stg.split dim 3 %kv : !stg.tensor<[B, S, H, EN + EV], bf16> -> !stg.tensor<[B, S, H, EN], bf16>, !values
  %r = stg.rope %p <"rope_k"> : !rotary
  %h = stg.broadcast dim 2 %r <"rotary_keys"> : !rotary -> !stg.tensor<[B, S, H, ER], bf16>
  %keys = stg.concat dim 3 %k, %h : !stg.tensor<[B, S, H, EN], bf16>, !stg.tensor<[B, S, H, ER], bf16> -> !queries
  stg.return %keys, %v : !queries, !values
}

stg.block @latent_attention(%x: !stream) -> !stream {
  %q = stg.call @latent_queries(%x) : (!stream) -> !queries
  %k, %v = stg.call @latent_keys(%x) : (!stream) -> (!queries, !values)
  %a, %lse = stg.attention causal %q, %k, %v : !queries, !queries, !values
  %wo = stg.param "o_proj" : !stg.tensor<[H, EV, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !values, !stg.tensor<[H, EV, D], bf16>
  stg.return %o : !stream
}

// With its normalization and the residual stream.
stg.block @latent_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @latent_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
