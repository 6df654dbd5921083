// Images among the tokens of a text: what a vision tower gives becomes tokens of the width of
// the text, and these stand before the text's own.

stg.import "feed_forward.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @IM = 1 "images per sequence"
stg.symbol @IT "tokens of an image"
stg.symbol @DV "hidden size of the vision tower"
stg.symbol @SV "tokens of the vision tower"
stg.symbol @DP = D "width between the vision tower and the text"
stg.symbol @ME = 1 "patches that become one token, along each side"
stg.symbol @AM = 1 "sounds per sequence"
stg.symbol @AT "tokens of a sound"
stg.symbol @MS = 1 "tokens of an image, along each side"

stg.symbol @IC "tiles of all images of a sequence, and each image as a whole"
stg.symbol @GY = 1 "rows of tiles"
stg.symbol @GX = 1 "tiles of a row"
stg.symbol @TS "patches of a tile, along each side"
stg.symbol @TT "patches of a tile"
stg.symbol @VS "patches of the vision tower, along each side"
stg.symbol @VT "patches of an image, before squares become one token"
stg.symbol @VV "words of images"
stg.symbol @VI "words of tokens around images"
stg.symbol @VF "frames of the video of a sequence"

!vision = !stg.tensor<[B = IM*B, SV, DV], bf16>
!image = !stg.tensor<[B = IM*B, IT, DV], bf16>
!projected = !stg.tensor<[B = IM*B, IT, D], bf16>
!tokens = !stg.tensor<[B, S = IM*IT, D], bf16>
!text = !stg.tensor<[B, S = S - IM*IT, D], bf16>
!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!patches = !stg.tensor<[B = IM*B, SV - 1, DV], bf16>
!adapted = !stg.tensor<[B = IM*B, IT, DP], bf16>
!wide = !stg.tensor<[B = IM*B, IT, ME*ME*DV], bf16>
!wide_vector = !stg.tensor<[ME*ME*DV], bf16>

// The patches of a tower without a class token.
stg.block @each_patch(%x: !vision) -> !image {
  %y = stg.rearrange "b(nk)d->bn(kd)" %x <"patches"> : !vision -> !image
  stg.return %y : !image
}

// Squares of patches, joined and projected to the width of one.
stg.block @join_patches(%x: !vision) -> !image {
  %wn = stg.param "merger_norm" : !stg.tensor<[DV], bf16>
  %n, %rstd = stg.rms_norm %x, %wn : !vision, !stg.tensor<[DV], bf16>
  %m = stg.rearrange "b(nk)d->bn(kd)" %n <"squares"> : !vision -> !wide
  %w = stg.param "merger" : !stg.tensor<[ME*ME*DV, DV], bf16>
  %y = stg.einsum "bnv,vw->bnw" %m, %w : !wide, !stg.tensor<[ME*ME*DV, DV], bf16>
  stg.return %y : !image
}

// The images of a sequence one after the other, and its text behind them.
stg.block @join_images(%images: !projected, %text: !text) -> !stream {
  %i = stg.rearrange "(bi)td->b(it)d" %images <"image_tokens"> : !projected -> !tokens
  %x = stg.concat dim 1 ordered %i, %text : !tokens, !text -> !stream
  stg.return %x : !stream
}

// The images of a sequence, its sounds behind them, and its text.
stg.block @join_images_and_sounds(%images: !projected, %sounds: !stg.tensor<[B = AM*B, AT, D], bf16>, %text: !stg.tensor<[B, S = S - IM*IT - AM*AT, D], bf16>) -> !stream {
  %i = stg.rearrange "(bi)td->b(it)d" %images <"image_tokens"> : !projected -> !tokens
  %s = stg.rearrange "(bi)td->b(it)d" %sounds <"sound_tokens"> : !stg.tensor<[B = AM*B, AT, D], bf16> -> !stg.tensor<[B, S = AM*AT, D], bf16>
  %x = stg.concat dim 1 ordered %i, %s, %text : !tokens, !stg.tensor<[B, S = AM*AT, D], bf16>, !stg.tensor<[B, S = S - IM*IT - AM*AT, D], bf16> -> !stream
  stg.return %x : !stream
}

// What a tower gives beside its images, added to the tokens of these images: zeros to the others.
stg.block @add_to_images(%x: !stream, %images: !projected) -> !stream {
  %d = stg.rearrange "(bi)td->b(it)d" %images <"image_features"> : !projected -> !tokens
  %zero = stg.splat 0 : !text
  %f = stg.concat dim 1 ordered %d, %zero : !tokens, !text -> !stream
  %y = stg.add %x, %f <"images_and_features"> : !stream, !stream
  stg.return %y : !stream
}

// What the tower gives behind the features that are used: executed, but read by nobody.
stg.block @end_of_tower(%x: !vision) -> !vision {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"unread_token"> : !vision -> !stg.tensor<[B = IM*B, 1, DV], bf16>
  %w = stg.param "norm.weight" : !stg.tensor<[DV], bf16>
  %b = stg.param "norm.bias" : !stg.tensor<[DV], bf16>
  %n, %mean, %rstd = stg.layer_norm %f, %w, %b <"unread_norm"> : !stg.tensor<[B = IM*B, 1, DV], bf16>, !stg.tensor<[DV], bf16>, !stg.tensor<[DV], bf16>
  stg.keep %n : !stg.tensor<[B = IM*B, 1, DV], bf16>
  stg.return %x : !vision
}

