// Layers of two streams, of an image and of a text, whose attention is one: each stream has
// its own projections, norms and feed-forward network, and each token sees those of both
// (Stable Diffusion 3, FLUX).

stg.import "attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!vector = !stg.tensor<[D], bf16>
!head = !stg.tensor<[E], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!text_heads = !stg.tensor<[B, T, H, E], bf16>
!all = !stg.tensor<[B, S + T, H, E], bf16>

// Queries, keys and values of a stream.
stg.block @stream_heads(%x: !stream) -> (!heads, !heads, !heads) {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @qk_norm : bool = false "RMSNorm of each query and key head"
  stg.option @head_norm_bare : bool = false "LayerNorm without weight and bias of each query and key head"
  stg.option @stream_bias : bool = true "biases of heads and of the output"
  %w = stg.param "{prefix}qkv_proj" : !stg.tensor<[D, 3*H, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, 3*H, E], bf16>
  %y = stg.if @stream_bias -> !stg.tensor<[B, S, 3*H, E], bf16> {
    %b = stg.param "{prefix}qkv_bias" : !stg.tensor<[3*H, E], bf16>
    %z = stg.bias_add %p, %b : !stg.tensor<[B, S, 3*H, E], bf16>, !stg.tensor<[3*H, E], bf16>
    stg.yield %z : !stg.tensor<[B, S, 3*H, E], bf16>
  } else {
    stg.yield %p : !stg.tensor<[B, S, 3*H, E], bf16>
  }
  %q, %k, %v = stg.split dim 2 %y : !stg.tensor<[B, S, 3*H, E], bf16> -> !heads, !heads, !heads
  %qn, %kn = stg.if @qk_norm -> !heads, !heads {
    %wq = stg.param "{prefix}q_norm" : !head
    %nq, %rq = stg.rms_norm %q, %wq : !heads, !head
    %wk = stg.param "{prefix}k_norm" : !head
    %nk, %rk = stg.rms_norm %k, %wk : !heads, !head
    stg.yield %nq, %nk : !heads, !heads
  } else {
    %bq, %bk = stg.if @head_norm_bare -> !heads, !heads {
      %nq, %meanq, %rq = stg.layer_norm %q <"{prefix}q_norm"> : !heads
      %nk, %meank, %rk = stg.layer_norm %k <"{prefix}k_norm"> : !heads
      stg.yield %nq, %nk : !heads, !heads
    } else {
      stg.yield %q, %k : !heads, !heads
    }
    stg.yield %bq, %bk : !heads, !heads
  }
  stg.return %qn, %kn, %v : !heads, !heads, !heads
}

stg.block @stream_output(%a: !heads) -> !stream {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @stream_bias : bool = true "biases of heads and of the output"
  %w = stg.param "{prefix}o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %w : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.if @stream_bias -> !stream {
    %b = stg.param "{prefix}o_bias" : !vector
    %z = stg.bias_add %o, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %y : !stream
}

// Of all tokens of both streams.
stg.block @attend_all(%q: !all, %k: !all, %v: !all) -> !all {
  stg.option @rotary : bool = true "rotary positions"
  %qr, %kr = stg.if @rotary -> !all, !all {
    %pq = stg.rope %q <"rope_q"> : !all
    %pk = stg.rope %k <"rope_k"> : !all
    stg.yield %pq, %pk : !all, !all
  } else {
    stg.yield %q, %k : !all, !all
  }
  %a, %lse = stg.attention none %qr, %kr, %v : !all, !all, !all
  stg.return %a : !all
}

// What the image and the text give, before their output projections.
stg.block @joint_attention(%x: !stream, %c: !text) -> (!heads, !text_heads) {
  stg.option @rotary_image : bool = false "rotary positions of the image alone"
  %sq, %sk, %v = stg.call @stream_heads(%x) : (!stream) -> (!heads, !heads, !heads)
  %q, %k = stg.if @rotary_image -> !heads, !heads {
    %pq = stg.rope %sq <"rope_q"> : !heads
    %pk = stg.rope %sk <"rope_k"> : !heads
    stg.yield %pq, %pk : !heads, !heads
  } else {
    stg.yield %sq, %sk : !heads, !heads
  }
  %tq, %tk, %tv = stg.call @stream_heads(%c) {prefix = "text_"} : (!text) -> (!text_heads, !text_heads, !text_heads)
  %aq = stg.concat dim 1 ordered %q, %tq : !heads, !text_heads -> !all
  %ak = stg.concat dim 1 ordered %k, %tk : !heads, !text_heads -> !all
  %av = stg.concat dim 1 ordered %v, %tv : !heads, !text_heads -> !all
  %a = stg.call @attend_all(%aq, %ak, %av) : (!all, !all, !all) -> !all
  %y, %t = stg.split dim 1 ordered %a : !all -> !heads, !text_heads
  stg.return %y, %t : !heads, !text_heads
}

