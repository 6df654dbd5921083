// Parameters keep their heads; what is computed with them gets more.
//
// RUN: stg-opt %s --stg-replicate-heads="times=4" | FileCheck %s
// RUN: stg-opt %s --stg-replicate-heads="times=R" | FileCheck %s --check-prefix=SYMBOL
// RUN: stg-opt %s --stg-replicate-heads | FileCheck %s --check-prefix=ONE

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @K
stg.symbol @E
stg.symbol @R
!x = !stg.tensor<[B, S, D], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
!qkv = !stg.tensor<[B, S, H + 2*K, E], bf16>
!w = !stg.tensor<[D, H + 2*K, E], bf16>
!b = !stg.tensor<[H + 2*K, E], bf16>

// CHECK-LABEL: func.func @separate(
// SYMBOL-LABEL: func.func @separate(
// ONE-LABEL: func.func @separate(
func.func @separate(%x: !x, %q: !q) -> !q {
  // CHECK-NEXT: %[[W:.*]] = stg.param "k" : !stg.tensor<[D, K, E], bf16>
  // CHECK-NEXT: %[[R:.*]] = stg.replicate dim 1 %[[W]] <"k" replicas> : !stg.tensor<[D, K, E], bf16> -> !stg.tensor<[D, 4*K, E], bf16>
  // CHECK-NEXT: %[[K:.*]] = stg.einsum "bsd,dhe->bshe" %{{.*}}, %[[R]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D, 4*K, E], bf16>
  // SYMBOL: stg.replicate {{.*}} -> !stg.tensor<[D, K = K*R, E], bf16>
  // ONE-NOT: stg.replicate
  %w = stg.param "k" : !stg.tensor<[D, K, E], bf16>
  %k = stg.einsum "bsd,dhe->bshe" %x, %w : !x, !stg.tensor<[D, K, E], bf16>
  // CHECK: stg.attention causal {{.*}} : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, 4*K, E], bf16>, !stg.tensor<[B, S, 4*K, E], bf16>
  %a, %lse = stg.attention causal %q, %k, %k : !q, !k, !k
  return %a : !q
}

// One projection for all heads, with biases, in a repeat: two from now on. The order of the
// parts does not matter, what is not replicated comes first.
//
// CHECK-LABEL: func.func @joint(
// ONE-LABEL: func.func @joint(
func.func @joint(%x: !x) {
  // ONE: stg.param "qkv" : !stg.tensor<[D, H + 2*K, E], bf16>
  // CHECK: stg.repeat "layers"
  %y = stg.repeat "layers" * 2 carry(%c = %x : !x) {
    // CHECK-NEXT: %[[WH:.*]] = stg.param "qkv_H" : !stg.tensor<[D, H, E], bf16>
    // CHECK-NEXT: %[[WK:.*]] = stg.param "qkv_K" : !stg.tensor<[D, 2*K, E], bf16>
    // CHECK-NEXT: %[[RK:.*]] = stg.replicate dim 1 %[[WK]] {{.*}} -> !stg.tensor<[D, 8*K, E], bf16>
    // CHECK-NEXT: %[[BH:.*]] = stg.param "bias_H" : !stg.tensor<[H, E], bf16>
    // CHECK-NEXT: %[[BK:.*]] = stg.param "bias_K" : !stg.tensor<[2*K, E], bf16>
    // CHECK-NEXT: %[[SK:.*]] = stg.replicate dim 0 %[[BK]] {{.*}} -> !stg.tensor<[8*K, E], bf16>
    %w = stg.param "qkv" : !w
    %b = stg.param "bias" : !b
    // CHECK-NEXT: %[[PH:.*]] = stg.einsum "bsd,dhe->bshe" %{{.*}}, %[[WH]] <"proj_H">
    // CHECK-NEXT: %[[PK:.*]] = stg.einsum "bsd,dhe->bshe" %{{.*}}, %[[RK]] <"proj_K">
    // CHECK-NEXT: %[[Q:.*]] = stg.bias_add %[[PH]], %[[BH]] <"add_H">
    // CHECK-NEXT: %[[KV:.*]] = stg.bias_add %[[PK]], %[[SK]] <"add_K"> : !stg.tensor<[B, S, 8*K, E], bf16>, !stg.tensor<[8*K, E], bf16>
    // CHECK-NEXT: %[[P:.*]]:2 = stg.split dim 2 %[[KV]] <"cut"> : !stg.tensor<[B, S, 8*K, E], bf16> -> !stg.tensor<[B, S, 4*K, E], bf16>, !stg.tensor<[B, S, 4*K, E], bf16>
    %p = stg.einsum "bsd,dhe->bshe" %c, %w <"proj"> : !x, !w
    %s = stg.bias_add %p, %b <"add"> : !qkv, !b
    %k, %q, %v = stg.split dim 2 %s <"cut"> : !qkv -> !k, !q, !k
    // CHECK-NEXT: %{{.*}}, %{{.*}} = stg.attention none %[[Q]], %[[P]]#0, %[[P]]#1
    %a, %lse = stg.attention none %q, %k, %v : !q, !k, !k
    %wo = stg.param "o" : !stg.tensor<[H, E, D], bf16>
    %o = stg.einsum "bshe,hed->bsd" %a, %wo : !q, !stg.tensor<[H, E, D], bf16>
    stg.yield %o : !x
  }
  return
}
