stg.symbol @L = 2
!x = !stg.tensor<[8, 4], bf16>
!w = !stg.tensor<[4, 4], bf16>
func.func @f(%x: !x, %m: !x) -> !x {
  %y:2 = stg.repeat "blocks" * L carry(%c = %x : !x, %e = %x : !x) {
    %i = stg.repeat "inner" * 3 carry(%d = %c : !x) {
      %w = stg.param "w" : !w
      %a = stg.einsum "bd,df->bf" %d, %w : !x, !w
      %b = stg.mul %a, %m : !x, !x
      stg.yield %b : !x
    }
    %j = stg.add %i, %e : !x, !x
    stg.yield %j, %i : !x, !x
  }
  return %y#0 : !x
}
