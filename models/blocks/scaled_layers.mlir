// Layers with norms before and behind each part, whose inputs a sample scales and whose outputs the tanh
// of vectors of it gates, of one stream of a text and an image (Lumina 2, Z-Image).

stg.import "attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @DC = D "width of what a sample is conditioned on"
stg.symbol @K "key/value heads"
stg.symbol @PO "elements of a patch that is given"

!stream = !stg.tensor<[B, S, D], bf16>
!both = !stg.tensor<[B, S + T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!condition = !stg.tensor<[B, DC], bf16>
!patches = !stg.tensor<[B, S, PO], bf16>
!all_given = !stg.tensor<[B, S + T, PO], bf16>
!text_given = !stg.tensor<[B, T, PO], bf16>

stg.block @scaled_layer(%x: !stream, %e: !condition) -> !stream {
  %scale, %gate, %scale2, %gate2 = stg.call @four_vectors(%e) : (!condition) -> (!row, !row, !row, !row)
  %n = stg.call @scaled_norm(%x, %scale) {part = "attention", adaptive = "rms"} : (!stream, !row) -> !stream
  %a = stg.call @attention(%n) {mask = "none"} : (!stream) -> !stream
  %y = stg.call @tanh_gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %m = stg.call @scaled_norm(%y, %scale2) {part = "ffn", adaptive = "rms"} : (!stream, !row) -> !stream
  %f = stg.call @gated_feed_forward(%m) : (!stream) -> !stream
  %z = stg.call @tanh_gated_sum(%y, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %z : !stream
}

// What is given of all tokens, those of the text, too, which nobody reads, and the square of what is
// wrong with each element of a patch.
stg.block @scaled_loss_of_image(%j: !both, %e: !condition, %target: !patches) -> !patches {
  %scale = stg.call @one_vector(%e) {prefix = "output_", modulation_silu = true} : (!condition) -> !row
  %n = stg.call @scaled_norm(%j, %scale) {part = "output"} : (!both, !row) -> !both
  %w = stg.param "output" : !stg.tensor<[D, PO], bf16>
  %p = stg.einsum "bsd,dp->bsp" %n, %w : !both, !stg.tensor<[D, PO], bf16>
  %b = stg.param "output_bias" : !stg.tensor<[PO], bf16>
  %a = stg.bias_add %p, %b : !all_given, !stg.tensor<[PO], bf16>
  %c, %y = stg.split dim 1 ordered %a : !all_given -> !text_given, !patches
  %d = stg.add %y, %target <"difference"> : !patches, !patches
  %s = stg.mul %d, %d <"square"> : !patches, !patches
  stg.return %s : !patches
}

// Tokens that fill up a sequence, which has none in a trace.
stg.block @unread_fillers(%x: !stream) -> !stream {
  %i = stg.param "image_filler" : !stg.tensor<[1, D], bf16>
  stg.keep %i : !stg.tensor<[1, D], bf16>
  %t = stg.param "text_filler" : !stg.tensor<[1, D], bf16>
  stg.keep %t : !stg.tensor<[1, D], bf16>
  stg.return %x : !stream
}
