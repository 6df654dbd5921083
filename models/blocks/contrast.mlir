// How alike the texts and the images of a batch are: each is compared with all of the other.

stg.symbol @B "pairs in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @PD "size of what is compared"

!row = !stg.tensor<[B, D], bf16>
!stream = !stg.tensor<[B, S, D], bf16>
!vector = !stg.tensor<[D], bf16>
!embedding = !stg.tensor<[B, PD], bf16>
!embeddings = !stg.tensor<[B, S, PD], bf16>
!pairs = !stg.tensor<[B, B], bf16>
!one = !stg.tensor<[B], i32>
!loss = !stg.tensor<[B], f32>

stg.block @row_norm(%x: !row) -> !row {
  %w = stg.param "norm.weight" : !vector
  %b = stg.param "norm.bias" : !vector
  %y, %mean, %rstd = stg.layer_norm %x, %w, %b <"norm"> : !row, !vector, !vector
  stg.return %y : !row
}

// The norm of the first token, executed, but read by nobody.
stg.block @unread_row_norm(%x: !stream) -> !stream {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_token"> : !stream -> !stg.tensor<[B, 1, D], bf16>
  %r = stg.rearrange "b()d->bd" %f : !stg.tensor<[B, 1, D], bf16> -> !row
  %n = stg.call @row_norm(%r) : (!row) -> !row
  stg.keep %n : !row
  stg.return %x : !stream
}

stg.block @embed_row(%x: !row) -> !embedding {
  %w = stg.param "projection" : !stg.tensor<[D, PD], bf16>
  %y = stg.einsum "bd,dp->bp" %x, %w : !row, !stg.tensor<[D, PD], bf16>
  stg.return %y : !embedding
}

// The cross-entropy of each text among the images and of each image among the texts.
stg.block @contrast(%text: !embedding, %image: !embedding, %own: !one) -> !loss {
  %p = stg.einsum "bp,cp->bc" %text, %image <"similarity"> : !embedding, !embedding
  %t = stg.param "logit_scale" : !stg.tensor<[], bf16>
  %s = stg.mul_along %p, %t {dims = array<i64>} <"similarity_scaled"> : !pairs, !stg.tensor<[], bf16>
  %lt, %pt = stg.cross_entropy %s, %own <"text_loss"> : !pairs, !one
  %r = stg.rearrange "bc->cb" %s <"similarity_of_images"> : !pairs -> !pairs
  %li, %pi = stg.cross_entropy %r, %own <"image_loss"> : !pairs, !one
  %y = stg.add %lt, %li <"losses"> : !loss, !loss
  stg.return %y : !loss
}

// A yes or a no for each pair of a text and an image: softplus of the negated score, or of the
// score, whose mean over images is the loss of a text.
stg.block @contrast_pairs(%text: !embedding, %image: !embedding) -> !loss {
  %p = stg.einsum "bp,cp->bc" %text, %image <"similarity"> : !embedding, !embedding
  %t = stg.param "logit_scale" : !stg.tensor<[], bf16>
  %s = stg.mul_along %p, %t {dims = array<i64>} <"similarity_scaled"> : !pairs, !stg.tensor<[], bf16>
  %b = stg.param "logit_bias" : !stg.tensor<[], bf16>
  %z = stg.bias_add %s, %b <"similarity_biased"> : !pairs, !stg.tensor<[], bf16>
  %l = stg.activation softplus %z <"pair_losses"> : !pairs
  %m = stg.mean dim 1 %l <"text_loss"> : !pairs
  %y = stg.cast %m <"text_loss"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}

// The same of a row, with a bias.
stg.block @project_row(%x: !row) -> !embedding {
  %w = stg.param "projection" : !stg.tensor<[D, PD], bf16>
  %p = stg.einsum "bd,dp->bp" %x, %w : !row, !stg.tensor<[D, PD], bf16>
  %b = stg.param "projection_bias" : !stg.tensor<[PD], bf16>
  %y = stg.bias_add %p, %b : !embedding, !stg.tensor<[PD], bf16>
  stg.return %y : !embedding
}

// The same with a second matrix behind a ReLU (CLAP).
stg.block @project_row_twice(%x: !row) -> !embedding {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "between the matrices"
  %p = stg.call @project_row(%x) : (!row) -> !embedding
  %a = stg.activation gelu %p {stg.options = {function = "activation"}} <"projection_{activation}"> : !embedding
  %w = stg.param "projection2" : !stg.tensor<[PD, PD], bf16>
  %q = stg.einsum "bp,pq->bq" %a, %w : !embedding, !stg.tensor<[PD, PD], bf16>
  %b = stg.param "projection2_bias" : !stg.tensor<[PD], bf16>
  %y = stg.bias_add %q, %b : !embedding, !stg.tensor<[PD], bf16>
  stg.return %y : !embedding
}

// Of texts and of the other with a temperature each.
stg.block @contrast_twice(%text: !embedding, %other: !embedding, %own: !one) -> !loss {
  %p = stg.einsum "bp,cp->bc" %text, %other <"similarity"> : !embedding, !embedding
  %t = stg.param "logit_scale_text" : !stg.tensor<[], bf16>
  %s = stg.mul_along %p, %t {dims = array<i64>} <"similarity_scaled"> : !pairs, !stg.tensor<[], bf16>
  %lt, %pt = stg.cross_entropy %s, %own <"text_loss"> : !pairs, !one
  %q = stg.einsum "bp,cp->bc" %other, %text <"other_similarity"> : !embedding, !embedding
  %u = stg.param "logit_scale_other" : !stg.tensor<[], bf16>
  %r = stg.mul_along %q, %u {dims = array<i64>} <"other_similarity_scaled"> : !pairs, !stg.tensor<[], bf16>
  %lo, %po = stg.cross_entropy %r, %own <"other_loss"> : !pairs, !one
  %y = stg.add %lt, %lo <"losses"> : !loss, !loss
  stg.return %y : !loss
}

// Every token by itself, as short vectors of one length that are compared later.
stg.block @embed_tokens(%x: !stream) -> !embeddings {
  %w = stg.param "projection" : !stg.tensor<[D, PD], bf16>
  %p = stg.einsum "bsd,dp->bsp" %x, %w : !stream, !stg.tensor<[D, PD], bf16>
  %b = stg.param "projection_bias" : !stg.tensor<[PD], bf16>
  %e = stg.bias_add %p, %b : !embeddings, !stg.tensor<[PD], bf16>
  %y, %rstd = stg.rms_norm %e <"unit_tokens"> : !embeddings
  stg.return %y : !embeddings
}
