!x = !stg.tensor<[4, 8], bf16>
!r = !stg.tensor<[4], f32>
!ids = !stg.tensor<[4], i32>
func.func @f(%x: !x, %i: !ids) -> !r {
  %m = stg.reduce max %x : !x
  %e, %s = stg.exp_sum %x, %m : !x, !r
  %p = stg.pick %x, %i : !x, !ids
  %n = stg.nll %s, %m, %p : !r, !r, !r
  %q = stg.normalize %e, %s : !stg.tensor<[4, 8], f32>, !r
  return %n : !r
}