// The patches without the token in front of them.
stg.block @drop_class(%x: !stg.tensor<[B = IM*B, SV, DV], bf16>) -> !image {
  %p = stg.slice dim 1 %x {from = #sym.expr<1>} <"without_class"> : !vision -> !image
  stg.return %p : !image
}

// The same where several patches become one token.
stg.block @drop_class_of_tower(%x: !vision) -> !patches {
  %p = stg.slice dim 1 %x {from = #sym.expr<1>} <"without_class"> : !vision -> !patches
  stg.return %p : !patches
}

// Squares of patches become one wide token, which two matrices with gelu behind each project, and
// a third one takes to the width of the text (Llama 4).
stg.block @shuffle_patches(%x: !patches) -> !projected {
  %m = stg.rearrange "b(ynxm)d->b(yx)(nmd)" %x <"shuffle"> : !patches -> !wide
  %w1 = stg.param "adapter1" : !stg.tensor<[ME*ME*DV, DP], bf16>
  %p1 = stg.einsum "bnv,vp->bnp" %m, %w1 : !wide, !stg.tensor<[ME*ME*DV, DP], bf16>
  %a1 = stg.activation gelu %p1 <"adapter1_gelu"> : !adapted
  %w2 = stg.param "adapter2" : !stg.tensor<[DP, _ = DP], bf16>
  %p2 = stg.einsum "bnp,pq->bnq" %a1, %w2 : !adapted, !stg.tensor<[DP, _ = DP], bf16>
  %a2 = stg.activation gelu %p2 <"adapter2_gelu"> : !stg.tensor<[B = IM*B, IT, _ = DP], bf16>
  %w3 = stg.param "projector" : !stg.tensor<[_ = DP, D], bf16>
  %y = stg.einsum "bnq,qd->bnd" %a2, %w3 : !stg.tensor<[B = IM*B, IT, _ = DP], bf16>, !stg.tensor<[_ = DP, D], bf16>
  stg.return %y : !projected
}

// Squares of patches become one wide token, which one matrix takes to the width of the text
// (Idefics 3).
stg.block @project_squares(%x: !vision) -> !projected {
  %m = stg.rearrange "b(ynxm)d->b(yx)(nmd)" %x <"shuffle"> : !vision -> !wide
  %w = stg.param "projector" : !stg.tensor<[ME*ME*DV, D], bf16>
  %y = stg.einsum "bnv,vd->bnd" %m, %w : !wide, !stg.tensor<[ME*ME*DV, D], bf16>
  stg.return %y : !projected
}

// The same of the patches behind a class token, with a LayerNorm of each square and two matrices
// with gelu in between (InternVL).
stg.block @normalize_and_project_squares(%x: !patches) -> !projected {
  %m = stg.rearrange "b(ynxm)d->b(yx)(nmd)" %x <"shuffle"> : !patches -> !wide
  %wn = stg.param "projector_norm.weight" : !wide_vector
  %wb = stg.param "projector_norm.bias" : !wide_vector
  %n, %mean, %rstd = stg.layer_norm %m, %wn, %wb <"projector_norm"> : !wide, !wide_vector, !wide_vector
  %w1 = stg.param "projector1" : !stg.tensor<[ME*ME*DV, D], bf16>
  %p1 = stg.einsum "bnv,vd->bnd" %n, %w1 : !wide, !stg.tensor<[ME*ME*DV, D], bf16>
  %b1 = stg.param "projector1_bias" : !vector
  %y1 = stg.bias_add %p1, %b1 : !projected, !vector
  %a = stg.activation gelu %y1 <"projector_gelu"> : !projected
  %w2 = stg.param "projector2" : !stg.tensor<[D, D], bf16>
  %p2 = stg.einsum "bnd,de->bne" %a, %w2 : !projected, !stg.tensor<[D, D], bf16>
  %b2 = stg.param "projector2_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !projected, !vector
  stg.return %y2 : !projected
}

// Squares of patches become one wide token, which a gated network takes to the width of the text:
// of DP halves gate and up, with a LayerNorm before it in Aya Vision (Cohere 2 with images).
stg.block @project_squares_gated(%x: !vision) -> !projected {
  stg.option @joined_norm : bool = false "LayerNorm of each square"
  %m = stg.rearrange "b(ynxm)d->b(yx)(nmd)" %x <"shuffle"> : !vision -> !wide
  %n = stg.if @joined_norm -> !wide {
    %wn = stg.param "projector_norm.weight" : !wide_vector
    %wb = stg.param "projector_norm.bias" : !wide_vector
    %l, %mean, %rstd = stg.layer_norm %m, %wn, %wb <"projector_norm"> : !wide, !wide_vector, !wide_vector
    stg.yield %l : !wide
  } else {
    stg.yield %m : !wide
  }
  %w1 = stg.param "projector_gate_up" : !stg.tensor<[ME*ME*DV, 2, DP/2], bf16>
  %p1 = stg.einsum "bnv,vgp->bngp" %n, %w1 : !wide, !stg.tensor<[ME*ME*DV, 2, DP/2], bf16>
  %b1 = stg.param "projector_gate_up_bias" : !stg.tensor<[2, DP/2], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B = IM*B, IT, 2, DP/2], bf16>, !stg.tensor<[2, DP/2], bf16>
  %h = stg.glu silu %y1 <"projector_swiglu"> : !stg.tensor<[B = IM*B, IT, 2, DP/2], bf16>
  %w2 = stg.param "projector_down" : !stg.tensor<[DP/2, D], bf16>
  %p2 = stg.einsum "bnp,pd->bnd" %h, %w2 : !stg.tensor<[B = IM*B, IT, DP/2], bf16>, !stg.tensor<[DP/2, D], bf16>
  %b2 = stg.param "projector_down_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !projected, !vector
  stg.return %y2 : !projected
}

// What a tower gives, normalized: executed, but read by nobody.
stg.block @unread_norm(%x: !vision) -> !vision {
  %w = stg.param "norm.weight" : !stg.tensor<[DV], bf16>
  %b = stg.param "norm.bias" : !stg.tensor<[DV], bf16>
  %n, %mean, %rstd = stg.layer_norm %x, %w, %b <"unread_norm"> : !vision, !stg.tensor<[DV], bf16>, !stg.tensor<[DV], bf16>
  stg.keep %n : !vision
  stg.return %x : !vision
}

// One matrix with a bias, and a constant, so that what follows may scale all tokens (PaliGemma).
stg.block @project_and_scale(%x: !vision) -> !projected {
  %w = stg.param "projector" : !stg.tensor<[DV, D], bf16>
  %p = stg.einsum "bsv,vd->bsd" %x, %w : !vision, !stg.tensor<[DV, D], bf16>
  %b = stg.param "projector_bias" : !vector
  %y = stg.bias_add %p, %b : !stg.tensor<[B = IM*B, SV, D], bf16>, !vector
  // No trace has the value of the constant.
  %c = stg.splat 1 : !stg.tensor<[B = IM*B, SV, D], bf16>
  %s = stg.mul %y, %c <"image_scale"> : !stg.tensor<[B = IM*B, SV, D], bf16>, !stg.tensor<[B = IM*B, SV, D], bf16>
  %z = stg.rearrange "b(nk)d->bn(kd)" %s <"image_patches"> : !stg.tensor<[B = IM*B, SV, D], bf16> -> !projected
  stg.return %z : !projected
}

// Two matrices with gelu in between (LLaVA).
stg.block @project_image(%x: !image) -> !projected {
  stg.option @projector_bias : bool = true "biases of both"
  %w1 = stg.param "projector1" : !stg.tensor<[DV, D], bf16>
  %p1 = stg.einsum "bnv,vd->bnd" %x, %w1 : !image, !stg.tensor<[DV, D], bf16>
  %y1 = stg.if @projector_bias -> !projected {
    %b = stg.param "projector1_bias" : !vector
    %z = stg.bias_add %p1, %b : !projected, !vector
    stg.yield %z : !projected
  } else {
    stg.yield %p1 : !projected
  }
  %a = stg.activation gelu %y1 <"projector_gelu"> : !projected
  %w2 = stg.param "projector2" : !stg.tensor<[D, D], bf16>
  %p2 = stg.einsum "bnd,de->bne" %a, %w2 : !projected, !stg.tensor<[D, D], bf16>
  %y2 = stg.if @projector_bias -> !projected {
    %b = stg.param "projector2_bias" : !vector
    %z = stg.bias_add %p2, %b : !projected, !vector
    stg.yield %z : !projected
  } else {
    stg.yield %p2 : !projected
  }
  stg.return %y2 : !projected
}

// Two matrices with gelu in between for each patch, before squares of them become one token
// (MiniMax M3).
stg.block @project_each_patch(%x: !vision) -> !stg.tensor<[B = IM*B, SV, D], bf16> {
  %w1 = stg.param "patch_projector1" : !stg.tensor<[DV, DP], bf16>
  %p1 = stg.einsum "bsv,vp->bsp" %x, %w1 : !vision, !stg.tensor<[DV, DP], bf16>
  %b1 = stg.param "patch_projector1_bias" : !stg.tensor<[DP], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B = IM*B, SV, DP], bf16>, !stg.tensor<[DP], bf16>
  %a = stg.activation gelu %y1 <"patch_projector_gelu"> : !stg.tensor<[B = IM*B, SV, DP], bf16>
  %w2 = stg.param "patch_projector2" : !stg.tensor<[DP, D], bf16>
  %p2 = stg.einsum "bsp,pd->bsd" %a, %w2 : !stg.tensor<[B = IM*B, SV, DP], bf16>, !stg.tensor<[DP, D], bf16>
  %b2 = stg.param "patch_projector2_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !stg.tensor<[B = IM*B, SV, D], bf16>, !vector
  stg.return %y2 : !stg.tensor<[B = IM*B, SV, D], bf16>
}

