// A text and an image, or a video, as one stream: the tokens of the text, and those of the image behind
// them. Layers scale, shift and gate the two by vectors of their own, or by the same, and rotate the
// heads of the image alone (CogVideoX, CogView, HunyuanVideo).

stg.import "attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"
stg.import "joint_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @DC = D "width of what a sample is conditioned on"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!both = !stg.tensor<[B, S + T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!condition = !stg.tensor<[B, DC], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!text_heads = !stg.tensor<[B, T, H, E], bf16>
!all = !stg.tensor<[B, S + T, H, E], bf16>

// A position of each token that is not learned.
stg.block @add_positions_of_both(%j: !both, %positions: !stg.tensor<[S + T, D], bf16>) -> !both {
  %y = stg.bias_add %j, %positions <"embeddings"> : !both, !stg.tensor<[S + T, D], bf16>
  stg.return %y : !both
}

// Rotary positions of the image's heads.
stg.block @rotate_image(%h: !all) -> !all {
  stg.option @name : string "of the rotation"
  %c, %x = stg.split dim 1 ordered %h : !all -> !text_heads, !heads
  %r = stg.rope %x <"{name}"> : !heads
  %y = stg.concat dim 1 ordered %c, %r <"{name}_all"> : !text_heads, !heads -> !all
  stg.return %y : !all
}

// A part of a layer reads a norm of all tokens, scaled and shifted by vectors of the image and of the
// text.
stg.block @modulated_both(%j: !both, %scale: !row, %shift: !row, %cscale: !row, %cshift: !row) -> !both {
  stg.option @part : string "name of the part of the layer"
  %n = stg.call @adaptive_norm(%j) : (!both) -> !both
  %cn, %xn = stg.split dim 1 ordered %n : !both -> !text, !stream
  %x = stg.call @shifted_tokens(%xn, %scale, %shift) : (!stream, !row, !row) -> !stream
  %c = stg.call @shifted_tokens(%cn, %cscale, %cshift) {part = "text_{part}"} : (!text, !row, !row) -> !text
  %y = stg.concat dim 1 ordered %c, %x <"{part}_input"> : !text, !stream -> !both
  stg.return %y : !both
}

// What a part gives, as far as the gates of the image and of the text let it.
stg.block @gated_both(%j: !both, %out: !both, %gate: !row, %cgate: !row) -> !both {
  stg.option @part : string "name of the part of the layer"
  %c, %x = stg.split dim 1 ordered %j : !both -> !text, !stream
  %co, %xo = stg.split dim 1 ordered %out : !both -> !text, !stream
  %xy = stg.call @gated_sum(%x, %xo, %gate) : (!stream, !stream, !row) -> !stream
  %cy = stg.call @gated_sum(%c, %co, %cgate) {part = "text_{part}"} : (!text, !text, !row) -> !text
  %y = stg.concat dim 1 ordered %cy, %xy <"{part}_output"> : !text, !stream -> !both
  stg.return %y : !both
}

// A LayerNorm of each head of queries and keys, without weight and bias.
stg.block @bare_head_norms(%q: !all, %k: !all) -> (!all, !all) {
  stg.option @head_norm_bare : bool = false "LayerNorm without weight and bias of each query and key head"
  %y, %z = stg.if @head_norm_bare -> !all, !all {
    %nq, %meanq, %rq = stg.layer_norm %q <"q_norm"> : !all
    %nk, %meank, %rk = stg.layer_norm %k <"k_norm"> : !all
    stg.yield %nq, %nk : !all, !all
  } else {
    stg.yield %q, %k : !all, !all
  }
  stg.return %y, %z : !all, !all
}

// What all layers make vectors of.
stg.block @silu_of_condition(%e: !condition) -> !condition {
  %y = stg.activation silu %e <"condition_silu"> : !condition
  stg.return %y : !condition
}

