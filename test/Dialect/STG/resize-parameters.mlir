// A table of positions for a map of another resolution: what is divided of the batch has a part of
// its gradient, which goes through the gradient of the resizing and is summed once.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
stg.symbol @D
!x = !stg.tensor<[B, 8, 8, D], bf16>
!one = !stg.tensor<[1, 8, 8, D], bf16>

// CHECK: chakra.comp "sized.fwd"({{.*}}) ops(576*D) bytes(160*D) phase "fwd"
// CHECK: chakra.comp "sized.bwd"({{.*}}) ops(640*D)
// CHECK: chakra.coll all_reduce "sized.bwd.all_reduce"(%sized.bwd) over ["dp"]
// CHECK-NOT: coll
func.func @f(%x: !x) -> !x {
  %t = stg.param "positions" : !stg.tensor<[1, 4, 4, D], bf16>
  %s = stg.resize linear %t <"sized"> : !stg.tensor<[1, 4, 4, D], bf16> -> !one
  %r = stg.rearrange "()yxd->yxd" %s <"map"> : !one -> !stg.tensor<[8, _ = 8, D], bf16>
  %y = stg.bias_add %x, %r <"placed"> : !x, !stg.tensor<[8, _ = 8, D], bf16>
  %w = stg.param "scale" : !stg.tensor<[D], bf16>
  %z = stg.mul_along %y, %w {dims = array<i64: 3>} <"scaled"> : !x, !stg.tensor<[D], bf16>
  return %z : !x
}