// Two convolutions that halve rows and columns and double the width, and one matrix (Step 3.7).
stg.block @halve_twice_and_project(%x: !vision) -> !projected {
  stg.option @projector_bias : bool = true "biases of both"
  %r = stg.rearrange "b(yx)d->byxd" %x <"rows_of_image"> : !vision -> !stg.tensor<[B = IM*B, _ = VS, _ = VS, DV], bf16>
  %w1 = stg.param "downsample1" : !stg.tensor<[3, 3, DV, 2*DV], bf16>
  %c1 = stg.conv %r, %w1 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"downsample1"> : !stg.tensor<[B = IM*B, _ = VS, _ = VS, DV], bf16>, !stg.tensor<[3, 3, DV, 2*DV], bf16> -> !stg.tensor<[B = IM*B, _ = ceildiv(VS, 2), _ = ceildiv(VS, 2), 2*DV], bf16>
  %b1 = stg.param "downsample1_bias" : !stg.tensor<[2*DV], bf16>
  %y1 = stg.bias_add %c1, %b1 : !stg.tensor<[B = IM*B, _ = ceildiv(VS, 2), _ = ceildiv(VS, 2), 2*DV], bf16>, !stg.tensor<[2*DV], bf16>
  %w2 = stg.param "downsample2" : !stg.tensor<[3, 3, 2*DV, 4*DV], bf16>
  %c2 = stg.conv %y1, %w2 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"downsample2"> : !stg.tensor<[B = IM*B, _ = ceildiv(VS, 2), _ = ceildiv(VS, 2), 2*DV], bf16>, !stg.tensor<[3, 3, 2*DV, 4*DV], bf16> -> !stg.tensor<[B = IM*B, _ = ceildiv(ceildiv(VS, 2), 2), _ = ceildiv(ceildiv(VS, 2), 2), 4*DV], bf16>
  %b2 = stg.param "downsample2_bias" : !stg.tensor<[4*DV], bf16>
  %y2 = stg.bias_add %c2, %b2 : !stg.tensor<[B = IM*B, _ = ceildiv(ceildiv(VS, 2), 2), _ = ceildiv(ceildiv(VS, 2), 2), 4*DV], bf16>, !stg.tensor<[4*DV], bf16>
  %j = stg.rearrange "byxd->b(yx)d" %y2 <"image"> : !stg.tensor<[B = IM*B, _ = ceildiv(ceildiv(VS, 2), 2), _ = ceildiv(ceildiv(VS, 2), 2), 4*DV], bf16> -> !stg.tensor<[B = IM*B, IT, 4*DV], bf16>
  %w = stg.param "projector" : !stg.tensor<[4*DV, D], bf16>
  %p = stg.einsum "bnv,vd->bnd" %j, %w : !stg.tensor<[B = IM*B, IT, 4*DV], bf16>, !stg.tensor<[4*DV, D], bf16>
  %y = stg.if @projector_bias -> !projected {
    %b = stg.param "projector_bias" : !vector
    %z = stg.bias_add %p, %b : !projected, !vector
    stg.yield %z : !projected
  } else {
    stg.yield %p : !projected
  }
  stg.return %y : !projected
}

// Patches that no tower has read, normalized without weights and projected (Gemma 4 of one part).
stg.block @project_image_bare(%x: !image) -> !projected {
  %n, %rstd = stg.rms_norm %x <"projector_norm"> : !image
  %w = stg.param "projector" : !stg.tensor<[DV, D], bf16>
  %y = stg.einsum "bnv,vd->bnd" %n, %w : !image, !stg.tensor<[DV, D], bf16>
  stg.return %y : !projected
}

// All tokens of a tower, taken to the width of the text by one matrix with a bias and a LayerNorm
// (GIT).
stg.block @project_tower_normalized(%x: !vision) -> !projected {
  %t = stg.rearrange "b(nk)d->bn(kd)" %x <"tower_tokens"> : !vision -> !image
  %w = stg.param "projector" : !stg.tensor<[DV, D], bf16>
  %p = stg.einsum "bnv,vd->bnd" %t, %w : !image, !stg.tensor<[DV, D], bf16>
  %b = stg.param "projector_bias" : !vector
  %y = stg.bias_add %p, %b : !projected, !vector
  %wn = stg.param "projector_norm.weight" : !vector
  %wb = stg.param "projector_norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %y, %wn, %wb <"projector_norm"> : !projected, !vector, !vector
  stg.return %n : !projected
}

// Squares of patches become their mean, which is normalized and projected (Gemma 3).
stg.block @pool_image(%x: !vision) -> !projected {
  %g = stg.rearrange "b(ynxm)d->b(yx)(nm)d" %x <"squares"> : !vision -> !stg.tensor<[B = IM*B, IT, ME*ME, DV], bf16>
  %p = stg.mean dim 2 %g <"squares_mean"> : !stg.tensor<[B = IM*B, IT, ME*ME, DV], bf16>
  %wn = stg.param "projector_norm" : !stg.tensor<[DV], bf16>
  %n, %rstd = stg.rms_norm %p, %wn : !image, !stg.tensor<[DV], bf16>
  %w = stg.param "projector" : !stg.tensor<[DV, D], bf16>
  %y = stg.einsum "bnv,vd->bnd" %n, %w : !image, !stg.tensor<[DV, D], bf16>
  stg.return %y : !projected
}

