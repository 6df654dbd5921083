// A wave as a sequence of frames: seven convolutions, which see 400 samples and go on by 320, and
// what wav2vec 2.0 and its kin make of what they give.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "frames per sequence"
stg.symbol @D "hidden size"
stg.symbol @T = S/8 "frames that are left of S"
stg.symbol @CS = 512 "channels of the convolutions over samples"
stg.symbol @PW = 128 "frames of a convolution over frames"
stg.symbol @PG = 16 "groups of channels of a convolution over frames"
stg.symbol @DC = 256 "width of a projection before the classes"
stg.symbol @Y "classes"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!channels = !stg.tensor<[B, S, CS], bf16>
!channel = !stg.tensor<[CS], bf16>

// What follows a convolution over samples: a bias, a norm, gelu. The norm of each channel has the
// mean of all frames.
stg.block @behind_convolution(%x: !channels) -> !channels {
  stg.option @name : string "of the convolution"
  stg.option @conv_bias : bool = false "bias of each convolution"
  stg.option @conv_norm : "first" | "layer" = "first" "a norm of each channel behind the first convolution, or LayerNorm behind each"
  stg.option @first : bool = false "it is the first convolution"
  %y = stg.if @conv_bias -> !channels {
    %b = stg.param "{name}_bias" : !channel
    %z = stg.bias_add %x, %b : !channels, !channel
    stg.yield %z : !channels
  } else {
    stg.yield %x : !channels
  }
  %n = stg.if @conv_norm = "layer" -> !channels {
    %w = stg.param "{name}_norm.weight" : !channel
    %b = stg.param "{name}_norm.bias" : !channel
    %l, %mean, %rstd = stg.layer_norm %y, %w, %b <"{name}_norm"> : !channels, !channel, !channel
    stg.yield %l : !channels
  } else {
    %g = stg.if @first -> !channels {
      %t = stg.rearrange "bsc->bcs" %y <"{name}_channels"> : !channels -> !stg.tensor<[B, CS, S], bf16>
      %l, %mean, %rstd = stg.layer_norm %t <"{name}_norm"> : !stg.tensor<[B, CS, S], bf16>
      %r = stg.rearrange "bcs->bsc" %l <"{name}_frames"> : !stg.tensor<[B, CS, S], bf16> -> !channels
      %w = stg.param "{name}_norm.weight" : !channel
      %s = stg.mul_along %r, %w {dims = array<i64: 2>} <"{name}_norm_scale"> : !channels, !channel
      %b = stg.param "{name}_norm.bias" : !channel
      %a = stg.bias_add %s, %b : !channels, !channel
      stg.yield %a : !channels
    } else {
      stg.yield %y : !channels
    }
    stg.yield %g : !channels
  }
  %a = stg.activation gelu %n <"{name}_gelu"> : !channels
  stg.return %a : !channels
}

