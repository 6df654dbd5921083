// Several residual streams of which a layer executes one, as in Gemma 3n (AltUp): before a layer each
// stream becomes a mix of all, and behind it each is corrected by what the layer has changed in the
// first one. What a token mixes its streams by is made of its first stream.

stg.import "layer_embeddings.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @DL "width of the layers' tables"
stg.symbol @ST "streams of a token"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!one = !stg.tensor<[B, S, _ = 1, D], bf16>
!others = !stg.tensor<[B, S, _ = ST - 1, D], bf16>
!streams = !stg.tensor<[B, S, _ = ST, D], bf16>
!vector = !stg.tensor<[D], bf16>
!per_token = !stg.tensor<[B, S], bf16>
!per_stream = !stg.tensor<[B, S, _ = ST], bf16>
!pairs = !stg.tensor<[B, S, _ = ST, _ = ST], bf16>
!other_weights = !stg.tensor<[_ = ST - 1, D, D], bf16>
!layer_weights = !stg.tensor<[DL], bf16>

// How large the elements of a stream are: the root of the mean of their squares.
stg.block @magnitude(%x: !stream) -> !per_token {
  stg.option @name : string = "magnitude" "before the names of ops"
  %q = stg.elementwise square %x <"{name}_squares"> : !stream
  %m = stg.mean dim 2 %q <"{name}_mean"> : !stream
  %y = stg.elementwise sqrt %m <"{name}"> : !per_token
  stg.return %y : !per_token
}

// Streams that are as large as `to`, which is one number for each token.
stg.block @as_large_as(%x: !others, %to: !per_token) -> !others {
  stg.option @name : string = "streams" "before the names of ops"
  %n, %rstd = stg.rms_norm %x <"{name}_norm"> : !others
  %y = stg.mul_along %n, %to {dims = array<i64: 0, 1>} <"{name}_as_large"> : !others, !per_token
  stg.return %y : !others
}

// The embeddings, and a projection of them for each other stream.
stg.block @make_streams(%x: !stream) -> !streams {
  %w = stg.param "stream_projections" : !other_weights
  %p = stg.einsum "bsd,ade->bsae" %x, %w : !stream, !other_weights
  %m = stg.call @magnitude(%x) {name = "embedding_magnitude"} : (!stream) -> !per_token
  %others = stg.call @as_large_as(%p, %m) {name = "made_streams"} : (!others, !per_token) -> !others
  %first = stg.broadcast dim 2 %x <"first_stream"> : !stream -> !one
  %y = stg.concat dim 2 ordered %first, %others <"streams"> : !one, !others -> !streams
  stg.return %y : !streams
}

stg.block @first_stream(%s: !streams) -> (!stream, !others) {
  stg.option @name : string = "streams" "before the names of ops"
  %first, %others = stg.split dim 2 ordered %s <"{name}_parts"> : !streams -> !one, !others
  %x = stg.rearrange "bs()d->bsd" %first <"{name}_first"> : !one -> !stream
  stg.return %x, %others : !stream, !others
}

// The mean of the first stream and of a projection of each other one.
stg.block @merge_streams(%s: !streams) -> !stream {
  %x, %others = stg.call @first_stream(%s) {name = "last_streams"} : (!streams) -> (!stream, !others)
  %w = stg.param "stream_outputs" : !other_weights
  %p = stg.einsum "bsad,ade->bsae" %others, %w : !others, !other_weights
  %m = stg.call @magnitude(%x) {name = "output_magnitude"} : (!stream) -> !per_token
  %l = stg.call @as_large_as(%p, %m) {name = "joined_streams"} : (!others, !per_token) -> !others
  %first = stg.broadcast dim 2 %x <"joined_first"> : !stream -> !one
  %c = stg.concat dim 2 ordered %first, %l <"joined_streams"> : !one, !others -> !streams
  %y = stg.mean dim 2 %c <"stream_mean"> : !streams
  stg.return %y : !stream
}

