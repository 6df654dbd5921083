// Sound in half as many frames between convolutions (SEW): thirteen convolutions over samples, of which
// every second one but the first sees a place by itself, and layers of pairs of frames.

stg.import "wave.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "frames per sequence"
stg.symbol @D "hidden size"
stg.symbol @CS = 64 "channels of the first convolution over samples"
stg.symbol @CL = 512 "channels of the last convolutions over samples"
stg.symbol @PW = 128 "frames of a convolution over frames"
stg.symbol @PG = 16 "groups of channels of a convolution over frames"

!stream = !stg.tensor<[B, S, D], bf16>
!pairs = !stg.tensor<[B, S = S/2, D], bf16>

// Windows of 10 samples, every fifth one; of 3, every second one, four times; of 2, every second one,
// twice; each but the first is followed by one of a single place.
stg.block @embed_samples_by_places(%samples: !stg.tensor<[B, _ = 320*S + 80, 1], bf16>) -> !stg.tensor<[B, S, CL], bf16> {
  %w0 = stg.param "conv0" : !stg.tensor<[10, 1, CS], bf16>
  %c0 = stg.conv %samples, %w0 {strides = array<i64: 5>, padding = array<i64: 0>} <"conv0"> : !stg.tensor<[B, _ = 320*S + 80, 1], bf16>, !stg.tensor<[10, 1, CS], bf16> -> !stg.tensor<[B, _ = 64*S + 15, CS], bf16>
  %y0 = stg.call @behind_convolution(%c0) {name = "conv0", first = true} : (!stg.tensor<[B, _ = 64*S + 15, CS], bf16>) -> !stg.tensor<[B, _ = 64*S + 15, CS], bf16>
  %w1 = stg.param "conv1" : !stg.tensor<[3, CS, 2*CS], bf16>
  %c1 = stg.conv %y0, %w1 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv1"> : !stg.tensor<[B, _ = 64*S + 15, CS], bf16>, !stg.tensor<[3, CS, 2*CS], bf16> -> !stg.tensor<[B, _ = 32*S + 7, 2*CS], bf16>
  %y1 = stg.call @behind_convolution(%c1) {name = "conv1"} : (!stg.tensor<[B, _ = 32*S + 7, 2*CS], bf16>) -> !stg.tensor<[B, _ = 32*S + 7, 2*CS], bf16>
  %w2 = stg.param "conv2" : !stg.tensor<[1, _ = 2*CS, 2*CS], bf16>
  %c2 = stg.conv %y1, %w2 {strides = array<i64: 1>, padding = array<i64: 0>} <"conv2"> : !stg.tensor<[B, _ = 32*S + 7, 2*CS], bf16>, !stg.tensor<[1, _ = 2*CS, 2*CS], bf16> -> !stg.tensor<[B, _ = 32*S + 7, 2*CS], bf16>
  %y2 = stg.call @behind_convolution(%c2) {name = "conv2"} : (!stg.tensor<[B, _ = 32*S + 7, 2*CS], bf16>) -> !stg.tensor<[B, _ = 32*S + 7, 2*CS], bf16>
  %w3 = stg.param "conv3" : !stg.tensor<[3, _ = 2*CS, 2*CS], bf16>
  %c3 = stg.conv %y2, %w3 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv3"> : !stg.tensor<[B, _ = 32*S + 7, 2*CS], bf16>, !stg.tensor<[3, _ = 2*CS, 2*CS], bf16> -> !stg.tensor<[B, _ = 16*S + 3, 2*CS], bf16>
  %y3 = stg.call @behind_convolution(%c3) {name = "conv3"} : (!stg.tensor<[B, _ = 16*S + 3, 2*CS], bf16>) -> !stg.tensor<[B, _ = 16*S + 3, 2*CS], bf16>
  %w4 = stg.param "conv4" : !stg.tensor<[1, _ = 2*CS, 2*CS], bf16>
  %c4 = stg.conv %y3, %w4 {strides = array<i64: 1>, padding = array<i64: 0>} <"conv4"> : !stg.tensor<[B, _ = 16*S + 3, 2*CS], bf16>, !stg.tensor<[1, _ = 2*CS, 2*CS], bf16> -> !stg.tensor<[B, _ = 16*S + 3, 2*CS], bf16>
  %y4 = stg.call @behind_convolution(%c4) {name = "conv4"} : (!stg.tensor<[B, _ = 16*S + 3, 2*CS], bf16>) -> !stg.tensor<[B, _ = 16*S + 3, 2*CS], bf16>
  %w5 = stg.param "conv5" : !stg.tensor<[3, 2*CS, 4*CS], bf16>
  %c5 = stg.conv %y4, %w5 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv5"> : !stg.tensor<[B, _ = 16*S + 3, 2*CS], bf16>, !stg.tensor<[3, 2*CS, 4*CS], bf16> -> !stg.tensor<[B, _ = 8*S + 1, 4*CS], bf16>
  %y5 = stg.call @behind_convolution(%c5) {name = "conv5"} : (!stg.tensor<[B, _ = 8*S + 1, 4*CS], bf16>) -> !stg.tensor<[B, _ = 8*S + 1, 4*CS], bf16>
  %w6 = stg.param "conv6" : !stg.tensor<[1, _ = 4*CS, 4*CS], bf16>
  %c6 = stg.conv %y5, %w6 {strides = array<i64: 1>, padding = array<i64: 0>} <"conv6"> : !stg.tensor<[B, _ = 8*S + 1, 4*CS], bf16>, !stg.tensor<[1, _ = 4*CS, 4*CS], bf16> -> !stg.tensor<[B, _ = 8*S + 1, 4*CS], bf16>
  %y6 = stg.call @behind_convolution(%c6) {name = "conv6"} : (!stg.tensor<[B, _ = 8*S + 1, 4*CS], bf16>) -> !stg.tensor<[B, _ = 8*S + 1, 4*CS], bf16>
  %w7 = stg.param "conv7" : !stg.tensor<[3, _ = 4*CS, 4*CS], bf16>
  %c7 = stg.conv %y6, %w7 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv7"> : !stg.tensor<[B, _ = 8*S + 1, 4*CS], bf16>, !stg.tensor<[3, _ = 4*CS, 4*CS], bf16> -> !stg.tensor<[B, _ = 4*S, 4*CS], bf16>
  %y7 = stg.call @behind_convolution(%c7) {name = "conv7"} : (!stg.tensor<[B, _ = 4*S, 4*CS], bf16>) -> !stg.tensor<[B, _ = 4*S, 4*CS], bf16>
  %w8 = stg.param "conv8" : !stg.tensor<[1, _ = 4*CS, 4*CS], bf16>
  %c8 = stg.conv %y7, %w8 {strides = array<i64: 1>, padding = array<i64: 0>} <"conv8"> : !stg.tensor<[B, _ = 4*S, 4*CS], bf16>, !stg.tensor<[1, _ = 4*CS, 4*CS], bf16> -> !stg.tensor<[B, _ = 4*S, 4*CS], bf16>
  %y8 = stg.call @behind_convolution(%c8) {name = "conv8"} : (!stg.tensor<[B, _ = 4*S, 4*CS], bf16>) -> !stg.tensor<[B, _ = 4*S, 4*CS], bf16>
  %w9 = stg.param "conv9" : !stg.tensor<[2, 4*CS, CL], bf16>
  %c9 = stg.conv %y8, %w9 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv9"> : !stg.tensor<[B, _ = 4*S, 4*CS], bf16>, !stg.tensor<[2, 4*CS, CL], bf16> -> !stg.tensor<[B, _ = 2*S, CL], bf16>
  %y9 = stg.call @behind_convolution(%c9) {name = "conv9"} : (!stg.tensor<[B, _ = 2*S, CL], bf16>) -> !stg.tensor<[B, _ = 2*S, CL], bf16>
  %w10 = stg.param "conv10" : !stg.tensor<[1, _ = CL, CL], bf16>
  %c10 = stg.conv %y9, %w10 {strides = array<i64: 1>, padding = array<i64: 0>} <"conv10"> : !stg.tensor<[B, _ = 2*S, CL], bf16>, !stg.tensor<[1, _ = CL, CL], bf16> -> !stg.tensor<[B, _ = 2*S, CL], bf16>
  %y10 = stg.call @behind_convolution(%c10) {name = "conv10"} : (!stg.tensor<[B, _ = 2*S, CL], bf16>) -> !stg.tensor<[B, _ = 2*S, CL], bf16>
  %w11 = stg.param "conv11" : !stg.tensor<[2, _ = CL, CL], bf16>
  %c11 = stg.conv %y10, %w11 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv11"> : !stg.tensor<[B, _ = 2*S, CL], bf16>, !stg.tensor<[2, _ = CL, CL], bf16> -> !stg.tensor<[B, S, CL], bf16>
  %y11 = stg.call @behind_convolution(%c11) {name = "conv11"} : (!stg.tensor<[B, S, CL], bf16>) -> !stg.tensor<[B, S, CL], bf16>
  %w12 = stg.param "conv12" : !stg.tensor<[1, _ = CL, CL], bf16>
  %c12 = stg.conv %y11, %w12 {strides = array<i64: 1>, padding = array<i64: 0>} <"conv12"> : !stg.tensor<[B, S, CL], bf16>, !stg.tensor<[1, _ = CL, CL], bf16> -> !stg.tensor<[B, S, CL], bf16>
  %y12 = stg.call @behind_convolution(%c12) {name = "conv12"} : (!stg.tensor<[B, S, CL], bf16>) -> !stg.tensor<[B, S, CL], bf16>
  stg.return %y12 : !stg.tensor<[B, S, CL], bf16>
}

