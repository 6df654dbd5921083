// Wan's layers where a video begins, or ends, with an image, whose tokens stand beside those of the text,
// with keys and values of their own, and layers beside Wan's whose outputs are hints for these (VACE).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"
stg.import "single_modulation.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @IT "tokens of an image that is given"
stg.symbol @DV "width of what is known of them"
stg.symbol @PV "elements of a patch of what is given"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!image = !stg.tensor<[B, IT, D], bf16>
!known = !stg.tensor<[B, IT, DV], bf16>
!row = !stg.tensor<[B, D], bf16>
!vector = !stg.tensor<[D], bf16>
!head = !stg.tensor<[H, E], bf16>
!six = !stg.tensor<[B, 6, D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!text_keys = !stg.tensor<[B, T, H, E], bf16>
!image_keys = !stg.tensor<[B, IT, H, E], bf16>

// The tokens of an image in the width of the model.
stg.block @embed_image_prompt(%x: !known) -> !image {
  stg.option @learned_places : bool = false "a learned position of each token of the image"
  %p = stg.if @learned_places -> !known {
    %t = stg.param "image_positions" : !stg.tensor<[IT, DV], bf16>
    %z = stg.bias_add %x, %t <"image_embeddings"> : !known, !stg.tensor<[IT, DV], bf16>
    stg.yield %z : !known
  } else {
    stg.yield %x : !known
  }
  %n = stg.call @norm(%p) {name = "image_norm", norm = "layer"} : (!known) -> !known
  %w1 = stg.param "image_proj1" : !stg.tensor<[DV, _ = DV], bf16>
  %p1 = stg.einsum "biv,vw->biw" %n, %w1 : !known, !stg.tensor<[DV, _ = DV], bf16>
  %b1 = stg.param "image_bias1" : !stg.tensor<[_ = DV], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, IT, _ = DV], bf16>, !stg.tensor<[_ = DV], bf16>
  %a = stg.activation gelu %y1 <"image_gelu"> : !stg.tensor<[B, IT, _ = DV], bf16>
  %w2 = stg.param "image_proj2" : !stg.tensor<[_ = DV, D], bf16>
  %p2 = stg.einsum "biw,wd->bid" %a, %w2 : !stg.tensor<[B, IT, _ = DV], bf16>, !stg.tensor<[_ = DV, D], bf16>
  %b2 = stg.param "image_bias2" : !vector
  %y2 = stg.bias_add %p2, %b2 : !image, !vector
  %y = stg.call @norm(%y2) {name = "image_output_norm", norm = "layer"} : (!image) -> !image
  stg.return %y : !image
}

// Attention to a text and, with the same queries, to an image, before one output projection.
stg.block @attention_to_both(%x: !stream, %c: !text, %i: !image) -> !stream {
  %wq = stg.param "cross_q_proj" : !stg.tensor<[D, H, E], bf16>
  %mq = stg.einsum "bsd,dhe->bshe" %x, %wq : !stream, !stg.tensor<[D, H, E], bf16>
  %bq = stg.param "cross_q_bias" : !head
  %pq = stg.bias_add %mq, %bq : !queries, !head
  %nq = stg.param "cross_q_norm" : !head
  %q, %rq = stg.rms_norm %pq, %nq : !queries, !head
  %wt = stg.param "cross_kv_proj" : !stg.tensor<[D, 2*H, E], bf16>
  %mt = stg.einsum "btd,dhe->bthe" %c, %wt : !text, !stg.tensor<[D, 2*H, E], bf16>
  %bt = stg.param "cross_kv_bias" : !stg.tensor<[2*H, E], bf16>
  %yt = stg.bias_add %mt, %bt : !stg.tensor<[B, T, 2*H, E], bf16>, !stg.tensor<[2*H, E], bf16>
  %kt, %vt = stg.split dim 2 %yt : !stg.tensor<[B, T, 2*H, E], bf16> -> !text_keys, !text_keys
  %nt = stg.param "cross_k_norm" : !head
  %tk, %rt = stg.rms_norm %kt, %nt : !text_keys, !head
  %wi = stg.param "image_kv_proj" : !stg.tensor<[D, 2*H, E], bf16>
  %mi = stg.einsum "bid,dhe->bihe" %i, %wi : !image, !stg.tensor<[D, 2*H, E], bf16>
  %bi = stg.param "image_kv_bias" : !stg.tensor<[2*H, E], bf16>
  %yi = stg.bias_add %mi, %bi : !stg.tensor<[B, IT, 2*H, E], bf16>, !stg.tensor<[2*H, E], bf16>
  %ki, %vi = stg.split dim 2 %yi : !stg.tensor<[B, IT, 2*H, E], bf16> -> !image_keys, !image_keys
  %ni = stg.param "image_k_norm" : !head
  %ik, %ri = stg.rms_norm %ki, %ni : !image_keys, !head
  %at, %lse = stg.attention none %q, %tk, %vt <"cross_attention"> : !queries, !text_keys, !text_keys
  %ai, %ilse = stg.attention none %q, %ik, %vi <"image_attention"> : !queries, !image_keys, !image_keys
  %a = stg.add %at, %ai <"both_attentions"> : !queries, !queries
  %wo = stg.param "cross_o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !queries, !stg.tensor<[H, E, D], bf16>
  %bo = stg.param "cross_o_bias" : !vector
  %y = stg.bias_add %o, %bo : !stream, !vector
  stg.return %y : !stream
}

