// Sinks are divided with the heads; every device has a part of their gradient where tokens are.
// In a ring the first block begins with them.
//
// RUN: stg-opt %s --split-input-file --stg-propagate-shardings --stg-insert-collectives --stg-lower-context-parallel | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
stg.mesh @mesh <tp = 2 : tensor, cp = 4 : context>

!q = !stg.tensor<[B, S : cp, H : tp, E], bf16>
!y = !stg.tensor<[B, S, H, E], bf16>
!s = !stg.tensor<[H : tp], bf16>
!lse = !stg.tensor<[B, S : cp, H : tp], f32>

// CHECK-LABEL: func.func @ring
// CHECK: %[[O:.*]], %[[L:.*]] = stg.attention_block {{.*}} %{{.*}}, %{{.*}}, %{{.*}}, %[[S:.*]] <"a" own> : !stg.tensor<[B, S/4, H/2, E], bf16>, !stg.tensor<[B, S/4, H/2, E], bf16>, !stg.tensor<[B, S/4, H/2, E], bf16>, !stg.tensor<[H/2], bf16>
// CHECK: stg.repeat
// CHECK: stg.attention_block {{.*}} <"a" block> : !stg.tensor<[B, S/4, H/2, E], bf16>, !stg.tensor<[B, S/4, H/2, E], bf16>, !stg.tensor<[B, S/4, H/2, E], bf16>, !stg.tensor<[B, S/4, H/2, E], bf16>, !stg.tensor<[B, S/4, H/2], f32>
func.func @ring(%q: !q, %k: !q, %v: !q, %s: !s) {
  %o, %l = stg.attention causal %q, %k, %v, %s {context = #stg.context<p2p zigzag>} <"a"> : !q, !q, !q, !s
  return
}

// CHECK-LABEL: func.func @gradient
// CHECK: %[[D:.*]] = stg.attention_sinks_grad {{.*}} : !stg.tensor<[H/2], bf16>, !stg.tensor<[B, S/4, H/2, E], bf16>, !stg.tensor<[B, S/4, H/2], f32>, !stg.tensor<[B, S/4, H/2, E], bf16> -> !stg.tensor<[H/2], f32>
// CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["cp"] %[[D]]
// CHECK-NEXT: return %[[R]]
func.func @gradient(%s: !s, %o: !q, %l: !lse, %dy: !q) -> !stg.tensor<[H : tp], f32> {
  %d = stg.attention_sinks_grad %s, %o, %l, %dy : !s, !q, !lse, !q -> !stg.tensor<[H : tp], f32>
  return %d : !stg.tensor<[H : tp], f32>
}
