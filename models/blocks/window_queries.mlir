// Learned queries of each window of a map, of half as many positions along each side, that read the
// window's positions: what the text adds to the tokens of an image (Granite 4 Vision).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"
stg.import "windows.mlir"

stg.symbol @B "maps in the global batch"
stg.symbol @S "positions of a map"
stg.symbol @D "hidden size of the tower"
stg.symbol @DT "hidden size of the text"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @QS "queries along each side of a window"
stg.symbol @TT "tokens that become of a map"
stg.symbol @H "heads of the queries"
stg.symbol @E "head size of the queries"
stg.symbol @F "feed-forward size of the queries"
stg.symbol @IM = 1 "images per sequence"
stg.symbol @IT "tokens of an image"

!stream = !stg.tensor<[B, S, D], bf16>
!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!squares = !stg.tensor<[B, _ = GY/2, _ = 2, _ = GX/2, _ = 2, D], bf16>
!rows = !stg.tensor<[B, _ = GY/2, 1, _ = GX/2, _ = 2, D], bf16>
!corners = !stg.tensor<[B, _ = GY/2, 1, _ = GX/2, 1, D], bf16>
!half_map = !stg.tensor<[B, _ = GY/2, _ = GX/2, D], bf16>
!half = !stg.tensor<[B, S = GY*GX/4, D], bf16>
!windows = !stg.tensor<[B = B*GY*GX/(4*QS*QS), S = 4*QS*QS, D], bf16>
!queries = !stg.tensor<[B = B*GY*GX/(4*QS*QS), S = QS*QS, D], bf16>
!tokens = !stg.tensor<[B, TT, DT], bf16>

// One of each square of two by two positions, or their mean.
stg.block @half_of_map(%x: !stream) -> !half {
  stg.option @square : "mean" | "top_left" | "top_right" | "bottom_left" | "bottom_right" = "mean" "what becomes of two by two positions"
  %m = stg.rearrange "b(yx)d->byxd" %x <"map"> : !stream -> !map
  %h = stg.if @square = "mean" -> !half_map {
    %p = stg.pool mean %m {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} <"square_means"> : !map -> !half_map
    stg.yield %p : !half_map
  } else {
    %q = stg.rearrange "b(yi)(xj)d->byixjd" %m <"squares"> : !map -> !squares
    %r = stg.if @square = "top_left" | "top_right" -> !rows {
      %t = stg.slice dim 2 %q {from = #sym.expr<0>} <"square_rows"> : !squares -> !rows
      stg.yield %t : !rows
    } else {
      %t = stg.slice dim 2 %q {from = #sym.expr<1>} <"square_rows"> : !squares -> !rows
      stg.yield %t : !rows
    }
    %c = stg.if @square = "top_left" | "bottom_left" -> !corners {
      %t = stg.slice dim 4 %r {from = #sym.expr<0>} <"square_corners"> : !rows -> !corners
      stg.yield %t : !corners
    } else {
      %t = stg.slice dim 4 %r {from = #sym.expr<1>} <"square_corners"> : !rows -> !corners
      stg.yield %t : !corners
    }
    %p = stg.rearrange "by()x()d->byxd" %c <"corners"> : !corners -> !half_map
    stg.yield %p : !half_map
  }
  %y = stg.rearrange "byxd->b(yx)d" %h <"half_of_map"> : !half_map -> !half
  stg.return %y : !half
}

// Queries are learned rows and what is left of the map; positions of a window have learned rows, too.
stg.block @window_queries(%x: !stream) -> !tokens {
  %n = stg.call @norm(%x) {norm = "layer"} : (!stream) -> !stream
  %w = stg.call @to_windows(%n) {WS = 2*QS} : (!stream) -> !windows
  %pw = stg.param "window_positions" : !stg.tensor<[S = 4*QS*QS, D], bf16>
  %r = stg.bias_add %w, %pw <"placed_windows"> : !windows, !stg.tensor<[S = 4*QS*QS, D], bf16>
  %h = stg.call @half_of_map(%n) : (!stream) -> !half
  %hw = stg.call @to_windows(%h) {GY = GY/2, GX = GX/2, WS = QS} : (!half) -> !queries
  %pq = stg.param "queries" : !stg.tensor<[S = QS*QS, D], bf16>
  %q = stg.bias_add %hw, %pq <"window_queries"> : !queries, !stg.tensor<[S = QS*QS, D], bf16>
  %qn = stg.call @norm(%q) {name = "query_norm", norm = "layer"} : (!queries) -> !queries
  %a = stg.call @attention_layer(%qn) {K as H, norm = "layer", placement = "sum", qkv_bias = true, o_bias = true, rotary = false, mask = "none"} : (!queries) -> !queries
  %c = stg.call @cross_attention_layer(%a, %r) {K as H, norm = "layer", placement = "sum", qkv_bias = true, o_bias = true} : (!queries, !windows) -> !queries
  %f = stg.call @feed_forward_layer(%c) {norm = "layer", placement = "sum", gated = false, ffn_bias = true} : (!queries) -> !queries
  %o = stg.call @from_windows(%f, %h) {GY = GY/2, GX = GX/2, WS = QS} : (!queries, !half) -> !half
  %t = stg.rearrange "b(nk)d->bn(kd)" %o <"answers"> : !half -> !stg.tensor<[B, TT, D], bf16>
  %wp = stg.param "answer_proj" : !stg.tensor<[D, DT], bf16>
  %p = stg.einsum "btd,de->bte" %t, %wp : !stg.tensor<[B, TT, D], bf16>, !stg.tensor<[D, DT], bf16>
  %b = stg.param "answer_bias" : !stg.tensor<[DT], bf16>
  %y = stg.bias_add %p, %b : !tokens, !stg.tensor<[DT], bf16>
  stg.return %y : !tokens
}

// Zeros in the places of an image's tokens, before a text.
stg.block @before_text(%text: !stg.tensor<[B, S = S - IM*IT, D], bf16>) -> !stream {
  %z = stg.splat 0 : !stg.tensor<[B, S = IM*IT, D], bf16>
  %y = stg.concat dim 1 ordered %z, %text <"places_and_text"> : !stg.tensor<[B, S = IM*IT, D], bf16>, !stg.tensor<[B, S = S - IM*IT, D], bf16> -> !stream
  stg.return %y : !stream
}
