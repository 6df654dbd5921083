// What an image shows, made of a text: tokens of the text, all of it together, a time step, what the image
// shows with noise, and a learned token, which says what it shows without noise (Kandinsky, unCLIP).

stg.symbol @B "samples in the global batch"
stg.symbol @S "tokens of a text, and four behind them"
stg.symbol @D "hidden size"
stg.symbol @C "width of what is projected"
stg.symbol @PO "width of what an image shows"

!stream = !stg.tensor<[B, S, D], bf16>
!words = !stg.tensor<[B, S = S - 4, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!vector = !stg.tensor<[D], bf16>
!given = !stg.tensor<[B, PO], bf16>
!mean = !stg.tensor<[1, PO], bf16>

// One row, by a matrix.
stg.block @embed_whole(%x: !stg.tensor<[B, C], bf16>) -> !row {
  stg.option @prefix : string "before the names of parameters and ops"
  %w = stg.param "{prefix}proj" : !stg.tensor<[C, D], bf16>
  %p = stg.einsum "bc,cd->bd" %x, %w : !stg.tensor<[B, C], bf16>, !stg.tensor<[C, D], bf16>
  %b = stg.param "{prefix}bias" : !vector
  %y = stg.bias_add %p, %b : !row, !vector
  stg.return %y : !row
}

// All tokens, with a learned position of each.
stg.block @join_prior(%c: !words, %p: !row, %e: !row, %x: !row) -> !stream {
  %p1 = stg.rearrange "bd->b()d" %p <"text_token"> : !row -> !one
  %e1 = stg.rearrange "bd->b()d" %e <"time_token"> : !row -> !one
  %x1 = stg.rearrange "bd->b()d" %x <"image_token"> : !row -> !one
  %l = stg.param "last_token" : !stg.tensor<[1, D], bf16>
  %l1 = stg.broadcast dim 0 %l <"last_tokens"> : !stg.tensor<[1, D], bf16> -> !one
  %j = stg.concat dim 1 ordered %c, %p1, %e1, %x1, %l1 <"tokens"> : !words, !one, !one, !one, !one -> !stream
  %t = stg.param "pos_embeddings" : !stg.tensor<[S, D], bf16>
  %y = stg.bias_add %j, %t <"embeddings"> : !stream, !stg.tensor<[S, D], bf16>
  stg.return %y : !stream
}

// What the last token says, and the square of what is wrong with each element. Nothing of a step reads
// mean and deviation of what images show.
stg.block @prior_loss(%x: !stream, %target: !given) -> !given {
  %m = stg.param "mean" {frozen} : !mean
  stg.keep %m : !mean
  %v = stg.param "deviation" {frozen} : !mean
  stg.keep %v : !mean
  %before, %last = stg.split dim 1 ordered %x : !stream -> !stg.tensor<[B, S = S - 1, D], bf16>, !one
  %r = stg.rearrange "b()d->bd" %last <"last_row"> : !one -> !row
  %w = stg.param "output" : !stg.tensor<[D, PO], bf16>
  %p = stg.einsum "bd,dp->bp" %r, %w : !row, !stg.tensor<[D, PO], bf16>
  %b = stg.param "output_bias" : !stg.tensor<[PO], bf16>
  %y = stg.bias_add %p, %b : !given, !stg.tensor<[PO], bf16>
  %d = stg.add %y, %target <"difference"> : !given, !given
  %s = stg.mul %d, %d <"square"> : !given, !given
  stg.return %s : !given
}
