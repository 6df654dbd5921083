// Layers of attention and a convolution between two feed-forward networks (Conformer).

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "disentangled.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @CW = 31 "tokens of a convolution"
stg.symbol @N "distances that are told apart"
stg.symbol @CF = D "channels of a convolution"
stg.symbol @CT "tokens of a context"
stg.symbol @OM "what is predicted of a token in the middle of the layers"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!frames = !stg.tensor<[B, FR = 8*S - 8, D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!head = !stg.tensor<[H, E], bf16>
!positions = !stg.tensor<[1, N = 2*S - 1, D], bf16>
!position_heads = !stg.tensor<[1, N = 2*S - 1, H, E], bf16>
!buckets = !stg.tensor<[B, H, S, N = 2*S - 1], bf16>
!scores = !stg.tensor<[B, H, S, _ = S], bf16>
!channels = !stg.tensor<[B, S, F = CF], bf16>
!channel = !stg.tensor<[F = CF], bf16>

// A convolution of each channel over the tokens on both sides, and a norm of each channel over all
// samples and tokens.
stg.block @convolve_both_sides(%x: !channels) -> !channels {
  stg.option @tokens_before : string = "15" "zeros before the first token, and behind the last"
  stg.option @conv_bias : bool = false "bias of the convolution"
  %wc = stg.param "conv" : !stg.tensor<[CW, 1, F = CF], bf16>
  %c = stg.conv %x, %wc {grouped, strides = array<i64: 1>, padding = array<i64: 15>, stg.options = {padding = "tokens_before"}} <"conv"> : !channels, !stg.tensor<[CW, 1, F = CF], bf16> -> !channels
  %y = stg.if @conv_bias -> !channels {
    %bc = stg.param "conv_bias" : !channel
    %z = stg.bias_add %c, %bc : !channels, !channel
    stg.yield %z : !channels
  } else {
    stg.yield %c : !channels
  }
  %wb = stg.param "conv_batch_norm.weight" : !channel
  %bb = stg.param "conv_batch_norm.bias" : !channel
  %b = stg.batch_norm %y, %wb, %bb <"conv_batch_norm"> : !channels, !channel, !channel
  stg.return %b : !channels
}

// The same over the tokens before, and a LayerNorm.
stg.block @convolve_before(%x: !channels) -> !channels {
  %wc = stg.param "conv" : !stg.tensor<[F = CF, CW], bf16>
  %c = stg.causal_conv %x, %wc <"conv"> : !channels, !stg.tensor<[F = CF, CW], bf16>
  %wn = stg.param "conv_channel_norm.weight" : !channel
  %bn = stg.param "conv_channel_norm.bias" : !channel
  %n, %mean, %rstd = stg.layer_norm %c, %wn, %bn <"conv_channel_norm"> : !channels, !channel, !channel
  stg.return %n : !channels
}

// A LayerNorm, a gated matrix, a convolution of each channel with a norm, an activation and a matrix.
stg.block @token_convolution(%x: !stream) -> !stream {
  stg.option @conv_side : "both" | "before" = "both" "which tokens the convolution sees"
  stg.option @conv_ends_bias : bool = false "biases of the matrices around the convolution"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the convolution"
  %n = stg.call @norm(%x) {name = "conv_norm"} : (!stream) -> !stream
  %wi = stg.param "conv_in" : !stg.tensor<[D, 2, F = CF], bf16>
  %p = stg.einsum "bsd,dgf->bsgf" %n, %wi : !stream, !stg.tensor<[D, 2, F = CF], bf16>
  %pi = stg.if @conv_ends_bias -> !stg.tensor<[B, S, 2, F = CF], bf16> {
    %bi = stg.param "conv_in_bias" : !stg.tensor<[2, F = CF], bf16>
    %z = stg.bias_add %p, %bi : !stg.tensor<[B, S, 2, F = CF], bf16>, !stg.tensor<[2, F = CF], bf16>
    stg.yield %z : !stg.tensor<[B, S, 2, F = CF], bf16>
  } else {
    stg.yield %p : !stg.tensor<[B, S, 2, F = CF], bf16>
  }
  %g = stg.glu sigmoid %pi <"conv_gate"> : !stg.tensor<[B, S, 2, F = CF], bf16>
  %b = stg.if @conv_side = "both" -> !channels {
    %z = stg.call @convolve_both_sides(%g) : (!channels) -> !channels
    stg.yield %z : !channels
  } else {
    %z = stg.call @convolve_before(%g) : (!channels) -> !channels
    stg.yield %z : !channels
  }
  %a = stg.activation silu %b {stg.options = {function = "activation"}} <"conv_{activation}"> : !channels
  %wo = stg.param "conv_out" : !stg.tensor<[F = CF, D], bf16>
  %o = stg.einsum "bsf,fd->bsd" %a, %wo : !channels, !stg.tensor<[F = CF, D], bf16>
  %y = stg.if @conv_ends_bias -> !stream {
    %bo = stg.param "conv_out_bias" : !stg.tensor<[D], bf16>
    %z = stg.bias_add %o, %bo : !stream, !stg.tensor<[D], bf16>
    stg.yield %z : !stream
  } else {
    stg.yield %o : !stream
  }
  stg.return %y : !stream
}

// Added to what it reads.
stg.block @token_convolution_layer(%x: !stream) -> !stream {
  %c = stg.call @token_convolution(%x) : (!stream) -> !stream
  %y = stg.add %x, %c <"conv_residual"> : !stream, !stream
  stg.return %y : !stream
}

// Scores by relative position: of what each query, with a learned row of its head, and the heads
// that a matrix makes of fixed rows have in common. The same for contents has another learned row.
stg.block @fixed_position_attention(%x: !stream) -> !stream {
  %q, %k, %v = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %u = stg.param "content_row" : !head
  %qu = stg.bias_add %q, %u <"content_query"> : !heads, !head
  %w = stg.param "position_row" : !head
  %qw = stg.bias_add %q, %w <"position_query"> : !heads, !head
  // No trace has the values of constants.
  %f = stg.splat 1 : !positions
  %p = stg.call @key_heads(%f) {name = "position", K as H, qkv_bias = false} : (!positions) -> !position_heads
  %b = stg.call @score_positions(%qw, %p) {name = "position_scores"} : (!heads, !position_heads) -> !buckets
  %s = stg.relative_scores %b <"relative_scores"> : !buckets -> !scores
  %c = stg.splat 1 : !scores
  %t = stg.mul %s, %c <"position_score_scale"> : !scores, !scores
  %a, %lse = stg.attention none %qu, %k, %v, %t : !heads, !heads, !heads, !scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// Scores by relative position: of each query with a learned row for how far away a key is.
stg.block @distance_attention(%x: !stream) -> !stream {
  %q, %k, %v = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %t = stg.param "distance_embeddings" : !stg.tensor<[N, E], bf16>
  %d = stg.relative_bias %t <"distances"> : !stg.tensor<[N, E], bf16> -> !stg.tensor<[E, S, _ = S], bf16>
  %s = stg.einsum "bshe,est->bhst" %q, %d <"distance_scores"> : !heads, !stg.tensor<[E, S, _ = S], bf16>
  // No trace has the value of the constant.
  %c = stg.splat 1 : !scores
  %w = stg.mul %s, %c <"distance_score_scale"> : !scores, !scores
  %a, %lse = stg.attention none %q, %k, %v, %w : !heads, !heads, !heads, !scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// The same with rows of one table for all layers, which are put in their places once (SpeechT5).
stg.block @distances() -> !stg.tensor<[E, S, _ = S], bf16> {
  %t = stg.param "distance_embeddings" : !stg.tensor<[N, E], bf16>
  %d = stg.relative_bias %t <"distances"> : !stg.tensor<[N, E], bf16> -> !stg.tensor<[E, S, _ = S], bf16>
  stg.return %d : !stg.tensor<[E, S, _ = S], bf16>
}
stg.block @given_distances_layer(%x: !stream, %distances: !stg.tensor<[E, S, _ = S], bf16>) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %q, %k, %v = stg.call @heads(%n) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %s = stg.einsum "bshe,est->bhst" %q, %distances <"distance_scores"> : !heads, !stg.tensor<[E, S, _ = S], bf16>
  // No trace has the value of the constant.
  %c = stg.splat 1 : !scores
  %w = stg.mul %s, %c <"distance_score_scale"> : !scores, !scores
  %a, %lse = stg.attention none %q, %k, %v, %w : !heads, !heads, !heads, !scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %z = stg.call @output_bias(%o) : (!stream) -> !stream
  %y = stg.call @after(%x, %z) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// Rotary positions of what the projections of queries and keys read.
stg.block @rotate_tokens(%x: !stream) -> !stream {
  %h = stg.rearrange "bs(he)->bshe" %x <"parts_of_tokens"> : !stream -> !stg.tensor<[B, S, _ = H, E], bf16>
  %r = stg.rope %h <"rope"> : !stg.tensor<[B, S, _ = H, E], bf16>
  %y = stg.rearrange "bshe->bs(he)" %r <"rotated_tokens"> : !stg.tensor<[B, S, _ = H, E], bf16> -> !stream
  stg.return %y : !stream
}

stg.block @rotated_tokens_attention(%x: !stream) -> !stream {
  %r = stg.call @rotate_tokens(%x) : (!stream) -> !stream
  %q = stg.call @key_heads(%r) {name = "q", K as H} : (!stream) -> !heads
  %k = stg.call @key_heads(%r) {name = "k", K as H} : (!stream) -> !heads
  %v = stg.call @key_heads(%x) {name = "v", K as H} : (!stream) -> !heads
  %a, %lse = stg.attention none %q, %k, %v : !heads, !heads, !heads
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// With their normalization and the residual stream.
stg.block @conformer_attention_layer(%x: !stream) -> !stream {
  stg.option @position_kind : "fixed" | "rotated" | "distance" = "fixed" "queries score fixed positions, tokens are rotated, or queries score learned distances"
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.if @position_kind = "fixed" -> !stream {
    %f = stg.call @fixed_position_attention(%n) : (!stream) -> !stream
    stg.yield %f : !stream
  } else {
    %z = stg.if @position_kind = "rotated" -> !stream {
      %r = stg.call @rotated_tokens_attention(%n) : (!stream) -> !stream
      stg.yield %r : !stream
    } else {
      %r = stg.call @distance_attention(%n) : (!stream) -> !stream
      stg.yield %r : !stream
    }
    stg.yield %z : !stream
  }
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// The same in contexts of CT tokens, which see nothing of each other, with biases of the last matrix
// alone (Granite Speech).
stg.block @context_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %c = stg.rearrange "b(nk)d->(bn)kd" %n <"contexts"> : !stream -> !stg.tensor<[B = S/CT*B, S = CT, D], bf16>
  %a = stg.call @distance_attention(%c) : (!stg.tensor<[B = S/CT*B, S = CT, D], bf16>) -> !stg.tensor<[B = S/CT*B, S = CT, D], bf16>
  %o = stg.rearrange "(bn)kd->b(nk)d" %a <"contexts_joined"> : !stg.tensor<[B = S/CT*B, S = CT, D], bf16> -> !stream
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// One token of eight frames, and one more: a convolution of what is normalized, with a gate, of which
// tokens attend to each other, and another such convolution in the place of the residual stream
// (Seamless M4T).
stg.block @shortening_layer(%x: !frames) -> !stream {
  %wr = stg.param "residual_norm.weight" : !vector
  %br = stg.param "residual_norm.bias" : !vector
  %nr, %mr, %sr = stg.layer_norm %x, %wr, %br <"residual_norm"> : !frames, !vector, !vector
  %r = stg.call @gated_eighths(%nr) {name = "residual"} : (!frames) -> !stream
  %wn = stg.param "attention_norm.weight" : !vector
  %bn = stg.param "attention_norm.bias" : !vector
  %n, %m, %s = stg.layer_norm %x, %wn, %bn <"attention_norm"> : !frames, !vector, !vector
  %h = stg.call @gated_eighths(%n) {name = "attention"} : (!frames) -> !stream
  %a = stg.call @attention(%h) {K as H, rotary = false, mask = "none"} : (!stream) -> !stream
  %y = stg.add %r, %a <"attention_residual"> : !stream, !stream
  stg.return %y : !stream
}
stg.block @gated_eighths(%x: !frames) -> !stream {
  stg.option @name : string "before the names of parameters"
  %w = stg.param "{name}_conv" : !stg.tensor<[8, D, 2*D], bf16>
  %c = stg.conv %x, %w {strides = array<i64: 8>, padding = array<i64: 4>} <"{name}_conv"> : !frames, !stg.tensor<[8, D, 2*D], bf16> -> !stg.tensor<[B, S, 2*D], bf16>
  %p = stg.rearrange "bs(gd)->bsgd" %c <"{name}_halves"> : !stg.tensor<[B, S, 2*D], bf16> -> !stg.tensor<[B, S, 2, D], bf16>
  %b = stg.param "{name}_conv_bias" : !stg.tensor<[2, D], bf16>
  %z = stg.bias_add %p, %b : !stg.tensor<[B, S, 2, D], bf16>, !stg.tensor<[2, D], bf16>
  %y = stg.glu sigmoid %z <"{name}_gate"> : !stg.tensor<[B, S, 2, D], bf16>
  stg.return %y : !stream
}

// What is predicted of each token in the middle of the layers, added to it (Granite Speech).
stg.block @add_prediction(%x: !stream) -> !stream {
  %w1 = stg.param "prediction" : !stg.tensor<[D, _ = OM], bf16>
  %p1 = stg.einsum "bsd,dm->bsm" %x, %w1 : !stream, !stg.tensor<[D, _ = OM], bf16>
  %b1 = stg.param "prediction_bias" : !stg.tensor<[_ = OM], bf16>
  %l = stg.bias_add %p1, %b1 : !stg.tensor<[B, S, _ = OM], bf16>, !stg.tensor<[_ = OM], bf16>
  %f = stg.softmax %l <"prediction_softmax"> : !stg.tensor<[B, S, _ = OM], bf16>
  %p = stg.cast %f <"prediction_shares"> : !stg.tensor<[B, S, _ = OM], f32> -> !stg.tensor<[B, S, _ = OM], bf16>
  %w2 = stg.param "prediction_back" : !stg.tensor<[_ = OM, D], bf16>
  %p2 = stg.einsum "bsm,md->bsd" %p, %w2 : !stg.tensor<[B, S, _ = OM], bf16>, !stg.tensor<[_ = OM, D], bf16>
  %b2 = stg.param "prediction_back_bias" : !stg.tensor<[D], bf16>
  %y2 = stg.bias_add %p2, %b2 : !stream, !stg.tensor<[D], bf16>
  %y = stg.add %x, %y2 <"with_prediction"> : !stream, !stream
  stg.return %y : !stream
}

// A LayerNorm, a gated matrix with two biases of each half, a convolution of each channel over the
// tokens before with a matrix of its own, an activation and a matrix (Phi-4 multimodal).
stg.block @separable_convolution_layer(%x: !stream) -> !stream {
  stg.option @conv_gate : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the gate before the convolution"
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "silu" "of the convolution"
  %n = stg.call @norm(%x) {name = "conv_norm"} : (!stream) -> !stream
  %wi = stg.param "conv_in" : !stg.tensor<[D, 2, F = CF], bf16>
  %p = stg.einsum "bsd,dgf->bsgf" %n, %wi : !stream, !stg.tensor<[D, 2, F = CF], bf16>
  %bi = stg.param "conv_in_bias" : !stg.tensor<[2, F = CF], bf16>
  %pi = stg.bias_add %p, %bi : !stg.tensor<[B, S, 2, F = CF], bf16>, !stg.tensor<[2, F = CF], bf16>
  %bh = stg.param "conv_halves_bias" : !stg.tensor<[2, F = CF], bf16>
  %ph = stg.bias_add %pi, %bh : !stg.tensor<[B, S, 2, F = CF], bf16>, !stg.tensor<[2, F = CF], bf16>
  %g = stg.glu silu %ph {stg.options = {function = "conv_gate"}} <"conv_gate"> : !stg.tensor<[B, S, 2, F = CF], bf16>
  %wc = stg.param "conv" : !stg.tensor<[F = CF, CW], bf16>
  %c = stg.causal_conv %g, %wc <"conv"> : !channels, !stg.tensor<[F = CF, CW], bf16>
  %bc = stg.param "conv_bias" : !channel
  %cb = stg.bias_add %c, %bc : !channels, !channel
  %wj = stg.param "conv_channels" : !stg.tensor<[F = CF, D], bf16>
  %j = stg.einsum "bsf,fd->bsd" %cb, %wj : !channels, !stg.tensor<[F = CF, D], bf16>
  %bj = stg.param "conv_channels_bias" : !stg.tensor<[D], bf16>
  %jb = stg.bias_add %j, %bj : !stream, !stg.tensor<[D], bf16>
  %a = stg.activation silu %jb {stg.options = {function = "activation"}} <"conv_{activation}"> : !stream
  %wo = stg.param "conv_out" : !stg.tensor<[D, D], bf16>
  %o = stg.einsum "bsd,de->bse" %a, %wo : !stream, !stg.tensor<[D, D], bf16>
  %bo = stg.param "conv_out_bias" : !stg.tensor<[D], bf16>
  %y = stg.bias_add %o, %bo : !stream, !stg.tensor<[D], bf16>
  %z = stg.add %x, %y <"conv_residual"> : !stream, !stream
  stg.return %z : !stream
}
