// Attention with a bias of scores by relative position that each token gates by what it is (WavLM).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!scores = !stg.tensor<[H, S, _ = S], bf16>
!gated_scores = !stg.tensor<[B, H, S, _ = S], bf16>
!gate = !stg.tensor<[B, S, H, 1], bf16>
!gates = !stg.tensor<[B, S, H, 2], bf16>

// Two gates of each token and head, of the part of the token that is as large as the head: how much
// of the bias there is, and how much of a learned number takes part in that.
stg.block @gate_bias(%x: !stream, %bias: !scores) -> !gated_scores {
  %h = stg.rearrange "bs(he)->bshe" %x <"parts_of_tokens"> : !stream -> !heads
  %w = stg.param "gate_proj" : !stg.tensor<[E, 8], bf16>
  %p = stg.einsum "bshe,eg->bshg" %h, %w : !heads, !stg.tensor<[E, 8], bf16>
  %b = stg.param "gate_bias" : !stg.tensor<[8], bf16>
  %y = stg.bias_add %p, %b : !stg.tensor<[B, S, H, 8], bf16>, !stg.tensor<[8], bf16>
  %f = stg.rearrange "bsh(ij)->bshij" %y <"gate_fours"> : !stg.tensor<[B, S, H, 8], bf16> -> !stg.tensor<[B, S, H, 2, 4], bf16>
  %s = stg.sum dim 4 %f <"gate_sums"> : !stg.tensor<[B, S, H, 2, 4], bf16>
  %g = stg.activation sigmoid %s <"gates"> : !gates
  %ga, %gb = stg.split dim 3 ordered %g : !gates -> !gate, !gate
  %c = stg.param "gate_constant" : !stg.tensor<[H], bf16>
  %m = stg.mul_along %gb, %c {dims = array<i64: 2>} <"gate_of_constant"> : !gate, !stg.tensor<[H], bf16>
  // No trace has the values of constants.
  %one = stg.splat 1 : !gate
  %d = stg.elementwise sub %m, %one <"gate_less_one"> : !gate, !gate
  %t = stg.mul %ga, %d <"gate_product"> : !gate, !gate
  %two = stg.splat 2 : !gate
  %o = stg.add %t, %two <"gate"> : !gate, !gate
  %r = stg.rearrange "bsh()->bsh" %o <"gate_of_token"> : !gate -> !stg.tensor<[B, S, H], bf16>
  %z = stg.einsum "bsh,hst->bhst" %r, %bias <"gated_bias"> : !stg.tensor<[B, S, H], bf16>, !scores
  stg.return %z : !gated_scores
}

stg.block @gated_bias_attention(%x: !stream, %bias: !scores) -> !stream {
  %g = stg.call @gate_bias(%x, %bias) : (!stream, !scores) -> !gated_scores
  %q, %k, %v = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %a, %lse = stg.attention none %q, %k, %v, %g : !heads, !heads, !heads, !gated_scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @gated_bias_attention_layer(%x: !stream, %bias: !scores) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @gated_bias_attention(%n, %bias) : (!stream, !scores) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
