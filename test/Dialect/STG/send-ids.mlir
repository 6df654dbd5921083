// Ids go to the device that has their rows; backward uses those that forward got. With sparse
// gradients the table has none.
//
// RUN: stg-opt %s --stg-autodiff --stg-optimizer --stg-apply-preset="dp=2 rules=R:dp+" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives --stg-send-ids --stg-check-layouts \
// RUN:   | FileCheck %s
// RUN: stg-opt %s --stg-autodiff --stg-optimizer=sparse --stg-apply-preset="dp=2 rules=R:dp+" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives -o %t.mlir
// RUN: FileCheck %s --check-prefix=GATHERED < %t.mlir
// RUN: stg-opt %t.mlir --stg-send-ids --stg-check-layouts | FileCheck %s --check-prefix=SPARSE
//
// Where no rows are divided there is nothing to send.
//
// RUN: not stg-opt %s --stg-send-ids 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: no ids of pooled lookups are gathered that could be sent; divide the rows of tables over the axes that divide the samples, as with NR:dp+, of tables that are joined or listed, not stacked

stg.symbol @B
stg.symbol @N
stg.symbol @P
stg.symbol @R
stg.symbol @D

!ids = !stg.tensor<[B, P, N], i32>
!table = !stg.tensor<[R, D], bf16>
!found = !stg.tensor<[B, N, D], bf16>

// CHECK-LABEL: func.func @f
// CHECK: %[[LENGTHS:.*]], %[[SORTED:.*]] = stg.bucketize %{{.*}} : !stg.tensor<[B/2, P, N], i32> -> !stg.tensor<[2, B/2, N], i32>, !stg.tensor<[2, _ = B*N*P/4], i32>
// CHECK: %[[L:.*]] = stg.all_to_all from 1 to 0 over ["dp"] %[[LENGTHS]] {{.*}} -> !stg.tensor<[1, B, N], i32>
// CHECK: %[[I:.*]] = stg.all_to_all from 1 to 0 over ["dp"] %[[SORTED]] {{.*}} -> !stg.tensor<[1, _ = B*N*P/2], i32>
// CHECK: %[[E:.*]] = stg.embedding_bag %{{.*}}, %[[I]], %[[L]] {{.*}} -> !stg.tensor<[B, N, D], bf16>
// CHECK: stg.reduce_scatter dim 0 over ["dp"] %[[E]]
// CHECK: %[[G:.*]] = stg.all_gather dim 0 over ["dp"] %{{.*}} -> !stg.tensor<[B, N, D], bf16>
// CHECK-NOT: all_gather
// CHECK: stg.embedding_bag_grad %[[I]], %[[L]], %[[G]] {{.*}} -> !stg.tensor<[R/2, D], f32>
// CHECK: stg.adam

// GATHERED: stg.row_adagrad %{{.*}} {among = #sym.expr<2>, pooled = 1 : i64} <"table" bwd dw> : !stg.tensor<[R/2, D], bf16>, !stg.tensor<[B, P, N], i32>, !stg.tensor<[B, N, D], bf16>
// GATHERED-NOT: stg.adam

// SPARSE: stg.row_adagrad %{{.*}} <"table" bwd dw> : !stg.tensor<[R/2, D], bf16>, !stg.tensor<[1, _ = B*N*P/2], i32>, !stg.tensor<[B, N, D], bf16>, !stg.tensor<[1, B, N], i32>
func.func @f(%ids: !ids, %x: !found) -> !found {
  %t = stg.param "table" : !table
  %e = stg.embedding %t, %ids {pooled = 1} <"table"> : !table, !ids
  %y = stg.mul %e, %x <"y"> : !found, !found
  return %y : !found
}
