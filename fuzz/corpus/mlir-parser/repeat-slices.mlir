stg.symbol @L = 2
!x = !stg.tensor<[8, 4], bf16>
!s = !stg.tensor<[layers = L, 8, 4], bf16>
func.func @f(%x: !x) -> (!x, !s) {
  %w = stg.param "w" : !s
  %y:2 = stg.repeat "layers" * L reverse carry(%c = %x : !x) slices(%v = %w : !s) <fwd> {
    %a = stg.add %c, %v : !x, !x
    stg.yield %a, %v : !x, !x
  }
  stg.repeat "nothing" * 2*L {
  }
  return %y#0, %y#1 : !x, !s
}
