// Layers of maps: a window of each channel before a network, and attention in which one sum of all queries
// meets each key (SwiftFormer).
//
// A map is [batch, rows, columns, channels].

stg.import "efficient.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @D "channels of a map"
stg.symbol @F "feed-forward size"
stg.symbol @Y = 2 "classes"

!map = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!hidden = !stg.tensor<[B, _ = GY, _ = GX, F], bf16>
!tokens = !stg.tensor<[B, S = GY*GX, D], bf16>
!scores = !stg.tensor<[B, S = GY*GX, 1], bf16>
!wide_scores = !stg.tensor<[B, S = GY*GX, 1], f32>
!row = !stg.tensor<[B, D], bf16>
!vector = !stg.tensor<[D], bf16>
!square = !stg.tensor<[D, D], bf16>
!logits = !stg.tensor<[B, Y], bf16>

// Two matrices of each position, times a learned number of each channel, and the map.
stg.block @network_of_positions(%x: !map, %n: !map) -> !map {
  stg.option @part : string "name of the part of the layer"
  stg.option @part_scaled : bool = true "a learned number of each channel of a part"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the network"
  %w1 = stg.param "{part}1" : !stg.tensor<[D, F], bf16>
  %p1 = stg.einsum "byxd,df->byxf" %n, %w1 : !map, !stg.tensor<[D, F], bf16>
  %b1 = stg.param "{part}1_bias" : !stg.tensor<[F], bf16>
  %o1 = stg.bias_add %p1, %b1 : !hidden, !stg.tensor<[F], bf16>
  %a = stg.activation gelu %o1 {stg.options = {function = "activation"}} <"{part}_{activation}"> : !hidden
  %w2 = stg.param "{part}2" : !stg.tensor<[F, D], bf16>
  %p2 = stg.einsum "byxf,fd->byxd" %a, %w2 : !hidden, !stg.tensor<[F, D], bf16>
  %b2 = stg.param "{part}2_bias" : !vector
  %o2 = stg.bias_add %p2, %b2 : !map, !vector
  %s = stg.if @part_scaled -> !map {
    %w = stg.param "{part}_scale" : !vector
    %z = stg.mul_along %o2, %w {dims = array<i64: 3>} <"{part}_scaled"> : !map, !vector
    stg.yield %z : !map
  } else {
    stg.yield %o2 : !map
  }
  %y = stg.add %x, %s <"{part}_residual"> : !map, !map
  stg.return %y : !map
}

// A window of each channel, and a network.
stg.block @window_network_layer(%x: !map) -> !map {
  %c = stg.call @window_of_channels(%x) {window_bias = true, activated = false} : (!map) -> !map
  %y = stg.call @network_of_positions(%x, %c) {part = "conv_network", part_scaled = true, activation = "gelu"} : (!map, !map) -> !map
  stg.return %y : !map
}

