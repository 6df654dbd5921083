// Attention with grouped key/value heads whose queries see the keys alone that a small attention of
// its own selects, the same for all heads (MiniMax M3). What selects has as many heads of queries as
// it likes and one of keys, both normalized and rotated, and no weights of heads: scores of heads are
// added up. What it gives are numbers, so nothing trains its parameters.

stg.import "attention.mlir"
stg.import "learned_residual.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @R = E "rotated elements of a head"
stg.symbol @HI "heads that select keys"
stg.symbol @EI "size of a head that selects keys"
stg.symbol @RI = EI "rotated elements of a head that selects keys"
stg.symbol @KT "keys that a query sees at most"

!stream = !stg.tensor<[B, S, D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!index_queries = !stg.tensor<[B, S, HI, EI], bf16>
!index_keys = !stg.tensor<[B, S, EI], bf16>
!index_weights = !stg.tensor<[B, S, HI], bf16>
!index_head = !stg.tensor<[EI], bf16>
!selection = !stg.tensor<[B, S, _ = KT], i32>

// The keys that each query sees.
stg.block @selection(%x: !stream) -> !selection {
  %wq = stg.param "index_q_proj" {frozen} : !stg.tensor<[D, HI, EI], bf16>
  %q = stg.einsum "bsd,dhe->bshe" %x, %wq <"index_q_proj"> : !stream, !stg.tensor<[D, HI, EI], bf16>
  %wnq = stg.param "index_q_norm" {frozen} : !index_head
  %nq, %rstdq = stg.rms_norm %q, %wnq : !index_queries, !index_head
  %rq = stg.rope %nq {rotated = #sym.expr<RI>} <"index_rope_q"> : !index_queries
  %wk = stg.param "index_k_proj" {frozen} : !stg.tensor<[D, EI], bf16>
  %k = stg.einsum "bsd,de->bse" %x, %wk <"index_k_proj"> : !stream, !stg.tensor<[D, EI], bf16>
  %wnk = stg.param "index_k_norm" {frozen} : !index_head
  %nk, %rstdk = stg.rms_norm %k, %wnk : !index_keys, !index_head
  %rk = stg.rope %nk {rotated = #sym.expr<RI>} <"index_rope_k"> : !index_keys
  %w = stg.splat 1 : !index_weights
  %s = stg.select_keys KT %rq, %rk, %w <"index"> : !index_queries, !index_keys, !index_weights
  stg.return %s : !selection
}

// With its normalization and the residual stream.
stg.block @selected_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) : (!stream) -> (!queries, !keys, !keys)
  %qp, %kp, %vp = stg.call @prepare_heads(%q, %k, %v) : (!queries, !keys, !keys) -> (!queries, !keys, !keys)
  %s = stg.call @selection(%n) : (!stream) -> !selection
  %a, %lse = stg.attention causal %qp, %kp, %vp, %s : !queries, !keys, !keys, !selection
  %o = stg.call @attention_output(%a) : (!queries) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  %z = stg.call @behind_attention(%y, %n) : (!stream, !stream) -> !stream
  stg.return %z : !stream
}