// Squares of patches become their mean, times a constant, which is normalized without weights and
// projected (Gemma 4).
stg.block @pool_and_project(%x: !vision) -> !projected {
  stg.option @standardized : bool = false "a constant is taken from the mean, and another one scales it"
  %g = stg.rearrange "b(ynxm)d->b(yx)(nm)d" %x <"squares"> : !vision -> !stg.tensor<[B = IM*B, IT, ME*ME, DV], bf16>
  %p = stg.mean dim 2 %g <"squares_mean"> : !stg.tensor<[B = IM*B, IT, ME*ME, DV], bf16>
  // No trace has the values of constants.
  %c = stg.splat 1 : !image
  %s = stg.mul %p, %c <"pooled_scale"> : !image, !image
  %z = stg.if @standardized -> !image {
    %m = stg.add %s, %c <"centered"> : !image, !image
    %v = stg.mul %m, %c <"standardized"> : !image, !image
    stg.yield %v : !image
  } else {
    stg.yield %s : !image
  }
  %n, %rstd = stg.rms_norm %z <"projector_norm"> : !image
  %w = stg.param "projector" : !stg.tensor<[DV, D], bf16>
  %y = stg.einsum "bnv,vd->bnd" %n, %w : !image, !stg.tensor<[DV, D], bf16>
  stg.return %y : !projected
}

// Squares of patches become one wide token, which two matrices project (Qwen 2.5 VL). The
// patches of a square follow one another.
stg.block @merge_patches(%x: !vision) -> !projected {
  stg.option @norm : "rms" | "layer" | "layer_joined" = "rms" "RMSNorm, or LayerNorm with weight and bias of each patch, or of each square"
  %m = stg.if @norm = "layer_joined" -> !wide {
    %j = stg.rearrange "b(nk)d->bn(kd)" %x <"squares"> : !vision -> !wide
    %wn = stg.param "merger_norm" : !wide_vector
    %wb = stg.param "merger_norm_bias" : !wide_vector
    %r, %mean, %rstd = stg.layer_norm %j, %wn, %wb : !wide, !wide_vector, !wide_vector
    stg.yield %r : !wide
  } else {
    %wn = stg.param "merger_norm" : !stg.tensor<[DV], bf16>
    %n = stg.if @norm = "rms" -> !vision {
      %r, %rstd = stg.rms_norm %x, %wn : !vision, !stg.tensor<[DV], bf16>
      stg.yield %r : !vision
    } else {
      %wb = stg.param "merger_norm_bias" : !stg.tensor<[DV], bf16>
      %r, %mean, %rstd = stg.layer_norm %x, %wn, %wb : !vision, !stg.tensor<[DV], bf16>, !stg.tensor<[DV], bf16>
      stg.yield %r : !vision
    }
    %s = stg.rearrange "b(nk)d->bn(kd)" %n <"squares"> : !vision -> !wide
    stg.yield %s : !wide
  }
  %w1 = stg.param "merger1" : !stg.tensor<[ME*ME*DV, ME*ME*DV], bf16>
  %p1 = stg.einsum "bnv,vw->bnw" %m, %w1 : !wide, !stg.tensor<[ME*ME*DV, ME*ME*DV], bf16>
  %b1 = stg.param "merger1_bias" : !wide_vector
  %y1 = stg.bias_add %p1, %b1 : !wide, !wide_vector
  %a = stg.activation gelu %y1 <"merger_gelu"> : !wide
  %w2 = stg.param "merger2" : !stg.tensor<[ME*ME*DV, D], bf16>
  %p2 = stg.einsum "bnv,vd->bnd" %a, %w2 : !wide, !stg.tensor<[ME*ME*DV, D], bf16>
  %b2 = stg.param "merger2_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !projected, !vector
  stg.return %y2 : !projected
}

// Squares of patches become one token of the width of the text, as a convolution does whose stride
// is its size; a matrix, a LayerNorm and gelu, and a gated network of DP make of it what the text
// reads (GLM-4V).
stg.block @downsample_and_project(%x: !vision) -> !projected {
  %m = stg.rearrange "b(nk)d->bn(kd)" %x <"squares"> : !vision -> !wide
  %w = stg.param "downsample" : !stg.tensor<[ME*ME*DV, D], bf16>
  %p = stg.einsum "bnv,vd->bnd" %m, %w : !wide, !stg.tensor<[ME*ME*DV, D], bf16>
  %b = stg.param "downsample_bias" : !vector
  %d = stg.bias_add %p, %b : !projected, !vector
  %w1 = stg.param "merger" : !stg.tensor<[D, D], bf16>
  %p1 = stg.einsum "bnd,de->bne" %d, %w1 : !projected, !stg.tensor<[D, D], bf16>
  %wn = stg.param "merger_norm.weight" : !vector
  %wb = stg.param "merger_norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %p1, %wn, %wb <"merger_norm"> : !projected, !vector, !vector
  %a = stg.activation gelu %n <"merger_gelu"> : !projected
  %y = stg.call @gated_feed_forward(%a) {F = DP, prefix = "merger_"} : (!projected) -> !projected
  stg.return %y : !projected
}

// The tiles of an image become one picture, behind the image as a whole; each row of patches of the
// picture ends with a learned token (LLaVA-NeXT).
stg.block @join_tiles(%x: !stg.tensor<[B = IC*B, TT, D], bf16>) -> !projected {
  %t = stg.rearrange "(bc)(nk)d->bcn(kd)" %x <"tiles_of_images"> : !stg.tensor<[B = IC*B, TT, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*GX + 1, _ = TS*TS, D], bf16>
  %w, %g = stg.split dim 1 ordered %t : !stg.tensor<[B = IM*B, _ = GY*GX + 1, _ = TS*TS, D], bf16> -> !stg.tensor<[B = IM*B, 1, _ = TS*TS, D], bf16>, !stg.tensor<[B = IM*B, _ = GY*GX, _ = TS*TS, D], bf16>
  %whole = stg.rearrange "b()nd->bnd" %w <"whole_image"> : !stg.tensor<[B = IM*B, 1, _ = TS*TS, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS*TS, D], bf16>
  %p = stg.rearrange "b(gh)(yx)d->b(gy)(hx)d" %g <"picture"> : !stg.tensor<[B = IM*B, _ = GY*GX, _ = TS*TS, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*TS, _ = GX*TS, D], bf16>
  %n = stg.param "end_of_row" : !stg.tensor<[1, D], bf16>
  %c = stg.broadcast dim 0 %n <"ends_of_rows"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[_ = GY*TS, 1, D], bf16>
  %e = stg.broadcast dim 0 %c <"ends_of_rows"> : !stg.tensor<[_ = GY*TS, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*TS, 1, D], bf16>
  %r = stg.concat dim 2 ordered %p, %e <"rows"> : !stg.tensor<[B = IM*B, _ = GY*TS, _ = GX*TS, D], bf16>, !stg.tensor<[B = IM*B, _ = GY*TS, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*TS, _ = GX*TS + 1, D], bf16>
  %f = stg.rearrange "byxd->b(yx)d" %r <"picture_tokens"> : !stg.tensor<[B = IM*B, _ = GY*TS, _ = GX*TS + 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*TS*(GX*TS + 1), D], bf16>
  %a = stg.concat dim 1 ordered %whole, %f <"whole_and_picture"> : !stg.tensor<[B = IM*B, _ = TS*TS, D], bf16>, !stg.tensor<[B = IM*B, _ = GY*TS*(GX*TS + 1), D], bf16> -> !stg.tensor<[B = IM*B, _ = TS*TS + GY*TS*(GX*TS + 1), D], bf16>
  %y = stg.rearrange "b(nk)d->bn(kd)" %a <"image_tokens"> : !stg.tensor<[B = IM*B, _ = TS*TS + GY*TS*(GX*TS + 1), D], bf16> -> !projected
  stg.return %y : !projected
}

