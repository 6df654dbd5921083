// Characters without a vocabulary (CANINE): rows of several hashes side by side, and fewer tokens between
// layers of characters.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "characters per sequence"
stg.symbol @D "hidden size"
stg.symbol @NH = 8 "hashes of a character"
stg.symbol @NB "buckets of a hash"
stg.symbol @DR = 4 "characters of a token"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!tokens = !stg.tensor<[B, S = S/DR, D], bf16>
!but_last = !stg.tensor<[B, S = S/DR - 1, D], bf16>
!one = !stg.tensor<[B, 1, D], bf16>
!vector = !stg.tensor<[D], bf16>

// A table of each hash, whose rows together have the width of a character.
stg.block @embed_characters(%hashes: !stg.tensor<[B, S, _ = NH], i32>) -> !stream {
  %t = stg.param "hash_embeddings" : !stg.tensor<[_ = NH, _ = NB, _ = D/NH], bf16>
  %e = stg.embedding %t, %hashes <"hash_embeddings"> : !stg.tensor<[_ = NH, _ = NB, _ = D/NH], bf16>, !stg.tensor<[B, S, _ = NH], i32>
  %y = stg.rearrange "bshd->bs(hd)" %e <"characters"> : !stg.tensor<[B, S, _ = NH, _ = D/NH], bf16> -> !stream
  stg.return %y : !stream
}

// A convolution over as many characters as a token is of, an activation, the first character in the place
// of the last token, before the others, and a norm.
stg.block @shorten_characters(%x: !stream) -> !tokens {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "behind the convolution"
  %j = stg.rearrange "b(sr)d->bs(rd)" %x <"joined_characters"> : !stream -> !stg.tensor<[B, S = S/DR, _ = D*DR], bf16>
  %w = stg.param "shorten" : !stg.tensor<[_ = D*DR, D], bf16>
  %p = stg.einsum "bsc,cd->bsd" %j, %w : !stg.tensor<[B, S = S/DR, _ = D*DR], bf16>, !stg.tensor<[_ = D*DR, D], bf16>
  %b = stg.param "shorten_bias" : !vector
  %y = stg.bias_add %p, %b : !tokens, !vector
  %a = stg.activation gelu %y {stg.options = {function = "activation"}} <"shorten_{activation}"> : !tokens
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_character"> : !stream -> !one
  %r = stg.slice dim 1 %a {from = #sym.expr<0>} <"tokens_but_last"> : !tokens -> !but_last
  %c = stg.concat dim 1 ordered %f, %r <"short_tokens"> : !one, !but_last -> !tokens
  %n = stg.call @norm(%c) {name = "shorten_norm", norm = "layer"} : (!tokens) -> !tokens
  stg.return %n : !tokens
}

// Each token but the first once for each of its characters, the last one in its place, too, beside what
// the characters are; a convolution over four of both, an activation and a norm.
stg.block @lengthen_characters(%characters: !stream, %tokens: !tokens) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "behind the convolution"
  %r = stg.slice dim 1 %tokens {from = #sym.expr<1>} <"tokens_but_first"> : !tokens -> !but_last
  %l = stg.slice dim 1 %tokens {from = #sym.expr<S/DR - 1>} <"last_token"> : !tokens -> !one
  %t = stg.concat dim 1 ordered %r, %l <"tokens_of_characters"> : !but_last, !one -> !tokens
  %u = stg.replicate dim 1 %t <"repeated_tokens"> : !tokens -> !stream
  %c = stg.concat dim 2 ordered %characters, %u <"characters_and_tokens"> : !stream, !stream -> !stg.tensor<[B, S, 2*D], bf16>
  %w = stg.param "lengthen" : !stg.tensor<[4, 2*D, D], bf16>
  %p = stg.conv %c, %w {strides = array<i64: 1>, padding = array<i64: 2>} <"lengthen"> : !stg.tensor<[B, S, 2*D], bf16>, !stg.tensor<[4, 2*D, D], bf16> -> !stg.tensor<[B, _ = S + 1, D], bf16>
  %s = stg.slice dim 1 %p {from = #sym.expr<1>} <"lengthen_end"> : !stg.tensor<[B, _ = S + 1, D], bf16> -> !stream
  %b = stg.param "lengthen_bias" : !vector
  %y = stg.bias_add %s, %b : !stream, !vector
  %a = stg.activation gelu %y {stg.options = {function = "activation"}} <"lengthen_{activation}"> : !stream
  %n = stg.call @norm(%a) {name = "lengthen_norm", norm = "layer"} : (!stream) -> !stream
  stg.return %n : !stream
}

// What a text is, of the first of the tokens between the layers of characters: a matrix and tanh.
stg.block @pooled_token(%x: !tokens) -> !stg.tensor<[B, D], bf16> {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_token"> : !tokens -> !one
  %r = stg.rearrange "b()d->bd" %f <"first_token"> : !one -> !stg.tensor<[B, D], bf16>
  %w = stg.param "pooler" : !stg.tensor<[D, D], bf16>
  %p = stg.einsum "bd,de->be" %r, %w : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, D], bf16>
  %b = stg.param "pooler_bias" : !vector
  %y = stg.bias_add %p, %b : !stg.tensor<[B, D], bf16>, !vector
  %t = stg.activation tanh %y <"pooler_tanh"> : !stg.tensor<[B, D], bf16>
  stg.return %t : !stg.tensor<[B, D], bf16>
}

// The same, executed, but read by nobody; and characters that nobody reads.
stg.block @unread_pooled_token(%x: !tokens) -> !tokens {
  %p = stg.call @pooled_token(%x) : (!tokens) -> !stg.tensor<[B, D], bf16>
  stg.keep %p : !stg.tensor<[B, D], bf16>
  stg.return %x : !tokens
}
stg.block @unread_characters(%row: !stg.tensor<[B, D], bf16>, %x: !stream) -> !stg.tensor<[B, D], bf16> {
  stg.keep %x : !stream
  stg.return %row : !stg.tensor<[B, D], bf16>
}
