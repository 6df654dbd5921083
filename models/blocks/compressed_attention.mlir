// Attention to a window of tokens and to keys that stand for blocks of tokens (DeepSeek-V4). There
// is one head of keys for all heads of queries, and keys are values, too: positions that a value
// has are taken back from the output. Scores have sinks.
//
// The keys of blocks are means of what their tokens say, channel by channel. Those of CB tokens
// also have the block before in them, and each query sees KT of them at most, which a small
// attention selects. Those of CH tokens, many more, are all seen.
//
// The output is projected in OG groups of heads, each to OL numbers, and these to the stream.

stg.import "latent_attention.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @R "rotated elements of a head"
stg.symbol @W "tokens of a window"
stg.symbol @QL "size of the queries' latent"
stg.symbol @CB "tokens of a block that one key stands for, with the block before"
stg.symbol @CH "tokens of a block that one key stands for"
stg.symbol @HI "heads that select keys"
stg.symbol @EI "size of a head that selects keys"
stg.symbol @KT "keys of blocks that a query sees at most"
stg.symbol @OG "groups of heads whose output is projected by itself"
stg.symbol @OL "size of the output of a group"

!stream = !stg.tensor<[B, S, D], bf16>
!query_latent = !stg.tensor<[B, S, QL], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!row = !stg.tensor<[B, S, E], bf16>
!key = !stg.tensor<[B, S, _ = 1, E], bf16>
!rows_of_blocks = !stg.tensor<[B, _ = ceildiv(S, CB), E], bf16>
!keys_of_blocks = !stg.tensor<[B, _ = ceildiv(S, CB), _ = 1, E], bf16>
!rows_of_long_blocks = !stg.tensor<[B, _ = ceildiv(S, CH), E], bf16>
!keys_of_long_blocks = !stg.tensor<[B, _ = ceildiv(S, CH), _ = 1, E], bf16>
!selection = !stg.tensor<[B, S, _ = KT], i32>
!per_head = !stg.tensor<[H], bf16>
!per_channel = !stg.tensor<[E], bf16>