// Zeros behind the last row and the last column of patches, so that squares divide them.
stg.block @fill_up_squares(%x: !vision) -> !stg.tensor<[B = IM*B, SV = ME*ME*IT, DV], bf16> {
  %m = stg.rearrange "b(yx)d->byxd" %x <"map"> : !vision -> !stg.tensor<[B = IM*B, _ = VS, _ = VS, DV], bf16>
  %r = stg.pad dim 1 %m {from = #sym.expr<0>} <"rows_filled_up"> : !stg.tensor<[B = IM*B, _ = VS, _ = VS, DV], bf16> -> !stg.tensor<[B = IM*B, _ = ME*TS, _ = VS, DV], bf16>
  %c = stg.pad dim 2 %r {from = #sym.expr<0>} <"columns_filled_up"> : !stg.tensor<[B = IM*B, _ = ME*TS, _ = VS, DV], bf16> -> !stg.tensor<[B = IM*B, _ = ME*TS, _ = ME*TS, DV], bf16>
  %y = stg.rearrange "byxd->b(yx)d" %c <"patches_filled_up"> : !stg.tensor<[B = IM*B, _ = ME*TS, _ = ME*TS, DV], bf16> -> !stg.tensor<[B = IM*B, SV = ME*ME*IT, DV], bf16>
  stg.return %y : !stg.tensor<[B = IM*B, SV = ME*ME*IT, DV], bf16>
}

// An image as a whole, a learned token, and its tiles as one picture: each row of tokens of both
// ends with another learned one (DeepSeek-VL2), or the picture before the whole (Phi-4 multimodal).
stg.block @join_views(%x: !stg.tensor<[B = IC*B, TT, D], bf16>) -> !projected {
  stg.option @picture_first : bool = false "the picture stands before the whole"
  %t = stg.rearrange "(bc)(yx)d->bcyxd" %x <"views_of_images"> : !stg.tensor<[B = IC*B, TT, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*GX + 1, _ = TS, _ = TS, D], bf16>
  %w, %g = stg.split dim 1 ordered %t : !stg.tensor<[B = IM*B, _ = GY*GX + 1, _ = TS, _ = TS, D], bf16> -> !stg.tensor<[B = IM*B, 1, _ = TS, _ = TS, D], bf16>, !stg.tensor<[B = IM*B, _ = GY*GX, _ = TS, _ = TS, D], bf16>
  %whole = stg.rearrange "b()yxd->byxd" %w <"whole_image"> : !stg.tensor<[B = IM*B, 1, _ = TS, _ = TS, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS, _ = TS, D], bf16>
  %p = stg.rearrange "b(gh)yxd->b(gy)(hx)d" %g <"picture"> : !stg.tensor<[B = IM*B, _ = GY*GX, _ = TS, _ = TS, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*TS, _ = GX*TS, D], bf16>
  %n = stg.param "end_of_row" : !stg.tensor<[1, D], bf16>
  %c = stg.broadcast dim 0 %n <"ends_of_rows"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[_ = GY*TS + TS, 1, D], bf16>
  %e = stg.broadcast dim 0 %c <"ends_of_rows"> : !stg.tensor<[_ = GY*TS + TS, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*TS + TS, 1, D], bf16>
  %ew, %ep = stg.split dim 1 ordered %e <"ends_of_whole"> : !stg.tensor<[B = IM*B, _ = GY*TS + TS, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS, 1, D], bf16>, !stg.tensor<[B = IM*B, _ = GY*TS, 1, D], bf16>
  %rw = stg.concat dim 2 ordered %whole, %ew <"rows_of_whole"> : !stg.tensor<[B = IM*B, _ = TS, _ = TS, D], bf16>, !stg.tensor<[B = IM*B, _ = TS, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS, _ = TS + 1, D], bf16>
  %fw = stg.rearrange "byxd->b(yx)d" %rw <"whole_tokens"> : !stg.tensor<[B = IM*B, _ = TS, _ = TS + 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS*(TS + 1), D], bf16>
  %rp = stg.concat dim 2 ordered %p, %ep <"rows"> : !stg.tensor<[B = IM*B, _ = GY*TS, _ = GX*TS, D], bf16>, !stg.tensor<[B = IM*B, _ = GY*TS, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*TS, _ = GX*TS + 1, D], bf16>
  %fp = stg.rearrange "byxd->b(yx)d" %rp <"picture_tokens"> : !stg.tensor<[B = IM*B, _ = GY*TS, _ = GX*TS + 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = GY*TS*(GX*TS + 1), D], bf16>
  %b = stg.param "between_views" : !stg.tensor<[1, D], bf16>
  %s = stg.broadcast dim 0 %b <"between_views"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B = IM*B, 1, D], bf16>
  %a = stg.if @picture_first -> !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + GY*TS*(GX*TS + 1) + 1, D], bf16> {
    %z = stg.concat dim 1 ordered %fp, %s, %fw <"views"> : !stg.tensor<[B = IM*B, _ = GY*TS*(GX*TS + 1), D], bf16>, !stg.tensor<[B = IM*B, 1, D], bf16>, !stg.tensor<[B = IM*B, _ = TS*(TS + 1), D], bf16> -> !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + GY*TS*(GX*TS + 1) + 1, D], bf16>
    stg.yield %z : !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + GY*TS*(GX*TS + 1) + 1, D], bf16>
  } else {
    %z = stg.concat dim 1 ordered %fw, %s, %fp <"views"> : !stg.tensor<[B = IM*B, _ = TS*(TS + 1), D], bf16>, !stg.tensor<[B = IM*B, 1, D], bf16>, !stg.tensor<[B = IM*B, _ = GY*TS*(GX*TS + 1), D], bf16> -> !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + GY*TS*(GX*TS + 1) + 1, D], bf16>
    stg.yield %z : !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + GY*TS*(GX*TS + 1) + 1, D], bf16>
  }
  %y = stg.rearrange "b(nk)d->bn(kd)" %a <"image_tokens"> : !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + GY*TS*(GX*TS + 1) + 1, D], bf16> -> !projected
  stg.return %y : !projected
}