// A feed-forward network of a stream with its adaptive norm and gate.
stg.block @adaptive_feed_forward(%x: !stream, %scale: !row, %shift: !row, %gate: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @gated : bool = false "gate and up, or one matrix"
  %n = stg.call @modulated(%x, %scale, %shift) : (!stream, !row, !row) -> !stream
  %f = stg.if @gated -> !stream {
    %g = stg.call @gated_feed_forward(%n) <"{part}"> : (!stream) -> !stream
    stg.yield %g : !stream
  } else {
    %p = stg.call @plain_feed_forward(%n) <"{part}"> : (!stream) -> !stream
    stg.yield %p : !stream
  }
  %y = stg.call @gated_sum(%x, %f, %gate) : (!stream, !stream, !row) -> !stream
  stg.return %y : !stream
}

// Attention of the image to itself alone, beside the joint one (Stable Diffusion 3.5): its
// scale, shift and gate are three vectors more.
stg.block @own_attention(%x: !stream, %n: !stream, %e: !row) -> !stream {
  %shift, %scale, %gate = stg.call @three_vectors(%e) {prefix = "own_"} : (!row) -> (!row, !row, !row)
  %m = stg.call @modulated(%x, %scale, %shift) {part = "own"} : (!stream, !row, !row) -> !stream
  %q, %k, %v = stg.call @stream_heads(%m) {prefix = "own_"} : (!stream) -> (!heads, !heads, !heads)
  %a, %lse = stg.attention none %q, %k, %v <"own_attention"> : !heads, !heads, !heads
  %o = stg.call @stream_output(%a) {prefix = "own_"} : (!heads) -> !stream
  %y = stg.call @gated_sum(%n, %o, %gate) {part = "own"} : (!stream, !stream, !row) -> !stream
  stg.return %y : !stream
}

// A layer of both streams.
stg.block @joint_layer(%x: !stream, %c: !text, %e: !row) -> (!stream, !text) {
  stg.option @own_attention : bool = false "attention of the image alone, too"
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!row) -> (!row, !row, !row, !row, !row, !row)
  %cshift, %cscale, %cgate, %cshift2, %cscale2, %cgate2 = stg.call @six_vectors(%e) {prefix = "text_"} : (!row) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %cn = stg.call @modulated(%c, %cscale, %cshift) {part = "text_attention"} : (!text, !row, !row) -> !text
  %a, %ca = stg.call @joint_attention(%n, %cn) : (!stream, !text) -> (!heads, !text_heads)
  %o = stg.call @stream_output(%a) : (!heads) -> !stream
  %co = stg.call @stream_output(%ca) {prefix = "text_"} : (!text_heads) -> !text
  %j = stg.call @gated_sum(%x, %o, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %y = stg.if @own_attention -> !stream {
    %z = stg.call @own_attention(%x, %j, %e) : (!stream, !stream, !row) -> !stream
    stg.yield %z : !stream
  } else {
    stg.yield %j : !stream
  }
  %cy = stg.call @gated_sum(%c, %co, %cgate) {part = "text_attention"} : (!text, !text, !row) -> !text
  %r = stg.call @adaptive_feed_forward(%y, %scale2, %shift2, %gate2) {part = "ffn"} : (!stream, !row, !row, !row) -> !stream
  %cr = stg.call @adaptive_feed_forward(%cy, %cscale2, %cshift2, %cgate2) {part = "text_ffn"} : (!text, !row, !row, !row) -> !text
  stg.return %r, %cr : !stream, !text
}

