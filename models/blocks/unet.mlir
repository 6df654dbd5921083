// Networks that take noise out of latent images on maps of several resolutions: what a map was on the
// way down is read again, beside what comes, on the way up (the U-Nets of Stable Diffusion).
//
// A map is [batch, rows, columns, channels].

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @IY "rows of a map"
stg.symbol @IX "columns of a map"
stg.symbol @CI "channels of the input"
stg.symbol @CO "channels of the output"
stg.symbol @CA "channels that come"
stg.symbol @CS "channels that are read again"
stg.symbol @KS = 3 "positions along each side of a window"
stg.symbol @NG = 32 "groups of channels that are normalized"
stg.symbol @TE "width of what a sample is conditioned on"
stg.symbol @S "positions of a map"
stg.symbol @T "tokens of a text"
stg.symbol @D "channels of a map"
stg.symbol @DO "width of a text's tokens"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @TL = 1 "layers of a transformer"

!input = !stg.tensor<[B, IY, IX, CI], bf16>
!output = !stg.tensor<[B, IY, IX, CO], bf16>
!row = !stg.tensor<[B, TE], bf16>
!bias = !stg.tensor<[CO], bf16>
!map = !stg.tensor<[B, IY, IX, D], bf16>
!stream = !stg.tensor<[B, S = IY*IX, D], bf16>
!text = !stg.tensor<[B, T, DO], bf16>
!vector = !stg.tensor<[D], bf16>
!square = !stg.tensor<[D, _ = D], bf16>
!across = !stg.tensor<[B, S = IY*IX, _ = D], bf16>

// Groups of channels, and what may follow.
stg.block @group_norm(%x: !input) -> !input {
  stg.option @name : string = "norm" "of its parameters"
  stg.option @activated : bool = true "silu behind it"
  %w = stg.param "{name}.weight" : !stg.tensor<[CI], bf16>
  %b = stg.param "{name}.bias" : !stg.tensor<[CI], bf16>
  %n, %mean, %rstd = stg.group_norm %x, %w, %b {groups = #sym.expr<NG>} <"{name}"> : !input, !stg.tensor<[CI], bf16>, !stg.tensor<[CI], bf16>
  %y = stg.if @activated -> !input {
    %a = stg.activation silu %n <"{name}_silu"> : !input
    stg.yield %a : !input
  } else {
    stg.yield %n : !input
  }
  stg.return %y : !input
}

// Windows of KS x KS positions, with as many zeros around a map that it keeps its size.
stg.block @map_conv(%x: !input) -> !output {
  stg.option @name : string = "conv" "of its parameters"
  stg.option @margin : string = "1,1" "zeros around a map"
  %w = stg.param "{name}" : !stg.tensor<[_ = KS, _ = KS, CI, CO], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, stg.options = {padding = "margin"}} : !input, !stg.tensor<[_ = KS, _ = KS, CI, CO], bf16> -> !output
  %b = stg.param "{name}_bias" : !bias
  %y = stg.bias_add %c, %b : !output, !bias
  stg.return %y : !output
}

// The input in the channels of the output.
stg.block @shortcut(%x: !input) -> !output {
  %w = stg.param "shortcut" : !stg.tensor<[1, 1, CI, CO], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : !input, !stg.tensor<[1, 1, CI, CO], bf16> -> !output
  %b = stg.param "shortcut_bias" : !bias
  %y = stg.bias_add %c, %b : !output, !bias
  stg.return %y : !output
}

// Adds to each channel what the sample is conditioned on.
stg.block @add_condition(%x: !output, %e: !row) -> !output {
  %a = stg.activation silu %e <"condition_silu"> : !row
  %w = stg.param "condition_proj" : !stg.tensor<[TE, CO], bf16>
  %p = stg.einsum "bt,tc->bc" %a, %w : !row, !stg.tensor<[TE, CO], bf16>
  %b = stg.param "condition_bias" : !bias
  %r = stg.bias_add %p, %b : !stg.tensor<[B, CO], bf16>, !bias
  %y = stg.bias_add %x, %r {dims = array<i64: 0, 3>} <"conditioned"> : !output, !stg.tensor<[B, CO], bf16>
  stg.return %y : !output
}

