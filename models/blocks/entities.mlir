// Entities beside the words of a text: what is known of each, and where the text mentions it; queries
// of words and of entities are others for keys of words than for those of entities (LUKE).

stg.import "attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @E "head size"
stg.symbol @P "positions"
stg.symbol @TT "types of tokens"
stg.symbol @NE "entities of a text"
stg.symbol @NM "words of a mention"
stg.symbol @VE "vocabulary of entities"
stg.symbol @DE = D "width of the table of entities"
stg.symbol @Y = 2 "classes"

!words = !stg.tensor<[B, S = S - NE, D], bf16>
!entities = !stg.tensor<[B, S = NE, D], bf16>
!stream = !stg.tensor<[B, S, D], bf16>
!numbers = !stg.tensor<[B, S = NE], i32>
!places = !stg.tensor<[B, S = NE, _ = NM], i32>
!told = !stg.tensor<[B, S = NE, _ = NM], bf16>
!row = !stg.tensor<[B, D], bf16>
!first = !stg.tensor<[B, S = 1, D], bf16>
!vector = !stg.tensor<[D], bf16>
!heads = !stg.tensor<[B, S, H, E], bf16>
!word_queries = !stg.tensor<[B, S = S - NE, H, E], bf16>
!entity_queries = !stg.tensor<[B, S = NE, H, E], bf16>
!keys = !stg.tensor<[B, T = S, H, E], bf16>
!word_keys = !stg.tensor<[B, T = S - NE, H, E], bf16>
!entity_keys = !stg.tensor<[B, T = NE, H, E], bf16>
!scores = !stg.tensor<[B, H, S, T = S], bf16>

// A row of each entity, the mean of the positions of its mention, of which those are 1 in `told` that
// there are, and its type.
stg.block @embed_entities(%entities: !numbers, %places: !places, %told: !told, %types: !numbers) -> !entities {
  stg.option @narrow : bool = false "the table of entities has a width of its own"
  %x = stg.if @narrow -> !entities {
    %table = stg.param "tok_embeddings" : !stg.tensor<[V = VE, DE], bf16>
    %r = stg.embedding %table, %entities : !stg.tensor<[V = VE, DE], bf16>, !numbers
    %w = stg.param "project_in" : !stg.tensor<[DE, D], bf16>
    %p = stg.einsum "bse,ed->bsd" %r, %w : !stg.tensor<[B, S = NE, DE], bf16>, !stg.tensor<[DE, D], bf16>
    stg.yield %p : !entities
  } else {
    %table = stg.param "tok_embeddings" : !stg.tensor<[V = VE, D], bf16>
    %r = stg.embedding %table, %entities : !stg.tensor<[V = VE, D], bf16>, !numbers
    stg.yield %r : !entities
  }
  %positions = stg.param "pos_embeddings" : !stg.tensor<[PR = P + 2, D], bf16>
  %e = stg.embedding %positions, %places <"mentions"> : !stg.tensor<[PR = P + 2, D], bf16>, !places
  %m = stg.mul_along %e, %told {dims = array<i64: 0, 1, 2>} <"mentions_told"> : !stg.tensor<[B, S = NE, _ = NM, D], bf16>, !told
  %s = stg.sum dim 2 %m <"mention_sum"> : !stg.tensor<[B, S = NE, _ = NM, D], bf16>
  %n = stg.sum dim 2 %told <"mention_words"> : !told
  %c = stg.clamp %n <"mention_words_limited"> : !stg.tensor<[B, S = NE], bf16>
  %ones = stg.rearrange "bs->bs()" %c <"mention_lengths"> : !stg.tensor<[B, S = NE], bf16> -> !stg.tensor<[B, S = NE, 1], bf16>
  %a = stg.elementwise div %s, %ones <"mention_mean"> : !entities, !stg.tensor<[B, S = NE, 1], bf16>
  %xa = stg.add %x, %a <"placed_entities"> : !entities, !entities
  %kinds = stg.param "type_embeddings" : !stg.tensor<[TT, D], bf16>
  %t = stg.embedding %kinds, %types <"entity_types"> : !stg.tensor<[TT, D], bf16>, !numbers
  %y = stg.add %xa, %t <"typed_entities"> : !entities, !entities
  stg.return %y : !entities
}

// The entities behind the words, and both again.
stg.block @join_entities(%words: !words, %entities: !entities) -> !stream {
  %y = stg.concat dim 1 ordered %words, %entities <"words_and_entities"> : !words, !entities -> !stream
  stg.return %y : !stream
}
stg.block @part_entities(%x: !stream) -> (!words, !entities) {
  %w, %e = stg.split dim 1 ordered %x : !stream -> !words, !entities
  stg.return %w, %e : !words, !entities
}

