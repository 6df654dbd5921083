// Words and the patches of an image on a page: where words stand, and a bias of scores by how far
// apart two tokens are in the text, along the page and down it (LayoutLM 3).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @PB "places of a box's sides along a page"
stg.symbol @CO "width of what is known of a side"
stg.symbol @N "buckets of relative positions"
stg.symbol @NB "buckets of relative places"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!sides = !stg.tensor<[PB, D = CO], bf16>
!sizes = !stg.tensor<[PB, D = D/2 - 2*CO], bf16>
!side = !stg.tensor<[B, S, D = CO], bf16>
!size = !stg.tensor<[B, S, D = D/2 - 2*CO], bf16>
!pairs = !stg.tensor<[B, S, _ = S], i32>
!found = !stg.tensor<[B, S, _ = S, H], bf16>
!scores = !stg.tensor<[B, H, S, _ = S], bf16>

// What is known of each side of a word's box and of how large the box is, side by side, is added.
stg.block @add_joined_boxes(%x: !stream, %left: !ids, %top: !ids, %right: !ids, %bottom: !ids, %height: !ids, %width: !ids) -> !stream {
  %tx = stg.param "x_embeddings" : !sides
  %ty = stg.param "y_embeddings" : !sides
  %th = stg.param "height_embeddings" : !sizes
  %tw = stg.param "width_embeddings" : !sizes
  %l = stg.embedding %tx, %left <"left"> : !sides, !ids
  %t = stg.embedding %ty, %top <"top"> : !sides, !ids
  %r = stg.embedding %tx, %right <"right"> : !sides, !ids
  %b = stg.embedding %ty, %bottom <"bottom"> : !sides, !ids
  %h = stg.embedding %th, %height <"height"> : !sizes, !ids
  %w = stg.embedding %tw, %width <"width"> : !sizes, !ids
  %j = stg.concat dim 2 ordered %l, %t, %r, %b, %h, %w <"boxes"> : !side, !side, !side, !side, !size, !size -> !stream
  %y = stg.add %x, %j <"boxed_embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// The words of a page, which stand before its patches.
stg.block @words_of_page(%x: !stream) -> !stg.tensor<[B, S = T, D], bf16> {
  %y = stg.slice dim 1 %x {from = #sym.expr<0>} <"words"> : !stream -> !stg.tensor<[B, S = T, D], bf16>
  stg.return %y : !stg.tensor<[B, S = T, D], bf16>
}

// What a head makes of each token before its classes.
stg.block @head_of_tokens(%x: !stream) -> !stream {
  %w = stg.param "head" : !stg.tensor<[D, D], bf16>
  %p = stg.einsum "bsd,de->bse" %x, %w : !stream, !stg.tensor<[D, D], bf16>
  %b = stg.param "head_bias" : !stg.tensor<[D], bf16>
  %y = stg.bias_add %p, %b : !stream, !stg.tensor<[D], bf16>
  %a = stg.activation tanh %y <"head_tanh"> : !stream
  stg.return %a : !stream
}

// A bias of each sequence by the buckets of its tokens' distances. Nothing trains the table.
stg.block @look_up_bias(%distances: !pairs) -> !scores {
  stg.option @name : string "of the table"
  %t = stg.param "{name}" {frozen} : !stg.tensor<[N, H], bf16>
  %f = stg.embedding %t, %distances <"{name}"> : !stg.tensor<[N, H], bf16>, !pairs
  %y = stg.rearrange "bsth->bhst" %f <"{name}_of_heads"> : !found -> !scores
  stg.return %y : !scores
}

stg.block @position_bias(%distances: !pairs) -> !scores {
  %y = stg.call @look_up_bias(%distances) {name = "position_bias"} : (!pairs) -> !scores
  stg.return %y : !scores
}

stg.block @place_bias(%across: !pairs, %down: !pairs) -> !scores {
  %a = stg.call @look_up_bias(%across) {name = "across_bias", N = NB} : (!pairs) -> !scores
  %d = stg.call @look_up_bias(%down) {name = "down_bias", N = NB} : (!pairs) -> !scores
  %y = stg.add %a, %d <"place_bias"> : !scores, !scores
  stg.return %y : !scores
}

// Attention with what each layer makes of a bias of each sequence: it times a constant.
stg.block @scaled_bias_attention(%x: !stream, %bias: !scores) -> !stream {
  %q, %k, %v = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  // No trace has the value of the constant.
  %c = stg.splat 1 : !scores
  %s = stg.mul %bias, %c <"scaled_bias"> : !scores, !scores
  %a, %lse = stg.attention none %q, %k, %v, %s : !heads, !heads, !heads, !scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @scaled_bias_attention_layer(%x: !stream, %bias: !scores) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @scaled_bias_attention(%n, %bias) : (!stream, !scores) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// The same of the sum of two, which each layer makes.
stg.block @two_biases_attention_layer(%x: !stream, %positions: !scores, %places: !scores) -> !stream {
  %b = stg.add %positions, %places <"both_biases"> : !scores, !scores
  %y = stg.call @scaled_bias_attention_layer(%x, %b) : (!stream, !scores) -> !stream
  stg.return %y : !stream
}
