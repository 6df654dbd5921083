// One layer of a perceptron, with the op of this project.

stg.symbol @B
stg.symbol @D
stg.symbol @F

!w = !stg.tensor<[D, F], bf16>
!y = !stg.tensor<[B, F], bf16>

func.func @layer(%x: !stg.tensor<[B, D], bf16> {stg.name = "x"}) -> !y {
  %w = stg.param "w" : !w
  %h = stg.einsum "bd,df->bf" %x, %w : !stg.tensor<[B, D], bf16>, !w
  %y = demo.hard_swish %h : !y
  return %y : !y
}
