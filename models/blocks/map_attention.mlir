// A tower of a map of positions, as SAM has it: queries score the rows and the columns that keys are
// away, by learned rows for each, in most layers in windows that zeros fill up.
//
// Tokens are the positions of a map, row by row.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"
stg.import "windows.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @WS "positions along each side of a window"
stg.symbol @OC "channels that a map is given with"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!map_heads = !stg.tensor<[B, _ = GY, _ = GX, H, E], bf16>
!row_scores = !stg.tensor<[B, H, _ = GY, _ = GX, _ = GY], bf16>
!column_scores = !stg.tensor<[B, H, _ = GY, _ = GX, _ = GX], bf16>
!map_scores = !stg.tensor<[B, H, _ = GY, _ = GX, _ = GY, _ = GX], bf16>
!scores = !stg.tensor<[B, H, S, _ = S], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!filled_rows = !stg.tensor<[B, _ = WS*ceildiv(GY, WS), _ = GX, D], bf16>
!filled = !stg.tensor<[B, _ = WS*ceildiv(GY, WS), _ = WS*ceildiv(GX, WS), D], bf16>
!filled_windows = !stg.tensor<[B = B*ceildiv(GY, WS)*ceildiv(GX, WS), S = WS*WS, D], bf16>
!windows = !stg.tensor<[B = B*GY*GX/(WS*WS), S = WS*WS, D], bf16>
!channels = !stg.tensor<[B, _ = GY, _ = GX, OC], bf16>
!channel = !stg.tensor<[OC], bf16>

// Of each query how far away a key is in rows, and in columns.
stg.block @map_scores(%q: !heads) -> !scores {
  %m = stg.rearrange "b(yx)he->byxhe" %q <"query_map"> : !heads -> !map_heads
  %th = stg.param "row_positions" : !stg.tensor<[_ = 2*GY - 1, E], bf16>
  %rh = stg.relative_bias %th <"row_distances"> : !stg.tensor<[_ = 2*GY - 1, E], bf16> -> !stg.tensor<[E, _ = GY, _ = GY], bf16>
  %sh = stg.einsum "byxhe,eyk->bhyxk" %m, %rh <"row_scores"> : !map_heads, !stg.tensor<[E, _ = GY, _ = GY], bf16>
  %tw = stg.param "column_positions" : !stg.tensor<[_ = 2*GX - 1, E], bf16>
  %rw = stg.relative_bias %tw <"column_distances"> : !stg.tensor<[_ = 2*GX - 1, E], bf16> -> !stg.tensor<[E, _ = GX, _ = GX], bf16>
  %sw = stg.einsum "byxhe,exk->bhyxk" %m, %rw <"column_scores"> : !map_heads, !stg.tensor<[E, _ = GX, _ = GX], bf16>
  %ah = stg.broadcast dim 5 %sh <"row_scores_of_columns"> : !row_scores -> !map_scores
  %aw = stg.rearrange "bhyxk->bhyx()k" %sw <"column_scores_of_rows"> : !column_scores -> !stg.tensor<[B, H, _ = GY, _ = GX, 1, _ = GX], bf16>
  %a = stg.add %ah, %aw <"map_scores"> : !map_scores, !stg.tensor<[B, H, _ = GY, _ = GX, 1, _ = GX], bf16>
  %y = stg.rearrange "bhyxij->bh(yx)(ij)" %a <"position_scores"> : !map_scores -> !scores
  stg.return %y : !scores
}

