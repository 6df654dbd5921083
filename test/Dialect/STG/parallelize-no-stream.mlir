// Sequence parallelism without a residual stream: a warning, and the plan without it.
//
// RUN: stg-opt %s --stg-parallelize="tp=2 sequence-parallel" -verify-diagnostics | FileCheck %s

// expected-warning @+1 {{sequence parallelism has no effect: no repeat carries a value with a dimension that rule 'S:tp@stream' names}}
module {
  stg.symbol @S
  stg.symbol @F
  // CHECK: func.func @f(%{{.*}}: !stg.tensor<[S, F : tp], f32>)
  func.func @f(%x: !stg.tensor<[S, F], f32>) { return }
}
