// Lightning attention: linear attention of H heads of E elements, whose states fade at a rate that is
// a constant of each head. Queries, keys and values go through an activation; what all heads give is
// normalized together and gated. In chunks of MQ tokens.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "heads"
stg.symbol @E "head size"
stg.symbol @MQ = 256 "tokens of a chunk"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!triples = !stg.tensor<[B, S, H, 3*E], bf16>
!steps = !stg.tensor<[B, S, H], bf16>
!each = !stg.tensor<[H], bf16>
!weight = !stg.tensor<[H, E], bf16>

stg.block @lightning_attention(%n: !stream) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of queries, keys and values"
  %w = stg.param "qkv_proj" : !stg.tensor<[D, H, 3*E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %n, %w : !stream, !stg.tensor<[D, H, 3*E], bf16>
  %a = stg.activation silu %p {stg.options = {function = "activation"}} <"qkv_{activation}"> : !triples
  %q, %k, %v = stg.split dim 3 %a : !triples -> !heads, !heads, !heads
  // The scan of Mamba-2 whose steps and rates are constants, and which adds nothing of its input.
  %step = stg.splat 1 : !steps
  %rate = stg.splat 1 : !each
  %none = stg.splat 0 : !each
  %y = stg.ssd MQ %v, %step, %rate, %k, %q, %none <"lightning"> : !heads, !steps, !each, !heads, !heads, !each
  %wn = stg.param "lightning_norm" : !weight
  %m, %rstd = stg.rms_norm %y, %wn : !heads, !weight
  %wg = stg.param "output_gate" : !stg.tensor<[D, H, E], bf16>
  %g = stg.einsum "bsd,dhe->bshe" %n, %wg : !stream, !stg.tensor<[D, H, E], bf16>
  %s = stg.activation sigmoid %g <"gate_sigmoid"> : !heads
  %o = stg.mul %m, %s <"gated_output"> : !heads, !heads
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %out = stg.einsum "bshe,hed->bsd" %o, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  stg.return %out : !stream
}

// With its normalization and the residual stream.
stg.block @lightning_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @lightning_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
