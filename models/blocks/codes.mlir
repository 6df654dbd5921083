// Sound as several codes of each frame, each of a book of its own: what a frame is, is the sum of
// what its codes are looked up as, and the next code of each book is predicted by itself.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "frames per sequence"
stg.symbol @D "hidden size"
stg.symbol @NB "codes of a frame"
stg.symbol @V "codes of a book"
stg.symbol @TX "tokens of a text before the frames"
stg.symbol @DD "width of layers that see the codes of a frame"
stg.symbol @VC "codes of a book, beside a vocabulary of words"
stg.symbol @NP "tokens of a melody"
stg.symbol @PC "pitches of a melody"

!stream = !stg.tensor<[B, S, D], bf16>
!losses = !stg.tensor<[B], f32>
!deep = !stg.tensor<[B = (S - TX)*B, _ = NB, DD], bf16>
!codes = !stg.tensor<[B, S, _ = NB], i32>

// Each book may have one code more, which begins a sequence. Numbers count on from book to book.
stg.block @embed_codes(%codes: !codes) -> !stream {
  stg.option @one_more : bool = true "a code more in each book, which begins a sequence"
  %e = stg.if @one_more -> !stg.tensor<[B, S, _ = NB, D], bf16> {
    %t = stg.param "code_embeddings" : !stg.tensor<[_ = NB*V + NB, D], bf16>
    %r = stg.embedding %t, %codes <"code_embeddings"> : !stg.tensor<[_ = NB*V + NB, D], bf16>, !codes
    stg.yield %r : !stg.tensor<[B, S, _ = NB, D], bf16>
  } else {
    %t = stg.param "code_embeddings" : !stg.tensor<[_ = NB*V, D], bf16>
    %r = stg.embedding %t, %codes <"code_embeddings"> : !stg.tensor<[_ = NB*V, D], bf16>, !codes
    stg.yield %r : !stg.tensor<[B, S, _ = NB, D], bf16>
  }
  %y = stg.sum dim 2 %e <"embeddings"> : !stg.tensor<[B, S, _ = NB, D], bf16>
  stg.return %y : !stream
}

