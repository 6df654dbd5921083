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

!stream = !stg.tensor<[B, S, D], bf16>
!long = !stg.tensor<[B, 2*S, D], bf16>
!vector = !stg.tensor<[D], bf16>

stg.block @embed_frames(%spectrogram: !stg.tensor<[B, 2*S, M], bf16>) -> !stream {
  %w1 = stg.param "conv1" : !stg.tensor<[3, M, D], bf16>
  %c1 = stg.conv %spectrogram, %w1 {strides = array<i64: 1>, padding = array<i64: 1>} <"conv1"> : !stg.tensor<[B, 2*S, M], bf16>, !stg.tensor<[3, M, D], bf16> -> !long
  %b1 = stg.param "conv1_bias" : !vector
  %y1 = stg.bias_add %c1, %b1 : !long, !vector
  %g1 = stg.activation gelu %y1 <"conv1_gelu"> : !long
  %w2 = stg.param "conv2" : !stg.tensor<[3, D, D], bf16>
  %c2 = stg.conv %g1, %w2 {strides = array<i64: 2>, padding = array<i64: 1>} <"conv2"> : !long, !stg.tensor<[3, D, D], bf16> -> !stream
  %b2 = stg.param "conv2_bias" : !vector
  %y2 = stg.bias_add %c2, %b2 : !stream, !vector
  %g2 = stg.activation gelu %y2 <"conv2_gelu"> : !stream
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
