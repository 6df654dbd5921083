!x = !stg.tensor<[8, 16], bf16>
!w = !stg.tensor<[16, 16], bf16>
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %w = stg.param "w" : !w
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !w
  %b = stg.activation gelu %a <"gelu"> : !x
  %y = stg.mul %a, %b : !x, !x
  return %y : !x
}
