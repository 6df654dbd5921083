// A foreign op that sums over a sharded dimension makes a partial sum, which is reduced.

// RUN: stg-test-opt %s --stg-apply-preset="tp=tp" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s

stg.symbol @B
stg.symbol @F

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: !stg.tensor<[B, F/tp], bf16>
// CHECK: %[[SUM:.*]] = test.sum_features %[[X]] : <[B, F/tp], bf16> -> <[B], bf16>
// CHECK: %[[ALL:.*]] = stg.all_reduce sum over ["tp"] %[[SUM]]
// CHECK: return %[[ALL]] : !stg.tensor<[B], bf16>
func.func @f(%x: !stg.tensor<[B, F], bf16>) -> !stg.tensor<[B], bf16> {
  %s = test.sum_features %x : !stg.tensor<[B, F], bf16> -> !stg.tensor<[B], bf16>
  return %s : !stg.tensor<[B], bf16>
}
