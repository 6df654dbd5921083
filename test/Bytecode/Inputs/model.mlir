stg.symbol @B
stg.symbol @D
stg.symbol @L
stg.config @small {B = 2, D = 64, L = 4}
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>
func.func @f(%x: !x {stg.name = "tokens"}) -> !x {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) -> !x {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    %s = stg.add %z, %c : !x, !x
    stg.yield %s : !x
  }
  return %y : !x
}