// The last layer, behind which nobody reads the text.
stg.block @last_joint_layer(%x: !stream, %c: !text, %e: !row) -> !stream {
  stg.option @own_attention : bool = false "attention of the image alone, too"
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!row) -> (!row, !row, !row, !row, !row, !row)
  %cscale, %cshift = stg.call @two_vectors(%e) {prefix = "text_"} : (!row) -> (!row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %cn = stg.call @modulated(%c, %cscale, %cshift) {part = "text_attention"} : (!text, !row, !row) -> !text
  %a, %ca = stg.call @joint_attention(%n, %cn) : (!stream, !text) -> (!heads, !text_heads)
  %o = stg.call @stream_output(%a) : (!heads) -> !stream
  %j = stg.call @gated_sum(%x, %o, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %y = stg.if @own_attention -> !stream {
    %z = stg.call @own_attention(%x, %j, %e) : (!stream, !stream, !row) -> !stream
    stg.yield %z : !stream
  } else {
    stg.yield %j : !stream
  }
  %r = stg.call @adaptive_feed_forward(%y, %scale2, %shift2, %gate2) {part = "ffn"} : (!stream, !row, !row, !row) -> !stream
  stg.return %r : !stream
}

// Both streams as one.
stg.block @join_streams(%c: !text, %x: !stream) -> !stg.tensor<[B, S + T, D], bf16> {
  %y = stg.concat dim 1 ordered %c, %x : !text, !stream -> !stg.tensor<[B, S + T, D], bf16>
  stg.return %y : !stg.tensor<[B, S + T, D], bf16>
}
stg.block @take_image(%j: !stg.tensor<[B, S + T, D], bf16>) -> !stream {
  %c, %x = stg.split dim 1 ordered %j : !stg.tensor<[B, S + T, D], bf16> -> !text, !stream
  stg.return %x : !stream
}

// The last layer of a model that has all parts of it for the text, too: executed, but read by nobody
// (Qwen-Image).
stg.block @joint_layer_without_reader(%x: !stream, %c: !text, %e: !row) -> !stream {
  %y, %k = stg.call @joint_layer(%x, %c, %e) : (!stream, !text, !row) -> (!stream, !text)
  stg.keep %k : !text
  stg.return %y : !stream
}

// A feed-forward network beside attention, with one output projection of both.
stg.block @one_output(%n: !stream, %a: !heads) -> !stream {
  %w1 = stg.param "fc1" : !stg.tensor<[D, F], bf16>
  %u = stg.einsum "bsd,df->bsf" %n, %w1 : !stream, !stg.tensor<[D, F], bf16>
  %b1 = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
  %ub = stg.bias_add %u, %b1 : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F], bf16>
  %h = stg.activation gelu %ub <"gelu"> : !stg.tensor<[B, S, F], bf16>
  %wa = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %oa = stg.einsum "bshe,hed->bsd" %a, %wa : !heads, !stg.tensor<[H, E, D], bf16>
  %wf = stg.param "fc2" : !stg.tensor<[F, D], bf16>
  %of = stg.einsum "bsf,fd->bsd" %h, %wf : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F, D], bf16>
  %s = stg.add %oa, %of <"parallel"> : !stream, !stream
  %bo = stg.param "o_bias" : !vector
  %o = stg.bias_add %s, %bo : !stream, !vector
  stg.return %o : !stream
}

// Attention and a feed-forward network side by side, with one adaptive norm and one gate, and
// with one output projection of both.
stg.block @single_layer(%x: !stream, %e: !row) -> !stream {
  stg.option @rotary : bool = true "rotary positions"
  %shift, %scale, %gate = stg.call @three_vectors(%e) : (!row) -> (!row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "layer"} : (!stream, !row, !row) -> !stream
  %q, %k, %v = stg.call @stream_heads(%n) : (!stream) -> (!heads, !heads, !heads)
  %qr, %kr = stg.if @rotary -> !heads, !heads {
    %pq = stg.rope %q <"rope_q"> : !heads
    %pk = stg.rope %k <"rope_k"> : !heads
    stg.yield %pq, %pk : !heads, !heads
  } else {
    stg.yield %q, %k : !heads, !heads
  }
  %a, %lse = stg.attention none %qr, %kr, %v : !heads, !heads, !heads
  %o = stg.call @one_output(%n, %a) : (!stream, !heads) -> !stream
  %y = stg.call @gated_sum(%x, %o, %gate) {part = "layer"} : (!stream, !stream, !row) -> !stream
  stg.return %y : !stream
}

// The same, whose feed-forward network has a gate (Ovis-Image).
stg.block @gated_single_layer(%x: !stream, %e: !row) -> !stream {
  %shift, %scale, %gate = stg.call @three_vectors(%e) : (!row) -> (!row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "layer"} : (!stream, !row, !row) -> !stream
  %q, %k, %v = stg.call @stream_heads(%n) : (!stream) -> (!heads, !heads, !heads)
  %rq = stg.rope %q <"rope_q"> : !heads
  %rk = stg.rope %k <"rope_k"> : !heads
  %a, %lse = stg.attention none %rq, %rk, %v : !heads, !heads, !heads
  %h = stg.call @fused_gate(%n) : (!stream) -> !stg.tensor<[B, S, F], bf16>
  %wa = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %oa = stg.einsum "bshe,hed->bsd" %a, %wa : !heads, !stg.tensor<[H, E, D], bf16>
  %wf = stg.param "down_proj" : !stg.tensor<[F, D], bf16>
  %of = stg.einsum "bsf,fd->bsd" %h, %wf : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F, D], bf16>
  %s = stg.add %oa, %of <"parallel"> : !stream, !stream
  %bo = stg.param "o_bias" : !vector
  %o = stg.bias_add %s, %bo : !stream, !vector
  %y = stg.call @gated_sum(%x, %o, %gate) {part = "layer"} : (!stream, !stream, !row) -> !stream
  stg.return %y : !stream
}
