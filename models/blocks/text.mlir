// From tokens to the residual stream, and from there to the loss.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @V "vocabulary"
stg.symbol @P "positions"

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>
!logits = !stg.tensor<[B, S, V], bf16>
!table = !stg.tensor<[V, D], bf16>

stg.block @token_embedding(%tokens: !ids) -> !stream {
  %table = stg.param "tok_embeddings" : !table
  %e = stg.embedding %table, %tokens : !table, !ids
  stg.return %e : !stream
}

// Learned positions, added to the embedding of the tokens.
stg.block @add_positions(%x: !stream, %positions: !ids) -> !stream {
  %table = stg.param "pos_embeddings" : !stg.tensor<[P, D], bf16>
  %p = stg.embedding %table, %positions : !stg.tensor<[P, D], bf16>, !ids
  %e = stg.add %x, %p <"embeddings"> : !stream, !stream
  stg.return %e : !stream
}

// The final normalization, the head and the cross-entropy of each token.
stg.block @token_loss(%x: !stream, %labels: !ids) -> !loss {
  stg.option @tied : bool = false "the head is the table of the tokens"
  %n = stg.call @norm(%x) {name = "norm"} : (!stream) -> !stream
  %logits = stg.if @tied -> !logits {
    %table = stg.param "tok_embeddings" : !table
    %l = stg.einsum "bsd,vd->bsv" %n, %table <"output"> : !stream, !table
    stg.yield %l : !logits
  } else {
    %head = stg.param "output" : !stg.tensor<[D, V], bf16>
    %l = stg.einsum "bsd,dv->bsv" %n, %head : !stream, !stg.tensor<[D, V], bf16>
    stg.yield %l : !logits
  }
  %loss, %probs = stg.cross_entropy %logits, %labels : !logits, !ids
  stg.return %loss : !loss
}
