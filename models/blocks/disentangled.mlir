// Attention whose scores are those of two contents, of a content and how far away the other token
// is, or of both (DeBERTa). What is known of how far away a token is, is a row of one table that all
// layers read.

stg.import "attention.mlir"
stg.import "cross_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @PR "relative positions on each side"
stg.symbol @N "relative positions that are read"
stg.symbol @CW = 3 "tokens of a convolution"
stg.symbol @TC = D "channels that each channel of a convolution reads"

!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!relative = !stg.tensor<[1, N, D], bf16>
!relative_heads = !stg.tensor<[1, N, H, E], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!buckets = !stg.tensor<[B, H, S, N], bf16>
!scores = !stg.tensor<[B, H, S, _ = S], bf16>

// The table of relative positions.
stg.block @relative_table() -> !stg.tensor<[1, N = 2*PR, D], bf16> {
  stg.option @relative_norm : bool = false "a normalization of the table of relative positions"
  %t = stg.param "relative_embeddings" : !stg.tensor<[N = 2*PR, D], bf16>
  %r = stg.rearrange "nd->()nd" %t <"relative_rows"> : !stg.tensor<[N = 2*PR, D], bf16> -> !stg.tensor<[1, N = 2*PR, D], bf16>
  %y = stg.if @relative_norm -> !stg.tensor<[1, N = 2*PR, D], bf16> {
    %n = stg.call @norm(%r) {name = "relative_norm"} : (!stg.tensor<[1, N = 2*PR, D], bf16>) -> !stg.tensor<[1, N = 2*PR, D], bf16>
    stg.yield %n : !stg.tensor<[1, N = 2*PR, D], bf16>
  } else {
    stg.yield %r : !stg.tensor<[1, N = 2*PR, D], bf16>
  }
  stg.return %y : !stg.tensor<[1, N = 2*PR, D], bf16>
}

