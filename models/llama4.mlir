// Llama 4 Scout's text model: in each layer every token goes through one of X experts and
// through a shared expert, a feed-forward network that all tokens see.
//
// Sequences are of up to 8192 tokens, within which the model's chunked attention is causal
// attention. Left out are the norms of queries and keys (they have no parameters), the
// scaling of an expert's input by the router, which is at its output here, and that each
// fourth layer has no rotary embedding. A capacity factor is as in models/mixtral.mlir.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size of an expert, also of the shared one"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"
stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

stg.config @"llama4-scout" "Llama 4 Scout" {D = 5120, H = 40, K = 8, E = 128, F = 8192, V = 202048, L = 48, X = 16, A = 1, S = 8192}

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!norm = !stg.tensor<[D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!heads = !stg.tensor<[B, S, H + 2*K, E], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S*CN/(X*CD), D], bf16>

func.func private @attention(%x: !stream) -> !stream {
  %norm = stg.param "attention_norm" : !norm
  %n, %rstd = stg.rms_norm %x, %norm : !stream, !norm
  %wqkv = stg.param "qkv_proj" : !stg.tensor<[D, H + 2*K, E], bf16>
  %qkv = stg.einsum "bsd,dhe->bshe" %n, %wqkv : !stream, !stg.tensor<[D, H + 2*K, E], bf16>
  %q, %k, %v = stg.split dim 2 %qkv : !heads -> !queries, !keys, !keys
  %qr = stg.rope %q <"rope_q"> : !queries
  %kr = stg.rope %k <"rope_k"> : !keys
  %a, %lse = stg.attention causal %qr, %kr, %v : !queries, !keys, !keys
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !queries, !stg.tensor<[H, E, D], bf16>
  %y = stg.add %x, %o <"attention_residual"> : !stream, !stream
  return %y : !stream
}

func.func private @shared_expert(%n: !stream) -> !stream {
  %wgu = stg.param "shared_gate_up_proj" : !stg.tensor<[D, 2, F], bf16>
  %gu = stg.einsum "bsd,dgf->bsgf" %n, %wgu : !stream, !stg.tensor<[D, 2, F], bf16>
  %h = stg.glu silu %gu <"shared_swiglu"> : !stg.tensor<[B, S, 2, F], bf16>
  %wd = stg.param "shared_down_proj" : !stg.tensor<[F, D], bf16>
  %out = stg.einsum "bsf,fd->bsd" %h, %wd : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F, D], bf16>
  return %out : !stream
}

func.func private @experts(%x: !stream) -> !stream {
  %norm = stg.param "ffn_norm" : !norm
  %n, %rstd = stg.rms_norm %x, %norm : !stream, !norm
  %router = stg.param "router" : !stg.tensor<[D, X], bf16>
  %logits = stg.einsum "bsd,dx->bsx" %n, %router : !stream, !stg.tensor<[D, X], bf16>
  %probs = stg.softmax %logits <"router_softmax"> : !stg.tensor<[B, S, X], bf16>
  %w, %choice = stg.top_k A %probs <"router_top_k"> : !probs
  %rows = stg.dispatch %n, %choice : !stream, !choices -> !buffers
  %wgu = stg.param "gate_up_proj" : !stg.tensor<[X, D, 2, F], bf16>
  %gu = stg.einsum "xcd,xdgf->xcgf" %rows, %wgu : !buffers, !stg.tensor<[X, D, 2, F], bf16>
  %h = stg.glu silu %gu <"swiglu"> : !stg.tensor<[X, A*B*S*CN/(X*CD), 2, F], bf16>
  %wd = stg.param "down_proj" : !stg.tensor<[X, F, D], bf16>
  %out = stg.einsum "xcf,xfd->xcd" %h, %wd : !stg.tensor<[X, A*B*S*CN/(X*CD), F], bf16>, !stg.tensor<[X, F, D], bf16>
  %c = stg.combine %out, %choice, %w : !buffers, !choices, !weights
  %shared = func.call @shared_expert(%n) : (!stream) -> !stream
  %sum = stg.add %c, %shared <"experts_sum"> : !stream, !stream
  %y = stg.add %x, %sum <"ffn_residual"> : !stream, !stream
  return %y : !stream
}

func.func @llama4(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %table = stg.param "tok_embeddings" : !stg.tensor<[V, D], bf16>
  %e = stg.embedding %table, %tokens : !stg.tensor<[V, D], bf16>, !ids
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = func.call @attention(%h) : (!stream) -> !stream
    %f = func.call @experts(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %norm = stg.param "norm" : !norm
  %n, %rstd = stg.rms_norm %x, %norm : !stream, !norm
  %head = stg.param "output" : !stg.tensor<[D, V], bf16>
  %logits = stg.einsum "bsd,dv->bsv" %n, %head : !stream, !stg.tensor<[D, V], bf16>
  %loss, %probs = stg.cross_entropy %logits, %labels : !stg.tensor<[B, S, V], bf16>, !ids
  return %loss : !stg.tensor<[B, S], f32>
}
