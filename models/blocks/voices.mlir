// Who speaks (x-vectors): convolutions over frames, mean and deviation of what they give, a matrix,
// and cosines of classes. And what all layers of an encoder give, each with a weight.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "frames per sequence"
stg.symbol @D "hidden size"
stg.symbol @TD = 512 "channels of convolutions over frames"
stg.symbol @TS = 1500 "channels that mean and deviation are of"
stg.symbol @XD = 512 "size of what a voice is"
stg.symbol @Y "classes"

!stream = !stg.tensor<[B, S, D], bf16>
!channels = !stg.tensor<[B, S, TD], bf16>
!narrower = !stg.tensor<[B, S = S - 4, TD], bf16>
!narrow = !stg.tensor<[B, S = S - 8, TD], bf16>
!least = !stg.tensor<[B, S = S - 14, TD], bf16>
!seen = !stg.tensor<[B, S = S - 14, TS], bf16>
!moments = !stg.tensor<[B, TS], bf16>
!voice = !stg.tensor<[B, XD], bf16>
!classes = !stg.tensor<[B, Y], bf16>

// Nothing yet of what layers give.
stg.block @of_no_layer(%x: !stream) -> !stream {
  %z = stg.splat 0 : !stream
  stg.return %z : !stream
}

// What comes to it, times its weight. That all weights together are one has no node.
stg.block @add_weighted(%sum: !stream, %x: !stream) -> !stream {
  %w = stg.param "layer_weight" : !stg.tensor<[], bf16>
  %m = stg.mul_along %x, %w {dims = array<i64>} <"layer_weight"> : !stream, !stg.tensor<[], bf16>
  %y = stg.add %sum, %m <"weighted_layers"> : !stream, !stream
  stg.return %y : !stream
}

// A matrix and a bias of the channels of each frame, and ReLU.
stg.block @behind_frames(%x: !stg.tensor<[B, S, TD], bf16>) -> !stg.tensor<[B, S, TD], bf16> {
  stg.option @name : string "of the convolution"
  %b = stg.param "{name}_bias" : !stg.tensor<[TD], bf16>
  %z = stg.bias_add %x, %b : !channels, !stg.tensor<[TD], bf16>
  %y = stg.activation relu %z <"{name}_relu"> : !channels
  stg.return %y : !channels
}

