stg.symbol @D
stg.symbol @F
func.func private @f(!stg.tensor<[2*D - D + 3/2*F, ceildiv(7, 2), min(D, F, D)], bf16>,
  !stg.tensor<[D*D/(F*F), max(D, F - 1), ceildiv(D + 1, 3*F)], f32>) attributes {
  a = #sym.expr<D*F/2>, b = #sym.mesh<tp = 2, dp = D>,
  c = #stg.sharding<[{dp}, {}, {tp, cp}]>, d = #stg.sharding<[{}], max(tp)>}
