// Attention in blocks of tokens, each of which sees the block before it, itself and the one behind it,
// with a bias of scores by relative position; and beside these tokens the sums of small blocks of all
// of them (LongT5). A kernel computes the scores of tokens that are too far away and hides them, so all
// pairs of a block cost the same.

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @N "buckets of relative positions"
stg.symbol @LB "tokens of a block"
stg.symbol @GB "tokens that are summed"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!filled = !stg.tensor<[B, _ = S + 2*LB, H, E], bf16>
!in_blocks = !stg.tensor<[B, _ = S/LB, _ = LB, H, E], bf16>
!three_blocks = !stg.tensor<[B, _ = S/LB, _ = 3*LB, H, E], bf16>
!queries = !stg.tensor<[B = B*S/LB, _ = LB, H, E], bf16>
!keys = !stg.tensor<[B = B*S/LB, _ = 3*LB, H, E], bf16>
!scores = !stg.tensor<[H, _ = LB, _ = 3*LB], bf16>
!sums = !stg.tensor<[B, S = S/GB, D], bf16>
!sum_heads = !stg.tensor<[B, S = S/GB, H, E], bf16>
!all_keys = !stg.tensor<[B = B*S/LB, _ = 3*LB + S/GB, H, E], bf16>
!all_scores = !stg.tensor<[B = B*S/LB, H, _ = LB, _ = 3*LB + S/GB], bf16>
!members = !stg.tensor<[B, S, _ = S/GB], bf16>
!away = !stg.tensor<[B, S, _ = S/GB], i32>

// A bias of the tokens of three blocks, of one table for all layers.
stg.block @block_bias() -> !scores {
  %t = stg.param "relative_bias" : !stg.tensor<[N, H], bf16>
  %y = stg.relative_bias %t : !stg.tensor<[N, H], bf16> -> !scores
  stg.return %y : !scores
}

// The same, and behind it a bias by how many sums away a token's own is, of another table.
stg.block @block_and_sum_bias(%away: !away) -> !all_scores {
  %b = stg.call @block_bias() : () -> !scores
  %r = stg.broadcast dim 0 %b <"biases_of_blocks"> : !scores -> !stg.tensor<[B = B*S/LB, H, _ = LB, _ = 3*LB], bf16>
  %t = stg.param "relative_bias_of_sums" : !stg.tensor<[N, H], bf16>
  %e = stg.embedding %t, %away <"biases_of_sums"> : !stg.tensor<[N, H], bf16>, !away
  %s = stg.rearrange "b(nk)gh->(bn)hkg" %e <"biases_of_sums_in_blocks"> : !stg.tensor<[B, S, _ = S/GB, H], bf16> -> !stg.tensor<[B = B*S/LB, H, _ = LB, _ = S/GB], bf16>
  %p = stg.rearrange "bhk(gi)->bh(ki)g" %s <"biases_behind"> : !stg.tensor<[B = B*S/LB, H, _ = LB, _ = S/GB], bf16> -> !stg.tensor<[B = B*S/LB, H, _ = LB, _ = S/GB], bf16>
  %y = stg.concat dim 3 ordered %r, %p <"all_biases"> : !stg.tensor<[B = B*S/LB, H, _ = LB, _ = 3*LB], bf16>, !stg.tensor<[B = B*S/LB, H, _ = LB, _ = S/GB], bf16> -> !all_scores
  stg.return %y : !all_scores
}