stg.block @map_attention(%x: !stream) -> !stream {
  %q, %k, %v = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %s = stg.call @map_scores(%q) : (!heads) -> !scores
  %a, %lse = stg.attention none %q, %k, %v, %s : !heads, !heads, !heads, !scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// Of scores by relative rows and columns, or of what queries and keys score alone.
stg.block @attention_of_map(%x: !stream) -> !stream {
  stg.option @map_scored : bool = true "scores by relative rows and columns"
  %y = stg.if @map_scored -> !stream {
    %a = stg.call @map_attention(%x) : (!stream) -> !stream
    stg.yield %a : !stream
  } else {
    %a = stg.call @attention(%x) {K as H, rotary = false, mask = "none"} : (!stream) -> !stream
    stg.yield %a : !stream
  }
  stg.return %y : !stream
}

// The same of each window of a map, whose rows and columns zeros fill up. Those have queries, keys
// and values, too.
stg.block @filled_window_attention(%x: !stream) -> !stream {
  %m = stg.rearrange "b(yx)d->byxd" %x <"map"> : !stream -> !map
  %r = stg.pad dim 1 %m {from = #sym.expr<0>} <"rows_filled_up"> : !map -> !filled_rows
  %f = stg.pad dim 2 %r {from = #sym.expr<0>} <"columns_filled_up"> : !filled_rows -> !filled
  %w = stg.rearrange "b(yi)(xj)d->(byx)(ij)d" %f <"windows"> : !filled -> !filled_windows
  %a = stg.call @attention_of_map(%w) {GY = WS, GX = WS} : (!filled_windows) -> !filled_windows
  %b = stg.rearrange "(byx)(ij)d->b(yi)(xj)d" %a <"window_map"> : !filled_windows -> !filled
  %u = stg.slice dim 1 %b {from = #sym.expr<0>} <"rows_alone"> : !filled -> !stg.tensor<[B, _ = GY, _ = WS*ceildiv(GX, WS), D], bf16>
  %c = stg.slice dim 2 %u {from = #sym.expr<0>} <"columns_alone"> : !stg.tensor<[B, _ = GY, _ = WS*ceildiv(GX, WS), D], bf16> -> !map
  %y = stg.rearrange "byxd->b(yx)d" %c <"tokens"> : !map -> !stream
  stg.return %y : !stream
}

// With their normalization and the residual stream.
stg.block @map_attention_layer(%x: !stream) -> !stream {
  stg.option @map_windows : "none" | "whole" | "filled" = "none" "tokens see all, or those of their window; zeros fill windows up that do not divide the map"
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.if @map_windows = "none" -> !stream {
    %z = stg.call @attention_of_map(%n) : (!stream) -> !stream
    stg.yield %z : !stream
  } else {
    %f = stg.if @map_windows = "filled" -> !stream {
      %z = stg.call @filled_window_attention(%n) : (!stream) -> !stream
      stg.yield %z : !stream
    } else {
      %w = stg.call @to_windows(%n) : (!stream) -> !windows
      %o = stg.call @attention_of_map(%w) {GY = WS, GX = WS} : (!windows) -> !windows
      %z = stg.call @from_windows(%o, %n) : (!windows, !stream) -> !stream
      stg.yield %z : !stream
    }
    stg.yield %f : !stream
  }
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// What a tower gives as a map: a matrix and a convolution without biases, each with a LayerNorm.
stg.block @map_neck(%x: !stream) -> !channels {
  %m = stg.rearrange "b(yx)d->byxd" %x <"map"> : !stream -> !map
  %w1 = stg.param "neck1" : !stg.tensor<[D, OC], bf16>
  %p1 = stg.einsum "byxd,do->byxo" %m, %w1 : !map, !stg.tensor<[D, OC], bf16>
  %nw1 = stg.param "neck1_norm.weight" : !channel
  %nb1 = stg.param "neck1_norm.bias" : !channel
  %n1, %mean1, %rstd1 = stg.layer_norm %p1, %nw1, %nb1 <"neck1_norm"> : !channels, !channel, !channel
  %w2 = stg.param "neck2" : !stg.tensor<[3, 3, OC, OC], bf16>
  %p2 = stg.conv %n1, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} <"neck2"> : !channels, !stg.tensor<[3, 3, OC, OC], bf16> -> !channels
  %nw2 = stg.param "neck2_norm.weight" : !channel
  %nb2 = stg.param "neck2_norm.bias" : !channel
  %n2, %mean2, %rstd2 = stg.layer_norm %p2, %nw2, %nb2 <"neck2_norm"> : !channels, !channel, !channel
  stg.return %n2 : !channels
}

// Two convolutions without biases, each of which makes one position of two along each side, and the
// positions that are left as tokens (GOT-OCR 2, DeepSeek-OCR).
stg.block @downsample_map(%x: !channels) -> !stg.tensor<[B, S, D], bf16> {
  %w1 = stg.param "downsample1" : !stg.tensor<[3, 3, OC, 2*OC], bf16>
  %c1 = stg.conv %x, %w1 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"downsample1"> : !channels, !stg.tensor<[3, 3, OC, 2*OC], bf16> -> !stg.tensor<[B, _ = ceildiv(GY, 2), _ = ceildiv(GX, 2), 2*OC], bf16>
  %w2 = stg.param "downsample2" : !stg.tensor<[3, 3, 2*OC, D], bf16>
  %c2 = stg.conv %c1, %w2 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} <"downsample2"> : !stg.tensor<[B, _ = ceildiv(GY, 2), _ = ceildiv(GX, 2), 2*OC], bf16>, !stg.tensor<[3, 3, 2*OC, D], bf16> -> !stg.tensor<[B, _ = ceildiv(ceildiv(GY, 2), 2), _ = ceildiv(ceildiv(GX, 2), 2), D], bf16>
  %f = stg.rearrange "byxd->b(yx)d" %c2 <"map_tokens"> : !stg.tensor<[B, _ = ceildiv(ceildiv(GY, 2), 2), _ = ceildiv(ceildiv(GX, 2), 2), D], bf16> -> !stg.tensor<[B, S, D], bf16>
  stg.return %f : !stg.tensor<[B, S, D], bf16>
}
