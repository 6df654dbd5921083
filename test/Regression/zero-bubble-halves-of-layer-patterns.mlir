// Where layers alternate, loops over the layers of each kind are in another loop. The second
// half of a backward pass only added up what the first one had made in the loops inside, the
// gradients of all weights.
//
// RUN: stg-opt %s --pass-pipeline="builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer),stg-apply-preset{pp=1},stg-propagate-shardings,stg-insert-collectives,stg-schedule{schedule=zb-h1 micro-batches=2})" | FileCheck %s

// The second half reads, in the same loops, what forward and the first half have kept.
// CHECK:      func.func private @f.stage0.backward.weight.first(
// CHECK-NEXT:   stg.repeat "periods" * 3 reverse slices(
// CHECK-NEXT:     %[[SECOND:.*]] = stg.repeat "second" * 1 reverse slices(
// CHECK-NEXT:       %[[DW2:.*]] = stg.einsum "bi,bj->ij"
// CHECK-NEXT:       stg.yield %[[DW2]] : !stg.tensor<[8, 8], f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[FIRST:.*]] = stg.repeat "first" * 2 reverse slices(
// CHECK-NEXT:       %[[DW1:.*]] = stg.einsum "bi,bj->ij"
// CHECK-NEXT:       stg.yield %[[DW1]] : !stg.tensor<[8, 8], f32>
// CHECK-NEXT:     }
// CHECK-NEXT:     stg.yield %[[SECOND]], %[[FIRST]]

// The first half goes through the layers in reverse order, and keeps their gradients.
// CHECK:      func.func private @f.stage0.backward.input(
// CHECK:        stg.repeat "periods" * 3 reverse carry(
// CHECK-NEXT:     %[[SECOND:.*]]:2 = stg.repeat "second" * 1 reverse carry(
// CHECK-NEXT:       stg.param "w"
// CHECK-NEXT:       stg.einsum "bj,ij->bi"
// CHECK-NEXT:       stg.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[FIRST:.*]]:2 = stg.repeat "first" * 2 reverse carry(%{{.*}} = %[[SECOND]]#0
// CHECK-NEXT:       stg.param "w"
// CHECK-NEXT:       stg.einsum "bj,ij->bi"
// CHECK-NEXT:       stg.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     stg.yield %[[FIRST]]#0, %[[SECOND]]#1, %[[FIRST]]#1

!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8, 8], bf16>
func.func @f(%x: !x {stg.name = "x"}) -> !x {
  %y = stg.repeat "periods" * 3 carry(%p = %x : !x) {
    %a = stg.repeat "first" * 2 carry(%c = %p : !x) {
      %w = stg.param "w" : !w
      %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
      stg.yield %z : !x
    }
    %b = stg.repeat "second" * 1 carry(%c = %a : !x) {
      %w = stg.param "w" : !w
      %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
      stg.yield %z : !x
    }
    stg.yield %b : !x
  }
  return %y : !x
}
