// What a video is conditioned on in one sequence: an image, letters, and a text, each of which a learned
// row says the kind of (HunyuanVideo 1.5); or letters before a text (HunyuanImage).

stg.import "norm.mlir"

stg.symbol @B "samples in the global batch"
stg.symbol @T "tokens of an image, of letters and of a text"
stg.symbol @IT "tokens of the image"
stg.symbol @TB "tokens of the letters"
stg.symbol @D "hidden size"
stg.symbol @LW "width of the tokens of letters"
stg.symbol @DI "width between the matrices of letters"

!all = !stg.tensor<[B, T, D], bf16>
!text = !stg.tensor<[B, T = T - IT - TB, D], bf16>
!letters = !stg.tensor<[B, T = TB, D], bf16>
!image = !stg.tensor<[B, T = IT, D], bf16>
!given_image = !stg.tensor<[B, IT, D], bf16>
!words = !stg.tensor<[B, T = TB, LW], bf16>
!inner = !stg.tensor<[B, T = TB, DI], bf16>
!vector = !stg.tensor<[D], bf16>
!kind = !stg.tensor<[1, D], bf16>

// Three matrices with gelu in between.
stg.block @project_letters(%x: !words) -> !letters {
  %n = stg.call @norm(%x) {name = "letters_norm", norm = "layer"} : (!words) -> !words
  %w1 = stg.param "letters_proj1" : !stg.tensor<[LW, DI], bf16>
  %p1 = stg.einsum "btl,li->bti" %n, %w1 : !words, !stg.tensor<[LW, DI], bf16>
  %b1 = stg.param "letters_bias1" : !stg.tensor<[DI], bf16>
  %y1 = stg.bias_add %p1, %b1 : !inner, !stg.tensor<[DI], bf16>
  %a1 = stg.activation gelu %y1 <"letters_gelu1"> : !inner
  %w2 = stg.param "letters_proj2" : !stg.tensor<[DI, _ = DI], bf16>
  %p2 = stg.einsum "bti,ij->btj" %a1, %w2 : !inner, !stg.tensor<[DI, _ = DI], bf16>
  %b2 = stg.param "letters_bias2" : !stg.tensor<[_ = DI], bf16>
  %y2 = stg.bias_add %p2, %b2 : !stg.tensor<[B, T = TB, _ = DI], bf16>, !stg.tensor<[_ = DI], bf16>
  %a2 = stg.activation gelu %y2 <"letters_gelu2"> : !stg.tensor<[B, T = TB, _ = DI], bf16>
  %w3 = stg.param "letters_proj3" : !stg.tensor<[_ = DI, D], bf16>
  %p3 = stg.einsum "btj,jd->btd" %a2, %w3 : !stg.tensor<[B, T = TB, _ = DI], bf16>, !stg.tensor<[_ = DI, D], bf16>
  %b3 = stg.param "letters_bias3" : !vector
  %y3 = stg.bias_add %p3, %b3 : !letters, !vector
  stg.return %y3 : !letters
}

stg.block @join_letters(%l: !letters, %c: !stg.tensor<[B, T = T - TB, D], bf16>) -> !all {
  %y = stg.concat dim 1 ordered %l, %c : !letters, !stg.tensor<[B, T = T - TB, D], bf16> -> !all
  stg.return %y : !all
}

stg.block @join_kinds(%c: !text, %l: !letters, %i: !image) -> !all {
  %t = stg.param "kinds" : !stg.tensor<[3, D], bf16>
  %k0, %k1, %k2 = stg.split dim 0 %t : !stg.tensor<[3, D], bf16> -> !kind, !kind, !kind
  %v0 = stg.rearrange "()d->d" %k0 <"text_kind"> : !kind -> !vector
  %v1 = stg.rearrange "()d->d" %k1 <"letters_kind"> : !kind -> !vector
  %v2 = stg.rearrange "()d->d" %k2 <"image_kind"> : !kind -> !vector
  %ck = stg.bias_add %c, %v0 <"text_of_kind"> : !text, !vector
  %lk = stg.bias_add %l, %v1 <"letters_of_kind"> : !letters, !vector
  %ik = stg.bias_add %i, %v2 <"image_of_kind"> : !image, !vector
  %y = stg.concat dim 1 ordered %ik, %lk, %ck : !image, !letters, !text -> !all
  stg.return %y : !all
}