// A layer whose matrices all tokens share: six vectors before attention, and six before the
// feed-forward network (CogVideoX, CogView).
stg.block @layer_of_both(%j: !both, %e: !condition) -> !both {
  stg.option @rotary_image : bool = false "rotary positions of the image alone"
  %shift, %scale, %gate, %cshift, %cscale, %cgate = stg.call @six_vectors(%e) {prefix = "attention_"} : (!condition) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated_both(%j, %scale, %shift, %cscale, %cshift) {part = "attention"} : (!both, !row, !row, !row, !row) -> !both
  %hq, %hk, %v = stg.call @heads(%n) {K as H} : (!both) -> (!all, !all, !all)
  %mq, %mk, %pv = stg.call @prepare_heads(%hq, %hk, %v) {K as H, rotary = false} : (!all, !all, !all) -> (!all, !all, !all)
  %pq, %pk = stg.call @bare_head_norms(%mq, %mk) : (!all, !all) -> (!all, !all)
  %q, %k = stg.if @rotary_image -> !all, !all {
    %rq = stg.call @rotate_image(%pq) {name = "rope_q"} : (!all) -> !all
    %rk = stg.call @rotate_image(%pk) {name = "rope_k"} : (!all) -> !all
    stg.yield %rq, %rk : !all, !all
  } else {
    stg.yield %pq, %pk : !all, !all
  }
  %a = stg.call @attend(%q, %k, %pv) {K as H, mask = "none"} : (!all, !all, !all) -> !all
  %o = stg.call @attention_output(%a) : (!all) -> !both
  %y = stg.call @gated_both(%j, %o, %gate, %cgate) {part = "attention"} : (!both, !both, !row, !row) -> !both
  %shift2, %scale2, %gate2, %cshift2, %cscale2, %cgate2 = stg.call @six_vectors(%e) {prefix = "ffn_"} : (!condition) -> (!row, !row, !row, !row, !row, !row)
  %m = stg.call @modulated_both(%y, %scale2, %shift2, %cscale2, %cshift2) {part = "ffn"} : (!both, !row, !row, !row, !row) -> !both
  %f = stg.call @plain_feed_forward(%m) : (!both) -> !both
  %z = stg.call @gated_both(%y, %f, %gate2, %cgate2) {part = "ffn"} : (!both, !both, !row, !row) -> !both
  stg.return %z : !both
}

// FLUX's layer of one stream, where the heads of the image alone are rotated (HunyuanVideo).
stg.block @single_layer_of_both(%j: !both, %e: !row) -> !both {
  %shift, %scale, %gate = stg.call @three_vectors(%e) : (!row) -> (!row, !row, !row)
  %n = stg.call @modulated(%j, %scale, %shift) {part = "layer"} : (!both, !row, !row) -> !both
  %hq, %hk, %v = stg.call @stream_heads(%n) : (!both) -> (!all, !all, !all)
  %q = stg.call @rotate_image(%hq) {name = "rope_q"} : (!all) -> !all
  %k = stg.call @rotate_image(%hk) {name = "rope_k"} : (!all) -> !all
  %a, %lse = stg.attention none %q, %k, %v : !all, !all, !all
  %o = stg.call @one_output(%n, %a) : (!both, !all) -> !both
  %y = stg.call @gated_sum(%j, %o, %gate) {part = "layer"} : (!both, !both, !row) -> !both
  stg.return %y : !both
}

// A layer that the time step gates, and neither scales nor shifts, before tokens of a text are joined
// to those of an image (HunyuanVideo).
stg.block @gated_layer(%x: !stream, %e: !row) -> !stream {
  %gate, %gate2 = stg.call @two_vectors(%e) : (!row) -> (!row, !row)
  %n = stg.call @norm(%x) {name = "attention_norm"} : (!stream) -> !stream
  %a = stg.call @attention(%n) {K as H, mask = "none", rotary = false} : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %m = stg.call @norm(%y) {name = "ffn_norm"} : (!stream) -> !stream
  %f = stg.call @plain_feed_forward(%m) : (!stream) -> !stream
  %z = stg.call @gated_sum(%y, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %z : !stream
}

// The mean of all tokens of a text, as its encoder gives them.
stg.block @mean_of_words(%words: !stg.tensor<[B, T, D], bf16>) -> !row {
  %y = stg.mean dim 1 %words <"mean_of_words"> : !text
  stg.return %y : !row
}
