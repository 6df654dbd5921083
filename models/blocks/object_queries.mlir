// Learned queries that find objects in the map that a residual network gives (DETR). Positions are
// added to what queries and keys are made of in each layer, and not to what values are.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @S "queries, or positions of a map"
stg.symbol @T "positions of the map that queries read"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @IY "rows of the map"
stg.symbol @IX "columns of the map"
stg.symbol @CI "channels of the map"

!stream = !stg.tensor<[B, S, D], bf16>
!map = !stg.tensor<[B, S = IY*IX, D], bf16>
!read = !stg.tensor<[B, T, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!read_heads = !stg.tensor<[B, T, H, E], bf16>
!vector = !stg.tensor<[D], bf16>

// The positions of a map, row by row, in the width of the layers.
stg.block @project_map(%x: !stg.tensor<[B, IY, IX, CI], bf16>) -> !map {
  %r = stg.rearrange "byxc->b(yx)c" %x <"map_positions"> : !stg.tensor<[B, IY, IX, CI], bf16> -> !stg.tensor<[B, S = IY*IX, CI], bf16>
  %w = stg.param "map_proj" : !stg.tensor<[CI, D], bf16>
  %p = stg.einsum "bsc,cd->bsd" %r, %w : !stg.tensor<[B, S = IY*IX, CI], bf16>, !stg.tensor<[CI, D], bf16>
  %b = stg.param "map_bias" : !vector
  %y = stg.bias_add %p, %b : !map, !vector
  stg.return %y : !map
}

// What a query looks for, the same for all images, and what it has found before the first layer.
stg.block @query_positions() -> !stream {
  %w = stg.param "query_positions" : !stg.tensor<[S, D], bf16>
  %y = stg.broadcast dim 0 %w <"query_positions"> : !stg.tensor<[S, D], bf16> -> !stream
  stg.return %y : !stream
}
stg.block @nothing_found() -> !stream {
  %y = stg.splat 0 : !stream
  stg.return %y : !stream
}

// The output of all heads.
stg.block @heads_output(%a: !heads) -> !stream {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %w = stg.param "{prefix}o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %w : !heads, !stg.tensor<[H, E, D], bf16>
  %b = stg.param "{prefix}o_bias" : !vector
  %y = stg.bias_add %o, %b : !stream, !vector
  stg.return %y : !stream
}

// Attention whose queries and keys are made of tokens and of their positions.
stg.block @positioned_attention(%x: !stream, %p: !stream) -> !stream {
  %s = stg.add %x, %p <"with_positions"> : !stream, !stream
  %q = stg.call @key_heads(%s) {name = "q", K as H, qkv_bias = true} : (!stream) -> !heads
  %k = stg.call @key_heads(%s) {name = "k", K as H, qkv_bias = true} : (!stream) -> !heads
  %v = stg.call @key_heads(%x) {name = "v", K as H, qkv_bias = true} : (!stream) -> !heads
  %a, %lse = stg.attention none %q, %k, %v : !heads, !heads, !heads
  %y = stg.call @heads_output(%a) : (!heads) -> !stream
  stg.return %y : !stream
}

// Of the positions of a map, which are fixed, and of queries, with their normalization and the
// residual stream.
stg.block @fixed_map_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  // No trace has the values of constants.
  %c = stg.splat 1 : !stream
  %a = stg.call @positioned_attention(%n, %c) : (!stream, !stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
stg.block @query_attention_layer(%x: !stream, %p: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @positioned_attention(%n, %p) : (!stream, !stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// What queries read of the map.
stg.block @read_map_layer(%x: !stream, %p: !stream, %map: !read) -> !stream {
  %n = stg.call @before(%x) {part = "cross"} : (!stream) -> !stream
  %s = stg.add %n, %p <"cross_with_positions"> : !stream, !stream
  %c = stg.splat 1 : !read
  %m = stg.add %map, %c <"map_with_positions"> : !read, !read
  %q = stg.call @key_heads(%s) {name = "cross_q", K as H, qkv_bias = true} : (!stream) -> !heads
  %k = stg.call @key_heads(%m) {name = "cross_k", K as H, qkv_bias = true} : (!read) -> !read_heads
  %v = stg.call @key_heads(%map) {name = "cross_v", K as H, qkv_bias = true} : (!read) -> !read_heads
  %a, %lse = stg.attention none %q, %k, %v <"cross_attention"> : !heads, !read_heads, !read_heads
  %o = stg.call @heads_output(%a) {prefix = "cross_"} : (!heads) -> !stream
  %y = stg.call @after(%x, %o) {part = "cross"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
