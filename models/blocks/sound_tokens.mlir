// A sound behind one token of what it is conditioned on, which says when it begins and how long it is, and
// how much noise there is (Stable Audio).

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of a sound"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @DO "width of a text's tokens"
stg.symbol @C "width of what is projected"
stg.symbol @PC "channels of a sound"
stg.symbol @PO "channels of a sound that is given"
stg.symbol @TF "frequencies of a time step"

!stream = !stg.tensor<[B, S = S + 1, D], bf16>
!sound = !stg.tensor<[B, S, D], bf16>
!channels = !stg.tensor<[B, S, PC], bf16>
!given = !stg.tensor<[B, S, PO], bf16>
!row = !stg.tensor<[B, D], bf16>
!waves = !stg.tensor<[B, TF], bf16>
!read = !stg.tensor<[B, T, DO], bf16>

// Cosines and sines of a number, times frequencies that nothing trains.
stg.block @waves_of_time(%time: !stg.tensor<[B, 1], bf16>) -> !stg.tensor<[B, 2*TF], bf16> {
  %f = stg.param "time_frequencies" {frozen} : !stg.tensor<[1, TF], bf16>
  %a = stg.einsum "bi,if->bf" %time, %f <"angles"> : !stg.tensor<[B, 1], bf16>, !stg.tensor<[1, TF], bf16>
  %c = stg.elementwise cos %a <"cosines"> : !waves
  %s = stg.elementwise sin %a <"sines"> : !waves
  %y = stg.concat dim 1 %c, %s <"waves"> : !waves, !waves -> !stg.tensor<[B, 2*TF], bf16>
  stg.return %y : !stg.tensor<[B, 2*TF], bf16>
}

// A text in the width that is read, by two matrices without biases with silu in between.
stg.block @project_read_text(%x: !stg.tensor<[B, T, C], bf16>) -> !read {
  %w1 = stg.param "text_proj1" : !stg.tensor<[C, DO], bf16>
  %p1 = stg.einsum "btc,cd->btd" %x, %w1 : !stg.tensor<[B, T, C], bf16>, !stg.tensor<[C, DO], bf16>
  %a = stg.activation silu %p1 <"text_silu"> : !read
  %w2 = stg.param "text_proj2" : !stg.tensor<[DO, DO], bf16>
  %y = stg.einsum "btd,de->bte" %a, %w2 : !read, !stg.tensor<[DO, DO], bf16>
  stg.return %y : !read
}

// The channels of a sound with what a matrix makes of them, projected, behind one token.
stg.block @embed_sound(%x: !channels, %e: !row) -> !stream {
  %w = stg.param "input_mix" : !stg.tensor<[PC, PC], bf16>
  %m = stg.einsum "bsp,pq->bsq" %x, %w : !channels, !stg.tensor<[PC, PC], bf16>
  %s = stg.add %m, %x <"mixed_input"> : !channels, !channels
  %wp = stg.param "sound_proj" : !stg.tensor<[PC, D], bf16>
  %p = stg.einsum "bsp,pd->bsd" %s, %wp : !channels, !stg.tensor<[PC, D], bf16>
  %e1 = stg.rearrange "bd->b()d" %e <"condition"> : !row -> !stg.tensor<[B, 1, D], bf16>
  %y = stg.concat dim 1 ordered %e1, %p : !stg.tensor<[B, 1, D], bf16>, !sound -> !stream
  stg.return %y : !stream
}

// What is given of all tokens but the first one, and the square of what is wrong with each element.
stg.block @sound_loss(%x: !stream, %target: !given) -> !given {
  %w = stg.param "output" : !stg.tensor<[D, PO], bf16>
  %p = stg.einsum "bsd,dp->bsp" %x, %w : !stream, !stg.tensor<[D, PO], bf16>
  %f, %r = stg.split dim 1 ordered %p : !stg.tensor<[B, S = S + 1, PO], bf16> -> !stg.tensor<[B, 1, PO], bf16>, !given
  %wm = stg.param "output_mix" : !stg.tensor<[PO, PO], bf16>
  %m = stg.einsum "bsp,pq->bsq" %r, %wm : !given, !stg.tensor<[PO, PO], bf16>
  %y = stg.add %m, %r <"mixed_output"> : !given, !given
  %d = stg.add %y, %target <"difference"> : !given, !given
  %s = stg.mul %d, %d <"square"> : !given, !given
  stg.return %s : !given
}
