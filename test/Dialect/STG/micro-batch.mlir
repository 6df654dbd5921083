// The program of one micro-batch: shapes and costs have the batch divided by the count,
// constants stay.
//
// RUN: stg-opt %s --stg-micro-batch="count=M" | FileCheck %s
// RUN: stg-opt %s --stg-micro-batch="count=4" | FileCheck %s --check-prefix=FOUR
// RUN: stg-opt %s --stg-micro-batch="count=2 batch=S" | FileCheck %s --check-prefix=TOKENS
// RUN: stg-opt %s --stg-micro-batch="count=1" | FileCheck %s --check-prefix=ONE

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @M
stg.symbol @dp
!x = !stg.tensor<[B/dp, S, D], bf16>

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B/(M*dp), S, D], bf16>) -> !stg.tensor<[B/(M*dp), S, D], bf16>
// FOUR-LABEL: func.func @f
// FOUR-SAME: (%[[X:.*]]: !stg.tensor<[B/(4*dp), S, D], bf16>) -> !stg.tensor<[B/(4*dp), S, D], bf16>
// TOKENS-LABEL: func.func @f
// TOKENS-SAME: !stg.tensor<[B/dp, S/2, D], bf16>
// ONE-LABEL: func.func @f
// ONE-SAME: !stg.tensor<[B/dp, S, D], bf16>
func.func @f(%x: !x) -> !x {
  // The mean over the whole batch starts backward.
  // CHECK: stg.splat 1/(B*S) : !stg.tensor<[B/(M*dp), S, D], bf16>
  // FOUR: stg.splat 1/(B*S) : !stg.tensor<[B/(4*dp), S, D], bf16>
  %0 = stg.splat 1/(B*S) : !x
  // CHECK: stg.repeat "layers" * 3 carry(%{{.*}} = %[[X]] : !stg.tensor<[B/(M*dp), S, D], bf16>)
  %1 = stg.repeat "layers" * 3 carry(%c = %x : !x) {
    // CHECK-NEXT: stg.mul %{{.*}}, %{{.*}} : !stg.tensor<[B/(M*dp), S, D], bf16>
    %2 = stg.mul %c, %0 : !x, !x
    stg.yield %2 : !x
  }
  return %1 : !x
}

// Dimensions that have the batch's name among others, bound ones, and dimensions in
// attributes; not those that only have its extent.
// CHECK-LABEL: func.func private @names(
// CHECK-SAME: !stg.tensor<[B*S/M, (A, B) = 24/M, B = 8/(M*dp), C = B], f32>) attributes {rows = #stg.dim<B*S/M>}
// FOUR-LABEL: func.func private @names(
// FOUR-SAME: !stg.tensor<[B*S/4, (A, B) = 6, B = 2/dp, C = B], f32>) attributes {rows = #stg.dim<B*S/4>}
func.func private @names(!stg.tensor<[B*S, (A, B) = 24, B = 8/dp, C = B], f32>) attributes {rows = #stg.dim<B*S>}