// Squares of patches become one wide token, which two matrices with gelu in between take to the
// width of the text, with a LayerNorm of each square before (LFM2 with images).
stg.block @project_squares_twice(%x: !vision) -> !projected {
  stg.option @joined_norm : bool = false "LayerNorm of each square"
  stg.option @projector_bias : bool = true "biases of both"
  %m = stg.rearrange "b(ynxm)d->b(yx)(nmd)" %x <"shuffle"> : !vision -> !wide
  %n = stg.if @joined_norm -> !wide {
    %wn = stg.param "projector_norm.weight" : !wide_vector
    %wb = stg.param "projector_norm.bias" : !wide_vector
    %l, %mean, %rstd = stg.layer_norm %m, %wn, %wb <"projector_norm"> : !wide, !wide_vector, !wide_vector
    stg.yield %l : !wide
  } else {
    stg.yield %m : !wide
  }
  %w1 = stg.param "projector1" : !stg.tensor<[ME*ME*DV, DP], bf16>
  %p1 = stg.einsum "bnv,vp->bnp" %n, %w1 : !wide, !stg.tensor<[ME*ME*DV, DP], bf16>
  %y1 = stg.if @projector_bias -> !adapted {
    %b = stg.param "projector1_bias" : !stg.tensor<[DP], bf16>
    %z = stg.bias_add %p1, %b : !adapted, !stg.tensor<[DP], bf16>
    stg.yield %z : !adapted
  } else {
    stg.yield %p1 : !adapted
  }
  %a = stg.activation gelu %y1 <"projector_gelu"> : !adapted
  %w2 = stg.param "projector2" : !stg.tensor<[DP, D], bf16>
  %p2 = stg.einsum "bnp,pd->bnd" %a, %w2 : !adapted, !stg.tensor<[DP, D], bf16>
  %y2 = stg.if @projector_bias -> !projected {
    %b = stg.param "projector2_bias" : !vector
    %z = stg.bias_add %p2, %b : !projected, !vector
    stg.yield %z : !projected
  } else {
    stg.yield %p2 : !projected
  }
  stg.return %y2 : !projected
}

// Squares of what patches were projected to become their mean (Perception LM).
stg.block @average_squares(%x: !stg.tensor<[B = IM*B, VT, D], bf16>) -> !projected {
  %g = stg.rearrange "b(ynxm)d->b(yx)(nm)d" %x <"squares"> : !stg.tensor<[B = IM*B, VT, D], bf16> -> !stg.tensor<[B = IM*B, IT, ME*ME, D], bf16>
  %y = stg.mean dim 2 %g <"squares_mean"> : !stg.tensor<[B = IM*B, IT, ME*ME, D], bf16>
  stg.return %y : !projected
}

