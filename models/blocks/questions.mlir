// Where the answer to a question begins and ends, by what the token of the question and all others say
// (Splinter).

stg.import "encoder.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @NQ = 1 "questions of a text"

!stream = !stg.tensor<[B, S, D], bf16>
!questions = !stg.tensor<[B, NQ, D], bf16>
!square = !stg.tensor<[D, D], bf16>
!scores = !stg.tensor<[B, NQ, S], bf16>
!places = !stg.tensor<[B, NQ], i32>
!losses = !stg.tensor<[B, NQ], f32>

// Each question is compared with all tokens, both behind a matrix, gelu and a norm of their own.
stg.block @end_of_answer(%x: !stream, %q: !questions, %places: !places) -> !losses {
  %r = stg.call @masked_transform(%q) {S as NQ, norm = "layer"} <"question"> : (!questions) -> !questions
  %t = stg.call @masked_transform(%x) {norm = "layer"} <"token"> : (!stream) -> !stream
  %w = stg.param "answer_proj" : !square
  %p = stg.einsum "bqd,de->bqe" %r, %w : !questions, !square
  %s = stg.einsum "bqe,bse->bqs" %p, %t <"answer_scores"> : !questions, !stream
  %l, %probs = stg.cross_entropy %s, %places <"answer_loss"> : !scores, !places
  stg.return %l : !losses
}

// The tokens of questions stand at the same places in all texts: which they are changes nothing of a trace.
stg.block @answers_of_questions(%x: !stream, %questions: !stg.tensor<[NQ], i32>, %begins: !places, %ends: !places) -> !stg.tensor<[B], f32> {
  %q = stg.gather dim 1 %x, %questions <"questions"> : !stream, !stg.tensor<[NQ], i32>
  %b = stg.call @end_of_answer(%x, %q, %begins) <"begin"> : (!stream, !questions, !places) -> !losses
  %e = stg.call @end_of_answer(%x, %q, %ends) <"end"> : (!stream, !questions, !places) -> !losses
  %s = stg.add %b, %e <"both_ends"> : !losses, !losses
  // No trace has the value of the constant.
  %half = stg.splat 1 : !losses
  %m = stg.mul %s, %half <"answer_losses"> : !losses, !losses
  %y = stg.mean dim 1 %m <"answers_loss"> : !losses
  stg.return %y : !stg.tensor<[B], f32>
}
