// Mamba in heads, as in Zamba: how much a token writes and keeps, and what it writes and reads, is
// made of each of HN heads by itself, and each head has a scan of its own. MC channels are those of
// a head.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @HN "heads of the mixer"
stg.symbol @MC "channels of a head"
stg.symbol @MN "state of a channel"
stg.symbol @MR "rank of the time step"
stg.symbol @CW = 4 "tokens of the convolution"

!stream = !stg.tensor<[B, S, D], bf16>
!channels = !stg.tensor<[B, S, HN, MC], bf16>
!both = !stg.tensor<[B, S, HN, 2*MC], bf16>
!states = !stg.tensor<[B, S, HN, MN], bf16>
!step = !stg.tensor<[B, S, HN, MR], bf16>
!each = !stg.tensor<[HN, MC], bf16>

// The convolution of the channels, and silu.
stg.block @heads_conv(%x: !channels) -> !channels {
  stg.option @conv_bias : bool = true "bias of the convolution"
  %w = stg.param "conv" : !stg.tensor<[HN, MC, CW], bf16>
  %p = stg.causal_conv %x, %w : !channels, !stg.tensor<[HN, MC, CW], bf16>
  %c = stg.if @conv_bias -> !channels {
    %b = stg.param "conv_bias" : !each
    %y = stg.bias_add %p, %b : !channels, !each
    stg.yield %y : !channels
  } else {
    stg.yield %p : !channels
  }
  %s = stg.activation silu %c <"conv_silu"> : !channels
  stg.return %s : !channels
}

stg.block @mamba_heads_mixer(%n: !stream) -> !stream {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  %wi = stg.param "in_proj" : !stg.tensor<[D, HN, 2*MC], bf16>
  %p = stg.einsum "bsd,dhm->bshm" %n, %wi : !stream, !stg.tensor<[D, HN, 2*MC], bf16>
  %xz = stg.if @mixer_bias -> !both {
    %b = stg.param "in_bias" : !stg.tensor<[HN, 2*MC], bf16>
    %y = stg.bias_add %p, %b : !both, !stg.tensor<[HN, 2*MC], bf16>
    stg.yield %y : !both
  } else {
    stg.yield %p : !both
  }
  %x, %z = stg.split dim 3 %xz : !both -> !channels, !channels
  %u = stg.call @heads_conv(%x) : (!channels) -> !channels
  %wx = stg.param "x_proj" : !stg.tensor<[HN, MC, MR + 2*MN], bf16>
  %q = stg.einsum "bshm,hmr->bshr" %u, %wx : !channels, !stg.tensor<[HN, MC, MR + 2*MN], bf16>
  %t, %b, %c = stg.split dim 3 %q : !stg.tensor<[B, S, HN, MR + 2*MN], bf16> -> !step, !states, !states
  %wt = stg.param "dt_proj" : !stg.tensor<[HN, MR, MC], bf16>
  %d = stg.einsum "bshr,hrm->bshm" %t, %wt : !step, !stg.tensor<[HN, MR, MC], bf16>
  %bt = stg.param "dt_bias" : !each
  %db = stg.bias_add %d, %bt : !channels, !each
  %dt = stg.activation softplus %db <"dt"> : !channels
  %a = stg.param "a_log" : !stg.tensor<[HN, MC, MN], bf16>
  %skip = stg.param "d" : !each
  %y = stg.selective_scan %u, %dt, %a, %b, %c, %skip <"scan"> : !channels, !channels, !stg.tensor<[HN, MC, MN], bf16>, !states, !states, !each
  %g = stg.activation silu %z <"gate"> : !channels
  %m = stg.mul %y, %g <"gated"> : !channels, !channels
  %wo = stg.param "out_proj" : !stg.tensor<[HN, MC, D], bf16>
  %o = stg.einsum "bshm,hmd->bsd" %m, %wo : !channels, !stg.tensor<[HN, MC, D], bf16>
  %out = stg.if @mixer_bias -> !stream {
    %bo = stg.param "out_bias" : !stg.tensor<[D], bf16>
    %v = stg.bias_add %o, %bo : !stream, !stg.tensor<[D], bf16>
    stg.yield %v : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %out : !stream
}

// With its normalization and the residual stream.
stg.block @mamba_heads_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %a = stg.call @mamba_heads_mixer(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// What reads the result of a shared layer beside the residual stream, projected for this place.
stg.block @mamba_heads_with_shared_layer(%x: !stream, %t: !stream) -> !stream {
  %w = stg.param "linear" : !stg.tensor<[D, D], bf16>
  %p = stg.einsum "bsd,do->bso" %t, %w : !stream, !stg.tensor<[D, D], bf16>
  %s = stg.add %x, %p <"shared_sum"> : !stream, !stream
  %n = stg.call @before(%s) {part = "mixer"} : (!stream) -> !stream
  %m = stg.call @mamba_heads_mixer(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %m) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
