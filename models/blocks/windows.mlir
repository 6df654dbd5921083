// Windows of a map of positions: the tokens of a square see each other, whatever the map is (Swin).
//
// Tokens are the positions of a map, row by row. Where windows are shifted, the first rows and
// columns move behind the last ones, which a copy does that cuts windows anyway. A window then has
// tokens that do not see each other: a kernel computes their scores and hides them, so all windows
// cost the same.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @WS "positions along each side of a window"
stg.symbol @WH "positions by which windows are shifted"
stg.symbol @N "relative positions in a window"
stg.symbol @NW = 512 "width of the network that makes a bias by position"

!stream = !stg.tensor<[B, S, D], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!first_rows = !stg.tensor<[B, _ = WH, _ = GX, D], bf16>
!other_rows = !stg.tensor<[B, _ = GY - WH, _ = GX, D], bf16>
!first_columns = !stg.tensor<[B, _ = GY, _ = WH, D], bf16>
!other_columns = !stg.tensor<[B, _ = GY, _ = GX - WH, D], bf16>
!windows = !stg.tensor<[B = B*GY*GX/(WS*WS), S = WS*WS, D], bf16>
!window_scores = !stg.tensor<[H, S = WS*WS, _ = WS*WS], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!scores = !stg.tensor<[H, S, _ = S], bf16>

// A row of tokens for each window of each map.
stg.block @to_windows(%x: !stream) -> !windows {
  stg.option @shifted : bool = false "windows begin WH rows and columns later"
  %m = stg.rearrange "b(yx)d->byxd" %x <"map"> : !stream -> !map
  %s = stg.if @shifted -> !map {
    %top, %below = stg.split dim 1 ordered %m <"first_rows"> : !map -> !first_rows, !other_rows
    %v = stg.concat dim 1 ordered %below, %top <"shifted_rows"> : !other_rows, !first_rows -> !map
    %left, %right = stg.split dim 2 ordered %v <"first_columns"> : !map -> !first_columns, !other_columns
    %h = stg.concat dim 2 ordered %right, %left <"shifted_columns"> : !other_columns, !first_columns -> !map
    stg.yield %h : !map
  } else {
    stg.yield %m : !map
  }
  %w = stg.rearrange "b(yi)(xj)d->(byx)(ij)d" %s <"windows"> : !map -> !windows
  stg.return %w : !windows
}

// The map of its windows.
stg.block @from_windows(%w: !windows, %like: !stream) -> !stream {
  stg.option @shifted : bool = false "windows begin WH rows and columns later"
  %m = stg.rearrange "(byx)(ij)d->b(yi)(xj)d" %w <"window_map"> : !windows -> !map
  %s = stg.if @shifted -> !map {
    %right, %left = stg.split dim 2 ordered %m <"last_columns"> : !map -> !other_columns, !first_columns
    %h = stg.concat dim 2 ordered %left, %right <"columns_in_order"> : !first_columns, !other_columns -> !map
    %below, %top = stg.split dim 1 ordered %h <"last_rows"> : !map -> !other_rows, !first_rows
    %v = stg.concat dim 1 ordered %top, %below <"rows_in_order"> : !first_rows, !other_rows -> !map
    stg.yield %v : !map
  } else {
    stg.yield %m : !map
  }
  %y = stg.rearrange "byxd->b(yx)d" %s <"tokens"> : !map -> !stream
  stg.return %y : !stream
}

// A bias of scores that a network makes of how far apart positions are, in rows and in columns,
// between 0 and a constant.
stg.block @network_bias() -> !scores {
  // No trace has the values of constants.
  %c = stg.splat 1 : !stg.tensor<[N, 2], bf16>
  %w1 = stg.param "position_network.up" : !stg.tensor<[2, NW], bf16>
  %p = stg.einsum "nc,cw->nw" %c, %w1 : !stg.tensor<[N, 2], bf16>, !stg.tensor<[2, NW], bf16>
  %b1 = stg.param "position_network.bias" : !stg.tensor<[NW], bf16>
  %u = stg.bias_add %p, %b1 : !stg.tensor<[N, NW], bf16>, !stg.tensor<[NW], bf16>
  %a = stg.activation relu %u <"position_relu"> : !stg.tensor<[N, NW], bf16>
  %w2 = stg.param "position_network.down" : !stg.tensor<[NW, H], bf16>
  %t = stg.einsum "nw,wh->nh" %a, %w2 : !stg.tensor<[N, NW], bf16>, !stg.tensor<[NW, H], bf16>
  %b = stg.relative_bias %t <"position_bias"> : !stg.tensor<[N, H], bf16> -> !scores
  %g = stg.activation sigmoid %b <"position_sigmoid"> : !scores
  %k = stg.splat 1 : !scores
  %y = stg.mul %g, %k <"position_bias_scale"> : !scores, !scores
  stg.return %y : !scores
}

