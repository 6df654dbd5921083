// Masks of what a box around it asks for: a few tokens and the positions of a map read each other in
// turn, and what tokens for masks become is compared with each position of a larger map (SAM).

stg.import "attention.mlir"
stg.import "norm.mlir"
stg.import "object_queries.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @S "positions of a map, or tokens: of quality, of masks and of a box's corners"
stg.symbol @T "the others of these two, which are read"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @NK "masks of a box"
stg.symbol @NP "rows of points, which a box has not"
stg.symbol @MC "channels of a mask that is given"
stg.symbol @QH "width of the network of qualities"

!stream = !stg.tensor<[B, S, D], bf16>
!read = !stg.tensor<[B, T, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!read_heads = !stg.tensor<[B, T, H, E], bf16>
!vector = !stg.tensor<[D], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!larger = !stg.tensor<[B, _ = 2*GY, _ = 2*GX, _ = D/4], bf16>
!largest = !stg.tensor<[B, _ = 4*GY, _ = 4*GX, _ = D/8], bf16>
!masks = !stg.tensor<[B, NK, _ = 4*GY, _ = 4*GX], bf16>
!mask_rows = !stg.tensor<[B, NK, D], bf16>
!narrow_rows = !stg.tensor<[B, NK, _ = D/8], bf16>
!qualities = !stg.tensor<[B, NK], bf16>
!loss = !stg.tensor<[B], f32>

// The positions of a map, and a row that says that no mask is given.
stg.block @without_mask(%x: !map) -> !stream {
  %w = stg.param "no_mask" : !vector
  %m = stg.bias_add %x, %w <"without_mask"> : !map, !vector
  %y = stg.rearrange "byxd->b(yx)d" %m <"map_positions"> : !map -> !stream
  stg.return %y : !stream
}

// The corners of a box, whose features are fixed, behind tokens of the quality and of masks.
stg.block @prompt_tokens(%corners: !stg.tensor<[B, MT = 2, D], bf16>) -> !stg.tensor<[B, MT = NK + 3, D], bf16> {
  %wc = stg.param "corner_embeddings" : !stg.tensor<[MT = 2, D], bf16>
  %c = stg.bias_add %corners, %wc <"corners"> : !stg.tensor<[B, MT = 2, D], bf16>, !stg.tensor<[MT = 2, D], bf16>
  %wq = stg.param "quality_token" : !stg.tensor<[MT = 1, D], bf16>
  %wm = stg.param "mask_tokens" : !stg.tensor<[MT = NK, D], bf16>
  %o = stg.concat dim 0 ordered %wq, %wm <"output_tokens"> : !stg.tensor<[MT = 1, D], bf16>, !stg.tensor<[MT = NK, D], bf16> -> !stg.tensor<[MT = NK + 1, D], bf16>
  %b = stg.broadcast dim 0 %o <"output_tokens"> : !stg.tensor<[MT = NK + 1, D], bf16> -> !stg.tensor<[B, MT = NK + 1, D], bf16>
  %y = stg.concat dim 1 ordered %b, %c <"prompt_tokens"> : !stg.tensor<[B, MT = NK + 1, D], bf16>, !stg.tensor<[B, MT = 2, D], bf16> -> !stg.tensor<[B, MT = NK + 3, D], bf16>
  stg.return %y : !stg.tensor<[B, MT = NK + 3, D], bf16>
}

// What points and masks that are given would be read with, and a box has not.
stg.block @unread_prompts(%x: !stream) -> !stream {
  %p = stg.param "point_embeddings" {frozen} : !stg.tensor<[_ = NP, D], bf16>
  stg.keep %p : !stg.tensor<[_ = NP, D], bf16>
  %w1 = stg.param "given_mask1" {frozen} : !stg.tensor<[2, 2, 1, _ = MC/4], bf16>
  stg.keep %w1 : !stg.tensor<[2, 2, 1, _ = MC/4], bf16>
  %r1 = stg.param "given_mask1_rows" {frozen} : !stg.tensor<[3, _ = MC/4], bf16>
  stg.keep %r1 : !stg.tensor<[3, _ = MC/4], bf16>
  %w2 = stg.param "given_mask2" {frozen} : !stg.tensor<[2, 2, _ = MC/4, _ = MC], bf16>
  stg.keep %w2 : !stg.tensor<[2, 2, _ = MC/4, _ = MC], bf16>
  %r2 = stg.param "given_mask2_rows" {frozen} : !stg.tensor<[3, _ = MC], bf16>
  stg.keep %r2 : !stg.tensor<[3, _ = MC], bf16>
  %w3 = stg.param "given_mask3" {frozen} : !stg.tensor<[_ = MC, D], bf16>
  stg.keep %w3 : !stg.tensor<[_ = MC, D], bf16>
  %b3 = stg.param "given_mask3_bias" {frozen} : !vector
  stg.keep %b3 : !vector
  stg.return %x : !stream
}

// Attention of tokens before they have read anything, in the place of these tokens.
stg.block @first_attention(%x: !stream) -> !stream {
  %a = stg.call @attention(%x) {K as H, separate_projections = true, qkv_bias = true, o_bias = true, rotary = false, mask = "none"} : (!stream) -> !stream
  %y = stg.call @norm(%a) {name = "attention_norm"} : (!stream) -> !stream
  stg.return %y : !stream
}

// What the positions of a map, whose own positions are fixed, read of tokens.
stg.block @map_reads_layer(%x: !stream, %tokens: !read, %p: !read) -> !stream {
  %n = stg.call @before(%x) {part = "map"} : (!stream) -> !stream
  // No trace has the values of constants.
  %c = stg.splat 1 : !stream
  %s = stg.add %n, %c <"map_with_positions"> : !stream, !stream
  %t = stg.add %tokens, %p <"read_with_positions"> : !read, !read
  %q = stg.call @key_heads(%s) {name = "map_q", K as H, qkv_bias = true} : (!stream) -> !heads
  %k = stg.call @key_heads(%t) {name = "map_k", K as H, qkv_bias = true} : (!read) -> !read_heads
  %v = stg.call @key_heads(%tokens) {name = "map_v", K as H, qkv_bias = true} : (!read) -> !read_heads
  %a, %lse = stg.attention none %q, %k, %v <"map_attention"> : !heads, !read_heads, !read_heads
  %o = stg.call @heads_output(%a) {prefix = "map_"} : (!heads) -> !stream
  %y = stg.call @after(%x, %o) {part = "map"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Four by four positions of each: two transposed convolutions whose strides are their sizes.
stg.block @enlarge_map(%x: !read) -> !largest {
  %m = stg.rearrange "b(yx)d->byxd" %x <"map"> : !read -> !map
  %w1 = stg.param "enlarge1" : !stg.tensor<[D, _ = 2, _ = 2, _ = D/4], bf16>
  %p1 = stg.einsum "byxd,dijc->byixjc" %m, %w1 : !map, !stg.tensor<[D, _ = 2, _ = 2, _ = D/4], bf16>
  %b1 = stg.param "enlarge1_bias" : !stg.tensor<[_ = D/4], bf16>
  %s1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, _ = GY, _ = 2, _ = GX, _ = 2, _ = D/4], bf16>, !stg.tensor<[_ = D/4], bf16>
  %l1 = stg.rearrange "byixjc->b(yi)(xj)c" %s1 <"larger_map"> : !stg.tensor<[B, _ = GY, _ = 2, _ = GX, _ = 2, _ = D/4], bf16> -> !larger
  %wn = stg.param "enlarge_norm.weight" : !stg.tensor<[_ = D/4], bf16>
  %bn = stg.param "enlarge_norm.bias" : !stg.tensor<[_ = D/4], bf16>
  %n, %mean, %rstd = stg.layer_norm %l1, %wn, %bn <"enlarge_norm"> : !larger, !stg.tensor<[_ = D/4], bf16>, !stg.tensor<[_ = D/4], bf16>
  %a1 = stg.activation gelu %n <"enlarge1_gelu"> : !larger
  %w2 = stg.param "enlarge2" : !stg.tensor<[_ = D/4, _ = 2, _ = 2, _ = D/8], bf16>
  %p2 = stg.einsum "byxd,dijc->byixjc" %a1, %w2 : !larger, !stg.tensor<[_ = D/4, _ = 2, _ = 2, _ = D/8], bf16>
  %b2 = stg.param "enlarge2_bias" : !stg.tensor<[_ = D/8], bf16>
  %s2 = stg.bias_add %p2, %b2 : !stg.tensor<[B, _ = 2*GY, _ = 2, _ = 2*GX, _ = 2, _ = D/8], bf16>, !stg.tensor<[_ = D/8], bf16>
  %a2 = stg.activation gelu %s2 <"enlarge2_gelu"> : !stg.tensor<[B, _ = 2*GY, _ = 2, _ = 2*GX, _ = 2, _ = D/8], bf16>
  %y = stg.rearrange "byixjc->b(yi)(xj)c" %a2 <"largest_map"> : !stg.tensor<[B, _ = 2*GY, _ = 2, _ = 2*GX, _ = 2, _ = D/8], bf16> -> !largest
  stg.return %y : !largest
}

// Each mask token through a network of its own, of three matrices with ReLU in between, and what it
// then scores each position.
stg.block @masks_of_tokens(%x: !stream, %map: !largest) -> !masks {
  %b = stg.slice dim 1 %x {from = #sym.expr<1>} <"mask_tokens"> : !stream -> !stg.tensor<[B, S = NK, D], bf16>
  %t = stg.rearrange "b(nk)d->bn(kd)" %b <"mask_rows"> : !stg.tensor<[B, S = NK, D], bf16> -> !mask_rows
  %w1 = stg.param "mask1" : !stg.tensor<[NK, D, D], bf16>
  %p1 = stg.einsum "bnd,nde->bne" %t, %w1 : !mask_rows, !stg.tensor<[NK, D, D], bf16>
  %b1 = stg.param "mask1_bias" : !stg.tensor<[NK, D], bf16>
  %s1 = stg.bias_add %p1, %b1 : !mask_rows, !stg.tensor<[NK, D], bf16>
  %a1 = stg.activation relu %s1 <"mask1_relu"> : !mask_rows
  %w2 = stg.param "mask2" : !stg.tensor<[NK, D, D], bf16>
  %p2 = stg.einsum "bnd,nde->bne" %a1, %w2 : !mask_rows, !stg.tensor<[NK, D, D], bf16>
  %b2 = stg.param "mask2_bias" : !stg.tensor<[NK, D], bf16>
  %s2 = stg.bias_add %p2, %b2 : !mask_rows, !stg.tensor<[NK, D], bf16>
  %a2 = stg.activation relu %s2 <"mask2_relu"> : !mask_rows
  %w3 = stg.param "mask3" : !stg.tensor<[NK, D, _ = D/8], bf16>
  %p3 = stg.einsum "bnd,ndc->bnc" %a2, %w3 : !mask_rows, !stg.tensor<[NK, D, _ = D/8], bf16>
  %b3 = stg.param "mask3_bias" : !stg.tensor<[NK, _ = D/8], bf16>
  %s3 = stg.bias_add %p3, %b3 : !narrow_rows, !stg.tensor<[NK, _ = D/8], bf16>
  %y = stg.einsum "bnc,byxc->bnyx" %s3, %map <"masks"> : !narrow_rows, !largest
  stg.return %y : !masks
}

// How good each mask is, of the first token: three matrices with ReLU in between.
stg.block @qualities_of_masks(%x: !stream) -> !qualities {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"quality_token"> : !stream -> !stg.tensor<[B, S = 1, D], bf16>
  %t = stg.rearrange "b()d->bd" %f <"quality_row"> : !stg.tensor<[B, S = 1, D], bf16> -> !stg.tensor<[B, D], bf16>
  %w1 = stg.param "quality1" : !stg.tensor<[D, _ = QH], bf16>
  %p1 = stg.einsum "bd,dq->bq" %t, %w1 : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, _ = QH], bf16>
  %b1 = stg.param "quality1_bias" : !stg.tensor<[_ = QH], bf16>
  %s1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, _ = QH], bf16>, !stg.tensor<[_ = QH], bf16>
  %a1 = stg.activation relu %s1 <"quality1_relu"> : !stg.tensor<[B, _ = QH], bf16>
  %w2 = stg.param "quality2" : !stg.tensor<[_ = QH, _ = QH], bf16>
  %p2 = stg.einsum "bq,qr->br" %a1, %w2 : !stg.tensor<[B, _ = QH], bf16>, !stg.tensor<[_ = QH, _ = QH], bf16>
  %b2 = stg.param "quality2_bias" : !stg.tensor<[_ = QH], bf16>
  %s2 = stg.bias_add %p2, %b2 : !stg.tensor<[B, _ = QH], bf16>, !stg.tensor<[_ = QH], bf16>
  %a2 = stg.activation relu %s2 <"quality2_relu"> : !stg.tensor<[B, _ = QH], bf16>
  %w3 = stg.param "quality3" : !stg.tensor<[_ = QH, NK], bf16>
  %p3 = stg.einsum "bq,qn->bn" %a2, %w3 : !stg.tensor<[B, _ = QH], bf16>, !stg.tensor<[_ = QH, NK], bf16>
  %b3 = stg.param "quality3_bias" : !stg.tensor<[NK], bf16>
  %y = stg.bias_add %p3, %b3 : !qualities, !stg.tensor<[NK], bf16>
  stg.return %y : !qualities
}

// What stands for the loss of a model without one: the mean of what it gives, which are all masks but
// the first and their qualities.
stg.block @mean_of_masks(%masks: !masks, %qualities: !qualities) -> !loss {
  %m = stg.slice dim 1 %masks {from = #sym.expr<1>} <"masks_given"> : !masks -> !stg.tensor<[B, NK = NK - 1, _ = 4*GY, _ = 4*GX], bf16>
  %m3 = stg.mean dim 3 %m <"mask_row_means"> : !stg.tensor<[B, NK = NK - 1, _ = 4*GY, _ = 4*GX], bf16>
  %m2 = stg.mean dim 2 %m3 <"mask_means"> : !stg.tensor<[B, NK = NK - 1, _ = 4*GY], bf16>
  %m1 = stg.mean dim 1 %m2 <"masks_mean"> : !stg.tensor<[B, NK = NK - 1], bf16>
  %q = stg.slice dim 1 %qualities {from = #sym.expr<1>} <"qualities_given"> : !qualities -> !stg.tensor<[B, NK = NK - 1], bf16>
  %q1 = stg.mean dim 1 %q <"qualities_mean"> : !stg.tensor<[B, NK = NK - 1], bf16>
  %s = stg.add %m1, %q1 <"output_mean"> : !stg.tensor<[B], bf16>, !stg.tensor<[B], bf16>
  %y = stg.cast %s <"output_mean"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}
