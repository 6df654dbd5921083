// Mixtures of experts: each token goes through the A experts with the largest router
// probabilities and gets the sum of their outputs, weighted with these probabilities.
//
// The router's scores are a softmax over all experts, a sigmoid of each, or a softmax over
// the chosen ones. A correction is added to them where they are compared, and nowhere else.
//
// A loss of the router may balance its choices: those of a micro-batch together, of each
// sequence, or of all data ranks. Another one keeps its logits small.
//
// All experts get equally many tokens and none is dropped. A capacity factor CN/CD sizes
// the experts' buffers otherwise: CN = 5, CD = 4 is 1.25. A shared expert is a feed-forward
// network that all tokens see.
//
// A router may choose among X experts and XI that give what they read (LongCat-Flash). Of the A
// choices of a token those of experts are AX, which is how many they are on the average.

stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @F "feed-forward size of an expert"
stg.symbol @G = F "feed-forward size of the shared expert"
stg.symbol @XL = D "size of the space that experts work in"
stg.symbol @X "experts"
stg.symbol @XI = X "experts that give what they read"
stg.symbol @A "experts per token"
stg.symbol @AX = ceildiv(A*X, X + XI) "experts per token that compute something, on the average"
stg.symbol @V "vocabulary"
stg.symbol @NG = 1 "groups of experts"
stg.symbol @NL = 1 "groups of which a token uses experts"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!latents = !stg.tensor<[B, S, XL], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!ids = !stg.tensor<[B, S], i32>
!expert_table = !stg.tensor<[_ = V, A], i32>
!counts = !stg.tensor<[X], f32>
!losses = !stg.tensor<[B, S], f32>
!logits = !stg.tensor<[B, S, X], bf16>
!buffers = !stg.tensor<[X, A*B*S*CN/(X*CD), D], bf16>
!hidden = !stg.tensor<[X, A*B*S*CN/(X*CD), F], bf16>
!pairs = !stg.tensor<[X, A*B*S*CN/(X*CD), 2, F], bf16>

// What the experts of a token are compared by.
stg.block @scores(%logits: !logits) -> !probs {
  stg.option @router : "softmax" | "sigmoid" | "sqrtsoftplus" | "chosen" = "softmax" "scores of the experts"
  %p = stg.if @router = "softmax" -> !probs {
    %y = stg.softmax %logits <"router_softmax"> : !logits
    stg.yield %y : !probs
  } else {
    %f = stg.cast %logits <"router_cast"> : !logits -> !probs
    %s = stg.if @router = "sigmoid" -> !probs {
      %y = stg.activation sigmoid %f <"router_sigmoid"> : !probs
      stg.yield %y : !probs
    } else {
      %r = stg.if @router = "sqrtsoftplus" -> !probs {
        %a = stg.activation softplus %f <"router_softplus"> : !probs
        %y = stg.elementwise sqrt %a <"router_root"> : !probs
        stg.yield %y : !probs
      } else {
        stg.yield %f : !probs
      }
      stg.yield %r : !probs
    }
    stg.yield %s : !probs
  }
  stg.return %p : !probs
}

