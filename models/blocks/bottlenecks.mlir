// Layers that work in a narrower space than the residual stream (MobileBERT): one matrix takes
// what the stream has to attention and to the first sum, one to queries and keys, and one takes
// what several feed-forward networks give back.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @DE "width of the table of tokens"
stg.symbol @DB "width of a layer"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @V "vocabulary"

!ids = !stg.tensor<[B, S], i32>
!mask = !stg.tensor<[B, S], f32>
!loss = !stg.tensor<[B], f32>
!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!inner = !stg.tensor<[B, S, DB], bf16>
!inner_vector = !stg.tensor<[DB], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>
!rows = !stg.tensor<[B, S, D = DE], bf16>
!some_rows = !stg.tensor<[B, S = S - 1, D = DE], bf16>
!trigrams = !stg.tensor<[B, S, D = 3*DE], bf16>
!table = !stg.tensor<[V, D = DE], bf16>
!rest = !stg.tensor<[V, D = D - DE], bf16>
!wide_table = !stg.tensor<[V, D], bf16>
!logits = !stg.tensor<[B, S, V], bf16>

// A number for each element that it is multiplied by and one that is added to it, or LayerNorm.
stg.block @affine(%x: !stream) -> !stream {
  stg.option @name : string = "norm" "what the names of its parameters begin with"
  stg.option @affine_norm : "none" | "layer" = "none" "what is done before: nothing, or LayerNorm"
  %w = stg.param "{name}.weight" : !vector
  %b = stg.param "{name}.bias" : !vector
  %y = stg.if @affine_norm = "layer" -> !stream {
    %n, %mean, %rstd = stg.layer_norm %x, %w, %b <"{name}"> : !stream, !vector, !vector
    stg.yield %n : !stream
  } else {
    %m = stg.mul_along %x, %w {dims = array<i64: 2>} <"{name}_scale"> : !stream, !vector
    %n = stg.bias_add %m, %b <"{name}"> : !stream, !vector
    stg.yield %n : !stream
  }
  stg.return %y : !stream
}

