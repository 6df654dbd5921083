// Layers of maps of positions that attend to a smaller map, made by a convolution, and whose networks
// have one of each channel between two matrices (SegFormer). Tokens are the positions, row by row.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @S "tokens per image"
stg.symbol @SI "positions before"
stg.symbol @D "hidden size"
stg.symbol @CI "channels before"
stg.symbol @IY "rows before"
stg.symbol @IX "columns before"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @PS "positions along each side of a patch"
stg.symbol @SR = 1 "positions that become one, along each side, for keys and values"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!vector = !stg.tensor<[D], bf16>
!before = !stg.tensor<[B, SI, CI], bf16>
!tokens = !stg.tensor<[B, S = GY*GX, D], bf16>
!small_map = !stg.tensor<[B, _ = GY/SR, _ = GX/SR, D], bf16>
!small = !stg.tensor<[B, T = GY*GX/(SR*SR), D], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>
!hidden_map = !stg.tensor<[B, _ = GY, _ = GX, F], bf16>
!wide = !stg.tensor<[F], bf16>

// Patches that overlap, of an image or of a map, and a normalization of each.
stg.block @embed_overlapping_patches(%x: !before) -> !tokens {
  stg.option @steps : string = "2,2" "from a patch to the next one: rows, columns"
  stg.option @margin : string = "1,1" "zeros around a map"
  %m = stg.rearrange "b(yx)c->byxc" %x <"map_before"> : !before -> !stg.tensor<[B, _ = IY, _ = IX, CI], bf16>
  %w = stg.param "patch_conv" : !stg.tensor<[_ = PS, _ = PS, CI, D], bf16>
  %c = stg.conv %m, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, stg.options = {strides = "steps", padding = "margin"}} : !stg.tensor<[B, _ = IY, _ = IX, CI], bf16>, !stg.tensor<[_ = PS, _ = PS, CI, D], bf16> -> !map
  %b = stg.param "patch_bias" : !vector
  %y = stg.bias_add %c, %b : !map, !vector
  %t = stg.rearrange "byxd->b(yx)d" %y <"patches"> : !map -> !tokens
  %n = stg.call @norm(%t) {name = "patch_norm"} : (!tokens) -> !tokens
  stg.return %n : !tokens
}

// A token for each square of SR x SR positions, and a normalization of each.
stg.block @reduce_map(%x: !stream) -> !small {
  stg.option @square : string = "2,2" "positions that become one: rows, columns"
  %m = stg.rearrange "b(yx)d->byxd" %x <"map"> : !stream -> !map
  %w = stg.param "reduction" : !stg.tensor<[_ = SR, _ = SR, _ = D, D], bf16>
  %c = stg.conv %m, %w {strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, stg.options = {strides = "square"}} : !map, !stg.tensor<[_ = SR, _ = SR, _ = D, D], bf16> -> !small_map
  %b = stg.param "reduction_bias" : !vector
  %y = stg.bias_add %c, %b : !small_map, !vector
  %t = stg.rearrange "byxd->b(yx)d" %y <"reduced_tokens"> : !small_map -> !small
  %n = stg.call @norm(%t) {name = "reduction_norm"} : (!small) -> !small
  stg.return %n : !small
}

stg.block @reduced_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %r = stg.call @reduce_map(%n) : (!stream) -> !small
  %a = stg.call @cross_attention(%n, %r) {K as H} : (!stream, !small) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Two matrices, between them a convolution of each channel over 3 x 3 positions.
stg.block @map_feed_forward(%x: !stream) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the network"
  %w1 = stg.param "fc1" : !stg.tensor<[D, F], bf16>
  %p = stg.einsum "bsd,df->bsf" %x, %w1 : !stream, !stg.tensor<[D, F], bf16>
  %b1 = stg.param "fc1_bias" : !wide
  %u = stg.bias_add %p, %b1 : !hidden, !wide
  %m = stg.rearrange "b(yx)f->byxf" %u <"hidden_map"> : !hidden -> !hidden_map
  %wc = stg.param "map_conv" : !stg.tensor<[3, 3, 1, F], bf16>
  %c = stg.conv %m, %wc {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !hidden_map, !stg.tensor<[3, 3, 1, F], bf16> -> !hidden_map
  %bc = stg.param "map_conv_bias" : !wide
  %v = stg.bias_add %c, %bc : !hidden_map, !wide
  %t = stg.rearrange "byxf->b(yx)f" %v <"hidden_tokens"> : !hidden_map -> !hidden
  %a = stg.activation gelu %t {stg.options = {function = "activation"}} <"{activation}"> : !hidden
  %w2 = stg.param "fc2" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bsf,fd->bsd" %a, %w2 : !hidden, !stg.tensor<[F, D], bf16>
  %b2 = stg.param "fc2_bias" : !vector
  %y = stg.bias_add %d, %b2 : !stream, !vector
  stg.return %y : !stream
}

stg.block @map_feed_forward_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %f = stg.call @map_feed_forward(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %f) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
