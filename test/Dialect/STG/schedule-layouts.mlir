// What tasks of a schedule hand to each other has the layout that is derived for it.
//
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{pp=2 dp=2},stg-propagate-shardings,stg-insert-collectives,stg-simplify-collectives,stg-micro-batch{count=3},stg-schedule{micro-batches=3 schedule=zb-h1})" | FileCheck %s

stg.symbol @B
stg.symbol @D
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// Totals are what the first micro-batch has made and not reduced: parts of a sum.
// CHECK: func.func private @f.stage0.backward.weight.next({{.*}}, %{{[a-z0-9]+}}: !stg.tensor<[layers = 2, D, D], f32> {stg.layout = #stg.layout<dp : sum>}) ->
// The weight half reads what forward saved, and the gradients that the input half stacks: both are
// divided by rows.
// CHECK: func.func private @f.stage0.backward.weight.first(%{{[a-z0-9]+}}: !stg.tensor<[layers = 2, B/6, D], bf16> {stg.layout = #stg.layout<dp : 1>}, %{{[a-z0-9]+}}: !stg.tensor<[layers = 2, B/6, D], bf16> {stg.layout = #stg.layout<dp : 1>}) ->
// CHECK: func.func private @f.stage0.backward.input(%{{[a-z0-9]+}}: !stg.tensor<[B/6, D], bf16> {stg.layout = #stg.layout<dp : 0>}) ->
// CHECK: func.func private @f.stage1.backward.weight.first(%{{[a-z0-9]+}}: !stg.tensor<[B/6, D], bf16> {stg.layout = #stg.layout<dp : 0>}, %{{[a-z0-9]+}}: !stg.tensor<[B/6, D], bf16> {stg.layout = #stg.layout<dp : 0>}, %{{[a-z0-9]+}}: !stg.tensor<[layers = 2, B/6, D], bf16> {stg.layout = #stg.layout<dp : 1>}, %{{[a-z0-9]+}}: !stg.tensor<[layers = 2, B/6, D], bf16> {stg.layout = #stg.layout<dp : 1>}) ->
// CHECK: func.func private @f.stage1.backward.input(%{{[a-z0-9]+}}: !stg.tensor<[B/6, D], bf16> {stg.layout = #stg.layout<dp : 0>}) ->
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %y = stg.repeat "layers" * 4 carry(%c = %x : !x) {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    stg.yield %z : !x
  }
  %head = stg.param "head" : !w
  %l = stg.einsum "bi,ij->bj" %y, %head : !x, !w
  %a = stg.activation gelu %l : !x
  return %a : !x
}
