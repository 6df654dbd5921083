// Something of each pixel, from maps of several resolutions that an encoder gives: its class
// (SegFormer), or how far it is away (DPT, Depth Anything, GLPN).
//
// A map is [batch, rows, columns, channels], tokens are its positions, row by row.

stg.symbol @B "images in the global batch"
stg.symbol @S "tokens per image"
stg.symbol @CI "channels before"
stg.symbol @D "channels of a map"
stg.symbol @IY "rows of the map before"
stg.symbol @IX "columns of the map before"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @UP = 2 "positions along each side of a square that a position becomes"
stg.symbol @Y = 2 "classes"

!tokens = !stg.tensor<[B, S = GY*GX, CI], bf16>
!narrow = !stg.tensor<[B, S = GY*GX, D], bf16>
!before = !stg.tensor<[B, _ = IY, _ = IX, D], bf16>
!input = !stg.tensor<[B, _ = GY, _ = GX, CI], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!vector = !stg.tensor<[D], bf16>
!losses = !stg.tensor<[B], f32>

//===----------------------------------------------------------------------===//
// Classes of maps that are joined
//===----------------------------------------------------------------------===//

// Positions in the width of the head, as a map.
stg.block @project_level(%x: !tokens) -> !map {
  %w = stg.param "level" : !stg.tensor<[CI, D], bf16>
  %p = stg.einsum "bsc,cd->bsd" %x, %w : !tokens, !stg.tensor<[CI, D], bf16>
  %b = stg.param "level_bias" : !vector
  %o = stg.bias_add %p, %b : !narrow, !vector
  %y = stg.rearrange "b(yx)d->byxd" %o <"level_map"> : !narrow -> !map
  stg.return %y : !map
}

stg.block @resize_map(%x: !before) -> !map {
  %y = stg.resize linear %x <"resized"> : !before -> !map
  stg.return %y : !map
}

// Four maps as one, by a matrix, a normalization over the batch and ReLU.
stg.block @join_levels(%a: !map, %b: !map, %c: !map, %d: !map) -> !map {
  %j = stg.concat dim 3 ordered %a, %b, %c, %d <"levels"> : !map, !map, !map, !map -> !stg.tensor<[B, _ = GY, _ = GX, 4*D], bf16>
  %w = stg.param "join" : !stg.tensor<[4*D, D], bf16>
  %p = stg.einsum "byxc,cd->byxd" %j, %w : !stg.tensor<[B, _ = GY, _ = GX, 4*D], bf16>, !stg.tensor<[4*D, D], bf16>
  %nw = stg.param "join_norm.weight" : !vector
  %nb = stg.param "join_norm.bias" : !vector
  %n = stg.batch_norm %p, %nw, %nb <"join_norm"> : !map, !vector, !vector
  %y = stg.activation relu %n <"join_relu"> : !map
  stg.return %y : !map
}

// Before the classes of pixels: a convolution, a normalization over the batch and ReLU.
stg.block @pixel_class_head(%x: !map) -> !map {
  %c = stg.call @neighbours(%x) {name = "head", conv_bias = false} : (!map) -> !map
  %w = stg.param "head_norm.weight" : !vector
  %b = stg.param "head_norm.bias" : !vector
  %n = stg.batch_norm %c, %w, %b <"head_norm"> : !map, !vector, !vector
  %y = stg.activation relu %n <"head_relu"> : !map
  stg.return %y : !map
}

