// Sound as a sequence of frames: two convolutions over a spectrogram, the second of which
// makes one frame of two.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "frames per sequence"
stg.symbol @D "hidden size"
stg.symbol @M "frequencies of the spectrogram"

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
