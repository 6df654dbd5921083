// Images as sequences of patches.
//
// An image comes cut into patches, each a row of all of its pixels: what a convolution
// computes whose stride is its size is a product of such rows.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @PC "elements of a patch"
stg.symbol @NR "tokens that belong to no patch"
stg.symbol @PV "learned positions of a square, or of rows and of columns"
stg.symbol @PI = 4 "learned positions that one is between"

!stream = !stg.tensor<[B, S, D], bf16>
!patches = !stg.tensor<[B, S, PC], bf16>
!embedded = !stg.tensor<[B, S - 1, D], bf16>
!behind = !stg.tensor<[B, S - 1, PC], bf16>
!vector = !stg.tensor<[D], bf16>

// All patches of an image, one token each.
stg.block @embed_patches(%patches: !patches) -> !stream {
  stg.option @patch_bias : bool = true "bias of the patches' projection"
  %w = stg.param "patch_proj" : !stg.tensor<[PC, D], bf16>
  %p = stg.einsum "bsp,pd->bsd" %patches, %w : !patches, !stg.tensor<[PC, D], bf16>
  %y = stg.if @patch_bias -> !stream {
    %b = stg.param "patch_bias" : !vector
    %z = stg.bias_add %p, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %p : !stream
  }
  stg.return %y : !stream
}

// A learned token in the places of the patches that are hidden: `masked` is 1 there and 0
// elsewhere, `visible` the other way around.
stg.block @hide_patches(%p: !stream, %masked: !stg.tensor<[B, S, 1], bf16>, %visible: !stg.tensor<[B, S, 1], bf16>) -> !stream {
  %t = stg.param "mask_token" : !stg.tensor<[1, D], bf16>
  %m = stg.einsum "bsi,id->bsd" %masked, %t <"hidden_patches"> : !stg.tensor<[B, S, 1], bf16>, !stg.tensor<[1, D], bf16>
  %v = stg.mul %p, %visible <"visible_patches"> : !stream, !stg.tensor<[B, S, 1], bf16>
  %y = stg.add %v, %m <"patches_seen"> : !stream, !stream
  stg.return %y : !stream
}

// What patches give, behind a token for what the image shows.
stg.block @with_class(%p: !stream) -> !stg.tensor<[B, S = S + 1, D], bf16> {
  %c = stg.param "class_token" : !stg.tensor<[1, D], bf16>
  %t = stg.broadcast dim 0 %c <"class_tokens"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B, 1, D], bf16>
  %y = stg.concat dim 1 ordered %t, %p : !stg.tensor<[B, 1, D], bf16>, !stream -> !stg.tensor<[B, S = S + 1, D], bf16>
  stg.return %y : !stg.tensor<[B, S = S + 1, D], bf16>
}

stg.block @embed_patches_and_class(%patches: !behind) -> !stream {
  %p = stg.call @embed_patches(%patches) : (!behind) -> !embedded
  %y = stg.call @with_class(%p) : (!embedded) -> !stream
  stg.return %y : !stream
}

// The same with a second token, which learns from another model (DeiT).
stg.block @embed_patches_and_two(%patches: !stg.tensor<[B, S - 2, PC], bf16>) -> !stream {
  %p = stg.call @embed_patches(%patches) : (!stg.tensor<[B, S - 2, PC], bf16>) -> !stg.tensor<[B, S - 2, D], bf16>
  %c = stg.param "class_token" : !stg.tensor<[1, D], bf16>
  %ct = stg.broadcast dim 0 %c <"class_tokens"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B, 1, D], bf16>
  %d = stg.param "distillation_token" : !stg.tensor<[1, D], bf16>
  %dt = stg.broadcast dim 0 %d <"distillation_tokens"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B, 1, D], bf16>
  %y = stg.concat dim 1 ordered %ct, %dt, %p : !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, S - 2, D], bf16> -> !stream
  stg.return %y : !stream
}

// Tokens that belong to no patch, behind the first one.
stg.block @insert_registers(%x: !stream) -> !stg.tensor<[B, S = S + NR, D], bf16> {
  %c, %p = stg.split dim 1 ordered %x : !stream -> !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, S - 1, D], bf16>
  %w = stg.param "register_tokens" : !stg.tensor<[S = NR, D], bf16>
  %r = stg.broadcast dim 0 %w <"registers"> : !stg.tensor<[S = NR, D], bf16> -> !stg.tensor<[B, S = NR, D], bf16>
  %y = stg.concat dim 1 ordered %c, %r, %p : !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, S = NR, D], bf16>, !stg.tensor<[B, S - 1, D], bf16> -> !stg.tensor<[B, S = S + NR, D], bf16>
  stg.return %y : !stg.tensor<[B, S = S + NR, D], bf16>
}

