// Maps of which every second position, or so, in rows and columns sees all others that are as far: the
// positions at one place of all squares are a sequence (MobileViT).
//
// A map is [batch, rows, columns, channels].

stg.import "efficient.mlir"

stg.symbol @B "images in the global batch"
stg.symbol @GY "rows of a map"
stg.symbol @GX "columns of a map"
stg.symbol @CI "channels of a map"
stg.symbol @D "hidden size"
stg.symbol @PS "positions along each side of a square"
stg.symbol @KS = 3 "positions along each side of a window"
stg.symbol @F "feed-forward size"

!map = !stg.tensor<[B, _ = GY, _ = GX, CI], bf16>
!both = !stg.tensor<[B, _ = GY, _ = GX, 2*CI], bf16>
!inner = !stg.tensor<[B, _ = GY, _ = GX, D], bf16>
!tokens = !stg.tensor<[B = B*PS*PS, S = GY*GX/(PS*PS), D], bf16>
!places = !stg.tensor<[B, _ = PS*PS, S = GY*GX/(PS*PS), D], bf16>
!scores = !stg.tensor<[B, _ = PS*PS, S = GY*GX/(PS*PS)], bf16>
!wide_scores = !stg.tensor<[B, _ = PS*PS, S = GY*GX/(PS*PS)], f32>
!one_score = !stg.tensor<[B, _ = PS*PS, S = GY*GX/(PS*PS), 1], bf16>
!all_three = !stg.tensor<[B, _ = PS*PS, S = GY*GX/(PS*PS), 2*D + 1], bf16>
!context = !stg.tensor<[B, _ = PS*PS, D], bf16>
!context_row = !stg.tensor<[B, _ = PS*PS, 1, D], bf16>
!hidden = !stg.tensor<[B, _ = PS*PS, S = GY*GX/(PS*PS), F], bf16>
!vector = !stg.tensor<[D], bf16>

// What a position is in the width of the sequences.
stg.block @widened_positions(%x: !map) -> !inner {
  %w = stg.param "widen" : !stg.tensor<[CI, D], bf16>
  %y = stg.einsum "byxc,cd->byxd" %x, %w : !map, !stg.tensor<[CI, D], bf16>
  stg.return %y : !inner
}

// A window of all channels, and a sequence of each place of a square.
stg.block @places_of_squares(%x: !map) -> !tokens {
  %c = stg.call @normalized_window(%x) {name = "local", D as CI} : (!map) -> !map
  %p = stg.call @widened_positions(%c) : (!map) -> !inner
  %y = stg.rearrange "b(yi)(xj)d->(bij)(yx)d" %p <"places"> : !inner -> !tokens
  stg.return %y : !tokens
}

// The map of these, beside the one that it was made of, and a window of both.
stg.block @join_places(%x: !tokens, %map: !map) -> !map {
  %m = stg.rearrange "(bij)(yx)d->b(yi)(xj)d" %x <"map_of_places"> : !tokens -> !inner
  %p = stg.call @normalized_matrix(%m) {name = "narrow", CI as D, D as CI} : (!inner) -> !map
  %j = stg.concat dim 3 ordered %map, %p <"both_maps"> : !map, !map -> !both
  %y = stg.call @normalized_window(%j) {name = "join", D as CI} : (!both) -> !map
  stg.return %y : !map
}

// The same with a window of each channel, and squares beside the batch (MobileViT 2).
stg.block @squares_of_places(%x: !map) -> !places {
  %c = stg.call @window_of_channels(%x) {name = "local", D as CI} : (!map) -> !map
  %p = stg.call @widened_positions(%c) : (!map) -> !inner
  %y = stg.rearrange "b(yi)(xj)d->b(ij)(yx)d" %p <"places"> : !inner -> !places
  stg.return %y : !places
}

stg.block @map_of_squares(%x: !places) -> !map {
  %m = stg.rearrange "b(ij)(yx)d->b(yi)(xj)d" %x <"map_of_places"> : !places -> !inner
  %y = stg.call @normalized_matrix(%m) {name = "narrow", CI as D, D as CI, activated = false} : (!inner) -> !map
  stg.return %y : !map
}

// All channels and positions of an image together.
stg.block @norm_of_places(%x: !places) -> !places {
  stg.option @name : string "of its parameters"
  %w = stg.param "{name}.weight" : !vector
  %b = stg.param "{name}.bias" : !vector
  %y, %mean, %rstd = stg.group_norm %x, %w, %b {groups = #sym.expr<1>} <"{name}"> : !places, !vector, !vector
  stg.return %y : !places
}

// Attention without pairs: each position has one score, with which the keys of all that are in its
// sequence are summed, and that sum scales the values of each.
stg.block @one_score_attention_layer(%x: !places) -> !places {
  %n = stg.call @norm_of_places(%x) {name = "attention_norm"} : (!places) -> !places
  %w = stg.param "score_kv_proj" : !stg.tensor<[D, 2*D + 1], bf16>
  %p = stg.einsum "bpsd,de->bpse" %n, %w : !places, !stg.tensor<[D, 2*D + 1], bf16>
  %b = stg.param "score_kv_bias" : !stg.tensor<[2*D + 1], bf16>
  %o = stg.bias_add %p, %b : !all_three, !stg.tensor<[2*D + 1], bf16>
  %q, %k, %v = stg.split dim 3 %o : !all_three -> !one_score, !places, !places
  %r = stg.rearrange "bps()->bps" %q <"scores"> : !one_score -> !scores
  %f = stg.softmax %r <"softmax"> : !scores
  %h = stg.cast %f <"softmax"> : !wide_scores -> !scores
  %l = stg.rearrange "bps->bps()" %h <"weights"> : !scores -> !one_score
  %m = stg.mul %k, %l <"weighted_keys"> : !places, !one_score
  %s = stg.sum dim 2 %m <"context"> : !places
  %c = stg.rearrange "bpd->bp()d" %s <"context_row"> : !context -> !context_row
  %a = stg.activation relu %v <"values_relu"> : !places
  %g = stg.mul %a, %c <"values_scaled"> : !places, !context_row
  %wo = stg.param "o_proj" : !stg.tensor<[D, D], bf16>
  %po = stg.einsum "bpsd,de->bpse" %g, %wo : !places, !stg.tensor<[D, D], bf16>
  %bo = stg.param "o_bias" : !vector
  %z = stg.bias_add %po, %bo : !places, !vector
  %y = stg.add %z, %x <"attention_residual"> : !places, !places
  stg.return %y : !places
}

stg.block @network_of_places_layer(%x: !places) -> !places {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of layers"
  %n = stg.call @norm_of_places(%x) {name = "ffn_norm"} : (!places) -> !places
  %w1 = stg.param "fc1" : !stg.tensor<[D, F], bf16>
  %p1 = stg.einsum "bpsd,df->bpsf" %n, %w1 : !places, !stg.tensor<[D, F], bf16>
  %b1 = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
  %o1 = stg.bias_add %p1, %b1 : !hidden, !stg.tensor<[F], bf16>
  %a = stg.activation silu %o1 {stg.options = {function = "activation"}} <"{activation}"> : !hidden
  %w2 = stg.param "fc2" : !stg.tensor<[F, D], bf16>
  %p2 = stg.einsum "bpsf,fd->bpsd" %a, %w2 : !hidden, !stg.tensor<[F, D], bf16>
  %b2 = stg.param "fc2_bias" : !vector
  %o2 = stg.bias_add %p2, %b2 : !places, !vector
  %y = stg.add %o2, %x <"ffn_residual"> : !places, !places
  stg.return %y : !places
}