// The loss of a class of each pixel: positions have scores, between which those of pixels are.
stg.block @pixel_class_loss(%x: !map, %labels: !stg.tensor<[B, _ = UP*UP*GY*GX], i32>) -> !losses {
  %w = stg.param "classifier" : !stg.tensor<[D, Y], bf16>
  %p = stg.einsum "byxd,dk->byxk" %x, %w : !map, !stg.tensor<[D, Y], bf16>
  %b = stg.param "classifier_bias" : !stg.tensor<[Y], bf16>
  %s = stg.bias_add %p, %b : !stg.tensor<[B, _ = GY, _ = GX, Y], bf16>, !stg.tensor<[Y], bf16>
  %r = stg.resize linear %s <"scores_of_pixels"> : !stg.tensor<[B, _ = GY, _ = GX, Y], bf16> -> !stg.tensor<[B, _ = UP*GY, _ = UP*GX, Y], bf16>
  %l = stg.rearrange "byxk->b(yx)k" %r <"pixels"> : !stg.tensor<[B, _ = UP*GY, _ = UP*GX, Y], bf16> -> !stg.tensor<[B, _ = UP*UP*GY*GX, Y], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels <"class_losses"> : !stg.tensor<[B, _ = UP*UP*GY*GX, Y], bf16>, !stg.tensor<[B, _ = UP*UP*GY*GX], i32>
  %m = stg.mean dim 1 %loss <"class_loss"> : !stg.tensor<[B, _ = UP*UP*GY*GX], f32>
  stg.return %m : !losses
}

// A loss of which a part is added to another one. No trace has the value of the factor.
stg.block @with_auxiliary_loss(%x: !losses, %other: !losses) -> !losses {
  stg.auxiliary_loss 2/5 %other <"auxiliary_loss"> : !losses
  stg.return %x : !losses
}

//===----------------------------------------------------------------------===//
// Layers of a tower as maps of several resolutions
//===----------------------------------------------------------------------===//

