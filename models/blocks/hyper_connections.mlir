// A residual stream that is several (manifold-constrained hyper-connections, DeepSeek-V4). What a
// part of a layer reads is a weighted sum of them. What it makes is added to each, times a weight,
// and the streams are mixed by a matrix whose rows and columns sum up to one. All weights are made
// of the streams of the token. Constants, such as what is added to a divisor, are left out.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @ST "streams of a token"
stg.symbol @SI = 20 "iterations that balance the matrix which mixes the streams"

!stream = !stg.tensor<[B, S, D], bf16>
!streams = !stg.tensor<[B, S, _ = ST, D], bf16>
!joined = !stg.tensor<[B, S, ST*D], bf16>
!per_stream = !stg.tensor<[B, S, _ = ST], bf16>
!pairs = !stg.tensor<[B, S, _ = ST, _ = ST], bf16>
!all_pairs = !stg.tensor<[B, S, ST*ST], bf16>
!weights = !stg.tensor<[B, S, ST*ST + 2*ST], bf16>
!scale = !stg.tensor<[_ = 1, _ = 1, _ = 1], bf16>

// The embedding of a token is each of its streams.
stg.block @start_streams(%x: !stream) -> !streams {
  %y = stg.broadcast dim 2 %x <"streams"> : !stream -> !streams
  stg.return %y : !streams
}

// All streams of a token, one behind the other, and normalized.
stg.block @normalized_streams(%s: !streams) -> !joined {
  stg.option @part : string "what reads them"
  %j = stg.rearrange "bsad->bs(ad)" %s <"{part}_streams"> : !streams -> !joined
  %n, %rstd = stg.rms_norm %j <"{part}_streams_norm"> : !joined
  stg.return %n : !joined
}

// A number for each stream: a sigmoid of what is made of all of them.
stg.block @stream_gate(%x: !per_stream) -> !per_stream {
  stg.option @part : string "what reads the streams"
  stg.option @name : string "what the gate is for"
  %ws = stg.param "{part}_{name}_scale" : !scale
  %s = stg.mul %x, %ws : !per_stream, !scale
  %wb = stg.param "{part}_{name}_base" : !stg.tensor<[_ = ST], bf16>
  %b = stg.bias_add %s, %wb : !per_stream, !stg.tensor<[_ = ST], bf16>
  %y = stg.activation sigmoid %b <"{part}_{name}_gate"> : !per_stream
  stg.return %y : !per_stream
}

// What mixes the streams.
stg.block @balanced_matrix(%x: !all_pairs) -> !pairs {
  stg.option @part : string "what reads the streams"
  %ws = stg.param "{part}_mix_scale" : !scale
  %s = stg.mul %x, %ws : !all_pairs, !scale
  %wb = stg.param "{part}_mix_base" : !stg.tensor<[ST*ST], bf16>
  %b = stg.bias_add %s, %wb : !all_pairs, !stg.tensor<[ST*ST], bf16>
  %m = stg.rearrange "bs(ij)->bsij" %b <"{part}_mix"> : !all_pairs -> !pairs
  %p = stg.softmax %m <"{part}_mix_softmax"> : !pairs
  %d = stg.balance SI %p <"{part}_mix_balance"> : !stg.tensor<[B, S, _ = ST, _ = ST], f32>
  %y = stg.cast %d <"{part}_mix_cast"> : !stg.tensor<[B, S, _ = ST, _ = ST], f32> -> !pairs
  stg.return %y : !pairs
}

stg.block @weighted_streams(%s: !streams, %w: !per_stream) -> !stream {
  stg.option @part : string "what reads the streams"
  %y = stg.einsum "bsad,bsa->bsd" %s, %w <"{part}_input"> : !streams, !per_stream
  stg.return %y : !stream
}

