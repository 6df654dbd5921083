// Transformers that take noise out of latent images. Their norms have no weights: scale, shift
// and gate of each part of a layer are made of what the sample is conditioned on, one vector
// for all of its tokens.

stg.import "attention.mlir"
stg.import "feed_forward.mlir"
stg.import "norm.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of an image"
stg.symbol @T "tokens of a text"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"
stg.symbol @TD "features of a time step"
stg.symbol @Y "classes, with one for none"
stg.symbol @C "width of what is projected"
stg.symbol @DC = D "width of what a sample is conditioned on"
stg.symbol @DM = D "width between the matrices of features"
stg.symbol @NV "vectors that are made together"
stg.symbol @PO "elements of a patch that is given"

!stream = !stg.tensor<[B, S, D], bf16>
!text = !stg.tensor<[B, T, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!condition = !stg.tensor<[B, DC], bf16>
!vector = !stg.tensor<[D], bf16>
!square = !stg.tensor<[D, D], bf16>
!features = !stg.tensor<[B, C], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!some = !stg.tensor<[B, _ = NV, D], bf16>
!queries = !stg.tensor<[B, S, H, E], bf16>
!keys = !stg.tensor<[B, S, K, E], bf16>
!patches = !stg.tensor<[B, S, PO], bf16>

//===----------------------------------------------------------------------===//
// What samples are conditioned on
//===----------------------------------------------------------------------===//

// Two matrices with silu in between: of features of a time step, or of a text.
stg.block @project_features(%x: !features) -> !row {
  stg.option @prefix : string = "time_" "before the names of parameters and ops"
  stg.option @features_bias : bool = true "biases of matrices of features"
  %w1 = stg.param "{prefix}proj1" : !stg.tensor<[C, D], bf16>
  %p1 = stg.einsum "bc,cd->bd" %x, %w1 : !features, !stg.tensor<[C, D], bf16>
  %y1 = stg.if @features_bias -> !row {
    %b1 = stg.param "{prefix}bias1" : !vector
    %z1 = stg.bias_add %p1, %b1 : !row, !vector
    stg.yield %z1 : !row
  } else {
    stg.yield %p1 : !row
  }
  %a = stg.activation silu %y1 <"{prefix}silu"> : !row
  %w2 = stg.param "{prefix}proj2" : !square
  %p2 = stg.einsum "bd,de->be" %a, %w2 : !row, !square
  %y2 = stg.if @features_bias -> !row {
    %b2 = stg.param "{prefix}bias2" : !vector
    %z2 = stg.bias_add %p2, %b2 : !row, !vector
    stg.yield %z2 : !row
  } else {
    stg.yield %p2 : !row
  }
  stg.return %y2 : !row
}

// The same through another width.
stg.block @project_features_between(%x: !features) -> !row {
  stg.option @prefix : string = "time_" "before the names of parameters and ops"
  %w1 = stg.param "{prefix}proj1" : !stg.tensor<[C, _ = DM], bf16>
  %p1 = stg.einsum "bc,cm->bm" %x, %w1 : !features, !stg.tensor<[C, _ = DM], bf16>
  %b1 = stg.param "{prefix}bias1" : !stg.tensor<[_ = DM], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, _ = DM], bf16>, !stg.tensor<[_ = DM], bf16>
  %a = stg.activation silu %y1 <"{prefix}silu"> : !stg.tensor<[B, _ = DM], bf16>
  %w2 = stg.param "{prefix}proj2" : !stg.tensor<[_ = DM, D], bf16>
  %p2 = stg.einsum "bm,md->bd" %a, %w2 : !stg.tensor<[B, _ = DM], bf16>, !stg.tensor<[_ = DM, D], bf16>
  %b2 = stg.param "{prefix}bias2" : !vector
  %y2 = stg.bias_add %p2, %b2 : !row, !vector
  stg.return %y2 : !row
}

stg.block @add_class(%e: !row, %class: !stg.tensor<[B], i32>) -> !row {
  %t = stg.param "class_embeddings" : !stg.tensor<[Y, D], bf16>
  %c = stg.embedding %t, %class : !stg.tensor<[Y, D], bf16>, !stg.tensor<[B], i32>
  %y = stg.add %e, %c <"conditions"> : !row, !row
  stg.return %y : !row
}

