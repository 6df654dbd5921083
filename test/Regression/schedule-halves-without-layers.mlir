// The input half of a backward task that only passes a gradient on sends its own argument,
// which is no result of an op.
//
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{pp=3},stg-propagate-shardings,stg-insert-collectives,stg-schedule{schedule=zb-h1 micro-batches=3 layers-per-stage=1,0,1})" | FileCheck %s
// CHECK:      func.func private @f.stage1.backward.input(%[[G:.*]]: !stg.tensor<[4, 8], bf16>) -> !stg.tensor<[4, 8], bf16>
// CHECK-NEXT:   return %[[G]]

!x = !stg.tensor<[4, 8], bf16>
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %y = stg.repeat "layers" * 2 carry(%c = %x : !x) {
    %w = stg.param "w" : !stg.tensor<[8, 8], bf16>
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !stg.tensor<[8, 8], bf16>
    stg.yield %z : !x
  }
  return %y : !x
}
