// A key/value head for each query head: copies before attention, whose gradients are summed.
//
// RUN: stg-opt %s --stg-repeat-heads | FileCheck %s
// RUN: stg-opt %s --stg-repeat-heads --stg-repeat-heads | FileCheck %s
// RUN: stg-opt %s --stg-repeat-heads --stg-apply-preset="tp=2 cp=2" --stg-context-parallel="type=p2p" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s --check-prefix=LOCAL

stg.symbol @S
stg.symbol @H
stg.symbol @K
!q = !stg.tensor<[1, S, H, 16], bf16>
!k = !stg.tensor<[1, S, K, 16], bf16>

// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[Q:.*]]: !{{.*}}, %[[K:.*]]: !{{.*}}, %[[V:.*]]: !{{.*}})
// LOCAL-LABEL: func.func @f(
func.func @f(%q: !q, %k: !k, %v: !k) -> (!q, !q, !q) {
  // CHECK-NEXT: %[[KR:.*]] = stg.replicate dim 2 %[[K]] {together} <replicas> : !stg.tensor<[1, S, K, 16], bf16> -> !stg.tensor<[1, S, K = H, 16], bf16>
  // CHECK-NEXT: %[[VR:.*]] = stg.replicate dim 2 %[[V]] {together} <replicas> :
  // CHECK-NEXT: stg.attention causal %[[Q]], %[[KR]], %[[VR]] :
  // LOCAL: stg.replicate dim 2 {{.*}} : !stg.tensor<[1, S/2, K/2, 16], bf16> -> !stg.tensor<[1, S/2, K = H/2, 16], bf16>
  %o, %lse = stg.attention causal %q, %k, %v : !q, !k, !k
  // One value that is both is copied once.
  // CHECK-NEXT: %[[BOTH:.*]] = stg.replicate dim 2 %[[K]] {together}
  // CHECK-NEXT: stg.attention causal %[[Q]], %[[BOTH]], %[[BOTH]] :
  %p, %lsp = stg.attention causal %q, %k, %k : !q, !k, !k
  // There are as many already.
  // CHECK-NEXT: stg.attention causal %[[Q]], %[[Q]], %[[Q]] :
  %r, %lsr = stg.attention causal %q, %q, %q : !q, !q, !q
  return %o, %p, %r : !q, !q, !q
}
