// Sound as a sequence of frames: two convolutions over a spectrogram, the second of which
// makes one frame of two.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "frames per sequence"
stg.symbol @D "hidden size"
stg.symbol @M "frequencies of the spectrogram"
stg.symbol @FR "frames of the spectrogram"
stg.symbol @PS "frequencies, and frames, of a patch"
stg.symbol @PY "rows of patches"
stg.symbol @PX "patches of a row"
stg.symbol @NC "chunks of a spectrogram"
stg.symbol @CT "tokens of a chunk"
stg.symbol @DS "channels of convolutions over frequencies and frames"
stg.symbol @CG "channels between two gated convolutions"

!stream = !stg.tensor<[B, S, D], bf16>
!long = !stg.tensor<[B, 2*S, D], bf16>
!vector = !stg.tensor<[D], bf16>

stg.block @embed_frames(%spectrogram: !stg.tensor<[B, 2*S, M], bf16>) -> !stream {
  stg.option @frames_before : bool = false "convolutions see the frames before alone"
  %w1 = stg.param "conv1" : !stg.tensor<[3, M, D], bf16>
  %c1 = stg.if @frames_before -> !long {
    %p = stg.pad dim 1 %spectrogram {from = #sym.expr<2>} <"conv1_before"> : !stg.tensor<[B, 2*S, M], bf16> -> !stg.tensor<[B, 2*S + 2, M], bf16>
    %z = stg.conv %p, %w1 {strides = array<i64: 1>, padding = array<i64: 0>} <"conv1"> : !stg.tensor<[B, 2*S + 2, M], bf16>, !stg.tensor<[3, M, D], bf16> -> !long
    stg.yield %z : !long
  } else {
    %z = stg.conv %spectrogram, %w1 {strides = array<i64: 1>, padding = array<i64: 1>} <"conv1"> : !stg.tensor<[B, 2*S, M], bf16>, !stg.tensor<[3, M, D], bf16> -> !long
    stg.yield %z : !long
  }
  %b1 = stg.param "conv1_bias" : !vector
  %y1 = stg.bias_add %c1, %b1 : !long, !vector
  %g1 = stg.activation gelu %y1 <"conv1_gelu"> : !long
  %w2 = stg.param "conv2" : !stg.tensor<[3, D, D], bf16>
  %c2 = stg.if @frames_before -> !stream {
    %p = stg.pad dim 1 %g1 {from = #sym.expr<1>} <"conv2_before"> : !long -> !stg.tensor<[B, 2*S + 1, D], bf16>
    %z = stg.conv %p, %w2 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv2"> : !stg.tensor<[B, 2*S + 1, D], bf16>, !stg.tensor<[3, D, D], bf16> -> !stream
    stg.yield %z : !stream
  } else {
    %z = stg.conv %g1, %w2 {strides = array<i64: 2>, padding = array<i64: 1>} <"conv2"> : !long, !stg.tensor<[3, D, D], bf16> -> !stream
    stg.yield %z : !stream
  }
  %b2 = stg.param "conv2_bias" : !vector
  %y2 = stg.bias_add %c2, %b2 : !stream, !vector
  %g2 = stg.activation gelu %y2 <"conv2_gelu"> : !stream
  stg.return %g2 : !stream
}

// Two convolutions with gates, each of which makes one frame of two (Speech to Text).
stg.block @embed_frames_gated(%spectrogram: !stg.tensor<[B, 4*S, M], bf16>) -> !stream {
  %w1 = stg.param "conv1" : !stg.tensor<[5, M, 2*CG], bf16>
  %c1 = stg.conv %spectrogram, %w1 {strides = array<i64: 2>, padding = array<i64: 2>} <"conv1"> : !stg.tensor<[B, 4*S, M], bf16>, !stg.tensor<[5, M, 2*CG], bf16> -> !stg.tensor<[B, 2*S, 2*CG], bf16>
  %b1 = stg.param "conv1_bias" : !stg.tensor<[2*CG], bf16>
  %y1 = stg.bias_add %c1, %b1 : !stg.tensor<[B, 2*S, 2*CG], bf16>, !stg.tensor<[2*CG], bf16>
  %r1 = stg.rearrange "bs(gc)->bsgc" %y1 <"conv1_halves"> : !stg.tensor<[B, 2*S, 2*CG], bf16> -> !stg.tensor<[B, 2*S, 2, CG], bf16>
  %g1 = stg.glu sigmoid %r1 <"conv1_gate"> : !stg.tensor<[B, 2*S, 2, CG], bf16>
  %w2 = stg.param "conv2" : !stg.tensor<[5, CG, 2*D], bf16>
  %c2 = stg.conv %g1, %w2 {strides = array<i64: 2>, padding = array<i64: 2>} <"conv2"> : !stg.tensor<[B, 2*S, CG], bf16>, !stg.tensor<[5, CG, 2*D], bf16> -> !stg.tensor<[B, S, 2*D], bf16>
  %b2 = stg.param "conv2_bias" : !stg.tensor<[2*D], bf16>
  %y2 = stg.bias_add %c2, %b2 : !stg.tensor<[B, S, 2*D], bf16>, !stg.tensor<[2*D], bf16>
  %r2 = stg.rearrange "bs(gd)->bsgd" %y2 <"conv2_halves"> : !stg.tensor<[B, S, 2*D], bf16> -> !stg.tensor<[B, S, 2, D], bf16>
  %g2 = stg.glu sigmoid %r2 <"conv2_gate"> : !stg.tensor<[B, S, 2, D], bf16>
  stg.return %g2 : !stream
}

// Patches of a spectrogram, which may overlap, behind two tokens (Audio Spectrogram Transformer).
stg.block @embed_spectrogram(%spectrogram: !stg.tensor<[B, _ = M, _ = FR, 1], bf16>) -> !stg.tensor<[B, S = PY*PX + 2, D], bf16> {
  stg.option @steps : string = "10,10" "from a patch to the next one: frequencies, frames"
  %w = stg.param "patch_conv" : !stg.tensor<[_ = PS, _ = PS, 1, D], bf16>
  %c = stg.conv %spectrogram, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>, stg.options = {strides = "steps"}} : !stg.tensor<[B, _ = M, _ = FR, 1], bf16>, !stg.tensor<[_ = PS, _ = PS, 1, D], bf16> -> !stg.tensor<[B, _ = PY, _ = PX, D], bf16>
  %b = stg.param "patch_bias" : !vector
  %y = stg.bias_add %c, %b : !stg.tensor<[B, _ = PY, _ = PX, D], bf16>, !vector
  %p = stg.rearrange "byxd->b(yx)d" %y <"patches"> : !stg.tensor<[B, _ = PY, _ = PX, D], bf16> -> !stg.tensor<[B, S = PY*PX, D], bf16>
  %ct = stg.param "class_token" : !stg.tensor<[1, D], bf16>
  %cs = stg.broadcast dim 0 %ct <"class_tokens"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B, 1, D], bf16>
  %dt = stg.param "distillation_token" : !stg.tensor<[1, D], bf16>
  %ds = stg.broadcast dim 0 %dt <"distillation_tokens"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B, 1, D], bf16>
  %x = stg.concat dim 1 ordered %cs, %ds, %p : !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, S = PY*PX, D], bf16> -> !stg.tensor<[B, S = PY*PX + 2, D], bf16>
  stg.return %x : !stg.tensor<[B, S = PY*PX + 2, D], bf16>
}

