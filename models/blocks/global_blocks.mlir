// Attention in blocks of tokens, each of which sees itself and tokens that belong to no text, beside a
// stream of these, which see all (PEGASUS-X). The blocks of a layer may begin half a block earlier, so
// that there is one more, whose ends are zeros. A kernel computes the scores of these and hides them.

stg.import "attention.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @LB "tokens of a block"
stg.symbol @GT "tokens that see all"

!stream = !stg.tensor<[B, S, D], bf16>
!global = !stg.tensor<[B, _ = GT, D], bf16>
!filled = !stg.tensor<[B, _ = S + LB, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!rows = !stg.tensor<[B, _ = S, H, E], bf16>
!global_heads = !stg.tensor<[B, _ = GT, H, E], bf16>
!in_blocks = !stg.tensor<[B, _ = S/LB, _ = LB, H, E], bf16>
!queries = !stg.tensor<[B = B*S/LB, _ = LB, H, E], bf16>
!keys = !stg.tensor<[B = B*S/LB, _ = LB + GT, H, E], bf16>
!all_keys = !stg.tensor<[B, _ = S + GT, H, E], bf16>

// The tokens that see all, before the first layer.
stg.block @embed_global() -> !global {
  %t = stg.param "global_tokens" : !stg.tensor<[_ = GT, D], bf16>
  %y = stg.broadcast dim 0 %t <"global_tokens"> : !stg.tensor<[_ = GT, D], bf16> -> !global
  stg.return %y : !global
}

// What they are behind the last layer, executed, but read by nobody.
stg.block @unread_global(%x: !stream, %g: !global) -> !stream {
  stg.keep %g : !global
  stg.return %x : !stream
}

// Keys, or values, of the tokens of a block, and of those that see all behind them.
stg.block @block_and_global(%x: !heads, %g: !global_heads) -> !keys {
  stg.option @name : string = "k" "what it is, in the names of ops"
  %b = stg.rearrange "b(nk)he->bnkhe" %x <"{name}_in_blocks"> : !heads -> !in_blocks
  %t = stg.broadcast dim 1 %g <"{name}_of_global"> : !global_heads -> !stg.tensor<[B, _ = S/LB, _ = GT, H, E], bf16>
  %c = stg.concat dim 2 ordered %b, %t <"{name}_and_global"> : !in_blocks, !stg.tensor<[B, _ = S/LB, _ = GT, H, E], bf16> -> !stg.tensor<[B, _ = S/LB, _ = LB + GT, H, E], bf16>
  %y = stg.rearrange "bnkhe->(bn)khe" %c <"{name}_of_blocks"> : !stg.tensor<[B, _ = S/LB, _ = LB + GT, H, E], bf16> -> !keys
  stg.return %y : !keys
}

// Of tokens in blocks, and of those that see all, by the same matrices.
stg.block @attend_in_blocks(%x: !stream, %g: !global) -> (!stream, !global) {
  %q = stg.call @key_heads(%x) {name = "q", K as H} : (!stream) -> !heads
  %k = stg.call @key_heads(%x) {name = "k", K as H} : (!stream) -> !heads
  %v = stg.call @key_heads(%x) {name = "v", K as H} : (!stream) -> !heads
  %gq = stg.call @key_heads(%g) {name = "q", K as H} : (!global) -> !global_heads
  %gk = stg.call @key_heads(%g) {name = "k", K as H} : (!global) -> !global_heads
  %gv = stg.call @key_heads(%g) {name = "v", K as H} : (!global) -> !global_heads
  %kr = stg.rearrange "b(nk)he->bn(kh)e" %k <"k_rows"> : !heads -> !rows
  %vr = stg.rearrange "b(nk)he->bn(kh)e" %v <"v_rows"> : !heads -> !rows
  %ka = stg.concat dim 1 ordered %gk, %kr <"all_k"> : !global_heads, !rows -> !all_keys
  %va = stg.concat dim 1 ordered %gv, %vr <"all_v"> : !global_heads, !rows -> !all_keys
  %ga, %glse = stg.attention none %gq, %ka, %va <"global_attention"> : !global_heads, !all_keys, !all_keys
  %go = stg.call @attention_output(%ga) : (!global_heads) -> !global
  %qb = stg.rearrange "b(nk)he->(bn)khe" %q <"q_of_blocks"> : !heads -> !queries
  %kb = stg.call @block_and_global(%k, %gk) {name = "k"} : (!heads, !global_heads) -> !keys
  %vb = stg.call @block_and_global(%v, %gv) {name = "v"} : (!heads, !global_heads) -> !keys
  %a, %lse = stg.attention none %qb, %kb, %vb <"block_attention"> : !queries, !keys, !keys
  %j = stg.rearrange "(bn)khe->b(nk)he" %a <"blocks_joined"> : !queries -> !heads
  %o = stg.call @attention_output(%j) : (!heads) -> !stream
  stg.return %o, %go : !stream, !global
}

// With norms of both, and both residual streams.
stg.block @global_block_attention_layer(%x: !stream, %g: !global) -> (!stream, !global) {
  stg.option @staggered : bool = false "blocks begin half a block earlier"
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %gn = stg.call @before(%g) {part = "global_attention"} : (!global) -> !global
  %o, %go = stg.if @staggered -> !stream, !global {
    %f = stg.pad dim 1 %n {from = #sym.expr<LB/2>} <"filled"> : !stream -> !filled
    %fo, %fg = stg.call @attend_in_blocks(%f, %gn) : (!filled, !global) -> (!filled, !global)
    %s = stg.slice dim 1 %fo {from = #sym.expr<LB/2>} <"without_ends"> : !filled -> !stream
    stg.yield %s, %fg : !stream, !global
  } else {
    %so, %sg = stg.call @attend_in_blocks(%n, %gn) : (!stream, !global) -> (!stream, !global)
    stg.yield %so, %sg : !stream, !global
  }
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  %gy = stg.call @after(%g, %go) {part = "global_attention"} : (!global, !global) -> !global
  stg.return %y, %gy : !stream, !global
}

// One network for both.
stg.block @feed_forward_of_both(%x: !stream, %g: !global) -> (!stream, !global) {
  %y = stg.call @feed_forward_layer(%x) : (!stream) -> !stream
  %gy = stg.call @feed_forward_layer(%g) : (!global) -> !global
  stg.return %y, %gy : !stream, !global
}