// Attention whose scores are cosines of queries and keys, times a learned number of each head.
stg.block @cosine_attention(%x: !stream, %bias: !scores) -> !stream {
  %q, %k, %v = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %nq, %rq = stg.rms_norm %q <"unit_q"> : !heads
  %nk, %rk = stg.rms_norm %k <"unit_k"> : !heads
  %l = stg.param "score_scale" : !stg.tensor<[H], bf16>
  %c = stg.clamp %l <"score_scale_limit"> : !stg.tensor<[H], bf16>
  %e = stg.elementwise exp %c <"score_scale_exp"> : !stg.tensor<[H], bf16>
  %sq = stg.mul_along %nq, %e {dims = array<i64: 2>} <"scaled_q"> : !heads, !stg.tensor<[H], bf16>
  %a, %lse = stg.attention none %sq, %nk, %v, %bias : !heads, !heads, !heads, !scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// Attention in windows, with a bias by relative position that a table has, or a network makes.
stg.block @window_attention(%x: !stream) -> !stream {
  stg.option @cosine : bool = false "scores are cosines, and a network makes their bias"
  %w = stg.call @to_windows(%x) : (!stream) -> !windows
  %a = stg.if @cosine -> !windows {
    %b = stg.call @network_bias() {S = WS*WS, N = 4*WS*WS - 4*WS + 1} : () -> !window_scores
    %y = stg.call @cosine_attention(%w, %b) : (!windows, !window_scores) -> !windows
    stg.yield %y : !windows
  } else {
    %b = stg.call @relative_bias() {S = WS*WS, N = 4*WS*WS - 4*WS + 1} : () -> !window_scores
    %y = stg.call @biased_attention(%w, %b) {K as H, mask = "none"} : (!windows, !window_scores) -> !windows
    stg.yield %y : !windows
  }
  %m = stg.call @from_windows(%a, %x) : (!windows, !stream) -> !stream
  stg.return %m : !stream
}

// With its normalization and the residual stream.
stg.block @window_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @window_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Squares of 2 x 2 positions become one, twice as wide, with a LayerNorm before or behind that.
stg.block @merge_positions(%x: !stream) -> !stg.tensor<[B, S = S/4, D = 2*D], bf16> {
  stg.option @norm_behind : bool = false "a normalization behind the matrix that joins positions, not before it"
  %m = stg.rearrange "b(yx)d->byxd" %x <"map"> : !stream -> !map
  %r = stg.rearrange "b(yi)(xj)d->b(yx)(jid)" %m <"squares"> : !map -> !stg.tensor<[B, S = S/4, _ = 4*D], bf16>
  %n = stg.if @norm_behind -> !stg.tensor<[B, S = S/4, _ = 4*D], bf16> {
    stg.yield %r : !stg.tensor<[B, S = S/4, _ = 4*D], bf16>
  } else {
    %wn = stg.param "norm.weight" : !stg.tensor<[_ = 4*D], bf16>
    %bn = stg.param "norm.bias" : !stg.tensor<[_ = 4*D], bf16>
    %l, %mean, %rstd = stg.layer_norm %r, %wn, %bn <"norm"> : !stg.tensor<[B, S = S/4, _ = 4*D], bf16>, !stg.tensor<[_ = 4*D], bf16>, !stg.tensor<[_ = 4*D], bf16>
    stg.yield %l : !stg.tensor<[B, S = S/4, _ = 4*D], bf16>
  }
  %w = stg.param "join" : !stg.tensor<[_ = 4*D, D = 2*D], bf16>
  %p = stg.einsum "bse,ed->bsd" %n, %w : !stg.tensor<[B, S = S/4, _ = 4*D], bf16>, !stg.tensor<[_ = 4*D, D = 2*D], bf16>
  %y = stg.if @norm_behind -> !stg.tensor<[B, S = S/4, D = 2*D], bf16> {
    %wn = stg.param "norm.weight" : !stg.tensor<[D = 2*D], bf16>
    %bn = stg.param "norm.bias" : !stg.tensor<[D = 2*D], bf16>
    %l, %mean, %rstd = stg.layer_norm %p, %wn, %bn <"norm"> : !stg.tensor<[B, S = S/4, D = 2*D], bf16>, !stg.tensor<[D = 2*D], bf16>, !stg.tensor<[D = 2*D], bf16>
    stg.yield %l : !stg.tensor<[B, S = S/4, D = 2*D], bf16>
  } else {
    stg.yield %p : !stg.tensor<[B, S = S/4, D = 2*D], bf16>
  }
  stg.return %y : !stg.tensor<[B, S = S/4, D = 2*D], bf16>
}
