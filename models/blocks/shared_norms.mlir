// Layers of an image and a text with one attention, whose norms both streams share, but for scales and
// shifts (EasyAnimate).

stg.import "attention.mlir"
stg.import "diffusion.mlir"
stg.import "feed_forward.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @DC "width of what a sample is conditioned on"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!condition = !stg.tensor<[B, DC], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!text_heads = !stg.tensor<[B, T, H, E], bf16>
!all = !stg.tensor<[B, S + T, H, E], bf16>

// Each with queries, keys, values and an output of its own; the image alone is rotated.
stg.block @attend_in_two_streams(%x: !stream, %c: !text) -> (!stream, !text) {
  %hq, %hk, %hv = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %pq, %pk, %v = stg.call @prepare_heads(%hq, %hk, %hv) {K as H, rotary = false} : (!heads, !heads, !heads) -> (!heads, !heads, !heads)
  %q = stg.rope %pq <"rope_q"> : !heads
  %k = stg.rope %pk <"rope_k"> : !heads
  %thq, %thk, %thv = stg.call @heads(%c) {K as H} <"text"> : (!text) -> (!text_heads, !text_heads, !text_heads)
  %tq, %tk, %tv = stg.call @prepare_heads(%thq, %thk, %thv) {K as H, rotary = false} <"text"> : (!text_heads, !text_heads, !text_heads) -> (!text_heads, !text_heads, !text_heads)
  %aq = stg.concat dim 1 ordered %q, %tq <"all_q"> : !heads, !text_heads -> !all
  %ak = stg.concat dim 1 ordered %k, %tk <"all_k"> : !heads, !text_heads -> !all
  %av = stg.concat dim 1 ordered %v, %tv <"all_v"> : !heads, !text_heads -> !all
  %a, %lse = stg.attention none %aq, %ak, %av : !all, !all, !all
  %ax, %ac = stg.split dim 1 ordered %a <"attended"> : !all -> !heads, !text_heads
  %o = stg.call @attention_output(%ax) : (!heads) -> !stream
  %co = stg.call @attention_output(%ac) <"text"> : (!text_heads) -> !text
  stg.return %o, %co : !stream, !text
}

stg.block @two_stream_layer(%x: !stream, %c: !text, %e: !condition) -> (!stream, !text) {
  %shift, %scale, %gate, %cshift, %cscale, %cgate = stg.call @six_vectors(%e) {prefix = "attention_"} : (!condition) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %cn = stg.call @modulated(%c, %cscale, %cshift) {part = "attention"} : (!text, !row, !row) -> !text
  %o, %co = stg.call @attend_in_two_streams(%n, %cn) : (!stream, !text) -> (!stream, !text)
  %y = stg.call @gated_sum(%x, %o, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %cy = stg.call @gated_sum(%c, %co, %cgate) {part = "text_attention"} : (!text, !text, !row) -> !text
  %shift2, %scale2, %gate2, %cshift2, %cscale2, %cgate2 = stg.call @six_vectors(%e) {prefix = "ffn_"} : (!condition) -> (!row, !row, !row, !row, !row, !row)
  %m = stg.call @modulated(%y, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %cm = stg.call @modulated(%cy, %cscale2, %cshift2) {part = "ffn"} : (!text, !row, !row) -> !text
  %f = stg.call @plain_feed_forward(%m) : (!stream) -> !stream
  %cf = stg.call @plain_feed_forward(%cm) <"text"> : (!text) -> !text
  %z = stg.call @gated_sum(%y, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  %cz = stg.call @gated_sum(%cy, %cf, %cgate2) {part = "text_ffn"} : (!text, !text, !row) -> !text
  stg.return %z, %cz : !stream, !text
}

// The last layer, which makes a text that nobody reads.
stg.block @two_stream_layer_without_reader(%x: !stream, %c: !text, %e: !condition) -> !stream {
  %y, %t = stg.call @two_stream_layer(%x, %c, %e) : (!stream, !text, !condition) -> (!stream, !text)
  stg.keep %t : !text
  stg.return %y : !stream
}
