stg.symbol @B = 8
stg.symbol @D = 16
stg.symbol @F = 4*D
!x = !stg.tensor<[B, D], bf16>
!v = !stg.tensor<[D], bf16>
func.func @f(%x: !x) -> !x {
  %g = stg.param "norm" : !v
  %n, %rstd = stg.rms_norm %x, %g : !x, !v
  %s = stg.param "ln.weight" : !v
  %b = stg.param "ln.bias" : !v
  %m, %mean, %r = stg.layer_norm %n, %s, %b : !x, !v, !v
  %wu = stg.param "gate_up" : !stg.tensor<[D, 2, F], bf16>
  %u = stg.einsum "bd,dgf->bgf" %m, %wu : !x, !stg.tensor<[D, 2, F], bf16>
  %h = stg.glu silu %u : !stg.tensor<[B, 2, F], bf16>
  %wd = stg.param "down" : !stg.tensor<[F, D], bf16>
  %d = stg.einsum "bf,fd->bd" %h, %wd : !stg.tensor<[B, F], bf16>, !stg.tensor<[F, D], bf16>
  %e = stg.bias_add %d, %b : !x, !v
  %y = stg.add %x, %e : !x, !x
  return %y : !x
}
