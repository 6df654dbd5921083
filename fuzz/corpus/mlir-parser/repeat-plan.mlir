stg.symbol @B
stg.symbol @D
stg.symbol @L
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[B, D], bf16>
func.func @plan_level(%x: !x, %s: !stg.tensor<[layers = L, B, D], bf16>) {
  %y:2 = stg.repeat "layers" * L
      carry(%c = %x : !x as !stg.tensor<[B : tp, D], bf16>)
      slices(%v = %s : !stg.tensor<[layers = L, B, D], bf16> as !stg.tensor<[B, D : tp], bf16>)
      -> (!stg.tensor<[B : tp, D], bf16>, !stg.tensor<[layers = L, B, D], bf16, sum(tp)>) {
    stg.yield %c, %v : !stg.tensor<[B : tp, D], bf16>, !stg.tensor<[B, D : tp], bf16>
  }
  return
}
