// ZeRO in a pipeline: each stage gathers and scatters what it holds of a unit, and the
// gradient of a parameter that two stages read is summed as shards, once per step.
//
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{pp=2 dp=2},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3},stg-bind{values=L=2},stg-schedule)" | FileCheck %s

// CHECK-LABEL: @f.stage0.forward
// CHECK-DAG:     %[[SHARED:.*]] = stg.param "shared" {layout = #stg.layout<dp : flat>} : !stg.tensor<[ceildiv(D*D, 2)], bf16>
// CHECK-DAG:     %[[STEM:.*]] = stg.param "stem"
// CHECK:         stg.flat_all_gather over ["dp"] %[[SHARED]], %[[STEM]] <"unit" fwd>
// CHECK-LABEL: @f.stage1.forward
// CHECK-DAG:     %[[SHARED:.*]] = stg.param "shared"
// CHECK-DAG:     %[[HEAD:.*]] = stg.param "head"
// CHECK:         stg.flat_all_gather over ["dp"] %[[SHARED]], %[[HEAD]] <"unit" fwd>
// CHECK-LABEL: @f.stage0.backward
// CHECK:         %[[STEM:.*]] = stg.einsum {{.*}}<"stem" bwd dw>
// CHECK:         %[[SHARED:.*]] = stg.einsum {{.*}}<"shared" bwd dw>
// CHECK:         stg.flat_reduce_scatter over ["dp"] %[[STEM]], %[[SHARED]] <"unit"
// CHECK-LABEL: @f.stage1.backward
// CHECK:         %[[SHARED:.*]] = stg.einsum {{.*}}<"shared.1" bwd dw>
// CHECK:         %[[HEAD:.*]] = stg.einsum {{.*}}<"head" bwd dw>
// CHECK:         stg.flat_reduce_scatter over ["dp"] %[[HEAD]], %[[SHARED]] <"unit"
// CHECK-LABEL: @f.device0.step
// CHECK:         %[[SUM:.*]] = stg.all_reduce sum over ["pp"] %{{.*}} {among = array<i64: 0, 1>} <"shared"{{.*}} : !stg.tensor<[ceildiv(D*D, 2)], f32>
// CHECK:         %[[SHARED:.*]] = stg.param "shared"
// CHECK:         stg.adam f32 %[[SHARED]], %[[SUM]]
// CHECK-LABEL: @f.device1.step
// CHECK:         %[[SUM:.*]] = stg.all_reduce sum over ["pp"]
// CHECK:         %[[SHARED:.*]] = stg.param "shared"
// CHECK:         stg.adam f32 %[[SHARED]], %[[SUM]]
// Only activations and their gradients go between the stages.
// CHECK-LABEL: @f.device0(
// CHECK:         stg.recv over "pp" {{.*}} : !stg.tensor<[B/2, D], bf16>{{$}}
// CHECK:         stg.send over "pp" {{.*}} : !stg.tensor<[B/2, D], bf16>{{$}}

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %shared = stg.param "shared" : !w
  %stem = stg.param "stem" : !w
  %e = stg.einsum "bi,ij->bj" %x, %shared : !x, !w
  %d = stg.einsum "bi,ij->bj" %e, %stem : !x, !w
  %y = stg.repeat "layers" * L carry(%c = %d : !x) {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    stg.yield %z : !x
  }
  %head = stg.param "head" : !w
  %l = stg.einsum "bi,ij->bj" %y, %head : !x, !w
  %k = stg.einsum "bi,ji->bj" %l, %shared : !x, !w
  return %k : !x
}
