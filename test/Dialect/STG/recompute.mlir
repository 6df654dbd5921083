// What is saved and what is replayed, by policy.
//
// RUN: stg-opt %s --stg-autodiff --stg-recompute | FileCheck %s --check-prefix=NONE
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=full" | FileCheck %s --check-prefix=FULL
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=selective" | FileCheck %s --check-prefix=SEL
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=selective ops=stg.rms_norm" | FileCheck %s --check-prefix=NORM

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
stg.symbol @L

!x = !stg.tensor<[B, S, H, E], bf16>
!v = !stg.tensor<[E], bf16>
!w = !stg.tensor<[E, E], bf16>

// By default nothing changes: forward stacks what backward reads. With `full` it stacks
// each layer's input only, and backward begins with the layer, to its last op.
//
// NONE-LABEL: func.func @layers
// NONE: %{{.*}}:5 = stg.repeat "layers" * L carry(
// NONE-NOT: recompute{{[ >]}}
// NONE: return
//
// FULL-LABEL: func.func @layers
// FULL: %[[F:.*]]:2 = stg.repeat "layers" * L carry(%[[IN:.*]] = %{{.*}} : !stg.tensor<[B, S, H, E], bf16>) <fwd> {
// FULL: stg.yield %{{.*}}, %[[IN]] : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>
// FULL: stg.repeat "layers" * L reverse carry(%[[DY:.*]] = %{{.*}} : !stg.tensor<[B, S, H, E], bf16>) slices(%[[X:.*]] = %[[F]]#1 : !stg.tensor<[layers = L, B, S, H, E], bf16>) <bwd> {
// FULL-NEXT: stg.param "norm"
// FULL-NEXT: %[[N:.*]], %[[R:.*]] = stg.rms_norm %[[X]], %{{.*}} <"norm" recompute>
// FULL-NEXT: stg.param "up"
// FULL-NEXT: %[[U:.*]] = stg.einsum "bshd,de->bshe" %[[N]], %{{.*}} <"up" recompute>
// FULL-NEXT: %[[A:.*]] = stg.activation silu %[[U]] <"act" recompute>
// FULL-NEXT: stg.keep %[[A]] : !stg.tensor<[B, S, H, E], bf16>
// FULL: stg.activation_grad silu %[[U]], %[[DY]] <"act" bwd>
// FULL: stg.einsum "bshd,bshe->de" %[[N]], %{{.*}} bwd dw>
// FULL: stg.rms_norm_grad %[[X]], %{{.*}}, %[[R]], %{{.*}} <"norm" bwd>
//
// A layer without attention has nothing that `selective` replays by default.
//
// SEL-LABEL: func.func @layers
// SEL: %{{.*}}:5 = stg.repeat "layers" * L carry(
// SEL-NOT: recompute{{[ >]}}
// SEL: return
//
// Replayed right before their gradient: the reciprocal root is saved no more, but the
// result, which the product's gradient reads, is. The weight is read again, not stacked.
//
// NORM-LABEL: func.func @layers
// NORM: %[[F:.*]]:4 = stg.repeat "layers" * L carry(
// NORM: stg.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>
// NORM: reverse carry({{.*}}) slices(%{{.*}} = %[[F]]#1 : {{.*}}, %[[N:.*]] = %[[F]]#2 : {{.*}}, %[[X:.*]] = %[[F]]#3 :
// NORM: stg.einsum "bshd,bshe->de" %[[N]],
// NORM-NEXT: %[[W:.*]] = stg.param "norm"
// NORM-NEXT: %{{.*}}, %[[R:.*]] = stg.rms_norm %[[X]], %[[W]] <"norm" recompute>
// NORM-NEXT: stg.rms_norm_grad %[[X]], %{{.*}}, %[[R]],
func.func @layers(%x0: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bshd,de->bshe" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "layers" * L carry(%x = %e : !x) {
    %v = stg.param "norm" : !v
    %n, %r = stg.rms_norm %x, %v <"norm"> : !x, !v
    %w = stg.param "up" : !w
    %h = stg.einsum "bshd,de->bshe" %n, %w <"up"> : !x, !w
    %a = stg.activation silu %h <"act"> : !x
    stg.yield %a : !x
  }
  return %y : !x
}