// Two convolutions, each behind a norm.
stg.block @two_map_convs(%x: !input, %e: !row) -> !output {
  %n1 = stg.call @group_norm(%x) {name = "norm1"} : (!input) -> !input
  %c1 = stg.call @map_conv(%n1) {name = "conv1"} : (!input) -> !output
  %t = stg.call @add_condition(%c1, %e) : (!output, !row) -> !output
  %n2 = stg.call @group_norm(%t) {name = "norm2"} : (!output) -> !output
  %y = stg.call @map_conv(%n2) {name = "conv2"} : (!output) -> !output
  stg.return %y : !output
}

// The same, and the input added: as it is, or in the channels of the output.
stg.block @residual_map(%x: !output, %e: !row) -> !output {
  %c = stg.call @two_map_convs(%x, %e) : (!output, !row) -> !output
  %y = stg.add %x, %c <"residual"> : !output, !output
  stg.return %y : !output
}
stg.block @widening_map(%x: !input, %e: !row) -> !output {
  %c = stg.call @two_map_convs(%x, %e) : (!input, !row) -> !output
  %s = stg.call @shortcut(%x) : (!input) -> !output
  %y = stg.add %s, %c <"residual"> : !output, !output
  stg.return %y : !output
}

// The same of what comes and of what the map was on the way down.
stg.block @residual_of_both(%x: !stg.tensor<[B, IY, IX, CA], bf16>, %skipped: !stg.tensor<[B, IY, IX, CS], bf16>, %e: !row) -> !output {
  %j = stg.concat dim 3 ordered %x, %skipped <"both"> : !stg.tensor<[B, IY, IX, CA], bf16>, !stg.tensor<[B, IY, IX, CS], bf16> -> !stg.tensor<[B, IY, IX, CA + CS], bf16>
  %y = stg.call @widening_map(%j, %e) : (!stg.tensor<[B, IY, IX, CA + CS], bf16>, !row) -> !output
  stg.return %y : !output
}

// Half as many rows and columns, and twice as many.
stg.block @halve_map(%x: !input) -> !stg.tensor<[B, IY/2, IX/2, CI], bf16> {
  %w = stg.param "halve" : !stg.tensor<[3, 3, CI, CI], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !input, !stg.tensor<[3, 3, CI, CI], bf16> -> !stg.tensor<[B, IY/2, IX/2, CI], bf16>
  %b = stg.param "halve_bias" : !stg.tensor<[CI], bf16>
  %y = stg.bias_add %c, %b : !stg.tensor<[B, IY/2, IX/2, CI], bf16>, !stg.tensor<[CI], bf16>
  stg.return %y : !stg.tensor<[B, IY/2, IX/2, CI], bf16>
}
stg.block @double_map(%x: !input) -> !stg.tensor<[B, 2*IY, 2*IX, CI], bf16> {
  %r = stg.resize nearest %x <"doubled"> : !input -> !stg.tensor<[B, 2*IY, 2*IX, CI], bf16>
  %y = stg.call @map_conv(%r) {name = "double", CO as CI} : (!stg.tensor<[B, 2*IY, 2*IX, CI], bf16>) -> !stg.tensor<[B, 2*IY, 2*IX, CI], bf16>
  stg.return %y : !stg.tensor<[B, 2*IY, 2*IX, CI], bf16>
}

// Layers in which positions see each other and a text, between two matrices, and the map added.
stg.block @map_transformer(%x: !map, %c: !text) -> !map {
  %n = stg.call @group_norm(%x) {name = "norm", activated = false} : (!map) -> !map
  %s = stg.rearrange "byxd->b(yx)d" %n <"positions"> : !map -> !stream
  %wi = stg.param "proj_in" : !square
  %pi = stg.einsum "bsd,de->bse" %s, %wi : !stream, !square
  %bi = stg.param "proj_in_bias" : !stg.tensor<[_ = D], bf16>
  %i = stg.bias_add %pi, %bi : !across, !stg.tensor<[_ = D], bf16>
  %h = stg.rearrange "bs(dk)->bs(dk)" %i <"stream"> : !across -> !stream
  %l = stg.repeat "layers" * TL carry(%l0 = %h : !stream) {
    %l1 = stg.call @attention_layer(%l0) {K as H, norm = "layer", rotary = false, mask = "none", o_bias = true, separate_projections = true} : (!stream) -> !stream
    %l2 = stg.call @cross_attention_layer(%l1, %c) {K as H, norm = "layer", o_bias = true} : (!stream, !text) -> !stream
    %l3 = stg.call @feed_forward_layer(%l2) {norm = "layer", activation = "gelu", glu = "geglu", ffn_bias = true} : (!stream) -> !stream
    stg.yield %l3 : !stream
  }
  %wo = stg.param "proj_out" : !square
  %po = stg.einsum "bsd,de->bse" %l, %wo : !stream, !square
  %bo = stg.param "proj_out_bias" : !stg.tensor<[_ = D], bf16>
  %o = stg.bias_add %po, %bo : !across, !stg.tensor<[_ = D], bf16>
  %m = stg.rearrange "b(yx)(dk)->byx(dk)" %o <"map"> : !across -> !map
  %y = stg.add %m, %x <"residual"> : !map, !map
  stg.return %y : !map
}

