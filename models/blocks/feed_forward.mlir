// Feed-forward networks: of two matrices, or gated, with gate and up as one projection.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @F "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!hidden = !stg.tensor<[B, S, F], bf16>

// `activation(gate) * up`, of one projection.
stg.block @fused_gate(%x: !stream) -> !hidden {
  stg.option @gate_limited : bool = false "gate and up are limited"
  stg.option @clamped : bool = false "gate and up are limited, and up is one more"
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the gate"
  stg.option @glu : string = "swiglu" "name of the gated activation"
  stg.option @ffn_bias : bool = false "biases of the feed-forward network"
  %wgu = stg.param "{prefix}gate_up_proj" : !stg.tensor<[D, 2, F], bf16>
  %p = stg.einsum "bsd,dgf->bsgf" %x, %wgu : !stream, !stg.tensor<[D, 2, F], bf16>
  %gu = stg.if @ffn_bias -> !stg.tensor<[B, S, 2, F], bf16> {
    %b = stg.param "{prefix}gate_up_bias" : !stg.tensor<[2, F], bf16>
    %z = stg.bias_add %p, %b : !stg.tensor<[B, S, 2, F], bf16>, !stg.tensor<[2, F], bf16>
    stg.yield %z : !stg.tensor<[B, S, 2, F], bf16>
  } else {
    stg.yield %p : !stg.tensor<[B, S, 2, F], bf16>
  }
  %h = stg.if @clamped -> !hidden {
    %z = stg.glu silu %gu {clamped, stg.options = {function = "activation"}} <"{prefix}{glu}"> : !stg.tensor<[B, S, 2, F], bf16>
    stg.yield %z : !hidden
  } else {
    %z = stg.glu silu %gu {limited, stg.options = {function = "activation", limited = "gate_limited"}} <"{prefix}{glu}"> : !stg.tensor<[B, S, 2, F], bf16>
    stg.yield %z : !hidden
  }
  stg.return %h : !hidden
}

// One of two projections.
stg.block @gate_part(%x: !stream) -> !hidden {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @name : string = "gate" "what it is, in the names of its parameters"
  stg.option @ffn_bias : bool = false "biases of the feed-forward network"
  %w = stg.param "{prefix}{name}_proj" : !stg.tensor<[D, F], bf16>
  %p = stg.einsum "bsd,df->bsf" %x, %w : !stream, !stg.tensor<[D, F], bf16>
  %y = stg.if @ffn_bias -> !hidden {
    %b = stg.param "{prefix}{name}_bias" : !stg.tensor<[F], bf16>
    %z = stg.bias_add %p, %b : !hidden, !stg.tensor<[F], bf16>
    stg.yield %z : !hidden
  } else {
    stg.yield %p : !hidden
  }
  stg.return %y : !hidden
}

// `activation(gate) * up`, of two projections, by two kernels.
stg.block @separate_gate(%x: !stream) -> !hidden {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the gate"
  %g = stg.call @gate_part(%x) {name = "gate"} : (!stream) -> !hidden
  %a = stg.activation silu %g {stg.options = {function = "activation"}} <"{prefix}{activation}"> : !hidden
  %u = stg.call @gate_part(%x) {name = "up"} : (!stream) -> !hidden
  %h = stg.mul %a, %u <"{prefix}gate"> : !hidden, !hidden
  stg.return %h : !hidden
}

// The same, where neither of the two factors is beyond a limit.
stg.block @limited_gate(%x: !stream) -> !hidden {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the gate"
  %g = stg.call @gate_part(%x) {name = "gate"} : (!stream) -> !hidden
  %a = stg.activation silu %g {stg.options = {function = "activation"}} <"{prefix}{activation}"> : !hidden
  %al = stg.clamp %a <"{prefix}limited_gate"> : !hidden
  %u = stg.call @gate_part(%x) {name = "up"} : (!stream) -> !hidden
  %ul = stg.clamp %u <"{prefix}limited_up"> : !hidden
  %h = stg.mul %al, %ul <"{prefix}gate"> : !hidden, !hidden
  stg.return %h : !hidden
}

