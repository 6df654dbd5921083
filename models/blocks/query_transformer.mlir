// Learned queries that read the tokens of a tower, between an image and a text.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "queries"
stg.symbol @T "tokens that are read"
stg.symbol @D "hidden size of the queries"
stg.symbol @DO "hidden size of the tokens that are read"
stg.symbol @H "heads of the queries"
stg.symbol @K = H "key/value heads"
stg.symbol @E "head size"
stg.symbol @TI "tokens of an instruction"
stg.symbol @NQ "queries without an instruction"

!read = !stg.tensor<[B, T, DO], bf16>
!vector = !stg.tensor<[DO], bf16>
!row = !stg.tensor<[D], bf16>
!seen = !stg.tensor<[B, T, D], bf16>
!answers = !stg.tensor<[B, S, D], bf16>
!keys = !stg.tensor<[B, T, H, E], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!to_heads = !stg.tensor<[D, H, E], bf16>
!head_bias = !stg.tensor<[H, E], bf16>
!first = !stg.tensor<[B, 1, DO], bf16>

// The same queries for each sequence of tokens.
stg.block @learned_queries(%x: !read) -> !stg.tensor<[B, S, D], bf16> {
  %q = stg.param "queries" : !stg.tensor<[S, D], bf16>
  %y = stg.broadcast dim 0 %q <"queries"> : !stg.tensor<[S, D], bf16> -> !stg.tensor<[B, S, D], bf16>
  stg.return %y : !stg.tensor<[B, S, D], bf16>
}

