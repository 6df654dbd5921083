// GPT: LayerNorm before attention and before a two-matrix feed-forward network, learned
// positions, biases everywhere but in the head.
//
// `@gpt` reads the same table for tokens and for the head (tied, as in GPT-2, GPT-3 and
// Megatron-LM). Query, key and value are one projection. The positions of the tokens are
// an input of the step, like the tokens.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E = D/H "head size"
stg.symbol @F = 4*D "feed-forward size"
stg.symbol @V "vocabulary"
stg.symbol @P "positions"
stg.symbol @L "layers"

stg.config @"gpt2-1.5b" "GPT-2 1.5B" {D = 1600, H = 25, V = 50257, P = 1024, L = 48, S = 1024}
stg.config @"gpt3-175b" "GPT-3 175B" {D = 12288, H = 96, V = 50257, P = 2048, L = 96, S = 2048}
stg.config @"megatron-22b" "Megatron-LM 22B" {D = 6144, H = 64, V = 51200, P = 2048, L = 48, S = 2048}
stg.config @"megatron-530b" "Megatron-Turing NLG 530B" {D = 20480, H = 128, V = 51200, P = 2048, L = 105, S = 2048}
stg.config @"megatron-1t" "Megatron-LM 1T" {D = 25600, H = 160, V = 51200, P = 2048, L = 128, S = 2048}

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!qkv = !stg.tensor<[B, S, 3*H, E], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>
!table = !stg.tensor<[V, D], bf16>

func.func private @attention(%x: !stream) -> !stream {
  %norm = stg.param "attention_norm.weight" : !vector
  %shift = stg.param "attention_norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %x, %norm, %shift <"attention_norm"> : !stream, !vector, !vector
  %wqkv = stg.param "qkv_proj" : !stg.tensor<[D, 3*H, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %n, %wqkv : !stream, !stg.tensor<[D, 3*H, E], bf16>
  %bqkv = stg.param "qkv_bias" : !stg.tensor<[3*H, E], bf16>
  %qkv = stg.bias_add %p, %bqkv : !qkv, !stg.tensor<[3*H, E], bf16>
  %q, %k, %v = stg.split dim 2 %qkv : !qkv -> !heads, !heads, !heads
  %a, %lse = stg.attention causal %q, %k, %v : !heads, !heads, !heads
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %bo = stg.param "o_bias" : !vector
  %ob = stg.bias_add %o, %bo : !stream, !vector
  %y = stg.add %x, %ob <"attention_residual"> : !stream, !stream
  return %y : !stream
}

func.func private @feed_forward(%x: !stream) -> !stream {
  %norm = stg.param "ffn_norm.weight" : !vector
  %shift = stg.param "ffn_norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %x, %norm, %shift <"ffn_norm"> : !stream, !vector, !vector
  %w1 = stg.param "fc1" : !stg.tensor<[D, F], bf16>
  %u = stg.einsum "bsd,df->bsf" %n, %w1 : !stream, !stg.tensor<[D, F], bf16>
  %b1 = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
  %ub = stg.bias_add %u, %b1 : !hidden, !stg.tensor<[F], bf16>
  %h = stg.activation gelu %ub <"gelu"> : !hidden
  %w2 = stg.param "fc2" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bsf,fd->bsd" %h, %w2 : !hidden, !stg.tensor<[F, D], bf16>
  %b2 = stg.param "fc2_bias" : !vector
  %db = stg.bias_add %d, %b2 : !stream, !vector
  %y = stg.add %x, %db <"ffn_residual"> : !stream, !stream
  return %y : !stream
}

func.func @gpt(%tokens: !ids {stg.name = "tokens"}, %positions: !ids {stg.name = "positions"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %table = stg.param "tok_embeddings" : !table
  %t = stg.embedding %table, %tokens : !table, !ids
  %ptable = stg.param "pos_embeddings" : !stg.tensor<[P, D], bf16>
  %p = stg.embedding %ptable, %positions : !stg.tensor<[P, D], bf16>, !ids
  %e = stg.add %t, %p <"embeddings"> : !stream, !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = func.call @attention(%h) : (!stream) -> !stream
    %f = func.call @feed_forward(%a) : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %norm = stg.param "norm.weight" : !vector
  %shift = stg.param "norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %x, %norm, %shift <"norm"> : !stream, !vector, !vector
  %logits = stg.einsum "bsd,vd->bsv" %n, %table <"output"> : !stream, !table
  %loss, %probs = stg.cross_entropy %logits, %labels : !stg.tensor<[B, S, V], bf16>, !ids
  return %loss : !stg.tensor<[B, S], f32>
}
