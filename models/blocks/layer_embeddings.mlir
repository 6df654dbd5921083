// Embeddings of tokens for each layer, as in Gemma 3n and Gemma 4: at its end a layer adds what the
// tokens look up in a table of its own, together with a projection of what the model began with.
//
// Published files have the tables of all layers side by side, as one. Here a layer has its columns.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @VL "vocabulary of the layers' tables"
stg.symbol @DL "width of the layers' tables"

!ids = !stg.tensor<[B, S], i32>
!stream = !stg.tensor<[B, S, D], bf16>
!narrow = !stg.tensor<[B, S, DL], bf16>
!weights = !stg.tensor<[DL], bf16>

// The weights of a normalization that all layers share.
stg.block @layer_embedding_norm() -> !weights {
  %w = stg.param "layer_embedding_norm" : !weights
  stg.return %w : !weights
}

// What a layer knows of the tokens: its rows, and a projection of the first embeddings.
stg.block @layer_embedding(%tokens: !ids, %first: !stream, %norm: !weights) -> !narrow {
  %table = stg.param "layer_table" : !stg.tensor<[VL, DL], bf16>
  %e = stg.embedding %table, %tokens <"layer_embedding"> : !stg.tensor<[VL, DL], bf16>, !ids
  // No trace has the values of constants.
  %one = stg.splat 1 : !narrow
  %es = stg.mul %e, %one <"layer_embedding_scale"> : !narrow, !narrow
  %w = stg.param "layer_embedding_proj" : !stg.tensor<[D, DL], bf16>
  %p = stg.einsum "bsd,de->bse" %first, %w : !stream, !stg.tensor<[D, DL], bf16>
  %ps = stg.mul %p, %one <"layer_projection_scale"> : !narrow, !narrow
  %n, %rstd = stg.rms_norm %ps, %norm <"layer_embedding_norm"> : !narrow, !weights
  %s = stg.add %n, %es <"layer_embedding_sum"> : !narrow, !narrow
  %y = stg.mul %s, %one <"layer_embedding_sum_scale"> : !narrow, !narrow
  stg.return %y : !narrow
}

// A gate of the stream, times what the layer knows of the tokens, projected to the width of the stream
// and normalized.
stg.block @layer_embedding_output(%x: !stream, %tokens: !ids, %first: !stream, %norm: !weights) -> !stream {
  stg.option @activation : "silu" | "gelu" | "relu" | "relu2" | "quick_gelu" | "tanh" | "sigmoid" = "gelu" "of the gate"
  %l = stg.call @layer_embedding(%tokens, %first, %norm) : (!ids, !stream, !weights) -> !narrow
  %wg = stg.param "layer_gate_proj" : !stg.tensor<[D, DL], bf16>
  %g = stg.einsum "bsd,de->bse" %x, %wg : !stream, !stg.tensor<[D, DL], bf16>
  %a = stg.activation gelu %g {stg.options = {function = "activation"}} <"layer_gate"> : !narrow
  %m = stg.mul %a, %l <"layer_gated"> : !narrow, !narrow
  %wo = stg.param "layer_embedding_out" : !stg.tensor<[DL, D], bf16>
  %o = stg.einsum "bse,ed->bsd" %m, %wo : !narrow, !stg.tensor<[DL, D], bf16>
  %n = stg.call @norm(%o) {name = "layer_embedding_output_norm"} : (!stream) -> !stream
  stg.return %n : !stream
}

// The end of a layer: that is added to the stream.
stg.block @add_layer_embedding(%x: !stream, %tokens: !ids, %first: !stream, %norm: !weights) -> !stream {
  %n = stg.call @layer_embedding_output(%x, %tokens, %first, %norm) : (!stream, !ids, !stream, !weights) -> !stream
  %y = stg.add %x, %n <"layer_embedding_residual"> : !stream, !stream
  stg.return %y : !stream
}