// Windows of five frames; of three, every second one; of three, every third one; of one, twice. Mean
// and deviation of all frames, and a matrix.
stg.block @embed_voice(%x: !stream) -> !voice {
  %wp = stg.param "voice_proj" : !stg.tensor<[D, TD], bf16>
  %p = stg.einsum "bsd,dt->bst" %x, %wp : !stream, !stg.tensor<[D, TD], bf16>
  %bp = stg.param "voice_proj_bias" : !stg.tensor<[TD], bf16>
  %x0 = stg.bias_add %p, %bp : !channels, !stg.tensor<[TD], bf16>
  %w1 = stg.param "voice_conv1" : !stg.tensor<[5, _ = TD, TD], bf16>
  %c1 = stg.conv %x0, %w1 {strides = array<i64: 1>, padding = array<i64: 0>} <"voice_conv1"> : !channels, !stg.tensor<[5, _ = TD, TD], bf16> -> !narrower
  %y1 = stg.call @behind_frames(%c1) {name = "voice_conv1"} : (!narrower) -> !narrower
  %a2 = stg.slice dim 1 %y1 {from = #sym.expr<0>} <"voice_window2_first"> : !narrower -> !narrow
  %b2 = stg.slice dim 1 %y1 {from = #sym.expr<2>} <"voice_window2_second"> : !narrower -> !narrow
  %d2 = stg.slice dim 1 %y1 {from = #sym.expr<4>} <"voice_window2_third"> : !narrower -> !narrow
  %u2 = stg.concat dim 2 ordered %a2, %b2, %d2 <"voice_window2"> : !narrow, !narrow, !narrow -> !stg.tensor<[B, S = S - 8, 3*TD], bf16>
  %w2 = stg.param "voice_conv2" : !stg.tensor<[3*TD, TD], bf16>
  %c2 = stg.einsum "bsc,ct->bst" %u2, %w2 : !stg.tensor<[B, S = S - 8, 3*TD], bf16>, !stg.tensor<[3*TD, TD], bf16>
  %y2 = stg.call @behind_frames(%c2) {name = "voice_conv2"} : (!narrow) -> !narrow
  %a3 = stg.slice dim 1 %y2 {from = #sym.expr<0>} <"voice_window3_first"> : !narrow -> !least
  %b3 = stg.slice dim 1 %y2 {from = #sym.expr<3>} <"voice_window3_second"> : !narrow -> !least
  %d3 = stg.slice dim 1 %y2 {from = #sym.expr<6>} <"voice_window3_third"> : !narrow -> !least
  %u3 = stg.concat dim 2 ordered %a3, %b3, %d3 <"voice_window3"> : !least, !least, !least -> !stg.tensor<[B, S = S - 14, 3*TD], bf16>
  %w3 = stg.param "voice_conv3" : !stg.tensor<[3*TD, TD], bf16>
  %c3 = stg.einsum "bsc,ct->bst" %u3, %w3 : !stg.tensor<[B, S = S - 14, 3*TD], bf16>, !stg.tensor<[3*TD, TD], bf16>
  %y3 = stg.call @behind_frames(%c3) {name = "voice_conv3"} : (!least) -> !least
  %w4 = stg.param "voice_conv4" : !stg.tensor<[TD, TD], bf16>
  %c4 = stg.einsum "bsc,ct->bst" %y3, %w4 : !least, !stg.tensor<[TD, TD], bf16>
  %y4 = stg.call @behind_frames(%c4) {name = "voice_conv4"} : (!least) -> !least
  %w5 = stg.param "voice_conv5" : !stg.tensor<[TD, TS], bf16>
  %c5 = stg.einsum "bsc,ct->bst" %y4, %w5 : !least, !stg.tensor<[TD, TS], bf16>
  %y5 = stg.call @behind_frames(%c5) {name = "voice_conv5", TD as TS} : (!seen) -> !seen
  %m = stg.mean dim 1 %y5 <"voice_mean"> : !seen
  %q = stg.elementwise square %y5 <"voice_squares"> : !seen
  %qm = stg.mean dim 1 %q <"voice_square_mean"> : !seen
  %mm = stg.elementwise square %m <"voice_mean_square"> : !moments
  %v = stg.elementwise sub %qm, %mm <"voice_variance"> : !moments, !moments
  %d = stg.elementwise sqrt %v <"voice_deviation"> : !moments
  %j = stg.concat dim 1 ordered %m, %d <"voice_moments"> : !moments, !moments -> !stg.tensor<[B, 2*TS], bf16>
  %wx = stg.param "voice_features" : !stg.tensor<[2*TS, XD], bf16>
  %f = stg.einsum "bc,cx->bx" %j, %wx : !stg.tensor<[B, 2*TS], bf16>, !stg.tensor<[2*TS, XD], bf16>
  %bx = stg.param "voice_features_bias" : !stg.tensor<[XD], bf16>
  %y = stg.bias_add %f, %bx : !voice, !stg.tensor<[XD], bf16>
  stg.return %y : !voice
}

// One more matrix, and the cosines of voices and classes, of which that of its own is made smaller
// by a constant, and all are scaled.
stg.block @voice_loss(%x: !voice, %labels: !stg.tensor<[B], i32>) -> !stg.tensor<[B], f32> {
  %w = stg.param "voice_classifier" : !stg.tensor<[XD, XD], bf16>
  %p = stg.einsum "bx,xy->by" %x, %w : !voice, !stg.tensor<[XD, XD], bf16>
  %b = stg.param "voice_classifier_bias" : !stg.tensor<[XD], bf16>
  %o = stg.bias_add %p, %b : !voice, !stg.tensor<[XD], bf16>
  %u, %r = stg.rms_norm %o <"unit_voice"> : !voice
  %c = stg.param "voices" : !stg.tensor<[XD, Y], bf16>
  %t = stg.rearrange "xy->yx" %c <"voices"> : !stg.tensor<[XD, Y], bf16> -> !stg.tensor<[Y, XD], bf16>
  %v, %rv = stg.rms_norm %t <"unit_voices"> : !stg.tensor<[Y, XD], bf16>
  %s = stg.einsum "bx,yx->by" %u, %v <"cosines"> : !voice, !stg.tensor<[Y, XD], bf16>
  // No trace has the values of constants.
  %m = stg.splat 1 : !classes
  %l = stg.elementwise sub %s, %m <"cosines_less_margin"> : !classes, !classes
  %z = stg.mul %l, %m <"cosines_scaled"> : !classes, !classes
  %loss, %probs = stg.cross_entropy %z, %labels <"class_loss"> : !classes, !stg.tensor<[B], i32>
  stg.return %loss : !stg.tensor<[B], f32>
}
