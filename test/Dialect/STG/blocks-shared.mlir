// RUN: stg-opt %s --verify-roundtrip | FileCheck %s --check-prefix=ROUND
// RUN: stg-opt %s --stg-inline-blocks | FileCheck %s
// RUN: stg-opt %s --stg-inline-blocks --stg-autodiff | FileCheck %s --check-prefix=GRADIENT

// All iterations around a shared call have the same parameters.

stg.symbol @B
stg.symbol @D
stg.symbol @L

!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

stg.block @project(%x: !x) -> !x {
  %w = stg.param "w" : !w
  %y = stg.einsum "bd,de->be" %x, %w : !x, !w
  stg.return %y : !x
}
stg.block @twice(%x: !x) -> !x {
  %y = stg.call @project(%x) <"first"> : (!x) -> !x
  %z = stg.call @project(%y) <"second"> : (!x) -> !x
  stg.return %z : !x
}

// CHECK-LABEL: func.func @layers
// CHECK-NEXT: %[[FIRST:.*]] = stg.param "one.first.w"
// CHECK-NEXT: %[[SECOND:.*]] = stg.param "one.second.w"
// CHECK-NEXT: stg.repeat "groups" * 2
// CHECK-NEXT: stg.repeat "layers" * L carry(%[[X:.*]] = %{{.*}}) {
// CHECK-NEXT: %[[Y:.*]] = stg.einsum "bd,de->be" %[[X]], %[[FIRST]]
// CHECK-NEXT: %[[Z:.*]] = stg.einsum "bd,de->be" %[[Y]], %[[SECOND]]
// A call that is not shared has parameters of its own in each iteration.
// CHECK-NEXT: %[[OWN:.*]] = stg.param "w"
// CHECK-NEXT: stg.einsum "bd,de->be" %[[Z]], %[[OWN]]
// Behind the loops the name is that of the same parameter.
// CHECK: stg.einsum "bd,de->be" %{{.*}}, %[[FIRST]]
// ROUND: stg.call @twice(%{{.*}}) <"one"> shared : (
// ROUND: stg.call @project(%{{.*}}) <"one.first"> frozen shared : (
// The gradient of what iterations share is their sum.
// GRADIENT: stg.accumulate
func.func @layers(%x: !x) -> !stg.tensor<[B], f32> {
  %y = stg.repeat "groups" * 2 carry(%g = %x : !x) {
    %l = stg.repeat "layers" * L carry(%h = %g : !x) {
      %t = stg.call @twice(%h) <"one"> shared : (!x) -> !x
      %o = stg.call @project(%t) : (!x) -> !x
      stg.yield %o : !x
    }
    stg.yield %l : !x
  }
  %z = stg.call @project(%y) <"one.first"> : (!x) -> !x
  %m = stg.mean dim 1 %z : !x
  %c = stg.cast %m : !stg.tensor<[B], bf16> -> !stg.tensor<[B], f32>
  return %c : !stg.tensor<[B], f32>
}
func.func private @frozen(%x: !x) -> !x {
  %y = stg.call @project(%x) <"one.first"> frozen shared : (!x) -> !x
  return %y : !x
}