// Windows of 10 samples, every fifth one; of 3 of what they give, every second one, four times;
// of 2, every second one, twice.
stg.block @embed_samples(%samples: !stg.tensor<[B, _ = 320*S + 80, 1], bf16>) -> !channels {
  %w0 = stg.param "conv0" : !stg.tensor<[10, 1, CS], bf16>
  %c0 = stg.conv %samples, %w0 {strides = array<i64: 5>, padding = array<i64: 0>} <"conv0"> : !stg.tensor<[B, _ = 320*S + 80, 1], bf16>, !stg.tensor<[10, 1, CS], bf16> -> !stg.tensor<[B, _ = 64*S + 15, CS], bf16>
  %y0 = stg.call @behind_convolution(%c0) {name = "conv0", first = true} : (!stg.tensor<[B, _ = 64*S + 15, CS], bf16>) -> !stg.tensor<[B, _ = 64*S + 15, CS], bf16>
  %w1 = stg.param "conv1" : !stg.tensor<[3, _ = CS, CS], bf16>
  %c1 = stg.conv %y0, %w1 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv1"> : !stg.tensor<[B, _ = 64*S + 15, CS], bf16>, !stg.tensor<[3, _ = CS, CS], bf16> -> !stg.tensor<[B, _ = 32*S + 7, CS], bf16>
  %y1 = stg.call @behind_convolution(%c1) {name = "conv1"} : (!stg.tensor<[B, _ = 32*S + 7, CS], bf16>) -> !stg.tensor<[B, _ = 32*S + 7, CS], bf16>
  %w2 = stg.param "conv2" : !stg.tensor<[3, _ = CS, CS], bf16>
  %c2 = stg.conv %y1, %w2 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv2"> : !stg.tensor<[B, _ = 32*S + 7, CS], bf16>, !stg.tensor<[3, _ = CS, CS], bf16> -> !stg.tensor<[B, _ = 16*S + 3, CS], bf16>
  %y2 = stg.call @behind_convolution(%c2) {name = "conv2"} : (!stg.tensor<[B, _ = 16*S + 3, CS], bf16>) -> !stg.tensor<[B, _ = 16*S + 3, CS], bf16>
  %w3 = stg.param "conv3" : !stg.tensor<[3, _ = CS, CS], bf16>
  %c3 = stg.conv %y2, %w3 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv3"> : !stg.tensor<[B, _ = 16*S + 3, CS], bf16>, !stg.tensor<[3, _ = CS, CS], bf16> -> !stg.tensor<[B, _ = 8*S + 1, CS], bf16>
  %y3 = stg.call @behind_convolution(%c3) {name = "conv3"} : (!stg.tensor<[B, _ = 8*S + 1, CS], bf16>) -> !stg.tensor<[B, _ = 8*S + 1, CS], bf16>
  %w4 = stg.param "conv4" : !stg.tensor<[3, _ = CS, CS], bf16>
  %c4 = stg.conv %y3, %w4 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv4"> : !stg.tensor<[B, _ = 8*S + 1, CS], bf16>, !stg.tensor<[3, _ = CS, CS], bf16> -> !stg.tensor<[B, _ = 4*S, CS], bf16>
  %y4 = stg.call @behind_convolution(%c4) {name = "conv4"} : (!stg.tensor<[B, _ = 4*S, CS], bf16>) -> !stg.tensor<[B, _ = 4*S, CS], bf16>
  %w5 = stg.param "conv5" : !stg.tensor<[2, _ = CS, CS], bf16>
  %c5 = stg.conv %y4, %w5 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv5"> : !stg.tensor<[B, _ = 4*S, CS], bf16>, !stg.tensor<[2, _ = CS, CS], bf16> -> !stg.tensor<[B, _ = 2*S, CS], bf16>
  %y5 = stg.call @behind_convolution(%c5) {name = "conv5"} : (!stg.tensor<[B, _ = 2*S, CS], bf16>) -> !stg.tensor<[B, _ = 2*S, CS], bf16>
  %w6 = stg.param "conv6" : !stg.tensor<[2, _ = CS, CS], bf16>
  %c6 = stg.conv %y5, %w6 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv6"> : !stg.tensor<[B, _ = 2*S, CS], bf16>, !stg.tensor<[2, _ = CS, CS], bf16> -> !channels
  %y6 = stg.call @behind_convolution(%c6) {name = "conv6"} : (!channels) -> !channels
  stg.return %y6 : !channels
}

// From channels to the residual stream.
stg.block @project_channels(%x: !channels) -> !stream {
  stg.option @channel_norm : bool = true "LayerNorm of the channels"
  %n = stg.if @channel_norm -> !channels {
    %w = stg.param "channel_norm.weight" : !channel
    %b = stg.param "channel_norm.bias" : !channel
    %l, %mean, %rstd = stg.layer_norm %x, %w, %b <"channel_norm"> : !channels, !channel, !channel
    stg.yield %l : !channels
  } else {
    stg.yield %x : !channels
  }
  %w = stg.param "channel_proj" : !stg.tensor<[CS, D], bf16>
  %p = stg.einsum "bsc,cd->bsd" %n, %w : !channels, !stg.tensor<[CS, D], bf16>
  %b = stg.param "channel_proj_bias" : !vector
  %y = stg.bias_add %p, %b : !stream, !vector
  stg.return %y : !stream
}

