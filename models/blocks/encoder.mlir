// What encoders of text have beside attention and feed-forward networks: types of tokens, and
// heads for masked tokens, for pairs of sentences, and for what is read from the first token.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @DE = D "width of the tables"
stg.symbol @V "vocabulary"
stg.symbol @TT "types of tokens"
stg.symbol @PB "places of a box's sides along a page"
stg.symbol @VS "shapes of tokens"
stg.symbol @DS "width of a shape"
stg.symbol @VP "pronunciations of tokens"
stg.symbol @DP "width of a pronunciation"
stg.symbol @Y = 2 "classes"
stg.symbol @CQ = 4 "choices of a question"

!ids = !stg.tensor<[B, S], i32>
!mask = !stg.tensor<[B, S], f32>
!one = !stg.tensor<[B], i32>
!loss = !stg.tensor<[B], f32>
!stream = !stg.tensor<[B, S, D], bf16>
!rows = !stg.tensor<[B, S, DE], bf16>
!vector = !stg.tensor<[D], bf16>
!square = !stg.tensor<[D, D], bf16>
!row = !stg.tensor<[B, D], bf16>
!first = !stg.tensor<[B, 1, D], bf16>
!logits = !stg.tensor<[B, S, V], bf16>
!classes = !stg.tensor<[B, Y], bf16>
!choices = !stg.tensor<[B = B/CQ, _ = CQ], bf16>
!table = !stg.tensor<[V, D], bf16>
!places = !stg.tensor<[PB, D], bf16>
!joined = !stg.tensor<[B, S, D + DS + DP], bf16>

// The embedding of each token's type, added to that of the token.
stg.block @add_token_types(%x: !stream, %types: !ids) -> !stream {
  %table = stg.param "type_embeddings" : !stg.tensor<[TT, D], bf16>
  %t = stg.embedding %table, %types : !stg.tensor<[TT, D], bf16>, !ids
  %y = stg.add %x, %t <"typed_embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// Where each token stands on a page: a table for the left and the right of its box, one for the top
// and the bottom, and one each for its height and its width.
stg.block @add_boxes(%x: !stream, %left: !ids, %top: !ids, %right: !ids, %bottom: !ids, %height: !ids, %width: !ids) -> !stream {
  %tx = stg.param "x_embeddings" : !places
  %ty = stg.param "y_embeddings" : !places
  %th = stg.param "height_embeddings" : !places
  %tw = stg.param "width_embeddings" : !places
  %l = stg.embedding %tx, %left <"left"> : !places, !ids
  %t = stg.embedding %ty, %top <"top"> : !places, !ids
  %r = stg.embedding %tx, %right <"right"> : !places, !ids
  %b = stg.embedding %ty, %bottom <"bottom"> : !places, !ids
  %h = stg.embedding %th, %height <"height"> : !places, !ids
  %w = stg.embedding %tw, %width <"width"> : !places, !ids
  %xl = stg.add %x, %l <"with_left"> : !stream, !stream
  %xt = stg.add %xl, %t <"with_top"> : !stream, !stream
  %xr = stg.add %xt, %r <"with_right"> : !stream, !stream
  %xb = stg.add %xr, %b <"with_bottom"> : !stream, !stream
  %xh = stg.add %xb, %h <"with_height"> : !stream, !stream
  %y = stg.add %xh, %w <"boxed_embeddings"> : !stream, !stream
  stg.return %y : !stream
}

// What a token looks like and how it is spoken, joined with what it is by one matrix (RoCBert).
stg.block @join_shapes_and_sounds(%x: !stream, %shapes: !ids, %sounds: !ids) -> !stream {
  %ts = stg.param "shape_embeddings" : !stg.tensor<[VS, DS], bf16>
  %s = stg.embedding %ts, %shapes <"shapes"> : !stg.tensor<[VS, DS], bf16>, !ids
  %tp = stg.param "sound_embeddings" : !stg.tensor<[VP, DP], bf16>
  %p = stg.embedding %tp, %sounds <"sounds"> : !stg.tensor<[VP, DP], bf16>, !ids
  %j = stg.concat dim 2 ordered %x, %s, %p <"joined"> : !stream, !stg.tensor<[B, S, DS], bf16>, !stg.tensor<[B, S, DP], bf16> -> !joined
  %w = stg.param "join" : !stg.tensor<[D + DS + DP, D], bf16>
  %m = stg.einsum "bsj,jd->bsd" %j, %w : !joined, !stg.tensor<[D + DS + DP, D], bf16>
  %b = stg.param "join_bias" : !vector
  %y = stg.bias_add %m, %b : !stream, !vector
  stg.return %y : !stream
}

// What the loss of masked tokens reads: a matrix, an activation and a norm.
stg.block @masked_transform(%x: !stream) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the head"
  stg.option @transform_bias : bool = true "bias of the head's transform"
  %w = stg.param "head_transform" : !square
  %p = stg.einsum "bsd,de->bse" %x, %w : !stream, !square
  %t = stg.if @transform_bias -> !stream {
    %b = stg.param "head_transform_bias" : !vector
    %y = stg.bias_add %p, %b : !stream, !vector
    stg.yield %y : !stream
  } else {
    stg.yield %p : !stream
  }
  %a = stg.activation gelu %t {stg.options = {function = "activation"}} <"head_{activation}"> : !stream
  %n = stg.call @norm(%a) {name = "head_norm"} : (!stream) -> !stream
  stg.return %n : !stream
}

