// Attention whose queries of all heads are made of one vector of each token, as latent attention has
// it, and whose keys and values are of few heads (Step 3).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @QL "size of the queries' latent"

!stream = !stg.tensor<[B, S, D], bf16>
!latent = !stg.tensor<[B, S, QL], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>

// A vector of each token, normalized, and what each head makes of it.
stg.block @queries_of_latent(%x: !stream) -> !queries {
  %wa = stg.param "q_a_proj" : !stg.tensor<[D, QL], bf16>
  %a = stg.einsum "bsd,dr->bsr" %x, %wa : !stream, !stg.tensor<[D, QL], bf16>
  %wn = stg.param "q_a_norm" : !stg.tensor<[QL], bf16>
  %n, %rstd = stg.rms_norm %a, %wn : !latent, !stg.tensor<[QL], bf16>
  %wb = stg.param "q_b_proj" : !stg.tensor<[QL, H, E], bf16>
  %q = stg.einsum "bsr,rhe->bshe" %n, %wb : !latent, !stg.tensor<[QL, H, E], bf16>
  stg.return %q : !queries
}

stg.block @latent_queries_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q = stg.call @queries_of_latent(%n) : (!stream) -> !queries
  %k = stg.call @key_heads(%n) {name = "k"} : (!stream) -> !keys
  %v = stg.call @key_heads(%n) {name = "v"} : (!stream) -> !keys
  %a = stg.call @attend_heads(%q, %k, %v) : (!queries, !keys, !keys) -> !queries
  %o = stg.call @attention_output(%a) : (!queries) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