// The rows of a token and of those on both sides of it, joined by one matrix.
stg.block @embed_trigrams(%ids: !ids) -> !stream {
  %table = stg.param "tok_embeddings" : !table
  %e = stg.embedding %table, %ids : !table, !ids
  %later = stg.slice dim 1 %e {from = #sym.expr<1>} <"later_tokens"> : !rows -> !some_rows
  %next = stg.pad dim 1 %later {from = #sym.expr<0>} <"next_tokens"> : !some_rows -> !rows
  %earlier = stg.slice dim 1 %e {from = #sym.expr<0>} <"earlier_tokens"> : !rows -> !some_rows
  %last = stg.pad dim 1 %earlier {from = #sym.expr<1>} <"last_tokens"> : !some_rows -> !rows
  %t = stg.concat dim 2 ordered %next, %e, %last <"trigrams"> : !rows, !rows, !rows -> !trigrams
  %w = stg.param "embedding_proj" : !stg.tensor<[D = 3*DE, D], bf16>
  %p = stg.einsum "bst,td->bsd" %t, %w : !trigrams, !stg.tensor<[D = 3*DE, D], bf16>
  %b = stg.param "embedding_proj_bias" : !vector
  %y = stg.bias_add %p, %b : !stream, !vector
  stg.return %y : !stream
}

// From the stream to the space of a layer.
stg.block @enter(%x: !stream) -> !inner {
  stg.option @name : string = "input" "of the matrix"
  %w = stg.param "{name}_bottleneck" : !stg.tensor<[D, DB], bf16>
  %p = stg.einsum "bsd,dc->bsc" %x, %w : !stream, !stg.tensor<[D, DB], bf16>
  %b = stg.param "{name}_bottleneck_bias" : !inner_vector
  %y = stg.bias_add %p, %b : !inner, !inner_vector
  %n = stg.call @affine(%y) {name = "{name}_bottleneck_norm", D as DB} : (!inner) -> !inner
  stg.return %n : !inner
}

// Queries and keys of a narrow input, and values of the stream.
stg.block @bottleneck_attention(%x: !stream, %q: !inner) -> !inner {
  %wqk = stg.param "qk_proj" : !stg.tensor<[DB, 2*H, E], bf16>
  %pqk = stg.einsum "bsc,che->bshe" %q, %wqk : !inner, !stg.tensor<[DB, 2*H, E], bf16>
  %bqk = stg.param "qk_bias" : !stg.tensor<[2*H, E], bf16>
  %qk = stg.bias_add %pqk, %bqk : !stg.tensor<[B, S, 2*H, E], bf16>, !stg.tensor<[2*H, E], bf16>
  %qh, %kh = stg.split dim 2 %qk : !stg.tensor<[B, S, 2*H, E], bf16> -> !heads, !heads
  %wv = stg.param "v_proj" : !stg.tensor<[D, H, E], bf16>
  %pv = stg.einsum "bsd,dhe->bshe" %x, %wv : !stream, !stg.tensor<[D, H, E], bf16>
  %bv = stg.param "v_bias" : !stg.tensor<[H, E], bf16>
  %v = stg.bias_add %pv, %bv : !heads, !stg.tensor<[H, E], bf16>
  %a, %lse = stg.attention none %qh, %kh, %v : !heads, !heads, !heads
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, DB], bf16>
  %o = stg.einsum "bshe,hec->bsc" %a, %wo : !heads, !stg.tensor<[H, E, DB], bf16>
  %bo = stg.param "o_bias" : !inner_vector
  %y = stg.bias_add %o, %bo : !inner, !inner_vector
  stg.return %y : !inner
}

// One of the feed-forward networks of a layer, with its sum.
stg.block @inner_feed_forward(%x: !inner) -> !inner {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the network"
  %w = stg.param "fc1" : !stg.tensor<[DB, F], bf16>
  %u = stg.einsum "bsc,cf->bsf" %x, %w : !inner, !stg.tensor<[DB, F], bf16>
  %b = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
  %ub = stg.bias_add %u, %b : !hidden, !stg.tensor<[F], bf16>
  %a = stg.activation gelu %ub {stg.options = {function = "activation"}} <"{activation}"> : !hidden
  %w2 = stg.param "fc2" : !stg.tensor<[F, DB], bf16>
  %d = stg.einsum "bsf,fc->bsc" %a, %w2 : !hidden, !stg.tensor<[F, DB], bf16>
  %b2 = stg.param "fc2_bias" : !inner_vector
  %db = stg.bias_add %d, %b2 : !inner, !inner_vector
  %s = stg.add %db, %x <"ffn_residual"> : !inner, !inner
  %y = stg.call @affine(%s) {name = "ffn_norm", D as DB} : (!inner) -> !inner
  stg.return %y : !inner
}

// From the stream through attention to what the networks read.
stg.block @bottleneck_attention_part(%x: !stream) -> !inner {
  %i = stg.call @enter(%x) : (!stream) -> !inner
  %q = stg.call @enter(%x) {name = "attention"} : (!stream) -> !inner
  %a = stg.call @bottleneck_attention(%x, %q) : (!stream, !inner) -> !inner
  %s = stg.add %a, %i <"attention_residual"> : !inner, !inner
  %y = stg.call @affine(%s) {name = "attention_norm", D as DB} : (!inner) -> !inner
  stg.return %y : !inner
}

// Back to the stream.
stg.block @leave(%x: !stream, %c: !inner) -> !stream {
  %w = stg.param "output_bottleneck" : !stg.tensor<[DB, D], bf16>
  %p = stg.einsum "bsc,cd->bsd" %c, %w : !inner, !stg.tensor<[DB, D], bf16>
  %b = stg.param "output_bottleneck_bias" : !vector
  %o = stg.bias_add %p, %b : !stream, !vector
  %s = stg.add %o, %x <"layer_residual"> : !stream, !stream
  %y = stg.call @affine(%s) {name = "layer_norm"} : (!stream) -> !stream
  stg.return %y : !stream
}

// The loss of masked tokens, whose matrix is the narrow table of the tokens and one that makes it
// as wide as the stream.
stg.block @masked_loss_of_joined_table(%n: !stream, %labels: !ids, %weights: !mask) -> !loss {
  %t = stg.param "tok_embeddings" : !table
  %r = stg.param "output_rest" : !rest
  %w = stg.concat dim 1 ordered %t, %r <"output_matrix"> : !table, !rest -> !wide_table
  %p = stg.einsum "bsd,vd->bsv" %n, %w <"output"> : !stream, !wide_table
  %b = stg.param "output_bias" : !stg.tensor<[V], bf16>
  %l = stg.bias_add %p, %b : !logits, !stg.tensor<[V], bf16>
  %losses, %probs = stg.cross_entropy %l, %labels : !logits, !ids
  %m = stg.mul %losses, %weights <"masked_loss"> : !mask, !mask
  %sum = stg.sum dim 1 %m <"masked_sum"> : !mask
  stg.return %sum : !loss
}
