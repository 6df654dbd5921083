// Reductions of gradients: one bucket per group and element type before the optimizer
// starts, or one per parameter.
//
// RUN: stg-opt %s --stg-simplify-collectives --stg-bucket-gradients | FileCheck %s --check-prefix=FLAT
// RUN: stg-opt %s --stg-simplify-collectives | FileCheck %s --check-prefix=NONE

stg.symbol @D
stg.mesh @mesh <tp = 2, dp = 2>

!w = !stg.tensor<[D], bf16>
!g = !stg.tensor<[D], f32>

// FLAT-LABEL: func.func @buckets
// FLAT-SAME: (%[[A:.*]]: !stg.tensor<[D], f32>, %[[B:.*]]: !stg.tensor<[D], f32>, %[[C:.*]]: !stg.tensor<[D], bf16>)
// NONE-LABEL: func.func @buckets
// NONE-COUNT-4: stg.all_reduce {{.*}} : !stg.tensor<[D], {{b?}}f{{[0-9]+}}>{{$}}
func.func @buckets(%a: !g, %b: !g, %c: !w) {
  %w = stg.param "w" : !w
  // First over tp, then all over dp; another element type has a bucket of its own.
  // FLAT: %[[T:.*]] = stg.all_reduce sum over ["tp"] %[[A]] <"a" grad_sync>
  // FLAT: %[[R:.*]]:2 = stg.all_reduce sum over ["dp"] %[[T]], %[[B]] <"gradients" grad_sync> : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
  // FLAT: %[[S:.*]] = stg.all_reduce sum over ["dp"] %[[C]] <"c" grad_sync>
  // FLAT: stg.adam f32 %{{.*}}, %[[R]]#0
  // FLAT: stg.adam f32 %{{.*}}, %[[R]]#1
  // FLAT: stg.adam f32 %{{.*}}, %[[S]]
  %0 = stg.all_reduce sum over ["tp"] %a <"a" grad_sync> : !g
  %1 = stg.all_reduce sum over ["dp"] %0 <"a" grad_sync> : !g
  stg.adam f32 %w, %1 <"a" opt> : !w, !g
  %2 = stg.all_reduce sum over ["dp"] %b <"b" grad_sync> : !g
  %w2 = stg.param "w" : !w
  stg.adam f32 %w2, %2 <"b" opt> : !w, !g
  %3 = stg.all_reduce sum over ["dp"] %c <"c" grad_sync> : !w
  %w3 = stg.param "w" : !w
  stg.adam f32 %w3, %3 <"c" opt> : !w, !w
  return
}

// Other phases are left alone.
// FLAT-LABEL: func.func @activations
func.func @activations(%a: !g, %b: !g) -> (!g, !g) {
  // FLAT-COUNT-2: stg.all_reduce {{.*}}fwd>
  %0 = stg.all_reduce sum over ["tp"] %a <fwd> : !g
  %1 = stg.all_reduce sum over ["tp"] %b <fwd> : !g
  return %0, %1 : !g, !g
}
