// PaLM: attention and a SwiGLU feed-forward network side by side, both of the same
// normalized input; one key/value head for all query heads; rotary positions; no biases;
// one table for tokens and for the head.
//
// The normalization is an RMSNorm, that of T5X: a scale, neither a mean nor a shift. Query,
// key and value are one projection, gate and up another. In the largest model the query
// heads together are narrower than the hidden size.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F = 4*D "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"

stg.config @"palm-8b" "PaLM 8B" {D = 4096, H = 16, K = 1, E = 256, V = 256000, L = 32, S = 2048}
stg.config @"palm-62b" "PaLM 62B" {D = 8192, H = 32, K = 1, E = 256, V = 256000, L = 64, S = 2048}
stg.config @"palm-540b" "PaLM 540B" {D = 18432, H = 48, K = 1, E = 256, V = 256000, L = 118, S = 2048}

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!norm = !stg.tensor<[D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!heads = !stg.tensor<[B, S, H + 2*K, E], bf16>
!table = !stg.tensor<[V, D], bf16>

func.func private @attention(%n: !stream) -> !stream {
  %wqkv = stg.param "qkv_proj" : !stg.tensor<[D, H + 2*K, E], bf16>
  %qkv = stg.einsum "bsd,dhe->bshe" %n, %wqkv : !stream, !stg.tensor<[D, H + 2*K, E], bf16>
  %q, %k, %v = stg.split dim 2 %qkv : !heads -> !queries, !keys, !keys
  %qr = stg.rope %q <"rope_q"> : !queries
  %kr = stg.rope %k <"rope_k"> : !keys
  %a, %lse = stg.attention causal %qr, %kr, %v : !queries, !keys, !keys
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !queries, !stg.tensor<[H, E, D], bf16>
  return %o : !stream
}

func.func private @feed_forward(%n: !stream) -> !stream {
  %wgu = stg.param "gate_up_proj" : !stg.tensor<[D, 2, F], bf16>
  %gu = stg.einsum "bsd,dgf->bsgf" %n, %wgu : !stream, !stg.tensor<[D, 2, F], bf16>
  %h = stg.glu silu %gu <"swiglu"> : !stg.tensor<[B, S, 2, F], bf16>
  %wd = stg.param "down_proj" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bsf,fd->bsd" %h, %wd : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F, D], bf16>
  return %d : !stream
}

func.func @palm(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %table = stg.param "tok_embeddings" : !table
  %e = stg.embedding %table, %tokens : !table, !ids
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %norm = stg.param "norm" : !norm
    %n, %rstd = stg.rms_norm %h, %norm : !stream, !norm
    %a = func.call @attention(%n) : (!stream) -> !stream
    %f = func.call @feed_forward(%n) : (!stream) -> !stream
    %s = stg.add %a, %f <"parallel"> : !stream, !stream
    %y = stg.add %h, %s <"residual"> : !stream, !stream
    stg.yield %y : !stream
  }
  %norm = stg.param "norm" : !norm
  %n, %rstd = stg.rms_norm %x, %norm : !stream, !norm
  %logits = stg.einsum "bsd,vd->bsv" %n, %table <"output"> : !stream, !table
  %loss, %probs = stg.cross_entropy %logits, %labels : !stg.tensor<[B, S, V], bf16>, !ids
  return %loss : !stg.tensor<[B, S], f32>
}