// The same where the tables are DE wide: the matrix takes the stream to their width.
stg.block @narrow_masked_transform(%x: !stream) -> !rows {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the head"
  %w = stg.param "head_transform" : !stg.tensor<[D, DE], bf16>
  %p = stg.einsum "bsd,de->bse" %x, %w : !stream, !stg.tensor<[D, DE], bf16>
  %b = stg.param "head_transform_bias" : !stg.tensor<[DE], bf16>
  %t = stg.bias_add %p, %b : !rows, !stg.tensor<[DE], bf16>
  %a = stg.activation gelu %t {stg.options = {function = "activation"}} <"head_{activation}"> : !rows
  %n = stg.call @norm(%a) {name = "head_norm", D as DE} : (!rows) -> !rows
  stg.return %n : !rows
}

// The loss of masked tokens, from what a transform gives: of each sequence the sum over its
// tokens, each times its weight. A weight is 0 for a token that is not masked. Logits are those
// of all tokens.
stg.block @masked_token_loss(%n: !stream, %labels: !ids, %weights: !mask) -> !loss {
  stg.option @head_bias : bool = true "bias of the logits"
  stg.option @tied : bool = true "the logits' matrix is the table of the tokens"
  %head = stg.if @tied -> !logits {
    %table = stg.param "tok_embeddings" : !table
    %l = stg.einsum "bsd,vd->bsv" %n, %table <"output"> : !stream, !table
    stg.yield %l : !logits
  } else {
    %o = stg.param "output" : !stg.tensor<[D, V], bf16>
    %l = stg.einsum "bsd,dv->bsv" %n, %o : !stream, !stg.tensor<[D, V], bf16>
    stg.yield %l : !logits
  }
  %logits = stg.if @head_bias -> !logits {
    %b = stg.param "output_bias" : !stg.tensor<[V], bf16>
    %l = stg.bias_add %head, %b : !logits, !stg.tensor<[V], bf16>
    stg.yield %l : !logits
  } else {
    stg.yield %head : !logits
  }
  %loss, %probs = stg.cross_entropy %logits, %labels : !logits, !ids
  %m = stg.mul %loss, %weights <"masked_loss"> : !mask, !mask
  %sum = stg.sum dim 1 %m <"masked_sum"> : !mask
  stg.return %sum : !loss
}

stg.block @masked_loss(%x: !stream, %labels: !ids, %weights: !mask) -> !loss {
  %n = stg.call @masked_transform(%x) : (!stream) -> !stream
  %loss = stg.call @masked_token_loss(%n, %labels, %weights) : (!stream, !ids, !mask) -> !loss
  stg.return %loss : !loss
}

