// A video as patches of frames behind one class token, whose layers attend to the patches of one
// place in all frames, then to those of one frame with the class token (TimeSformer).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "videos in the global batch"
stg.symbol @S "tokens of a video"
stg.symbol @D "hidden size"
stg.symbol @NF "frames of a video"
stg.symbol @NP "patches of a frame"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!frames = !stg.tensor<[B = NF*B, S = NP + 1, D], bf16>
!first = !stg.tensor<[B, S = 1, D], bf16>
!patches = !stg.tensor<[B, S = NP*NF, D], bf16>
!by_place = !stg.tensor<[B = NP*B, S = NF, D], bf16>
!by_frame = !stg.tensor<[B = NF*B, S = NP, D], bf16>
!classes = !stg.tensor<[B = NF*B, S = 1, D], bf16>
!joined = !stg.tensor<[B, S = NP*NF + 1, D], bf16>

// The frames of each video one after the other: one class token, and the patches place by place with
// a learned position of their frame.
stg.block @join_frames(%x: !frames) -> !joined {
  %cs, %p = stg.split dim 1 ordered %x <"frame_parts"> : !frames -> !classes, !by_frame
  %r = stg.rearrange "(bf)()d->bfd" %cs <"classes_of_frames"> : !classes -> !stg.tensor<[B, S = NF, D], bf16>
  %c = stg.slice dim 1 %r {from = #sym.expr<0>} <"class_token"> : !stg.tensor<[B, S = NF, D], bf16> -> !first
  %t = stg.rearrange "(bf)pd->(bp)fd" %p <"places"> : !by_frame -> !by_place
  %w = stg.param "frame_embeddings" : !stg.tensor<[S = NF, D], bf16>
  %a = stg.bias_add %t, %w <"frame_positions"> : !by_place, !stg.tensor<[S = NF, D], bf16>
  %f = stg.rearrange "(bp)fd->b(pf)d" %a <"patches"> : !by_place -> !patches
  %y = stg.concat dim 1 ordered %c, %f <"tokens"> : !first, !patches -> !joined
  stg.return %y : !joined
}

// What a place is in all frames, and a matrix behind it.
stg.block @attend_to_frames(%p: !patches) -> !patches {
  %t = stg.rearrange "b(pf)d->(bp)fd" %p <"places"> : !patches -> !by_place
  %n = stg.call @norm(%t) {name = "frames_norm"} : (!by_place) -> !by_place
  %a = stg.call @attention(%n) {K as H, mask = "none", rotary = false} <"frames"> : (!by_place) -> !by_place
  %r = stg.rearrange "(bp)fd->b(pf)d" %a <"attended_places"> : !by_place -> !patches
  %w = stg.param "frames_proj" : !stg.tensor<[D, D], bf16>
  %o = stg.einsum "bsd,de->bse" %r, %w : !patches, !stg.tensor<[D, D], bf16>
  %b = stg.param "frames_proj_bias" : !vector
  %z = stg.bias_add %o, %b : !patches, !vector
  %y = stg.add %p, %z <"frames_residual"> : !patches, !patches
  stg.return %y : !patches
}

// Attention with its normalizations and the residual stream: the class token that goes on is the mean
// of those of all frames.
stg.block @divided_attention_layer(%x: !joined) -> !joined {
  %c, %p = stg.split dim 1 ordered %x <"class_and_patches"> : !joined -> !first, !patches
  %t = stg.call @attend_to_frames(%p) : (!patches) -> !patches
  %cr = stg.rearrange "b()d->bd" %c <"class_row"> : !first -> !stg.tensor<[B, D], bf16>
  %cb = stg.broadcast dim 1 %cr <"class_of_each_frame"> : !stg.tensor<[B, D], bf16> -> !stg.tensor<[B, S = NF, D], bf16>
  %cf = stg.rearrange "bfd->(bf)()d" %cb <"classes"> : !stg.tensor<[B, S = NF, D], bf16> -> !classes
  %s = stg.rearrange "b(pf)d->(bf)pd" %t <"frames"> : !patches -> !by_frame
  %f = stg.concat dim 1 ordered %cf, %s <"frames_with_class"> : !classes, !by_frame -> !frames
  %n = stg.call @norm(%f) {name = "attention_norm"} : (!frames) -> !frames
  %a = stg.call @attention(%n) {K as H, mask = "none", rotary = false} : (!frames) -> !frames
  %ac, %ap = stg.split dim 1 ordered %a <"attended_parts"> : !frames -> !classes, !by_frame
  %ar = stg.rearrange "(bf)()d->bfd" %ac <"attended_classes"> : !classes -> !stg.tensor<[B, S = NF, D], bf16>
  %m = stg.mean dim 1 %ar <"class_mean"> : !stg.tensor<[B, S = NF, D], bf16>
  %mr = stg.rearrange "bd->b()d" %m <"class_attended"> : !stg.tensor<[B, D], bf16> -> !first
  %pr = stg.rearrange "(bf)pd->b(pf)d" %ap <"patches_attended"> : !by_frame -> !patches
  %before = stg.concat dim 1 ordered %c, %t <"before"> : !first, !patches -> !joined
  %out = stg.concat dim 1 ordered %mr, %pr <"attended"> : !first, !patches -> !joined
  %y = stg.add %before, %out <"attention_residual"> : !joined, !joined
  stg.return %y : !joined
}
