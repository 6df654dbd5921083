// Mixtures of experts: each token goes through the A experts with the largest router
// probabilities and gets the sum of their outputs, weighted with these probabilities.
//
// All experts get equally many tokens and none is dropped. A capacity factor CN/CD sizes
// the experts' buffers otherwise: CN = 5, CD = 4 is 1.25. A shared expert is a feed-forward
// network that all tokens see.

stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @F "feed-forward size of an expert"
stg.symbol @G = F "feed-forward size of the shared expert"
stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

!stream = !stg.tensor<[B, S, D], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S*CN/(X*CD), D], bf16>

stg.block @experts(%n: !stream) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" = "silu" "of the gate"
  stg.option @shared_expert : bool = false "a feed-forward network that all tokens see"
  %router = stg.param "router" : !stg.tensor<[D, X], bf16>
  %logits = stg.einsum "bsd,dx->bsx" %n, %router : !stream, !stg.tensor<[D, X], bf16>
  %probs = stg.softmax %logits <"router_softmax"> : !stg.tensor<[B, S, X], bf16>
  %w, %choice = stg.top_k A %probs <"router_top_k"> : !probs
  %rows = stg.dispatch %n, %choice : !stream, !choices -> !buffers
  %wgu = stg.param "gate_up_proj" : !stg.tensor<[X, D, 2, F], bf16>
  %gu = stg.einsum "xcd,xdgf->xcgf" %rows, %wgu : !buffers, !stg.tensor<[X, D, 2, F], bf16>
  %h = stg.glu silu %gu {stg.options = {function = "activation"}} <"swiglu"> : !stg.tensor<[X, A*B*S*CN/(X*CD), 2, F], bf16>
  %wd = stg.param "down_proj" : !stg.tensor<[X, F, D], bf16>
  %out = stg.einsum "xcf,xfd->xcd" %h, %wd : !stg.tensor<[X, A*B*S*CN/(X*CD), F], bf16>, !stg.tensor<[X, F, D], bf16>
  %c = stg.combine %out, %choice, %w : !buffers, !choices, !weights
  %y = stg.if @shared_expert -> !stream {
    %shared = stg.call @gated_feed_forward(%n) {F = G, prefix = "shared_"} : (!stream) -> !stream
    %sum = stg.add %c, %shared <"experts_sum"> : !stream, !stream
    stg.yield %sum : !stream
  } else {
    stg.yield %c : !stream
  }
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @experts_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %e = stg.call @experts(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %e) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