// What is said so far and what is heard: a word and the codes of a frame, of one table, and a row for
// those that are not there (Kyutai's speech to text).
stg.block @embed_word_and_codes(%tokens: !stg.tensor<[B, S, _ = NB + 1], i32>) -> !stream {
  %t = stg.param "tok_embeddings" : !stg.tensor<[_ = NB*VC + V + 1, D], bf16>
  %e = stg.embedding %t, %tokens <"word_and_codes"> : !stg.tensor<[_ = NB*VC + V + 1, D], bf16>, !stg.tensor<[B, S, _ = NB + 1], i32>
  %y = stg.sum dim 2 %e <"embeddings"> : !stg.tensor<[B, S, _ = NB + 1, D], bf16>
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

// A melody, of which each token says how loud the pitches of an octave are, a text, and codes of frames, one
// behind the other (MusicGen with a melody).
stg.block @join_melody(%melody: !stg.tensor<[B, S = NP, PC], bf16>, %text: !stg.tensor<[B, S = TX - NP, D], bf16>, %frames: !stg.tensor<[B, S = S - TX, D], bf16>) -> !stream {
  %w = stg.param "melody_proj" : !stg.tensor<[PC, D], bf16>
  %p = stg.einsum "bsc,cd->bsd" %melody, %w : !stg.tensor<[B, S = NP, PC], bf16>, !stg.tensor<[PC, D], bf16>
  %b = stg.param "melody_proj_bias" : !stg.tensor<[D], bf16>
  %m = stg.bias_add %p, %b : !stg.tensor<[B, S = NP, D], bf16>, !stg.tensor<[D], bf16>
  %y = stg.concat dim 1 ordered %m, %text, %frames <"melody_text_and_frames"> : !stg.tensor<[B, S = NP, D], bf16>, !stg.tensor<[B, S = TX - NP, D], bf16>, !stg.tensor<[B, S = S - TX, D], bf16> -> !stream
  stg.return %y : !stream
}

// Frames behind a text, of whose next one a first code is predicted. The others are, by layers of each
// frame, one after the other (CSM).
stg.block @join_text_and_frames(%text: !stg.tensor<[B, S = TX, D], bf16>, %frames: !stg.tensor<[B, S = S - TX, D], bf16>) -> !stream {
  %y = stg.concat dim 1 ordered %text, %frames <"text_and_frames"> : !stg.tensor<[B, S = TX, D], bf16>, !stg.tensor<[B, S = S - TX, D], bf16> -> !stream
  stg.return %y : !stream
}
stg.block @first_codes_loss(%x: !stream, %labels: !stg.tensor<[B, S], i32>) -> !losses {
  %w = stg.param "output" : !stg.tensor<[D, V], bf16>
  %l = stg.einsum "bsd,dv->bsv" %x, %w : !stream, !stg.tensor<[D, V], bf16>
  %loss, %probs = stg.cross_entropy %l, %labels <"first_code_losses"> : !stg.tensor<[B, S, V], bf16>, !stg.tensor<[B, S], i32>
  %y = stg.mean dim 1 %loss <"first_codes_loss"> : !stg.tensor<[B, S], f32>
  stg.return %y : !losses
}

// The tokens of a frame: what the token before it has become, and its codes but the last one, each in
// the place behind its own, all in the width of these layers.
stg.block @tokens_of_frames(%x: !stream, %codes: !stg.tensor<[B = (S - TX)*B, _ = NB], i32>) -> !deep {
  %h = stg.slice dim 1 %x {from = #sym.expr<TX - 1>} <"before_frames"> : !stream -> !stg.tensor<[B, S = S - TX, D], bf16>
  %r = stg.rearrange "bsd->(bs)()d" %h <"rows_before_frames"> : !stg.tensor<[B, S = S - TX, D], bf16> -> !stg.tensor<[B = (S - TX)*B, 1, D], bf16>
  %t = stg.param "code_embeddings" : !stg.tensor<[_ = NB*V, D], bf16>
  // The first number is that of no code, and what it is looked up as is not read.
  %e = stg.embedding %t, %codes <"code_embeddings"> : !stg.tensor<[_ = NB*V, D], bf16>, !stg.tensor<[B = (S - TX)*B, _ = NB], i32>
  %l = stg.slice dim 1 %e {from = #sym.expr<1>} <"codes_before"> : !stg.tensor<[B = (S - TX)*B, _ = NB, D], bf16> -> !stg.tensor<[B = (S - TX)*B, _ = NB - 1, D], bf16>
  %c = stg.concat dim 1 ordered %r, %l <"tokens_of_frames"> : !stg.tensor<[B = (S - TX)*B, 1, D], bf16>, !stg.tensor<[B = (S - TX)*B, _ = NB - 1, D], bf16> -> !stg.tensor<[B = (S - TX)*B, _ = NB, D], bf16>
  %w = stg.param "frame_proj" : !stg.tensor<[D, DD], bf16>
  %y = stg.einsum "bnd,de->bne" %c, %w : !stg.tensor<[B = (S - TX)*B, _ = NB, D], bf16>, !stg.tensor<[D, DD], bf16>
  stg.return %y : !deep
}

// Each code but the first one by a matrix of its own.
stg.block @codes_of_frames_loss(%x: !deep, %labels: !stg.tensor<[B = (S - TX)*B, _ = NB - 1], i32>) -> !losses {
  %l = stg.slice dim 1 %x {from = #sym.expr<1>} <"codes_behind"> : !deep -> !stg.tensor<[B = (S - TX)*B, _ = NB - 1, DD], bf16>
  %w = stg.param "code_outputs" : !stg.tensor<[_ = NB - 1, DD, V], bf16>
  %o = stg.einsum "bnd,ndv->bnv" %l, %w : !stg.tensor<[B = (S - TX)*B, _ = NB - 1, DD], bf16>, !stg.tensor<[_ = NB - 1, DD, V], bf16>
  %loss, %probs = stg.cross_entropy %o, %labels <"code_losses"> : !stg.tensor<[B = (S - TX)*B, _ = NB - 1, V], bf16>, !stg.tensor<[B = (S - TX)*B, _ = NB - 1], i32>
  %m = stg.mean dim 1 %loss <"frame_losses"> : !stg.tensor<[B = (S - TX)*B, _ = NB - 1], f32>
  %r = stg.rearrange "(bs)->bs" %m <"losses_of_frames"> : !stg.tensor<[B = (S - TX)*B], f32> -> !stg.tensor<[B, S = S - TX], f32>
  %y = stg.mean dim 1 %r <"codes_loss"> : !stg.tensor<[B, S = S - TX], f32>
  stg.return %y : !losses
}