// Gates without those below a limit, which is so far from their mean as their deviation, times a
// constant, says: of many gates about as many stay, whatever the token is.
stg.block @largest_gates(%g: !hidden) -> !hidden {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  // No trace has the values of constants. The mean comes negated, and so the limit does.
  %c = stg.splat 1 : !stg.tensor<[B, S], bf16>
  %s = stg.sum dim 2 %g <"{prefix}gate_sum"> : !hidden
  %m = stg.mul %s, %c <"{prefix}gate_mean"> : !stg.tensor<[B, S], bf16>, !stg.tensor<[B, S], bf16>
  %q = stg.elementwise square %g <"{prefix}gate_squares"> : !hidden
  %qs = stg.sum dim 2 %q <"{prefix}gate_square_sum"> : !hidden
  %qm = stg.mul %qs, %c <"{prefix}gate_square_mean"> : !stg.tensor<[B, S], bf16>, !stg.tensor<[B, S], bf16>
  %mm = stg.elementwise square %m <"{prefix}gate_mean_square"> : !stg.tensor<[B, S], bf16>
  %v = stg.elementwise sub %qm, %mm <"{prefix}gate_variance"> : !stg.tensor<[B, S], bf16>, !stg.tensor<[B, S], bf16>
  %d = stg.elementwise sqrt %v <"{prefix}gate_deviation"> : !stg.tensor<[B, S], bf16>
  %ds = stg.mul %d, %c <"{prefix}gate_distance"> : !stg.tensor<[B, S], bf16>, !stg.tensor<[B, S], bf16>
  %l = stg.add %m, %ds <"{prefix}gate_limit"> : !stg.tensor<[B, S], bf16>, !stg.tensor<[B, S], bf16>
  %o = stg.bias_add %g, %l {dims = array<i64: 0, 1>} <"{prefix}gate_over_limit"> : !hidden, !stg.tensor<[B, S], bf16>
  %y = stg.activation relu %o <"{prefix}largest_gates"> : !hidden
  stg.return %y : !hidden
}

// `activation(gate) * up` of the largest gates: the others are zero.
stg.block @sparse_gate(%x: !stream) -> !hidden {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the gate"
  %g = stg.call @gate_part(%x) {name = "gate"} : (!stream) -> !hidden
  %l = stg.call @largest_gates(%g) : (!hidden) -> !hidden
  %a = stg.activation silu %l {stg.options = {function = "activation"}} <"{prefix}{activation}"> : !hidden
  %u = stg.call @gate_part(%x) {name = "up"} : (!stream) -> !hidden
  %h = stg.mul %a, %u <"{prefix}gate"> : !hidden, !hidden
  stg.return %h : !hidden
}

// `activation(gate) * up`, and down.
stg.block @gated_feed_forward(%x: !stream) -> !stream {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @ffn_bias : bool = false "biases of the feed-forward network"
  stg.option @down_bias : bool = false "bias of the last matrix alone"
  stg.option @gate_scaled : bool = false "the gate, times a constant"
  stg.option @inner_norm : bool = false "RMSNorm of what the last matrix of attention, or of a feed-forward network, reads"
  stg.option @separate_projections : bool = false "query, key and value are products of their own; gate and up, too"
  stg.option @limited : bool = false "neither what the gate gives nor up is beyond a limit; both are products of their own"
  stg.option @largest : bool = false "gates below a limit, of their mean and deviation, are zero; gate and up are products of their own"
  %h = stg.if @limited -> !hidden {
    %l = stg.call @limited_gate(%x) : (!stream) -> !hidden
    stg.yield %l : !hidden
  } else {
    %n = stg.if @largest -> !hidden {
      %t = stg.call @sparse_gate(%x) : (!stream) -> !hidden
      stg.yield %t : !hidden
    } else {
      %m = stg.if @separate_projections -> !hidden {
        %s = stg.call @separate_gate(%x) : (!stream) -> !hidden
        stg.yield %s : !hidden
      } else {
        %f = stg.call @fused_gate(%x) : (!stream) -> !hidden
        stg.yield %f : !hidden
      }
      stg.yield %m : !hidden
    }
    stg.yield %n : !hidden
  }
  %hs = stg.if @gate_scaled -> !hidden {
    // As many elements as of the gate, which it scales. No trace has the value of the constant.
    %c = stg.splat 1 : !hidden
    %m = stg.mul %h, %c <"{prefix}gate_scale"> : !hidden, !hidden
    stg.yield %m : !hidden
  } else {
    stg.yield %h : !hidden
  }
  %hn = stg.if @inner_norm -> !hidden {
    %w = stg.param "{prefix}ffn_inner_norm" : !stg.tensor<[F], bf16>
    %n, %rstd = stg.rms_norm %hs, %w : !hidden, !stg.tensor<[F], bf16>
    stg.yield %n : !hidden
  } else {
    stg.yield %hs : !hidden
  }
  %wd = stg.param "{prefix}down_proj" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bsf,fd->bsd" %hn, %wd : !hidden, !stg.tensor<[F, D], bf16>
  %y = stg.if @ffn_bias -> !stream {
    %b = stg.param "{prefix}down_bias" : !vector
    %z = stg.bias_add %d, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    %z = stg.if @down_bias -> !stream {
      %b = stg.param "{prefix}down_bias" : !vector
      %db = stg.bias_add %d, %b : !stream, !vector
      stg.yield %db : !stream
    } else {
      stg.yield %d : !stream
    }
    stg.yield %z : !stream
  }
  stg.return %y : !stream
}

