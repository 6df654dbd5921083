// A residual stream that a layer has learned something of, as in Gemma 3n (LAuReL): two matrices
// through a low rank, beside attention.

stg.import "norm.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @RL = D "rank of a learned residual"

!stream = !stg.tensor<[B, S, D], bf16>
!narrow = !stg.tensor<[B, S, RL], bf16>

// What stands behind attention, `x`, and what attention reads, `read`, with a low-rank product of it:
// their sum times a constant.
stg.block @add_learned_residual(%x: !stream, %read: !stream) -> !stream {
  %wl = stg.param "residual_left" : !stg.tensor<[D, RL], bf16>
  %l = stg.einsum "bsd,dr->bsr" %read, %wl : !stream, !stg.tensor<[D, RL], bf16>
  %wr = stg.param "residual_right" : !stg.tensor<[RL, D], bf16>
  %r = stg.einsum "bsr,rd->bsd" %l, %wr : !narrow, !stg.tensor<[RL, D], bf16>
  %n = stg.call @norm(%r) {name = "residual_norm"} : (!stream) -> !stream
  %s = stg.add %read, %n <"learned_residual"> : !stream, !stream
  %y = stg.add %x, %s <"with_learned_residual"> : !stream, !stream
  // No trace has the value of the constant.
  %c = stg.splat 1 : !stream
  %z = stg.mul %y, %c <"learned_residual_scale"> : !stream, !stream
  stg.return %z : !stream
}

// The same if the option asks for it.
stg.block @behind_attention(%x: !stream, %read: !stream) -> !stream {
  stg.option @learned_residual : bool = false "what attention reads is added, with a low-rank product of it"
  %y = stg.if @learned_residual -> !stream {
    %l = stg.call @add_learned_residual(%x, %read) : (!stream, !stream) -> !stream
    stg.yield %l : !stream
  } else {
    stg.yield %x : !stream
  }
  stg.return %y : !stream
}
