// Frames of a video that tell each other what they show, and texts that are said again for each video
// (X-CLIP).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "videos in the global batch"
stg.symbol @S "tokens of a frame"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @FR "frames of a video"
stg.symbol @PD "size of what is compared"

!frames = !stg.tensor<[B = FR*B, S, D], bf16>
!longer = !stg.tensor<[B = FR*B, S = S + 1, D], bf16>
!row_of_frame = !stg.tensor<[B = FR*B, D], bf16>
!messages = !stg.tensor<[B, _ = FR, D], bf16>
!vector = !stg.tensor<[D], bf16>
!one_of_frame = !stg.tensor<[B = FR*B, 1, D], bf16>
!embedding = !stg.tensor<[B, PD], bf16>
!shown = !stg.tensor<[B, _ = S - 1, PD], bf16>
!pairs = !stg.tensor<[B, B, PD], bf16>

// What a frame says, of its first token.
stg.block @say(%x: !frames) -> !messages {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_token"> : !frames -> !one_of_frame
  %r = stg.rearrange "b()d->bd" %f <"first_row"> : !one_of_frame -> !row_of_frame
  %w = stg.param "message_proj" : !stg.tensor<[D, D], bf16>
  %p = stg.einsum "bd,de->be" %r, %w : !row_of_frame, !stg.tensor<[D, D], bf16>
  %b = stg.param "message_bias" : !vector
  %y = stg.bias_add %p, %b : !row_of_frame, !vector
  %m = stg.rearrange "(bt)d->btd" %y <"messages"> : !row_of_frame -> !messages
  stg.return %m : !messages
}

// Attention of a frame's tokens and of what all frames say to each other, which stands behind them.
stg.block @message_attention_layer(%x: !frames) -> !frames {
  %m = stg.call @say(%x) : (!frames) -> !messages
  %mm = stg.call @attention_layer(%m) {K as H, mask = "none", rotary = false} <"message"> : (!messages) -> !messages
  %t = stg.rearrange "b(tn)d->(bt)nd" %mm <"message_tokens"> : !messages -> !one_of_frame
  %l = stg.concat dim 1 ordered %x, %t <"with_message"> : !frames, !one_of_frame -> !longer
  %a = stg.call @attention_layer(%l) {K as H, mask = "none", rotary = false} : (!longer) -> !longer
  %y = stg.slice dim 1 %a {from = #sym.expr<0>} <"without_message"> : !longer -> !frames
  stg.return %y : !frames
}

// All patches of a video, normalized and projected, as the mean of its frames.
stg.block @show(%x: !frames) -> !shown {
  %p = stg.slice dim 1 %x {from = #sym.expr<1>} <"patches"> : !frames -> !stg.tensor<[B = FR*B, S = S - 1, D], bf16>
  %wn = stg.param "prompt_norm.weight" : !vector
  %bn = stg.param "prompt_norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %p, %wn, %bn <"prompt_norm"> : !stg.tensor<[B = FR*B, S = S - 1, D], bf16>, !vector, !vector
  %w = stg.param "prompt_proj" : !stg.tensor<[D, PD], bf16>
  %e = stg.einsum "bsd,dp->bsp" %n, %w : !stg.tensor<[B = FR*B, S = S - 1, D], bf16>, !stg.tensor<[D, PD], bf16>
  %t = stg.rearrange "(bt)(nk)p->btn(kp)" %e <"of_frames"> : !stg.tensor<[B = FR*B, S = S - 1, PD], bf16> -> !stg.tensor<[B, _ = FR, _ = S - 1, PD], bf16>
  %y = stg.mean dim 1 %t <"mean_of_frames"> : !stg.tensor<[B, _ = FR, _ = S - 1, PD], bf16>
  stg.return %y : !shown
}

// Each text for each video, to be kept and to be said again.
stg.block @for_each_video(%text: !embedding) -> (!pairs, !pairs) {
  %y = stg.broadcast dim 0 %text <"texts_of_videos"> : !embedding -> !pairs
  stg.return %y, %y : !pairs, !pairs
}

// A text, and as much of what a video makes of it as is learned.
stg.block @with_prompt(%text: !pairs, %said: !pairs) -> !pairs {
  %w = stg.param "prompt_scale" : !stg.tensor<[PD], bf16>
  %m = stg.mul_along %said, %w {dims = array<i64: 2>} <"prompt_scaled"> : !pairs, !stg.tensor<[PD], bf16>
  %y = stg.add %text, %m <"with_prompt"> : !pairs, !pairs
  stg.return %y : !pairs
}

// How alike a video and each text for it are, both of length one; the cross-entropy of each way.
stg.block @contrast_for_videos(%video: !embedding, %text: !pairs, %own: !stg.tensor<[B], i32>) -> !stg.tensor<[B], f32> {
  %v, %vr = stg.rms_norm %video <"unit_video"> : !embedding
  %t, %tr = stg.rms_norm %text <"unit_texts"> : !pairs
  %p = stg.einsum "bp,bcp->bc" %v, %t <"similarity"> : !embedding, !pairs
  %c = stg.param "logit_scale" : !stg.tensor<[], bf16>
  %s = stg.mul_along %p, %c {dims = array<i64>} <"similarity_scaled"> : !stg.tensor<[B, B], bf16>, !stg.tensor<[], bf16>
  %lv, %pv = stg.cross_entropy %s, %own <"video_loss"> : !stg.tensor<[B, B], bf16>, !stg.tensor<[B], i32>
  %r = stg.rearrange "bc->cb" %s <"similarity_of_texts"> : !stg.tensor<[B, B], bf16> -> !stg.tensor<[B, B], bf16>
  %lt, %pt = stg.cross_entropy %r, %own <"text_loss"> : !stg.tensor<[B, B], bf16>, !stg.tensor<[B], i32>
  %y = stg.add %lt, %lv <"losses"> : !stg.tensor<[B], f32>, !stg.tensor<[B], f32>
  stg.return %y : !stg.tensor<[B], f32>
}

// Frames of a video as steps, and their mean behind layers of them, each added to what it was before.
stg.block @as_steps(%x: !stg.tensor<[B = FR*B, PD], bf16>) -> !stg.tensor<[B, _ = FR, PD], bf16> {
  %y = stg.rearrange "(bt)p->btp" %x <"frames"> : !stg.tensor<[B = FR*B, PD], bf16> -> !stg.tensor<[B, _ = FR, PD], bf16>
  stg.return %y : !stg.tensor<[B, _ = FR, PD], bf16>
}
stg.block @mean_of_steps(%x: !stg.tensor<[B, _ = FR, PD], bf16>, %before: !stg.tensor<[B, _ = FR, PD], bf16>) -> !embedding {
  %s = stg.add %x, %before <"frames_and_before"> : !stg.tensor<[B, _ = FR, PD], bf16>, !stg.tensor<[B, _ = FR, PD], bf16>
  %y = stg.mean dim 1 %s <"mean_of_steps"> : !stg.tensor<[B, _ = FR, PD], bf16>
  stg.return %y : !embedding
}