// Adds a bias, if there is one.
stg.block @hidden_bias(%x: !hidden) -> !hidden {
  stg.option @ffn_bias : bool = false "biases of the feed-forward network"
  %y = stg.if @ffn_bias -> !hidden {
    %b = stg.param "fc1_bias" : !stg.tensor<[F], bf16>
    %z = stg.bias_add %x, %b : !hidden, !stg.tensor<[F], bf16>
    stg.yield %z : !hidden
  } else {
    stg.yield %x : !hidden
  }
  stg.return %y : !hidden
}

stg.block @plain_feed_forward(%x: !stream) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "between the two"
  stg.option @learned_activation : "none" | "xielu" = "none" "an activation with learned numbers in its place"
  stg.option @ffn_bias : bool = false "biases of the feed-forward network"
  stg.option @inner_layer_norm : bool = false "LayerNorm of what the last matrix of attention, or of a feed-forward network, reads"
  %w1 = stg.param "fc1" : !stg.tensor<[D, F], bf16>
  %u = stg.einsum "bsd,df->bsf" %x, %w1 : !stream, !stg.tensor<[D, F], bf16>
  %ub = stg.call @hidden_bias(%u) : (!hidden) -> !hidden
  %h = stg.if @learned_activation = "none" -> !hidden {
    %a = stg.activation gelu %ub {stg.options = {function = "activation"}} <"{activation}"> : !hidden
    stg.yield %a : !hidden
  } else {
    %numbers = stg.param "xielu" : !stg.tensor<[2], bf16>
    %a = stg.learned_activation xielu %ub, %numbers : !hidden, !stg.tensor<[2], bf16>
    stg.yield %a : !hidden
  }
  %n = stg.if @inner_layer_norm -> !hidden {
    %w = stg.param "ffn_inner_norm.weight" : !stg.tensor<[F], bf16>
    %b = stg.param "ffn_inner_norm.bias" : !stg.tensor<[F], bf16>
    %z, %mean, %rstd = stg.layer_norm %h, %w, %b <"ffn_inner_norm"> : !hidden, !stg.tensor<[F], bf16>, !stg.tensor<[F], bf16>
    stg.yield %z : !hidden
  } else {
    stg.yield %h : !hidden
  }
  %w2 = stg.param "fc2" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bsf,fd->bsd" %n, %w2 : !hidden, !stg.tensor<[F, D], bf16>
  %y = stg.if @ffn_bias -> !stream {
    %b = stg.param "fc2_bias" : !vector
    %z = stg.bias_add %d, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %d : !stream
  }
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @feed_forward_layer(%x: !stream) -> !stream {
  stg.option @gated : bool = true "gate and up, or one matrix"
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %f = stg.if @gated -> !stream {
    %g = stg.call @gated_feed_forward(%n) : (!stream) -> !stream
    stg.yield %g : !stream
  } else {
    %p = stg.call @plain_feed_forward(%n) : (!stream) -> !stream
    stg.yield %p : !stream
  }
  %y = stg.call @after(%x, %f) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Without the residual stream.
stg.block @feed_forward_branch(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %y = stg.call @gated_feed_forward(%n) : (!stream) -> !stream
  stg.return %y : !stream
}

// One matrix in the place of a part of a layer.
stg.block @linear_layer(%x: !stream) -> !stream {
  stg.option @part : string = "ffn" "of the layer"
  stg.option @linear_bias : bool = false "bias of the matrix"
  %n = stg.call @before(%x) : (!stream) -> !stream
  %w = stg.param "{part}_linear" : !stg.tensor<[D, D], bf16>
  %p = stg.einsum "bsd,de->bse" %n, %w : !stream, !stg.tensor<[D, D], bf16>
  %l = stg.if @linear_bias -> !stream {
    %b = stg.param "{part}_linear_bias" : !vector
    %z = stg.bias_add %p, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %p : !stream
  }
  %y = stg.call @after(%x, %l) : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
