// Sound among the tokens of a text: what an encoder of sound gives becomes tokens of the width of
// the text, before the text's own. Sounds of a sequence are counted as images are.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @IM = 1 "sounds per sequence"
stg.symbol @IT "tokens of a sound"
stg.symbol @DV "hidden size of the encoder"
stg.symbol @SV "frames of the encoder"
stg.symbol @JF "frames that become one token"
stg.symbol @DP = D "width between the encoder and the text"
stg.symbol @FW "frames of a window"
stg.symbol @RF = DV "rotated elements of a frame"

!frames = !stg.tensor<[B = IM*B, SV, DV], bf16>
!sound = !stg.tensor<[B = IM*B, IT, DV], bf16>
!wide = !stg.tensor<[B = IM*B, IT, JF*DV], bf16>
!adapted = !stg.tensor<[B = IM*B, IT, DP], bf16>
!projected = !stg.tensor<[B = IM*B, IT, D], bf16>
!vector = !stg.tensor<[D], bf16>

// The mean of every two frames.
stg.block @average_frames(%x: !frames) -> !sound {
  %y = stg.pool mean %x {window = array<i64: 2>, strides = array<i64: 2>, padding = array<i64: 0>} <"frame_mean"> : !frames -> !sound
  stg.return %y : !sound
}

// One matrix with a bias (Qwen 2 Audio).
stg.block @project_sound(%x: !sound) -> !projected {
  %w = stg.param "projector" : !stg.tensor<[DV, D], bf16>
  %p = stg.einsum "bnv,vd->bnd" %x, %w : !sound, !stg.tensor<[DV, D], bf16>
  %b = stg.param "projector_bias" : !vector
  %y = stg.bias_add %p, %b : !projected, !vector
  stg.return %y : !projected
}

// Positions in time of the frames of a sound, which turn their first elements (Music Flamingo).
stg.block @rotate_frames(%x: !sound) -> !sound {
  %y = stg.rope %x {rotated = #sym.expr<RF>} <"frames_rotated"> : !sound
  stg.return %y : !sound
}

// Frames that follow one another become one wide token, which two matrices project, with gelu in
// between (Voxtral, and with biases GLM-ASR).
stg.block @join_and_project_frames(%x: !frames) -> !projected {
  stg.option @projector_bias : bool = false "biases of both"
  %m = stg.rearrange "b(nk)d->bn(kd)" %x <"joined_frames"> : !frames -> !wide
  %w1 = stg.param "projector1" : !stg.tensor<[JF*DV, DP], bf16>
  %p1 = stg.einsum "bnv,vd->bnd" %m, %w1 : !wide, !stg.tensor<[JF*DV, DP], bf16>
  %y1 = stg.if @projector_bias -> !adapted {
    %b = stg.param "projector1_bias" : !stg.tensor<[DP], bf16>
    %z = stg.bias_add %p1, %b : !adapted, !stg.tensor<[DP], bf16>
    stg.yield %z : !adapted
  } else {
    stg.yield %p1 : !adapted
  }
  %a = stg.activation gelu %y1 <"projector_gelu"> : !adapted
  %w2 = stg.param "projector2" : !stg.tensor<[DP, D], bf16>
  %p2 = stg.einsum "bnd,de->bne" %a, %w2 : !adapted, !stg.tensor<[DP, D], bf16>
  %y2 = stg.if @projector_bias -> !projected {
    %b = stg.param "projector2_bias" : !vector
    %z = stg.bias_add %p2, %b : !projected, !vector
    stg.yield %z : !projected
  } else {
    stg.yield %p2 : !projected
  }
  stg.return %y2 : !projected
}

// Two matrices with biases, and an activation in between (Qwen 3 Omni).
stg.block @project_sound_twice(%x: !sound) -> !projected {
  stg.option @activation : "gelu" | "silu" | "relu" | "quick_gelu" = "gelu" "between the two"
  %w1 = stg.param "projector1" : !stg.tensor<[DV, _ = DV], bf16>
  %p1 = stg.einsum "bnv,vw->bnw" %x, %w1 : !sound, !stg.tensor<[DV, _ = DV], bf16>
  %b1 = stg.param "projector1_bias" : !stg.tensor<[_ = DV], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B = IM*B, IT, _ = DV], bf16>, !stg.tensor<[_ = DV], bf16>
  %a = stg.activation gelu %y1 {stg.options = {function = "activation"}} <"projector_{activation}"> : !stg.tensor<[B = IM*B, IT, _ = DV], bf16>
  %w2 = stg.param "projector2" : !stg.tensor<[_ = DV, D], bf16>
  %p2 = stg.einsum "bnw,wd->bnd" %a, %w2 : !stg.tensor<[B = IM*B, IT, _ = DV], bf16>, !stg.tensor<[_ = DV, D], bf16>
  %b2 = stg.param "projector2_bias" : !vector
  %y2 = stg.bias_add %p2, %b2 : !projected, !vector
  stg.return %y2 : !projected
}

// Of each token of a text, and of the frames that stand for it, the sum (Voxtral Realtime).
stg.block @add_sound(%text: !stg.tensor<[B, S, D], bf16>, %sound: !stg.tensor<[B, S, D], bf16>) -> !stg.tensor<[B, S, D], bf16> {
  %y = stg.add %text, %sound <"text_and_sound"> : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, D], bf16>
  stg.return %y : !stg.tensor<[B, S, D], bf16>
}

// Windows of frames, each of which is read by itself, and what is read of those of a sound (Granite
// Speech).
stg.block @to_frame_windows(%x: !frames) -> !stg.tensor<[B = IM*SV/FW*B, SV = FW, DV], bf16> {
  %y = stg.rearrange "b(nk)d->(bn)kd" %x <"frame_windows"> : !frames -> !stg.tensor<[B = IM*SV/FW*B, SV = FW, DV], bf16>
  stg.return %y : !stg.tensor<[B = IM*SV/FW*B, SV = FW, DV], bf16>
}
stg.block @from_frame_windows(%x: !stg.tensor<[B = IM*SV/FW*B, FW/JF, DV], bf16>) -> !sound {
  %y = stg.rearrange "(bn)kd->b(nk)d" %x <"windows_joined"> : !stg.tensor<[B = IM*SV/FW*B, FW/JF, DV], bf16> -> !sound
  stg.return %y : !sound
}
