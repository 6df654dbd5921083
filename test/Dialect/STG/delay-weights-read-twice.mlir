// A weight that an iteration reads twice has one gradient, which is reduced behind the loop.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-optimizer --stg-apply-preset="dp=2" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// CHECK-LABEL: func.func @twice
// CHECK:      %[[ALL:.*]]:2 = stg.repeat "layers" * L reverse
// CHECK-NOT:  stg.all_reduce
// CHECK:      stg.all_reduce sum over ["dp"] %[[ALL]]#1 <grad_sync> : !stg.tensor<[layers = L, D, D], f32>
// CHECK-NOT:  stg.all_reduce
func.func @twice(%x: !x) -> !x {
  %z = stg.repeat "layers" * L carry(%h = %x : !x) {
    %own = stg.param "own" : !w
    %u = stg.einsum "bd,de->be" %h, %own <"one"> : !x, !w
    %v = stg.einsum "bd,de->be" %u, %own <"two"> : !x, !w
    stg.yield %v : !x
  }
  return %z : !x
}