// Of each block the tokens of three, with zeros before the first one and behind the last one.
stg.block @three_blocks(%x: !heads) -> !three_blocks {
  stg.option @name : string = "k" "what it is, in the names of ops"
  %f = stg.pad dim 1 %x {from = #sym.expr<LB>} <"{name}_filled"> : !heads -> !filled
  %b = stg.slice dim 1 %f {from = #sym.expr<0>} <"{name}_before"> : !filled -> !heads
  %i = stg.slice dim 1 %f {from = #sym.expr<2*LB>} <"{name}_behind"> : !filled -> !heads
  %bb = stg.rearrange "b(nk)he->bnkhe" %b <"{name}_before_blocks"> : !heads -> !in_blocks
  %xb = stg.rearrange "b(nk)he->bnkhe" %x <"{name}_blocks"> : !heads -> !in_blocks
  %ib = stg.rearrange "b(nk)he->bnkhe" %i <"{name}_behind_blocks"> : !heads -> !in_blocks
  %y = stg.concat dim 2 %bb, %xb, %ib <"{name}_of_three"> : !in_blocks, !in_blocks, !in_blocks -> !three_blocks
  stg.return %y : !three_blocks
}

// What all heads of all blocks give, in the width of the stream.
stg.block @output_of_blocks(%a: !queries) -> !stream {
  %j = stg.rearrange "(bn)khe->b(nk)he" %a <"blocks_joined"> : !queries -> !heads
  %w = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %y = stg.einsum "bshe,hed->bsd" %j, %w : !heads, !stg.tensor<[H, E, D], bf16>
  stg.return %y : !stream
}

stg.block @block_attention_layer(%x: !stream, %bias: !scores) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q = stg.call @key_heads(%n) {name = "q", K as H} : (!stream) -> !heads
  %k = stg.call @key_heads(%n) {name = "k", K as H} : (!stream) -> !heads
  %v = stg.call @key_heads(%n) {name = "v", K as H} : (!stream) -> !heads
  %qb = stg.rearrange "b(nk)he->(bn)khe" %q <"q_blocks"> : !heads -> !queries
  %k3 = stg.call @three_blocks(%k) {name = "k"} : (!heads) -> !three_blocks
  %kb = stg.rearrange "bnkhe->(bn)khe" %k3 <"k_of_blocks"> : !three_blocks -> !keys
  %v3 = stg.call @three_blocks(%v) {name = "v"} : (!heads) -> !three_blocks
  %vb = stg.rearrange "bnkhe->(bn)khe" %v3 <"v_of_blocks"> : !three_blocks -> !keys
  %a, %lse = stg.attention none %qb, %kb, %vb, %bias : !queries, !keys, !keys, !scores
  %o = stg.call @output_of_blocks(%a) : (!queries) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Sums of small blocks, normalized, have keys and values by the same matrices. `members` is 1 where a
// token is of a sum.
stg.block @block_and_sum_attention_layer(%x: !stream, %bias: !all_scores, %members: !members) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %g = stg.einsum "bsd,bsg->bgd" %n, %members <"sums"> : !stream, !members
  %gs = stg.rearrange "b(nk)d->bn(kd)" %g <"sums"> : !stg.tensor<[B, _ = S/GB, D], bf16> -> !sums
  %wg = stg.param "sum_norm" : !vector
  %s, %rstd = stg.rms_norm %gs, %wg : !sums, !vector
  %q = stg.call @key_heads(%n) {name = "q", K as H} : (!stream) -> !heads
  %k = stg.call @key_heads(%n) {name = "k", K as H} : (!stream) -> !heads
  %v = stg.call @key_heads(%n) {name = "v", K as H} : (!stream) -> !heads
  %ks = stg.call @key_heads(%s) {name = "k", K as H} : (!sums) -> !sum_heads
  %vs = stg.call @key_heads(%s) {name = "v", K as H} : (!sums) -> !sum_heads
  %qb = stg.rearrange "b(nk)he->(bn)khe" %q <"q_blocks"> : !heads -> !queries
  %k3 = stg.call @three_blocks(%k) {name = "k"} : (!heads) -> !three_blocks
  %kr = stg.call @keys_and_sums(%k3, %ks) {name = "k"} : (!three_blocks, !sum_heads) -> !all_keys
  %v3 = stg.call @three_blocks(%v) {name = "v"} : (!heads) -> !three_blocks
  %vr = stg.call @keys_and_sums(%v3, %vs) {name = "v"} : (!three_blocks, !sum_heads) -> !all_keys
  %a, %lse = stg.attention none %qb, %kr, %vr, %bias : !queries, !all_keys, !all_keys, !all_scores
  %o = stg.call @output_of_blocks(%a) : (!queries) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
stg.block @keys_and_sums(%x: !three_blocks, %sums: !sum_heads) -> !all_keys {
  stg.option @name : string = "k" "what it is, in the names of ops"
  %r = stg.rearrange "b(nk)he->bn(kh)e" %sums <"{name}_sums"> : !sum_heads -> !stg.tensor<[B, _ = S/GB, H, E], bf16>
  %t = stg.broadcast dim 1 %r <"{name}_sums_of_blocks"> : !stg.tensor<[B, _ = S/GB, H, E], bf16> -> !stg.tensor<[B, _ = S/LB, _ = S/GB, H, E], bf16>
  %c = stg.concat dim 2 ordered %x, %t <"{name}_and_sums"> : !three_blocks, !stg.tensor<[B, _ = S/LB, _ = S/GB, H, E], bf16> -> !stg.tensor<[B, _ = S/LB, _ = 3*LB + S/GB, H, E], bf16>
  %y = stg.rearrange "bnkhe->(bn)khe" %c <"{name}_of_blocks"> : !stg.tensor<[B, _ = S/LB, _ = 3*LB + S/GB, H, E], bf16> -> !all_keys
  stg.return %y : !all_keys
}
