// The gradient of a value from outside of a repeat: each iteration adds to what the
// repeat carries, which starts with the gradient so far, or with zero.
//
// RUN: stg-opt %s --split-input-file --stg-name-ops --stg-autodiff --verify-roundtrip | FileCheck %s

stg.symbol @B
stg.symbol @L
!x = !stg.tensor<[B, 4], bf16>
!w = !stg.tensor<[4, 4], bf16>

// A parameter that all iterations share: its gradient has its own type, and the buffer is
// added to in place. It is no stack: there is one parameter.
// CHECK-LABEL: func.func @shared_parameter
// CHECK-SAME: -> (!stg.tensor<[B, 4], bf16>, !stg.tensor<[4, 4], f32> {stg.gradient = #stg.gradient<"w">})
func.func @shared_parameter(%x: !x) -> !x {
  // CHECK: %[[W:.*]] = stg.param "w"
  %w = stg.param "w" : !w
  // CHECK: %[[Y:.*]]:2 = stg.repeat "layers" * L carry(%[[C:.*]] = %{{.*}} : {{.*}}) <fwd>
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    // CHECK: stg.yield %{{.*}}, %[[C]]
    stg.yield %z : !x
  }
  // CHECK: %[[ZERO:.*]] = stg.splat 0 : !stg.tensor<[4, 4], f32>
  // CHECK: %[[G:.*]]:2 = stg.repeat "layers" * L reverse carry(%[[DC:.*]] = %{{[0-9]+}} : {{.*}}, %[[SUM:.*]] = %[[ZERO]] : !stg.tensor<[4, 4], f32>) slices(%[[S:.*]] = %[[Y]]#1
  // CHECK-NEXT: %[[DX:.*]] = stg.einsum "bj,ij->bi" %[[DC]], %[[W]]
  // CHECK-NEXT: %[[DW:.*]] = stg.einsum "bi,bj->ij" %[[S]], %[[DC]] {into = f32} <"w" bwd dw>
  // CHECK-NEXT: %[[NEXT:.*]] = stg.accumulate %[[SUM]], %[[DW]] <"w" bwd accumulate>
  // CHECK-NEXT: stg.yield %[[DX]], %[[NEXT]]
  // CHECK: return %[[Y]]#0, %[[G]]#1
  return %y : !x
}

// -----

stg.symbol @B
stg.symbol @L
!x = !stg.tensor<[B, 4], bf16>
!w = !stg.tensor<[4, 4], bf16>

// A value that is made before the layers. Its gradient is added up in its own type, by
// ops that are called like what makes it, and goes on from there with what is needed
// elsewhere: here the layers start with it, too.
// CHECK-LABEL: func.func @shared_value
func.func @shared_value(%x: !x) -> !x {
  %w0 = stg.param "w0" : !w
  // CHECK: %[[E:.*]] = stg.einsum "bi,ij->bj" %{{.*}} <"w0" fwd>
  %e = stg.einsum "bi,ij->bj" %x, %w0 : !x, !w
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %w = stg.param "w" : !w
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !w
    %s = stg.add %z, %e : !x, !x
    stg.yield %s : !x
  }
  // CHECK: %[[G:.*]]:3 = stg.repeat "layers" * L reverse carry(%[[DC:[a-z0-9_]+]] = {{.*}}, %[[SUM:[a-z0-9_]+]] = %{{.*}} : !stg.tensor<[B, 4], bf16>) slices(
  // CHECK: %[[NEXT:.*]] = stg.add %[[SUM]], %[[DC]] <"w0" bwd add>
  // CHECK: stg.yield %{{.*}}, %[[NEXT]], %{{.*}}
  // CHECK: %[[DE:.*]] = stg.add %[[G]]#1, %[[G]]#0
  // CHECK: stg.einsum "bi,bj->ij" %{{.*}}, %[[DE]] {into = f32} <"w0" bwd dw>
  return %y : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4], f32>

