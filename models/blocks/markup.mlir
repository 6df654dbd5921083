// Where each token stands in a document of nested elements (MarkupLM): the tag and the number of
// each element on the way to it, by a table for each depth, and two matrices.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @XD "elements on the way to a token"
stg.symbol @XT "tags of an element"
stg.symbol @XS "numbers of an element"
stg.symbol @XW "width of what is known of an element"

!stream = !stg.tensor<[B, S, D], bf16>
!ids = !stg.tensor<[B, S, XD], i32>
!elements = !stg.tensor<[B, S, XD, XW], bf16>
!tags = !stg.tensor<[XD, XT, XW], bf16>
!numbers = !stg.tensor<[XD, XS, XW], bf16>
!inner = !stg.tensor<[B, S, F = 4*D], bf16>

stg.block @add_paths(%x: !stream, %tags: !ids, %numbers: !ids) -> !stream {
  %tt = stg.param "tag_embeddings" : !tags
  %t = stg.embedding %tt, %tags <"path_tags"> : !tags, !ids
  %tn = stg.param "number_embeddings" : !numbers
  %n = stg.embedding %tn, %numbers <"path_numbers"> : !numbers, !ids
  %p = stg.add %t, %n <"paths"> : !elements, !elements
  %w1 = stg.param "path_inner" : !stg.tensor<[XD, XW, F = 4*D], bf16>
  %u = stg.einsum "bsnw,nwf->bsf" %p, %w1 : !elements, !stg.tensor<[XD, XW, F = 4*D], bf16>
  %b1 = stg.param "path_inner_bias" : !stg.tensor<[F = 4*D], bf16>
  %ub = stg.bias_add %u, %b1 : !inner, !stg.tensor<[F = 4*D], bf16>
  %a = stg.activation relu %ub <"path_relu"> : !inner
  %w2 = stg.param "path_output" : !stg.tensor<[F = 4*D, D], bf16>
  %o = stg.einsum "bsf,fd->bsd" %a, %w2 : !inner, !stg.tensor<[F = 4*D, D], bf16>
  %b2 = stg.param "path_output_bias" : !stg.tensor<[D], bf16>
  %ob = stg.bias_add %o, %b2 : !stream, !stg.tensor<[D], bf16>
  %y = stg.add %x, %ob <"embeddings_and_paths"> : !stream, !stream
  stg.return %y : !stream
}
