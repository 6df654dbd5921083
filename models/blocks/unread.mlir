// Parameters that a layer has and nothing reads.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "query heads"
stg.symbol @E "head size"
stg.symbol @DV "hidden size of an encoder"
stg.symbol @PC "elements of a patch"
stg.symbol @DP = D "width between the encoder and the text"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[D, 3*H, E], bf16>
!bias = !stg.tensor<[3*H, E], bf16>

// Queries, keys and values of tokens that see all others, of which there are none (Longformer).
stg.block @unread_global_heads(%x: !stream) -> !stream {
  %w = stg.param "global_qkv_proj" {frozen} : !heads
  stg.keep %w : !heads
  %b = stg.param "global_qkv_bias" {frozen} : !bias
  stg.keep %b : !bias
  stg.return %x : !stream
}

// Two matrices between an encoder and the text for what this step has not, such as sounds without
// images (Phi-4 multimodal).
stg.block @unread_projector(%x: !stream) -> !stream {
  %w1 = stg.param "projector1" {frozen} : !stg.tensor<[DV, DP], bf16>
  stg.keep %w1 : !stg.tensor<[DV, DP], bf16>
  %b1 = stg.param "projector1_bias" {frozen} : !stg.tensor<[DP], bf16>
  stg.keep %b1 : !stg.tensor<[DP], bf16>
  %w2 = stg.param "projector2" {frozen} : !stg.tensor<[DP, D], bf16>
  stg.keep %w2 : !stg.tensor<[DP, D], bf16>
  %b2 = stg.param "projector2_bias" {frozen} : !stg.tensor<[D], bf16>
  stg.keep %b2 : !stg.tensor<[D], bf16>
  stg.return %x : !stream
}

// What would make patches of pixels in a tower that is given them (DeepSeek-OCR).
stg.block @unread_patches(%x: !stream) -> !stream {
  %w = stg.param "patch_proj" {frozen} : !stg.tensor<[PC, D], bf16>
  stg.keep %w : !stg.tensor<[PC, D], bf16>
  stg.return %x : !stream
}

// The mean of what a tower gives: executed, but read by nobody (Donut).
stg.block @unread_mean_of_tokens(%x: !stream) -> !stream {
  %m = stg.mean dim 1 %x <"token_mean"> : !stream
  stg.keep %m : !stg.tensor<[B, D], bf16>
  stg.return %x : !stream
}

// A token for patches that are hidden, where none is.
stg.block @unread_mask_token(%x: !stream) -> !stream {
  %t = stg.param "mask_token" {frozen} : !stg.tensor<[1, D], bf16>
  stg.keep %t : !stg.tensor<[1, D], bf16>
  stg.return %x : !stream
}

// A norm behind a tower whose layers are read.
stg.block @unread_last_norm(%x: !stream) -> !stream {
  %w = stg.param "norm.weight" {frozen} : !stg.tensor<[D], bf16>
  stg.keep %w : !stg.tensor<[D], bf16>
  %b = stg.param "norm.bias" {frozen} : !stg.tensor<[D], bf16>
  stg.keep %b : !stg.tensor<[D], bf16>
  stg.return %x : !stream
}
