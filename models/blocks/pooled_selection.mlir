// Latent attention without positions whose queries see the tokens of blocks that are selected (GLM
// 5.3): one key stands for a block of CB tokens, a small attention selects KT/CB of them, and their
// KT tokens are seen. A query sees the tokens behind the last whole block as well, fewer than CB, which
// are left out here.

stg.import "latent_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @QL "size of the queries' latent"
stg.symbol @KL "size of the keys' and values' latent"
stg.symbol @EN "head size of queries and keys"
stg.symbol @EV "head size of values"
stg.symbol @HI "heads that select keys"
stg.symbol @EI "size of a head that selects keys"
stg.symbol @KT "keys that a query sees at most"
stg.symbol @CB "tokens of a block that one key stands for"

!stream = !stg.tensor<[B, S, D], bf16>
!query_latent = !stg.tensor<[B, S, QL], bf16>
!latent = !stg.tensor<[B, S, KL], bf16>
!queries = !stg.tensor<[B, S, H, EN], bf16>
!values = !stg.tensor<[B, S, H, EV], bf16>
!index_head = !stg.tensor<[EI], bf16>
!index_keys = !stg.tensor<[B, S, EI], bf16>
!blocks = !stg.tensor<[B, _ = ceildiv(S, CB), EI], bf16>
!chosen = !stg.tensor<[B, S, _ = KT/CB], i32>
!selection = !stg.tensor<[B, S, _ = KT], i32>

// The tokens that each query sees. What it gives are numbers, so nothing trains its parameters.
stg.block @tokens_of_blocks(%x: !stream, %n: !query_latent) -> !selection {
  %wq = stg.param "index_q_proj" {frozen} : !stg.tensor<[QL, HI, EI], bf16>
  %q = stg.einsum "bsr,rhe->bshe" %n, %wq <"index_q_proj"> : !query_latent, !stg.tensor<[QL, HI, EI], bf16>
  %wk = stg.param "index_k_proj" {frozen} : !stg.tensor<[D, EI], bf16>
  %k = stg.einsum "bsd,de->bse" %x, %wk <"index_k_proj"> : !stream, !stg.tensor<[D, EI], bf16>
  %wn = stg.param "index_k_norm.weight" {frozen} : !index_head
  %bn = stg.param "index_k_norm.bias" {frozen} : !index_head
  %nk, %mean, %rstd = stg.layer_norm %k, %wn, %bn <"index_k_norm"> : !index_keys, !index_head, !index_head
  %wg = stg.param "index_gate_proj" {frozen} : !stg.tensor<[D, EI], bf16>
  %g = stg.einsum "bsd,de->bse" %x, %wg <"index_gate_proj"> : !stream, !stg.tensor<[D, EI], bf16>
  %p = stg.param "index_places" {frozen} : !stg.tensor<[_ = CB, EI], bf16>
  %c = stg.compress CB %nk, %g, %p <"index_compressor"> : !index_keys, !index_keys, !stg.tensor<[_ = CB, EI], bf16> -> !blocks
  %ww = stg.param "index_weights" {frozen} : !stg.tensor<[D, HI], bf16>
  %w = stg.einsum "bsd,dh->bsh" %x, %ww <"index_weights"> : !stream, !stg.tensor<[D, HI], bf16>
  %s = stg.select_keys KT/CB %q, %c, %w {compressed = #sym.expr<CB>} <"index"> : !stg.tensor<[B, S, HI, EI], bf16>, !blocks, !stg.tensor<[B, S, HI], bf16>
  %b = stg.broadcast dim 3 %s <"index_blocks"> : !chosen -> !stg.tensor<[B, S, _ = KT/CB, _ = CB], i32>
  %t = stg.rearrange "bskp->bs(kp)" %b <"index_tokens"> : !stg.tensor<[B, S, _ = KT/CB, _ = CB], i32> -> !selection
  stg.return %t : !selection
}

stg.block @pooled_selection_branch(%x: !stream) -> !stream {
  %r = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %n = stg.call @latent_of_queries(%r) : (!stream) -> !query_latent
  %wb = stg.param "q_b_proj" : !stg.tensor<[QL, H, EN], bf16>
  %q = stg.einsum "bsr,rhe->bshe" %n, %wb <"q_b_proj"> : !query_latent, !stg.tensor<[QL, H, EN], bf16>
  %wka = stg.param "kv_a_proj" : !stg.tensor<[D, KL], bf16>
  %c = stg.einsum "bsd,dr->bsr" %r, %wka <"kv_a_proj"> : !stream, !stg.tensor<[D, KL], bf16>
  %wn = stg.param "kv_a_norm" : !stg.tensor<[KL], bf16>
  %l, %rstd = stg.rms_norm %c, %wn : !latent, !stg.tensor<[KL], bf16>
  %wkb = stg.param "kv_b_proj" : !stg.tensor<[KL, H, EN + EV], bf16>
  %kv = stg.einsum "bsr,rhe->bshe" %l, %wkb <"kv_b_proj"> : !latent, !stg.tensor<[KL, H, EN + EV], bf16>
  %k, %v = stg.split dim 3 %kv : !stg.tensor<[B, S, H, EN + EV], bf16> -> !queries, !values
  %s = stg.call @tokens_of_blocks(%r, %n) : (!stream, !query_latent) -> !selection
  %a, %lse = stg.attention causal %q, %k, %v, %s : !queries, !queries, !values, !selection
  %wo = stg.param "o_proj" : !stg.tensor<[H, EV, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo <"o_proj"> : !values, !stg.tensor<[H, EV, D], bf16>
  stg.return %o : !stream
}
