// What is said of each token of a text: its class, or where an answer begins and ends.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @Y = 2 "classes"

!ids = !stg.tensor<[B, S], i32>
!losses = !stg.tensor<[B, S], f32>
!one = !stg.tensor<[B], i32>
!loss = !stg.tensor<[B], f32>
!stream = !stg.tensor<[B, S, D], bf16>
!classes = !stg.tensor<[B, S, Y], bf16>
!ends = !stg.tensor<[B, 2, S], bf16>
!end = !stg.tensor<[B, 1, S], bf16>
!scores = !stg.tensor<[B, S], bf16>

// The loss of a class of each token, whose mean is that of a sequence.
stg.block @token_class_loss(%x: !stream, %labels: !ids) -> !loss {
  %w = stg.param "classifier" : !stg.tensor<[D, Y], bf16>
  %p = stg.einsum "bsd,dy->bsy" %x, %w : !stream, !stg.tensor<[D, Y], bf16>
  %b = stg.param "classifier_bias" : !stg.tensor<[Y], bf16>
  %l = stg.bias_add %p, %b : !classes, !stg.tensor<[Y], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels <"class_losses"> : !classes, !ids
  %m = stg.mean dim 1 %loss <"class_loss"> : !losses
  stg.return %m : !loss
}

// The loss of a class of each sequence, which its last token says. Each token gets a score for
// each class.
stg.block @last_class_loss(%x: !stream, %labels: !one) -> !loss {
  %w = stg.param "score" : !stg.tensor<[D, Y], bf16>
  %p = stg.einsum "bsd,dy->bsy" %x, %w : !stream, !stg.tensor<[D, Y], bf16>
  %l = stg.slice dim 1 %p {from = #sym.expr<S - 1>} <"last_scores"> : !classes -> !stg.tensor<[B, 1, Y], bf16>
  %r = stg.rearrange "b()y->by" %l : !stg.tensor<[B, 1, Y], bf16> -> !stg.tensor<[B, Y], bf16>
  %loss, %probs = stg.cross_entropy %r, %labels <"class_loss"> : !stg.tensor<[B, Y], bf16>, !one
  stg.return %loss : !loss
}

// The loss of an answer: two numbers of each token, of which the largest of all tokens say where
// it begins and where it ends.
stg.block @span_loss(%x: !stream, %begins: !one, %ends: !one) -> !loss {
  %w = stg.param "span_ends" : !stg.tensor<[D, 2], bf16>
  %p = stg.einsum "bsd,dp->bps" %x, %w : !stream, !stg.tensor<[D, 2], bf16>
  %b = stg.param "span_ends_bias" : !stg.tensor<[2], bf16>
  %l = stg.bias_add %p, %b {dims = array<i64: 1>} : !ends, !stg.tensor<[2], bf16>
  %f, %t = stg.split dim 1 ordered %l : !ends -> !end, !end
  %fs = stg.rearrange "b()s->bs" %f <"begin_scores"> : !end -> !scores
  %ts = stg.rearrange "b()s->bs" %t <"end_scores"> : !end -> !scores
  %fl, %fp = stg.cross_entropy %fs, %begins <"begin_loss"> : !scores, !one
  %tl, %tp = stg.cross_entropy %ts, %ends <"end_loss"> : !scores, !one
  %s = stg.add %fl, %tl <"both_ends"> : !loss, !loss
  // No trace has the value of the constant.
  %half = stg.splat 1 : !loss
  %y = stg.mul %s, %half <"span_loss"> : !loss, !loss
  stg.return %y : !loss
}
