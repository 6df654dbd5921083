// Sequence parallelism without a residual stream: a warning, and the plan without it.
//
// RUN: stg-opt %s --stg-apply-preset="tp=2 sequence-parallel" --stg-propagate-shardings -verify-diagnostics | FileCheck %s

// expected-warning @+1 {{rule 'S:tp@stream' shards nothing: no carried value has a dimension 'S'}}
module {
  stg.symbol @S
  stg.symbol @F
  // CHECK: func.func @f(%{{.*}}: !stg.tensor<[S, F : tp], f32>)
  func.func @f(%x: !stg.tensor<[S, F], f32>) { return }
}