// A number for each stream of a token, between -1 and 1.
stg.block @stream_weights(%x: !stream) -> !per_stream {
  stg.option @name : string "before the names of ops"
  %wn = stg.param "stream_router_norm" : !vector
  %n, %rstd = stg.rms_norm %x, %wn <"{name}_norm"> : !stream, !vector
  // No trace has the values of constants.
  %c = stg.splat 1 : !stream
  %i = stg.mul %n, %c <"{name}_input_scale"> : !stream, !stream
  %w = stg.param "stream_router" : !stg.tensor<[D, _ = ST], bf16>
  %r = stg.einsum "bsd,da->bsa" %i, %w <"{name}_router"> : !stream, !stg.tensor<[D, _ = ST], bf16>
  %y = stg.activation tanh %r <"{name}_weights"> : !per_stream
  stg.return %y : !per_stream
}

// What a layer reads of its streams, the first one, and all of them as the layer corrects them.
stg.block @predict_streams(%s: !streams) -> (!streams, !stream) {
  %x, %others = stg.call @first_stream(%s) {name = "streams_before"} : (!streams) -> (!stream, !others)
  %r = stg.call @stream_weights(%x) {name = "predict"} : (!stream) -> !per_stream
  %w = stg.param "prediction_coefficients" : !stg.tensor<[_ = ST, _ = ST, _ = ST], bf16>
  %c = stg.einsum "bsa,aij->bsij" %r, %w <"prediction_coefficients"> : !per_stream, !stg.tensor<[_ = ST, _ = ST, _ = ST], bf16>
  %m = stg.einsum "bsid,bsij->bsjd" %s, %c <"mixed_streams"> : !streams, !pairs
  %p = stg.add %m, %s <"predicted_streams"> : !streams, !streams
  %active, %rest = stg.call @first_stream(%p) {name = "predicted"} : (!streams) -> (!stream, !others)
  stg.return %p, %active : !streams, !stream
}

// The streams with what a layer has made of the first of them, `made`: each gets a part of what has
// changed. To all but the first one the layer's embeddings of the tokens are added.
stg.block @correct_streams(%p: !streams, %active: !stream, %made: !stream, %tokens: !ids, %embedded: !stream, %norm: !layer_weights) -> !streams {
  %r = stg.call @stream_weights(%made) {name = "correct"} : (!stream) -> !per_stream
  %w = stg.param "correction_coefficients" : !stg.tensor<[_ = ST, _ = ST], bf16>
  %c = stg.einsum "bsa,ai->bsi" %r, %w <"correction_coefficients"> : !per_stream, !stg.tensor<[_ = ST, _ = ST], bf16>
  %one = stg.splat 1 : !per_stream
  %k = stg.add %c, %one <"correction_factors"> : !per_stream, !per_stream
  %d = stg.elementwise sub %made, %active <"innovation"> : !stream, !stream
  %i = stg.einsum "bsd,bsa->bsad" %d, %k <"innovations"> : !stream, !per_stream
  %s = stg.add %i, %p <"corrected_streams"> : !streams, !streams
  %x, %others = stg.call @first_stream(%s) {name = "corrected"} : (!streams) -> (!stream, !others)
  %ws = stg.param "corrected_scale" : !vector
  %xs = stg.mul_along %x, %ws {dims = array<i64: 2>} <"corrected_scale"> : !stream, !vector
  %l = stg.call @layer_embedding_output(%xs, %tokens, %embedded, %norm) : (!stream, !ids, !stream, !layer_weights) -> !stream
  %o = stg.bias_add %others, %l {dims = array<i64: 0, 1, 3>} <"other_streams"> : !others, !stream
  %first = stg.broadcast dim 2 %x <"corrected_first_stream"> : !stream -> !one
  %y = stg.concat dim 2 ordered %first, %o <"streams_behind"> : !one, !others -> !streams
  stg.return %y : !streams
}