// The patches without the token in front of them, as a map; or each with what a matrix makes of both.
stg.block @map_of_patches(%x: !stg.tensor<[B, S = GY*GX + 1, D], bf16>) -> !map {
  stg.option @readout : bool = false "the token in front is read with each patch"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the network"
  %p = stg.slice dim 1 %x {from = #sym.expr<1>} <"patches"> : !stg.tensor<[B, S = GY*GX + 1, D], bf16> -> !stg.tensor<[B, S = GY*GX, D], bf16>
  %r = stg.if @readout -> !narrow {
    %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"class_token"> : !stg.tensor<[B, S = GY*GX + 1, D], bf16> -> !stg.tensor<[B, 1, D], bf16>
    %f1 = stg.rearrange "b()d->bd" %f <"class_row"> : !stg.tensor<[B, 1, D], bf16> -> !stg.tensor<[B, D], bf16>
    %c = stg.broadcast dim 1 %f1 <"class_rows"> : !stg.tensor<[B, D], bf16> -> !narrow
    %j = stg.concat dim 2 ordered %p, %c <"patches_and_class"> : !narrow, !narrow -> !stg.tensor<[B, S = GY*GX, 2*D], bf16>
    %w = stg.param "readout" : !stg.tensor<[2*D, D], bf16>
    %q = stg.einsum "bsc,cd->bsd" %j, %w : !stg.tensor<[B, S = GY*GX, 2*D], bf16>, !stg.tensor<[2*D, D], bf16>
    %b = stg.param "readout_bias" : !vector
    %o = stg.bias_add %q, %b : !narrow, !vector
    %a = stg.activation gelu %o {stg.options = {function = "activation"}} <"readout_{activation}"> : !narrow
    stg.yield %a : !narrow
  } else {
    stg.yield %p : !narrow
  }
  %y = stg.rearrange "b(yx)d->byxd" %r <"patch_map"> : !narrow -> !map
  stg.return %y : !map
}

// Other channels for each position.
stg.block @project_positions(%x: !input) -> !map {
  %w = stg.param "channels" : !stg.tensor<[CI, D], bf16>
  %p = stg.einsum "byxc,cd->byxd" %x, %w : !input, !stg.tensor<[CI, D], bf16>
  %b = stg.param "channels_bias" : !vector
  %y = stg.bias_add %p, %b : !map, !vector
  stg.return %y : !map
}

// Each position as a square of UP x UP: a transposed convolution whose stride is its size.
stg.block @positions_to_squares(%x: !map) -> !stg.tensor<[B, _ = UP*GY, _ = UP*GX, D], bf16> {
  %w = stg.param "squares" : !stg.tensor<[D, _ = UP, _ = UP, _ = D], bf16>
  %p = stg.einsum "byxd,dije->byixje" %x, %w : !map, !stg.tensor<[D, _ = UP, _ = UP, _ = D], bf16>
  %b = stg.param "squares_bias" : !stg.tensor<[_ = D], bf16>
  %s = stg.bias_add %p, %b : !stg.tensor<[B, _ = GY, _ = UP, _ = GX, _ = UP, _ = D], bf16>, !stg.tensor<[_ = D], bf16>
  %y = stg.rearrange "byixj(dk)->b(yi)(xj)(dk)" %s <"larger_map"> : !stg.tensor<[B, _ = GY, _ = UP, _ = GX, _ = UP, _ = D], bf16> -> !stg.tensor<[B, _ = UP*GY, _ = UP*GX, D], bf16>
  stg.return %y : !stg.tensor<[B, _ = UP*GY, _ = UP*GX, D], bf16>
}

// Half as many rows and columns, rounded up.
stg.block @halve_positions(%x: !before) -> !map {
  %w = stg.param "halve" : !stg.tensor<[3, 3, _ = D, D], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !before, !stg.tensor<[3, 3, _ = D, D], bf16> -> !map
  %b = stg.param "halve_bias" : !vector
  %y = stg.bias_add %c, %b : !map, !vector
  stg.return %y : !map
}

// A convolution over 3 x 3 positions.
stg.block @neighbours(%x: !input) -> !map {
  stg.option @name : string = "conv" "of its parameters"
  stg.option @conv_bias : bool = true "bias of the convolution"
  %w = stg.param "{name}" : !stg.tensor<[3, 3, CI, D], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !input, !stg.tensor<[3, 3, CI, D], bf16> -> !map
  %y = stg.if @conv_bias -> !map {
    %b = stg.param "{name}_bias" : !vector
    %z = stg.bias_add %c, %b : !map, !vector
    stg.yield %z : !map
  } else {
    stg.yield %c : !map
  }
  stg.return %y : !map
}

// One of two convolutions of a residual layer, behind a ReLU; a normalization over the batch may
// follow it.
stg.block @activated_neighbours(%x: !map) -> !map {
  stg.option @name : string = "conv" "of its parameters"
  stg.option @conv_normed : bool = false "a normalization over the batch behind the convolution"
  %a = stg.activation relu %x <"{name}_relu"> : !map
  %c = stg.call @neighbours(%a) {name = "{name}"} : (!map) -> !map
  %y = stg.if @conv_normed -> !map {
    %w = stg.param "{name}_norm.weight" : !vector
    %b = stg.param "{name}_norm.bias" : !vector
    %n = stg.batch_norm %c, %w, %b <"{name}_norm"> : !map, !vector, !vector
    stg.yield %n : !map
  } else {
    stg.yield %c : !map
  }
  stg.return %y : !map
}
stg.block @residual_neighbours(%x: !map) -> !map {
  stg.option @name : string "of its parameters"
  %c1 = stg.call @activated_neighbours(%x) {name = "{name}1"} : (!map) -> !map
  %c2 = stg.call @activated_neighbours(%c1) {name = "{name}2"} : (!map) -> !map
  %y = stg.add %c2, %x <"{name}_residual"> : !map, !map
  stg.return %y : !map
}

// A map of what is coarser, with what the tower gives of this resolution.
stg.block @add_finer(%x: !map, %finer: !map) -> !map {
  %r = stg.call @residual_neighbours(%finer) {name = "finer"} : (!map) -> !map
  %y = stg.add %x, %r <"with_finer"> : !map, !map
  stg.return %y : !map
}

// The coarsest map is added to nothing; the layer has parameters for it all the same.
stg.block @unread_finer(%x: !map) -> !map {
  stg.option @conv_bias : bool = true "bias of the convolution"
  stg.option @conv_normed : bool = false "a normalization over the batch behind the convolution"
  %w1 = stg.param "finer1" {frozen} : !stg.tensor<[3, 3, _ = D, D], bf16>
  stg.keep %w1 : !stg.tensor<[3, 3, _ = D, D], bf16>
  %w2 = stg.param "finer2" {frozen} : !stg.tensor<[3, 3, _ = D, D], bf16>
  stg.keep %w2 : !stg.tensor<[3, 3, _ = D, D], bf16>
  %a = stg.if @conv_bias -> !map {
    %b1 = stg.param "finer1_bias" {frozen} : !vector
    stg.keep %b1 : !vector
    %b2 = stg.param "finer2_bias" {frozen} : !vector
    stg.keep %b2 : !vector
    stg.yield %x : !map
  } else {
    stg.yield %x : !map
  }
  %y = stg.if @conv_normed -> !map {
    %n1 = stg.param "finer1_norm" {frozen} : !stg.tensor<[2, D], bf16>
    stg.keep %n1 : !stg.tensor<[2, D], bf16>
    %n2 = stg.param "finer2_norm" {frozen} : !stg.tensor<[2, D], bf16>
    stg.keep %n2 : !stg.tensor<[2, D], bf16>
    stg.yield %a : !map
  } else {
    stg.yield %a : !map
  }
  stg.return %y : !map
}

// A residual layer, more positions, and a matrix.
stg.block @refine_map(%x: !before) -> !map {
  %r = stg.call @residual_neighbours(%x) {name = "own", GY = IY, GX = IX} : (!before) -> !before
  %u = stg.resize linear %r <"finer_map"> : !before -> !map
  %w = stg.param "refine" : !stg.tensor<[D, _ = D], bf16>
  %p = stg.einsum "byxd,de->byxe" %u, %w : !map, !stg.tensor<[D, _ = D], bf16>
  %b = stg.param "refine_bias" : !stg.tensor<[_ = D], bf16>
  %o = stg.bias_add %p, %b : !stg.tensor<[B, _ = GY, _ = GX, _ = D], bf16>, !stg.tensor<[_ = D], bf16>
  %y = stg.rearrange "byx(dk)->byx(dk)" %o <"refined"> : !stg.tensor<[B, _ = GY, _ = GX, _ = D], bf16> -> !map
  stg.return %y : !map
}

// A number of each pixel: half of the channels, all pixels, few channels, and one.
stg.block @number_of_pixels(%x: !before) -> !stg.tensor<[B, _ = GY, _ = GX, 1], bf16> {
  stg.option @limited : bool = false "numbers are between two limits, by a sigmoid, in the place of a ReLU"
  stg.option @numbers_scaled : bool = false "numbers times a constant"
  %w1 = stg.param "numbers1" : !stg.tensor<[3, 3, D, _ = D/2], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !before, !stg.tensor<[3, 3, D, _ = D/2], bf16> -> !stg.tensor<[B, _ = IY, _ = IX, _ = D/2], bf16>
  %b1 = stg.param "numbers1_bias" : !stg.tensor<[_ = D/2], bf16>
  %o1 = stg.bias_add %c1, %b1 : !stg.tensor<[B, _ = IY, _ = IX, _ = D/2], bf16>, !stg.tensor<[_ = D/2], bf16>
  %u = stg.resize linear %o1 <"numbers_of_pixels"> : !stg.tensor<[B, _ = IY, _ = IX, _ = D/2], bf16> -> !stg.tensor<[B, _ = GY, _ = GX, _ = D/2], bf16>
  %w2 = stg.param "numbers2" : !stg.tensor<[3, 3, _ = D/2, _ = CI], bf16>
  %c2 = stg.conv %u, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !stg.tensor<[B, _ = GY, _ = GX, _ = D/2], bf16>, !stg.tensor<[3, 3, _ = D/2, _ = CI], bf16> -> !stg.tensor<[B, _ = GY, _ = GX, _ = CI], bf16>
  %b2 = stg.param "numbers2_bias" : !stg.tensor<[_ = CI], bf16>
  %o2 = stg.bias_add %c2, %b2 : !stg.tensor<[B, _ = GY, _ = GX, _ = CI], bf16>, !stg.tensor<[_ = CI], bf16>
  %a2 = stg.activation relu %o2 <"numbers2_relu"> : !stg.tensor<[B, _ = GY, _ = GX, _ = CI], bf16>
  %w3 = stg.param "numbers3" : !stg.tensor<[_ = CI, 1], bf16>
  %c3 = stg.einsum "byxc,ck->byxk" %a2, %w3 : !stg.tensor<[B, _ = GY, _ = GX, _ = CI], bf16>, !stg.tensor<[_ = CI, 1], bf16>
  %b3 = stg.param "numbers3_bias" : !stg.tensor<[1], bf16>
  %o3 = stg.bias_add %c3, %b3 : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>, !stg.tensor<[1], bf16>
  %a = stg.if @limited -> !stg.tensor<[B, _ = GY, _ = GX, 1], bf16> {
    %g = stg.activation sigmoid %o3 <"numbers3_sigmoid"> : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
    stg.yield %g : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
  } else {
    %g = stg.activation relu %o3 <"numbers3_relu"> : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
    stg.yield %g : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
  }
  %y = stg.if @numbers_scaled -> !stg.tensor<[B, _ = GY, _ = GX, 1], bf16> {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
    %m = stg.mul %a, %c <"numbers_scaled"> : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>, !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
    stg.yield %m : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
  } else {
    stg.yield %a : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
  }
  stg.return %y : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
}

// The square of what is wrong with each.
stg.block @number_loss(%x: !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>, %target: !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>) -> !stg.tensor<[B, _ = GY, _ = GX, 1], bf16> {
  %d = stg.add %x, %target <"difference"> : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>, !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
  %s = stg.mul %d, %d <"square"> : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>, !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
  stg.return %s : !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
}

//===----------------------------------------------------------------------===//
// Distances from maps that choose between finer and coarser ones (GLPN)
//===----------------------------------------------------------------------===//

!level_tokens = !stg.tensor<[B, S = GY*GX, D], bf16>
!weight = !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
!half_map = !stg.tensor<[B, _ = GY, _ = GX, _ = D/2], bf16>
!half_vector = !stg.tensor<[_ = D/2], bf16>
!two_weights = !stg.tensor<[B, _ = GY, _ = GX, 2], bf16>

stg.block @map_of_tokens(%x: !level_tokens) -> !map {
  %y = stg.rearrange "b(yx)d->byxd" %x <"level_map"> : !level_tokens -> !map
  stg.return %y : !map
}

// Of each position a part of the finer map and one of the coarser, as three convolutions of both say.
stg.block @select_finer(%finer: !map, %coarser: !map) -> !map {
  %j = stg.concat dim 3 ordered %finer, %coarser <"both_maps"> : !map, !map -> !stg.tensor<[B, _ = GY, _ = GX, 2*D], bf16>
  %w1 = stg.param "select1" : !stg.tensor<[3, 3, 2*D, D], bf16>
  %c1 = stg.conv %j, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !stg.tensor<[B, _ = GY, _ = GX, 2*D], bf16>, !stg.tensor<[3, 3, 2*D, D], bf16> -> !map
  %b1 = stg.param "select1_bias" : !vector
  %o1 = stg.bias_add %c1, %b1 : !map, !vector
  %nw1 = stg.param "select1_norm.weight" : !vector
  %nb1 = stg.param "select1_norm.bias" : !vector
  %n1 = stg.batch_norm %o1, %nw1, %nb1 <"select1_norm"> : !map, !vector, !vector
  %a1 = stg.activation relu %n1 <"select1_relu"> : !map
  %w2 = stg.param "select2" : !stg.tensor<[3, 3, D, _ = D/2], bf16>
  %c2 = stg.conv %a1, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !map, !stg.tensor<[3, 3, D, _ = D/2], bf16> -> !half_map
  %b2 = stg.param "select2_bias" : !half_vector
  %o2 = stg.bias_add %c2, %b2 : !half_map, !half_vector
  %nw2 = stg.param "select2_norm.weight" : !half_vector
  %nb2 = stg.param "select2_norm.bias" : !half_vector
  %n2 = stg.batch_norm %o2, %nw2, %nb2 <"select2_norm"> : !half_map, !half_vector, !half_vector
  %a2 = stg.activation relu %n2 <"select2_relu"> : !half_map
  %w3 = stg.param "select3" : !stg.tensor<[3, 3, _ = D/2, 2], bf16>
  %c3 = stg.conv %a2, %w3 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !half_map, !stg.tensor<[3, 3, _ = D/2, 2], bf16> -> !two_weights
  %b3 = stg.param "select3_bias" : !stg.tensor<[2], bf16>
  %o3 = stg.bias_add %c3, %b3 : !two_weights, !stg.tensor<[2], bf16>
  %a3 = stg.activation sigmoid %o3 <"select3_sigmoid"> : !two_weights
  %wf, %wc = stg.split dim 3 %a3 <"weights_of_both"> : !two_weights -> !weight, !weight
  %f = stg.mul %finer, %wf <"part_of_finer"> : !map, !weight
  %c = stg.mul %coarser, %wc <"part_of_coarser"> : !map, !weight
  %y = stg.add %f, %c <"selected"> : !map, !map
  stg.return %y : !map
}

// A number between 0 and a limit for each pixel.
stg.block @limited_numbers(%x: !map) -> !weight {
  %w1 = stg.param "numbers1" : !stg.tensor<[3, 3, D, D], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !map, !stg.tensor<[3, 3, D, D], bf16> -> !map
  %b1 = stg.param "numbers1_bias" : !vector
  %o1 = stg.bias_add %c1, %b1 : !map, !vector
  %a1 = stg.activation relu %o1 <"numbers1_relu"> : !map
  %w2 = stg.param "numbers2" : !stg.tensor<[3, 3, D, 1], bf16>
  %c2 = stg.conv %a1, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !map, !stg.tensor<[3, 3, D, 1], bf16> -> !weight
  %b2 = stg.param "numbers2_bias" : !stg.tensor<[1], bf16>
  %o2 = stg.bias_add %c2, %b2 : !weight, !stg.tensor<[1], bf16>
  %g = stg.activation sigmoid %o2 <"numbers2_sigmoid"> : !weight
  // No trace has the value of the constant.
  %k = stg.splat 1 : !weight
  %y = stg.mul %g, %k <"numbers_scaled"> : !weight, !weight
  stg.return %y : !weight
}

// The root of the mean square of the differences of logarithms, less a part of the square of their mean;
// of each image by itself, all of whose pixels have a distance.
stg.block @scale_free_loss(%x: !weight, %target: !weight) -> !losses {
  %lt = stg.elementwise log %target <"log_target"> : !weight
  %lx = stg.elementwise log %x <"log_numbers"> : !weight
  %d = stg.elementwise sub %lt, %lx <"log_differences"> : !weight, !weight
  %r = stg.rearrange "byxk->b(yxk)" %d <"all_differences"> : !weight -> !stg.tensor<[B, _ = GY*GX], bf16>
  %q = stg.elementwise square %r <"squares"> : !stg.tensor<[B, _ = GY*GX], bf16>
  %m2 = stg.mean dim 1 %q <"mean_square"> : !stg.tensor<[B, _ = GY*GX], bf16>
  %m = stg.mean dim 1 %r <"mean_difference"> : !stg.tensor<[B, _ = GY*GX], bf16>
  %mm = stg.elementwise square %m <"square_of_mean"> : !stg.tensor<[B], bf16>
  // No trace has the value of the constant.
  %k = stg.splat 1/2 : !stg.tensor<[B], bf16>
  %p = stg.mul %mm, %k <"part_of_square"> : !stg.tensor<[B], bf16>, !stg.tensor<[B], bf16>
  %v = stg.elementwise sub %m2, %p <"spread"> : !stg.tensor<[B], bf16>, !stg.tensor<[B], bf16>
  %s = stg.elementwise sqrt %v <"scale_free_loss"> : !stg.tensor<[B], bf16>
  %y = stg.cast %s <"scale_free_loss"> : !stg.tensor<[B], bf16> -> !losses
  stg.return %y : !losses
}
