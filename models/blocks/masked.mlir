// Autoencoders that see a part of an image's or a video's patches: an encoder of these alone, and a
// decoder that makes the pixels of the others of what it gives and of a learned token.
//
// The patches of a sample come in an order of its own, those that are seen first, and stay in it:
// attention has no order, and positions are looked up.

stg.import "vision.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @NP "patches of a sample"
stg.symbol @T "tokens of the encoder"
stg.symbol @S "tokens of the decoder"
stg.symbol @D "hidden size of the encoder"
stg.symbol @DD "hidden size of the decoder"
stg.symbol @PC "elements of a patch"

!patches = !stg.tensor<[B, NP, PC], bf16>
!embedded = !stg.tensor<[B, NP, D], bf16>
!order = !stg.tensor<[B, NP], i32>
!seen = !stg.tensor<[B, T, D], bf16>
!narrow = !stg.tensor<[B, T, DD], bf16>
!stream = !stg.tensor<[B, S, DD], bf16>
!first = !stg.tensor<[1, D], bf16>
!vector = !stg.tensor<[DD], bf16>
!loss = !stg.tensor<[B], f32>

// All patches with their positions, which nothing trains, and of them those that are seen, behind a
// token for what the image shows.
stg.block @embed_seen_patches(%patches: !patches, %order: !order) -> !seen {
  %p = stg.call @embed_patches(%patches) : (!patches) -> !embedded
  %t = stg.param "positions" {frozen} : !stg.tensor<[NP + 1, D], bf16>
  %r = stg.embedding %t, %order <"positions"> : !stg.tensor<[NP + 1, D], bf16>, !order
  %e = stg.add %p, %r <"embeddings"> : !embedded, !embedded
  %s = stg.slice dim 1 %e {from = #sym.expr<0>} <"seen"> : !embedded -> !stg.tensor<[B, T - 1, D], bf16>
  %c = stg.param "class_token" : !first
  %z = stg.slice dim 0 %t {from = #sym.expr<0>} <"first_position"> : !stg.tensor<[NP + 1, D], bf16> -> !first
  %f = stg.add %c, %z <"class_and_position"> : !first, !first
  %cs = stg.broadcast dim 0 %f <"class_tokens"> : !first -> !stg.tensor<[B, 1, D], bf16>
  %y = stg.concat dim 1 ordered %cs, %s : !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, T - 1, D], bf16> -> !seen
  stg.return %y : !seen
}

// The same without that token, of positions that are given.
stg.block @embed_seen_tubes(%patches: !patches, %positions: !embedded) -> !seen {
  %p = stg.call @embed_patches(%patches) : (!patches) -> !embedded
  %e = stg.add %p, %positions <"embeddings"> : !embedded, !embedded
  %y = stg.slice dim 1 %e {from = #sym.expr<0>} <"seen"> : !embedded -> !seen
  stg.return %y : !seen
}

// What the encoder gives in the width of the decoder, and a learned token for each other patch.
stg.block @fill_up(%e: !seen) -> !stream {
  stg.option @decoder_bias : bool = true "bias of the projection to the decoder"
  %w = stg.param "decoder_proj" : !stg.tensor<[D, DD], bf16>
  %p = stg.einsum "btd,de->bte" %e, %w : !seen, !stg.tensor<[D, DD], bf16>
  %n = stg.if @decoder_bias -> !narrow {
    %b = stg.param "decoder_bias" : !vector
    %z = stg.bias_add %p, %b : !narrow, !vector
    stg.yield %z : !narrow
  } else {
    stg.yield %p : !narrow
  }
  %s = stg.rearrange "b(tk)d->bt(kd)" %n <"seen_tokens"> : !narrow -> !stg.tensor<[B, S = T, DD], bf16>
  %m = stg.param "mask_token" : !stg.tensor<[DD], bf16>
  %o = stg.broadcast dim 0 %m <"mask_token"> : !stg.tensor<[DD], bf16> -> !stg.tensor<[S = S - T, DD], bf16>
  %h = stg.broadcast dim 0 %o <"mask_tokens"> : !stg.tensor<[S = S - T, DD], bf16> -> !stg.tensor<[B, S = S - T, DD], bf16>
  %y = stg.concat dim 1 ordered %s, %h : !stg.tensor<[B, S = T, DD], bf16>, !stg.tensor<[B, S = S - T, DD], bf16> -> !stream
  stg.return %y : !stream
}

// Positions that nothing trains, in the order of the tokens.
stg.block @add_frozen_positions(%x: !stream, %order: !stg.tensor<[B, S], i32>) -> !stream {
  %t = stg.param "decoder_positions" {frozen} : !stg.tensor<[NP + 1, DD], bf16>
  %p = stg.embedding %t, %order <"decoder_positions"> : !stg.tensor<[NP + 1, DD], bf16>, !stg.tensor<[B, S], i32>
  %y = stg.add %x, %p <"decoder_embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// The pixels of all tokens, and the square of what is wrong with them: `weights` is one of their
// number for patches that were not seen, and 0 elsewhere.
stg.block @pixels_loss(%x: !stream, %target: !stg.tensor<[B, S, PC], bf16>, %weights: !stg.tensor<[B, S], bf16>) -> !loss {
  stg.option @normalized_pixels : bool = false "pixels of a patch are normalized"
  %w = stg.param "pixels" : !stg.tensor<[DD, PC], bf16>
  %p = stg.einsum "bsd,dp->bsp" %x, %w : !stream, !stg.tensor<[DD, PC], bf16>
  %b = stg.param "pixels_bias" : !stg.tensor<[PC], bf16>
  %a = stg.bias_add %p, %b : !stg.tensor<[B, S, PC], bf16>, !stg.tensor<[PC], bf16>
  %t = stg.if @normalized_pixels -> !stg.tensor<[B, S, PC], bf16> {
    %n, %mean, %rstd = stg.layer_norm %target <"target_norm"> : !stg.tensor<[B, S, PC], bf16>
    stg.yield %n : !stg.tensor<[B, S, PC], bf16>
  } else {
    stg.yield %target : !stg.tensor<[B, S, PC], bf16>
  }
  %d = stg.elementwise sub %a, %t <"differences"> : !stg.tensor<[B, S, PC], bf16>, !stg.tensor<[B, S, PC], bf16>
  %q = stg.elementwise square %d <"squares"> : !stg.tensor<[B, S, PC], bf16>
  %m = stg.mean dim 2 %q <"mean_of_pixels"> : !stg.tensor<[B, S, PC], bf16>
  %h = stg.mul %m, %weights <"of_hidden_patches"> : !stg.tensor<[B, S], bf16>, !stg.tensor<[B, S], bf16>
  %s = stg.sum dim 1 %h <"sum_of_patches"> : !stg.tensor<[B, S], bf16>
  %l = stg.cast %s <"sum_of_patches"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %l : !loss
}

// The tokens of patches that were not seen.
stg.block @take_hidden_tokens(%x: !stream) -> !stg.tensor<[B, S = S - T, DD], bf16> {
  %y = stg.slice dim 1 %x {from = #sym.expr<T>} <"hidden_tokens"> : !stream -> !stg.tensor<[B, S = S - T, DD], bf16>
  stg.return %y : !stg.tensor<[B, S = S - T, DD], bf16>
}

// Positions of each sample's tokens, which are given.
stg.block @add_positions_of_samples(%x: !stream, %positions: !stream) -> !stream {
  %y = stg.add %x, %positions <"decoder_embeddings"> : !stream, !stream
  stg.return %y : !stream
}
