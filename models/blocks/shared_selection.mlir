// Latent attention whose queries see the keys alone that are selected, where layers hand on what
// they have selected to those behind them, which select nothing of their own (GLM 5, Hunyuan 4). The
// output may have a gate for each element of values, which a matrix of its own makes, and scores of
// heads that no key has.

stg.import "latent_attention.mlir"
stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "attention heads"
stg.symbol @QL "size of the queries' latent"
stg.symbol @EN "head size of queries and keys without positions"
stg.symbol @ER "rotary head size"
stg.symbol @EV "head size of values"
stg.symbol @KT "keys that a query sees at most"

!stream = !stg.tensor<[B, S, D], bf16>
!query_latent = !stg.tensor<[B, S, QL], bf16>
!queries = !stg.tensor<[B, S, H, EN + ER], bf16>
!values = !stg.tensor<[B, S, H, EV], bf16>
!selection = !stg.tensor<[B, S, _ = KT], i32>

// What each query sees of the keys that are selected, projected.
stg.block @attend_to_selection(%x: !stream, %n: !query_latent, %s: !selection) -> !stream {
  stg.option @sinks : bool = false "a score of each head that no key has"
  stg.option @output_gate : bool = false "a gate for each element of the output"
  %p = stg.call @expand_queries(%n) : (!query_latent) -> !queries
  %q = stg.call @rotate_queries(%p) : (!queries) -> !queries
  %k, %v = stg.call @latent_keys(%x) : (!stream) -> (!queries, !values)
  %a = stg.if @sinks -> !values {
    %w = stg.param "sinks" : !stg.tensor<[H], bf16>
    %y, %lse = stg.attention causal %q, %k, %v, %s, %w : !queries, !queries, !values, !selection, !stg.tensor<[H], bf16>
    stg.yield %y : !values
  } else {
    %y, %lse = stg.attention causal %q, %k, %v, %s : !queries, !queries, !values, !selection
    stg.yield %y : !values
  }
  %g = stg.if @output_gate -> !values {
    %w = stg.param "gate_proj" : !stg.tensor<[D, H, EV], bf16>
    %l = stg.einsum "bsd,dhe->bshe" %x, %w <"gate_proj"> : !stream, !stg.tensor<[D, H, EV], bf16>
    %t = stg.activation sigmoid %l <"output_gate"> : !values
    %y = stg.mul %a, %t <"gated_output"> : !values, !values
    stg.yield %y : !values
  } else {
    stg.yield %a : !values
  }
  %wo = stg.param "o_proj" : !stg.tensor<[H, EV, D], bf16>
  %o = stg.einsum "bshe,hed->bsd" %g, %wo : !values, !stg.tensor<[H, EV, D], bf16>
  stg.return %o : !stream
}

// What selects, too, and hands on what it has selected: without the residual stream.
stg.block @selecting_branch(%x: !stream) -> (!stream, !selection) {
  %r = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %n = stg.call @latent_of_queries(%r) : (!stream) -> !query_latent
  %s = stg.call @latent_selection(%r, %n) : (!stream, !query_latent) -> !selection
  %y = stg.call @attend_to_selection(%r, %n, %s) : (!stream, !query_latent, !selection) -> !stream
  stg.return %y, %s : !stream, !selection
}

// What sees what a layer before it has selected.
stg.block @selected_branch(%x: !stream, %s: !selection) -> !stream {
  %r = stg.call @before(%x) {part = "attention"} : (!stream) -> !stream
  %n = stg.call @latent_of_queries(%r) : (!stream) -> !query_latent
  %y = stg.call @attend_to_selection(%r, %n, %s) : (!stream, !query_latent, !selection) -> !stream
  stg.return %y : !stream
}

// Both, with the residual stream.
stg.block @selecting_layer(%x: !stream) -> (!stream, !selection) {
  %a, %s = stg.call @selecting_branch(%x) : (!stream) -> (!stream, !selection)
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y, %s : !stream, !selection
}

stg.block @selected_layer(%x: !stream, %s: !selection) -> !stream {
  %a = stg.call @selected_branch(%x, %s) : (!stream, !selection) -> !stream
  %y = stg.call @after(%x, %a) {part = "attention"} : (!stream, !stream) -> !stream
  stg.return %y : !stream
}
