// Llama 2, 3 and 3.1: one description, different symbol values.
//
// RMSNorm before attention and before a SwiGLU feed-forward network, rotary
// positions, grouped key/value heads, untied head, no biases. Query, key and value
// are one projection, gate and up another, as in Megatron-LM. The program is the
// forward pass of a training step: it gives the cross-entropy of each token.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"

stg.config @"llama2-7b" "Llama 2 7B" {D = 4096, H = 32, K = 32, E = 128, F = 11008, V = 32000, L = 32, S = 4096}
stg.config @"llama2-70b" "Llama 2 70B" {D = 8192, H = 64, K = 8, E = 128, F = 28672, V = 32000, L = 80, S = 4096}
stg.config @"llama3-8b" "Llama 3 8B" {D = 4096, H = 32, K = 8, E = 128, F = 14336, V = 128256, L = 32, S = 8192}
stg.config @"llama3-70b" "Llama 3 70B" {D = 8192, H = 64, K = 8, E = 128, F = 28672, V = 128256, L = 80, S = 8192}
stg.config @"llama3.1-405b" "Llama 3.1 405B" {D = 16384, H = 128, K = 8, E = 128, F = 53248, V = 128256, L = 126, S = 8192}

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!norm = !stg.tensor<[D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!heads = !stg.tensor<[B, S, H + 2*K, E], bf16>

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

func.func private @feed_forward(%x: !stream) -> !stream {
  %norm = stg.param "ffn_norm" : !norm
  %n, %rstd = stg.rms_norm %x, %norm : !stream, !norm
  %wgu = stg.param "gate_up_proj" : !stg.tensor<[D, 2, F], bf16>
  %gu = stg.einsum "bsd,dgf->bsgf" %n, %wgu : !stream, !stg.tensor<[D, 2, F], bf16>
  %h = stg.glu silu %gu <"swiglu"> : !stg.tensor<[B, S, 2, F], bf16>
  %wd = stg.param "down_proj" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bsf,fd->bsd" %h, %wd : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F, D], bf16>
  %y = stg.add %x, %d <"ffn_residual"> : !stream, !stream
  return %y : !stream
}

func.func @llama(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %table = stg.param "tok_embeddings" : !stg.tensor<[V, D], bf16>
  %e = stg.embedding %table, %tokens : !stg.tensor<[V, D], bf16>, !ids
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = func.call @attention(%h) : (!stream) -> !stream
    %f = func.call @feed_forward(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %norm = stg.param "norm" : !norm
  %n, %rstd = stg.rms_norm %x, %norm : !stream, !norm
  %head = stg.param "output" : !stg.tensor<[D, V], bf16>
  %logits = stg.einsum "bsd,dv->bsv" %n, %head : !stream, !stg.tensor<[D, V], bf16>
  %loss, %probs = stg.cross_entropy %logits, %labels : !stg.tensor<[B, S, V], bf16>, !ids
  return %loss : !stg.tensor<[B, S], f32>
}
