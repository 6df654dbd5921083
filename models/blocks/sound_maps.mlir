// A spectrogram as a map: chunks of its frames one below the other, cut into squares (CLAP). Frames
// come as many as the map has columns in all chunks: what stretches a shorter sound is not computed.

stg.symbol @B "sounds in the global batch"
stg.symbol @D "width of a position"
stg.symbol @M "frequencies of a spectrogram"
stg.symbol @PS "rows and columns of a square"
stg.symbol @GY "rows of squares"
stg.symbol @GX "columns of squares"
stg.symbol @NV "spectrograms of a sound: all of it, and parts of it"
stg.symbol @DA "width between the matrices of a fusion"

!spectrogram = !stg.tensor<[B, _ = GY*GX*PS*PS/M, _ = M], bf16>
!squares = !stg.tensor<[B, S = GY*GX, PC = PS*PS], bf16>
!map = !stg.tensor<[B, S = GY*GX, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!vector = !stg.tensor<[D], bf16>
!narrow = !stg.tensor<[DA], bf16>
!parts = !stg.tensor<[B = NV*B - B, _ = GY*GX*PS*PS/M, _ = M], bf16>
!views = !stg.tensor<[B = NV*B, _ = GY*GX*PS*PS/M, _ = M], bf16>

// Each frequency with the mean and the deviation over all sounds and frames.
stg.block @normalize_frequencies(%x: !spectrogram) -> !spectrogram {
  %w = stg.param "frequency_norm.weight" : !stg.tensor<[_ = M], bf16>
  %b = stg.param "frequency_norm.bias" : !stg.tensor<[_ = M], bf16>
  %y = stg.batch_norm %x, %w, %b <"frequency_norm"> : !spectrogram, !stg.tensor<[_ = M], bf16>, !stg.tensor<[_ = M], bf16>
  stg.return %y : !spectrogram
}

stg.block @spectrogram_squares(%x: !spectrogram) -> !squares {
  %y = stg.rearrange "b(cju)(fg)->b(cfj)(gu)" %x <"squares"> : !spectrogram -> !squares
  stg.return %y : !squares
}

// The spectrogram of all of a sound, behind which those of its parts stand.
stg.block @first_view(%x: !views) -> !spectrogram {
  %r = stg.rearrange "(bv)tf->bvtf" %x <"views"> : !views -> !stg.tensor<[B, _ = NV, _ = GY*GX*PS*PS/M, _ = M], bf16>
  %f = stg.slice dim 1 %r {from = #sym.expr<0>} <"whole_sound"> : !stg.tensor<[B, _ = NV, _ = GY*GX*PS*PS/M, _ = M], bf16> -> !stg.tensor<[B, _ = 1, _ = GY*GX*PS*PS/M, _ = M], bf16>
  %y = stg.rearrange "b()tf->btf" %f <"spectrogram"> : !stg.tensor<[B, _ = 1, _ = GY*GX*PS*PS/M, _ = M], bf16> -> !spectrogram
  stg.return %y : !spectrogram
}
stg.block @other_views(%x: !views) -> !parts {
  %r = stg.rearrange "(bv)tf->bvtf" %x <"views"> : !views -> !stg.tensor<[B, _ = NV, _ = GY*GX*PS*PS/M, _ = M], bf16>
  %f = stg.slice dim 1 %r {from = #sym.expr<1>} <"parts_of_sound"> : !stg.tensor<[B, _ = NV, _ = GY*GX*PS*PS/M, _ = M], bf16> -> !stg.tensor<[B, _ = NV - 1, _ = GY*GX*PS*PS/M, _ = M], bf16>
  %y = stg.rearrange "bvtf->(bv)tf" %f <"part_spectrograms"> : !stg.tensor<[B, _ = NV - 1, _ = GY*GX*PS*PS/M, _ = M], bf16> -> !parts
  stg.return %y : !parts
}

// The parts of a sound side by side, squares of three times the columns of which become a position;
// behind them are zeros.
stg.symbol @PW "columns of such positions of a part"
stg.block @embed_parts(%x: !parts) -> !map {
  %m = stg.rearrange "b(cu)f->b(cf)u" %x <"part_maps"> : !parts -> !stg.tensor<[B = NV*B - B, _ = GY*PS, _ = GX*PS], bf16>
  %s = stg.slice dim 2 %m {from = #sym.expr<0>} <"part_columns"> : !stg.tensor<[B = NV*B - B, _ = GY*PS, _ = GX*PS], bf16> -> !stg.tensor<[B = NV*B - B, _ = GY*PS, _ = 3*PS*PW], bf16>
  %r = stg.rearrange "b(yi)(xj)->byx(ij)" %s <"part_squares"> : !stg.tensor<[B = NV*B - B, _ = GY*PS, _ = 3*PS*PW], bf16> -> !stg.tensor<[B = NV*B - B, _ = GY, _ = PW, _ = 3*PS*PS], bf16>
  %w = stg.param "part_proj" : !stg.tensor<[_ = 3*PS*PS, D], bf16>
  %p = stg.einsum "byxc,cd->byxd" %r, %w : !stg.tensor<[B = NV*B - B, _ = GY, _ = PW, _ = 3*PS*PS], bf16>, !stg.tensor<[_ = 3*PS*PS, D], bf16>
  %b = stg.param "part_bias" : !vector
  %e = stg.bias_add %p, %b : !stg.tensor<[B = NV*B - B, _ = GY, _ = PW, D], bf16>, !vector
  %j = stg.rearrange "(bv)yxd->by(vx)d" %e <"parts_side_by_side"> : !stg.tensor<[B = NV*B - B, _ = GY, _ = PW, D], bf16> -> !stg.tensor<[B, _ = GY, _ = NV*PW - PW, D], bf16>
  %z = stg.pad dim 2 %j {from = #sym.expr<0>} <"parts_padded"> : !stg.tensor<[B, _ = GY, _ = NV*PW - PW, D], bf16> -> !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
  %y = stg.rearrange "byxd->b(yx)d" %z <"parts"> : !stg.tensor<[B, _ = GY, _ = GX, D], bf16> -> !map
  stg.return %y : !map
}

// Two convolutions of one position each, with normalizations over the batch.
stg.block @weigh_positions(%x: !map) -> !map {
  %w1 = stg.param "narrow" : !stg.tensor<[D, _ = DA], bf16>
  %p1 = stg.einsum "bsd,da->bsa" %x, %w1 : !map, !stg.tensor<[D, _ = DA], bf16>
  %b1 = stg.param "narrow_bias" : !stg.tensor<[_ = DA], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, S = GY*GX, _ = DA], bf16>, !stg.tensor<[_ = DA], bf16>
  %wn1 = stg.param "narrow_norm.weight" : !stg.tensor<[_ = DA], bf16>
  %bn1 = stg.param "narrow_norm.bias" : !stg.tensor<[_ = DA], bf16>
  %n1 = stg.batch_norm %y1, %wn1, %bn1 <"narrow_norm"> : !stg.tensor<[B, S = GY*GX, _ = DA], bf16>, !stg.tensor<[_ = DA], bf16>, !stg.tensor<[_ = DA], bf16>
  %a = stg.activation relu %n1 <"narrow_relu"> : !stg.tensor<[B, S = GY*GX, _ = DA], bf16>
  %w2 = stg.param "widen" : !stg.tensor<[_ = DA, D], bf16>
  %p2 = stg.einsum "bsa,ad->bsd" %a, %w2 : !stg.tensor<[B, S = GY*GX, _ = DA], bf16>, !stg.tensor<[_ = DA, D], bf16>
  %b2 = stg.param "widen_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !map, !vector
  %wn2 = stg.param "widen_norm.weight" : !vector
  %bn2 = stg.param "widen_norm.bias" : !vector
  %y = stg.batch_norm %y2, %wn2, %bn2 <"widen_norm"> : !map, !vector, !vector
  stg.return %y : !map
}
stg.block @weigh_sound(%x: !stg.tensor<[B, S = 1, D], bf16>) -> !stg.tensor<[B, S = 1, D], bf16> {
  %y = stg.call @weigh_positions(%x) {GY = 1, GX = 1} : (!stg.tensor<[B, S = 1, D], bf16>) -> !stg.tensor<[B, S = 1, D], bf16>
  stg.return %y : !stg.tensor<[B, S = 1, D], bf16>
}

// A sound as a whole and its parts, each as far as both together and their mean say.
stg.block @fuse_parts(%whole: !map, %parts: !map) -> !map {
  %s = stg.add %whole, %parts <"whole_and_parts"> : !map, !map
  %local = stg.call @weigh_positions(%s) <"local"> : (!map) -> !map
  %m = stg.mean dim 1 %s <"mean_of_both"> : !map
  %r = stg.rearrange "bd->b()d" %m <"mean_row"> : !row -> !stg.tensor<[B, S = 1, D], bf16>
  %g = stg.call @weigh_sound(%r) <"global"> : (!stg.tensor<[B, S = 1, D], bf16>) -> !stg.tensor<[B, S = 1, D], bf16>
  %gr = stg.rearrange "b()d->bd" %g <"global_row"> : !stg.tensor<[B, S = 1, D], bf16> -> !row
  %gb = stg.broadcast dim 1 %gr <"global_map"> : !row -> !map
  %l = stg.add %local, %gb <"weights"> : !map, !map
  %a = stg.activation sigmoid %l <"shares"> : !map
  // Twice the share of the whole and of the other: No trace has the values of constants.
  %c = stg.splat 1 : !map
  %o = stg.elementwise sub %c, %a <"other_shares"> : !map, !map
  %ws = stg.mul %whole, %a <"share_of_whole"> : !map, !map
  %ps = stg.mul %parts, %o <"share_of_parts"> : !map, !map
  %f = stg.add %ws, %ps <"fused"> : !map, !map
  %y = stg.mul %f, %c <"fused_scale"> : !map, !map
  stg.return %y : !map
}