// The mean of each pair of frames, and positions that a convolution over frames makes of every second one,
// whose weight is a direction and a length for each of the PW frames. An even PW gives one too many.
stg.block @squeeze_frames(%x: !stream) -> !pairs {
  stg.option @frames_before : string = "64" "zeros before the first frame, and behind the last"
  %v = stg.param "frame_conv" : !stg.tensor<[PW, _ = D/PG, D], bf16>
  %g = stg.param "frame_conv_length" : !stg.tensor<[PW], bf16>
  %q = stg.elementwise square %v <"weight_square"> : !stg.tensor<[PW, _ = D/PG, D], bf16>
  %q2 = stg.sum dim 2 %q <"weight_rows"> : !stg.tensor<[PW, _ = D/PG, D], bf16>
  %q1 = stg.sum dim 1 %q2 <"weight_sum"> : !stg.tensor<[PW, _ = D/PG], bf16>
  %r = stg.elementwise rsqrt %q1 <"weight_root"> : !stg.tensor<[PW], bf16>
  %s = stg.mul %g, %r <"weight_scale"> : !stg.tensor<[PW], bf16>, !stg.tensor<[PW], bf16>
  %w = stg.mul_along %v, %s {dims = array<i64: 0>} <"weight"> : !stg.tensor<[PW, _ = D/PG, D], bf16>, !stg.tensor<[PW], bf16>
  %c = stg.conv %x, %w {grouped, strides = array<i64: 2>, padding = array<i64: 64>, stg.options = {padding = "frames_before"}} <"frame_conv"> : !stream, !stg.tensor<[PW, _ = D/PG, D], bf16> -> !stg.tensor<[B, _ = S/2 + 1, D], bf16>
  %e = stg.slice dim 1 %c {from = #sym.expr<0>} <"frame_conv_end"> : !stg.tensor<[B, _ = S/2 + 1, D], bf16> -> !pairs
  %b = stg.param "frame_conv_bias" : !stg.tensor<[D], bf16>
  %o = stg.bias_add %e, %b : !pairs, !stg.tensor<[D], bf16>
  %a = stg.activation gelu %o <"frame_conv_gelu"> : !pairs
  %m = stg.pool mean %x {window = array<i64: 2>, strides = array<i64: 2>, padding = array<i64: 0>} <"pairs_of_frames"> : !stream -> !pairs
  %y = stg.add %m, %a <"embeddings"> : !pairs, !pairs
  stg.return %y : !pairs
}

// Each pair becomes two frames again, by a matrix twice as wide and gelu.
stg.block @stretch_frames(%x: !pairs) -> !stream {
  %w = stg.param "stretch" : !stg.tensor<[D, _ = 2*D], bf16>
  %p = stg.einsum "bsd,de->bse" %x, %w : !pairs, !stg.tensor<[D, _ = 2*D], bf16>
  %b = stg.param "stretch_bias" : !stg.tensor<[_ = 2*D], bf16>
  %o = stg.bias_add %p, %b : !stg.tensor<[B, S = S/2, _ = 2*D], bf16>, !stg.tensor<[_ = 2*D], bf16>
  %a = stg.activation gelu %o <"stretch_gelu"> : !stg.tensor<[B, S = S/2, _ = 2*D], bf16>
  %y = stg.rearrange "bs(rd)->b(sr)d" %a <"stretched"> : !stg.tensor<[B, S = S/2, _ = 2*D], bf16> -> !stream
  stg.return %y : !stream
}
