// What is saved with policy=needed: what is named, and what a layer reads of the one before.
//
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=needed saved=query,attention" | FileCheck %s
// RUN: not stg-opt %s --stg-autodiff --stg-recompute="policy=needed saved=query,key_proj" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not stg-opt %s --stg-autodiff --stg-recompute="policy=needed saved=[" 2>&1 | FileCheck %s --check-prefix=PATTERN

stg.symbol @B
stg.symbol @S
stg.symbol @E
stg.symbol @H
stg.symbol @L

!x = !stg.tensor<[B, S, H, E], bf16>
!w = !stg.tensor<[E, E], bf16>

// The product `out` is read by nobody in backward, and is not replayed.
//
// CHECK-LABEL: func.func @layers
// CHECK: %[[F:.*]]:5 = stg.repeat "layers" * L carry(%[[IN:[a-z0-9]+]] = {{.*}}) <fwd> {
// CHECK: %[[Q:.*]] = stg.einsum {{.*}} <"query" fwd>
// CHECK: %[[O:.*]], %[[LSE:.*]] = stg.attention {{.*}} <"attention" fwd>
// CHECK: stg.yield %{{[0-9]+}}, %[[O]], %[[Q]], %[[LSE]], %[[IN]] :
// CHECK: stg.repeat "layers" * L reverse
// CHECK-SAME: slices(%[[SO:[a-z0-9_]+]] = %[[F]]#1 : {{.*}}, %[[SQ:[a-z0-9_]+]] = %[[F]]#2 : {{.*}}, %[[SLSE:[a-z0-9_]+]] = %[[F]]#3 : {{.*}}, %[[SX:[a-z0-9_]+]] = %[[F]]#4 :
// CHECK-NOT: recompute>
// CHECK: %[[K:.*]] = stg.einsum "bshd,de->bshe" %[[SX]], %{{.*}} <"key" recompute>
// CHECK-NOT: recompute>
// CHECK: %[[V:.*]] = stg.einsum "bshd,de->bshe" %[[SX]], %{{.*}} <"value" recompute>
// CHECK-NEXT: %[[A:.*]] = stg.activation silu %[[SO]] <"act" recompute>
// CHECK-NOT: recompute>
// CHECK: stg.einsum "bshd,bshe->de" %[[A]], %{{.*}} <"out" bwd dw>
// CHECK: stg.attention_grad causal %[[SQ]], %[[K]], %[[V]], %[[SO]], %[[SLSE]],
// CHECK-NOT: recompute>
//
// NAME: recompute-needed.mlir:[[#@LINE+3]]:1: error: keeps 'key_proj', which is the name of none of its layers' ops; these are act, attention, key, out, query, value
// PATTERN: error: keeps '[': invalid glob pattern, unmatched '['

func.func @layers(%x0: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bshd,de->bshe" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "layers" * L carry(%x = %e : !x) {
    %wq = stg.param "query" : !w
    %q = stg.einsum "bshd,de->bshe" %x, %wq <"query"> : !x, !w
    %wk = stg.param "key" : !w
    %k = stg.einsum "bshd,de->bshe" %x, %wk <"key"> : !x, !w
    %wv = stg.param "value" : !w
    %v = stg.einsum "bshd,de->bshe" %x, %wv <"value"> : !x, !w
    %o, %lse = stg.attention causal %q, %k, %v <"attention"> : !x, !x, !x
    %a = stg.activation silu %o <"act"> : !x
    %wo = stg.param "out" : !w
    %z = stg.einsum "bshd,de->bshe" %a, %wo <"out"> : !x, !w
    stg.yield %z : !x
  }
  return %y : !x
}