stg.block @add_rows(%a: !row, %b: !row) -> !row {
  %y = stg.add %a, %b <"conditions"> : !row, !row
  stg.return %y : !row
}

stg.block @mean_of_times(%a: !row, %b: !row) -> !row {
  %s = stg.add %a, %b <"sum_of_times"> : !row, !row
  // No trace has the value of the constant.
  %c = stg.splat 1 : !row
  %y = stg.mul %s, %c <"mean_of_times"> : !row, !row
  stg.return %y : !row
}

// The tokens of a text, in the width of the model.
stg.block @project_text(%x: !stg.tensor<[B, T, C], bf16>) -> !text {
  stg.option @text_bias : bool = true "bias of the text's projection"
  %w = stg.param "text_proj" : !stg.tensor<[C, D], bf16>
  %p = stg.einsum "btc,cd->btd" %x, %w : !stg.tensor<[B, T, C], bf16>, !stg.tensor<[C, D], bf16>
  %y = stg.if @text_bias -> !text {
    %b = stg.param "text_bias" : !vector
    %z = stg.bias_add %p, %b : !text, !vector
    stg.yield %z : !text
  } else {
    stg.yield %p : !text
  }
  stg.return %y : !text
}

//===----------------------------------------------------------------------===//
// Adaptive norms
//===----------------------------------------------------------------------===//

// Vectors of a sample: so many, made together.
stg.block @made_vectors(%e: !condition) -> !some {
  stg.option @prefix : string = "" "before the names of parameters and ops"
  stg.option @modulation_silu : bool = true "silu of what vectors are made of"
  stg.option @modulation_bias : bool = true "bias of what vectors are made by"
  %a = stg.if @modulation_silu -> !condition {
    %s = stg.activation silu %e <"{prefix}modulation_silu"> : !condition
    stg.yield %s : !condition
  } else {
    stg.yield %e : !condition
  }
  %w = stg.param "{prefix}modulation" : !stg.tensor<[DC, _ = NV, D], bf16>
  %p = stg.einsum "bd,dne->bne" %a, %w : !condition, !stg.tensor<[DC, _ = NV, D], bf16>
  %y = stg.if @modulation_bias -> !some {
    %b = stg.param "{prefix}modulation_bias" : !stg.tensor<[_ = NV, D], bf16>
    %m = stg.bias_add %p, %b : !some, !stg.tensor<[_ = NV, D], bf16>
    stg.yield %m : !some
  } else {
    stg.yield %p : !some
  }
  stg.return %y : !some
}

stg.block @one_vector(%e: !condition) -> !row {
  %m = stg.call @made_vectors(%e) {NV = 1} : (!condition) -> !stg.tensor<[B, 1, D], bf16>
  %y = stg.rearrange "b()d->bd" %m : !one -> !row
  stg.return %y : !row
}

stg.block @two_vectors(%e: !condition) -> (!row, !row) {
  %m = stg.call @made_vectors(%e) {NV = 2} : (!condition) -> !stg.tensor<[B, 2, D], bf16>
  %v0, %v1 = stg.split dim 1 %m : !stg.tensor<[B, 2, D], bf16> -> !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  stg.return %y0, %y1 : !row, !row
}

stg.block @three_vectors(%e: !condition) -> (!row, !row, !row) {
  %m = stg.call @made_vectors(%e) {NV = 3} : (!condition) -> !stg.tensor<[B, 3, D], bf16>
  %v0, %v1, %v2 = stg.split dim 1 %m : !stg.tensor<[B, 3, D], bf16> -> !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  stg.return %y0, %y1, %y2 : !row, !row, !row
}

stg.block @four_vectors(%e: !condition) -> (!row, !row, !row, !row) {
  %m = stg.call @made_vectors(%e) {NV = 4} : (!condition) -> !stg.tensor<[B, 4, D], bf16>
  %v0, %v1, %v2, %v3 = stg.split dim 1 %m : !stg.tensor<[B, 4, D], bf16> -> !one, !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  %y3 = stg.rearrange "b()d->bd" %v3 : !one -> !row
  stg.return %y0, %y1, %y2, %y3 : !row, !row, !row, !row
}

