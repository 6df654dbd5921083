// Mamba: a gated selective scan. Each of MC channels has a state of MN numbers; how much a token
// writes and keeps is made of the token itself, by a projection to MR numbers and to those that
// are written and read.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @MC "channels of the mixer"
stg.symbol @MN "state of a channel"
stg.symbol @MR "rank of the time step"
stg.symbol @CW = 4 "tokens of the convolution"

!stream = !stg.tensor<[B, S, D], bf16>
!channels = !stg.tensor<[B, S, MC], bf16>
!states = !stg.tensor<[B, S, MN], bf16>
!step = !stg.tensor<[B, S, MR], bf16>
!vector = !stg.tensor<[MC], bf16>

// A norm of what the scan reads, as in Jamba, or one without weights.
stg.block @scan_norm(%x: !states) -> !states {
  stg.option @name : string = "norm" "name of the parameter"
  stg.option @scan_norms : "none" | "weights" | "bare" = "none" "norms of the step, and of what is written and read"
  %y = stg.if @scan_norms = "none" -> !states {
    stg.yield %x : !states
  } else {
    %n = stg.if @scan_norms = "weights" -> !states {
      %w = stg.param "{name}" : !stg.tensor<[MN], bf16>
      %z, %rstd = stg.rms_norm %x, %w : !states, !stg.tensor<[MN], bf16>
      stg.yield %z : !states
    } else {
      %z, %rstd = stg.rms_norm %x <"{name}"> : !states
      stg.yield %z : !states
    }
    stg.yield %n : !states
  }
  stg.return %y : !states
}

// The convolution of the channels, and silu.
stg.block @channel_conv(%x: !channels) -> !channels {
  stg.option @conv_bias : bool = true "bias of the convolution"
  %w = stg.param "conv" : !stg.tensor<[MC, CW], bf16>
  %p = stg.causal_conv %x, %w : !channels, !stg.tensor<[MC, CW], bf16>
  %c = stg.if @conv_bias -> !channels {
    %b = stg.param "conv_bias" : !vector
    %y = stg.bias_add %p, %b : !channels, !vector
    stg.yield %y : !channels
  } else {
    stg.yield %p : !channels
  }
  %s = stg.activation silu %c <"conv_silu"> : !channels
  stg.return %s : !channels
}

stg.block @mamba_mixer(%n: !stream) -> !stream {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  stg.option @scan_norms : "none" | "weights" | "bare" = "none" "norms of the step, and of what is written and read"
  %wi = stg.param "in_proj" : !stg.tensor<[D, 2*MC], bf16>
  %p = stg.einsum "bsd,dm->bsm" %n, %wi : !stream, !stg.tensor<[D, 2*MC], bf16>
  %xz = stg.if @mixer_bias -> !stg.tensor<[B, S, 2*MC], bf16> {
    %b = stg.param "in_bias" : !stg.tensor<[2*MC], bf16>
    %y = stg.bias_add %p, %b : !stg.tensor<[B, S, 2*MC], bf16>, !stg.tensor<[2*MC], bf16>
    stg.yield %y : !stg.tensor<[B, S, 2*MC], bf16>
  } else {
    stg.yield %p : !stg.tensor<[B, S, 2*MC], bf16>
  }
  %x, %z = stg.split dim 2 %xz : !stg.tensor<[B, S, 2*MC], bf16> -> !channels, !channels
  %u = stg.call @channel_conv(%x) : (!channels) -> !channels
  %wx = stg.param "x_proj" : !stg.tensor<[MC, MR + 2*MN], bf16>
  %q = stg.einsum "bsm,mr->bsr" %u, %wx : !channels, !stg.tensor<[MC, MR + 2*MN], bf16>
  %t, %b0, %c0 = stg.split dim 2 %q : !stg.tensor<[B, S, MR + 2*MN], bf16> -> !step, !states, !states
  %r = stg.call @scan_norm(%t) {name = "dt_norm"} : (!step) -> !step
  %b = stg.call @scan_norm(%b0) {name = "b_norm"} : (!states) -> !states
  %c = stg.call @scan_norm(%c0) {name = "c_norm"} : (!states) -> !states
  %wt = stg.param "dt_proj" : !stg.tensor<[MR, MC], bf16>
  %d = stg.einsum "bsr,rm->bsm" %r, %wt : !step, !stg.tensor<[MR, MC], bf16>
  %bt = stg.param "dt_bias" : !vector
  %db = stg.bias_add %d, %bt : !channels, !vector
  %dt = stg.activation softplus %db <"dt"> : !channels
  %a = stg.param "a_log" : !stg.tensor<[MC, MN], bf16>
  %skip = stg.param "d" : !vector
  %y = stg.selective_scan %u, %dt, %a, %b, %c, %skip <"scan"> : !channels, !channels, !stg.tensor<[MC, MN], bf16>, !states, !states, !vector
  %g = stg.activation silu %z <"gate"> : !channels
  %m = stg.mul %y, %g <"gated"> : !channels, !channels
  %wo = stg.param "out_proj" : !stg.tensor<[MC, D], bf16>
  %o = stg.einsum "bsm,md->bsd" %m, %wo : !channels, !stg.tensor<[MC, D], bf16>
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
stg.block @mamba_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %a = stg.call @mamba_mixer(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
