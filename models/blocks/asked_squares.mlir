// Squares of patches, of each of which one token becomes: what they have in the mean asks, and the
// patches of the square answer (Molmo).

stg.symbol @B "sequences in the global batch"
stg.symbol @D "hidden size"
stg.symbol @IM = 1 "images per sequence"
stg.symbol @IT "tokens of an image"
stg.symbol @DV "hidden size of the vision tower"
stg.symbol @SV "tokens of the vision tower"
stg.symbol @ME "patches that become one token, along each side"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @F "width between the vision tower and the text"

!vision = !stg.tensor<[B = IM*B, SV, DV], bf16>
!joined = !stg.tensor<[B = IM*B, SV, 2*DV], bf16>
!patches = !stg.tensor<[B = IM*B, SV - 1, 2*DV], bf16>
!padding = !stg.tensor<[B = IM*B, SV - 1, 2], bf16>
!squares = !stg.tensor<[B = IM*IT*B, S = ME*ME, 2*DV], bf16>
!mean = !stg.tensor<[B = IM*IT*B, 2*DV], bf16>
!one = !stg.tensor<[B = IM*IT*B, S = 1, 2*DV], bf16>
!query = !stg.tensor<[B = IM*IT*B, S = 1, H, E], bf16>
!keys = !stg.tensor<[B = IM*IT*B, S = ME*ME, H, E], bf16>
!answer = !stg.tensor<[B = IM*IT*B, S = 1, DV], bf16>
!to_heads = !stg.tensor<[2*DV, H, E], bf16>
!head_bias = !stg.tensor<[H, E], bf16>
!seen = !stg.tensor<[B = IM*B, IT, DV], bf16>
!image = !stg.tensor<[B = IM*B, IT, D], bf16>

// What two layers give, one beside the other, without the token in front of the patches. Two
// learned vectors are added to patches outside of the image, and to those that are so in part:
// `padding` says which are.
stg.block @join_layers(%late: !vision, %early: !vision, %padding: !padding) -> !patches {
  %c = stg.concat dim 2 %late, %early <"layers_joined"> : !vision, !vision -> !joined
  %p = stg.slice dim 1 %c {from = #sym.expr<1>} <"without_class"> : !joined -> !patches
  %w = stg.param "padding_embeddings" : !stg.tensor<[2, 2*DV], bf16>
  %e = stg.einsum "bnk,kd->bnd" %padding, %w <"padding"> : !padding, !stg.tensor<[2, 2*DV], bf16>
  %y = stg.add %p, %e <"patches"> : !patches, !patches
  stg.return %y : !patches
}

stg.block @ask_squares(%x: !patches) -> !seen {
  %s = stg.rearrange "b(ynxm)d->(byx)(nm)d" %x <"squares"> : !patches -> !squares
  %m = stg.mean dim 1 %s <"squares_mean"> : !squares
  %a = stg.rearrange "bd->b()d" %m <"question"> : !mean -> !one
  %wq = stg.param "q_proj" : !to_heads
  %pq = stg.einsum "bsd,dhe->bshe" %a, %wq : !one, !to_heads
  %bq = stg.param "q_bias" : !head_bias
  %q = stg.bias_add %pq, %bq : !query, !head_bias
  %wkv = stg.param "kv_proj" : !stg.tensor<[2*DV, 2*H, E], bf16>
  %pkv = stg.einsum "bsd,dhe->bshe" %s, %wkv : !squares, !stg.tensor<[2*DV, 2*H, E], bf16>
  %bkv = stg.param "kv_bias" : !stg.tensor<[2*H, E], bf16>
  %kv = stg.bias_add %pkv, %bkv : !stg.tensor<[B = IM*IT*B, S = ME*ME, 2*H, E], bf16>, !stg.tensor<[2*H, E], bf16>
  %k, %v = stg.split dim 2 %kv : !stg.tensor<[B = IM*IT*B, S = ME*ME, 2*H, E], bf16> -> !keys, !keys
  %h, %lse = stg.attention none %q, %k, %v <"attention"> : !query, !keys, !keys
  %wo = stg.param "o_proj" : !stg.tensor<[H, E, DV], bf16>
  %po = stg.einsum "bshe,hed->bsd" %h, %wo : !query, !stg.tensor<[H, E, DV], bf16>
  %bo = stg.param "o_bias" : !stg.tensor<[DV], bf16>
  %o = stg.bias_add %po, %bo : !answer, !stg.tensor<[DV], bf16>
  %y = stg.rearrange "(bn)()d->bnd" %o <"answers"> : !answer -> !seen
  stg.return %y : !seen
}

// A gated network without biases, to the width of the text.
stg.block @project_gated(%x: !seen) -> !image {
  %wgu = stg.param "gate_up_proj" : !stg.tensor<[DV, 2, F], bf16>
  %gu = stg.einsum "bnv,vgf->bngf" %x, %wgu : !seen, !stg.tensor<[DV, 2, F], bf16>
  %h = stg.glu silu %gu <"swiglu"> : !stg.tensor<[B = IM*B, IT, 2, F], bf16>
  %wd = stg.param "down_proj" : !stg.tensor<[F, D], bf16>
  %y = stg.einsum "bnf,fd->bnd" %h, %wd : !stg.tensor<[B = IM*B, IT, F], bf16>, !stg.tensor<[F, D], bf16>
  stg.return %y : !image
}

// What the last layers of a tower give: executed, but read by nobody.
stg.block @unread_layers(%x: !vision) -> !vision {
  stg.keep %x : !vision
  stg.return %x : !vision
}
