// Two programs of one block: what a large and a small model compute.

stg.symbol @B
stg.symbol @D
stg.symbol @F
stg.symbol @L

!x = !stg.tensor<[B, D], bf16>

func.func private @block(%x: !x) -> !x {
  %up = stg.param "up" : !stg.tensor<[D, F], bf16>
  %down = stg.param "down" : !stg.tensor<[F, D], bf16>
  %h = stg.einsum "bd,df->bf" %x, %up <"up"> : !x, !stg.tensor<[D, F], bf16>
  %a = stg.activation gelu %h <"gelu"> : !stg.tensor<[B, F], bf16>
  %y = stg.einsum "bf,fd->bd" %a, %down <"down"> : !stg.tensor<[B, F], bf16>, !stg.tensor<[F, D], bf16>
  return %y : !x
}

func.func @large(%x: !x {stg.name = "x"}) -> !x {
  %y = stg.repeat "layers" * L carry(%h = %x : !x) {
    %z = func.call @block(%h) : (!x) -> !x
    stg.yield %z : !x
  }
  return %y : !x
}

func.func @small(%x: !x {stg.name = "x"}) -> !x {
  %y = func.call @block(%x) : (!x) -> !x
  return %y : !x
}
