stg.symbol @B = 8
stg.symbol @D = 16
stg.symbol @F = 4 * D
stg.symbol @L = 3
!x = !stg.tensor<[B, D], bf16>
!h = !stg.tensor<[B, F], bf16>
func.func private @layer(%x: !x) -> !x {
  %wu = stg.param "up" : !stg.tensor<[D, F], bf16>
  %u = stg.einsum "bd,df->bf" %x, %wu : !x, !stg.tensor<[D, F], bf16>
  %h = stg.activation relu %u : !h
  %wd = stg.param "down" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bf,fd->bd" %h, %wd : !h, !stg.tensor<[F, D], bf16>
  %y = stg.add %x, %d <"residual"> : !x, !x
  return %y : !x
}
func.func @mlp(%x: !x {stg.name = "x"}) -> !x {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %z = func.call @layer(%c) : (!x) -> !x
    stg.yield %z : !x
  }
  %z = func.call @layer(%y) : (!x) -> !x
  return %z : !x
}
