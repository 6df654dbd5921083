// The gradients of queries, keys and values read no sinks; cap and slopes are handed on.
//
// RUN: stg-opt %s --stg-autodiff | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E

!x = !stg.tensor<[B, S], bf16>
!w = !stg.tensor<[H, E], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>
!s = !stg.tensor<[H], bf16>

// CHECK-LABEL: func.func @gradient
// CHECK: %[[Q:.*]] = stg.einsum
// CHECK: %[[S:.*]] = stg.param "sinks"
// CHECK: %[[Y:.*]], %[[LSE:.*]] = stg.attention causal %[[Q]], %[[Q]], %[[Q]], %[[S]] {alibi, capped}
// CHECK: %[[DY:.*]] = stg.splat 1
// CHECK: %[[DS:.*]] = stg.attention_sinks_grad %[[S]], %[[Y]], %[[LSE]], %[[DY]] <"a" bwd dw> : !stg.tensor<[H], bf16>, !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H], f32>, !stg.tensor<[B, S, H, E], bf16> -> !stg.tensor<[H], f32>
// CHECK: stg.attention_grad causal %[[Q]], %[[Q]], %[[Q]], %[[Y]], %[[LSE]], %[[DY]] {alibi, capped} <"a" bwd>
// CHECK: return %[[Y]], %{{.*}}, %[[DS]]
func.func @gradient(%x: !x) -> !q {
  %w = stg.param "w" : !w
  %q = stg.einsum "bs,he->bshe" %x, %w : !x, !w
  %s = stg.param "sinks" : !s
  %y, %lse = stg.attention causal %q, %q, %q, %s {alibi, capped} <"a"> : !q, !q, !q, !s
  return %y : !q
}
