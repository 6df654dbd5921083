// Layers whose scales, shifts and gates are of a low rank, beside what all layers share, before attention,
// attention to a text, and the feed-forward network (Cosmos).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"
stg.import "shared_vectors.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @DO "width of a text's tokens"
stg.symbol @RV "rank of scales, shifts and gates"
stg.symbol @PF "learned positions of frames"
stg.symbol @PY "learned positions of rows"
stg.symbol @PX "learned positions of columns"
stg.symbol @PO "elements of a patch that is given"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, DO], bf16>
!row = !stg.tensor<[B, D], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!two = !stg.tensor<[B, 2, D], bf16>
!three = !stg.tensor<[B, 3, D], bf16>
!vector = !stg.tensor<[D], bf16>
!low = !stg.tensor<[B, _ = RV], bf16>
!places = !stg.tensor<[B, S], i32>
!patches = !stg.tensor<[B, S, PO], bf16>

// Three vectors that all layers share, of a time step.
stg.block @shared_three(%time: !row) -> !three {
  %w1 = stg.param "time_proj1" : !stg.tensor<[D, _ = D], bf16>
  %p1 = stg.einsum "bc,cd->bd" %time, %w1 : !row, !stg.tensor<[D, _ = D], bf16>
  %a = stg.activation silu %p1 <"time_silu"> : !stg.tensor<[B, _ = D], bf16>
  %w2 = stg.param "time_proj2" : !stg.tensor<[_ = D, 3, D], bf16>
  %y = stg.einsum "bd,dne->bne" %a, %w2 : !stg.tensor<[B, _ = D], bf16>, !stg.tensor<[_ = D, 3, D], bf16>
  stg.return %y : !three
}

// What each layer makes vectors of: the normalized time step.
stg.block @normalized_time(%time: !row) -> !row {
  %w = stg.param "time_norm" : !vector
  %y, %rstd = stg.rms_norm %time, %w : !row, !vector
  stg.return %y : !row
}

// Learned positions of frame, row and column, normalized together.
stg.block @learned_places(%frames: !places, %rows: !places, %columns: !places) -> !stream {
  %tf = stg.param "frame_embeddings" : !stg.tensor<[PF, D], bf16>
  %f = stg.embedding %tf, %frames <"frames"> : !stg.tensor<[PF, D], bf16>, !places
  %ty = stg.param "row_embeddings" : !stg.tensor<[PY, D], bf16>
  %r = stg.embedding %ty, %rows <"rows"> : !stg.tensor<[PY, D], bf16>, !places
  %tx = stg.param "column_embeddings" : !stg.tensor<[PX, D], bf16>
  %c = stg.embedding %tx, %columns <"columns"> : !stg.tensor<[PX, D], bf16>, !places
  %fr = stg.add %f, %r <"frames_and_rows"> : !stream, !stream
  %p = stg.add %fr, %c <"places"> : !stream, !stream
  %y, %rstd = stg.rms_norm %p <"places_norm"> : !stream
  stg.return %y : !stream
}

stg.block @add_places(%x: !stream, %places: !stream) -> !stream {
  %y = stg.add %x, %places <"with_places"> : !stream, !stream
  stg.return %y : !stream
}

// Of a part of a layer.
stg.block @low_rank_three(%e: !row, %t: !three) -> (!row, !row, !row) {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  %a = stg.activation silu %e <"{prefix}modulation_silu"> : !row
  %w1 = stg.param "{prefix}modulation1" : !stg.tensor<[D, _ = RV], bf16>
  %p = stg.einsum "bd,dr->br" %a, %w1 : !row, !stg.tensor<[D, _ = RV], bf16>
  %w2 = stg.param "{prefix}modulation2" : !stg.tensor<[_ = RV, 3, D], bf16>
  %q = stg.einsum "br,rnd->bnd" %p, %w2 : !low, !stg.tensor<[_ = RV, 3, D], bf16>
  %s = stg.add %q, %t <"{prefix}modulation"> : !three, !three
  %v0, %v1, %v2 = stg.call @three_rows(%s) : (!three) -> (!row, !row, !row)
  stg.return %v0, %v1, %v2 : !row, !row, !row
}

stg.block @low_rank_layer(%x: !stream, %c: !text, %e: !row, %t: !three) -> !stream {
  %shift, %scale, %gate = stg.call @low_rank_three(%e, %t) {prefix = "attention_"} : (!row, !three) -> (!row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.call @attention(%n) {K as H, mask = "none"} : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %cshift, %cscale, %cgate = stg.call @low_rank_three(%e, %t) {prefix = "cross_"} : (!row, !three) -> (!row, !row, !row)
  %cn = stg.call @modulated(%y, %cscale, %cshift) {part = "cross"} : (!stream, !row, !row) -> !stream
  %ca = stg.call @cross_attention(%cn, %c) {K as H} : (!stream, !text) -> !stream
  %r = stg.call @gated_sum(%y, %ca, %cgate) {part = "cross"} : (!stream, !stream, !row) -> !stream
  %fshift, %fscale, %fgate = stg.call @low_rank_three(%e, %t) {prefix = "ffn_"} : (!row, !three) -> (!row, !row, !row)
  %fn = stg.call @modulated(%r, %fscale, %fshift) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @plain_feed_forward(%fn) : (!stream) -> !stream
  %z = stg.call @gated_sum(%r, %f, %fgate) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %z : !stream
}

// The last norm, with two vectors of a low rank beside the first two that layers share, and the patches.
stg.block @low_rank_patch_loss(%x: !stream, %e: !row, %t: !three, %target: !patches) -> !patches {
  %a = stg.activation silu %e <"output_modulation_silu"> : !row
  %w1 = stg.param "output_modulation1" : !stg.tensor<[D, _ = RV], bf16>
  %p = stg.einsum "bd,dr->br" %a, %w1 : !row, !stg.tensor<[D, _ = RV], bf16>
  %w2 = stg.param "output_modulation2" : !stg.tensor<[_ = RV, 2, D], bf16>
  %q = stg.einsum "br,rnd->bnd" %p, %w2 : !low, !stg.tensor<[_ = RV, 2, D], bf16>
  %first = stg.slice dim 1 %t {from = #sym.expr<0>} <"first_two"> : !three -> !two
  %s = stg.add %q, %first <"output_modulation"> : !two, !two
  %v0, %v1 = stg.split dim 1 %s : !two -> !one, !one
  %shift = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %scale = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %n = stg.call @modulated(%x, %scale, %shift) {part = "output"} : (!stream, !row, !row) -> !stream
  %y = stg.call @given_patches(%n, %target) {output_bias = false} : (!stream, !patches) -> !patches
  stg.return %y : !patches
}