// What a tower gives, normalized, and its first token normalized once more, which nobody reads.
stg.block @norm_of_tower(%x: !read) -> !read {
  %w = stg.param "norm.weight" : !vector
  %b = stg.param "norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %x, %w, %b <"norm"> : !read, !vector, !vector
  %f = stg.slice dim 1 %n {from = #sym.expr<0>} <"first_token"> : !read -> !first
  %u, %um, %ur = stg.layer_norm %f, %w, %b <"unread_norm"> : !first, !vector, !vector
  stg.keep %u : !first
  stg.return %n : !read
}

// Attention with biases, whose keys and values may be made of different rows.
stg.block @attention_of_queries(%x: !answers, %keys: !seen, %values: !seen) -> !answers {
  %wq = stg.param "q_proj" : !to_heads
  %mq = stg.einsum "bsd,dhe->bshe" %x, %wq : !answers, !to_heads
  %bq = stg.param "q_bias" : !head_bias
  %q = stg.bias_add %mq, %bq : !heads, !head_bias
  %wk = stg.param "k_proj" : !to_heads
  %mk = stg.einsum "btd,dhe->bthe" %keys, %wk : !seen, !to_heads
  %bk = stg.param "k_bias" : !head_bias
  %k = stg.bias_add %mk, %bk : !keys, !head_bias
  %wv = stg.param "v_proj" : !to_heads
  %mv = stg.einsum "btd,dhe->bthe" %values, %wv : !seen, !to_heads
  %bv = stg.param "v_bias" : !head_bias
  %v = stg.bias_add %mv, %bv : !keys, !head_bias
  %a, %lse = stg.attention none %q, %k, %v <"attention"> : !heads, !keys, !keys
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %po = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %bo = stg.param "o_bias" : !row
  %y = stg.bias_add %po, %bo : !answers, !row
  stg.return %y : !answers
}

// The same queries for each sequence, and what they read of tokens that were projected to their
// width: queries and tokens are normalized, keys alone have positions, which are fixed (MiniCPM-V).
stg.block @read_by_queries(%x: !seen, %positions: !stg.tensor<[T, D], bf16>) -> !answers {
  %pq = stg.param "queries" : !stg.tensor<[S, D], bf16>
  %nqw = stg.param "query_norm.weight" : !row
  %nqb = stg.param "query_norm.bias" : !row
  %nq, %meanq, %rstdq = stg.layer_norm %pq, %nqw, %nqb <"query_norm"> : !stg.tensor<[S, D], bf16>, !row, !row
  %queries = stg.broadcast dim 0 %nq <"queries"> : !stg.tensor<[S, D], bf16> -> !answers
  %nxw = stg.param "read_norm.weight" : !row
  %nxb = stg.param "read_norm.bias" : !row
  %nx, %meanx, %rstdx = stg.layer_norm %x, %nxw, %nxb <"read_norm"> : !seen, !row, !row
  %placed = stg.bias_add %nx, %positions <"placed"> : !seen, !stg.tensor<[T, D], bf16>
  %y = stg.call @attention_of_queries(%queries, %placed, %nx) : (!answers, !seen, !seen) -> !answers
  stg.return %y : !answers
}

// A matrix without a bias, to the width of the queries.
stg.block @project_for_queries(%x: !read) -> !seen {
  %w = stg.param "read_proj" : !stg.tensor<[DO, D], bf16>
  %y = stg.einsum "bto,od->btd" %x, %w : !read, !stg.tensor<[DO, D], bf16>
  stg.return %y : !seen
}

// A matrix without a bias.
stg.block @project_answers(%x: !answers) -> !answers {
  %w = stg.param "answer_proj" : !stg.tensor<[D, D], bf16>
  %y = stg.einsum "bsd,de->bse" %x, %w : !answers, !stg.tensor<[D, D], bf16>
  stg.return %y : !answers
}

// Attention of queries to the tokens of a tower, as wide as they are. Both go through a matrix
// before those of attention, and what attention gives through one behind it (Aria).
stg.block @twice_projected_attention(%x: !answers, %read: !seen) -> !answers {
  %wqi = stg.param "first_q_proj" : !stg.tensor<[D, D], bf16>
  %iq = stg.einsum "bsd,de->bse" %x, %wqi : !answers, !stg.tensor<[D, D], bf16>
  %wki = stg.param "first_k_proj" : !stg.tensor<[D, D], bf16>
  %ik = stg.einsum "btd,de->bte" %read, %wki : !seen, !stg.tensor<[D, D], bf16>
  %wvi = stg.param "first_v_proj" : !stg.tensor<[D, D], bf16>
  %iv = stg.einsum "btd,de->bte" %read, %wvi : !seen, !stg.tensor<[D, D], bf16>
  %y = stg.call @attention_of_queries(%iq, %ik, %iv) : (!answers, !seen, !seen) -> !answers
  %w = stg.param "last_proj" : !stg.tensor<[D, D], bf16>
  %p = stg.einsum "bsd,de->bse" %y, %w : !answers, !stg.tensor<[D, D], bf16>
  %b = stg.param "last_bias" : !row
  %z = stg.bias_add %p, %b : !answers, !row
  stg.return %z : !answers
}

// Attention of queries to what is read and to themselves, behind a norm of each, with the residual
// stream (Idefics 2).
stg.block @attention_beside_queries(%x: !answers, %read: !seen) -> !answers {
  %wx = stg.param "queries_norm" : !row
  %n, %nr = stg.rms_norm %x, %wx <"queries_norm"> : !answers, !row
  %wc = stg.param "read_norm" : !row
  %c, %cr = stg.rms_norm %read, %wc <"read_norm"> : !seen, !row
  %wq = stg.param "q_proj" : !to_heads
  %q = stg.einsum "bsd,dhe->bshe" %n, %wq : !answers, !to_heads
  %t = stg.rearrange "b(nk)d->bn(kd)" %n <"queries_read"> : !answers -> !stg.tensor<[B, T = S, D], bf16>
  %a = stg.concat dim 1 ordered %c, %t <"all_read"> : !seen, !stg.tensor<[B, T = S, D], bf16> -> !stg.tensor<[B, T = T + S, D], bf16>
  %wkv = stg.param "kv_proj" : !stg.tensor<[D, 2*K, E], bf16>
  %kv = stg.einsum "btd,dke->btke" %a, %wkv : !stg.tensor<[B, T = T + S, D], bf16>, !stg.tensor<[D, 2*K, E], bf16>
  %k, %v = stg.split dim 2 %kv : !stg.tensor<[B, T = T + S, 2*K, E], bf16> -> !stg.tensor<[B, T = T + S, K, E], bf16>, !stg.tensor<[B, T = T + S, K, E], bf16>
  %h, %lse = stg.attention none %q, %k, %v <"attention"> : !heads, !stg.tensor<[B, T = T + S, K, E], bf16>, !stg.tensor<[B, T = T + S, K, E], bf16>
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %h, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.add %x, %o <"attention_residual"> : !answers, !answers
  stg.return %y : !answers
}

// The tokens of an instruction behind the queries of an image, and the queries alone (InstructBLIP).
stg.block @join_instruction(%queries: !stg.tensor<[B, S = S - TI, D], bf16>, %instruction: !stg.tensor<[B, S = TI, D], bf16>) -> !answers {
  %y = stg.concat dim 1 ordered %queries, %instruction <"queries_and_instruction"> : !stg.tensor<[B, S = S - TI, D], bf16>, !stg.tensor<[B, S = TI, D], bf16> -> !answers
  stg.return %y : !answers
}
stg.block @without_instruction(%x: !answers) -> !stg.tensor<[B, NQ, D], bf16> {
  %y = stg.slice dim 1 %x {from = #sym.expr<0>} <"queries_alone"> : !answers -> !stg.tensor<[B, NQ, D], bf16>
  stg.return %y : !stg.tensor<[B, NQ, D], bf16>
}

// A layer in which both see each other, queries alone read what a tower gives, and each of the two
// has a network of its own.
stg.block @instructed_queries_layer(%x: !answers, %read: !read) -> !answers {
  stg.option @reads : bool = true "queries read what the tower gives"
  %a = stg.call @attention_layer(%x) : (!answers) -> !answers
  %q, %i = stg.split dim 1 ordered %a : !answers -> !stg.tensor<[B, S = S - TI, D], bf16>, !stg.tensor<[B, S = TI, D], bf16>
  %c = stg.if @reads -> !stg.tensor<[B, S = S - TI, D], bf16> {
    %z = stg.call @cross_attention_layer(%q, %read) : (!stg.tensor<[B, S = S - TI, D], bf16>, !read) -> !stg.tensor<[B, S = S - TI, D], bf16>
    stg.yield %z : !stg.tensor<[B, S = S - TI, D], bf16>
  } else {
    stg.yield %q : !stg.tensor<[B, S = S - TI, D], bf16>
  }
  %fq = stg.call @feed_forward_layer(%c) <"query"> : (!stg.tensor<[B, S = S - TI, D], bf16>) -> !stg.tensor<[B, S = S - TI, D], bf16>
  %fi = stg.call @feed_forward_layer(%i) <"instruction"> : (!stg.tensor<[B, S = TI, D], bf16>) -> !stg.tensor<[B, S = TI, D], bf16>
  %y = stg.call @join_instruction(%fq, %fi) : (!stg.tensor<[B, S = S - TI, D], bf16>, !stg.tensor<[B, S = TI, D], bf16>) -> !answers
  stg.return %y : !answers
}

// Each row divided by its length (Kosmos-2).
stg.block @as_long_as_one(%x: !read) -> !read {
  %q = stg.elementwise square %x <"length_squares"> : !read
  %s = stg.sum dim 2 %q <"length_square"> : !read
  %r = stg.elementwise sqrt %s <"length"> : !stg.tensor<[B, T], bf16>
  %i = stg.rearrange "bt->bt()" %r <"lengths"> : !stg.tensor<[B, T], bf16> -> !stg.tensor<[B, T, 1], bf16>
  %y = stg.elementwise div %x, %i <"as_long_as_one"> : !read, !stg.tensor<[B, T, 1], bf16>
  stg.return %y : !read
}

// The same queries for each sequence, and what they read of its tokens, which a matrix takes to their
// width, and of themselves (Kosmos-2).
stg.block @read_with_queries(%x: !read) -> !answers {
  %w = stg.param "read_proj" : !stg.tensor<[DO, D], bf16>
  %p = stg.einsum "bto,od->btd" %x, %w : !read, !stg.tensor<[DO, D], bf16>
  %b = stg.param "read_bias" : !row
  %r = stg.bias_add %p, %b : !seen, !row
  %pq = stg.param "queries" : !stg.tensor<[S, D], bf16>
  %q = stg.broadcast dim 0 %pq <"queries"> : !stg.tensor<[S, D], bf16> -> !answers
  %t = stg.rearrange "b(nk)d->bn(kd)" %q <"queries_read"> : !answers -> !stg.tensor<[B, T = S, D], bf16>
  %a = stg.concat dim 1 ordered %r, %t <"all_read"> : !seen, !stg.tensor<[B, T = S, D], bf16> -> !stg.tensor<[B, T = T + S, D], bf16>
  %y = stg.call @attention_of_queries(%q, %a, %a) : (!answers, !stg.tensor<[B, T = T + S, D], bf16>, !stg.tensor<[B, T = T + S, D], bf16>) -> !answers
  stg.return %y : !answers
}