// Queries and keys of one length, a score of each query, and their sum.
stg.block @additive_attention_layer(%x: !map) -> !map {
  stg.option @part_scaled : bool = true "a learned number of each channel of a part"
  %t = stg.rearrange "byxd->b(yx)d" %x <"tokens"> : !map -> !tokens
  %wq = stg.param "q_proj" : !square
  %pq = stg.einsum "bsd,de->bse" %t, %wq : !tokens, !square
  %bq = stg.param "q_bias" : !vector
  %oq = stg.bias_add %pq, %bq : !tokens, !vector
  %wk = stg.param "k_proj" : !square
  %pk = stg.einsum "bsd,de->bse" %t, %wk : !tokens, !square
  %bk = stg.param "k_bias" : !vector
  %ok = stg.bias_add %pk, %bk : !tokens, !vector
  %q, %rq = stg.rms_norm %oq <"unit_q"> : !tokens
  %k, %rk = stg.rms_norm %ok <"unit_k"> : !tokens
  %wg = stg.param "score_proj" : !stg.tensor<[D, 1], bf16>
  %s = stg.einsum "bsd,di->bsi" %q, %wg : !tokens, !stg.tensor<[D, 1], bf16>
  // No trace has the value of the constant.
  %c = stg.splat 1 : !scores
  %sc = stg.mul %s, %c <"scores_scaled"> : !scores, !scores
  %f = stg.softmax %sc <"softmax"> : !scores
  %l = stg.cast %f <"softmax"> : !wide_scores -> !scores
  %m = stg.mul %q, %l <"weighted_queries"> : !tokens, !scores
  %g = stg.sum dim 1 %m <"sum_of_queries"> : !tokens
  %kg = stg.mul_along %k, %g {dims = array<i64: 0, 2>} <"keys_scaled"> : !tokens, !row
  %wp = stg.param "meet_proj" : !square
  %pp = stg.einsum "bsd,de->bse" %kg, %wp : !tokens, !square
  %bp = stg.param "meet_bias" : !vector
  %op = stg.bias_add %pp, %bp : !tokens, !vector
  %r = stg.add %op, %q <"meet_residual"> : !tokens, !tokens
  %wo = stg.param "o_proj" : !square
  %po = stg.einsum "bsd,de->bse" %r, %wo : !tokens, !square
  %bo = stg.param "o_bias" : !vector
  %oo = stg.bias_add %po, %bo : !tokens, !vector
  %u = stg.rearrange "b(yx)d->byxd" %oo <"map"> : !tokens -> !map
  %v = stg.if @part_scaled -> !map {
    %w = stg.param "attention_scale" : !vector
    %z = stg.mul_along %u, %w {dims = array<i64: 3>} <"attention_scaled"> : !map, !vector
    stg.yield %z : !map
  } else {
    stg.yield %u : !map
  }
  %y = stg.add %x, %v <"attention_residual"> : !map, !map
  stg.return %y : !map
}

stg.block @normalized_network_layer(%x: !map) -> !map {
  %n = stg.call @normalized_map(%x) {name = "ffn_norm", activated = false} : (!map) -> !map
  %y = stg.call @network_of_positions(%x, %n) {part = "fc"} : (!map, !map) -> !map
  stg.return %y : !map
}

// A normalization over the batch, the mean of all positions, and two classifications, whose mean counts.
stg.block @mean_of_two_classes_loss(%x: !map, %class: !stg.tensor<[B], i32>) -> !stg.tensor<[B], f32> {
  %n = stg.call @normalized_map(%x) {name = "last_norm", activated = false} : (!map) -> !map
  %p = stg.rearrange "byxd->b(yx)d" %n <"positions"> : !map -> !tokens
  %m = stg.mean dim 1 %p <"mean_of_positions"> : !tokens
  %w1 = stg.param "classifier" : !stg.tensor<[D, Y], bf16>
  %p1 = stg.einsum "bd,dk->bk" %m, %w1 : !row, !stg.tensor<[D, Y], bf16>
  %b1 = stg.param "classifier_bias" : !stg.tensor<[Y], bf16>
  %o1 = stg.bias_add %p1, %b1 : !logits, !stg.tensor<[Y], bf16>
  %w2 = stg.param "distillation_classifier" : !stg.tensor<[D, Y], bf16>
  %p2 = stg.einsum "bd,dk->bk" %m, %w2 : !row, !stg.tensor<[D, Y], bf16>
  %b2 = stg.param "distillation_classifier_bias" : !stg.tensor<[Y], bf16>
  %o2 = stg.bias_add %p2, %b2 : !logits, !stg.tensor<[Y], bf16>
  %s = stg.add %o1, %o2 <"both_classes"> : !logits, !logits
  %c = stg.splat 1/2 : !logits
  %h = stg.mul %s, %c <"mean_of_classes"> : !logits, !logits
  %loss, %probs = stg.cross_entropy %h, %class <"class_loss"> : !logits, !stg.tensor<[B], i32>
  stg.return %loss : !stg.tensor<[B], f32>
}