// The first token beside the mean of the patches.
stg.block @class_and_mean(%x: !stream) -> !stg.tensor<[B, 2*D], bf16> {
  stg.option @registers : bool = false "tokens that belong to no patch stand behind the first one"
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"class_token"> : !stream -> !stg.tensor<[B, 1, D], bf16>
  %c = stg.rearrange "b()d->bd" %f : !stg.tensor<[B, 1, D], bf16> -> !stg.tensor<[B, D], bf16>
  %m = stg.if @registers -> !stg.tensor<[B, D], bf16> {
    %p = stg.slice dim 1 %x {from = #sym.expr<NR + 1>} <"patches"> : !stream -> !stg.tensor<[B, S = S - 1 - NR, D], bf16>
    %z = stg.mean dim 1 %p <"mean_of_patches"> : !stg.tensor<[B, S = S - 1 - NR, D], bf16>
    stg.yield %z : !stg.tensor<[B, D], bf16>
  } else {
    %p = stg.slice dim 1 %x {from = #sym.expr<1>} <"patches"> : !stream -> !embedded
    %z = stg.mean dim 1 %p <"mean_of_patches"> : !embedded
    stg.yield %z : !stg.tensor<[B, D], bf16>
  }
  %y = stg.concat dim 1 %c, %m <"class_and_mean"> : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, D], bf16> -> !stg.tensor<[B, 2*D], bf16>
  stg.return %y : !stg.tensor<[B, 2*D], bf16>
}

// The patches without the token in front of them, and their mean.
stg.block @without_class(%x: !stream) -> !embedded {
  %y = stg.slice dim 1 %x {from = #sym.expr<1>} <"patches"> : !stream -> !embedded
  stg.return %y : !embedded
}
stg.block @mean_of_patches(%x: !stream) -> !stg.tensor<[B, D], bf16> {
  %p = stg.call @without_class(%x) : (!stream) -> !embedded
  %y = stg.mean dim 1 %p <"mean_of_patches"> : !embedded
  stg.return %y : !stg.tensor<[B, D], bf16>
}

// A learned position of each token.
stg.block @add_all_positions(%x: !stream) -> !stream {
  %p = stg.param "pos_embeddings" : !stg.tensor<[S, D], bf16>
  %y = stg.bias_add %x, %p <"embeddings"> : !stream, !stg.tensor<[S, D], bf16>
  stg.return %y : !stream
}

// A learned position of each token's row, and one of its column.
stg.block @add_row_and_column(%x: !stream, %rows: !stg.tensor<[B, S], i32>, %columns: !stg.tensor<[B, S], i32>) -> !stream {
  %tr = stg.param "row_embeddings" : !stg.tensor<[PV, D], bf16>
  %r = stg.embedding %tr, %rows <"rows"> : !stg.tensor<[PV, D], bf16>, !stg.tensor<[B, S], i32>
  %tc = stg.param "column_embeddings" : !stg.tensor<[PV, D], bf16>
  %c = stg.embedding %tc, %columns <"columns"> : !stg.tensor<[PV, D], bf16>, !stg.tensor<[B, S], i32>
  %p = stg.add %r, %c <"positions"> : !stream, !stream
  %y = stg.add %x, %p <"embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// A position of each token between four, or more, of a square of learned ones, as far as it is from
// each: `corners` are their rows, `weights` how much of each.
stg.block @add_positions_between(%x: !stream, %corners: !stg.tensor<[B, S, PI], i32>, %weights: !stg.tensor<[B, S, PI, 1], bf16>) -> !stream {
  %t = stg.param "pos_embeddings" : !stg.tensor<[PV, D], bf16>
  %c = stg.embedding %t, %corners <"corner_embeddings"> : !stg.tensor<[PV, D], bf16>, !stg.tensor<[B, S, PI], i32>
  %w = stg.mul %c, %weights <"corners_weighted"> : !stg.tensor<[B, S, PI, D], bf16>, !stg.tensor<[B, S, PI, 1], bf16>
  %p = stg.sum dim 2 %w <"positions"> : !stg.tensor<[B, S, PI, D], bf16>
  %y = stg.add %x, %p <"embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// The tokens of a text, and those of an image behind them.
stg.block @join_text_and_image(%text: !stg.tensor<[B, S = T, D], bf16>, %image: !stg.tensor<[B, S = S - T, D], bf16>) -> !stream {
  %y = stg.concat dim 1 ordered %text, %image <"text_and_image"> : !stg.tensor<[B, S = T, D], bf16>, !stg.tensor<[B, S = S - T, D], bf16> -> !stream
  stg.return %y : !stream
}
