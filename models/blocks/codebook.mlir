// What wav2vec 2.0 learns before it has any label: vectors of a codebook, which a frame chooses of
// groups, and which of some vectors is that of a hidden frame.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "frames per sequence"
stg.symbol @D "hidden size"
stg.symbol @CS = 512 "channels of the convolutions over samples"
stg.symbol @GQ = 2 "groups of vectors, of each of which a frame chooses one"
stg.symbol @VQ = 320 "vectors of a group"
stg.symbol @DQ = 256 "width of the vectors of a frame together"
stg.symbol @PD = 256 "size of what is compared"
stg.symbol @NN = 100 "vectors of other frames that a frame is compared with"

!stream = !stg.tensor<[B, S, D], bf16>
!channels = !stg.tensor<[B, S, CS], bf16>
!channel = !stg.tensor<[CS], bf16>
!hidden = !stg.tensor<[B, S, 1], bf16>
!scores = !stg.tensor<[B, S, _ = GQ, _ = VQ], bf16>
!chances = !stg.tensor<[B, S, _ = GQ, _ = VQ], f32>
!rows = !stg.tensor<[B, S, PD], bf16>
!used = !stg.tensor<[B, _ = GQ, _ = VQ], f32>
!others = !stg.tensor<[_ = NN, S, B, PD], bf16>
!loss = !stg.tensor<[B], f32>

// The channels of a frame, normalized. More than one reads them.
stg.block @normalize_channels(%x: !channels) -> !channels {
  %w = stg.param "channel_norm.weight" : !channel
  %b = stg.param "channel_norm.bias" : !channel
  %l, %mean, %rstd = stg.layer_norm %x, %w, %b <"channel_norm"> : !channels, !channel, !channel
  stg.return %l : !channels
}

// The scores of the vectors of each group.
stg.block @score_vectors(%x: !channels) -> !scores {
  %w = stg.param "codebook_scores" : !stg.tensor<[CS, _ = GQ, _ = VQ], bf16>
  %p = stg.einsum "bsc,cgv->bsgv" %x, %w : !channels, !stg.tensor<[CS, _ = GQ, _ = VQ], bf16>
  %b = stg.param "codebook_scores_bias" : !stg.tensor<[_ = GQ, _ = VQ], bf16>
  %y = stg.bias_add %p, %b : !scores, !stg.tensor<[_ = GQ, _ = VQ], bf16>
  stg.return %y : !scores
}

// The vectors with the largest scores, as one matrix product with ones and zeros, in the width of
// what is compared. Gradients go back through chances in the place of ones. The noise of scores has
// no node.
stg.block @choose_vectors(%s: !scores) -> !rows {
  %f = stg.cast %s <"codebook_scores"> : !scores -> !chances
  %p = stg.softmax %f <"codebook_chances"> : !chances
  %one, %number = stg.top_k _ = 1 %p <"codebook_choice"> : !chances
  // No trace has the value of the constant.
  %c = stg.splat 1 : !stg.tensor<[B, S, _ = GQ, 1], f32>
  %h = stg.top_k_grad %number, %c <"codebook_ones"> : !stg.tensor<[B, S, _ = GQ, 1], i32>, !stg.tensor<[B, S, _ = GQ, 1], f32> -> !chances
  %t = stg.add %p, %h <"codebook_ones_and_chances"> : !chances, !chances
  %o = stg.cast %t <"codebook_ones_and_chances"> : !chances -> !scores
  %v = stg.param "codebook" : !stg.tensor<[_ = GQ, _ = VQ, _ = DQ/GQ], bf16>
  %r = stg.einsum "bsgv,gve->bsge" %o, %v : !scores, !stg.tensor<[_ = GQ, _ = VQ, _ = DQ/GQ], bf16>
  %j = stg.rearrange "bsge->bs(ge)" %r <"vectors"> : !stg.tensor<[B, S, _ = GQ, _ = DQ/GQ], bf16> -> !stg.tensor<[B, S, _ = DQ], bf16>
  %w = stg.param "vector_proj" : !stg.tensor<[_ = DQ, PD], bf16>
  %q = stg.einsum "bse,ep->bsp" %j, %w : !stg.tensor<[B, S, _ = DQ], bf16>, !stg.tensor<[_ = DQ, PD], bf16>
  %b = stg.param "vector_proj_bias" : !stg.tensor<[PD], bf16>
  %y = stg.bias_add %q, %b : !rows, !stg.tensor<[PD], bf16>
  stg.return %y : !rows
}

