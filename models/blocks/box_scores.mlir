// Scores of attention by how far the boxes of two tokens are from each other on a page (BROS).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "heads"
stg.symbol @E "head size"
stg.symbol @NC = 8 "numbers of a box"
stg.symbol @NF = 12 "frequencies of a number"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!waves = !stg.tensor<[B, S, _ = S, _ = NC, _ = NF], bf16>
!pairs = !stg.tensor<[B, S, _ = S, _ = 2*NC*NF], bf16>
!places = !stg.tensor<[B, S, _ = S, E], bf16>

// Sines and cosines of the differences of all numbers, and a matrix as wide as a head.
stg.block @embed_differences(%x: !stg.tensor<[B, S, _ = S, _ = NC], bf16>) -> !places {
  %r = stg.broadcast dim 4 %x <"differences"> : !stg.tensor<[B, S, _ = S, _ = NC], bf16> -> !waves
  // No trace has the values of constants.
  %c = stg.splat 1 : !waves
  %f = stg.mul %r, %c <"differences_by_frequency"> : !waves, !waves
  %s = stg.elementwise sin %f <"sines"> : !waves
  %o = stg.elementwise cos %f <"cosines"> : !waves
  %j = stg.concat dim 4 ordered %s, %o <"waves"> : !waves, !waves -> !stg.tensor<[B, S, _ = S, _ = NC, _ = 2*NF], bf16>
  %w = stg.rearrange "bstcf->bst(cf)" %j <"waves_of_pairs"> : !stg.tensor<[B, S, _ = S, _ = NC, _ = 2*NF], bf16> -> !pairs
  %p = stg.param "box_proj" : !stg.tensor<[_ = 2*NC*NF, E], bf16>
  %y = stg.einsum "bstw,we->bste" %w, %p : !pairs, !stg.tensor<[_ = 2*NC*NF, E], bf16>
  stg.return %y : !places
}

// Queries score contents, and what the differences are.
stg.block @box_scores_attention_layer(%x: !stream, %places: !places) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) {K as H, separate_projections = true, qkv_bias = true} : (!stream) -> (!heads, !heads, !heads)
  %b = stg.einsum "bshe,bste->bhst" %q, %places <"box_scores"> : !heads, !places
  // No trace has the value of the constant.
  %c = stg.splat 1 : !stg.tensor<[B, H, S, _ = S], bf16>
  %d = stg.mul %b, %c <"box_scores_scaled"> : !stg.tensor<[B, H, S, _ = S], bf16>, !stg.tensor<[B, H, S, _ = S], bf16>
  %a, %lse = stg.attention none %q, %k, %v, %d : !heads, !heads, !heads, !stg.tensor<[B, H, S, _ = S], bf16>
  %o = stg.call @attention_output(%a) {o_bias = true} : (!heads) -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