// Also read behind the layers, and by two repeats: each sum starts with the gradient so far,
// and nothing is added behind the last one but what is made in front of the layers.
// CHECK-LABEL: func.func @read_behind
func.func @read_behind(%x: !x, %y: !x) -> !x {
  %w0 = stg.param "w0" : !x
  %e = stg.mul %y, %w0 : !x, !x
  %a = stg.repeat "first" * L carry(%c = %x : !x) {
    %z = stg.mul %c, %e <"z"> : !x, !x
    stg.yield %z : !x
  }
  %b = stg.repeat "second" * L carry(%c = %a : !x) {
    %z = stg.mul %c, %e <"z"> : !x, !x
    stg.yield %z : !x
  }
  %d = stg.mul %b, %e <"last"> : !x, !x
  // CHECK: %[[LAST:.*]] = stg.mul %{{.*}}, %{{.*}} <"last" bwd drhs>
  // CHECK: %[[G:.*]]:2 = stg.repeat "second" * L reverse carry(%{{[a-z0-9]+}} = %{{.*}} : !stg.tensor<[4], f32>, %[[SUM:.*]] = %[[LAST]] : !stg.tensor<[4], f32>)
  // CHECK: stg.add %[[SUM]], %{{.*}} <"w0" bwd add>
  // CHECK: %[[H:.*]]:2 = stg.repeat "first" * L reverse carry(%{{[a-z0-9]+}} = %[[G]]#0 : !stg.tensor<[4], f32>, %[[SUM1:.*]] = %[[G]]#1 : !stg.tensor<[4], f32>)
  // CHECK: stg.add %[[SUM1]], %{{.*}} <"w0" bwd add>
  // CHECK-NOT: stg.add
  // CHECK: stg.mul %[[H]]#1, %{{.*}} <"w0" bwd drhs>
  return %d : !x
}

// -----

stg.symbol @L
stg.symbol @M
!x = !stg.tensor<[4], f32>

// From outside of two repeats: the inner sum is added to the outer one.
// CHECK-LABEL: func.func @nested
func.func @nested(%x: !x) -> !x {
  %w = stg.param "w" : !x
  %y = stg.repeat "outer" * L carry(%c = %x : !x) {
    %z = stg.repeat "inner" * M carry(%d = %c : !x) {
      %a = stg.mul %d, %w : !x, !x
      stg.yield %a : !x
    }
    stg.yield %z : !x
  }
  // CHECK: %[[G:.*]]:2 = stg.repeat "outer" * L reverse carry({{.*}}, %[[OUTER:.*]] = %{{.*}} : !stg.tensor<[4], f32>)
  // CHECK: %[[ZERO:.*]] = stg.splat 0
  // CHECK: %[[H:.*]]:2 = stg.repeat "inner" * M reverse carry({{.*}}, %[[INNER:.*]] = %[[ZERO]] : {{.*}})
  // CHECK: %[[IN:.*]] = stg.accumulate %[[INNER]], %{{.*}}
  // CHECK: stg.yield %{{.*}}, %[[IN]]
  // CHECK: %[[OUT:.*]] = stg.accumulate %[[OUTER]], %[[H]]#1
  // CHECK: stg.yield %[[H]]#0, %[[OUT]]
  // CHECK: return %{{.*}}, %[[G]]#1
  return %y : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4], f32>

// What nothing of the loss is made of has no gradient, and the repeat carries none for it.
// CHECK-LABEL: func.func @unused
// CHECK-SAME: -> (!stg.tensor<[4], f32>, !stg.tensor<[layers = L, 4], f32> {stg.gradient = #stg.gradient<"layers", "v">})
func.func @unused(%x: !x) -> !x {
  %w = stg.param "w" : !x
  %y:2 = stg.repeat "layers" * L carry(%c = %x : !x) {
    %v = stg.param "v" : !x
    %a = stg.mul %c, %v : !x, !x
    %b = stg.mul %c, %w : !x, !x
    stg.yield %a, %b : !x, !x
  }
  // CHECK: stg.repeat "layers" * L reverse carry(%{{[a-z0-9]+}} = %{{[a-z0-9]+}} : !stg.tensor<[4], f32>) slices(
  return %y#0 : !x
}

// -----

stg.symbol @B
stg.symbol @L
!x = !stg.tensor<[B, 4], f32>
!w = !stg.tensor<[4, 4], f32>

// The gradient of what is made of parameters alone is a sum over the whole batch: it is
// stacked, and the stack is added up behind the repeat, so that only the sum is reduced.
// CHECK-LABEL: func.func @made_of_parameter
func.func @made_of_parameter(%x: !x) -> !x {
  %w = stg.param "w" : !w
  %m = stg.mul %w, %w <"m"> : !w, !w
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %z = stg.einsum "bi,ij->bj" %c, %m <"z"> : !x, !w
    stg.yield %z : !x
  }
  // CHECK: %[[G:.*]]:2 = stg.repeat "layers" * L reverse carry(%[[D:.*]] = %{{[0-9]+}} : !stg.tensor<[B, 4], f32>) slices(%[[X:.*]] = %{{.*}} : !stg.tensor<[layers = L, B, 4], f32>)
  // CHECK: %[[DM:.*]] = stg.einsum "bi,bj->ij" %[[X]], %[[D]] <"z" bwd dx>
  // CHECK: stg.yield %{{.*}}, %[[DM]]
  // CHECK: stg.sum dim 0 %[[G]]#1 <"m" bwd add> : !stg.tensor<[layers = L, 4, 4], f32>
  return %y : !x
}