// What a part of a layer reads, the weights of what it makes, and what mixes the streams.
stg.block @read_streams(%s: !streams) -> (!stream, !per_stream, !pairs) {
  stg.option @part : string "name of the part of the layer"
  %n = stg.call @normalized_streams(%s) : (!streams) -> !joined
  %w = stg.param "{part}_connection" : !stg.tensor<[ST*D, ST*ST + 2*ST], bf16>
  %m = stg.einsum "bsk,kw->bsw" %n, %w : !joined, !stg.tensor<[ST*D, ST*ST + 2*ST], bf16>
  %pre, %post, %mix = stg.split dim 2 %m <"{part}_weights"> : !weights -> !per_stream, !per_stream, !all_pairs
  %r = stg.call @stream_gate(%pre) {name = "read"} : (!per_stream) -> !per_stream
  %x = stg.call @weighted_streams(%s, %r) : (!streams, !per_stream) -> !stream
  %g = stg.call @stream_gate(%post) {name = "write"} : (!per_stream) -> !per_stream
  %c = stg.call @balanced_matrix(%mix) : (!all_pairs) -> !pairs
  stg.return %x, %g, %c : !stream, !per_stream, !pairs
}

// The streams, mixed, with what a part of the layer has made.
stg.block @write_streams(%s: !streams, %made: !stream, %gate: !per_stream, %mix: !pairs) -> !streams {
  stg.option @part : string "name of the part of the layer"
  %m = stg.einsum "bsid,bsij->bsjd" %s, %mix <"{part}_mixed"> : !streams, !pairs
  %o = stg.einsum "bsd,bsj->bsjd" %made, %gate <"{part}_written"> : !stream, !per_stream
  %y = stg.add %m, %o <"{part}_residual"> : !streams, !streams
  stg.return %y : !streams
}

// The same where streams are not mixed: each keeps what it is (Hunyuan 4).
stg.block @read_unmixed_streams(%s: !streams) -> (!stream, !per_stream) {
  stg.option @part : string "name of the part of the layer"
  %n = stg.call @normalized_streams(%s) : (!streams) -> !joined
  %w = stg.param "{part}_connection" : !stg.tensor<[ST*D, _ = 2*ST], bf16>
  %m = stg.einsum "bsk,kw->bsw" %n, %w : !joined, !stg.tensor<[ST*D, _ = 2*ST], bf16>
  %pre, %post = stg.split dim 2 %m <"{part}_weights"> : !stg.tensor<[B, S, _ = 2*ST], bf16> -> !per_stream, !per_stream
  %r = stg.call @stream_gate(%pre) {name = "read"} : (!per_stream) -> !per_stream
  %x = stg.call @weighted_streams(%s, %r) : (!streams, !per_stream) -> !stream
  %g = stg.call @stream_gate(%post) {name = "write"} : (!per_stream) -> !per_stream
  stg.return %x, %g : !stream, !per_stream
}

stg.block @write_unmixed_streams(%s: !streams, %made: !stream, %gate: !per_stream) -> !streams {
  stg.option @part : string "name of the part of the layer"
  %o = stg.einsum "bsd,bsj->bsjd" %made, %gate <"{part}_written"> : !stream, !per_stream
  %y = stg.add %s, %o <"{part}_residual"> : !streams, !streams
  stg.return %y : !streams
}

// A weighted sum of the streams, which the final normalization reads.
stg.block @end_streams(%s: !streams) -> !stream {
  %n = stg.call @normalized_streams(%s) {part = "head"} : (!streams) -> !joined
  %w = stg.param "head_connection" : !stg.tensor<[ST*D, _ = ST], bf16>
  %m = stg.einsum "bsk,ka->bsa" %n, %w : !joined, !stg.tensor<[ST*D, _ = ST], bf16>
  %g = stg.call @stream_gate(%m) {part = "head", name = "read"} : (!per_stream) -> !per_stream
  %y = stg.call @weighted_streams(%s, %g) {part = "head"} : (!streams, !per_stream) -> !stream
  stg.return %y : !stream
}

// The mean of the streams, in its place (GLM 5.3).
stg.block @mean_of_streams(%s: !streams) -> !stream {
  %y = stg.mean dim 2 %s <"head_input"> : !streams
  stg.return %y : !stream
}
