// Layers that share one weight, and that all read what was made before them.

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @L
!x = !stg.tensor<[B, S, D], bf16>
!u = !stg.tensor<[D, F], bf16>
!d = !stg.tensor<[F, D], bf16>

func.func @shared(%x: !x {stg.name = "x"}) -> !x {
  %w0 = stg.param "start" : !u
  %h0 = stg.einsum "bsd,df->bsf" %x, %w0 : !x, !u
  %v0 = stg.param "end" : !d
  %e = stg.einsum "bsf,fd->bsd" %h0, %v0 <"source"> : !stg.tensor<[B, S, F], bf16>, !d
  %up = stg.param "up" : !u
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %h = stg.einsum "bsd,df->bsf" %c, %up <"shared_up"> : !x, !u
    %down = stg.param "down" : !d
    %z = stg.einsum "bsf,fd->bsd" %h, %down : !stg.tensor<[B, S, F], bf16>, !d
    %s = stg.add %z, %e <"from_source"> : !x, !x
    stg.yield %s : !x
  }
  return %y : !x
}