stg.block @six_vectors(%e: !condition) -> (!row, !row, !row, !row, !row, !row) {
  %m = stg.call @made_vectors(%e) {NV = 6} : (!condition) -> !stg.tensor<[B, 6, D], bf16>
  %v0, %v1, %v2, %v3, %v4, %v5 = stg.split dim 1 %m : !stg.tensor<[B, 6, D], bf16> -> !one, !one, !one, !one, !one, !one
  %y0 = stg.rearrange "b()d->bd" %v0 : !one -> !row
  %y1 = stg.rearrange "b()d->bd" %v1 : !one -> !row
  %y2 = stg.rearrange "b()d->bd" %v2 : !one -> !row
  %y3 = stg.rearrange "b()d->bd" %v3 : !one -> !row
  %y4 = stg.rearrange "b()d->bd" %v4 : !one -> !row
  %y5 = stg.rearrange "b()d->bd" %v5 : !one -> !row
  stg.return %y0, %y1, %y2, %y3, %y4, %y5 : !row, !row, !row, !row, !row, !row
}

// Tokens times one plus a number of the sample for each element.
stg.block @scaled_tokens(%x: !stream, %scale: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %one = stg.splat 1 : !row
  %s = stg.add %scale, %one <"{part}_scale"> : !row, !row
  %y = stg.mul_along %x, %s {dims = array<i64: 0, 2>} <"{part}_scaled"> : !stream, !row
  stg.return %y : !stream
}

// The same, shifted.
stg.block @shifted_tokens(%x: !stream, %scale: !row, %shift: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %m = stg.call @scaled_tokens(%x, %scale) : (!stream, !row) -> !stream
  %y = stg.bias_add %m, %shift {dims = array<i64: 0, 2>} <"{part}_shifted"> : !stream, !row
  stg.return %y : !stream
}

// The norm of the tokens.
stg.block @adaptive_norm(%x: !stream) -> !stream {
  stg.option @part : string "name of the part of the layer"
  stg.option @adaptive : "layer_bare" | "layer" | "rms_bare" | "rms" | "none" = "layer_bare" "the norm before scales and shifts: LayerNorm without weight and bias or with both, RMSNorm without weight or with it, or none"
  %y = stg.if @adaptive = "layer_bare" -> !stream {
    %n, %mean, %rstd = stg.layer_norm %x <"{part}_norm"> : !stream
    stg.yield %n : !stream
  } else {
    %o = stg.if @adaptive = "layer" -> !stream {
      %n = stg.call @norm(%x) {name = "{part}_norm", norm = "layer"} : (!stream) -> !stream
      stg.yield %n : !stream
    } else {
      %r = stg.if @adaptive = "rms_bare" -> !stream {
        %n = stg.call @norm(%x) {name = "{part}_norm", norm = "rms_bare"} : (!stream) -> !stream
        stg.yield %n : !stream
      } else {
        %w = stg.if @adaptive = "rms" -> !stream {
          %n = stg.call @norm(%x) {name = "{part}_norm", norm = "rms"} : (!stream) -> !stream
          stg.yield %n : !stream
        } else {
          stg.yield %x : !stream
        }
        stg.yield %w : !stream
      }
      stg.yield %r : !stream
    }
    stg.yield %o : !stream
  }
  stg.return %y : !stream
}

// The norm of the tokens, scaled and shifted.
stg.block @modulated(%x: !stream, %scale: !row, %shift: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %n = stg.call @adaptive_norm(%x) : (!stream) -> !stream
  %y = stg.call @shifted_tokens(%n, %scale, %shift) : (!stream, !row, !row) -> !stream
  stg.return %y : !stream
}

// The same without a shift.
stg.block @scaled_norm(%x: !stream, %scale: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %n = stg.call @adaptive_norm(%x) : (!stream) -> !stream
  %y = stg.call @scaled_tokens(%n, %scale) : (!stream, !row) -> !stream
  stg.return %y : !stream
}

// The stream with what a part of a layer has made, as far as the gate lets it.
stg.block @gated_sum(%x: !stream, %out: !stream, %gate: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  %g = stg.mul_along %out, %gate {dims = array<i64: 0, 2>} <"{part}_gated"> : !stream, !row
  %y = stg.add %x, %g <"{part}_residual"> : !stream, !stream
  stg.return %y : !stream
}

