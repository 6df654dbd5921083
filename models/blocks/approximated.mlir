// Scales, shifts and gates of all layers, made by one network of rows that say which of them is which, and
// how much noise there is. Each layer makes its own, with the parameters that all share (Chroma).

stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "joint_attention.mlir"
stg.import "norm.mlir"
stg.import "shared_vectors.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @DA "width of the network"
stg.symbol @AC "features of a row"
stg.symbol @NV "vectors that are made together"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @PO "elements of a patch that is given"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!two = !stg.tensor<[B, 2, D], bf16>
!three = !stg.tensor<[B, 3, D], bf16>
!six = !stg.tensor<[B, 6, D], bf16>
!twelve = !stg.tensor<[B, 12, D], bf16>
!rows = !stg.tensor<[B, _ = NV, AC], bf16>
!inner = !stg.tensor<[B, _ = NV, DA], bf16>
!vectors = !stg.tensor<[B, _ = NV, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!patches = !stg.tensor<[B, S, PO], bf16>

stg.block @approximator_input(%x: !rows) -> !inner {
  %w = stg.param "input" : !stg.tensor<[AC, DA], bf16>
  %p = stg.einsum "bnc,ca->bna" %x, %w : !rows, !stg.tensor<[AC, DA], bf16>
  %b = stg.param "input_bias" : !stg.tensor<[DA], bf16>
  %y = stg.bias_add %p, %b : !inner, !stg.tensor<[DA], bf16>
  stg.return %y : !inner
}

stg.block @approximator_layer(%x: !inner) -> !inner {
  %wn = stg.param "norm" : !stg.tensor<[DA], bf16>
  %n, %rstd = stg.rms_norm %x, %wn : !inner, !stg.tensor<[DA], bf16>
  %w1 = stg.param "proj1" : !stg.tensor<[DA, _ = DA], bf16>
  %p1 = stg.einsum "bna,ac->bnc" %n, %w1 : !inner, !stg.tensor<[DA, _ = DA], bf16>
  %b1 = stg.param "bias1" : !stg.tensor<[_ = DA], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, _ = NV, _ = DA], bf16>, !stg.tensor<[_ = DA], bf16>
  %a = stg.activation silu %y1 <"silu"> : !stg.tensor<[B, _ = NV, _ = DA], bf16>
  %w2 = stg.param "proj2" : !stg.tensor<[_ = DA, DA], bf16>
  %p2 = stg.einsum "bnc,ca->bna" %a, %w2 : !stg.tensor<[B, _ = NV, _ = DA], bf16>, !stg.tensor<[_ = DA, DA], bf16>
  %b2 = stg.param "bias2" : !stg.tensor<[DA], bf16>
  %y2 = stg.bias_add %p2, %b2 : !inner, !stg.tensor<[DA], bf16>
  %y = stg.add %x, %y2 <"residual"> : !inner, !inner
  stg.return %y : !inner
}

stg.block @approximator_output(%x: !inner) -> !vectors {
  %w = stg.param "output" : !stg.tensor<[DA, D], bf16>
  %p = stg.einsum "bna,ad->bnd" %x, %w : !inner, !stg.tensor<[DA, D], bf16>
  %b = stg.param "output_bias" : !stg.tensor<[D], bf16>
  %y = stg.bias_add %p, %b : !vectors, !stg.tensor<[D], bf16>
  stg.return %y : !vectors
}

// In a layer.
stg.block @approximated(%rows: !rows) -> !vectors {
  %x0 = stg.call @approximator_input(%rows) <"approximator"> shared : (!rows) -> !inner
  %x1 = stg.call @approximator_layer(%x0) <"approximator0"> shared : (!inner) -> !inner
  %x2 = stg.call @approximator_layer(%x1) <"approximator1"> shared : (!inner) -> !inner
  %x3 = stg.call @approximator_layer(%x2) <"approximator2"> shared : (!inner) -> !inner
  %x4 = stg.call @approximator_layer(%x3) <"approximator3"> shared : (!inner) -> !inner
  %x5 = stg.call @approximator_layer(%x4) <"approximator4"> shared : (!inner) -> !inner
  %y = stg.call @approximator_output(%x5) <"approximator"> shared : (!inner) -> !vectors
  stg.return %y : !vectors
}

// Behind all layers.
stg.block @approximated_once(%rows: !rows) -> !vectors {
  %x0 = stg.call @approximator_input(%rows) <"approximator"> : (!rows) -> !inner
  %x1 = stg.call @approximator_layer(%x0) <"approximator0"> : (!inner) -> !inner
  %x2 = stg.call @approximator_layer(%x1) <"approximator1"> : (!inner) -> !inner
  %x3 = stg.call @approximator_layer(%x2) <"approximator2"> : (!inner) -> !inner
  %x4 = stg.call @approximator_layer(%x3) <"approximator3"> : (!inner) -> !inner
  %x5 = stg.call @approximator_layer(%x4) <"approximator4"> : (!inner) -> !inner
  %y = stg.call @approximator_output(%x5) <"approximator"> : (!inner) -> !vectors
  stg.return %y : !vectors
}

stg.block @approximated_joint_layer(%x: !stream, %c: !text, %rows: !stg.tensor<[B, 12, AC], bf16>) -> (!stream, !text) {
  %v = stg.call @approximated(%rows) {NV = 12} : (!stg.tensor<[B, 12, AC], bf16>) -> !twelve
  %m, %t = stg.split dim 1 %v : !twelve -> !six, !six
  %y, %z = stg.call @shared_joint_layer(%x, %c, %m, %t) : (!stream, !text, !six, !six) -> (!stream, !text)
  stg.return %y, %z : !stream, !text
}

stg.block @approximated_single_layer(%x: !stream, %rows: !stg.tensor<[B, 3, AC], bf16>) -> !stream {
  %v = stg.call @approximated(%rows) {NV = 3} : (!stg.tensor<[B, 3, AC], bf16>) -> !three
  %shift, %scale, %gate = stg.call @three_rows(%v) : (!three) -> (!row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "layer"} : (!stream, !row, !row) -> !stream
  %q, %k, %w = stg.call @stream_heads(%n) : (!stream) -> (!heads, !heads, !heads)
  %rq = stg.rope %q <"rope_q"> : !heads
  %rk = stg.rope %k <"rope_k"> : !heads
  %a, %lse = stg.attention none %rq, %rk, %w : !heads, !heads, !heads
  %o = stg.call @one_output(%n, %a) : (!stream, !heads) -> !stream
  %y = stg.call @gated_sum(%x, %o, %gate) {part = "layer"} : (!stream, !stream, !row) -> !stream
  stg.return %y : !stream
}

stg.block @approximated_patch_loss(%x: !stream, %rows: !stg.tensor<[B, 2, AC], bf16>, %target: !patches) -> !patches {
  %v = stg.call @approximated_once(%rows) {NV = 2} : (!stg.tensor<[B, 2, AC], bf16>) -> !two
  %v0, %v1 = stg.split dim 1 %v : !two -> !one, !one
  %shift = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %scale = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %n = stg.call @modulated(%x, %scale, %shift) {part = "output"} : (!stream, !row, !row) -> !stream
  %y = stg.call @given_patches(%n, %target) : (!stream, !patches) -> !patches
  stg.return %y : !patches
}