// Chunks of a spectrogram, FR frames each, which three convolutions make shorter and narrower; each
// token of a chunk has all that is left of its frequencies, and fixed positions of its own chunk
// (Qwen 3 Omni).
stg.block @embed_sound_chunks(%spectrogram: !stg.tensor<[B, _ = NC, _ = M, _ = FR, 1], bf16>, %positions: !stg.tensor<[_ = CT, D], bf16>) -> !stream {
  %c = stg.rearrange "bnmfc->(bn)mfc" %spectrogram <"spectrograms"> : !stg.tensor<[B, _ = NC, _ = M, _ = FR, 1], bf16> -> !stg.tensor<[B = NC*B, _ = M, _ = FR, 1], bf16>
  %w1 = stg.param "conv1" : !stg.tensor<[3, 3, 1, DS], bf16>
  %c1 = stg.conv %c, %w1 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"conv1"> : !stg.tensor<[B = NC*B, _ = M, _ = FR, 1], bf16>, !stg.tensor<[3, 3, 1, DS], bf16> -> !stg.tensor<[B = NC*B, _ = ceildiv(M, 2), _ = ceildiv(FR, 2), DS], bf16>
  %b1 = stg.param "conv1_bias" : !stg.tensor<[DS], bf16>
  %y1 = stg.bias_add %c1, %b1 : !stg.tensor<[B = NC*B, _ = ceildiv(M, 2), _ = ceildiv(FR, 2), DS], bf16>, !stg.tensor<[DS], bf16>
  %g1 = stg.activation gelu %y1 <"conv1_gelu"> : !stg.tensor<[B = NC*B, _ = ceildiv(M, 2), _ = ceildiv(FR, 2), DS], bf16>
  %w2 = stg.param "conv2" : !stg.tensor<[3, 3, DS, DS], bf16>
  %c2 = stg.conv %g1, %w2 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"conv2"> : !stg.tensor<[B = NC*B, _ = ceildiv(M, 2), _ = ceildiv(FR, 2), DS], bf16>, !stg.tensor<[3, 3, DS, DS], bf16> -> !stg.tensor<[B = NC*B, _ = ceildiv(ceildiv(M, 2), 2), _ = ceildiv(ceildiv(FR, 2), 2), DS], bf16>
  %b2 = stg.param "conv2_bias" : !stg.tensor<[DS], bf16>
  %y2 = stg.bias_add %c2, %b2 : !stg.tensor<[B = NC*B, _ = ceildiv(ceildiv(M, 2), 2), _ = ceildiv(ceildiv(FR, 2), 2), DS], bf16>, !stg.tensor<[DS], bf16>
  %g2 = stg.activation gelu %y2 <"conv2_gelu"> : !stg.tensor<[B = NC*B, _ = ceildiv(ceildiv(M, 2), 2), _ = ceildiv(ceildiv(FR, 2), 2), DS], bf16>
  %w3 = stg.param "conv3" : !stg.tensor<[3, 3, DS, DS], bf16>
  %c3 = stg.conv %g2, %w3 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"conv3"> : !stg.tensor<[B = NC*B, _ = ceildiv(ceildiv(M, 2), 2), _ = ceildiv(ceildiv(FR, 2), 2), DS], bf16>, !stg.tensor<[3, 3, DS, DS], bf16> -> !stg.tensor<[B = NC*B, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), _ = CT, DS], bf16>
  %b3 = stg.param "conv3_bias" : !stg.tensor<[DS], bf16>
  %y3 = stg.bias_add %c3, %b3 : !stg.tensor<[B = NC*B, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), _ = CT, DS], bf16>, !stg.tensor<[DS], bf16>
  %g3 = stg.activation gelu %y3 <"conv3_gelu"> : !stg.tensor<[B = NC*B, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), _ = CT, DS], bf16>
  %r = stg.rearrange "byxc->bx(cy)" %g3 <"frequencies"> : !stg.tensor<[B = NC*B, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), _ = CT, DS], bf16> -> !stg.tensor<[B = NC*B, _ = CT, _ = DS*ceildiv(ceildiv(ceildiv(M, 2), 2), 2)], bf16>
  %w = stg.param "conv_out" : !stg.tensor<[_ = DS*ceildiv(ceildiv(ceildiv(M, 2), 2), 2), D], bf16>
  %e = stg.einsum "bxf,fd->bxd" %r, %w : !stg.tensor<[B = NC*B, _ = CT, _ = DS*ceildiv(ceildiv(ceildiv(M, 2), 2), 2)], bf16>, !stg.tensor<[_ = DS*ceildiv(ceildiv(ceildiv(M, 2), 2), 2), D], bf16>
  %p = stg.bias_add %e, %positions <"embeddings"> : !stg.tensor<[B = NC*B, _ = CT, D], bf16>, !stg.tensor<[_ = CT, D], bf16>
  %x = stg.rearrange "(bn)xd->b(nx)d" %p <"chunks"> : !stg.tensor<[B = NC*B, _ = CT, D], bf16> -> !stream
  stg.return %x : !stream
}

