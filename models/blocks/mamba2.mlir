// Mamba-2: MH heads of MP channels, each with a state of MP times MN numbers. What a token writes
// and reads is that of a group of heads, or the same for all heads.
//
// The projection is three: gate and input of the heads, what groups write and read, and the
// time step. So heads and groups can be divided, and what all heads share need not be. The
// scan is in chunks of MQ tokens.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @MH "heads of the mixer"
stg.symbol @MP "channels of a head"
stg.symbol @MN "state of a channel"
stg.symbol @MG = 1 "groups of heads that read and write alike"
stg.symbol @CW = 4 "tokens of the convolution"
stg.symbol @MQ = 256 "tokens of a chunk"

!stream = !stg.tensor<[B, S, D], bf16>
!heads = !stg.tensor<[B, S, MH, MP], bf16>
!pairs = !stg.tensor<[B, S, MH, 2*MP], bf16>
!steps = !stg.tensor<[B, S, MH], bf16>
!each = !stg.tensor<[MH], bf16>
!weight = !stg.tensor<[MH, MP], bf16>
!shared = !stg.tensor<[B, S, MN], bf16>
!shared_pairs = !stg.tensor<[B, S, 2*MN], bf16>
!groups = !stg.tensor<[B, S, MG, MN], bf16>
!group_pairs = !stg.tensor<[B, S, MG, 2*MN], bf16>

// Gate and input of the heads.
stg.block @mixer_input(%n: !stream) -> (!heads, !heads) {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  stg.option @mixer_scaled : bool = false "what the projections in give, times constants"
  %w = stg.param "zx_proj" : !stg.tensor<[D, MH, 2*MP], bf16>
  %p = stg.einsum "bsd,dmp->bsmp" %n, %w : !stream, !stg.tensor<[D, MH, 2*MP], bf16>
  %q = stg.if @mixer_bias -> !pairs {
    %b = stg.param "zx_bias" : !stg.tensor<[MH, 2*MP], bf16>
    %y = stg.bias_add %p, %b : !pairs, !stg.tensor<[MH, 2*MP], bf16>
    stg.yield %y : !pairs
  } else {
    stg.yield %p : !pairs
  }
  %t = stg.if @mixer_scaled -> !pairs {
    // No trace has the values of constants.
    %c = stg.splat 1 : !pairs
    %m = stg.mul %q, %c <"zx_scale"> : !pairs, !pairs
    stg.yield %m : !pairs
  } else {
    stg.yield %q : !pairs
  }
  %z, %x = stg.split dim 3 %t : !pairs -> !heads, !heads
  stg.return %z, %x : !heads, !heads
}

stg.block @mixer_step(%n: !stream) -> !steps {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  stg.option @mixer_scaled : bool = false "what the projections in give, times constants"
  %w = stg.param "dt_proj" : !stg.tensor<[D, MH], bf16>
  %p = stg.einsum "bsd,dm->bsm" %n, %w : !stream, !stg.tensor<[D, MH], bf16>
  %q = stg.if @mixer_bias -> !steps {
    %b = stg.param "dt_proj_bias" : !each
    %y = stg.bias_add %p, %b : !steps, !each
    stg.yield %y : !steps
  } else {
    stg.yield %p : !steps
  }
  %t = stg.if @mixer_scaled -> !steps {
    // No trace has the values of constants.
    %c = stg.splat 1 : !steps
    %m = stg.mul %q, %c <"dt_scale"> : !steps, !steps
    stg.yield %m : !steps
  } else {
    stg.yield %q : !steps
  }
  %b = stg.param "dt_bias" : !each
  %s = stg.bias_add %t, %b : !steps, !each
  %dt = stg.activation softplus %s <"dt"> : !steps
  stg.return %dt : !steps
}

stg.block @head_conv(%x: !heads) -> !heads {
  stg.option @conv_bias : bool = true "bias of the convolution"
  %w = stg.param "conv" : !stg.tensor<[MH, MP, CW], bf16>
  %p = stg.causal_conv %x, %w : !heads, !stg.tensor<[MH, MP, CW], bf16>
  %c = stg.if @conv_bias -> !heads {
    %b = stg.param "conv_bias" : !weight
    %y = stg.bias_add %p, %b : !heads, !weight
    stg.yield %y : !heads
  } else {
    stg.yield %p : !heads
  }
  %s = stg.activation silu %c <"conv_silu"> : !heads
  stg.return %s : !heads
}

// What each group writes and reads.
stg.block @group_states(%n: !stream) -> (!groups, !groups) {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  stg.option @conv_bias : bool = true "bias of the convolution"
  stg.option @mixer_scaled : bool = false "what the projections in give, times constants"
  %w = stg.param "bc_proj" : !stg.tensor<[D, MG, 2*MN], bf16>
  %p = stg.einsum "bsd,dgn->bsgn" %n, %w : !stream, !stg.tensor<[D, MG, 2*MN], bf16>
  %q = stg.if @mixer_bias -> !group_pairs {
    %b = stg.param "bc_proj_bias" : !stg.tensor<[MG, 2*MN], bf16>
    %y = stg.bias_add %p, %b : !group_pairs, !stg.tensor<[MG, 2*MN], bf16>
    stg.yield %y : !group_pairs
  } else {
    stg.yield %p : !group_pairs
  }
  %wc = stg.param "bc_conv" : !stg.tensor<[MG, 2*MN, CW], bf16>
  %t = stg.if @mixer_scaled -> !group_pairs {
    // No trace has the values of constants.
    %c = stg.splat 1 : !group_pairs
    %m = stg.mul %q, %c <"bc_scale"> : !group_pairs, !group_pairs
    stg.yield %m : !group_pairs
  } else {
    stg.yield %q : !group_pairs
  }
  %u = stg.causal_conv %t, %wc : !group_pairs, !stg.tensor<[MG, 2*MN, CW], bf16>
  %v = stg.if @conv_bias -> !group_pairs {
    %b = stg.param "bc_conv_bias" : !stg.tensor<[MG, 2*MN], bf16>
    %y = stg.bias_add %u, %b : !group_pairs, !stg.tensor<[MG, 2*MN], bf16>
    stg.yield %y : !group_pairs
  } else {
    stg.yield %u : !group_pairs
  }
  %s = stg.activation silu %v <"bc_silu"> : !group_pairs
  %b, %c = stg.split dim 3 %s : !group_pairs -> !groups, !groups
  stg.return %b, %c : !groups, !groups
}

