// Layers of an image and a text each of which reads a text of its own, too, such as what one layer of an
// encoder gives: it stands behind the other text, and is dropped behind the layer. The networks of the
// image, and of one stream of all tokens, are experts (HiDream).

stg.import "attention.mlir"
stg.import "diffusion.mlir"
stg.import "experts.mlir"
stg.import "feed_forward.mlir"
stg.import "joint_attention.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @TL "tokens of the text of a layer"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @LW "width of the tokens of that text"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!own = !stg.tensor<[B, T = TL, D], bf16>
!texts = !stg.tensor<[B, T = T + TL, D], bf16>
!both = !stg.tensor<[B, S + T, D], bf16>
!three = !stg.tensor<[B, (S, T) = S + T + TL, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!text_heads = !stg.tensor<[B, T = T + TL, H, E], bf16>
!all = !stg.tensor<[B, (S, T) = S + T + TL, H, E], bf16>

// The text of a layer in the width of the model.
stg.block @project_own_text(%x: !stg.tensor<[B, T = TL, LW], bf16>) -> !own {
  stg.option @prefix : string = "own_" "before the names of parameters and ops"
  %w = stg.param "{prefix}text_proj" : !stg.tensor<[LW, D], bf16>
  %y = stg.einsum "btc,cd->btd" %x, %w : !stg.tensor<[B, T = TL, LW], bf16>, !stg.tensor<[LW, D], bf16>
  stg.return %y : !own
}

// Two texts, one behind the other.
stg.block @join_texts(%a: !stg.tensor<[B, T = T - TL, D], bf16>, %l: !own) -> !text {
  %y = stg.concat dim 1 ordered %a, %l : !stg.tensor<[B, T = T - TL, D], bf16>, !own -> !text
  stg.return %y : !text
}

// Heads of a stream, with a norm of all of them.
stg.block @normalized_heads(%x: !stream) -> (!heads, !heads, !heads) {
  %q, %k, %v = stg.call @heads(%x) {K as H, qkv_bias = true} : (!stream) -> (!heads, !heads, !heads)
  %qn, %kn, %vn = stg.call @prepare_heads(%q, %k, %v) {K as H, qk_norm_all = true, rotary = false} : (!heads, !heads, !heads) -> (!heads, !heads, !heads)
  stg.return %qn, %kn, %vn : !heads, !heads, !heads
}

stg.block @experts_joint_layer(%x: !stream, %c: !text, %l: !own, %e: !row) -> (!stream, !text) {
  %t = stg.concat dim 1 ordered %c, %l <"texts"> : !text, !own -> !texts
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!row) -> (!row, !row, !row, !row, !row, !row)
  %cshift, %cscale, %cgate, %cshift2, %cscale2, %cgate2 = stg.call @six_vectors(%e) {prefix = "text_"} : (!row) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %cn = stg.call @modulated(%t, %cscale, %cshift) {part = "text_attention"} : (!texts, !row, !row) -> !texts
  %q, %k, %v = stg.call @normalized_heads(%n) : (!stream) -> (!heads, !heads, !heads)
  %tq, %tk, %tv = stg.call @normalized_heads(%cn) <"text"> : (!texts) -> (!text_heads, !text_heads, !text_heads)
  %aq = stg.concat dim 1 ordered %q, %tq : !heads, !text_heads -> !all
  %ak = stg.concat dim 1 ordered %k, %tk : !heads, !text_heads -> !all
  %av = stg.concat dim 1 ordered %v, %tv : !heads, !text_heads -> !all
  %rq = stg.rope %aq <"rope_q"> : !all
  %rk = stg.rope %ak <"rope_k"> : !all
  %a, %lse = stg.attention none %rq, %rk, %av : !all, !all, !all
  %ax, %at = stg.split dim 1 ordered %a : !all -> !heads, !text_heads
  %o = stg.call @stream_output(%ax) : (!heads) -> !stream
  %co = stg.call @stream_output(%at) {prefix = "text_"} : (!text_heads) -> !texts
  %y = stg.call @gated_sum(%x, %o, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %cy = stg.call @gated_sum(%t, %co, %cgate) {part = "text_attention"} : (!texts, !texts, !row) -> !texts
  %m = stg.call @modulated(%y, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @experts(%m) {shared_expert = true} : (!stream) -> !stream
  %r = stg.call @gated_sum(%y, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  %cr = stg.call @adaptive_feed_forward(%cy, %cscale2, %cshift2, %cgate2) {part = "text_ffn", gated = true} : (!texts, !row, !row, !row) -> !texts
  %kept = stg.slice dim 1 %cr {from = #sym.expr<0>} <"kept_text"> : !texts -> !text
  stg.return %r, %kept : !stream, !text
}

stg.block @experts_single_layer(%j: !both, %l: !own, %e: !row) -> !both {
  %x = stg.concat dim 1 ordered %j, %l <"with_own_text"> : !both, !own -> !three
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!row) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!three, !row, !row) -> !three
  %hq, %hk, %v = stg.call @normalized_heads(%n) : (!three) -> (!all, !all, !all)
  %q = stg.rope %hq <"rope_q"> : !all
  %k = stg.rope %hk <"rope_k"> : !all
  %a, %lse = stg.attention none %q, %k, %v : !all, !all, !all
  %o = stg.call @stream_output(%a) : (!all) -> !three
  %y = stg.call @gated_sum(%x, %o, %gate) {part = "attention"} : (!three, !three, !row) -> !three
  %m = stg.call @modulated(%y, %scale2, %shift2) {part = "ffn"} : (!three, !row, !row) -> !three
  %f = stg.call @experts(%m) {shared_expert = true} : (!three) -> !three
  %r = stg.call @gated_sum(%y, %f, %gate2) {part = "ffn"} : (!three, !three, !row) -> !three
  %kept = stg.slice dim 1 %r {from = #sym.expr<0>} <"without_own_text"> : !three -> !both
  stg.return %kept : !both
}