// How few vectors the hidden frames of a sequence use: of the mean of their chances the exponential
// of the entropy, of each group.
stg.block @vectors_in_use(%s: !scores, %hidden: !hidden) -> !loss {
  %f = stg.cast %s <"codebook_scores"> : !scores -> !chances
  %p = stg.softmax %f <"soft_chances"> : !chances
  %m = stg.rearrange "bs()->bs()()" %hidden <"hidden_frames"> : !hidden -> !stg.tensor<[B, S, 1, 1], bf16>
  %mf = stg.cast %m <"hidden_frames"> : !stg.tensor<[B, S, 1, 1], bf16> -> !stg.tensor<[B, S, 1, 1], f32>
  %h = stg.mul %p, %mf <"chances_of_hidden_frames"> : !chances, !stg.tensor<[B, S, 1, 1], f32>
  %u = stg.mean dim 1 %h <"mean_chances"> : !chances
  %l = stg.elementwise log %u <"log_of_chances"> : !used
  %e = stg.mul %u, %l <"entropies"> : !used, !used
  %g = stg.sum dim 2 %e <"entropy"> : !used
  %x = stg.elementwise exp %g <"vectors_in_use"> : !stg.tensor<[B, _ = GQ], f32>
  %y = stg.sum dim 1 %x <"all_vectors_in_use"> : !stg.tensor<[B, _ = GQ], f32>
  // No trace has the value of the constant.
  %c = stg.splat 1 : !loss
  %w = stg.mul %y, %c <"diversity_loss"> : !loss, !loss
  stg.return %w : !loss
}

// Which vector is that of a hidden frame: its own, or one of others of its sequence, by the cosine
// with what the layers give. Of the loss that of hidden frames counts.
stg.block @contrast_frames(%x: !stream, %vectors: !rows, %numbers: !stg.tensor<[_ = NN, S, B], i32>, %own: !stg.tensor<[S, B], i32>, %weights: !stg.tensor<[S, B], f32>) -> !loss {
  %w = stg.param "frame_proj" : !stg.tensor<[D, PD], bf16>
  %p = stg.einsum "bsd,dp->bsp" %x, %w : !stream, !stg.tensor<[D, PD], bf16>
  %b = stg.param "frame_proj_bias" : !stg.tensor<[PD], bf16>
  %f = stg.bias_add %p, %b : !rows, !stg.tensor<[PD], bf16>
  %o = stg.embedding %vectors, %numbers <"other_vectors"> : !rows, !stg.tensor<[_ = NN, S, B], i32>
  %v = stg.rearrange "bsp->()sbp" %vectors <"own_vector"> : !rows -> !stg.tensor<[1, S, B, PD], bf16>
  %a = stg.concat dim 0 %v, %o <"compared_vectors"> : !stg.tensor<[1, S, B, PD], bf16>, !others -> !stg.tensor<[_ = NN + 1, S, B, PD], bf16>
  %ua, %ra = stg.rms_norm %a <"unit_vectors"> : !stg.tensor<[_ = NN + 1, S, B, PD], bf16>
  %uf, %rf = stg.rms_norm %f <"unit_frames"> : !rows
  %s = stg.einsum "bsp,nsbp->sbn" %uf, %ua <"cosines"> : !rows, !stg.tensor<[_ = NN + 1, S, B, PD], bf16>
  // No trace has the value of the temperature.
  %t = stg.splat 1 : !stg.tensor<[S, B, _ = NN + 1], bf16>
  %l = stg.mul %s, %t <"cosines_scaled"> : !stg.tensor<[S, B, _ = NN + 1], bf16>, !stg.tensor<[S, B, _ = NN + 1], bf16>
  %loss, %probs = stg.cross_entropy %l, %own <"frame_losses"> : !stg.tensor<[S, B, _ = NN + 1], bf16>, !stg.tensor<[S, B], i32>
  %m = stg.mul %loss, %weights <"hidden_frame_losses"> : !stg.tensor<[S, B], f32>, !stg.tensor<[S, B], f32>
  %y = stg.sum dim 0 %m <"contrastive_loss"> : !stg.tensor<[S, B], f32>
  stg.return %y : !loss
}
