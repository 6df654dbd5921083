// Learned queries that read the tokens of a tower, as BLIP-2 has them between an image and a text.

stg.symbol @B "sequences in the global batch"
stg.symbol @S "queries"
stg.symbol @T "tokens that are read"
stg.symbol @D "hidden size of the queries"
stg.symbol @DO "hidden size of the tokens that are read"

!read = !stg.tensor<[B, T, DO], bf16>
!vector = !stg.tensor<[DO], bf16>
!first = !stg.tensor<[B, 1, DO], bf16>

// The same queries for each sequence of tokens.
stg.block @learned_queries(%x: !read) -> !stg.tensor<[B, S, D], bf16> {
  %q = stg.param "queries" : !stg.tensor<[S, D], bf16>
  %y = stg.broadcast dim 0 %q <"queries"> : !stg.tensor<[S, D], bf16> -> !stg.tensor<[B, S, D], bf16>
  stg.return %y : !stg.tensor<[B, S, D], bf16>
}

// What a tower gives, normalized, and its first token normalized once more, which nobody reads.
stg.block @norm_of_tower(%x: !read) -> !read {
  %w = stg.param "norm.weight" : !vector
  %b = stg.param "norm.bias" : !vector
  %n, %mean, %rstd = stg.layer_norm %x, %w, %b <"norm"> : !read, !vector, !vector
  %f = stg.slice dim 1 %n {from = #sym.expr<0>} <"first_token"> : !read -> !first
  %u, %um, %ur = stg.layer_norm %f, %w, %b <"unread_norm"> : !first, !vector, !vector
  stg.keep %u : !first
  stg.return %n : !read
}
