!x = !stg.tensor<[8, 4], bf16>
!y = !stg.tensor<[8, 2], bf16>
func.func @first(%x: !x) -> !y {
  %w = stg.param "w" : !stg.tensor<[4, 2], bf16>
  %y = stg.einsum "bd,df->bf" %x, %w : !x, !stg.tensor<[4, 2], bf16>
  return %y : !y
}
func.func @second(%x: !x) -> !y {
  %w = stg.param "w" : !stg.tensor<[2, 4], bf16>
  %y = stg.einsum "bd,fd->bf" %x, %w : !x, !stg.tensor<[2, 4], bf16>
  return %y : !y
}
