// Replicas that are exchanged for tokens: from the first op on that divides heads in their place
// there are more of them, and parameters of such ops are replicated as often.
//
// RUN: stg-opt %s --stg-replicate-heads="dim=G exchanged=2 exchanges-scans" | FileCheck %s
// RUN: stg-opt %s --stg-replicate-heads="dim=G times=3 exchanged=2 exchanges-scans" | FileCheck %s --check-prefix=BOTH
// RUN: stg-opt %s --stg-replicate-heads="dim=G exchanged=2 exchanges-keys" | FileCheck %s --check-prefix=KEYS
// RUN: stg-opt %s --stg-replicate-heads="dim=G exchanged=2 exchanges-scans tokens=T" | FileCheck %s --check-prefix=KEYS
// RUN: stg-opt %s --stg-replicate-heads="dim=G exchanged=2 exchanges-scans" --stg-autodiff --stg-parallelize="mesh=cp=4:context rules=S:cp" --stg-context-parallel --stg-propagate-shardings --stg-insert-collectives | FileCheck %s --check-prefix=LOCAL

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @P
stg.symbol @G
stg.symbol @N
stg.symbol @D
!x = !stg.tensor<[B, S, D], bf16>
!h = !stg.tensor<[B, S, H, P], bf16>
!t = !stg.tensor<[B, S, H], bf16>
!e = !stg.tensor<[H], bf16>
!g = !stg.tensor<[B, S, G, N], bf16>

// CHECK-LABEL: func.func @step(
// BOTH-LABEL: func.func @step(
// KEYS-LABEL: func.func @step(
// LOCAL-LABEL: func.func @step(
func.func @step(%x: !x, %u: !h, %t: !t, %a: !e) -> !h {
  // CHECK: %[[WB:.*]] = stg.param "b" : !stg.tensor<[D, G, N], bf16>
  // CHECK-NEXT: %[[B:.*]] = stg.einsum "bsd,dgn->bsgn" %{{.*}}, %[[WB]] <"b">
  // BOTH: stg.replicate dim 1 {{.*}} -> !stg.tensor<[D, 3*G, N], bf16>
  %wb = stg.param "b" : !stg.tensor<[D, G, N], bf16>
  %b = stg.einsum "bsd,dgn->bsgn" %x, %wb <"b"> : !x, !stg.tensor<[D, G, N], bf16>
  // CHECK-NEXT: %[[C:.*]] = stg.param "conv" : !stg.tensor<[G, N, 4], bf16>
  // CHECK-NEXT: %[[BR:.*]] = stg.replicate dim 2 %[[B]] {together} <"b" replicas> : !stg.tensor<[B, S, G, N], bf16> -> !stg.tensor<[B, S, 2*G, N], bf16>
  // CHECK-NEXT: %[[CR:.*]] = stg.replicate dim 0 %[[C]] <"conv" replicas> : !stg.tensor<[G, N, 4], bf16> -> !stg.tensor<[2*G, N, 4], bf16>
  // CHECK-NEXT: %[[V:.*]] = stg.causal_conv %[[BR]], %[[CR]]
  // BOTH: stg.causal_conv {{.*}} : !stg.tensor<[B, S, 6*G, N], bf16>, !stg.tensor<[6*G, N, 4], bf16>
  // KEYS-NOT: stg.replicate
  // LOCAL: stg.param "conv" {{.*}} : !stg.tensor<[G, N, 4], bf16>
  // LOCAL: stg.replicate dim 2 {{.*}} -> !stg.tensor<[B, S/4, 2*G, N], bf16>
  // LOCAL: stg.all_to_all from 1 to 2 over ["cp"] {{.*}} : !stg.tensor<[B, S/4, 2*G, N], bf16> -> !stg.tensor<[B, S, G/2, N], bf16>
  // LOCAL: stg.causal_conv {{.*}} : !stg.tensor<[B, S, G/2, N], bf16>, !stg.tensor<[G/2, N, 4], bf16>
  // LOCAL: stg.causal_conv_weight_grad
  // LOCAL: stg.all_gather dim 0 over ["cp"]
  // LOCAL-NEXT: stg.replicate_grad dim 0 {{.*}} : !stg.tensor<[2*G, N, 4], f32> -> !stg.tensor<[G, N, 4], f32>
  // LOCAL: stg.replicate_grad dim 2 {{.*}} {together} {{.*}} : !stg.tensor<[B, S/4, 2*G, N], bf16> -> !stg.tensor<[B, S/4, G, N], bf16>
  %c = stg.param "conv" : !stg.tensor<[G, N, 4], bf16>
  %v = stg.causal_conv %b, %c <"conv"> : !g, !stg.tensor<[G, N, 4], bf16>
  // CHECK-NEXT: %[[S:.*]] = stg.activation silu %[[V]]
  // CHECK-NEXT: stg.ssd 128 {{.*}}, %[[S]], %[[S]], {{.*}}, !stg.tensor<[B, S, 2*G, N], bf16>, !stg.tensor<[B, S, 2*G, N], bf16>
  // BOTH: stg.ssd 128 {{.*}}, !stg.tensor<[B, S, 6*G, N], bf16>
  // KEYS: stg.ssd 128 {{.*}}, !stg.tensor<[B, S, G, N], bf16>
  %s = stg.activation silu %v <"silu"> : !g
  %y = stg.ssd 128 %u, %t, %a, %s, %s, %a <"scan"> : !h, !t, !e, !g, !g, !e
  return %y : !h
}
