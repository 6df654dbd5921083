// Sound as several codes of each frame, each of a book of its own: what a frame is, is the sum of
// what its codes are looked up as, and the next code of each book is predicted by itself.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "frames per sequence"
stg.symbol @D "hidden size"
stg.symbol @NB "codes of a frame"
stg.symbol @V "codes of a book"

!stream = !stg.tensor<[B, S, D], bf16>
!codes = !stg.tensor<[B, S, _ = NB], i32>

// Each book has one code more, which begins a sequence. Numbers count on from book to book.
stg.block @embed_codes(%codes: !codes) -> !stream {
  %t = stg.param "code_embeddings" : !stg.tensor<[_ = NB*V + NB, D], bf16>
  %e = stg.embedding %t, %codes <"code_embeddings"> : !stg.tensor<[_ = NB*V + NB, D], bf16>, !codes
  %y = stg.sum dim 2 %e <"embeddings"> : !stg.tensor<[B, S, _ = NB, D], bf16>
  stg.return %y : !stream
}

// The sum of the losses of a frame's codes.
stg.block @codes_loss(%x: !stream, %labels: !codes) -> !stg.tensor<[B, S], f32> {
  %n = stg.call @norm(%x) {name = "output_norm"} : (!stream) -> !stream
  %w = stg.param "output" : !stg.tensor<[_ = NB, D, V], bf16>
  %l = stg.einsum "bsd,cdv->bscv" %n, %w : !stream, !stg.tensor<[_ = NB, D, V], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels : !stg.tensor<[B, S, _ = NB, V], bf16>, !codes
  %y = stg.sum dim 2 %loss <"sum_of_losses"> : !stg.tensor<[B, S, _ = NB], f32>
  stg.return %y : !stg.tensor<[B, S], f32>
}
