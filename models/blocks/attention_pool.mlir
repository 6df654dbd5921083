// One row of a sequence, by attention of a learned query to its tokens, and a feed-forward network
// behind it.

stg.import "feed_forward.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @NQ = 1 "learned queries"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>
!picked = !stg.tensor<[B, NQ, D], bf16>
!first = !stg.tensor<[B, 1, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!vector = !stg.tensor<[D], bf16>
!query = !stg.tensor<[B, NQ, H, E], bf16>
!keys = !stg.tensor<[B, S, H, E], bf16>

stg.block @attention_pool(%x: !stream) -> !row {
  %p = stg.param "probe" : !stg.tensor<[NQ, D], bf16>
  %all = stg.broadcast dim 0 %p <"probes"> : !stg.tensor<[NQ, D], bf16> -> !picked
  %wq = stg.param "q_proj" : !stg.tensor<[D, H, E], bf16>
  %pq = stg.einsum "bsd,dhe->bshe" %all, %wq : !picked, !stg.tensor<[D, H, E], bf16>
  %bq = stg.param "q_bias" : !stg.tensor<[H, E], bf16>
  %q = stg.bias_add %pq, %bq : !query, !stg.tensor<[H, E], bf16>
  %wkv = stg.param "kv_proj" : !stg.tensor<[D, 2*H, E], bf16>
  %pkv = stg.einsum "bsd,dhe->bshe" %x, %wkv : !stream, !stg.tensor<[D, 2*H, E], bf16>
  %bkv = stg.param "kv_bias" : !stg.tensor<[2*H, E], bf16>
  %kv = stg.bias_add %pkv, %bkv : !stg.tensor<[B, S, 2*H, E], bf16>, !stg.tensor<[2*H, E], bf16>
  %k, %v = stg.split dim 2 %kv : !stg.tensor<[B, S, 2*H, E], bf16> -> !keys, !keys
  %a, %lse = stg.attention none %q, %k, %v <"attention"> : !query, !keys, !keys
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %po = stg.einsum "bshe,hed->bsd" %a, %wo : !query, !stg.tensor<[H, E, D], bf16>
  %bo = stg.param "o_bias" : !vector
  %o = stg.bias_add %po, %bo : !picked, !vector
  %f = stg.call @feed_forward_layer(%o) {S as NQ, norm = "layer", gated = false, ffn_bias = true} : (!picked) -> !picked
  %r = stg.slice dim 1 %f {from = #sym.expr<0>} <"first_row"> : !picked -> !first
  %y = stg.rearrange "b()d->bd" %r <"row"> : !first -> !row
  stg.return %y : !row
}

// A learned row of each head reads the tokens, without a projection of its own and without what follows
// attention in a layer (AIMv2).
stg.block @row_attention_pool(%x: !stream) -> !row {
  stg.option @qkv_bias : bool = false "biases of keys and values"
  %p = stg.param "probe" : !stg.tensor<[NQ, H, E], bf16>
  %q = stg.broadcast dim 0 %p <"probes"> : !stg.tensor<[NQ, H, E], bf16> -> !query
  %w = stg.param "kv_proj" : !stg.tensor<[D, 2*H, E], bf16>
  %m = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, 2*H, E], bf16>
  %kv = stg.if @qkv_bias -> !stg.tensor<[B, S, 2*H, E], bf16> {
    %b = stg.param "kv_bias" : !stg.tensor<[2*H, E], bf16>
    %z = stg.bias_add %m, %b : !stg.tensor<[B, S, 2*H, E], bf16>, !stg.tensor<[2*H, E], bf16>
    stg.yield %z : !stg.tensor<[B, S, 2*H, E], bf16>
  } else {
    stg.yield %m : !stg.tensor<[B, S, 2*H, E], bf16>
  }
  %k, %v = stg.split dim 2 %kv : !stg.tensor<[B, S, 2*H, E], bf16> -> !keys, !keys
  %a, %lse = stg.attention none %q, %k, %v <"attention"> : !query, !keys, !keys
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %po = stg.einsum "bshe,hed->bsd" %a, %wo : !query, !stg.tensor<[H, E, D], bf16>
  %bo = stg.param "o_bias" : !vector
  %o = stg.bias_add %po, %bo : !picked, !vector
  %r = stg.slice dim 1 %o {from = #sym.expr<0>} <"first_row"> : !picked -> !first
  %y = stg.rearrange "b()d->bd" %r <"row"> : !first -> !row
  stg.return %y : !row
}

// A learned query reads normalized tokens, without a matrix behind what attention gives, which is added to
// it, and a feed-forward network is behind that (V-JEPA 2).
stg.block @query_attention_pool(%x: !stream) -> !row {
  %p = stg.param "probe" : !stg.tensor<[NQ, D], bf16>
  %all = stg.broadcast dim 0 %p <"probes"> : !stg.tensor<[NQ, D], bf16> -> !picked
  %wn = stg.param "read_norm.weight" : !vector
  %bn = stg.param "read_norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %x, %wn, %bn <"read_norm"> : !stream, !vector, !vector
  %wq = stg.param "q_proj" : !stg.tensor<[D, H, E], bf16>
  %pq = stg.einsum "bsd,dhe->bshe" %all, %wq : !picked, !stg.tensor<[D, H, E], bf16>
  %bq = stg.param "q_bias" : !stg.tensor<[H, E], bf16>
  %q = stg.bias_add %pq, %bq : !query, !stg.tensor<[H, E], bf16>
  %wkv = stg.param "kv_proj" : !stg.tensor<[D, 2*H, E], bf16>
  %pkv = stg.einsum "bsd,dhe->bshe" %n, %wkv : !stream, !stg.tensor<[D, 2*H, E], bf16>
  %bkv = stg.param "kv_bias" : !stg.tensor<[2*H, E], bf16>
  %kv = stg.bias_add %pkv, %bkv : !stg.tensor<[B, S, 2*H, E], bf16>, !stg.tensor<[2*H, E], bf16>
  %k, %v = stg.split dim 2 %kv : !stg.tensor<[B, S, 2*H, E], bf16> -> !keys, !keys
  %a, %lse = stg.attention none %q, %k, %v <"attention"> : !query, !keys, !keys
  %j = stg.rearrange "bshe->bs(he)" %a <"joined_heads"> : !query -> !picked
  %o = stg.add %all, %j <"attention_residual"> : !picked, !picked
  %f = stg.call @feed_forward_layer(%o) {S as NQ, norm = "layer", gated = false, ffn_bias = true} : (!picked) -> !picked
  %r = stg.slice dim 1 %f {from = #sym.expr<0>} <"first_row"> : !picked -> !first
  %y = stg.rearrange "b()d->bd" %r <"row"> : !first -> !row
  stg.return %y : !row
}

// The same as the first, executed, but read by nobody.
stg.block @unread_attention_pool(%x: !stream) -> !stream {
  %r = stg.call @attention_pool(%x) : (!stream) -> !row
  stg.keep %r : !row
  stg.return %x : !stream
}