// The same behind a RMSNorm of what the part has made, with the tanh of the gate.
stg.block @tanh_gated_sum(%x: !stream, %out: !stream, %gate: !row) -> !stream {
  stg.option @part : string "name of the part of the layer"
  stg.option @norms_weighted : bool = true "weights of norms behind parts of a layer"
  %n = stg.if @norms_weighted -> !stream {
    %w = stg.call @norm(%out) {name = "{part}_output_norm", norm = "rms"} : (!stream) -> !stream
    stg.yield %w : !stream
  } else {
    %w = stg.call @norm(%out) {name = "{part}_output_norm", norm = "rms_bare"} : (!stream) -> !stream
    stg.yield %w : !stream
  }
  %t = stg.activation tanh %gate <"{part}_gate_tanh"> : !row
  %y = stg.call @gated_sum(%x, %n, %t) : (!stream, !stream, !row) -> !stream
  stg.return %y : !stream
}

// One layer of a stream by itself (DiT).
stg.block @adaptive_layer(%x: !stream, %e: !row) -> !stream {
  %shift, %scale, %gate, %shift2, %scale2, %gate2 = stg.call @six_vectors(%e) : (!row) -> (!row, !row, !row, !row, !row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "attention"} : (!stream, !row, !row) -> !stream
  %a = stg.call @attention(%n) : (!stream) -> !stream
  %y = stg.call @gated_sum(%x, %a, %gate) {part = "attention"} : (!stream, !stream, !row) -> !stream
  %m = stg.call @modulated(%y, %scale2, %shift2) {part = "ffn"} : (!stream, !row, !row) -> !stream
  %f = stg.call @plain_feed_forward(%m) : (!stream) -> !stream
  %z = stg.call @gated_sum(%y, %f, %gate2) {part = "ffn"} : (!stream, !stream, !row) -> !stream
  stg.return %z : !stream
}

//===----------------------------------------------------------------------===//
// From tokens to patches
//===----------------------------------------------------------------------===//

// A position of each token that is not learned.
stg.block @add_fixed_positions(%x: !stream, %positions: !stg.tensor<[S, D], bf16>) -> !stream {
  %y = stg.bias_add %x, %positions <"embeddings"> : !stream, !stg.tensor<[S, D], bf16>
  stg.return %y : !stream
}

// What is given of each patch, and the square of what is wrong with each element.
stg.block @given_patches(%n: !stream, %target: !patches) -> !patches {
  stg.option @output_bias : bool = true "bias of what patches are made by"
  %w = stg.param "output" : !stg.tensor<[D, PO], bf16>
  %p = stg.einsum "bsd,dp->bsp" %n, %w : !stream, !stg.tensor<[D, PO], bf16>
  %y = stg.if @output_bias -> !patches {
    %b = stg.param "output_bias" : !stg.tensor<[PO], bf16>
    %z = stg.bias_add %p, %b : !patches, !stg.tensor<[PO], bf16>
    stg.yield %z : !patches
  } else {
    stg.yield %p : !patches
  }
  %d = stg.add %y, %target <"difference"> : !patches, !patches
  %s = stg.mul %d, %d <"square"> : !patches, !patches
  stg.return %s : !patches
}

// The last norm, and the patches.
stg.block @patch_loss(%x: !stream, %e: !condition, %target: !patches) -> !patches {
  %shift, %scale = stg.call @two_vectors(%e) {prefix = "output_"} : (!condition) -> (!row, !row)
  %n = stg.call @modulated(%x, %scale, %shift) {part = "output"} : (!stream, !row, !row) -> !stream
  %y = stg.call @given_patches(%n, %target) : (!stream, !patches) -> !patches
  stg.return %y : !patches
}

// The same without a shift.
stg.block @scaled_patch_loss(%x: !stream, %e: !condition, %target: !patches) -> !patches {
  %scale = stg.call @one_vector(%e) {prefix = "output_"} : (!condition) -> !row
  %n = stg.call @scaled_norm(%x, %scale) {part = "output"} : (!stream, !row) -> !stream
  %y = stg.call @given_patches(%n, %target) : (!stream, !patches) -> !patches
  stg.return %y : !patches
}
