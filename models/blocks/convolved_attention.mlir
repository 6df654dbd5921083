// Attention whose queries, keys and values are made of windows of a map, of every second position for
// keys and values (CvT). Tokens are the positions, row by row; a token may stand in front of them.

stg.import "norm.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @S "tokens per image"
stg.symbol @T "keys"
stg.symbol @SI "positions before"
stg.symbol @CI "channels before"
stg.symbol @IY "rows of the map before"
stg.symbol @IX "columns of the map before"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"

!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!half_map = !stg.tensor<[B, _ = GY/2, _ = GX/2, D], bf16>
!positions = !stg.tensor<[B, S = GY*GX, D], bf16>
!half = !stg.tensor<[B, T = GY*GX/4, D], bf16>
!with_class = !stg.tensor<[B, S = GY*GX + 1, D], bf16>
!half_with_class = !stg.tensor<[B, T = GY*GX/4 + 1, D], bf16>
!first = !stg.tensor<[B, 1, D], bf16>
!stream = !stg.tensor<[B, S, D], bf16>
!keys = !stg.tensor<[B, T, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!key_heads = !stg.tensor<[B, T, H, E], bf16>
!biases = !stg.tensor<[H, E], bf16>
!vector = !stg.tensor<[D], bf16>

// A window of each channel, with a normalization over the batch: of all positions, or every second one.
stg.block @window_tokens(%x: !map) -> !positions {
  stg.option @name : string "of its parameters"
  %w = stg.param "{name}_conv" : !stg.tensor<[3, 3, 1, D], bf16>
  %c = stg.conv %x, %w {grouped, strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : !map, !stg.tensor<[3, 3, 1, D], bf16> -> !map
  %nw = stg.param "{name}_norm.weight" : !vector
  %nb = stg.param "{name}_norm.bias" : !vector
  %n = stg.batch_norm %c, %nw, %nb <"{name}_norm"> : !map, !vector, !vector
  %y = stg.rearrange "byxd->b(yx)d" %n <"{name}_tokens"> : !map -> !positions
  stg.return %y : !positions
}
stg.block @half_window_tokens(%x: !map) -> !half {
  stg.option @name : string "of its parameters"
  %w = stg.param "{name}_conv" : !stg.tensor<[3, 3, 1, D], bf16>
  %c = stg.conv %x, %w {grouped, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>} : !map, !stg.tensor<[3, 3, 1, D], bf16> -> !half_map
  %nw = stg.param "{name}_norm.weight" : !vector
  %nb = stg.param "{name}_norm.bias" : !vector
  %n = stg.batch_norm %c, %nw, %nb <"{name}_norm"> : !half_map, !vector, !vector
  %y = stg.rearrange "byxd->b(yx)d" %n <"{name}_tokens"> : !half_map -> !half
  stg.return %y : !half
}

// Heads of tokens.
stg.block @heads_of_tokens(%x: !stream) -> !heads {
  stg.option @name : string "of its parameters"
  stg.option @heads_bias : bool = true "biases of queries, keys and values"
  %w = stg.param "{name}_proj" : !stg.tensor<[D, H, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, H, E], bf16>
  %y = stg.if @heads_bias -> !heads {
    %b = stg.param "{name}_bias" : !biases
    %z = stg.bias_add %p, %b : !heads, !biases
    stg.yield %z : !heads
  } else {
    stg.yield %p : !heads
  }
  stg.return %y : !heads
}
stg.block @heads_of_keys(%x: !keys) -> !key_heads {
  stg.option @name : string "of its parameters"
  stg.option @heads_bias : bool = true "biases of queries, keys and values"
  %w = stg.param "{name}_proj" : !stg.tensor<[D, H, E], bf16>
  %p = stg.einsum "btd,dhe->bthe" %x, %w : !keys, !stg.tensor<[D, H, E], bf16>
  %y = stg.if @heads_bias -> !key_heads {
    %b = stg.param "{name}_bias" : !biases
    %z = stg.bias_add %p, %b : !key_heads, !biases
    stg.yield %z : !key_heads
  } else {
    stg.yield %p : !key_heads
  }
  stg.return %y : !key_heads
}

stg.block @attend_to_windows(%q: !stream, %k: !keys, %v: !keys) -> !stream {
  %qh = stg.call @heads_of_tokens(%q) {name = "q"} : (!stream) -> !heads
  %kh = stg.call @heads_of_keys(%k) {name = "k"} : (!keys) -> !key_heads
  %vh = stg.call @heads_of_keys(%v) {name = "v"} : (!keys) -> !key_heads
  %a, %lse = stg.attention none %qh, %kh, %vh : !heads, !key_heads, !key_heads
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %b = stg.param "o_bias" : !vector
  %y = stg.bias_add %o, %b : !stream, !vector
  stg.return %y : !stream
}

stg.block @convolved_attention_layer(%x: !positions) -> !positions {
  %n = stg.call @before(%x) {part = "attention"} : (!positions) -> !positions
  %m = stg.rearrange "b(yx)d->byxd" %n <"map"> : !positions -> !map
  %k = stg.call @half_window_tokens(%m) {name = "k"} : (!map) -> !half
  %q = stg.call @window_tokens(%m) {name = "q"} : (!map) -> !positions
  %v = stg.call @half_window_tokens(%m) {name = "v"} : (!map) -> !half
  %a = stg.call @attend_to_windows(%q, %k, %v) : (!positions, !half, !half) -> !positions
  %y = stg.call @after(%x, %a) {part = "attention"} : (!positions, !positions) -> !positions
  stg.return %y : !positions
}

// The token in front is in no window, but a query, a key and a value as others.
stg.block @convolved_attention_with_class_layer(%x: !with_class) -> !with_class {
  %n = stg.call @before(%x) {part = "attention"} : (!with_class) -> !with_class
  %c, %p = stg.split dim 1 ordered %n <"class_and_positions"> : !with_class -> !first, !positions
  %m = stg.rearrange "b(yx)d->byxd" %p <"map"> : !positions -> !map
  %k0 = stg.call @half_window_tokens(%m) {name = "k"} : (!map) -> !half
  %q0 = stg.call @window_tokens(%m) {name = "q"} : (!map) -> !positions
  %v0 = stg.call @half_window_tokens(%m) {name = "v"} : (!map) -> !half
  %q = stg.concat dim 1 ordered %c, %q0 <"q_with_class"> : !first, !positions -> !with_class
  %k = stg.concat dim 1 ordered %c, %k0 <"k_with_class"> : !first, !half -> !half_with_class
  %v = stg.concat dim 1 ordered %c, %v0 <"v_with_class"> : !first, !half -> !half_with_class
  %a = stg.call @attend_to_windows(%q, %k, %v) : (!with_class, !half_with_class, !half_with_class) -> !with_class
  %y = stg.call @after(%x, %a) {part = "attention"} : (!with_class, !with_class) -> !with_class
  stg.return %y : !with_class
}

// The token in front, normalized, as the row of an image.
stg.block @row_of_class(%x: !with_class) -> !stg.tensor<[B, D], bf16> {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"class_token"> : !with_class -> !first
  %w = stg.param "last_norm.weight" : !vector
  %b = stg.param "last_norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %f, %w, %b <"last_norm"> : !first, !vector, !vector
  %y = stg.rearrange "b()d->bd" %n <"class_row"> : !first -> !stg.tensor<[B, D], bf16>
  stg.return %y : !stg.tensor<[B, D], bf16>
}
