// Reductions of gradients wait for each other only where nobody reads them before the
// optimizer.
//
// RUN: stg-opt %s --stg-simplify-collectives --stg-bucket-gradients | FileCheck %s

stg.symbol @D
stg.mesh @mesh <tp = 2, dp = 2>
!g = !stg.tensor<[D], f32>
!s = !stg.tensor<[2*D], f32>

// CHECK-LABEL: func.func @read_early
// CHECK: %[[A:.*]] = stg.all_reduce sum over ["dp"] %arg0
// CHECK: stg.all_gather dim 0 over ["tp"] %[[A]]
// CHECK: %[[B:.*]]:2 = stg.all_reduce sum over ["dp"] %arg1, %arg2
// CHECK: stg.adam f32 %{{.*}}, %[[B]]#0
func.func @read_early(%a: !g, %b: !g, %c: !g) -> !s {
  %0 = stg.all_reduce sum over ["dp"] %a <grad_sync> : !g
  %1 = stg.all_gather dim 0 over ["tp"] %0 <grad_sync> : !g -> !s
  %2 = stg.all_reduce sum over ["dp"] %b <grad_sync> : !g
  %3 = stg.all_reduce sum over ["dp"] %c <grad_sync> : !g
  %w = stg.param "w" : !g
  stg.adam f32 %w, %2 <opt> : !g, !g
  %v = stg.param "v" : !g
  stg.adam f32 %v, %3 <opt> : !g, !g
  return %1 : !s
}