// The experts with the largest scores.
stg.block @choose(%probs: !probs, %compared: !probs) -> (!weights, !choices) {
  stg.option @router_correction : bool = false "a correction of what is compared"
  stg.option @router_groups : bool = false "of the experts of NL of NG groups"
  %w, %c = stg.if @router_groups -> !weights, !choices {
    %y, %i = stg.top_k A %probs, %compared {groups = #sym.expr<NG>, limit = #sym.expr<NL>} <"router_top_k"> : !probs, !probs
    stg.yield %y, %i : !weights, !choices
  } else {
    %z, %j = stg.if @router_correction -> !weights, !choices {
      %y, %i = stg.top_k A %probs, %compared <"router_top_k"> : !probs, !probs
      stg.yield %y, %i : !weights, !choices
    } else {
      %y, %i = stg.top_k A %probs <"router_top_k"> : !probs
      stg.yield %y, %i : !weights, !choices
    }
    stg.yield %z, %j : !weights, !choices
  }
  stg.return %w, %c : !weights, !choices
}

// The losses of the router.
stg.block @balance(%probs: !probs, %choice: !choices) {
  stg.option @router : "softmax" | "sigmoid" | "sqrtsoftplus" | "chosen" = "softmax" "scores of the experts"
  stg.option @router_loss : "none" | "batch" | "sequence" | "global" = "none" "choices that are balanced together"
  stg.if @router_loss = "none" {
    stg.yield
  } else {
    // Scores whose sum is one.
    %p = stg.if @router = "softmax" -> !probs {
      stg.yield %probs : !probs
    } else {
      %q = stg.if @router = "sigmoid" | "sqrtsoftplus" -> !probs {
        %y, %sum = stg.divide_by_sum %probs <"router_shares"> : !probs
        stg.yield %y : !probs
      } else {
        %y = stg.softmax %probs <"router_shares"> : !probs
        stg.yield %y : !probs
      }
      stg.yield %q : !probs
    }
    %l = stg.if @router_loss = "sequence" -> !losses {
      %c = stg.count_indices %choice <"router_counts"> : !choices -> !stg.tensor<[B, X], f32>
      %y = stg.balance_loss %p, %c <"router_balance"> : !probs, !stg.tensor<[B, X], f32>
      stg.yield %y : !losses
    } else {
      %c = stg.if @router_loss = "batch" -> !counts {
        %d = stg.count_indices %choice {own} <"router_counts"> : !choices -> !counts
        stg.yield %d : !counts
      } else {
        %d = stg.count_indices %choice <"router_counts"> : !choices -> !counts
        stg.yield %d : !counts
      }
      %y = stg.balance_loss %p, %c <"router_balance"> : !probs, !counts
      stg.yield %y : !losses
    }
    stg.auxiliary_loss 1/100 %l <"router_balance"> : !losses
    stg.yield
  }
  stg.return
}

// What the router says of the experts.
stg.block @router_logits(%n: !stream) -> !logits {
  stg.option @router_bias : bool = false "bias of the router's logits"
  stg.option @router_z_loss : bool = false "a loss of the router's logits"
  stg.option @router_cap : bool = false "the router's logits are capped by a tanh"
  %router = stg.param "router" : !stg.tensor<[D, X], bf16>
  %product = stg.einsum "bsd,dx->bsx" %n, %router : !stream, !stg.tensor<[D, X], bf16>
  %biased = stg.if @router_bias -> !logits {
    %b = stg.param "router_bias" : !stg.tensor<[X], bf16>
    %y = stg.bias_add %product, %b : !logits, !stg.tensor<[X], bf16>
    stg.yield %y : !logits
  } else {
    stg.yield %product : !logits
  }
  %logits = stg.if @router_cap -> !logits {
    %y = stg.activation tanh %biased <"router_cap"> : !logits
    stg.yield %y : !logits
  } else {
    stg.yield %biased : !logits
  }
  stg.if @router_z_loss {
    %z, %lse = stg.z_loss %logits <"router_z_loss"> : !logits
    stg.auxiliary_loss 1/1000 %z <"router_z_loss"> : !losses
    stg.yield
  } else {
    stg.yield
  }
  stg.return %logits : !logits
}

// The weights of the experts that a token has.
stg.block @weigh(%chosen: !weights) -> !weights {
  stg.option @router : "softmax" | "sigmoid" | "sqrtsoftplus" | "chosen" = "softmax" "scores of the experts"
  stg.option @normalized : bool = false "weights of a token are divided by their sum"
  stg.option @router_scaled : bool = false "weights are scaled by a constant"
  %w = stg.if @router = "chosen" -> !weights {
    %y = stg.softmax %chosen <"router_softmax"> : !weights
    stg.yield %y : !weights
  } else {
    %z = stg.if @normalized -> !weights {
      %y, %sum = stg.divide_by_sum %chosen <"router_weights"> : !weights
      stg.yield %y : !weights
    } else {
      stg.yield %chosen : !weights
    }
    stg.yield %z : !weights
  }
  %scaled = stg.if @router_scaled -> !weights {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !weights
    %y = stg.mul %w, %c <"router_scale"> : !weights, !weights
    stg.yield %y : !weights
  } else {
    stg.yield %w : !weights
  }
  stg.return %scaled : !weights
}

// The experts of each token, and their weights.
stg.block @route(%n: !stream) -> (!weights, !choices) {
  stg.option @router_correction : bool = false "a correction of what is compared"
  %logits = stg.call @router_logits(%n) : (!stream) -> !logits
  %probs = stg.call @scores(%logits) : (!logits) -> !probs
  %compared = stg.if @router_correction -> !probs {
    %p = stg.param "router_correction" : !stg.tensor<[X], bf16>
    %b = stg.cast %p <"router_correction"> : !stg.tensor<[X], bf16> -> !stg.tensor<[X], f32>
    %y = stg.bias_add %probs, %b <"router_compared"> : !probs, !stg.tensor<[X], f32>
    stg.yield %y : !probs
  } else {
    stg.yield %probs : !probs
  }
  %chosen, %choice = stg.call @choose(%probs, %compared) : (!probs, !probs) -> (!weights, !choices)
  stg.call @balance(%probs, %choice) : (!probs, !choices) -> ()
  %w = stg.call @weigh(%chosen) : (!weights) -> !weights
  stg.return %w, %choice : !weights, !choices
}

// The same where a table says of each token which experts it has.
stg.block @route_by_table(%n: !stream, %tokens: !ids) -> (!weights, !choices) {
  %logits = stg.call @router_logits(%n) : (!stream) -> !logits
  %probs = stg.call @scores(%logits) : (!logits) -> !probs
  %table = stg.param "expert_table" {frozen} : !expert_table
  %choice = stg.embedding %table, %tokens <"router_table"> : !expert_table, !ids
  %chosen = stg.take %probs, %choice <"router_take"> : !probs, !choices
  %w = stg.call @weigh(%chosen) : (!weights) -> !weights
  stg.return %w, %choice : !weights, !choices
}

// The expert that all tokens see.
stg.block @shared_expert(%n: !stream) -> !stream {
  stg.option @shared_gate : bool = false "it is scaled by a gate of each token"
  stg.option @expert_gated : bool = true "gate and up, or one matrix"
  stg.option @shared_unlimited : bool = false "gates of the experts are limited, but not its own"
  %shared = stg.if @expert_gated -> !stream {
    %g = stg.if @shared_unlimited -> !stream {
      %f = stg.call @gated_feed_forward(%n) {F = G, prefix = "shared_", gate_limited = false} : (!stream) -> !stream
      stg.yield %f : !stream
    } else {
      %f = stg.call @gated_feed_forward(%n) {F = G, prefix = "shared_"} : (!stream) -> !stream
      stg.yield %f : !stream
    }
    stg.yield %g : !stream
  } else {
    %f = stg.call @plain_feed_forward(%n) {F = G} <"shared"> : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %y = stg.if @shared_gate -> !stream {
    %w = stg.param "shared_gate" : !vector
    %l = stg.einsum "bsd,d->bs" %n, %w : !stream, !vector
    %g = stg.activation sigmoid %l <"shared_sigmoid"> : !stg.tensor<[B, S], bf16>
    %b = stg.broadcast dim 2 %g <"shared_scale"> : !stg.tensor<[B, S], bf16> -> !stream
    %z = stg.mul %shared, %b <"shared_product"> : !stream, !stream
    stg.yield %z : !stream
  } else {
    stg.yield %shared : !stream
  }
  stg.return %y : !stream
}

// Gate and up of the experts by products of their own, where neither of the two factors is beyond a limit.
stg.block @limited_hidden(%rows: !buffers) -> !hidden {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the gate"
  %wu = stg.param "up_proj" : !stg.tensor<[X, D, F], bf16>
  %u = stg.einsum "xcd,xdf->xcf" %rows, %wu : !buffers, !stg.tensor<[X, D, F], bf16>
  %ul = stg.clamp %u <"limited_up"> : !hidden
  %wg = stg.param "gate_proj" : !stg.tensor<[X, D, F], bf16>
  %g = stg.einsum "xcd,xdf->xcf" %rows, %wg : !buffers, !stg.tensor<[X, D, F], bf16>
  %a = stg.activation silu %g {stg.options = {function = "activation"}} <"{activation}"> : !hidden
  %al = stg.clamp %a <"limited_gate"> : !hidden
  %h = stg.mul %al, %ul <"gate"> : !hidden, !hidden
  stg.return %h : !hidden
}

// What the experts make of the rows of their buffers: gated, or of one matrix.
stg.block @expert_hidden(%rows: !buffers) -> !hidden {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the gate"
  stg.option @expert_bias : bool = false "biases of the experts"
  stg.option @expert_gated : bool = true "gate and up, or one matrix"
  stg.option @expert_limited : bool = false "neither what a gate of the experts gives nor up is beyond a limit"
  stg.option @clamped : bool = false "gate and up are limited, and up is one more"
  stg.option @gate_limited : bool = false "gate and up are limited"
  %h = stg.if @expert_gated -> !hidden {
    %e = stg.if @expert_limited -> !hidden {
      %l = stg.call @limited_hidden(%rows) : (!buffers) -> !hidden
      stg.yield %l : !hidden
    } else {
      %w = stg.param "gate_up_proj" : !stg.tensor<[X, D, 2, F], bf16>
      %p = stg.einsum "xcd,xdgf->xcgf" %rows, %w : !buffers, !stg.tensor<[X, D, 2, F], bf16>
      %gu = stg.if @expert_bias -> !pairs {
        %b = stg.param "gate_up_bias" : !stg.tensor<[X, 2, F], bf16>
        %z = stg.bias_add %p, %b {dims = array<i64: 0, 2, 3>} : !pairs, !stg.tensor<[X, 2, F], bf16>
        stg.yield %z : !pairs
      } else {
        stg.yield %p : !pairs
      }
      %y = stg.if @gate_limited -> !hidden {
        %z = stg.glu silu %gu {limited, stg.options = {function = "activation"}} <"swiglu"> : !pairs
        stg.yield %z : !hidden
      } else {
        %z = stg.glu silu %gu {clamped, stg.options = {function = "activation", clamped = "clamped"}} <"swiglu"> : !pairs
        stg.yield %z : !hidden
      }
      stg.yield %y : !hidden
    }
    stg.yield %e : !hidden
  } else {
    %w = stg.param "fc1" : !stg.tensor<[X, D, F], bf16>
    %p = stg.einsum "xcd,xdf->xcf" %rows, %w : !buffers, !stg.tensor<[X, D, F], bf16>
    %u = stg.if @expert_bias -> !hidden {
      %b = stg.param "fc1_bias" : !stg.tensor<[X, F], bf16>
      %z = stg.bias_add %p, %b {dims = array<i64: 0, 2>} : !hidden, !stg.tensor<[X, F], bf16>
      stg.yield %z : !hidden
    } else {
      stg.yield %p : !hidden
    }
    %y = stg.activation silu %u {stg.options = {function = "activation"}} <"{activation}"> : !hidden
    stg.yield %y : !hidden
  }
  stg.return %h : !hidden
}

stg.block @expert_output(%h: !hidden) -> !buffers {
  stg.option @expert_bias : bool = false "biases of the experts"
  %w = stg.param "down_proj" : !stg.tensor<[X, F, D], bf16>
  %p = stg.einsum "xcf,xfd->xcd" %h, %w : !hidden, !stg.tensor<[X, F, D], bf16>
  %out = stg.if @expert_bias -> !buffers {
    %b = stg.param "down_bias" : !stg.tensor<[X, D], bf16>
    %z = stg.bias_add %p, %b {dims = array<i64: 0, 2>} : !buffers, !stg.tensor<[X, D], bf16>
    stg.yield %z : !buffers
  } else {
    stg.yield %p : !buffers
  }
  stg.return %out : !buffers
}

// What the experts make of the tokens that have chosen them.
stg.block @chosen_experts(%n: !stream, %w: !weights, %choice: !choices) -> !stream {
  stg.option @weighted : "output" | "input" = "output" "what the weight of an expert scales"
  %rows = stg.if @weighted = "input" -> !buffers {
    %r = stg.dispatch %n, %choice, %w : !stream, !choices, !weights -> !buffers
    stg.yield %r : !buffers
  } else {
    %r = stg.dispatch %n, %choice : !stream, !choices -> !buffers
    stg.yield %r : !buffers
  }
  %h = stg.call @expert_hidden(%rows) : (!buffers) -> !hidden
  %out = stg.call @expert_output(%h) : (!hidden) -> !buffers
  %c = stg.if @weighted = "input" -> !stream {
    %s = stg.combine %out, %choice : !buffers, !choices
    stg.yield %s : !stream
  } else {
    %s = stg.combine %out, %choice, %w : !buffers, !choices, !weights
    stg.yield %s : !stream
  }
  stg.return %c : !stream
}

// The same in a narrower space, into which and from which all tokens are projected.
stg.block @latent_experts(%n: !stream, %w: !weights, %choice: !choices) -> !stream {
  stg.option @ffn_bias : bool = false "biases of the feed-forward network"
  %wi = stg.param "latent_in" : !stg.tensor<[D, XL], bf16>
  %p = stg.einsum "bsd,dl->bsl" %n, %wi : !stream, !stg.tensor<[D, XL], bf16>
  %l = stg.if @ffn_bias -> !latents {
    %b = stg.param "latent_in_bias" : !stg.tensor<[XL], bf16>
    %z = stg.bias_add %p, %b : !latents, !stg.tensor<[XL], bf16>
    stg.yield %z : !latents
  } else {
    stg.yield %p : !latents
  }
  %e = stg.call @chosen_experts(%l, %w, %choice) : (!latents, !weights, !choices) -> !latents
  %wo = stg.param "latent_out" : !stg.tensor<[XL, D], bf16>
  %o = stg.einsum "bsl,ld->bsd" %e, %wo : !latents, !stg.tensor<[XL, D], bf16>
  %y = stg.if @ffn_bias -> !stream {
    %b = stg.param "latent_out_bias" : !vector
    %z = stg.bias_add %o, %b : !stream, !vector
    stg.yield %z : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %y : !stream
}

// Of the choices of a token the first ones are experts, the others give the token, times their weights.
stg.block @experts_or_nothing(%n: !stream) -> !stream {
  %w, %choice = stg.call @route(%n) {X = X + XI} : (!stream) -> (!weights, !choices)
  %we, %wi = stg.split dim 2 ordered %w : !weights -> !stg.tensor<[B, S, A = AX], f32>, !stg.tensor<[B, S, A = A - AX], f32>
  %ce, %ci = stg.split dim 2 ordered %choice : !choices -> !stg.tensor<[B, S, A = AX], i32>, !stg.tensor<[B, S, A = A - AX], i32>
  %e = stg.call @chosen_experts(%n, %we, %ce) {A = AX} : (!stream, !stg.tensor<[B, S, A = AX], f32>, !stg.tensor<[B, S, A = AX], i32>) -> !stream
  %ones = stg.splat 1 : !stg.tensor<[A = A - AX], f32>
  %s = stg.einsum "bsa,a->bs" %wi, %ones <"identity_weights"> : !stg.tensor<[B, S, A = A - AX], f32>, !stg.tensor<[A = A - AX], f32>
  %c = stg.cast %s <"identity_cast"> : !losses -> !stg.tensor<[B, S], bf16>
  %b = stg.broadcast dim 2 %c <"identity_scale"> : !stg.tensor<[B, S], bf16> -> !stream
  %i = stg.mul %n, %b <"identity_product"> : !stream, !stream
  %y = stg.add %e, %i <"identity_sum"> : !stream, !stream
  stg.return %y : !stream
}

// What the experts of tokens give, `c`, with the shared expert.
stg.block @with_shared_expert(%n: !stream, %c: !stream) -> !stream {
  stg.option @shared_expert : bool = false "a feed-forward network that all tokens see"
  stg.option @routed_scaled : bool = false "what the chosen experts give, times a constant"
  stg.option @sum_scaled : bool = false "the sum with the shared expert, times a constant"
  %r = stg.if @routed_scaled -> !stream {
    // No trace has the value of the constant.
    %k = stg.splat 1 : !stream
    %z = stg.mul %c, %k <"routed_scale"> : !stream, !stream
    stg.yield %z : !stream
  } else {
    stg.yield %c : !stream
  }
  %y = stg.if @shared_expert -> !stream {
    %shared = stg.call @shared_expert(%n) : (!stream) -> !stream
    %sum = stg.add %r, %shared <"experts_sum"> : !stream, !stream
    %scaled = stg.if @sum_scaled -> !stream {
      // No trace has the value of the constant.
      %k = stg.splat 1 : !stream
      %z = stg.mul %sum, %k <"experts_sum_scale"> : !stream, !stream
      stg.yield %z : !stream
    } else {
      stg.yield %sum : !stream
    }
    stg.yield %scaled : !stream
  } else {
    stg.yield %r : !stream
  }
  stg.return %y : !stream
}

stg.block @experts(%n: !stream) -> !stream {
  stg.option @expert_latent : bool = false "experts work in a space of XL dimensions"
  stg.option @identity_experts : bool = false "further XI experts give what they read"
  %c = stg.if @identity_experts -> !stream {
    %s = stg.call @experts_or_nothing(%n) : (!stream) -> !stream
    stg.yield %s : !stream
  } else {
    %w, %choice = stg.call @route(%n) : (!stream) -> (!weights, !choices)
    %t = stg.if @expert_latent -> !stream {
      %s = stg.call @latent_experts(%n, %w, %choice) : (!stream, !weights, !choices) -> !stream
      stg.yield %s : !stream
    } else {
      %s = stg.call @chosen_experts(%n, %w, %choice) : (!stream, !weights, !choices) -> !stream
      stg.yield %s : !stream
    }
    stg.yield %t : !stream
  }
  %y = stg.call @with_shared_expert(%n, %c) : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// With its normalization, and without the residual stream.
stg.block @experts_branch(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %y = stg.call @experts(%n) : (!stream) -> !stream
  stg.return %y : !stream
}

// The same where a table says of each token which experts it has.
stg.block @table_experts_branch(%x: !stream, %tokens: !ids) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %w, %choice = stg.call @route_by_table(%n, %tokens) : (!stream, !ids) -> (!weights, !choices)
  %c = stg.call @chosen_experts(%n, %w, %choice) : (!stream, !weights, !choices) -> !stream
  %y = stg.call @with_shared_expert(%n, %c) : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @experts_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %e = stg.call @experts(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %e) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