// The rows of it that two tokens of a sequence may be apart.
stg.block @near_relative_table() -> !stg.tensor<[1, N = 2*min(S, PR), D], bf16> {
  %t = stg.call @relative_table() : () -> !stg.tensor<[1, N = 2*PR, D], bf16>
  %y = stg.slice dim 1 %t {from = #sym.expr<PR - min(S, PR)>} <"near_relative_rows"> : !stg.tensor<[1, N = 2*PR, D], bf16> -> !stg.tensor<[1, N = 2*min(S, PR), D], bf16>
  stg.return %y : !stg.tensor<[1, N = 2*min(S, PR), D], bf16>
}

// What each token scores each relative position: heads of both, multiplied.
stg.block @score_positions(%h: !heads, %p: !relative_heads) -> !buckets {
  stg.option @name : string "of what is scored"
  %r = stg.rearrange "()nhe->nhe" %p <"{name}_heads"> : !relative_heads -> !stg.tensor<[N, H, E], bf16>
  %s = stg.einsum "bshe,nhe->bhsn" %h, %r <"{name}"> : !heads, !stg.tensor<[N, H, E], bf16>
  stg.return %s : !buckets
}

// A query, and how far away a key is.
stg.block @content_to_position(%q: !heads, %relative: !relative) -> !scores {
  stg.option @relative_shared : bool = false "relative positions have the projections of tokens"
  stg.option @relative_key_bias : bool = true "bias of the keys of relative positions"
  %k = stg.if @relative_shared -> !relative_heads {
    %y = stg.call @key_heads(%relative) {name = "k", K as H} : (!relative) -> !relative_heads
    stg.yield %y : !relative_heads
  } else {
    %z = stg.if @relative_key_bias -> !relative_heads {
      %y = stg.call @key_heads(%relative) {name = "relative_k", K as H, qkv_bias = true} : (!relative) -> !relative_heads
      stg.yield %y : !relative_heads
    } else {
      %y = stg.call @key_heads(%relative) {name = "relative_k", K as H, qkv_bias = false} : (!relative) -> !relative_heads
      stg.yield %y : !relative_heads
    }
    stg.yield %z : !relative_heads
  }
  %b = stg.call @score_positions(%q, %k) {name = "content_to_position"} : (!heads, !relative_heads) -> !buckets
  %s = stg.relative_scores %b <"content_to_position_scores"> : !buckets -> !scores
  stg.return %s : !scores
}

// A key, and how far away a query is.
stg.block @position_to_content(%k: !heads, %relative: !relative) -> !scores {
  stg.option @relative_shared : bool = false "relative positions have the projections of tokens"
  stg.option @queries_scaled_early : bool = false "queries times a constant before all scores, not the scores by position"
  %q = stg.if @relative_shared -> !relative_heads {
    %y = stg.call @key_heads(%relative) {name = "q", K as H} : (!relative) -> !relative_heads
    stg.yield %y : !relative_heads
  } else {
    %y = stg.call @key_heads(%relative) {name = "relative_q", K as H, qkv_bias = true} : (!relative) -> !relative_heads
    stg.yield %y : !relative_heads
  }
  %qs = stg.if @queries_scaled_early -> !relative_heads {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !relative_heads
    %y = stg.mul %q, %c <"relative_query_scale"> : !relative_heads, !relative_heads
    stg.yield %y : !relative_heads
  } else {
    stg.yield %q : !relative_heads
  }
  %b = stg.call @score_positions(%k, %qs) {name = "position_to_content"} : (!heads, !relative_heads) -> !buckets
  %s = stg.relative_scores %b {of_keys} <"position_to_content_scores"> : !buckets -> !scores
  stg.return %s : !scores
}

// What is added to the scores of two contents.
stg.block @position_scores(%q: !heads, %k: !heads, %relative: !relative) -> !scores {
  stg.option @position_terms : "both" | "keys" | "queries" = "both" "positions of keys are scored by queries, those of queries by keys, or both"
  stg.option @queries_scaled_early : bool = false "queries times a constant before all scores, not the scores by position"
  %s = stg.if @position_terms = "both" -> !scores {
    %a = stg.call @content_to_position(%q, %relative) : (!heads, !relative) -> !scores
    %b = stg.call @position_to_content(%k, %relative) : (!heads, !relative) -> !scores
    %y = stg.add %a, %b <"position_scores"> : !scores, !scores
    stg.yield %y : !scores
  } else {
    %z = stg.if @position_terms = "keys" -> !scores {
      %y = stg.call @content_to_position(%q, %relative) : (!heads, !relative) -> !scores
      stg.yield %y : !scores
    } else {
      %y = stg.call @position_to_content(%k, %relative) : (!heads, !relative) -> !scores
      stg.yield %y : !scores
    }
    stg.yield %z : !scores
  }
  %t = stg.if @queries_scaled_early -> !scores {
    stg.yield %s : !scores
  } else {
    %c = stg.splat 1 : !scores
    %y = stg.mul %s, %c <"position_score_scale"> : !scores, !scores
    stg.yield %y : !scores
  }
  stg.return %t : !scores
}

stg.block @disentangled_attention(%x: !stream, %relative: !relative) -> !stream {
  stg.option @queries_scaled_early : bool = false "queries times a constant before all scores, not the scores by position"
  %p, %k, %v = stg.call @heads(%x) {K as H} : (!stream) -> (!heads, !heads, !heads)
  %q = stg.if @queries_scaled_early -> !heads {
    %c = stg.splat 1 : !heads
    %y = stg.mul %p, %c <"query_scale"> : !heads, !heads
    stg.yield %y : !heads
  } else {
    stg.yield %p : !heads
  }
  %s = stg.call @position_scores(%q, %k, %relative) : (!heads, !heads, !relative) -> !scores
  %a, %lse = stg.attention none %q, %k, %v, %s : !heads, !heads, !heads, !scores
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %a, %wo : !heads, !stg.tensor<[H, E, D], bf16>
  %y = stg.call @output_bias(%o) : (!stream) -> !stream
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @disentangled_attention_layer(%x: !stream, %relative: !relative) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @disentangled_attention(%n, %relative) : (!stream, !relative) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// A convolution over tokens, as many before as behind each.
stg.block @convolve_tokens(%x: !stream) -> !stream {
  stg.option @token_groups : bool = false "channels are cut into groups"
  stg.option @tokens_before : string = "1" "zeros before the first token, and behind the last"
  stg.option @conv_activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "tanh" "of a convolution over tokens"
  %w = stg.param "token_conv" : !stg.tensor<[CW, _ = TC, D], bf16>
  %c = stg.conv %x, %w {grouped, strides = array<i64: 1>, padding = array<i64: 1>, stg.options = {grouped = "token_groups", padding = "tokens_before"}} <"token_conv"> : !stream, !stg.tensor<[CW, _ = TC, D], bf16> -> !stream
  %b = stg.param "token_conv_bias" : !vector
  %p = stg.bias_add %c, %b : !stream, !vector
  %y = stg.activation tanh %p {stg.options = {function = "conv_activation"}} <"token_conv_{conv_activation}"> : !stream
  stg.return %y : !stream
}

// Added to what a layer gives, and a normalization of the sum.
stg.block @add_convolved_tokens(%x: !stream, %c: !stream) -> !stream {
  %s = stg.add %x, %c <"with_token_conv"> : !stream, !stream
  %y = stg.call @norm(%s) {name = "token_conv_norm"} : (!stream) -> !stream
  stg.return %y : !stream
}
