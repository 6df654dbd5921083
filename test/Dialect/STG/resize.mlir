// Maps of another resolution, from the model to nodes: what the interpolation of one, two and no
// dimensions costs, channels and samples divided and positions whole.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2 tp=2 rules=C:tp" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
stg.symbol @C
!small = !stg.tensor<[B, 4, 4, C], bf16>
!wide = !stg.tensor<[B, 4, 6, C], bf16>
!large = !stg.tensor<[B, 8, 8, C], bf16>

// CHECK: chakra.comp "nearest.fwd"({{.*}}) ops(0) bytes(64*B*C) phase "fwd"
// CHECK: chakra.comp "down.fwd"({{.*}}) ops(36*B*C) bytes(40*B*C) phase "fwd"
// CHECK: chakra.comp "wide.fwd"({{.*}}) ops(18*B*C) bytes(20*B*C) phase "fwd"
// CHECK: chakra.comp "large.fwd"({{.*}}) ops(144*B*C) bytes(44*B*C) phase "fwd"
// CHECK-NOT: coll
// CHECK: chakra.comp "large.bwd"() ops(160*B*C) bytes(12*B*C) phase "bwd"
// CHECK: chakra.comp "wide.bwd"({{.*}}) ops(24*B*C) bytes(20*B*C) phase "bwd"
// CHECK: chakra.comp "down.bwd"({{.*}}) ops(40*B*C) bytes(40*B*C) phase "bwd"
// CHECK: chakra.comp "nearest.bwd"({{.*}}) ops(16*B*C) bytes(40*B*C) phase "bwd"
// CHECK: chakra.coll all_reduce {{.*}} over ["dp"]
func.func @f(%x: !small) -> !large {
  %w = stg.param "scale" : !stg.tensor<[C], bf16>
  %s = stg.mul_along %x, %w {dims = array<i64: 3>} <"scaled"> : !small, !stg.tensor<[C], bf16>
  %n = stg.resize nearest %s <"nearest"> : !small -> !large
  %d = stg.resize linear %n <"down"> : !large -> !small
  %v = stg.resize linear %d <"wide"> : !small -> !wide
  %y = stg.resize linear %v <"large"> : !wide -> !large
  return %y : !large
}
