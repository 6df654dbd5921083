// ZeRO at the local level: flat shards of states (1), gradients (2) and parameters (3).
// A layer has two parameters, which are one unit; D*D elements on four devices are
// ceildiv(D*D, 4) each.
//
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings,stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=1})" | FileCheck %s --check-prefix=STATES
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=2})" | FileCheck %s --check-prefix=GRADIENTS
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3 prefetch=2})" | FileCheck %s --check-prefix=PARAMETERS
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3 root=units prefetch=0})" | FileCheck %s --check-prefix=UNITS
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3 reshard-after-forward=false})" | FileCheck %s --check-prefix=KEPT
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=8 dp-replicate=2},stg-propagate-shardings,stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=1})" | FileCheck %s --check-prefix=HYBRID
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings,stg-insert-collectives,stg-simplify-collectives)" -o %t.none
// RUN: stg-opt %t.none --stg-shard-states="level=0" | diff %t.none -

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// Level 1: forward and backward are as before. Gradients are scattered once a step, each
// device steps its shard, and the parameters are completed.
// STATES-LABEL: func.func @f
// STATES-NOT:     flat_
// STATES:         stg.repeat "layers" * L reverse
// STATES-NOT:     flat_
// STATES:         %[[STEM:.*]] = stg.flat_reduce_scatter over ["dp"] %{{.*}} <"stem" grad_sync dw> : !stg.tensor<[D, D], f32> -> !stg.tensor<[ceildiv(D*D, 4)], f32>
// STATES:         %[[NEW:.*]] = stg.adam f32 %{{.*}}, %[[STEM]] {{.*}} : !stg.tensor<[D, D], bf16>, !stg.tensor<[ceildiv(D*D, 4)], f32>
// STATES-COUNT-2: stg.flat_reduce_scatter over ["dp"] %{{.*}} <grad_sync> : !stg.tensor<[layers = L, D, D], f32> -> !stg.tensor<[layers = L, ceildiv(D*D, 4)], f32>
// STATES-NOT:     all_gather
// STATES:         stg.gather_updated over ["dp"] %[[NEW]] {leading = array<i64: 0>} <"stem" opt> : !stg.tensor<[D, D], bf16>
// STATES:         stg.gather_updated over ["dp"] %{{.*}} {leading = array<i64: 1>} <"w" opt> : !stg.tensor<[layers = L, D, D], bf16>
// STATES:         stg.gather_updated over ["dp"] %{{.*}} {leading = array<i64: 1>} <"u" opt> : !stg.tensor<[layers = L, D, D], bf16>

// Level 2: the scatter is part of backward, one for the layer. What is stacked are shards.
// GRADIENTS-LABEL: func.func @f
// GRADIENTS:       stg.repeat "layers" * L reverse
// GRADIENTS:         %[[S:.*]]:2 = stg.flat_reduce_scatter over ["dp"] %{{.*}}, %{{.*}} <"unit" bwd>
// GRADIENTS:         stg.yield %{{.*}}, %[[S]]#{{[01]}}, %[[S]]#{{[01]}} : !stg.tensor<[B/4, D], bf16>, !stg.tensor<[ceildiv(D*D, 4)], f32>, !stg.tensor<[ceildiv(D*D, 4)], f32>
// GRADIENTS:       stg.flat_reduce_scatter over ["dp"] %{{.*}} <"stem" bwd dw>
// GRADIENTS-NOT:   flat_
// GRADIENTS-COUNT-3: stg.gather_updated over ["dp"]

// Level 3: parameters are shards. A layer's are gathered at once, two layers ahead, before
// forward and before backward; the one at the top once. Nothing is gathered after the step.
// PARAMETERS-LABEL: func.func @f
// PARAMETERS:       %[[STEM:.*]] = stg.param "stem" {layout = #stg.layout<dp : flat>} : !stg.tensor<[ceildiv(D*D, 4)], bf16>
// PARAMETERS:       stg.flat_all_gather over ["dp"] %[[STEM]] <"stem" fwd>
// PARAMETERS:       stg.repeat "layers" * L carry
// PARAMETERS-DAG:     %[[W:.*]] = stg.param "w" {layout = #stg.layout<dp : flat>} : !stg.tensor<[ceildiv(D*D, 4)], bf16>
// PARAMETERS-DAG:     %[[U:.*]] = stg.param "u" {layout = #stg.layout<dp : flat>} : !stg.tensor<[ceildiv(D*D, 4)], bf16>
// PARAMETERS:         %[[G:.*]]:2 = stg.flat_all_gather over ["dp"] %[[W]], %[[U]] {ahead = 2 : i64} <"unit" fwd>
// PARAMETERS:         stg.einsum {{.*}} %[[G]]#0
// PARAMETERS:         stg.einsum {{.*}} %[[G]]#1
// PARAMETERS:       stg.repeat "layers" * L reverse
// PARAMETERS:         stg.flat_all_gather over ["dp"] %{{.*}}, %{{.*}} {ahead = 2 : i64} <"unit" bwd>
// PARAMETERS:         stg.flat_reduce_scatter over ["dp"] %{{.*}}, %{{.*}} <"unit" bwd>
// PARAMETERS-NOT:   gather
// PARAMETERS:       stg.adam f32 %{{.*}}, %{{.*}} : !stg.tensor<[ceildiv(D*D, 4)], bf16>, !stg.tensor<[ceildiv(D*D, 4)], f32>
// PARAMETERS-NOT:   gather
// PARAMETERS:       return

// Units: what is at the top is gathered again in backward, although nothing reads it.
// UNITS-LABEL: func.func @f
// UNITS-NOT:   ahead
// UNITS:       stg.repeat "layers" * L reverse
// UNITS-NOT:   ahead
// UNITS:       %[[AGAIN:.*]] = stg.flat_all_gather over ["dp"] %{{.*}} <"stem" bwd>
// UNITS-NEXT:  stg.keep %[[AGAIN]] <bwd>

// Kept: backward reads stacks of what forward has gathered.
// KEPT-LABEL: func.func @f
// KEPT:       %[[F:.*]]:{{[0-9]+}} = stg.repeat "layers" * L carry
// KEPT:         %[[W:.*]]:2 = stg.flat_all_gather
// KEPT:         stg.yield {{.*}}%[[W]]#{{[01]}}, %[[W]]#{{[01]}} :
// KEPT:       stg.repeat "layers" * L reverse {{.*}} slices({{.*}} : !stg.tensor<[layers = L, D, D], bf16>, {{.*}} : !stg.tensor<[layers = L, D, D], bf16>)
// KEPT-NOT:     all_gather

// Hybrid: shards over four devices, which are all-reduced over the two replicas.
// HYBRID-LABEL: func.func @f
// HYBRID:       %[[S:.*]] = stg.flat_reduce_scatter over ["dp"] %{{.*}} : !stg.tensor<[D, D], f32> -> !stg.tensor<[ceildiv(D*D, 4)], f32>
// HYBRID-NEXT:  %[[R:.*]] = stg.all_reduce sum over ["dp_replicate"] %[[S]] {{.*}} : !stg.tensor<[ceildiv(D*D, 4)], f32>
// HYBRID:       stg.adam f32 %{{.*}}, %[[R]]
// HYBRID-COUNT-3: stg.gather_updated over ["dp"]
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %stem = stg.param "stem" : !w
  %e = stg.einsum "bi,ij->bj" %x, %stem : !x, !w
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    %u = stg.param "u" : !w
    %v = stg.einsum "bi,ij->bj" %z, %u : !x, !w
    stg.yield %v : !x
  }
  return %y : !x
}
