// A text that becomes a spectrogram (SpeechT5): frames so far as what a decoder reads, beside a voice;
// and of each step several frames, which convolutions correct.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "steps per sequence"
stg.symbol @D "hidden size"
stg.symbol @MB = 80 "frequencies of a frame"
stg.symbol @PU = 256 "width before the decoder"
stg.symbol @XD = 512 "size of what a voice is"
stg.symbol @RN = 2 "frames of a step"
stg.symbol @CU = 256 "channels of the convolutions behind the decoder"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!rows = !stg.tensor<[S, D], bf16>
!narrow = !stg.tensor<[B, S, _ = PU], bf16>
!unit = !stg.tensor<[_ = PU], bf16>
!frames = !stg.tensor<[B, FR = RN*S, MB], bf16>
!maps = !stg.tensor<[B, FR = RN*S, CU], bf16>
!channel = !stg.tensor<[CU], bf16>
!band = !stg.tensor<[MB], bf16>
!stops = !stg.tensor<[B, S, _ = RN], bf16>
!loss = !stg.tensor<[B], f32>

// Fixed positions, times a learned number.
stg.block @scale_positions(%positions: !rows) -> !rows {
  %w = stg.param "position_scale" : !stg.tensor<[], bf16>
  %y = stg.mul_along %positions, %w {dims = array<i64>} <"positions_scaled"> : !rows, !stg.tensor<[], bf16>
  stg.return %y : !rows
}

// The last frame of each step by three matrices.
stg.block @read_frames(%x: !stg.tensor<[B, S, MB], bf16>) -> !stream {
  %w1 = stg.param "frame_proj1" : !stg.tensor<[MB, _ = PU], bf16>
  %p1 = stg.einsum "bsm,mp->bsp" %x, %w1 : !stg.tensor<[B, S, MB], bf16>, !stg.tensor<[MB, _ = PU], bf16>
  %b1 = stg.param "frame_proj1_bias" : !unit
  %y1 = stg.bias_add %p1, %b1 : !narrow, !unit
  %a1 = stg.activation relu %y1 <"frame_relu1"> : !narrow
  %w2 = stg.param "frame_proj2" : !stg.tensor<[_ = PU, _ = PU], bf16>
  %p2 = stg.einsum "bsp,pq->bsq" %a1, %w2 : !narrow, !stg.tensor<[_ = PU, _ = PU], bf16>
  %b2 = stg.param "frame_proj2_bias" : !unit
  %y2 = stg.bias_add %p2, %b2 : !narrow, !unit
  %a2 = stg.activation relu %y2 <"frame_relu2"> : !narrow
  %w3 = stg.param "frame_proj3" : !stg.tensor<[_ = PU, D], bf16>
  %p3 = stg.einsum "bsp,pd->bsd" %a2, %w3 : !narrow, !stg.tensor<[_ = PU, D], bf16>
  %b3 = stg.param "frame_proj3_bias" : !vector
  %y3 = stg.bias_add %p3, %b3 : !stream, !vector
  stg.return %y3 : !stream
}

// Beside what each step has the voice that is to speak, of the length of one; a matrix of both.
stg.block @add_voice(%x: !stream, %voice: !stg.tensor<[B, XD], bf16>) -> !stream {
  %u, %r = stg.rms_norm %voice <"unit_voice"> : !stg.tensor<[B, XD], bf16>
  %v = stg.broadcast dim 1 %u <"voice_of_steps"> : !stg.tensor<[B, XD], bf16> -> !stg.tensor<[B, S, XD], bf16>
  %c = stg.concat dim 2 ordered %x, %v <"steps_and_voice"> : !stream, !stg.tensor<[B, S, XD], bf16> -> !stg.tensor<[B, S, D + XD], bf16>
  %w = stg.param "voice_proj" : !stg.tensor<[D + XD, D], bf16>
  %p = stg.einsum "bsc,cd->bsd" %c, %w : !stg.tensor<[B, S, D + XD], bf16>, !stg.tensor<[D + XD, D], bf16>
  %b = stg.param "voice_proj_bias" : !vector
  %y = stg.bias_add %p, %b : !stream, !vector
  %a = stg.activation relu %y <"voice_relu"> : !stream
  stg.return %a : !stream
}

