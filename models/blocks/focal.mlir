// Maps whose positions are modulated by what larger and larger windows around them say, in the place of
// attention (FocalNet).
//
// A map is [batch, rows, columns, channels].

stg.import "poolformer.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @IY "rows of the map before"
stg.symbol @IX "columns of the map before"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @CI "channels before"
stg.symbol @D "channels of a map"
stg.symbol @F "feed-forward size"
stg.symbol @NF "windows around a position"
stg.symbol @FW "positions along each side of the smallest window"
stg.symbol @KS "positions along each side of a window"
stg.symbol @NG "number of a gate"
stg.symbol @PS "positions along each side of a patch"

!before = !stg.tensor<[B, _ = IY, _ = IX, CI], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!vector = !stg.tensor<[D], bf16>
!row = !stg.tensor<[B, D], bf16>
!gates = !stg.tensor<[B, _ = GY, _ = GX, _ = NF + 1], bf16>
!gate = !stg.tensor<[B, _ = GY, _ = GX, 1], bf16>
!all_three = !stg.tensor<[B, _ = GY, _ = GX, 2*D + NF + 1], bf16>
!hidden = !stg.tensor<[B, _ = GY, _ = GX, F], bf16>

// Each position over its channels.
stg.block @map_layer_norm(%x: !map) -> !map {
  stg.option @name : string = "norm" "of its parameters"
  %w = stg.param "{name}.weight" : !vector
  %b = stg.param "{name}.bias" : !vector
  %y, %mean, %rstd = stg.layer_norm %x, %w, %b <"{name}"> : !map, !vector, !vector
  stg.return %y : !map
}

stg.block @normalized_patches(%x: !before) -> !map {
  %p = stg.call @map_patches(%x) : (!before) -> !map
  %y = stg.call @map_layer_norm(%p) {name = "patch_norm"} : (!map) -> !map
  stg.return %y : !map
}

// A window of each channel.
stg.block @focal_window(%x: !map) -> !map {
  stg.option @name : string "of its parameters"
  stg.option @margin : string = "1,1" "zeros around a map"
  %w = stg.param "{name}" : !stg.tensor<[_ = KS, _ = KS, 1, D], bf16>
  %c = stg.conv %x, %w {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, stg.options = {padding = "margin"}} : !map, !stg.tensor<[_ = KS, _ = KS, 1, D], bf16> -> !map
  %y = stg.activation gelu %c <"{name}_gelu"> : !map
  stg.return %y : !map
}

