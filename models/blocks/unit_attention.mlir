// Tokens in an order in which those of a unit of a map follow one another, and in a unit those of each
// square of two by two, so that a maximum over four of them leaves the order of what is left, and
// attention within units needs no copy (Hiera).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @S "tokens per image"
stg.symbol @D "hidden size"
stg.symbol @CI "channels before"
stg.symbol @IY "rows of an image"
stg.symbol @IX "columns of an image"
stg.symbol @GY "rows of units"
stg.symbol @GX "columns of units"
stg.symbol @PS "pixels along each side of a patch"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @WT "tokens of a unit"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!image = !stg.tensor<[B, _ = IY, _ = IX, CI], bf16>
!map = !stg.tensor<[B, _ = 8*GY, _ = 8*GX, D], bf16>
!positions = !stg.tensor<[B, S = 64*GY*GX, D], bf16>
!squares = !stg.tensor<[B, _ = GY, _ = 2, _ = 2, _ = 2, _ = GX, _ = 2, _ = 2, _ = 2, D], bf16>
!before = !stg.tensor<[B, S = 4*S, CI], bf16>
!wider = !stg.tensor<[B, S = 4*S, D], bf16>
!wider_heads = !stg.tensor<[B, S = 4*S, H, E], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!units = !stg.tensor<[B = B*S/WT, S = WT, D], bf16>
!unit_queries = !stg.tensor<[B = 4*B*S/WT, S = WT/4, H, E], bf16>
!unit_keys = !stg.tensor<[B = 4*B*S/WT, S = WT, H, E], bf16>

// Patches of an image that overlap, row by row.
stg.block @overlapping_patches(%x: !image) -> !positions {
  stg.option @steps : string = "4,4" "from a patch to the next one: rows, columns"
  stg.option @margin : string = "3,3" "zeros around an image"
  %w = stg.param "patch_conv" : !stg.tensor<[_ = PS, _ = PS, CI, D], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 4, 4>, padding = array<i64: 3, 3>, stg.options = {strides = "steps", padding = "margin"}} : !image, !stg.tensor<[_ = PS, _ = PS, CI, D], bf16> -> !map
  %b = stg.param "patch_bias" : !vector
  %y = stg.bias_add %c, %b : !map, !vector
  %t = stg.rearrange "byxd->b(yx)d" %y <"patches"> : !map -> !positions
  stg.return %t : !positions
}

// Units of eight by eight positions, squares in squares.
stg.block @to_units(%x: !positions) -> !positions {
  %m = stg.rearrange "b(yijkxlmn)d->byijkxlmnd" %x <"squares"> : !positions -> !squares
  %y = stg.rearrange "byijkxlmnd->b(yxiljmkn)d" %m <"units"> : !squares -> !positions
  stg.return %y : !positions
}

// Attention of all tokens, or of those of each unit.
stg.block @unit_attention_layer(%x: !stream) -> !stream {
  stg.option @in_units : bool = true "tokens see those of their unit"
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.if @in_units -> !stream {
    %u = stg.rearrange "b(nk)d->(bn)kd" %n <"in_units"> : !stream -> !units
    %s = stg.call @attention(%u) {K as H, rotary = false, mask = "none"} : (!units) -> !units
    %j = stg.rearrange "(bn)kd->b(nk)d" %s <"units_joined"> : !units -> !stream
    stg.yield %j : !stream
  } else {
    %s = stg.call @attention(%n) {K as H, rotary = false, mask = "none"} : (!stream) -> !stream
    stg.yield %s : !stream
  }
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Of each square one query, and one token of the stream, the maximum of what matrices make of its four
// tokens, in another width.
stg.block @pooled_attention_layer(%x: !before) -> !stream {
  stg.option @in_units : bool = true "tokens see those of their unit"
  %wn = stg.param "attention_norm.weight" : !stg.tensor<[CI], bf16>
  %bn = stg.param "attention_norm.bias" : !stg.tensor<[CI], bf16>
  %n, %mean, %rstd = stg.layer_norm %x, %wn, %bn <"attention_norm"> : !before, !stg.tensor<[CI], bf16>, !stg.tensor<[CI], bf16>
  %wr = stg.param "widen" : !stg.tensor<[CI, D], bf16>
  %pr = stg.einsum "bsc,cd->bsd" %n, %wr : !before, !stg.tensor<[CI, D], bf16>
  %br = stg.param "widen_bias" : !vector
  %r = stg.bias_add %pr, %br : !wider, !vector
  %m = stg.pool max %r {window = array<i64: 4>, strides = array<i64: 4>, padding = array<i64: 0>} <"square_maximum"> : !wider -> !stream
  %wq = stg.param "qkv_proj" : !stg.tensor<[CI, 3*H, E], bf16>
  %pq = stg.einsum "bsc,che->bshe" %n, %wq : !before, !stg.tensor<[CI, 3*H, E], bf16>
  %bq = stg.param "qkv_bias" : !stg.tensor<[3*H, E], bf16>
  %qkv = stg.bias_add %pq, %bq : !stg.tensor<[B, S = 4*S, 3*H, E], bf16>, !stg.tensor<[3*H, E], bf16>
  %q4, %k, %v = stg.split dim 2 %qkv : !stg.tensor<[B, S = 4*S, 3*H, E], bf16> -> !wider_heads, !wider_heads, !wider_heads
  %q = stg.pool max %q4 {window = array<i64: 4, 1>, strides = array<i64: 4, 1>, padding = array<i64: 0, 0>} <"query_maximum"> : !wider_heads -> !heads
  %a = stg.if @in_units -> !heads {
    %qu = stg.rearrange "b(nk)he->(bn)khe" %q <"queries_in_units"> : !heads -> !unit_queries
    %ku = stg.rearrange "b(nk)he->(bn)khe" %k <"keys_in_units"> : !wider_heads -> !unit_keys
    %vu = stg.rearrange "b(nk)he->(bn)khe" %v <"values_in_units"> : !wider_heads -> !unit_keys
    %u, %lse = stg.attention none %qu, %ku, %vu : !unit_queries, !unit_keys, !unit_keys
    %j = stg.rearrange "(bn)khe->b(nk)he" %u <"units_joined"> : !unit_queries -> !heads
    stg.yield %j : !heads
  } else {
    %u, %lse = stg.attention none %q, %k, %v : !heads, !wider_heads, !wider_heads
    stg.yield %u : !heads
  }
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %b = stg.call @output_bias(%o) {o_bias = true} : (!stream) -> !stream
  %y = stg.add %m, %b <"attention_residual"> : !stream, !stream
  stg.return %y : !stream
}