// Squares of patches become shares of the words of images, and these the sum of what the table of
// such words has of each; words behind them are those of tokens around images, whose shares are
// zero (Ovis 2).
stg.block @visual_words(%x: !vision) -> !projected {
  %m = stg.rearrange "b(ynxm)d->b(yx)(nmd)" %x <"shuffle"> : !vision -> !wide
  %w = stg.param "visual_head" : !stg.tensor<[ME*ME*DV, _ = VV], bf16>
  %l = stg.einsum "bnv,vw->bnw" %m, %w : !wide, !stg.tensor<[ME*ME*DV, _ = VV], bf16>
  %wn = stg.param "visual_norm.weight" : !stg.tensor<[_ = VV], bf16>
  %wb = stg.param "visual_norm.bias" : !stg.tensor<[_ = VV], bf16>
  %n, %mean, %rstd = stg.layer_norm %l, %wn, %wb <"visual_norm"> : !stg.tensor<[B = IM*B, IT, _ = VV], bf16>, !stg.tensor<[_ = VV], bf16>, !stg.tensor<[_ = VV], bf16>
  %p = stg.softmax %n <"visual_softmax"> : !stg.tensor<[B = IM*B, IT, _ = VV], bf16>
  %s = stg.cast %p <"visual_shares"> : !stg.tensor<[B = IM*B, IT, _ = VV], f32> -> !stg.tensor<[B = IM*B, IT, _ = VV], bf16>
  %f = stg.pad dim 2 %s {from = #sym.expr<0>} <"shares_filled_up"> : !stg.tensor<[B = IM*B, IT, _ = VV], bf16> -> !stg.tensor<[B = IM*B, IT, _ = VV + VI], bf16>
  %t = stg.param "visual_embeddings" : !stg.tensor<[_ = VV + VI, D], bf16>
  %y = stg.einsum "bnw,wd->bnd" %f, %t : !stg.tensor<[B = IM*B, IT, _ = VV + VI], bf16>, !stg.tensor<[_ = VV + VI, D], bf16>
  stg.return %y : !projected
}

// What five layers give of each patch, one beside the other without the token in front, with a
// LayerNorm of all of it and two matrices with gelu in between (ViP-LLaVA).
stg.block @project_five_layers(%a: !vision, %b: !vision, %c: !vision, %d: !vision, %e: !vision) -> !projected {
  %j = stg.concat dim 2 %a, %b, %c, %d, %e <"layers_joined"> : !vision, !vision, !vision, !vision, !vision -> !stg.tensor<[B = IM*B, SV, 5*DV], bf16>
  %p = stg.slice dim 1 %j {from = #sym.expr<1>} <"without_class"> : !stg.tensor<[B = IM*B, SV, 5*DV], bf16> -> !stg.tensor<[B = IM*B, IT, 5*DV], bf16>
  %wn = stg.param "projector_norm.weight" : !stg.tensor<[5*DV], bf16>
  %wb = stg.param "projector_norm.bias" : !stg.tensor<[5*DV], bf16>
  %n, %mean, %rstd = stg.layer_norm %p, %wn, %wb <"projector_norm"> : !stg.tensor<[B = IM*B, IT, 5*DV], bf16>, !stg.tensor<[5*DV], bf16>, !stg.tensor<[5*DV], bf16>
  %w1 = stg.param "projector1" : !stg.tensor<[5*DV, D], bf16>
  %p1 = stg.einsum "bnv,vd->bnd" %n, %w1 : !stg.tensor<[B = IM*B, IT, 5*DV], bf16>, !stg.tensor<[5*DV, D], bf16>
  %b1 = stg.param "projector1_bias" : !vector
  %y1 = stg.bias_add %p1, %b1 : !projected, !vector
  %g = stg.activation gelu %y1 <"projector_gelu"> : !projected
  %w2 = stg.param "projector2" : !stg.tensor<[D, D], bf16>
  %p2 = stg.einsum "bnd,de->bne" %g, %w2 : !projected, !stg.tensor<[D, D], bf16>
  %b2 = stg.param "projector2_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !projected, !vector
  stg.return %y2 : !projected
}

// Squares of patches become one wide token, of which two matrices with gelu in between and a
// LayerNorm make another one; the same of it beside that of the next frame, which is its own where
// there is one image; a matrix and an RMSNorm take it to the width of the text (ERNIE 4.5 with
// images).
stg.block @resample_squares(%x: !vision) -> !projected {
  %m = stg.rearrange "b(nk)d->bn(kd)" %x <"squares"> : !vision -> !wide
  %w1 = stg.param "spatial1" : !stg.tensor<[ME*ME*DV, ME*ME*DV], bf16>
  %p1 = stg.einsum "bnv,vw->bnw" %m, %w1 : !wide, !stg.tensor<[ME*ME*DV, ME*ME*DV], bf16>
  %b1 = stg.param "spatial1_bias" : !wide_vector
  %y1 = stg.bias_add %p1, %b1 : !wide, !wide_vector
  %a1 = stg.activation gelu %y1 <"spatial_gelu"> : !wide
  %w2 = stg.param "spatial2" : !stg.tensor<[ME*ME*DV, ME*ME*DV], bf16>
  %p2 = stg.einsum "bnv,vw->bnw" %a1, %w2 : !wide, !stg.tensor<[ME*ME*DV, ME*ME*DV], bf16>
  %b2 = stg.param "spatial2_bias" : !wide_vector
  %y2 = stg.bias_add %p2, %b2 : !wide, !wide_vector
  %wn = stg.param "spatial_norm.weight" : !wide_vector
  %wb = stg.param "spatial_norm.bias" : !wide_vector
  %s, %smean, %srstd = stg.layer_norm %y2, %wn, %wb <"spatial_norm"> : !wide, !wide_vector, !wide_vector
  %f = stg.concat dim 2 %s, %s <"frames_joined"> : !wide, !wide -> !stg.tensor<[B = IM*B, IT, 2*ME*ME*DV], bf16>
  %w3 = stg.param "temporal1" : !stg.tensor<[2*ME*ME*DV, ME*ME*DV], bf16>
  %p3 = stg.einsum "bnv,vw->bnw" %f, %w3 : !stg.tensor<[B = IM*B, IT, 2*ME*ME*DV], bf16>, !stg.tensor<[2*ME*ME*DV, ME*ME*DV], bf16>
  %b3 = stg.param "temporal1_bias" : !wide_vector
  %y3 = stg.bias_add %p3, %b3 : !wide, !wide_vector
  %a3 = stg.activation gelu %y3 <"temporal_gelu"> : !wide
  %w4 = stg.param "temporal2" : !stg.tensor<[ME*ME*DV, ME*ME*DV], bf16>
  %p4 = stg.einsum "bnv,vw->bnw" %a3, %w4 : !wide, !stg.tensor<[ME*ME*DV, ME*ME*DV], bf16>
  %b4 = stg.param "temporal2_bias" : !wide_vector
  %y4 = stg.bias_add %p4, %b4 : !wide, !wide_vector
  %tn = stg.param "temporal_norm.weight" : !wide_vector
  %tb = stg.param "temporal_norm.bias" : !wide_vector
  %t, %tmean, %trstd = stg.layer_norm %y4, %tn, %tb <"temporal_norm"> : !wide, !wide_vector, !wide_vector
  %w = stg.param "projector" : !stg.tensor<[ME*ME*DV, D], bf16>
  %p = stg.einsum "bnv,vd->bnd" %t, %w : !wide, !stg.tensor<[ME*ME*DV, D], bf16>
  %b = stg.param "projector_bias" : !vector
  %y = stg.bias_add %p, %b : !projected, !vector
  %pn = stg.param "projector_norm" : !vector
  %z, %rstd = stg.rms_norm %y, %pn : !projected, !vector
  stg.return %z : !projected
}

// What two towers give of each patch, one beside the other: the first one with a token in front, the
// second one without (DeepSeek-OCR).
stg.block @join_two_towers(%a: !stg.tensor<[B = IM*B, TT + 1, DV], bf16>, %b: !stg.tensor<[B = IM*B, TT, DV], bf16>) -> !stg.tensor<[B = IM*B, TT, 2*DV], bf16> {
  %p = stg.slice dim 1 %a {from = #sym.expr<1>} <"without_class"> : !stg.tensor<[B = IM*B, TT + 1, DV], bf16> -> !stg.tensor<[B = IM*B, TT, DV], bf16>
  %y = stg.concat dim 2 ordered %p, %b <"towers_joined"> : !stg.tensor<[B = IM*B, TT, DV], bf16>, !stg.tensor<[B = IM*B, TT, DV], bf16> -> !stg.tensor<[B = IM*B, TT, 2*DV], bf16>
  stg.return %y : !stg.tensor<[B = IM*B, TT, 2*DV], bf16>
}

// An image whose rows of tokens end with a learned one, and another one behind all of them.
stg.block @end_rows(%x: !stg.tensor<[B = IM*B, TT, D], bf16>) -> !projected {
  %m = stg.rearrange "b(yx)d->byxd" %x <"rows_of_image"> : !stg.tensor<[B = IM*B, TT, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS, _ = TS, D], bf16>
  %n = stg.param "end_of_row" : !stg.tensor<[1, D], bf16>
  %c = stg.broadcast dim 0 %n <"ends_of_rows"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[_ = TS, 1, D], bf16>
  %e = stg.broadcast dim 0 %c <"ends_of_rows"> : !stg.tensor<[_ = TS, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS, 1, D], bf16>
  %r = stg.concat dim 2 ordered %m, %e <"rows"> : !stg.tensor<[B = IM*B, _ = TS, _ = TS, D], bf16>, !stg.tensor<[B = IM*B, _ = TS, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS, _ = TS + 1, D], bf16>
  %f = stg.rearrange "byxd->b(yx)d" %r <"whole_tokens"> : !stg.tensor<[B = IM*B, _ = TS, _ = TS + 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS*(TS + 1), D], bf16>
  %b = stg.param "behind_view" : !stg.tensor<[1, D], bf16>
  %s = stg.broadcast dim 0 %b <"behind_view"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B = IM*B, 1, D], bf16>
  %a = stg.concat dim 1 ordered %f, %s <"view"> : !stg.tensor<[B = IM*B, _ = TS*(TS + 1), D], bf16>, !stg.tensor<[B = IM*B, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + 1, D], bf16>
  %y = stg.rearrange "b(nk)d->bn(kd)" %a <"image_tokens"> : !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + 1, D], bf16> -> !projected
  stg.return %y : !projected
}

// The images of a sequence, the frames of its video behind them, and its text.
stg.block @join_images_and_frames(%images: !projected, %frames: !stg.tensor<[B = VF*B, SV, D], bf16>, %text: !stg.tensor<[B, S = S - IM*IT - VF*SV, D], bf16>) -> !stream {
  %i = stg.rearrange "(bi)td->b(it)d" %images <"image_tokens"> : !projected -> !tokens
  %f = stg.rearrange "(bi)td->b(it)d" %frames <"frame_tokens"> : !stg.tensor<[B = VF*B, SV, D], bf16> -> !stg.tensor<[B, S = VF*SV, D], bf16>
  %x = stg.concat dim 1 ordered %i, %f, %text : !tokens, !stg.tensor<[B, S = VF*SV, D], bf16>, !stg.tensor<[B, S = S - IM*IT - VF*SV, D], bf16> -> !stream
  stg.return %x : !stream
}

// Squares of patches become one, of twice the width, as a convolution does whose stride is its size;
// gelu and a matrix make it four times as wide as a patch. Rows of these end with a learned one, a
// matrix takes all to the width of the text, and two learned tokens stand before and behind
// (Hunyuan with images). One more learned token is read by nobody.
stg.block @convolve_and_end_rows(%x: !vision) -> !projected {
  %wn = stg.param "merger_norm" : !stg.tensor<[DV], bf16>
  %n, %rstd = stg.rms_norm %x, %wn : !vision, !stg.tensor<[DV], bf16>
  %m = stg.rearrange "b(nk)d->bn(kd)" %n <"squares"> : !vision -> !stg.tensor<[B = IM*B, TT, ME*ME*DV], bf16>
  %w1 = stg.param "merger1" : !stg.tensor<[ME*ME*DV, 2*DV], bf16>
  %p1 = stg.einsum "bnv,vw->bnw" %m, %w1 : !stg.tensor<[B = IM*B, TT, ME*ME*DV], bf16>, !stg.tensor<[ME*ME*DV, 2*DV], bf16>
  %b1 = stg.param "merger1_bias" : !stg.tensor<[2*DV], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B = IM*B, TT, 2*DV], bf16>, !stg.tensor<[2*DV], bf16>
  %a = stg.activation gelu %y1 <"merger_gelu"> : !stg.tensor<[B = IM*B, TT, 2*DV], bf16>
  %w2 = stg.param "merger2" : !stg.tensor<[2*DV, 4*DV], bf16>
  %p2 = stg.einsum "bnv,vw->bnw" %a, %w2 : !stg.tensor<[B = IM*B, TT, 2*DV], bf16>, !stg.tensor<[2*DV, 4*DV], bf16>
  %b2 = stg.param "merger2_bias" : !stg.tensor<[4*DV], bf16>
  %y2 = stg.bias_add %p2, %b2 : !stg.tensor<[B = IM*B, TT, 4*DV], bf16>, !stg.tensor<[4*DV], bf16>
  %r = stg.rearrange "b(yx)d->byxd" %y2 <"rows_of_image"> : !stg.tensor<[B = IM*B, TT, 4*DV], bf16> -> !stg.tensor<[B = IM*B, _ = TS, _ = TS, 4*DV], bf16>
  %e = stg.param "end_of_row" : !stg.tensor<[1, 4*DV], bf16>
  %c = stg.broadcast dim 0 %e <"ends_of_rows"> : !stg.tensor<[1, 4*DV], bf16> -> !stg.tensor<[_ = TS, 1, 4*DV], bf16>
  %ends = stg.broadcast dim 0 %c <"ends_of_rows"> : !stg.tensor<[_ = TS, 1, 4*DV], bf16> -> !stg.tensor<[B = IM*B, _ = TS, 1, 4*DV], bf16>
  %j = stg.concat dim 2 ordered %r, %ends <"rows"> : !stg.tensor<[B = IM*B, _ = TS, _ = TS, 4*DV], bf16>, !stg.tensor<[B = IM*B, _ = TS, 1, 4*DV], bf16> -> !stg.tensor<[B = IM*B, _ = TS, _ = TS + 1, 4*DV], bf16>
  %f = stg.rearrange "byxd->b(yx)d" %j <"rows_joined"> : !stg.tensor<[B = IM*B, _ = TS, _ = TS + 1, 4*DV], bf16> -> !stg.tensor<[B = IM*B, _ = TS*(TS + 1), 4*DV], bf16>
  %w = stg.param "projector" : !stg.tensor<[4*DV, D], bf16>
  %p = stg.einsum "bnv,vd->bnd" %f, %w : !stg.tensor<[B = IM*B, _ = TS*(TS + 1), 4*DV], bf16>, !stg.tensor<[4*DV, D], bf16>
  %b = stg.param "projector_bias" : !vector
  %y = stg.bias_add %p, %b : !stg.tensor<[B = IM*B, _ = TS*(TS + 1), D], bf16>, !vector
  %s = stg.param "before_image" : !stg.tensor<[1, D], bf16>
  %first = stg.broadcast dim 0 %s <"before_images"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B = IM*B, 1, D], bf16>
  %t = stg.param "behind_image" : !stg.tensor<[1, D], bf16>
  %last = stg.broadcast dim 0 %t <"behind_images"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B = IM*B, 1, D], bf16>
  %u = stg.param "between_images" : !vector
  stg.keep %u : !vector
  %all = stg.concat dim 1 ordered %first, %y, %last <"image"> : !stg.tensor<[B = IM*B, 1, D], bf16>, !stg.tensor<[B = IM*B, _ = TS*(TS + 1), D], bf16>, !stg.tensor<[B = IM*B, 1, D], bf16> -> !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + 2, D], bf16>
  %i = stg.rearrange "b(nk)d->bn(kd)" %all <"image_tokens"> : !stg.tensor<[B = IM*B, _ = TS*(TS + 1) + 2, D], bf16> -> !projected
  %wo = stg.param "projector_norm" : !vector
  %z, %zrstd = stg.rms_norm %i, %wo : !projected, !vector
  stg.return %z : !projected
}

// Squares of patches become one wide token each (Phi-3 with images).
stg.block @join_squares(%x: !image) -> !stg.tensor<[B = IM*B, TT, ME*ME*DV], bf16> {
  %y = stg.rearrange "b(ynxm)d->b(yx)(nmd)" %x <"shuffle"> : !image -> !stg.tensor<[B = IM*B, TT, ME*ME*DV], bf16>
  stg.return %y : !stg.tensor<[B = IM*B, TT, ME*ME*DV], bf16>
}