// A convolution over five frames, a normalization of each channel, and what follows.
stg.block @correct(%x: !maps) -> !maps {
  stg.option @name : string "of the convolution"
  %w = stg.param "{name}" : !stg.tensor<[5, _ = CU, CU], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 1>, padding = array<i64: 2>} <"{name}"> : !maps, !stg.tensor<[5, _ = CU, CU], bf16> -> !maps
  %g = stg.param "{name}_norm.weight" : !channel
  %b = stg.param "{name}_norm.bias" : !channel
  %n = stg.batch_norm %c, %g, %b <"{name}_norm"> : !maps, !channel, !channel
  %y = stg.activation tanh %n <"{name}_tanh"> : !maps
  stg.return %y : !maps
}

// The frames of each step and what five convolutions add to them; how far both are from those that
// they should be; and whether a frame is the last one, which a sign says: 1 for no and -1 for yes.
stg.block @spectrogram_loss(%x: !stream, %labels: !frames, %signs: !stops) -> !loss {
  %wf = stg.param "frame_output" : !stg.tensor<[D, _ = RN, MB], bf16>
  %pf = stg.einsum "bsd,drm->bsrm" %x, %wf : !stream, !stg.tensor<[D, _ = RN, MB], bf16>
  %bf = stg.param "frame_output_bias" : !stg.tensor<[_ = RN, MB], bf16>
  %yf = stg.bias_add %pf, %bf : !stg.tensor<[B, S, _ = RN, MB], bf16>, !stg.tensor<[_ = RN, MB], bf16>
  %f = stg.rearrange "bsrm->b(sr)m" %yf <"frames"> : !stg.tensor<[B, S, _ = RN, MB], bf16> -> !frames
  %w1 = stg.param "correction1" : !stg.tensor<[5, MB, CU], bf16>
  %c1 = stg.conv %f, %w1 {strides = array<i64: 1>, padding = array<i64: 2>} <"correction1"> : !frames, !stg.tensor<[5, MB, CU], bf16> -> !maps
  %g1 = stg.param "correction1_norm.weight" : !channel
  %b1 = stg.param "correction1_norm.bias" : !channel
  %n1 = stg.batch_norm %c1, %g1, %b1 <"correction1_norm"> : !maps, !channel, !channel
  %y1 = stg.activation tanh %n1 <"correction1_tanh"> : !maps
  %y2 = stg.call @correct(%y1) {name = "correction2"} : (!maps) -> !maps
  %y3 = stg.call @correct(%y2) {name = "correction3"} : (!maps) -> !maps
  %y4 = stg.call @correct(%y3) {name = "correction4"} : (!maps) -> !maps
  %w5 = stg.param "correction5" : !stg.tensor<[5, CU, MB], bf16>
  %c5 = stg.conv %y4, %w5 {strides = array<i64: 1>, padding = array<i64: 2>} <"correction5"> : !maps, !stg.tensor<[5, CU, MB], bf16> -> !frames
  %g5 = stg.param "correction5_norm.weight" : !band
  %b5 = stg.param "correction5_norm.bias" : !band
  %n5 = stg.batch_norm %c5, %g5, %b5 <"correction5_norm"> : !frames, !band, !band
  %z = stg.add %f, %n5 <"corrected_frames"> : !frames, !frames
  %e0 = stg.elementwise sub %f, %labels <"frame_errors"> : !frames, !frames
  %a0 = stg.elementwise abs %e0 <"frame_distances"> : !frames
  %e1 = stg.elementwise sub %z, %labels <"corrected_errors"> : !frames, !frames
  %a1 = stg.elementwise abs %e1 <"corrected_distances"> : !frames
  %s = stg.add %a0, %a1 <"both_distances"> : !frames, !frames
  %m2 = stg.mean dim 2 %s <"distances_of_frames"> : !frames
  %m1 = stg.mean dim 1 %m2 <"frames_loss"> : !stg.tensor<[B, FR = RN*S], bf16>
  %ws = stg.param "stop" : !stg.tensor<[D, _ = RN], bf16>
  %ps = stg.einsum "bsd,dr->bsr" %x, %ws : !stream, !stg.tensor<[D, _ = RN], bf16>
  %bs = stg.param "stop_bias" : !stg.tensor<[_ = RN], bf16>
  %ls = stg.bias_add %ps, %bs : !stops, !stg.tensor<[_ = RN], bf16>
  %q = stg.mul %ls, %signs <"signed_stops"> : !stops, !stops
  %p = stg.activation softplus %q <"stop_losses"> : !stops
  %t2 = stg.mean dim 2 %p <"stops_of_steps"> : !stops
  %t1 = stg.mean dim 1 %t2 <"stops_loss"> : !stg.tensor<[B, S], bf16>
  %l = stg.add %m1, %t1 <"losses"> : !stg.tensor<[B], bf16>, !stg.tensor<[B], bf16>
  %y = stg.cast %l <"losses"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}