// A learned frame in the places of those that are hidden: `masked` is 1 there and 0 elsewhere,
// `visible` the other way around.
stg.block @hide_frames(%x: !stream, %masked: !stg.tensor<[B, S, 1], bf16>, %visible: !stg.tensor<[B, S, 1], bf16>) -> !stream {
  %f = stg.param "masked_frame" : !stg.tensor<[1, D], bf16>
  %m = stg.einsum "bsi,id->bsd" %masked, %f <"hidden_frames"> : !stg.tensor<[B, S, 1], bf16>, !stg.tensor<[1, D], bf16>
  %v = stg.mul %x, %visible <"visible_frames"> : !stream, !stg.tensor<[B, S, 1], bf16>
  %y = stg.add %v, %m <"frames_seen"> : !stream, !stream
  stg.return %y : !stream
}

// A convolution over frames, of groups of channels. PW frames see as many, half of them before, so
// that an even PW gives one frame too many, which is cut off. Its weight may be a direction and a
// length for each of the PW frames.
stg.block @convolve_frames(%x: !stream) -> !stream {
  stg.option @normalized_weight : bool = true "the weight is a direction, and a length for each frame"
  stg.option @frames_before : string = "64" "zeros before the first frame, and behind the last"
  stg.option @even_window : bool = true "PW is even"
  %v = stg.param "frame_conv" : !stg.tensor<[PW, _ = D/PG, D], bf16>
  %w = stg.if @normalized_weight -> !stg.tensor<[PW, _ = D/PG, D], bf16> {
    %g = stg.param "frame_conv_length" : !stg.tensor<[PW], bf16>
    %q = stg.elementwise square %v <"weight_square"> : !stg.tensor<[PW, _ = D/PG, D], bf16>
    %q2 = stg.sum dim 2 %q <"weight_rows"> : !stg.tensor<[PW, _ = D/PG, D], bf16>
    %q1 = stg.sum dim 1 %q2 <"weight_sum"> : !stg.tensor<[PW, _ = D/PG], bf16>
    %r = stg.elementwise rsqrt %q1 <"weight_root"> : !stg.tensor<[PW], bf16>
    %s = stg.mul %g, %r <"weight_scale"> : !stg.tensor<[PW], bf16>, !stg.tensor<[PW], bf16>
    %n = stg.mul_along %v, %s {dims = array<i64: 0>} <"weight"> : !stg.tensor<[PW, _ = D/PG, D], bf16>, !stg.tensor<[PW], bf16>
    stg.yield %n : !stg.tensor<[PW, _ = D/PG, D], bf16>
  } else {
    stg.yield %v : !stg.tensor<[PW, _ = D/PG, D], bf16>
  }
  %c = stg.if @even_window -> !stream {
    %z = stg.conv %x, %w {grouped, strides = array<i64: 1>, padding = array<i64: 64>, stg.options = {padding = "frames_before"}} <"frame_conv"> : !stream, !stg.tensor<[PW, _ = D/PG, D], bf16> -> !stg.tensor<[B, _ = S + 1, D], bf16>
    %y = stg.slice dim 1 %z {from = #sym.expr<0>} <"frame_conv_end"> : !stg.tensor<[B, _ = S + 1, D], bf16> -> !stream
    stg.yield %y : !stream
  } else {
    %y = stg.conv %x, %w {grouped, strides = array<i64: 1>, padding = array<i64: 64>, stg.options = {padding = "frames_before"}} <"frame_conv"> : !stream, !stg.tensor<[PW, _ = D/PG, D], bf16> -> !stream
    stg.yield %y : !stream
  }
  %b = stg.param "frame_conv_bias" : !vector
  %o = stg.bias_add %c, %b : !stream, !vector
  stg.return %o : !stream
}

// Positions that a convolution over frames makes, added to what it reads.
stg.block @add_convolved_positions(%x: !stream) -> !stream {
  %c = stg.call @convolve_frames(%x) : (!stream) -> !stream
  %a = stg.activation gelu %c <"frame_conv_gelu"> : !stream
  %y = stg.add %x, %a <"embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// One of several such convolutions behind one another, with a norm without weights (data2vec).
stg.block @convolution_layer(%x: !stream) -> !stream {
  %c = stg.call @convolve_frames(%x) {normalized_weight = false} : (!stream) -> !stream
  %n, %mean, %rstd = stg.layer_norm %c <"frame_conv_norm"> : !stream
  %y = stg.activation gelu %n <"frame_conv_gelu"> : !stream
  stg.return %y : !stream
}

// What is added to a value, of the same shape.
stg.block @add_positions_of_frames(%x: !stream, %p: !stream) -> !stream {
  %y = stg.add %x, %p <"embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// The class of a sound: a narrow projection of each frame, their mean, and cross-entropy.
stg.block @sound_class_loss(%x: !stream, %labels: !stg.tensor<[B], i32>) -> !stg.tensor<[B], f32> {
  %w = stg.param "class_proj" : !stg.tensor<[D, DC], bf16>
  %p = stg.einsum "bsd,dc->bsc" %x, %w : !stream, !stg.tensor<[D, DC], bf16>
  %b = stg.param "class_proj_bias" : !stg.tensor<[DC], bf16>
  %y = stg.bias_add %p, %b : !stg.tensor<[B, S, DC], bf16>, !stg.tensor<[DC], bf16>
  %m = stg.mean dim 1 %y <"frame_mean"> : !stg.tensor<[B, S, DC], bf16>
  %wc = stg.param "classifier" : !stg.tensor<[DC, Y], bf16>
  %pc = stg.einsum "bc,cy->by" %m, %wc : !stg.tensor<[B, DC], bf16>, !stg.tensor<[DC, Y], bf16>
  %bc = stg.param "classifier_bias" : !stg.tensor<[Y], bf16>
  %l = stg.bias_add %pc, %bc : !stg.tensor<[B, Y], bf16>, !stg.tensor<[Y], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels <"class_loss"> : !stg.tensor<[B, Y], bf16>, !stg.tensor<[B], i32>
  stg.return %loss : !stg.tensor<[B], f32>
}

// Windows of 127 samples, every 64th one; of 7 of what they give, every third one, in twice the
// width; of 3, every second one. A norm of all channels and frames of a sound together, with
// weights and biases of each channel, follows the first convolution (Moonshine).
stg.block @embed_samples_in_three(%samples: !stg.tensor<[B, _ = 384*S + 511, 1], bf16>) -> !stream {
  %w0 = stg.param "conv0" : !stg.tensor<[127, 1, D], bf16>
  %c0 = stg.conv %samples, %w0 {strides = array<i64: 64>, padding = array<i64: 0>} <"conv0"> : !stg.tensor<[B, _ = 384*S + 511, 1], bf16>, !stg.tensor<[127, 1, D], bf16> -> !stg.tensor<[B, _ = 6*S + 7, D], bf16>
  %t0 = stg.activation tanh %c0 <"conv0_tanh"> : !stg.tensor<[B, _ = 6*S + 7, D], bf16>
  %j0 = stg.rearrange "btd->b(td)" %t0 <"conv0_joined"> : !stg.tensor<[B, _ = 6*S + 7, D], bf16> -> !stg.tensor<[B, _ = 6*D*S + 7*D], bf16>
  %n0, %mean, %rstd = stg.layer_norm %j0 <"conv0_norm"> : !stg.tensor<[B, _ = 6*D*S + 7*D], bf16>
  %r0 = stg.rearrange "b(td)->btd" %n0 <"conv0_frames"> : !stg.tensor<[B, _ = 6*D*S + 7*D], bf16> -> !stg.tensor<[B, _ = 6*S + 7, D], bf16>
  %g0 = stg.param "conv0_norm.weight" : !vector
  %s0 = stg.mul_along %r0, %g0 {dims = array<i64: 2>} <"conv0_norm_scale"> : !stg.tensor<[B, _ = 6*S + 7, D], bf16>, !vector
  %b0 = stg.param "conv0_norm.bias" : !vector
  %y0 = stg.bias_add %s0, %b0 : !stg.tensor<[B, _ = 6*S + 7, D], bf16>, !vector
  %w1 = stg.param "conv1" : !stg.tensor<[7, D, _ = 2*D], bf16>
  %c1 = stg.conv %y0, %w1 {strides = array<i64: 3>, padding = array<i64: 0>} <"conv1"> : !stg.tensor<[B, _ = 6*S + 7, D], bf16>, !stg.tensor<[7, D, _ = 2*D], bf16> -> !stg.tensor<[B, _ = 2*S + 1, _ = 2*D], bf16>
  %b1 = stg.param "conv1_bias" : !stg.tensor<[_ = 2*D], bf16>
  %z1 = stg.bias_add %c1, %b1 : !stg.tensor<[B, _ = 2*S + 1, _ = 2*D], bf16>, !stg.tensor<[_ = 2*D], bf16>
  %y1 = stg.activation gelu %z1 <"conv1_gelu"> : !stg.tensor<[B, _ = 2*S + 1, _ = 2*D], bf16>
  %w2 = stg.param "conv2" : !stg.tensor<[3, _ = 2*D, D], bf16>
  %c2 = stg.conv %y1, %w2 {strides = array<i64: 2>, padding = array<i64: 0>} <"conv2"> : !stg.tensor<[B, _ = 2*S + 1, _ = 2*D], bf16>, !stg.tensor<[3, _ = 2*D, D], bf16> -> !stream
  %b2 = stg.param "conv2_bias" : !vector
  %z2 = stg.bias_add %c2, %b2 : !stream, !vector
  %y2 = stg.activation gelu %z2 <"conv2_gelu"> : !stream
  stg.return %y2 : !stream
}

// Three convolutions of what the encoder gives, with gates, each of which makes one frame of two.
stg.block @shorten_frames(%x: !stg.tensor<[B, S, D], bf16>) -> !stg.tensor<[B, T, D], bf16> {
  %y1 = stg.call @gated_half(%x) {T = 4*T, name = "conv1"} : (!stg.tensor<[B, S, D], bf16>) -> !stg.tensor<[B, T = 4*T, D], bf16>
  %y2 = stg.call @gated_half(%y1) {T = 2*T, name = "conv2"} : (!stg.tensor<[B, T = 4*T, D], bf16>) -> !stg.tensor<[B, T = 2*T, D], bf16>
  %y3 = stg.call @gated_half(%y2) {name = "conv3"} : (!stg.tensor<[B, T = 2*T, D], bf16>) -> !stg.tensor<[B, T, D], bf16>
  stg.return %y3 : !stg.tensor<[B, T, D], bf16>
}
stg.block @gated_half(%x: !stg.tensor<[B, S, D], bf16>) -> !stg.tensor<[B, T, D], bf16> {
  stg.option @name : string "before the names of parameters"
  %w = stg.param "{name}" : !stg.tensor<[3, D, 2*D], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 2>, padding = array<i64: 1>} <"{name}"> : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[3, D, 2*D], bf16> -> !stg.tensor<[B, T, 2*D], bf16>
  %p = stg.rearrange "bs(gd)->bsgd" %c <"{name}_halves"> : !stg.tensor<[B, T, 2*D], bf16> -> !stg.tensor<[B, T, 2, D], bf16>
  %b = stg.param "{name}_bias" : !stg.tensor<[2, D], bf16>
  %z = stg.bias_add %p, %b : !stg.tensor<[B, T, 2, D], bf16>, !stg.tensor<[2, D], bf16>
  %y = stg.glu sigmoid %z <"{name}_gate"> : !stg.tensor<[B, T, 2, D], bf16>
  stg.return %y : !stg.tensor<[B, T, D], bf16>
}
