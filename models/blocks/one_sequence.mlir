// The tokens of a text, one of a time step, and the patches of an image as one sequence, which a language
// model's layers read (OmniGen).

stg.symbol @B "samples in the global batch"
stg.symbol @S "patches of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @PC "elements of a patch"

!sequence = !stg.tensor<[B, S + T + 1, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!image = !stg.tensor<[B, S, D], bf16>

stg.block @join_text_time_image(%c: !text, %t: !row, %x: !image) -> !sequence {
  %o = stg.rearrange "bd->b()d" %t <"time_token"> : !row -> !stg.tensor<[B, 1, D], bf16>
  %y = stg.concat dim 1 ordered %c, %o, %x <"sequence"> : !text, !stg.tensor<[B, 1, D], bf16>, !image -> !sequence
  stg.return %y : !sequence
}

stg.block @image_of_sequence(%j: !sequence) -> !image {
  %c, %t, %y = stg.split dim 1 ordered %j <"parts"> : !sequence -> !text, !stg.tensor<[B, 1, D], bf16>, !image
  stg.return %y : !image
}

// What takes the patches of images that a text speaks of to the sequence, where it speaks of none.
stg.block @unread_patches(%x: !image) -> !image {
  %w = stg.param "given_patch_proj" {frozen} : !stg.tensor<[PC, D], bf16>
  stg.keep %w : !stg.tensor<[PC, D], bf16>
  %b = stg.param "given_patch_bias" {frozen} : !stg.tensor<[D], bf16>
  stg.keep %b : !stg.tensor<[D], bf16>
  stg.return %x : !image
}
