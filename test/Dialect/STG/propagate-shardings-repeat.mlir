// Through repeats: slices and stacks are tied, init and yielded value may be sharded
// otherwise than what is carried; gradients stay partial until after the repeat.
//
// RUN: stg-opt %s --split-input-file --stg-propagate-shardings | FileCheck %s --check-prefixes=CHECK,DELAY
// RUN: stg-opt %s --split-input-file --stg-propagate-shardings=delay-gradients=false | FileCheck %s --check-prefixes=CHECK,NODELAY

stg.symbol @B
stg.symbol @D
stg.symbol @L
stg.mesh @mesh <tp = 4, dp = 2> rules [B : dp]

!x = !stg.tensor<[B, D], bf16>

// From a stack to its slices, and from what is yielded to the stack.
// CHECK-LABEL: func.func @stacks
// CHECK-SAME: -> !stg.tensor<[layers = L, B : dp, D], bf16>
func.func @stacks(%s: !stg.tensor<[layers = L, B : dp, D], bf16>) -> !stg.tensor<[layers = L, B, D], bf16> {
  // CHECK: stg.repeat "layers" * L slices(%[[V:[a-z_0-9]+]] = %{{.*}} : !stg.tensor<[layers = L, B : dp, D], bf16>) {
  %t = stg.repeat "layers" * L slices(%v = %s : !stg.tensor<[layers = L, B : dp, D], bf16> as !x) {
    // CHECK: stg.activation relu %[[V]] {factors = #stg.factors<d0 : dp>}
    %a = stg.activation relu %v : !x
    stg.yield %a : !x
  }
  return %t : !stg.tensor<[layers = L, B, D], bf16>
}

// A person may carry a value in another sharding than it comes in and goes out.
// CHECK-LABEL: func.func @carried_otherwise
func.func @carried_otherwise(%x: !stg.tensor<[B, D : tp], bf16>) {
  // CHECK: stg.repeat "layers" * L carry(%{{.*}} = %{{.*}} : !stg.tensor<[B, D : tp], bf16> as !stg.tensor<[B : tp, D], bf16>) {
  %y = stg.repeat "layers" * L carry(%c = %x : !stg.tensor<[B, D : tp], bf16> as !stg.tensor<[B : tp, D], bf16>) {
    stg.yield %c : !stg.tensor<[B : tp, D], bf16>
  }
  return
}

// -----

stg.symbol @B
stg.symbol @D
stg.symbol @L
stg.mesh @mesh <dp = 2> rules [B : dp]

// CHECK-LABEL: func.func @gradients
func.func @gradients(%x: !stg.tensor<[B : dp, D], bf16>) -> !stg.tensor<[layers = L, D, D], f32> {
  // CHECK: stg.repeat
  %g = stg.repeat "layers" * L {
    // DELAY: stg.einsum {{.*}} {factors = #stg.factors<b : dp>, into = f32} : {{.*}} -> !stg.tensor<[D, D], f32, sum(dp)>
    // NODELAY: stg.einsum {{.*}} {factors = #stg.factors<b : dp>, into = f32} : !stg.tensor<[B : dp, D], bf16>, !stg.tensor<[B : dp, D], bf16>{{$}}
    %d = stg.einsum "bd,bf->df" %x, %x {into = f32} : !stg.tensor<[B : dp, D], bf16>, !stg.tensor<[B : dp, D], bf16>
    // DELAY: stg.yield %{{.*}} : !stg.tensor<[D, D], f32, sum(dp)>
    // NODELAY: stg.yield %{{.*}} : !stg.tensor<[D, D], f32>
    stg.yield %d : !stg.tensor<[D, D], f32>
  }
  return %g : !stg.tensor<[layers = L, D, D], f32>
}
