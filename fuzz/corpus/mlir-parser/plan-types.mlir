stg.symbol @B = 8
stg.symbol @H = 4
stg.mesh @mesh <tp = 2, cp = 2, dp = 2>
func.func private @plan(!stg.tensor<[B : dp, (H + 2) : tp], bf16>, !stg.tensor<[B : (dp, cp)], f32>,
  !stg.tensor<[B, H : cp], bf16, sum(tp)>, !stg.tensor<[], f32, max(tp, dp)>)
func.func @sharded(%x: !stg.tensor<[B : dp, H], bf16>) -> !stg.tensor<[B : dp, H], bf16> {
  %0 = stg.activation relu %x {factors = #stg.factors<d0 : dp>} : !stg.tensor<[B : dp, H], bf16> -> !stg.tensor<[B : dp, H], bf16>
  return %0 : !stg.tensor<[B : dp, H], bf16>
}