// What all heads write and read.
stg.block @shared_states(%n: !stream) -> (!shared, !shared) {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  stg.option @conv_bias : bool = true "bias of the convolution"
  stg.option @mixer_scaled : bool = false "what the projections in give, times constants"
  %w = stg.param "bc_proj" : !stg.tensor<[D, 2*MN], bf16>
  %p = stg.einsum "bsd,dn->bsn" %n, %w : !stream, !stg.tensor<[D, 2*MN], bf16>
  %q = stg.if @mixer_bias -> !shared_pairs {
    %b = stg.param "bc_proj_bias" : !stg.tensor<[2*MN], bf16>
    %y = stg.bias_add %p, %b : !shared_pairs, !stg.tensor<[2*MN], bf16>
    stg.yield %y : !shared_pairs
  } else {
    stg.yield %p : !shared_pairs
  }
  %wc = stg.param "bc_conv" : !stg.tensor<[2*MN, CW], bf16>
  %t = stg.if @mixer_scaled -> !shared_pairs {
    // No trace has the values of constants.
    %c = stg.splat 1 : !shared_pairs
    %m = stg.mul %q, %c <"bc_scale"> : !shared_pairs, !shared_pairs
    stg.yield %m : !shared_pairs
  } else {
    stg.yield %q : !shared_pairs
  }
  %u = stg.causal_conv %t, %wc : !shared_pairs, !stg.tensor<[2*MN, CW], bf16>
  %v = stg.if @conv_bias -> !shared_pairs {
    %b = stg.param "bc_conv_bias" : !stg.tensor<[2*MN], bf16>
    %y = stg.bias_add %u, %b : !shared_pairs, !stg.tensor<[2*MN], bf16>
    stg.yield %y : !shared_pairs
  } else {
    stg.yield %u : !shared_pairs
  }
  %s = stg.activation silu %v <"bc_silu"> : !shared_pairs
  %b, %c = stg.split dim 2 %s : !shared_pairs -> !shared, !shared
  stg.return %b, %c : !shared, !shared
}

// The gate, and the norm behind it: of each group of heads, of all heads, or none.
stg.block @mixer_gate(%y: !heads, %z: !heads) -> !heads {
  stg.option @mixer_groups : bool = false "groups of heads read and write alike, not all heads"
  stg.option @mixer_norm : bool = true "a norm behind the gate"
  %o = stg.if @mixer_norm -> !heads {
    %w = stg.param "gate_norm" : !weight
    %g = stg.if @mixer_groups -> !heads {
      %n, %rstd = stg.gated_norm %y, %z, %w : !heads, !heads, !weight -> !heads, !stg.tensor<[B, S, MG], f32>
      stg.yield %n : !heads
    } else {
      %n, %rstd = stg.gated_norm %y, %z, %w : !heads, !heads, !weight -> !heads, !stg.tensor<[B, S], f32>
      stg.yield %n : !heads
    }
    stg.yield %g : !heads
  } else {
    %s = stg.activation silu %z <"gate"> : !heads
    %m = stg.mul %y, %s <"gated"> : !heads, !heads
    stg.yield %m : !heads
  }
  stg.return %o : !heads
}

stg.block @mamba2_mixer(%n: !stream) -> !stream {
  stg.option @mixer_bias : bool = false "biases of the projections in and out"
  stg.option @mixer_groups : bool = false "groups of heads read and write alike, not all heads"
  %z, %x = stg.call @mixer_input(%n) : (!stream) -> (!heads, !heads)
  %dt = stg.call @mixer_step(%n) : (!stream) -> !steps
  %u = stg.call @head_conv(%x) : (!heads) -> !heads
  %a = stg.param "a_log" : !each
  %skip = stg.param "d" : !each
  %y = stg.if @mixer_groups -> !heads {
    %b, %c = stg.call @group_states(%n) : (!stream) -> (!groups, !groups)
    %s = stg.ssd MQ %u, %dt, %a, %b, %c, %skip <"scan"> : !heads, !steps, !each, !groups, !groups, !each
    stg.yield %s : !heads
  } else {
    %b, %c = stg.call @shared_states(%n) : (!stream) -> (!shared, !shared)
    %s = stg.ssd MQ %u, %dt, %a, %b, %c, %skip <"scan"> : !heads, !steps, !each, !shared, !shared, !each
    stg.yield %s : !heads
  }
  %g = stg.call @mixer_gate(%y, %z) : (!heads, !heads) -> !heads
  %wo = stg.param "out_proj" : !stg.tensor<[MH, MP, D], bf16>
  %o = stg.einsum "bsmp,mpd->bsd" %g, %wo : !heads, !stg.tensor<[MH, MP, D], bf16>
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
stg.block @mamba2_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "mixer"} : (!stream) -> !stream
  %a = stg.call @mamba2_mixer(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "mixer"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
