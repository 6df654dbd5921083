// Mamba in heads whose channels are as many as states, where several heads share what they read and
// what they write: queries, keys and values of attention made a scan (Apriel).

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @MH "heads of a mixer"
stg.symbol @GN = MH "heads that others repeat"
stg.symbol @MP "channels of a mixer's head"
stg.symbol @MN = MP "state of a mixer's channel"
stg.symbol @MR "rank of the time step"
stg.symbol @CW = 4 "tokens of the convolution"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, MH, MP], bf16>
!states = !stg.tensor<[B, S, MH, MN], bf16>
!groups = !stg.tensor<[B, S, MH = GN, MP], bf16>
!group_states = !stg.tensor<[B, S, MH = GN, MN], bf16>
!step = !stg.tensor<[B, S, MR], bf16>
!each = !stg.tensor<[MH, MP], bf16>

// A convolution of each channel, and silu.
stg.block @convolve_heads(%x: !heads) -> !heads {
  stg.option @conv_bias : bool = true "bias of the convolution"
  %w = stg.param "conv" : !stg.tensor<[MH, MP, CW], bf16>
  %p = stg.causal_conv %x, %w : !heads, !stg.tensor<[MH, MP, CW], bf16>
  %c = stg.if @conv_bias -> !heads {
    %b = stg.param "conv_bias" : !each
    %y = stg.bias_add %p, %b : !heads, !each
    stg.yield %y : !heads
  } else {
    stg.yield %p : !heads
  }
  %s = stg.activation silu %c <"conv_silu"> : !heads
  stg.return %s : !heads
}

// Heads, or groups of them, of what the mixer reads.
stg.block @mixer_heads(%n: !stream) -> !heads {
  stg.option @name : string "what it is, in the names of its parameters"
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  %w = stg.param "{name}_proj" : !stg.tensor<[D, MH, MP], bf16>
  %p = stg.einsum "bsd,dhp->bshp" %n, %w : !stream, !stg.tensor<[D, MH, MP], bf16>
  %y = stg.if @mixer_bias -> !heads {
    %b = stg.param "{name}_bias" : !each
    %z = stg.bias_add %p, %b : !heads, !each
    stg.yield %z : !heads
  } else {
    stg.yield %p : !heads
  }
  stg.return %y : !heads
}

stg.block @grouped_mamba_layer(%x: !stream) -> !stream {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  stg.option @repeated_first : bool = true "channels are repeated before the convolution"
  stg.option @step_bias : bool = true "bias of the time step"
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %z = stg.call @mixer_heads(%n) {name = "z"} : (!stream) -> !heads
  %u = stg.call @mixer_heads(%n) {name = "x", MH = GN} : (!stream) -> !groups
  %b = stg.call @mixer_heads(%n) {name = "b", MH = GN, MP as MN} : (!stream) -> !group_states
  %c = stg.call @mixer_heads(%n) {name = "c", MP as MN} : (!stream) -> !states
  %wi = stg.param "dt_in_proj" : !stg.tensor<[D, MR], bf16>
  %ti = stg.einsum "bsd,dr->bsr" %n, %wi : !stream, !stg.tensor<[D, MR], bf16>
  %tb = stg.if @mixer_bias -> !step {
    %p = stg.param "dt_in_bias" : !stg.tensor<[MR], bf16>
    %y = stg.bias_add %ti, %p : !step, !stg.tensor<[MR], bf16>
    stg.yield %y : !step
  } else {
    stg.yield %ti : !step
  }
  %wt = stg.param "dt_proj" : !stg.tensor<[MR, MH, MP], bf16>
  %t = stg.einsum "bsr,rhp->bshp" %tb, %wt : !step, !stg.tensor<[MR, MH, MP], bf16>
  %d = stg.if @step_bias -> !heads {
    %p = stg.param "dt_bias" : !each
    %y = stg.bias_add %t, %p : !heads, !each
    stg.yield %y : !heads
  } else {
    stg.yield %t : !heads
  }
  %dt = stg.activation softplus %d <"dt"> : !heads
  %v = stg.if @repeated_first -> !heads {
    %r = stg.replicate dim 2 %u <"x_of_heads"> : !groups -> !heads
    %y = stg.call @convolve_heads(%r) : (!heads) -> !heads
    stg.yield %y : !heads
  } else {
    %y = stg.call @convolve_heads(%u) : (!groups) -> !groups
    %r = stg.replicate dim 2 %y <"x_of_heads"> : !groups -> !heads
    stg.yield %r : !heads
  }
  %bs = stg.replicate dim 2 %b <"b_of_heads"> : !group_states -> !states
  %a = stg.param "a_log" : !stg.tensor<[MH, MP, MN], bf16>
  %skip = stg.param "d" : !each
  %s = stg.selective_scan %v, %dt, %a, %bs, %c, %skip <"scan"> : !heads, !heads, !stg.tensor<[MH, MP, MN], bf16>, !states, !states, !each
  %g = stg.activation silu %z <"gate"> : !heads
  %m = stg.mul %s, %g <"gated"> : !heads, !heads
  %wo = stg.param "out_proj" : !stg.tensor<[MH, MP, D], bf16>
  %o = stg.einsum "bshp,hpd->bsd" %m, %wo : !heads, !stg.tensor<[MH, MP, D], bf16>
  %out = stg.if @mixer_bias -> !stream {
    %p = stg.param "out_bias" : !stg.tensor<[D], bf16>
    %y = stg.bias_add %o, %p : !stream, !stg.tensor<[D], bf16>
    stg.yield %y : !stream
  } else {
    stg.yield %o : !stream
  }
  %y = stg.call @after(%x, %out) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
