stg.symbol @B = 4
stg.symbol @S = 8
stg.symbol @D = 16
stg.symbol @V = 32
!ids = !stg.tensor<[B, S], i32>
!t = !stg.tensor<[V, D], bf16>
func.func @f(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !stg.tensor<[B, S], f32> {
  %t = stg.param "table" : !t
  %e = stg.embedding %t, %tokens : !t, !ids
  %z = stg.einsum "bsd,vd->bsv" %e, %t : !stg.tensor<[B, S, D], bf16>, !t
  %loss, %probs = stg.cross_entropy %z, %labels : !stg.tensor<[B, S, V], bf16>, !ids
  return %loss : !stg.tensor<[B, S], f32>
}
