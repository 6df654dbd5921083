// Sound and words at once, of two who speak (Moshi): each token is the sum of a word and of the codes of both,
// and behind it layers of its codes, one after the other, each of which has matrices of its own.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @V "vocabulary"
stg.symbol @NB "codes of a token"
stg.symbol @VC "codes of a book"
stg.symbol @DD "hidden size of a token's layers"
stg.symbol @H "heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size"

!stream = !stg.tensor<[B, S, D], bf16>
!deep = !stg.tensor<[B = B*S, _ = NB, DD], bf16>
!loss = !stg.tensor<[B], f32>

// Each table has a row more, which begins a sequence.
stg.block @embed_two_voices(%words: !stg.tensor<[B, S], i32>, %codes: !stg.tensor<[B, S, _ = 2*NB], i32>) -> !stream {
  %tw = stg.param "tok_embeddings" : !stg.tensor<[_ = V + 1, D], bf16>
  %w = stg.embedding %tw, %words <"tok_embeddings"> : !stg.tensor<[_ = V + 1, D], bf16>, !stg.tensor<[B, S], i32>
  %tc = stg.param "code_embeddings" : !stg.tensor<[_ = 2*NB*VC + 2*NB, D], bf16>
  %e = stg.embedding %tc, %codes <"code_embeddings"> : !stg.tensor<[_ = 2*NB*VC + 2*NB, D], bf16>, !stg.tensor<[B, S, _ = 2*NB], i32>
  %c = stg.sum dim 2 %e <"codes"> : !stg.tensor<[B, S, _ = 2*NB, D], bf16>
  %y = stg.add %w, %c <"embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// A word and the codes but the last one of each token, each with what the token is, by a matrix of its place.
stg.block @codes_of_tokens(%x: !stream, %words: !stg.tensor<[B = B*S, 1], i32>, %codes: !stg.tensor<[B = B*S, _ = NB - 1], i32>) -> !deep {
  %r = stg.rearrange "bsd->(bs)d" %x <"tokens"> : !stream -> !stg.tensor<[B = B*S, D], bf16>
  %wi = stg.param "place_proj" : !stg.tensor<[_ = NB, D, DD], bf16>
  %p = stg.einsum "bd,ndh->bnh" %r, %wi : !stg.tensor<[B = B*S, D], bf16>, !stg.tensor<[_ = NB, D, DD], bf16>
  %tw = stg.param "depth_tok_embeddings" : !stg.tensor<[_ = V + 1, DD], bf16>
  %w = stg.embedding %tw, %words <"depth_words"> : !stg.tensor<[_ = V + 1, DD], bf16>, !stg.tensor<[B = B*S, 1], i32>
  %tc = stg.param "depth_code_embeddings" : !stg.tensor<[_ = NB*VC + NB - VC - 1, DD], bf16>
  %c = stg.embedding %tc, %codes <"depth_codes"> : !stg.tensor<[_ = NB*VC + NB - VC - 1, DD], bf16>, !stg.tensor<[B = B*S, _ = NB - 1], i32>
  %j = stg.concat dim 1 ordered %w, %c <"word_and_codes"> : !stg.tensor<[B = B*S, 1, DD], bf16>, !stg.tensor<[B = B*S, _ = NB - 1, DD], bf16> -> !deep
  %y = stg.add %j, %p <"codes_of_tokens"> : !deep, !deep
  stg.return %y : !deep
}

// Attention whose queries, keys, values and output each place has matrices for.
stg.block @placed_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %w = stg.param "qkv_proj" : !stg.tensor<[S, D, H + 2*K, E], bf16>
  %p = stg.einsum "bsd,sdhe->bshe" %n, %w : !stream, !stg.tensor<[S, D, H + 2*K, E], bf16>
  %q, %k, %v = stg.split dim 2 %p : !stg.tensor<[B, S, H + 2*K, E], bf16> -> !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, K, E], bf16>, !stg.tensor<[B, S, K, E], bf16>
  %a, %lse = stg.attention causal %q, %k, %v : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, K, E], bf16>, !stg.tensor<[B, S, K, E], bf16>
  %wo = stg.param "o_proj" : !stg.tensor<[S, H, E, D], bf16>
  %o = stg.einsum "bshe,shed->bsd" %a, %wo : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[S, H, E, D], bf16>
  %y = stg.call @after(%x, %o) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// A gated network of each place.
stg.block @placed_feed_forward_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "ffn"} : (!stream) -> !stream
  %w = stg.param "gate_up_proj" : !stg.tensor<[S, D, 2, F], bf16>
  %p = stg.einsum "bsd,sdgf->bsgf" %n, %w : !stream, !stg.tensor<[S, D, 2, F], bf16>
  %h = stg.glu silu %p <"swiglu"> : !stg.tensor<[B, S, 2, F], bf16>
  %wd = stg.param "down_proj" : !stg.tensor<[S, F, D], bf16>
  %d = stg.einsum "bsf,sfd->bsd" %h, %wd : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[S, F, D], bf16>
  %y = stg.call @after(%x, %d) {part = "ffn"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// The mean of the losses of words.
stg.block @mean_of_losses(%l: !stg.tensor<[B, S], f32>) -> !loss {
  %y = stg.mean dim 1 %l <"words_loss"> : !stg.tensor<[B, S], f32>
  stg.return %y : !loss
}

// Each code by a matrix of its own.
stg.block @placed_codes_loss(%x: !deep, %labels: !stg.tensor<[B = B*S, _ = NB], i32>) -> !loss {
  %w = stg.param "code_outputs" : !stg.tensor<[_ = NB, DD, VC], bf16>
  %o = stg.einsum "bnd,ndv->bnv" %x, %w : !deep, !stg.tensor<[_ = NB, DD, VC], bf16>
  %loss, %probs = stg.cross_entropy %o, %labels <"code_losses"> : !stg.tensor<[B = B*S, _ = NB, VC], bf16>, !stg.tensor<[B = B*S, _ = NB], i32>
  %m = stg.mean dim 1 %loss <"losses_of_tokens"> : !stg.tensor<[B = B*S, _ = NB], f32>
  %r = stg.rearrange "(bs)->bs" %m <"losses_of_tokens"> : !stg.tensor<[B = B*S], f32> -> !stg.tensor<[B, S], f32>
  %y = stg.mean dim 1 %r <"codes_loss"> : !stg.tensor<[B, S], f32>
  stg.return %y : !loss
}
