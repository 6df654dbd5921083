// Attention whose scores what a key's values say of it is added to (Doge).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K = H "key/value heads"
stg.symbol @E = D/H "head size"
stg.symbol @KM = K "scores of a key"

!stream = !stg.tensor<[B, S, D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!said = !stg.tensor<[B, S, KM], bf16>
!of_key = !stg.tensor<[B, KM, S, 1], bf16>
!pairs = !stg.tensor<[B, KM, S, _ = S], bf16>
!scores = !stg.tensor<[B, KM = H, S, _ = S], bf16>

// What the values of a token, of all heads together, say of it: a score of each key/value head, for
// whatever query.
stg.block @scores_of_keys(%v: !keys) -> !scores {
  stg.option @mask_bias : bool = false "bias of what values say"
  %w = stg.param "mask_proj" : !stg.tensor<[K, E, KM], bf16>
  %p = stg.einsum "bske,kem->bsm" %v, %w : !keys, !stg.tensor<[K, E, KM], bf16>
  %y = stg.if @mask_bias -> !said {
    %b = stg.param "mask_bias" : !stg.tensor<[KM], bf16>
    %z = stg.bias_add %p, %b : !said, !stg.tensor<[KM], bf16>
    stg.yield %z : !said
  } else {
    stg.yield %p : !said
  }
  %s = stg.activation softplus %y <"mask_softplus"> : !said
  %a = stg.param "mask_scale" : !stg.tensor<[KM], bf16>
  %m = stg.mul_along %s, %a {dims = array<i64: 2>} <"mask_scaled"> : !said, !stg.tensor<[KM], bf16>
  %e = stg.elementwise exp %m <"mask_exp"> : !said
  %k = stg.rearrange "bsm->bms()" %e <"mask_of_keys"> : !said -> !of_key
  %r = stg.relative_scores %k {of_keys} <"mask_of_pairs"> : !of_key -> !pairs
  %h = stg.replicate dim 1 %r <"mask_of_heads"> : !pairs -> !scores
  stg.return %h : !scores
}

stg.block @dynamic_mask_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) : (!stream) -> (!queries, !keys, !keys)
  %pq, %pk, %pv = stg.call @prepare_heads(%q, %k, %v) : (!queries, !keys, !keys) -> (!queries, !keys, !keys)
  %s = stg.call @scores_of_keys(%pv) : (!keys) -> !scores
  %a, %lse = stg.attention causal %pq, %pk, %pv, %s : !queries, !keys, !keys, !scores
  %o = stg.call @attention_output(%a) : (!queries) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