// The first token of each sequence.
stg.block @first_token(%x: !stream) -> !row {
  %f = stg.slice dim 1 %x {from = #sym.expr<0>} <"first_token"> : !stream -> !first
  %r = stg.rearrange "b()d->bd" %f : !first -> !row
  stg.return %r : !row
}

// The last token of each sequence.
stg.block @last_token(%x: !stream) -> !row {
  %l = stg.slice dim 1 %x {from = #sym.expr<S - 1>} <"last_token"> : !stream -> !first
  %r = stg.rearrange "b()d->bd" %l : !first -> !row
  stg.return %r : !row
}

// What a sequence is, from its first token, or its last one.
stg.block @pooled(%x: !stream) -> !row {
  stg.option @pooler_activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "tanh" "of what a sequence is"
  stg.option @last : bool = false "of the last token"
  %f = stg.if @last -> !row {
    %t = stg.call @last_token(%x) : (!stream) -> !row
    stg.yield %t : !row
  } else {
    %t = stg.call @first_token(%x) : (!stream) -> !row
    stg.yield %t : !row
  }
  %w = stg.param "pooler" : !square
  %p = stg.einsum "bd,de->be" %f, %w : !row, !square
  %b = stg.param "pooler_bias" : !vector
  %y = stg.bias_add %p, %b : !row, !vector
  %t = stg.activation tanh %y {stg.options = {function = "pooler_activation"}} <"pooler_{pooler_activation}"> : !row
  stg.return %t : !row
}

// What a pooler gives of an encoder that is read token by token: executed, but read by nobody.
stg.block @unread_pooled(%x: !stream) -> !stream {
  %p = stg.call @pooled(%x) : (!stream) -> !row
  stg.keep %p : !row
  stg.return %x : !stream
}

// The loss of a class of each sequence: whether two sentences follow one another, or what an
// image shows.
stg.block @class_loss(%x: !row, %labels: !one) -> !loss {
  stg.option @class_bias : bool = true "bias of the classes"
  %w = stg.param "classifier" : !stg.tensor<[D, Y], bf16>
  %p = stg.einsum "bd,dy->by" %x, %w : !row, !stg.tensor<[D, Y], bf16>
  %l = stg.if @class_bias -> !classes {
    %b = stg.param "classifier_bias" : !stg.tensor<[Y], bf16>
    %z = stg.bias_add %p, %b : !classes, !stg.tensor<[Y], bf16>
    stg.yield %z : !classes
  } else {
    stg.yield %p : !classes
  }
  %loss, %probs = stg.cross_entropy %l, %labels <"class_loss"> : !classes, !one
  stg.return %loss : !loss
}

// The loss of a choice: sequences of one question follow one another, each with a number, the largest of
// which says what is chosen.
stg.block @choice_loss(%x: !row, %chosen: !stg.tensor<[B = B/CQ], i32>) -> !stg.tensor<[B = B/CQ], f32> {
  %w = stg.param "classifier" : !stg.tensor<[D, 1], bf16>
  %p = stg.einsum "bd,di->bi" %x, %w : !row, !stg.tensor<[D, 1], bf16>
  %b = stg.param "classifier_bias" : !stg.tensor<[1], bf16>
  %s = stg.bias_add %p, %b : !stg.tensor<[B, 1], bf16>, !stg.tensor<[1], bf16>
  %c = stg.rearrange "(qc)()->qc" %s <"choices"> : !stg.tensor<[B, 1], bf16> -> !choices
  %loss, %probs = stg.cross_entropy %c, %chosen <"choice_loss"> : !choices, !stg.tensor<[B = B/CQ], i32>
  stg.return %loss : !stg.tensor<[B = B/CQ], f32>
}

// The second token of each sequence.
stg.block @second_token(%x: !stream) -> !row {
  %f = stg.slice dim 1 %x {from = #sym.expr<1>} <"second_token"> : !stream -> !first
  %r = stg.rearrange "b()d->bd" %f : !first -> !row
  stg.return %r : !row
}

// The mean of two rows.
stg.block @mean_of_rows(%a: !row, %b: !row) -> !row {
  %s = stg.add %a, %b <"both_rows"> : !row, !row
  // No trace has the value of the constant.
  %half = stg.splat 1 : !row
  %y = stg.mul %s, %half <"mean_of_rows"> : !row, !row
  stg.return %y : !row
}

// The loss of a class, whose scores are the mean of those of two rows.
stg.block @mean_class_loss(%a: !row, %b: !row, %labels: !one) -> !loss {
  %wa = stg.param "classifier" : !stg.tensor<[D, Y], bf16>
  %pa = stg.einsum "bd,dy->by" %a, %wa : !row, !stg.tensor<[D, Y], bf16>
  %ba = stg.param "classifier_bias" : !stg.tensor<[Y], bf16>
  %la = stg.bias_add %pa, %ba : !classes, !stg.tensor<[Y], bf16>
  %wb = stg.param "second_classifier" : !stg.tensor<[D, Y], bf16>
  %pb = stg.einsum "bd,dy->by" %b, %wb : !row, !stg.tensor<[D, Y], bf16>
  %bb = stg.param "second_classifier_bias" : !stg.tensor<[Y], bf16>
  %lb = stg.bias_add %pb, %bb : !classes, !stg.tensor<[Y], bf16>
  %s = stg.add %la, %lb <"both_scores"> : !classes, !classes
  // No trace has the value of the constant.
  %half = stg.splat 1 : !classes
  %l = stg.mul %s, %half <"mean_scores"> : !classes, !classes
  %loss, %probs = stg.cross_entropy %l, %labels <"class_loss"> : !classes, !one
  stg.return %loss : !loss
}

// Before the classes of a sequence: a matrix, gelu and a norm.
stg.block @class_transform(%x: !row) -> !row {
  stg.option @transform_bias : bool = true "bias of the head's transform"
  stg.option @norm : "rms" | "layer" | "layer_unbiased" = "rms" "RMSNorm, or LayerNorm with or without a bias"
  %w = stg.param "head_transform" : !square
  %p = stg.einsum "bd,de->be" %x, %w : !row, !square
  %t = stg.if @transform_bias -> !row {
    %b = stg.param "head_transform_bias" : !vector
    %y = stg.bias_add %p, %b : !row, !vector
    stg.yield %y : !row
  } else {
    stg.yield %p : !row
  }
  %a = stg.activation gelu %t <"head_gelu"> : !row
  %n = stg.if @norm = "layer_unbiased" -> !row {
    %v = stg.param "head_norm" : !vector
    %y, %mean, %rstd = stg.layer_norm %a, %v : !row, !vector
    stg.yield %y : !row
  } else {
    %v = stg.param "head_norm.weight" : !vector
    %b = stg.param "head_norm.bias" : !vector
    %y, %mean, %rstd = stg.layer_norm %a, %v, %b <"head_norm"> : !row, !vector, !vector
    stg.yield %y : !row
  }
  stg.return %n : !row
}

// Whether each token has been replaced (ELECTRA): a matrix and an activation, a number for each
// token, and the cross-entropy of a yes or a no. A sign is 1 for no and -1 for yes.
stg.block @replaced_loss(%x: !stream, %signs: !stg.tensor<[B, S], bf16>) -> !loss {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the head"
  %w = stg.param "head_transform" : !square
  %p = stg.einsum "bsd,de->bse" %x, %w : !stream, !square
  %b = stg.param "head_transform_bias" : !vector
  %t = stg.bias_add %p, %b : !stream, !vector
  %a = stg.activation gelu %t {stg.options = {function = "activation"}} <"head_{activation}"> : !stream
  %wo = stg.param "replaced" : !stg.tensor<[D, 1], bf16>
  %o = stg.einsum "bsd,di->bsi" %a, %wo : !stream, !stg.tensor<[D, 1], bf16>
  %bo = stg.param "replaced_bias" : !stg.tensor<[1], bf16>
  %l = stg.bias_add %o, %bo : !stg.tensor<[B, S, 1], bf16>, !stg.tensor<[1], bf16>
  %r = stg.rearrange "bs()->bs" %l <"replaced_logits"> : !stg.tensor<[B, S, 1], bf16> -> !stg.tensor<[B, S], bf16>
  %s = stg.mul %r, %signs <"signed_logits"> : !stg.tensor<[B, S], bf16>, !stg.tensor<[B, S], bf16>
  %c = stg.activation softplus %s <"replaced_losses"> : !stg.tensor<[B, S], bf16>
  %m = stg.mean dim 1 %c <"replaced_mean"> : !stg.tensor<[B, S], bf16>
  %y = stg.cast %m <"replaced_mean"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}

// Two losses of a sequence.
stg.block @both_losses(%a: !loss, %b: !loss) -> !loss {
  %y = stg.add %a, %b <"losses"> : !loss, !loss
  stg.return %y : !loss
}

// What stands for the loss of a model without a head: the mean of what it gives.
stg.block @mean_of_row(%x: !row) -> !loss {
  %m = stg.mean dim 1 %x <"output_mean"> : !row
  %y = stg.cast %m <"output_mean"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}
stg.block @mean_tokens(%x: !stream) -> !row {
  %m = stg.mean dim 1 %x <"token_mean"> : !stream
  stg.return %m : !row
}
stg.block @mean_of_tokens(%x: !stream) -> !loss {
  %m = stg.mean dim 1 %x <"token_mean"> : !stream
  %y = stg.call @mean_of_row(%m) : (!row) -> !loss
  stg.return %y : !loss
}

// The loss of each answer by itself, which an image and a question may have several of: a matrix
// twice as wide, a LayerNorm, gelu, and a yes or a no for each.
stg.block @answers_loss(%x: !row, %answers: !classes) -> !loss {
  %w1 = stg.param "head_transform" : !stg.tensor<[D, _ = 2*D], bf16>
  %p1 = stg.einsum "bd,de->be" %x, %w1 : !row, !stg.tensor<[D, _ = 2*D], bf16>
  %b1 = stg.param "head_transform_bias" : !stg.tensor<[_ = 2*D], bf16>
  %y1 = stg.bias_add %p1, %b1 : !stg.tensor<[B, _ = 2*D], bf16>, !stg.tensor<[_ = 2*D], bf16>
  %wn = stg.param "head_norm.weight" : !stg.tensor<[_ = 2*D], bf16>
  %bn = stg.param "head_norm.bias" : !stg.tensor<[_ = 2*D], bf16>
  %n, %mean, %rstd = stg.layer_norm %y1, %wn, %bn <"head_norm"> : !stg.tensor<[B, _ = 2*D], bf16>, !stg.tensor<[_ = 2*D], bf16>, !stg.tensor<[_ = 2*D], bf16>
  %a = stg.activation gelu %n <"head_gelu"> : !stg.tensor<[B, _ = 2*D], bf16>
  %w2 = stg.param "classifier" : !stg.tensor<[_ = 2*D, Y], bf16>
  %p2 = stg.einsum "be,ey->by" %a, %w2 : !stg.tensor<[B, _ = 2*D], bf16>, !stg.tensor<[_ = 2*D, Y], bf16>
  %b2 = stg.param "classifier_bias" : !stg.tensor<[Y], bf16>
  %l = stg.bias_add %p2, %b2 : !classes, !stg.tensor<[Y], bf16>
  %s = stg.activation softplus %l <"answers_softplus"> : !classes
  %m = stg.mul %l, %answers <"answers_given"> : !classes, !classes
  %d = stg.elementwise sub %s, %m <"answers_losses"> : !classes, !classes
  %t = stg.sum dim 1 %d <"answers_sum"> : !classes
  %y = stg.cast %t <"answers_sum"> : !stg.tensor<[B], bf16> -> !loss
  stg.return %y : !loss
}
