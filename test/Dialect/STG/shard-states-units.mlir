// A unit is gathered whole, in forward and in backward, where nobody reads its biases; a
// unit of biases alone, too, at the place where backward undoes it.
//
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3 root=units prefetch=2})" | FileCheck %s --check-prefixes=CHECK,UNITS
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3 prefetch=2})" | FileCheck %s --check-prefixes=CHECK,ROOT
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{dp=4},stg-propagate-shardings{delay-gradients=false},stg-insert-collectives,stg-simplify-collectives,stg-shard-states{level=3 reshard-after-forward=false})" | FileCheck %s --check-prefix=KEPT

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>
!b = !stg.tensor<[D], bf16>

// CHECK-LABEL: func.func @f
// CHECK:       stg.repeat "layers" * L carry
// CHECK:         %[[W:.*]] = stg.param "w"
// CHECK:         %[[V:.*]] = stg.param "b"
// CHECK:         stg.flat_all_gather over ["dp"] %[[W]], %[[V]] {ahead = 2 : i64} <"unit" fwd>
// CHECK:       stg.repeat "shifts" * L carry
// CHECK:         stg.flat_all_gather over ["dp"] %{{.*}} {ahead = 2 : i64} <"c" fwd>
// UNITS:       stg.flat_all_gather over ["dp"] %{{.*}}, %{{.*}} <"unit" fwd>

// Behind the layers: the product reads its weight, the bias comes with it.
// UNITS:       %[[W:.*]] = stg.param "head_bias"
// UNITS:       %[[H:.*]]:2 = stg.flat_all_gather over ["dp"] %{{.*}}, %[[W]] <"unit" bwd>
// UNITS-NEXT:  stg.keep %[[H]]#1 <bwd>
// UNITS-NEXT:  stg.einsum "bj,ij->bi" %{{.*}}, %[[H]]#0
// A root that is kept is gathered once.
// ROOT:        stg.splat
// ROOT-NOT:    all_gather
// CHECK:       stg.repeat "shifts" * L reverse
// CHECK:         %[[C:.*]] = stg.param "c"
// CHECK-NEXT:    %[[G:.*]] = stg.flat_all_gather over ["dp"] %[[C]] {ahead = 2 : i64} <"c" bwd>
// CHECK-NEXT:    stg.keep %[[G]] <bwd>
// CHECK:       stg.repeat "layers" * L reverse
// CHECK-DAG:     %[[W:.*]] = stg.param "w"
// CHECK-DAG:     %[[V:.*]] = stg.param "b"
// CHECK:         %[[G:.*]]:2 = stg.flat_all_gather over ["dp"] %[[W]], %[[V]] {ahead = 2 : i64} <"unit" bwd>
// CHECK:         stg.keep %[[G]]#1 <bwd>
// Before the layers: nothing is read, so all is gathered where backward comes to it.
// UNITS:       {{^    [}]$}}
// UNITS-NEXT:  %[[W:.*]] = stg.param "stem"
// UNITS-NEXT:  %[[G:.*]] = stg.flat_all_gather over ["dp"] %[[W]] <"stem" bwd>
// UNITS-NEXT:  stg.keep %[[G]] <bwd>
// ROOT-NOT:    all_gather
// CHECK:       return

// Kept: backward gathers nothing, and so no unit is completed.
// KEPT-LABEL: func.func @f
// KEPT:       stg.repeat "shifts" * L reverse
// KEPT-NOT:   all_gather
// KEPT-NOT:   stg.keep
// KEPT:       return
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %stem = stg.param "stem" : !w
  %e = stg.einsum "bi,ij->bj" %x, %stem : !x, !w
  %y = stg.repeat "layers" * L carry(%i = %e : !x) {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %i, %w : !x, !w
    %b = stg.param "b" : !b
    %o = stg.bias_add %z, %b : !x, !b
    stg.yield %o : !x
  }
  %s = stg.repeat "shifts" * L carry(%i = %y : !x) {
    %c = stg.param "c" : !b
    %o = stg.bias_add %i, %c : !x, !b
    stg.yield %o : !x
  }
  %head = stg.param "head" : !w
  %h = stg.einsum "bi,ij->bj" %s, %head : !x, !w
  %bias = stg.param "head_bias" : !b
  %o = stg.bias_add %h, %bias : !x, !b
  return %o : !x
}
