// ZeRO with Muon: moments are those of a shard, matrices are gathered in 16 bits, and a shard of what is orthogonal is kept.
//
// RUN: stg-opt %s --stg-shard-states=level=1 | FileCheck %s --check-prefixes=CHECK,STATES
// RUN: stg-opt %s --stg-shard-states=level=3 | FileCheck %s --check-prefixes=CHECK,PARAMETERS

stg.symbol @D
stg.symbol @F
stg.mesh @mesh <dp = 4 : data>
!w = !stg.tensor<[D, F], bf16>
!g = !stg.tensor<[D, F], f32>

// CHECK-LABEL: func.func @f
// CHECK: %[[G:.*]] = stg.flat_reduce_scatter over ["dp"] %{{.*}} : !stg.tensor<[D, F], f32> -> !stg.tensor<[ceildiv(D*F, 4)], f32>
// CHECK: %[[M:.*]] = stg.moment f32 %[[G]] <"w" opt> : !stg.tensor<[ceildiv(D*F, 4)], f32>
// CHECK-NEXT: %[[A:.*]] = stg.flat_all_gather over ["dp"] %[[M]] <"w" opt> : !stg.tensor<[ceildiv(D*F, 4)], f32> -> !stg.tensor<[D, F], bf16>
// CHECK-NEXT: %[[O:.*]] = stg.orthogonalize %[[A]] {{.*}} : !stg.tensor<[D, F], bf16> -> !stg.tensor<[ceildiv(D*F, 4)], f32>
// STATES-NEXT: %[[W:.*]] = stg.sgd %{{.*}}, %[[O]] <"w" opt> : !stg.tensor<[D, F], bf16>, !stg.tensor<[ceildiv(D*F, 4)], f32>
// STATES-NEXT: stg.gather_updated over ["dp"] %[[W]]
// PARAMETERS-NEXT: stg.sgd %{{.*}}, %[[O]] <"w" opt> : !stg.tensor<[ceildiv(D*F, 4)], bf16>, !stg.tensor<[ceildiv(D*F, 4)], f32>
func.func @f(%dw: !g) {
  %w = stg.param "w" : !w
  %g = stg.all_reduce sum over ["dp"] %dw <"w" grad_sync> : !g
  %m = stg.moment f32 %g <"w" opt> : !g
  %o = stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64: 1>, iterations = 5} <"w" opt> : !g -> !g
  stg.sgd %w, %o <"w" opt> : !w, !g
  return
}
