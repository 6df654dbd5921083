// Layers of maps whose positions are told the mean of their neighbours, less themselves, and networks of
// two matrices; norms are over all channels and positions of an image, and each part has a learned scale
// of its channels (PoolFormer).
//
// A map is [batch, rows, columns, channels].

stg.symbol @B "images in the global batch"
stg.symbol @IY "rows of the map before"
stg.symbol @IX "columns of the map before"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @CI "channels before"
stg.symbol @D "channels of a map"
stg.symbol @F "feed-forward size"
stg.symbol @PS "positions along each side of a patch"

!before = !stg.tensor<[B, _ = IY, _ = IX, CI], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!vector = !stg.tensor<[D], bf16>
!hidden = !stg.tensor<[B, _ = GY, _ = GX, F], bf16>

// All channels and positions of an image together.
stg.block @image_norm(%x: !map) -> !map {
  stg.option @name : string = "norm" "of its parameters"
  %w = stg.param "{name}.weight" : !vector
  %b = stg.param "{name}.bias" : !vector
  %y, %mean, %rstd = stg.group_norm %x, %w, %b {groups = #sym.expr<1>} <"{name}"> : !map, !vector, !vector
  stg.return %y : !map
}

// Patches that overlap.
stg.block @map_patches(%x: !before) -> !map {
  stg.option @steps : string = "2,2" "from a patch to the next one: rows, columns"
  stg.option @margin : string = "1,1" "zeros around a map"
  %w = stg.param "patch_conv" : !stg.tensor<[_ = PS, _ = PS, CI, D], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, stg.options = {strides = "steps", padding = "margin"}} : !before, !stg.tensor<[_ = PS, _ = PS, CI, D], bf16> -> !map
  %b = stg.param "patch_bias" : !vector
  %y = stg.bias_add %c, %b : !map, !vector
  stg.return %y : !map
}

// What a part of a layer gives, times a learned scale, and the map.
stg.block @scaled_part(%x: !map, %part: !map) -> !map {
  stg.option @part : string "name of the part of the layer"
  stg.option @part_scaled : bool = true "a learned scale of each channel of a part"
  %s = stg.if @part_scaled -> !map {
    %w = stg.param "{part}_scale" : !vector
    %z = stg.mul_along %part, %w {dims = array<i64: 3>} <"{part}_scaled"> : !map, !vector
    stg.yield %z : !map
  } else {
    stg.yield %part : !map
  }
  %y = stg.add %x, %s <"{part}_residual"> : !map, !map
  stg.return %y : !map
}

// The mean of 3 x 3 positions, less the one in the middle.
stg.block @neighbours_layer(%x: !map) -> !map {
  %n = stg.call @image_norm(%x) {name = "mean_norm"} : (!map) -> !map
  %p = stg.pool mean %n {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} <"mean_of_neighbours"> : !map -> !map
  %d = stg.elementwise sub %p, %n <"difference_to_neighbours"> : !map, !map
  %y = stg.call @scaled_part(%x, %d) {part = "mean"} : (!map, !map) -> !map
  stg.return %y : !map
}

// Two matrices for each position.
stg.block @map_network_layer(%x: !map) -> !map {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the network"
  %n = stg.call @image_norm(%x) {name = "ffn_norm"} : (!map) -> !map
  %w1 = stg.param "fc1" : !stg.tensor<[D, F], bf16>
  %p1 = stg.einsum "byxd,df->byxf" %n, %w1 : !map, !stg.tensor<[D, F], bf16>
  %b1 = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
  %o1 = stg.bias_add %p1, %b1 : !hidden, !stg.tensor<[F], bf16>
  %a = stg.activation gelu %o1 {stg.options = {function = "activation"}} <"{activation}"> : !hidden
  %w2 = stg.param "fc2" : !stg.tensor<[F, D], bf16>
  %p2 = stg.einsum "byxf,fd->byxd" %a, %w2 : !hidden, !stg.tensor<[F, D], bf16>
  %b2 = stg.param "fc2_bias" : !vector
  %o2 = stg.bias_add %p2, %b2 : !map, !vector
  %y = stg.call @scaled_part(%x, %o2) {part = "ffn"} : (!map, !map) -> !map
  stg.return %y : !map
}

// The mean of the positions of a map, which may be normalized before.
stg.block @mean_of_map(%x: !map) -> !stg.tensor<[B, D], bf16> {
  stg.option @normed : bool = true "a norm before the mean"
  %n = stg.if @normed -> !map {
    %z = stg.call @image_norm(%x) {name = "last_norm"} : (!map) -> !map
    stg.yield %z : !map
  } else {
    stg.yield %x : !map
  }
  %p = stg.rearrange "byxd->b(yx)d" %n <"positions"> : !map -> !stg.tensor<[B, _ = GY*GX, D], bf16>
  %y = stg.mean dim 1 %p <"mean_of_positions"> : !stg.tensor<[B, _ = GY*GX, D], bf16>
  stg.return %y : !stg.tensor<[B, D], bf16>
}