stg.block @layer_with_text_and_image(%x: !stream, %c: !text, %i: !image, %m: !six) -> !stream {
  stg.option @cross_norm : bool = false "LayerNorm of what attends to the text"
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @add_table(%m) : (!six) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.call @attention(%n) {mask = "none"} : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %cn = stg.if @cross_norm -> !stream {
    %z = stg.call @norm(%y) {name = "cross_norm", norm = "layer"} : (!stream) -> !stream
    stg.yield %z : !stream
  } else {
    stg.yield %y : !stream
  }
  %ca = stg.call @attention_to_both(%cn, %c, %i) : (!stream, !text, !image) -> !stream
  %r = stg.add %y, %ca <"cross_residual"> : !stream, !stream
  %fn = stg.call @modulated(%r, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @plain_feed_forward(%fn) : (!stream) -> !stream
  %o = stg.call @gated_sum(%r, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %o : !stream
}

// The patches of what is given, by a matrix of their own and another one, and the video.
stg.block @start_hints(%given: !stg.tensor<[B, S, PV], bf16>, %x: !stream) -> !stream {
  %w = stg.param "given_proj" : !stg.tensor<[PV, D], bf16>
  %p = stg.einsum "bsp,pd->bsd" %given, %w : !stg.tensor<[B, S, PV], bf16>, !stg.tensor<[PV, D], bf16>
  %b = stg.param "given_bias" : !vector
  %v = stg.bias_add %p, %b : !stream, !vector
  %w2 = stg.param "hint_input" : !stg.tensor<[D, D], bf16>
  %p2 = stg.einsum "bsd,de->bse" %v, %w2 : !stream, !stg.tensor<[D, D], bf16>
  %b2 = stg.param "hint_input_bias" : !vector
  %r = stg.bias_add %p2, %b2 : !stream, !vector
  %y = stg.add %r, %x <"hints"> : !stream, !stream
  stg.return %y : !stream
}

// What a layer beside says, by a matrix and as much as is asked for, is added to the video.
stg.block @add_hint(%x: !stream, %v: !stream) -> !stream {
  %w = stg.param "hint_output" : !stg.tensor<[D, D], bf16>
  %p = stg.einsum "bsd,de->bse" %v, %w : !stream, !stg.tensor<[D, D], bf16>
  %b = stg.param "hint_output_bias" : !vector
  %h = stg.bias_add %p, %b : !stream, !vector
  // No trace has the value of the constant.
  %c = stg.splat 1 : !stream
  %s = stg.mul %h, %c <"hint_scale"> : !stream, !stream
  %y = stg.add %x, %s <"hint"> : !stream, !stream
  stg.return %y : !stream
}
