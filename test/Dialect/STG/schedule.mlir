// A program of two layers, cut into two stages and run for three micro-batches: 1F1B,
// messages between the devices, gradients that add up, and one step at the end.
//
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{pp=2 dp=2},stg-propagate-shardings,stg-insert-collectives,stg-simplify-collectives,stg-micro-batch{count=3},stg-bind{values=L=2},stg-schedule{micro-batches=3},stg-bucket-gradients)" | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// The second stage has the second layer and what comes after the layers.
// CHECK: func.func private @f.stage1.forward(%[[X:[a-z0-9]+]]: !stg.tensor<[B/6, D], bf16> {stg.layout = #stg.layout<dp : 0>})
// CHECK:   stg.repeat "layers" * 1 from 1 carry(%{{.*}} = %[[X]]
// CHECK:   stg.param "head"
// A further micro-batch, and the last one, adds to the gradients of the first; nothing is reduced.
// CHECK-NOT: backward.last(
// CHECK: func.func private @f.stage0.backward.next({{.*}}, %[[TOTAL:[a-z0-9]+]]: !stg.tensor<[layers = 1, D, D], f32>)
// CHECK:   stg.repeat "layers" * 1 reverse {{.*}}slices({{.*}}%[[SLICE:[a-z_0-9]+]] = %[[TOTAL]] :
// CHECK:     %[[DW:.*]] = stg.einsum {{.*}} {into = f32} <"w" bwd dw>
// CHECK-NEXT: stg.accumulate %[[SLICE]], %[[DW]] <"w" bwd accumulate>
// CHECK-NOT: stg.all_reduce
// CHECK: func.func private @f.device0.step
// CHECK:   stg.all_reduce sum over ["dp"]
// CHECK:   stg.adam

// The body of the schedule is one micro-batch; its ops are in the order in which they are
// first executed.
// CHECK: func.func @f.device0(%[[A0:.*]]: {{.*}} {stg.name = "mb0.x"}, %[[A1:.*]]: {{.*}} {stg.name = "mb1.x"}, %[[A2:.*]]: {{.*}} {stg.name = "mb2.x"}) attributes {stg.coordinates = #stg.coordinates<pp = 0>}
// CHECK-NEXT: %[[G:.*]]:2 = stg.schedule "mb" * 3 inputs(%[[A0]], %[[A1]], %[[A2]] :
// CHECK-SAME: order <[0 at 0, 1 at 0, 2 at 0, 0 at 1, 1 at 1, 3 at 0, 2 at 1, 0 at 2, 1 at 2, 2 at 2], 2 * [3 at 1]>
// CHECK-NEXT: ^bb0(%[[X0:.*]]: !stg.tensor<[B/6, D], bf16>):
// CHECK-NEXT: %[[F:.*]]:2 = func.call @f.stage0.forward(%[[X0]])
// CHECK-NEXT: stg.send over "pp" shift 1 channel 6 by 2 %[[F]]#0 <"stage1" fwd>
// CHECK-NEXT: %[[DY:.*]] = stg.recv over "pp" shift 1 channel 1 by 2 <"stage0" bwd>
// CHECK-NEXT: stg.turn_call to 0 first @f.stage0.backward.first next @f.stage0.backward.next last @f.stage0.backward.next(
// CHECK-NEXT: }
// CHECK-NEXT: call @f.device0.step({{.*}}%[[G]]#0, %[[G]]#1
// CHECK: func.func @f.device1
// CHECK: stg.recv over "pp" shift -1 channel 6 by 2
// CHECK: stg.send over "pp" shift -1 channel 1 by 2
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %stem = stg.param "stem" : !w
  %e = stg.einsum "bi,ij->bj" %x, %stem : !x, !w
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    stg.yield %z : !x
  }
  %head = stg.param "head" : !w
  %l = stg.einsum "bi,ij->bj" %y, %head : !x, !w
  return %l : !x
}
