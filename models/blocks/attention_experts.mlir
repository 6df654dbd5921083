// Mixtures of attention heads (JetMoE): the experts of attention are pairs of a projection of queries
// and one of the output, as many heads each as there are key/value heads, which all experts share. A
// token attends with the heads of each of its A experts.

stg.import "attention.mlir"
stg.import "experts.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @K "key/value heads, and query heads of an expert"
stg.symbol @E "head size"
stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!places = !stg.tensor<[B, S, A, 1], i32>
!keys = !stg.tensor<[B, S, K, E], bf16>
!queries = !stg.tensor<[B, S, H = A*K, E], bf16>
!rows = !stg.tensor<[X, A*B*S*CN/(X*CD), D], bf16>
!heads = !stg.tensor<[X, A*B*S*CN/(X*CD), K, E], bf16>
!wide_rows = !stg.tensor<[X, A*B*S*CN/(X*CD), K = K*E], bf16>
!wide = !stg.tensor<[B, S, A, K = K*E], bf16>

// The queries of each expert of a token, and its place: the one expert of a token's choice.
stg.block @expert_queries(%n: !stream, %choice: !choices, %place: !places) -> !queries {
  %rows = stg.dispatch %n, %choice <"queries_dispatch"> : !stream, !choices -> !rows
  %w = stg.param "q_proj" : !stg.tensor<[X, D, K, E], bf16>
  %p = stg.einsum "xcd,xdke->xcke" %rows, %w : !rows, !stg.tensor<[X, D, K, E], bf16>
  %r = stg.rearrange "xcke->xc(ke)" %p <"queries_rows"> : !heads -> !wide_rows
  %q = stg.combine %r, %place <"queries_combine"> : !wide_rows, !places -> !wide
  // Heads that read one key/value head stand together.
  %h = stg.rearrange "bsa(ke)->bs(ka)e" %q <"queries"> : !wide -> !queries
  stg.return %h : !queries
}

// What the experts of a token make of what it attends to with their heads.
stg.block @expert_outputs(%a: !queries, %w: !weights, %choice: !choices, %place: !places) -> !stream {
  %h = stg.rearrange "bs(ka)e->bsa(ke)" %a <"attended"> : !queries -> !wide
  %rows = stg.dispatch %h, %place <"attended_dispatch"> : !wide, !places -> !wide_rows
  %r = stg.rearrange "xc(ke)->xcke" %rows <"attended_rows"> : !wide_rows -> !heads
  %wo = stg.param "o_proj" : !stg.tensor<[X, K, E, D], bf16>
  %p = stg.einsum "xcke,xked->xcd" %r, %wo : !heads, !stg.tensor<[X, K, E, D], bf16>
  %o = stg.combine %p, %choice, %w <"attended_combine"> : !rows, !choices, !weights -> !stream
  %b = stg.param "o_bias" : !vector
  %y = stg.bias_add %o, %b : !stream, !vector
  stg.return %y : !stream
}

stg.block @attention_experts(%n: !stream) -> !stream {
  %w, %choice = stg.call @route(%n) <"attention"> : (!stream) -> (!weights, !choices)
  %place = stg.rearrange "bsa->bsa()" %choice <"places"> : !choices -> !places
  %q = stg.call @expert_queries(%n, %choice, %place) : (!stream, !choices, !places) -> !queries
  %wk = stg.param "kv_proj" : !stg.tensor<[D, 2*K, E], bf16>
  %kv = stg.einsum "bsd,dke->bske" %n, %wk : !stream, !stg.tensor<[D, 2*K, E], bf16>
  %k, %v = stg.split dim 2 %kv : !stg.tensor<[B, S, 2*K, E], bf16> -> !keys, !keys
  %a = stg.call @attend_heads(%q, %k, %v) {H = A*K} : (!queries, !keys, !keys) -> !queries
  %y = stg.call @expert_outputs(%a, %w, %choice, %place) : (!queries, !weights, !choices, !places) -> !stream
  stg.return %y : !stream
}

// With their normalizations and the residual stream; experts with a bias of what they give together.
stg.block @attention_experts_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @attention_experts(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

stg.block @biased_experts_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %e = stg.call @experts(%n) : (!stream) -> !stream
  %b = stg.param "experts_bias" : !vector
  %f = stg.bias_add %e, %b : !stream, !vector
  %y = stg.call @after(%x, %f) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
