// From tokens to the residual stream, and from there to the loss.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @V "vocabulary"
stg.symbol @P "positions"
stg.symbol @DE = D "width of the table of tokens"

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>
!logits = !stg.tensor<[B, S, V], bf16>
!table = !stg.tensor<[V, D], bf16>

stg.block @token_embedding(%tokens: !ids) -> !stream {
  stg.option @scaled : bool = false "times a constant, such as the root of the hidden size"
  %table = stg.param "tok_embeddings" : !table
  %e = stg.embedding %table, %tokens : !table, !ids
  %x = stg.if @scaled -> !stream {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !stream
    %y = stg.mul %e, %c <"embedding_scale"> : !stream, !stream
    stg.yield %y : !stream
  } else {
    stg.yield %e : !stream
  }
  stg.return %x : !stream
}

// The same of a table with a row more than there are words, which begins a sequence.
stg.block @embed_or_begin(%tokens: !ids) -> !stream {
  %table = stg.param "tok_embeddings" : !stg.tensor<[_ = V + 1, D], bf16>
  %x = stg.embedding %table, %tokens : !stg.tensor<[_ = V + 1, D], bf16>, !ids
  stg.return %x : !stream
}

// What a table of another width gives becomes the residual stream, and the stream such rows.
stg.block @widen(%e: !stg.tensor<[B, S, DE], bf16>) -> !stream {
  stg.option @bias : bool = false "bias of the projection"
  %w = stg.param "project_in" : !stg.tensor<[DE, D], bf16>
  %p = stg.einsum "bse,ed->bsd" %e, %w : !stg.tensor<[B, S, DE], bf16>, !stg.tensor<[DE, D], bf16>
  %x = stg.if @bias -> !stream {
    %b = stg.param "project_in_bias" : !stg.tensor<[D], bf16>
    %y = stg.bias_add %p, %b : !stream, !stg.tensor<[D], bf16>
    stg.yield %y : !stream
  } else {
    stg.yield %p : !stream
  }
  stg.return %x : !stream
}

stg.block @narrow(%x: !stream) -> !stg.tensor<[B, S, DE], bf16> {
  %w = stg.param "project_out" : !stg.tensor<[D, DE], bf16>
  %e = stg.einsum "bsd,de->bse" %x, %w : !stream, !stg.tensor<[D, DE], bf16>
  stg.return %e : !stg.tensor<[B, S, DE], bf16>
}

// A normalization of what the embedding gives.
stg.block @embedding_norm(%x: !stream) -> !stream {
  %y = stg.call @norm(%x) {name = "embedding_norm"} : (!stream) -> !stream
  stg.return %y : !stream
}

// The residual stream times a constant.
stg.block @scale_stream(%x: !stream) -> !stream {
  // No trace has the value of the constant.
  %c = stg.splat 1 : !stream
  %y = stg.mul %x, %c <"stream_scale"> : !stream, !stream
  stg.return %y : !stream
}

// Learned positions, added to the embedding of the tokens.
stg.block @add_positions(%x: !stream, %positions: !ids) -> !stream {
  stg.option @two_more : bool = false "two rows of the table more, which are of no position"
  %p = stg.if @two_more -> !stream {
    %table = stg.param "pos_embeddings" : !stg.tensor<[P = P + 2, D], bf16>
    %q = stg.embedding %table, %positions : !stg.tensor<[P = P + 2, D], bf16>, !ids
    stg.yield %q : !stream
  } else {
    %table = stg.param "pos_embeddings" : !stg.tensor<[P, D], bf16>
    %q = stg.embedding %table, %positions : !stg.tensor<[P, D], bf16>, !ids
    stg.yield %q : !stream
  }
  %e = stg.add %x, %p <"embeddings"> : !stream, !stream
  stg.return %e : !stream
}

// The final normalization, the head and the cross-entropy of each token.
stg.block @token_loss(%x: !stream, %labels: !ids) -> !loss {
  stg.option @tied : bool = false "the head is the table of the tokens"
  stg.option @head_bias : bool = false "bias of the head"
  stg.option @logit_cap : bool = false "logits are capped by a tanh"
  stg.option @logit_scaled : bool = false "logits times a constant"
  stg.option @final_norm : bool = true "a normalization before the head"
  stg.option @input_scaled : bool = false "what the head reads, times a constant"
  %f = stg.if @final_norm -> !stream {
    %y = stg.call @norm(%x) {name = "norm"} : (!stream) -> !stream
    stg.yield %y : !stream
  } else {
    stg.yield %x : !stream
  }
  %n = stg.if @input_scaled -> !stream {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !stream
    %y = stg.mul %f, %c <"head_input_scale"> : !stream, !stream
    stg.yield %y : !stream
  } else {
    stg.yield %f : !stream
  }
  %head = stg.if @tied -> !logits {
    %table = stg.param "tok_embeddings" : !table
    %l = stg.einsum "bsd,vd->bsv" %n, %table <"output"> : !stream, !table
    stg.yield %l : !logits
  } else {
    %w = stg.param "output" : !stg.tensor<[D, V], bf16>
    %l = stg.einsum "bsd,dv->bsv" %n, %w : !stream, !stg.tensor<[D, V], bf16>
    stg.yield %l : !logits
  }
  %biased = stg.if @head_bias -> !logits {
    %b = stg.param "output_bias" : !stg.tensor<[V], bf16>
    %l = stg.bias_add %head, %b : !logits, !stg.tensor<[V], bf16>
    stg.yield %l : !logits
  } else {
    stg.yield %head : !logits
  }
  %scaled = stg.if @logit_scaled -> !logits {
    // No trace has the value of the constant.
    %c = stg.splat 1 : !logits
    %l = stg.mul %biased, %c <"logit_scale"> : !logits, !logits
    stg.yield %l : !logits
  } else {
    stg.yield %biased : !logits
  }
  %logits = stg.if @logit_cap -> !logits {
    %l = stg.activation tanh %scaled <"logit_cap"> : !logits
    stg.yield %l : !logits
  } else {
    stg.yield %scaled : !logits
  }
  %loss, %probs = stg.cross_entropy %logits, %labels : !logits, !ids
  stg.return %loss : !loss
}
