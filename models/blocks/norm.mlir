// Normalization, and where it stands around a part of a layer.
//
// `@norm` is one normalization. A part of a layer, such as attention, is what stands
// between `@before` and `@after`: these normalize its input or its output, or the sum with
// the residual stream, as the option `placement` says.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @GR "rank of the gate of what is normalized"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>

// `name` is the parameter, or what the names of weight and bias begin with.
stg.block @norm(%x: !stream) -> !stream {
  stg.option @name : string = "norm" "name of the parameter"
  stg.option @norm : "rms" | "layer" | "layer_unbiased" | "layer_bare" | "rms_bare" = "rms" "RMSNorm, LayerNorm with weight and bias, without bias, or without both, or RMSNorm without weight"
  %n = stg.if @norm = "rms" -> !stream {
    %w = stg.param "{name}" : !vector
    %y, %rstd = stg.rms_norm %x, %w : !stream, !vector
    stg.yield %y : !stream
  } else {
    %z = stg.if @norm = "layer" -> !stream {
      %w = stg.param "{name}.weight" : !vector
      %b = stg.param "{name}.bias" : !vector
      %y, %mean, %rstd = stg.layer_norm %x, %w, %b <"{name}"> : !stream, !vector, !vector
      stg.yield %y : !stream
    } else {
      %u = stg.if @norm = "layer_unbiased" -> !stream {
        %w = stg.param "{name}" : !vector
        %y, %mean, %rstd = stg.layer_norm %x, %w : !stream, !vector
        stg.yield %y : !stream
      } else {
        %v = stg.if @norm = "layer_bare" -> !stream {
          %y, %mean, %rstd = stg.layer_norm %x <"{name}"> : !stream
          stg.yield %y : !stream
        } else {
          %y, %rstd = stg.rms_norm %x <"{name}"> : !stream
          stg.yield %y : !stream
        }
        stg.yield %v : !stream
      }
      stg.yield %u : !stream
    }
    stg.yield %z : !stream
  }
  stg.return %n : !stream
}

// What is normalized times a gate that it makes itself, by two matrices of a low rank (A.X K2).
stg.block @gate_itself(%x: !stream) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %w1 = stg.param "{part}_norm_gate1" : !stg.tensor<[D, _ = GR], bf16>
  %p = stg.einsum "bsd,dr->bsr" %x, %w1 : !stream, !stg.tensor<[D, _ = GR], bf16>
  %a = stg.activation silu %p <"{part}_norm_gate_silu"> : !stg.tensor<[B, S, _ = GR], bf16>
  %w2 = stg.param "{part}_norm_gate2" : !stg.tensor<[_ = GR, D], bf16>
  %q = stg.einsum "bsr,rd->bsd" %a, %w2 : !stg.tensor<[B, S, _ = GR], bf16>, !stg.tensor<[_ = GR, D], bf16>
  %g = stg.activation sigmoid %q <"{part}_norm_gate"> : !stream
  %y = stg.mul %x, %g <"{part}_norm_gated"> : !stream, !stream
  stg.return %y : !stream
}

// What a part of a layer reads.
stg.block @before(%x: !stream) -> !stream {
  stg.option @part : string "name of the part of the layer"
  stg.option @norm_gated : bool = false "what is normalized, times a gate of a low rank that it makes itself"
  stg.option @placement : "input" | "output" | "both" | "sum" | "none" = "input" "what is normalized"
  %n = stg.if @placement = "input" | "both" -> !stream {
    %z = stg.call @norm(%x) {name = "{part}_norm"} : (!stream) -> !stream
    %y = stg.if @norm_gated -> !stream {
      %g = stg.call @gate_itself(%z) : (!stream) -> !stream
      stg.yield %g : !stream
    } else {
      stg.yield %z : !stream
    }
    stg.yield %y : !stream
  } else {
    stg.yield %x : !stream
  }
  stg.return %n : !stream
}

// The residual stream `x` with what a part of the layer has made, `out`.
stg.block @after(%x: !stream, %out: !stream) -> !stream {
  stg.option @part : string "name of the part of the layer"
  stg.option @placement : "input" | "output" | "both" | "sum" | "none" = "input" "what is normalized"
  stg.option @residual_scaled : bool = false "the output times a constant"
  stg.option @stream_scaled : bool = false "the residual stream times a constant"
  stg.option @element_scaled : bool = false "the output times a learned number for each element"
  stg.option @stream_element_scaled : bool = false "the residual stream times a learned number for each element"
  stg.option @tanh_gated : bool = false "the output times the tanh of a learned number"
  stg.option @dropout : bool = false "some elements of the output are zero, at random"
  %o = stg.if @placement = "output" | "both" -> !stream {
    %n = stg.call @norm(%out) {name = "{part}_output_norm"} : (!stream) -> !stream
    stg.yield %n : !stream
  } else {
    stg.yield %out : !stream
  }
  %s = stg.if @residual_scaled -> !stream {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !stream
    %m = stg.mul %o, %c <"{part}_scale"> : !stream, !stream
    stg.yield %m : !stream
  } else {
    stg.yield %o : !stream
  }
  %e = stg.if @element_scaled -> !stream {
    %w = stg.param "{part}_element_scale" : !vector
    %m = stg.mul_along %s, %w {dims = array<i64: 2>} <"{part}_element_scale"> : !stream, !vector
    stg.yield %m : !stream
  } else {
    stg.yield %s : !stream
  }
  %g = stg.if @tanh_gated -> !stream {
    %w = stg.param "{part}_gate" : !stg.tensor<[], bf16>
    %t = stg.activation tanh %w <"{part}_gate_tanh"> : !stg.tensor<[], bf16>
    %m = stg.mul_along %e, %t {dims = array<i64>} <"{part}_gated"> : !stream, !stg.tensor<[], bf16>
    stg.yield %m : !stream
  } else {
    stg.yield %e : !stream
  }
  %d = stg.if @dropout -> !stream {
    %kept, %mask = stg.dropout %g <"{part}_dropout"> : !stream
    stg.yield %kept : !stream
  } else {
    stg.yield %g : !stream
  }
  %r = stg.if @stream_scaled -> !stream {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !stream
    %m = stg.mul %x, %c <"{part}_stream_scale"> : !stream, !stream
    stg.yield %m : !stream
  } else {
    %u = stg.if @stream_element_scaled -> !stream {
      %w = stg.param "{part}_stream_element_scale" : !vector
      %m = stg.mul_along %x, %w {dims = array<i64: 2>} <"{part}_stream_element_scale"> : !stream, !vector
      stg.yield %m : !stream
    } else {
      stg.yield %x : !stream
    }
    stg.yield %u : !stream
  }
  %y = stg.add %r, %d <"{part}_residual"> : !stream, !stream
  %z = stg.if @placement = "sum" -> !stream {
    %n = stg.call @norm(%y) {name = "{part}_norm"} : (!stream) -> !stream
    stg.yield %n : !stream
  } else {
    stg.yield %y : !stream
  }
  stg.return %z : !stream
}
