// Collectives of whole patterns: a vocabulary-parallel loss, repeats, gradients that
// wait for the optimizer, shared inputs.
//
// RUN: stg-opt %s --split-input-file --stg-insert-collectives | FileCheck %s

stg.symbol @B
stg.symbol @V
stg.symbol @tp
stg.mesh @mesh <tp = tp>

!z = !stg.tensor<[B, V : tp], bf16>
!p = !stg.tensor<[B, V : tp], f32>
!r = !stg.tensor<[B], f32>

// Three fp32 all-reduces of one number per token, and no gathered logits.
// CHECK-LABEL: func.func @sharded_cross_entropy
// CHECK-SAME: (%[[Z:.*]]: !stg.tensor<[B, V/tp], bf16> {stg.layout = #stg.layout<tp : 1>}, %[[I:.*]]: !stg.tensor<[B], i32> {stg.layout = #stg.layout<>}) -> (!stg.tensor<[B], f32>, !stg.tensor<[B, V/tp], f32>)
func.func @sharded_cross_entropy(%z: !z, %i: !stg.tensor<[B], i32>) -> (!r, !p) {
  // CHECK-NEXT: %[[LM:.*]] = stg.reduce max %[[Z]] <"loss" fwd part>
  // CHECK-NEXT: %[[M:.*]] = stg.all_reduce max over ["tp"] %[[LM]] {{.*}} : !stg.tensor<[B], f32>
  // CHECK-NEXT: %[[E:.*]], %[[LS:.*]] = stg.exp_sum %[[Z]], %[[M]]
  // CHECK-NEXT: %[[S:.*]] = stg.all_reduce sum over ["tp"] %[[LS]] {{.*}} : !stg.tensor<[B], f32>
  // CHECK-NEXT: %[[LT:.*]] = stg.pick %[[Z]], %[[I]]
  // CHECK-NEXT: %[[T:.*]] = stg.all_reduce sum over ["tp"] %[[LT]] {{.*}} : !stg.tensor<[B], f32>
  // CHECK-NEXT: %[[L:.*]] = stg.nll %[[S]], %[[M]], %[[T]]
  // CHECK-NEXT: %[[P:.*]] = stg.normalize %[[E]], %[[S]]
  // CHECK-NEXT: return %[[L]], %[[P]]
  %loss, %probs = stg.cross_entropy %z, %i {factors = #stg.factors<v : tp>} <"loss" fwd> : !z, !stg.tensor<[B], i32> -> !r, !p
  return %loss, %probs : !r, !p
}

// -----

stg.symbol @B
stg.symbol @V
stg.mesh @mesh <tp = 2, dp = 2>

// With whole rows it stays one op.
// CHECK-LABEL: func.func @whole_cross_entropy
func.func @whole_cross_entropy(%z: !stg.tensor<[B : dp, V], bf16>, %i: !stg.tensor<[B : dp], i32>) {
  // CHECK-NEXT: stg.cross_entropy %{{.*}} : !stg.tensor<[B/2, V], bf16>, !stg.tensor<[B/2], i32>
  // CHECK-NEXT: return
  %loss, %probs = stg.cross_entropy %z, %i {factors = #stg.factors<d0 : dp>} : !stg.tensor<[B : dp, V], bf16>, !stg.tensor<[B : dp], i32>
      -> !stg.tensor<[B : dp], f32>, !stg.tensor<[B : dp, V], f32>
  return
}

// A vocabulary-parallel table gives partial sums.
// CHECK-LABEL: func.func @sharded_embedding
func.func @sharded_embedding(%i: !stg.tensor<[B], i32>) {
  %t = stg.param "table" : !stg.tensor<[V : tp, 8], bf16>
  // CHECK: %[[E:.*]] = stg.embedding %{{.*}} : !stg.tensor<[V/2, 8], bf16>, !stg.tensor<[B], i32>
  // CHECK-NEXT: stg.all_reduce sum over ["tp"] %[[E]]
  %e = stg.embedding %t, %i {factors = #stg.factors<v : tp>} : !stg.tensor<[V : tp, 8], bf16>, !stg.tensor<[B], i32>
  return
}

// -----

stg.symbol @B
stg.symbol @L
stg.mesh @mesh <dp = 2>

!x = !stg.tensor<[B : dp, 8], bf16>
!dw = !stg.tensor<[8, 8], f32>

// What is only read by the optimizer is reduced as gradient synchronization, after the
// repeat where it was left partial.
// CHECK-LABEL: func.func @gradients
func.func @gradients(%x: !x) {
  %g = stg.repeat "layers" * L -> (!stg.tensor<[layers = L, 8, 8], f32, sum(dp)>) <bwd> {
    // CHECK: stg.einsum {{.*}} : !stg.tensor<[B/2, 8], bf16>, !stg.tensor<[B/2, 8], bf16>
    // CHECK-NEXT: stg.yield
    %d = stg.einsum "bd,bf->df" %x, %x {factors = #stg.factors<b : dp>, into = f32} : !x, !x -> !stg.tensor<[8, 8], f32, sum(dp)>
    stg.yield %d : !stg.tensor<[8, 8], f32, sum(dp)>
  }
  // CHECK: stg.all_reduce sum over ["dp"] %{{.*}} <grad_sync> : !stg.tensor<[layers = L, 8, 8], f32>
  // CHECK-NEXT: stg.repeat "layers" * L slices
  stg.repeat "layers" * L slices(%s = %g : !stg.tensor<[layers = L, 8, 8], f32, sum(dp)> as !dw) <opt> {
    %w = stg.param "w" : !stg.tensor<[8, 8], bf16>
    stg.adam f32 %w, %s : !stg.tensor<[8, 8], bf16>, !dw
  }
  return
}

// -----

stg.symbol @B
stg.symbol @L
stg.mesh @mesh <tp = 2>

// What comes in and what is yielded are brought into the layout that is carried.
// CHECK-LABEL: func.func @carried
func.func @carried(%x: !stg.tensor<[B, 8], bf16>) -> !stg.tensor<[B : tp, 8], bf16> {
  // CHECK-NEXT: %[[S:.*]] = stg.local_slice dim 0 over ["tp"]
  // CHECK-NEXT: stg.repeat "layers" * L carry(%[[C:[a-z_0-9]+]] = %[[S]] : !stg.tensor<[B/2, 8], bf16>) {
  %y = stg.repeat "layers" * L carry(%c = %x : !stg.tensor<[B, 8], bf16> as !stg.tensor<[B : tp, 8], bf16>) {
    // CHECK-NEXT: %[[A:.*]] = stg.all_to_all from 0 to 1 over ["tp"] %[[C]]
    // CHECK-NEXT: %[[R:.*]] = stg.activation relu %[[A]]
    // CHECK-NEXT: %[[Y:.*]] = stg.all_to_all from 1 to 0 over ["tp"] %[[R]]
    // CHECK-NEXT: stg.yield %[[Y]]
    %a = stg.activation relu %c {factors = #stg.factors<d1 : tp>} : !stg.tensor<[B : tp, 8], bf16> -> !stg.tensor<[B, 8 : tp], bf16>
    stg.yield %a : !stg.tensor<[B, 8 : tp], bf16>
  }
  return %y : !stg.tensor<[B : tp, 8], bf16>
}