// Queries of a latent, each normalized.
stg.block @normalized_queries(%n: !query_latent) -> !heads {
  %w = stg.param "q_b_proj" : !stg.tensor<[QL, H, E], bf16>
  %p = stg.einsum "bsr,rhe->bshe" %n, %w : !query_latent, !stg.tensor<[QL, H, E], bf16>
  %q, %rstd = stg.rms_norm %p <"q_b_norm"> : !heads
  %y = stg.rope %q {rotated = #sym.expr<R>} <"rope_q"> : !heads
  stg.return %y : !heads
}

// The keys of tokens, which are their values, too.
stg.block @shared_key(%x: !stream) -> !key {
  %w = stg.param "kv_proj" : !stg.tensor<[D, E], bf16>
  %p = stg.einsum "bsd,de->bse" %x, %w : !stream, !stg.tensor<[D, E], bf16>
  %wn = stg.param "kv_norm" : !per_channel
  %n, %rstd = stg.rms_norm %p, %wn : !row, !per_channel
  %r = stg.rope %n {rotated = #sym.expr<R>} <"rope_kv"> : !row
  %y = stg.rearrange "bse->bs()e" %r <"kv"> : !row -> !key
  stg.return %y : !key
}

// A row for each block of CB tokens, of these and of the block before.
stg.block @overlapping_blocks(%x: !stream) -> !rows_of_blocks {
  %wv = stg.param "compressor_kv_proj" : !stg.tensor<[D, 2*E], bf16>
  %v = stg.einsum "bsd,de->bse" %x, %wv : !stream, !stg.tensor<[D, 2*E], bf16>
  %wg = stg.param "compressor_gate_proj" : !stg.tensor<[D, 2*E], bf16>
  %g = stg.einsum "bsd,de->bse" %x, %wg : !stream, !stg.tensor<[D, 2*E], bf16>
  %b = stg.param "compressor_places" : !stg.tensor<[_ = CB, 2*E], bf16>
  %c = stg.compress CB %v, %g, %b {overlapping} <"compressor"> : !stg.tensor<[B, S, 2*E], bf16>, !stg.tensor<[B, S, 2*E], bf16>, !stg.tensor<[_ = CB, 2*E], bf16> -> !rows_of_blocks
  %wn = stg.param "compressor_norm" : !per_channel
  %n, %rstd = stg.rms_norm %c, %wn : !rows_of_blocks, !per_channel
  %y = stg.rope %n {rotated = #sym.expr<R>} <"rope_compressor"> : !rows_of_blocks
  stg.return %y : !rows_of_blocks
}

// The same for the small attention, whose parameters nothing trains.
stg.block @selecting_blocks(%x: !stream) -> !stg.tensor<[B, _ = ceildiv(S, CB), EI], bf16> {
  %wv = stg.param "index_kv_proj" {frozen} : !stg.tensor<[D, 2*EI], bf16>
  %v = stg.einsum "bsd,de->bse" %x, %wv : !stream, !stg.tensor<[D, 2*EI], bf16>
  %wg = stg.param "index_gate_proj" {frozen} : !stg.tensor<[D, 2*EI], bf16>
  %g = stg.einsum "bsd,de->bse" %x, %wg : !stream, !stg.tensor<[D, 2*EI], bf16>
  %b = stg.param "index_places" {frozen} : !stg.tensor<[_ = CB, 2*EI], bf16>
  %c = stg.compress CB %v, %g, %b {overlapping} <"index_compressor"> : !stg.tensor<[B, S, 2*EI], bf16>, !stg.tensor<[B, S, 2*EI], bf16>, !stg.tensor<[_ = CB, 2*EI], bf16> -> !stg.tensor<[B, _ = ceildiv(S, CB), EI], bf16>
  %wn = stg.param "index_kv_norm" {frozen} : !stg.tensor<[EI], bf16>
  %n, %rstd = stg.rms_norm %c, %wn : !stg.tensor<[B, _ = ceildiv(S, CB), EI], bf16>, !stg.tensor<[EI], bf16>
  %y = stg.rope %n {rotated = #sym.expr<R>} <"index_rope_k"> : !stg.tensor<[B, _ = ceildiv(S, CB), EI], bf16>
  stg.return %y : !stg.tensor<[B, _ = ceildiv(S, CB), EI], bf16>
}

// The blocks that each query sees.
stg.block @select_blocks(%x: !stream, %n: !query_latent) -> !selection {
  %wq = stg.param "index_q_proj" {frozen} : !stg.tensor<[QL, HI, EI], bf16>
  %q = stg.einsum "bsr,rhe->bshe" %n, %wq : !query_latent, !stg.tensor<[QL, HI, EI], bf16>
  %rq = stg.rope %q {rotated = #sym.expr<R>} <"index_rope_q"> : !stg.tensor<[B, S, HI, EI], bf16>
  %k = stg.call @selecting_blocks(%x) : (!stream) -> !stg.tensor<[B, _ = ceildiv(S, CB), EI], bf16>
  %ww = stg.param "index_weights" {frozen} : !stg.tensor<[D, HI], bf16>
  %w = stg.einsum "bsd,dh->bsh" %x, %ww : !stream, !stg.tensor<[D, HI], bf16>
  %s = stg.select_keys KT %rq, %k, %w {compressed = #sym.expr<CB>} <"index"> : !stg.tensor<[B, S, HI, EI], bf16>, !stg.tensor<[B, _ = ceildiv(S, CB), EI], bf16>, !stg.tensor<[B, S, HI], bf16>
  stg.return %s : !selection
}

// A row for each block of CH tokens.
stg.block @long_blocks(%x: !stream) -> !rows_of_long_blocks {
  %wv = stg.param "compressor_kv_proj" : !stg.tensor<[D, E], bf16>
  %v = stg.einsum "bsd,de->bse" %x, %wv : !stream, !stg.tensor<[D, E], bf16>
  %wg = stg.param "compressor_gate_proj" : !stg.tensor<[D, E], bf16>
  %g = stg.einsum "bsd,de->bse" %x, %wg : !stream, !stg.tensor<[D, E], bf16>
  %b = stg.param "compressor_places" : !stg.tensor<[_ = CH, E], bf16>
  %c = stg.compress CH %v, %g, %b <"compressor"> : !row, !row, !stg.tensor<[_ = CH, E], bf16> -> !rows_of_long_blocks
  %wn = stg.param "compressor_norm" : !per_channel
  %n, %rstd = stg.rms_norm %c, %wn : !rows_of_long_blocks, !per_channel
  %y = stg.rope %n {rotated = #sym.expr<R>} <"rope_compressor"> : !rows_of_long_blocks
  stg.return %y : !rows_of_long_blocks
}

// Groups of heads, each of which is projected to OL numbers, and all of these to the stream.
stg.block @grouped_output(%o: !heads) -> !stream {
  %g = stg.rearrange "bs(gh)e->bsghe" %o <"output_groups"> : !heads -> !stg.tensor<[B, S, OG, _ = H/OG, E], bf16>
  %wa = stg.param "o_a_proj" : !stg.tensor<[OG, _ = H/OG, E, OL], bf16>
  %a = stg.einsum "bsghe,gheo->bsgo" %g, %wa : !stg.tensor<[B, S, OG, _ = H/OG, E], bf16>, !stg.tensor<[OG, _ = H/OG, E, OL], bf16>
  %wb = stg.param "o_b_proj" : !stg.tensor<[OG, OL, D], bf16>
  %y = stg.einsum "bsgo,god->bsd" %a, %wb : !stg.tensor<[B, S, OG, OL], bf16>, !stg.tensor<[OG, OL, D], bf16>
  stg.return %y : !stream
}

stg.block @compressed_attention(%x: !stream) -> !stream {
  stg.option @keys : "window" | "selected" | "blocks" = "window" "of tokens alone, of blocks of CB that are selected, or of blocks of CH"
  %n = stg.call @latent_of_queries(%x) : (!stream) -> !query_latent
  %q = stg.call @normalized_queries(%n) : (!query_latent) -> !heads
  %kv = stg.call @shared_key(%x) : (!stream) -> !key
  %sinks = stg.param "sinks" : !per_head
  %a = stg.if @keys = "window" -> !heads {
    %y, %lse = stg.attention causal %q, %kv, %kv, %sinks {window = #sym.expr<W>} : !heads, !key, !key, !per_head
    stg.yield %y : !heads
  } else {
    %z = stg.if @keys = "selected" -> !heads {
      %r = stg.call @overlapping_blocks(%x) : (!stream) -> !rows_of_blocks
      %c = stg.rearrange "bse->bs()e" %r <"compressed_kv"> : !rows_of_blocks -> !keys_of_blocks
      %s = stg.call @select_blocks(%x, %n) : (!stream, !query_latent) -> !selection
      %y, %lse = stg.attention causal %q, %kv, %kv, %c, %c, %sinks, %s {window = #sym.expr<W>, compressed = #sym.expr<CB>} : !heads, !key, !key, !keys_of_blocks, !keys_of_blocks, !per_head, !selection
      stg.yield %y : !heads
    } else {
      %r = stg.call @long_blocks(%x) : (!stream) -> !rows_of_long_blocks
      %c = stg.rearrange "bse->bs()e" %r <"compressed_kv"> : !rows_of_long_blocks -> !keys_of_long_blocks
      %y, %lse = stg.attention causal %q, %kv, %kv, %c, %c, %sinks {window = #sym.expr<W>, compressed = #sym.expr<CH>} : !heads, !key, !key, !keys_of_long_blocks, !keys_of_long_blocks, !per_head
      stg.yield %y : !heads
    }
    stg.yield %z : !heads
  }
  %o = stg.rope inverse %a {rotated = #sym.expr<R>} <"rope_output"> : !heads
  %y = stg.call @grouped_output(%o) : (!heads) -> !stream
  stg.return %y : !stream
}

// With its normalization, and without the residual stream.
stg.block @compressed_attention_branch(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %y = stg.call @compressed_attention(%n) : (!stream) -> !stream
  stg.return %y : !stream
}