// What a window says, as much as the gate of each position lets through.
stg.block @gated_window(%x: !map, %gates: !gates) -> !map {
  stg.option @name : string "of its parameters"
  %g = stg.slice dim 3 %gates {from = #sym.expr<NG>} <"{name}_gate"> : !gates -> !gate
  %y = stg.mul %x, %g <"{name}_gated"> : !map, !gate
  stg.return %y : !map
}

// One window more around each position, and the sum of all.
stg.block @next_window(%x: !map, %sum: !map, %gates: !gates) -> (!map, !map) {
  stg.option @name : string "of its parameters"
  %c = stg.call @focal_window(%x) : (!map) -> !map
  %g = stg.call @gated_window(%c, %gates) : (!map, !gates) -> !map
  %y = stg.add %sum, %g <"{name}_sum"> : !map, !map
  stg.return %c, %y : !map, !map
}

// Two matrices around a product of what a position says of itself, and of what its windows and all
// positions say.
stg.block @focal_modulation(%x: !map) -> !map {
  stg.option @windows : "1" | "2" | "3" | "4" = "2" "around a position"
  stg.option @margin1 : string = "1,1" "zeros around a map for the first window"
  stg.option @margin2 : string = "2,2" "zeros around a map for the second window"
  stg.option @margin3 : string = "3,3" "zeros around a map for the third window"
  stg.option @margin4 : string = "4,4" "zeros around a map for the fourth window"
  stg.option @modulator_scaled : bool = false "the mean of windows in the place of their sum"
  stg.option @modulator_normed : bool = false "a LayerNorm of the product"
  %wi = stg.param "modulation_in" : !stg.tensor<[D, 2*D + NF + 1], bf16>
  %pi = stg.einsum "byxd,de->byxe" %x, %wi : !map, !stg.tensor<[D, 2*D + NF + 1], bf16>
  %bi = stg.param "modulation_in_bias" : !stg.tensor<[2*D + NF + 1], bf16>
  %oi = stg.bias_add %pi, %bi : !all_three, !stg.tensor<[2*D + NF + 1], bf16>
  %q, %c0, %gn = stg.split dim 3 %oi : !all_three -> !map, !map, !stg.tensor<[B, _ = GY, _ = GX, NF + 1], bf16>
  %g = stg.rearrange "byx(gh)->byx(gh)" %gn <"gates"> : !stg.tensor<[B, _ = GY, _ = GX, NF + 1], bf16> -> !gates
  %c1 = stg.call @focal_window(%c0) {name = "window1", margin = margin1, KS = FW} : (!map) -> !map
  %s1 = stg.call @gated_window(%c1, %g) {name = "window1", NG = 0} : (!map, !gates) -> !map
  %c2, %s2 = stg.if @windows = "2" | "3" | "4" -> !map, !map {
    %c, %s = stg.call @next_window(%c1, %s1, %g) {name = "window2", margin = margin2, KS = FW + 2, NG = 1} : (!map, !map, !gates) -> (!map, !map)
    stg.yield %c, %s : !map, !map
  } else {
    stg.yield %c1, %s1 : !map, !map
  }
  %c3, %s3 = stg.if @windows = "3" | "4" -> !map, !map {
    %c, %s = stg.call @next_window(%c2, %s2, %g) {name = "window3", margin = margin3, KS = FW + 4, NG = 2} : (!map, !map, !gates) -> (!map, !map)
    stg.yield %c, %s : !map, !map
  } else {
    stg.yield %c2, %s2 : !map, !map
  }
  %c4, %s4 = stg.if @windows = "4" -> !map, !map {
    %c, %s = stg.call @next_window(%c3, %s3, %g) {name = "window4", margin = margin4, KS = FW + 6, NG = 3} : (!map, !map, !gates) -> (!map, !map)
    stg.yield %c, %s : !map, !map
  } else {
    stg.yield %c3, %s3 : !map, !map
  }
  %m1 = stg.mean dim 1 %c4 <"means_of_columns"> : !map
  %m2 = stg.mean dim 1 %m1 <"mean_of_all"> : !stg.tensor<[B, _ = GX, D], bf16>
  %ma = stg.activation gelu %m2 <"mean_gelu"> : !row
  %mr = stg.rearrange "bd->b()()d" %ma <"mean_row"> : !row -> !stg.tensor<[B, 1, 1, D], bf16>
  %mg = stg.slice dim 3 %g {from = #sym.expr<NF>} <"mean_gate"> : !gates -> !gate
  %mm = stg.mul %mg, %mr <"mean_gated"> : !gate, !stg.tensor<[B, 1, 1, D], bf16>
  %s = stg.add %s4, %mm <"mean_sum"> : !map, !map
  %n = stg.if @modulator_scaled -> !map {
    // No trace has the value of the constant.
    %k = stg.splat 1 : !map
    %z = stg.mul %s, %k <"modulator_scaled"> : !map, !map
    stg.yield %z : !map
  } else {
    stg.yield %s : !map
  }
  %wc = stg.param "modulator" : !stg.tensor<[D, D], bf16>
  %pc = stg.einsum "byxd,de->byxe" %n, %wc : !map, !stg.tensor<[D, D], bf16>
  %bc = stg.param "modulator_bias" : !vector
  %oc = stg.bias_add %pc, %bc : !map, !vector
  %t = stg.mul %q, %oc <"modulated"> : !map, !map
  %tn = stg.if @modulator_normed -> !map {
    %z = stg.call @map_layer_norm(%t) {name = "modulator_norm"} : (!map) -> !map
    stg.yield %z : !map
  } else {
    stg.yield %t : !map
  }
  %wo = stg.param "modulation_out" : !stg.tensor<[D, D], bf16>
  %po = stg.einsum "byxd,de->byxe" %tn, %wo : !map, !stg.tensor<[D, D], bf16>
  %bo = stg.param "modulation_out_bias" : !vector
  %y = stg.bias_add %po, %bo : !map, !vector
  stg.return %y : !map
}

// A LayerNorm before a part of a layer, or behind it.
stg.block @norm_before_part(%x: !map) -> !map {
  stg.option @part : string "name of the part of the layer"
  stg.option @norm_behind : bool = false "a normalization behind a part of a layer, not before it"
  %y = stg.if @norm_behind -> !map {
    stg.yield %x : !map
  } else {
    %z = stg.call @map_layer_norm(%x) {name = "{part}_norm"} : (!map) -> !map
    stg.yield %z : !map
  }
  stg.return %y : !map
}
stg.block @norm_behind_part(%x: !map) -> !map {
  stg.option @part : string "name of the part of the layer"
  stg.option @norm_behind : bool = false "a normalization behind a part of a layer, not before it"
  %y = stg.if @norm_behind -> !map {
    %z = stg.call @map_layer_norm(%x) {name = "{part}_norm"} : (!map) -> !map
    stg.yield %z : !map
  } else {
    stg.yield %x : !map
  }
  stg.return %y : !map
}

stg.block @focal_layer(%x: !map) -> !map {
  %n = stg.call @norm_before_part(%x) {part = "modulation"} : (!map) -> !map
  %m = stg.call @focal_modulation(%n) : (!map) -> !map
  %b = stg.call @norm_behind_part(%m) {part = "modulation"} : (!map) -> !map
  %y = stg.call @scaled_part(%x, %b) {part = "modulation"} : (!map, !map) -> !map
  stg.return %y : !map
}

// Two matrices for each position.
stg.block @focal_network_layer(%x: !map) -> !map {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the network"
  %n = stg.call @norm_before_part(%x) {part = "ffn"} : (!map) -> !map
  %w1 = stg.param "fc1" : !stg.tensor<[D, F], bf16>
  %p1 = stg.einsum "byxd,df->byxf" %n, %w1 : !map, !stg.tensor<[D, F], bf16>
  %b1 = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
  %o1 = stg.bias_add %p1, %b1 : !hidden, !stg.tensor<[F], bf16>
  %a = stg.activation gelu %o1 {stg.options = {function = "activation"}} <"{activation}"> : !hidden
  %w2 = stg.param "fc2" : !stg.tensor<[F, D], bf16>
  %p2 = stg.einsum "byxf,fd->byxd" %a, %w2 : !hidden, !stg.tensor<[F, D], bf16>
  %b2 = stg.param "fc2_bias" : !vector
  %o2 = stg.bias_add %p2, %b2 : !map, !vector
  %b = stg.call @norm_behind_part(%o2) {part = "ffn"} : (!map) -> !map
  %y = stg.call @scaled_part(%x, %b) {part = "ffn"} : (!map, !map) -> !map
  stg.return %y : !map
}
