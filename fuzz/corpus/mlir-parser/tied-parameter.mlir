stg.symbol @D = 16
!x = !stg.tensor<[8, D], bf16>
!w = !stg.tensor<[D, D], bf16>
func.func @f(%x: !x) -> !x {
  %w = stg.param "w" : !w
  %a = stg.einsum "bd,df->bf" %x, %w : !x, !w
  %v = stg.param "w" : !w
  %b = stg.einsum "bf,df->bd" %a, %v {into = f32} : !x, !w
  %c = stg.cast %b : !stg.tensor<[8, D], f32> -> !stg.tensor<[8, D], bf16>
  return %c : !x
}