// What a time step is made of, and what a guidance adds to it.
stg.block @add_guidance(%t: !stg.tensor<[B, D], bf16>, %g: !stg.tensor<[B, DO], bf16>) -> !stg.tensor<[B, D], bf16> {
  %w = stg.param "guidance_proj" : !stg.tensor<[DO, D], bf16>
  %p = stg.einsum "bo,od->bd" %g, %w : !stg.tensor<[B, DO], bf16>, !stg.tensor<[DO, D], bf16>
  %y = stg.add %t, %p <"guided_time"> : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, D], bf16>
  stg.return %y : !stg.tensor<[B, D], bf16>
}

// A matrix of what a sample is conditioned on.
stg.block @project_condition(%x: !stg.tensor<[B, DO], bf16>) -> !stg.tensor<[B, D], bf16> {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %w = stg.param "{prefix}proj" : !stg.tensor<[DO, D], bf16>
  %p = stg.einsum "bo,od->bd" %x, %w : !stg.tensor<[B, DO], bf16>, !stg.tensor<[DO, D], bf16>
  %b = stg.param "{prefix}bias" : !vector
  %y = stg.bias_add %p, %b : !stg.tensor<[B, D], bf16>, !vector
  stg.return %y : !stg.tensor<[B, D], bf16>
}

// The square of what is wrong with each element.
stg.block @map_loss(%x: !output, %target: !output) -> !output {
  %d = stg.add %x, %target <"difference"> : !output, !output
  %s = stg.mul %d, %d <"square"> : !output, !output
  stg.return %s : !output
}

// Positions that see each other, behind a normalization of groups of channels.
stg.block @map_attention(%x: !map) -> !map {
  %n = stg.call @group_norm(%x) {name = "attention_norm", activated = false} : (!map) -> !map
  %s = stg.rearrange "byxd->b(yx)d" %n <"positions"> : !map -> !stg.tensor<[B, S = IY*IX, D], bf16>
  %w = stg.param "qkv_proj" : !stg.tensor<[D, 3*H, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %s, %w : !stg.tensor<[B, S = IY*IX, D], bf16>, !stg.tensor<[D, 3*H, E], bf16>
  %b = stg.param "qkv_bias" : !stg.tensor<[3*H, E], bf16>
  %h = stg.bias_add %p, %b : !stg.tensor<[B, S = IY*IX, 3*H, E], bf16>, !stg.tensor<[3*H, E], bf16>
  %q, %k, %v = stg.split dim 2 %h : !stg.tensor<[B, S = IY*IX, 3*H, E], bf16> -> !stg.tensor<[B, S = IY*IX, H, E], bf16>, !stg.tensor<[B, S = IY*IX, H, E], bf16>, !stg.tensor<[B, S = IY*IX, H, E], bf16>
  %a, %lse = stg.attention none %q, %k, %v <"attention"> : !stg.tensor<[B, S = IY*IX, H, E], bf16>, !stg.tensor<[B, S = IY*IX, H, E], bf16>, !stg.tensor<[B, S = IY*IX, H, E], bf16>
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %po = stg.einsum "bshe,hed->bsd" %a, %wo : !stg.tensor<[B, S = IY*IX, H, E], bf16>, !stg.tensor<[H, E, D], bf16>
  %bo = stg.param "o_bias" : !stg.tensor<[D], bf16>
  %o = stg.bias_add %po, %bo : !stg.tensor<[B, S = IY*IX, D], bf16>, !stg.tensor<[D], bf16>
  %m = stg.rearrange "b(yx)d->byxd" %o <"map"> : !stg.tensor<[B, S = IY*IX, D], bf16> -> !map
  %y = stg.add %m, %x <"attention_residual"> : !map, !map
  stg.return %y : !map
}
