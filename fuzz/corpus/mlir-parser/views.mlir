!x = !stg.tensor<[4, 8], bf16>
!half = !stg.tensor<[4, 4], bf16>
!w = !stg.tensor<[8, 8], bf16>
!wh = !stg.tensor<[8, 4], bf16>
func.func @f(%x: !x) -> !x {
  %w = stg.param "w" : !w
  %p, %q = stg.split dim 1 %w : !w -> !wh, !wh
  %a = stg.einsum "bd,df->bf" %x, %p : !x, !wh
  %b = stg.einsum "bd,df->bf" %x, %q : !x, !wh
  %j = stg.concat dim 1 %a, %b : !half, !half -> !x
  %z = stg.splat 0 : !x
  %y = stg.add %j, %z : !x, !x
  return %y : !x
}
