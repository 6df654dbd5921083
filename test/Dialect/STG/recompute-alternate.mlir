// What is saved with policy=alternate: the first of each two products, and attention.
//
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=alternate" | FileCheck %s
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=alternate ops=stg.activation" | FileCheck %s --check-prefix=ACT

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
stg.symbol @L

!x = !stg.tensor<[B, S, H, E], bf16>
!v = !stg.tensor<[E], bf16>
!w = !stg.tensor<[E, E], bf16>

// Of the products `query`, `key`, `value` and `out`, the first and the third are saved, and
// so are attention with its log-sum-exp, and the input of the layer. Backward begins with
// the norm, `key` and the activation, which its own ops read; `out` is read by nobody.
//
// CHECK-LABEL: func.func @layers
// CHECK: %[[F:.*]]:6 = stg.repeat "layers" * L carry(%[[IN:[a-z0-9]+]] = {{.*}}) <fwd> {
// CHECK: %[[Q:.*]] = stg.einsum {{.*}} <"query" fwd>
// CHECK: %[[V:.*]] = stg.einsum {{.*}} <"value" fwd>
// CHECK: %[[O:.*]], %[[LSE:.*]] = stg.attention {{.*}} <"attention" fwd>
// CHECK: stg.yield %{{[0-9]+}}, %[[O]], %[[Q]], %[[V]], %[[LSE]], %[[IN]] :
// CHECK: stg.repeat "layers" * L reverse
// CHECK-SAME: slices(%[[SO:[a-z0-9_]+]] = %[[F]]#1 : {{.*}}, %[[SQ:[a-z0-9_]+]] = %[[F]]#2 : {{.*}}, %[[SV:[a-z0-9_]+]] = %[[F]]#3 : {{.*}}, %[[SLSE:[a-z0-9_]+]] = %[[F]]#4 : {{.*}}, %[[SX:[a-z0-9_]+]] = %[[F]]#5 :
// CHECK: %[[N:.*]], %{{.*}} = stg.rms_norm %[[SX]], %{{.*}} <"norm" recompute>
// CHECK-NOT: recompute>
// CHECK: %[[K:.*]] = stg.einsum "bshd,de->bshe" %[[N]], %{{.*}} <"key" recompute>
// CHECK-NEXT: %[[A:.*]] = stg.activation silu %[[SO]] <"act" recompute>
// CHECK-NOT: recompute>
// CHECK: stg.einsum "bshd,bshe->de" %[[A]], %{{.*}} <"out" bwd dw>
// CHECK: stg.attention_grad causal %[[SQ]], %[[K]], %[[SV]], %[[SO]], %[[SLSE]],
// CHECK-NOT: recompute>
//
// With other names, these are saved, and attention is replayed.
//
// ACT-LABEL: func.func @layers
// ACT: <"norm" recompute>
// ACT: <"key" recompute>
// ACT-NEXT: stg.attention {{.*}} <"attention" recompute>
// ACT-NOT: recompute>
func.func @layers(%x0: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bshd,de->bshe" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "layers" * L carry(%x = %e : !x) {
    %g = stg.param "norm" : !v
    %n, %r = stg.rms_norm %x, %g <"norm"> : !x, !v
    %wq = stg.param "query" : !w
    %q = stg.einsum "bshd,de->bshe" %n, %wq <"query"> : !x, !w
    %wk = stg.param "key" : !w
    %k = stg.einsum "bshd,de->bshe" %n, %wk <"key"> : !x, !w
    %wv = stg.param "value" : !w
    %v = stg.einsum "bshd,de->bshe" %n, %wv <"value"> : !x, !w
    %o, %lse = stg.attention causal %q, %k, %v <"attention"> : !x, !x, !x
    %a = stg.activation silu %o <"act"> : !x
    %wo = stg.param "out" : !w
    %z = stg.einsum "bshd,de->bshe" %a, %wo <"out"> : !x, !w
    stg.yield %z : !x
  }
  return %y : !x
}
