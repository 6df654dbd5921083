// Images as sequences of patches.
//
// An image comes cut into patches, each a row of all of its pixels: what a convolution
// computes whose stride is its size is a product of such rows.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @PC "elements of a patch"

!stream = !stg.tensor<[B, S, D], bf16>
!patches = !stg.tensor<[B, S, PC], bf16>
!behind = !stg.tensor<[B, S - 1, PC], bf16>
!vector = !stg.tensor<[D], bf16>

// All patches of an image, one token each.
stg.block @embed_patches(%patches: !patches) -> !stream {
  stg.option @patch_bias : bool = true "bias of the patches' projection"
  %w = stg.param "patch_proj" : !stg.tensor<[PC, D], bf16>
  %p = stg.einsum "bsp,pd->bsd" %patches, %w : !patches, !stg.tensor<[PC, D], bf16>
  %y = stg.if @patch_bias -> !stream {
    %b = stg.param "patch_bias" : !vector
    %z = stg.bias_add %p, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %p : !stream
  }
  stg.return %y : !stream
}

// The same behind a token for what the image shows.
stg.block @embed_patches_and_class(%patches: !behind) -> !stream {
  %p = stg.call @embed_patches(%patches) : (!behind) -> !stg.tensor<[B, S - 1, D], bf16>
  %c = stg.param "class_token" : !stg.tensor<[1, D], bf16>
  %t = stg.broadcast dim 0 %c <"class_tokens"> : !stg.tensor<[1, D], bf16> -> !stg.tensor<[B, 1, D], bf16>
  %y = stg.concat dim 1 ordered %t, %p : !stg.tensor<[B, 1, D], bf16>, !stg.tensor<[B, S - 1, D], bf16> -> !stream
  stg.return %y : !stream
}

// A learned position of each token.
stg.block @add_all_positions(%x: !stream) -> !stream {
  %p = stg.param "pos_embeddings" : !stg.tensor<[S, D], bf16>
  %y = stg.bias_add %x, %p <"embeddings"> : !stream, !stg.tensor<[S, D], bf16>
  stg.return %y : !stream
}
