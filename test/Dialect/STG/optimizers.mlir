// The steps of optimizers, and what Muon makes of a gradient before it steps.
//
// RUN: stg-opt %s | FileCheck %s
// RUN: stg-opt %s --mlir-print-op-generic | stg-opt | FileCheck %s

stg.symbol @D
!w = !stg.tensor<[D, 4, 8], bf16>
!g = !stg.tensor<[D, 4, 8], f32>
!s = !stg.tensor<[ceildiv(32*D, 2)], f32>

// CHECK-LABEL: func.func @steps
func.func @steps(%w: !w, %g: !g, %s: !s) {
  // CHECK: stg.momentum bf16 %{{.*}}, %{{.*}} : !stg.tensor<[D, 4, 8], bf16>, !stg.tensor<[D, 4, 8], f32>{{$}}
  %w1 = stg.momentum bf16 %w, %g : !w, !g
  // CHECK: stg.sgd %{{.*}}, %{{.*}} : !stg.tensor<[D, 4, 8], bf16>, !stg.tensor<[D, 4, 8], f32>{{$}}
  %w2 = stg.sgd %w1, %g : !w, !g
  // Shards.
  // CHECK: stg.momentum f32 %{{.*}} : !stg.tensor<[D, 4, 8], bf16>, !stg.tensor<[ceildiv(32*D, 2)], f32>{{$}}
  %w3 = stg.momentum f32 %w2, %s : !w, !s
  // CHECK: stg.sgd %{{.*}} : !stg.tensor<[D, 4, 8], bf16>, !stg.tensor<[ceildiv(32*D, 2)], f32>{{$}}
  %w4 = stg.sgd %w3, %s : !w, !s
  // CHECK: %[[M:.*]] = stg.moment f32 %{{.*}} : !stg.tensor<[D, 4, 8], f32>{{$}}
  %m = stg.moment f32 %g : !g
  // CHECK: stg.orthogonalize %[[M]] {columns = array<i64: 1, 2>, iterations = 5 : i64, rows = array<i64: 0>} : !stg.tensor<[D, 4, 8], f32> -> !stg.tensor<[D, 4, 8], f32>{{$}}
  %o = stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64: 1, 2>, iterations = 5} : !g -> !g
  // CHECK: stg.orthogonalize %[[M]] {columns = array<i64: 2>, iterations = 5 : i64, rows = array<i64: 1>} : !stg.tensor<[D, 4, 8], f32> -> !stg.tensor<[ceildiv(32*D, 2)], f32>{{$}}
  %p = stg.orthogonalize %m {rows = array<i64: 1>, columns = array<i64: 2>, iterations = 5} : !g -> !s
  return
}