// Three convolutions over frequencies and frames, each of which makes one of two; the second and the
// third one are of single channels, which a matrix joins (Phi-4 multimodal, Parakeet).
stg.block @embed_eighths(%spectrogram: !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>) -> !stream {
  stg.option @standardized : bool = false "a constant is taken from each frequency, and another one scales it"
  stg.option @out_bias : bool = true "bias of the matrix behind them"
  %x = stg.if @standardized -> !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16> {
    // No trace has the values of constants.
    %c = stg.splat 1 : !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>
    %m = stg.add %spectrogram, %c <"centered"> : !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>, !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>
    %v = stg.mul %m, %c <"standardized"> : !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>, !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>
    stg.yield %v : !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>
  } else {
    stg.yield %spectrogram : !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>
  }
  %w1 = stg.param "conv1" : !stg.tensor<[3, 3, 1, DS], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"conv1"> : !stg.tensor<[B, _ = 8*S, _ = M, 1], bf16>, !stg.tensor<[3, 3, 1, DS], bf16> -> !stg.tensor<[B, _ = 4*S, _ = ceildiv(M, 2), DS], bf16>
  %b1 = stg.param "conv1_bias" : !stg.tensor<[DS], bf16>
  %y1 = stg.bias_add %c1, %b1 : !stg.tensor<[B, _ = 4*S, _ = ceildiv(M, 2), DS], bf16>, !stg.tensor<[DS], bf16>
  %r1 = stg.activation relu %y1 <"conv1_relu"> : !stg.tensor<[B, _ = 4*S, _ = ceildiv(M, 2), DS], bf16>
  %w2 = stg.param "conv2" : !stg.tensor<[3, 3, 1, DS], bf16>
  %c2 = stg.conv %r1, %w2 {grouped, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"conv2"> : !stg.tensor<[B, _ = 4*S, _ = ceildiv(M, 2), DS], bf16>, !stg.tensor<[3, 3, 1, DS], bf16> -> !stg.tensor<[B, _ = 2*S, _ = ceildiv(ceildiv(M, 2), 2), DS], bf16>
  %b2 = stg.param "conv2_bias" : !stg.tensor<[DS], bf16>
  %y2 = stg.bias_add %c2, %b2 : !stg.tensor<[B, _ = 2*S, _ = ceildiv(ceildiv(M, 2), 2), DS], bf16>, !stg.tensor<[DS], bf16>
  %v2 = stg.param "conv2_channels" : !stg.tensor<[DS, DS], bf16>
  %p2 = stg.einsum "bsmc,ce->bsme" %y2, %v2 : !stg.tensor<[B, _ = 2*S, _ = ceildiv(ceildiv(M, 2), 2), DS], bf16>, !stg.tensor<[DS, DS], bf16>
  %d2 = stg.param "conv2_channels_bias" : !stg.tensor<[DS], bf16>
  %z2 = stg.bias_add %p2, %d2 : !stg.tensor<[B, _ = 2*S, _ = ceildiv(ceildiv(M, 2), 2), DS], bf16>, !stg.tensor<[DS], bf16>
  %a2 = stg.activation relu %z2 <"conv2_relu"> : !stg.tensor<[B, _ = 2*S, _ = ceildiv(ceildiv(M, 2), 2), DS], bf16>
  %w3 = stg.param "conv3" : !stg.tensor<[3, 3, 1, DS], bf16>
  %c3 = stg.conv %a2, %w3 {grouped, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"conv3"> : !stg.tensor<[B, _ = 2*S, _ = ceildiv(ceildiv(M, 2), 2), DS], bf16>, !stg.tensor<[3, 3, 1, DS], bf16> -> !stg.tensor<[B, S, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), DS], bf16>
  %b3 = stg.param "conv3_bias" : !stg.tensor<[DS], bf16>
  %y3 = stg.bias_add %c3, %b3 : !stg.tensor<[B, S, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), DS], bf16>, !stg.tensor<[DS], bf16>
  %v3 = stg.param "conv3_channels" : !stg.tensor<[DS, DS], bf16>
  %p3 = stg.einsum "bsmc,ce->bsme" %y3, %v3 : !stg.tensor<[B, S, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), DS], bf16>, !stg.tensor<[DS, DS], bf16>
  %d3 = stg.param "conv3_channels_bias" : !stg.tensor<[DS], bf16>
  %z3 = stg.bias_add %p3, %d3 : !stg.tensor<[B, S, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), DS], bf16>, !stg.tensor<[DS], bf16>
  %a3 = stg.activation relu %z3 <"conv3_relu"> : !stg.tensor<[B, S, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), DS], bf16>
  %f = stg.rearrange "bsmc->bs(cm)" %a3 <"frequencies"> : !stg.tensor<[B, S, _ = ceildiv(ceildiv(ceildiv(M, 2), 2), 2), DS], bf16> -> !stg.tensor<[B, S, _ = DS*ceildiv(ceildiv(ceildiv(M, 2), 2), 2)], bf16>
  %w = stg.param "conv_out" : !stg.tensor<[_ = DS*ceildiv(ceildiv(ceildiv(M, 2), 2), 2), D], bf16>
  %o = stg.einsum "bsf,fd->bsd" %f, %w : !stg.tensor<[B, S, _ = DS*ceildiv(ceildiv(ceildiv(M, 2), 2), 2)], bf16>, !stg.tensor<[_ = DS*ceildiv(ceildiv(ceildiv(M, 2), 2), 2), D], bf16>
  %e = stg.if @out_bias -> !stream {
    %bo = stg.param "conv_out_bias" : !vector
    %z = stg.bias_add %o, %bo : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %e : !stream
}