// A projection of its own of some tokens, with a bias.
stg.block @some_queries(%x: !stream) -> !heads {
  stg.option @name : string "whose queries for which keys"
  %w = stg.param "{name}_proj" : !stg.tensor<[D, H, E], bf16>
  %p = stg.einsum "bsd,dhe->bshe" %x, %w : !stream, !stg.tensor<[D, H, E], bf16>
  %b = stg.param "{name}_bias" : !stg.tensor<[H, E], bf16>
  %y = stg.bias_add %p, %b : !heads, !stg.tensor<[H, E], bf16>
  stg.return %y : !heads
}

// Scores are made in four parts, so that no fused kernel computes them.
stg.block @entity_attention(%x: !stream) -> !stream {
  %w, %e = stg.call @part_entities(%x) : (!stream) -> (!words, !entities)
  %t = stg.rearrange "b(nk)d->bn(kd)" %x <"seen"> : !stream -> !stg.tensor<[B, T = S, D], bf16>
  %kt = stg.call @key_heads(%t) {name = "k", K as H, qkv_bias = true} : (!stg.tensor<[B, T = S, D], bf16>) -> !keys
  %vt = stg.call @key_heads(%t) {name = "v", K as H, qkv_bias = true} : (!stg.tensor<[B, T = S, D], bf16>) -> !keys
  %kw, %ke = stg.split dim 1 ordered %kt : !keys -> !word_keys, !entity_keys
  %qww = stg.call @some_queries(%w) {name = "q"} : (!words) -> !word_queries
  %qwe = stg.call @some_queries(%w) {name = "word_to_entity_q"} : (!words) -> !word_queries
  %qew = stg.call @some_queries(%e) {name = "entity_to_word_q"} : (!entities) -> !entity_queries
  %qee = stg.call @some_queries(%e) {name = "entity_to_entity_q"} : (!entities) -> !entity_queries
  %sww = stg.einsum "bshe,bthe->bhst" %qww, %kw <"word_to_word"> : !word_queries, !word_keys
  %swe = stg.einsum "bshe,bthe->bhst" %qwe, %ke <"word_to_entity"> : !word_queries, !entity_keys
  %sew = stg.einsum "bshe,bthe->bhst" %qew, %kw <"entity_to_word"> : !entity_queries, !word_keys
  %see = stg.einsum "bshe,bthe->bhst" %qee, %ke <"entity_to_entity"> : !entity_queries, !entity_keys
  %sw = stg.concat dim 3 ordered %sww, %swe <"word_scores"> : !stg.tensor<[B, H, S = S - NE, T = S - NE], bf16>, !stg.tensor<[B, H, S = S - NE, T = NE], bf16> -> !stg.tensor<[B, H, S = S - NE, T = S], bf16>
  %se = stg.concat dim 3 ordered %sew, %see <"entity_scores"> : !stg.tensor<[B, H, S = NE, T = S - NE], bf16>, !stg.tensor<[B, H, S = NE, T = NE], bf16> -> !stg.tensor<[B, H, S = NE, T = S], bf16>
  %s = stg.concat dim 2 ordered %sw, %se <"scores"> : !stg.tensor<[B, H, S = S - NE, T = S], bf16>, !stg.tensor<[B, H, S = NE, T = S], bf16> -> !scores
  // No trace has the value of the constant.
  %c = stg.splat 1 : !scores
  %m = stg.mul %s, %c <"score_scale"> : !scores, !scores
  %p = stg.softmax %m <"attention_softmax"> : !scores
  %pb = stg.cast %p <"attention_shares"> : !stg.tensor<[B, H, S, T = S], f32> -> !scores
  %a = stg.einsum "bhst,bthe->bshe" %pb, %vt <"attended"> : !scores, !keys
  %y = stg.call @attention_output(%a) {o_bias = true} : (!heads) -> !stream
  stg.return %y : !stream
}

// With its normalization and the residual stream.
stg.block @entity_attention_layer(%x: !stream) -> !stream {
  %n = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %a = stg.call @entity_attention(%n) : (!stream) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}

// The first entity of a text, or the first two side by side.
stg.block @first_entity(%x: !entities) -> !row {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_entity"> : !entities -> !first
  %y = stg.rearrange "b()d->bd" %f <"first_entity"> : !first -> !row
  stg.return %y : !row
}
stg.block @first_entities(%x: !entities) -> !stg.tensor<[B, D = 2*D], bf16> {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_entities"> : !entities -> !stg.tensor<[B, S = 2, D], bf16>
  %y = stg.rearrange "bsd->b(sd)" %f <"entity_pair"> : !stg.tensor<[B, S = 2, D], bf16> -> !stg.tensor<[B, D = 2*D], bf16>
  stg.return %y : !stg.tensor<[B, D = 2*D], bf16>
}