// `selective` saves what attention reads and what others read of it, and replays the
// rest: the log-sum-exp is not saved.
//
// SEL-LABEL: func.func @attention
// SEL: %[[F:.*]]:3 = stg.repeat "layers" * L carry(%[[IN:.*]] = %{{.*}}) <fwd> {
// SEL: %[[O:.*]], %{{.*}} = stg.attention causal %[[IN]], %[[IN]], %[[IN]]
// SEL: stg.yield %{{.*}}, %[[O]], %[[IN]] : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>
// SEL: reverse carry({{.*}}) slices(%[[SO:.*]] = %[[F]]#1 : !stg.tensor<[layers = L, B, S, H, E], bf16>, %[[SX:.*]] = %[[F]]#2 : !stg.tensor<[layers = L, B, S, H, E], bf16>)
// SEL: stg.einsum "bshd,bshe->de" %[[SO]],
// SEL-NEXT: %[[AGAIN:.*]], %[[LSE:.*]] = stg.attention causal %[[SX]], %[[SX]], %[[SX]] <"attention" recompute>
// SEL-NEXT: stg.attention_grad causal %[[SX]], %[[SX]], %[[SX]], %[[AGAIN]], %[[LSE]],
// SEL-NOT: stg.keep
func.func @attention(%x0: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bshd,de->bshe" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "layers" * L carry(%x = %e : !x) {
    %o, %lse = stg.attention causal %x, %x, %x <"attention"> : !x, !x, !x
    %w = stg.param "out" : !w
    %a = stg.einsum "bshd,de->bshe" %o, %w <"out"> : !x, !w
    stg.yield %a : !x
  }
  return %y : !x
}

// What is outside of repeats is not replayed.
//
// FULL-LABEL: func.func @no_repeat
// FULL-NOT: recompute{{[ >]}}
// FULL: return
//
// SEL-LABEL: func.func @no_repeat
// SEL-NOT: recompute{{[ >]}}
// SEL: return
func.func @no_repeat(%x: !x) -> !x {
  %w = stg.param "in" : !w
  %e = stg.einsum "bshd,de->bshe" %x, %w <"in"> : !x, !w
  %o, %lse = stg.attention causal %e, %e, %e <"attention"> : !x, !x, !x
  return %o : !x
}

// What a layer reads from outside of it, the replay reads from there, too: of slices,
// the slices.
//
// FULL-LABEL: func.func @outside
// FULL-SAME: (%[[X0:.*]]: !stg.tensor<[B, S, H, E], bf16>, %[[M:.*]]: !stg.tensor<[B, S, H, E], bf16>, %[[STACK:.*]]: !stg.tensor<[layers = L, B, S, H, E], bf16>)
// FULL: %{{.*}}:2 = stg.repeat "layers"
// FULL: reverse carry({{.*}}) slices(%[[S:.*]] = %[[STACK]] : !stg.tensor<[layers = L, B, S, H, E], bf16>, %[[X:.*]] = %{{.*}} : !stg.tensor<[layers = L, B, S, H, E], bf16>)
// FULL-NEXT: %[[A:.*]] = stg.mul %[[X]], %[[M]] <"a" recompute>
// FULL-NEXT: stg.mul %[[A]], %[[S]] <"b" recompute>
func.func @outside(%x0: !x, %m: !x, %stack: !stg.tensor<[layers = L, B, S, H, E], bf16>) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bshd,de->bshe" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "layers" * L carry(%x = %e : !x) slices(%s = %stack : !stg.tensor<[layers = L, B, S, H, E], bf16>) {
    %a = stg.mul %x, %m <"a"> : !x, !x
    %b = stg.mul %a, %s <"b"> : !x, !x
    %c = stg.activation silu %b <"c"> : !x
    stg.yield %c : !x
  }
  return %y : !x
}
