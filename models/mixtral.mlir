// Mixtral: a Llama whose feed-forward network is a mixture of experts.
//
// Each token goes through the A experts with the largest router probabilities and
// gets the sum of their outputs, weighted with these probabilities. (The published
// models scale the A weights of a token to a sum of one, 3 operations per weight,
// which is left out.) All experts get equally many tokens and none is dropped. A
// capacity factor CN/CD sizes the experts' buffers otherwise: CN = 5, CD = 4 is 1.25.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size of an expert"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"
stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

stg.config @"mixtral-8x7b" "Mixtral 8x7B" {D = 4096, H = 32, K = 8, E = 128, F = 14336, V = 32000, L = 32, X = 8, A = 2, S = 4096}
stg.config @"mixtral-8x22b" "Mixtral 8x22B" {D = 6144, H = 48, K = 8, E = 128, F = 16384, V = 32768, L = 56, X = 8, A = 2, S = 4096}

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
  %y = stg.add %x, %c <"ffn_residual"> : !stream, !stream
  return %y : !stream
}

func.func @mixtral(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
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
