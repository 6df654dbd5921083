// Recomputation of repeats in repeats.
//
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=full" | FileCheck %s --check-prefix=FULL
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=selective ops=stg.rms_norm" | FileCheck %s --check-prefix=SEL

stg.symbol @B
stg.symbol @D
stg.symbol @G
stg.symbol @L

!x = !stg.tensor<[B, D], bf16>
!v = !stg.tensor<[D], bf16>
!w = !stg.tensor<[D, D], bf16>

// `full`: the outer repeat's iterations are what is replayed. Its input is all that is
// saved; its replay makes the stacks of the inner repeat, which is replayed once.
//
// FULL-LABEL: func.func @nested
// FULL: %[[F:.*]]:2 = stg.repeat "groups" * G carry(%[[IN:.*]] = %{{.*}} : !stg.tensor<[B, D], bf16>) <fwd> {
// FULL-NEXT: %[[Z:.*]] = stg.repeat "layers" * L carry(%[[CARRY:.*]] = %[[IN]] : !stg.tensor<[B, D], bf16>) <fwd> {
// FULL: stg.yield %{{.*}} : !stg.tensor<[B, D], bf16>{{$}}
// FULL: stg.yield %{{.*}}, %[[IN]] : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, D], bf16>
// FULL: stg.repeat "groups" * G reverse carry({{.*}}) slices(%[[X:.*]] = %[[F]]#1 : !stg.tensor<[groups = G, B, D], bf16>) <bwd> {
// FULL-NEXT: %[[R:.*]]:3 = stg.repeat "layers" * L carry(%{{.*}} = %[[X]] : !stg.tensor<[B, D], bf16>) <recompute> {
// FULL: stg.rms_norm {{.*}} <"norm" recompute>
// FULL: %[[A:.*]] = stg.activation silu %[[R]]#0 <"act" recompute>
// FULL-NEXT: stg.keep %[[A]]
// FULL-NEXT: stg.activation_grad silu %[[R]]#0,
// FULL-NEXT: stg.repeat "layers" * L reverse carry({{.*}}) slices(%{{.*}} = %[[R]]#1 : !stg.tensor<[layers = L, B, D], bf16>, %{{.*}} = %[[R]]#2 : !stg.tensor<[layers = L, B], f32>) <bwd> {
// FULL-NOT: recompute{{[ >]}}
// FULL: return
//
// `selective`: ops of inner repeats are found. Here only the inner repeat's input is
// saved of what the norm's gradient reads, through the stack of the outer repeat.
//
// SEL-LABEL: func.func @nested
// SEL: %[[F:.*]]:3 = stg.repeat "groups" * G carry(
// SEL-NEXT: %[[Z:.*]]:2 = stg.repeat "layers" * L carry(%[[IN:.*]] = %{{.*}} : !stg.tensor<[B, D], bf16>) <fwd> {
// SEL: stg.yield %{{.*}}, %[[IN]] : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, D], bf16>
// SEL: stg.yield %{{.*}}, %[[Z]]#0, %[[Z]]#1 :
// SEL: stg.repeat "groups" * G reverse carry({{.*}}) slices(%{{.*}} = %[[F]]#1 : {{.*}}, %[[S:.*]] = %[[F]]#2 : !stg.tensor<[groups = G, layers = L, B, D], bf16>)
// SEL: stg.repeat "layers" * L reverse carry({{.*}}) slices(%[[X:.*]] = %[[S]] : !stg.tensor<[layers = L, B, D], bf16>)
// SEL: stg.param "norm"
// SEL-NEXT: %[[W:.*]] = stg.param "norm"
// SEL-NEXT: %{{.*}}, %[[R:.*]] = stg.rms_norm %[[X]], %[[W]] <"norm" recompute>
// SEL-NEXT: stg.rms_norm_grad %[[X]], %{{.*}}, %[[R]],
func.func @nested(%x0: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bd,de->be" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "groups" * G carry(%g = %e : !x) {
    %z = stg.repeat "layers" * L carry(%x = %g : !x) {
      %v = stg.param "norm" : !v
      %n, %r = stg.rms_norm %x, %v <"norm"> : !x, !v
      stg.yield %n : !x
    }
    %o = stg.activation silu %z <"act"> : !x
    stg.yield %o : !x
  }
  return %y : !x
}

// An inner op may need a value of the outer body that nothing saved before: the outer
// repeat stacks it.
//
// SEL-LABEL: func.func @outer_value
// SEL: %[[M:.*]] = stg.activation relu %{{.*}} <"mask" fwd>
// SEL: stg.rms_norm %[[M]],
// SEL: stg.yield {{.*}}%[[M]]
// SEL: stg.repeat "groups" * G reverse
// SEL: stg.repeat "layers" * L reverse
// SEL: stg.rms_norm %[[S:[a-z0-9_]*]], %{{.*}} <"norm" recompute>
// SEL: stg.rms_norm_grad %[[S]],
func.func @outer_value(%x0: !x, %c: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bd,de->be" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "groups" * G carry(%g = %e : !x) {
    %m = stg.activation relu %c <"mask"> : !x
    %z = stg.repeat "layers" * L carry(%x = %g : !x) {
      %v = stg.param "norm" : !v
      %n, %r = stg.rms_norm %m, %v <"norm"> : !x, !v
      %s = stg.mul %x, %n <"mul"> : !x, !x
      stg.yield %s : !x
    }
    stg.yield %z : !x
  }
  return %y : !x
}

// Repeats one after the other are replayed each by itself.
//
// FULL-LABEL: func.func @two
// FULL: stg.repeat "second" * L reverse
// FULL-NEXT: stg.activation silu {{.*}} <"b" recompute>
// FULL: stg.repeat "first" * L reverse
// FULL-NEXT: stg.activation silu {{.*}} <"a" recompute>
func.func @two(%x0: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bd,de->be" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "first" * L carry(%x = %e : !x) {
    %a = stg.activation silu %x <"a"> : !x
    stg.yield %a : !x
  }
  %z = stg.repeat "second" * L carry(%x = %y : !x) {
    %b = stg.activation silu %x <"b"> : !x
    stg.yield %b : !x
  }
  return %z : !x
}

// A repeat of nothing but repeats is over periods of layers: each layer is replayed by itself,
// right before its own backward pass, and its input is saved.
//
// FULL-LABEL: func.func @periods
// FULL: %[[F:.*]]:3 = stg.repeat "periods" * G carry(
// FULL-NEXT: %[[N:.*]]:2 = stg.repeat "near" * 1 carry(%[[XN:.*]] = {{.*}}) <fwd> {
// FULL: stg.yield %{{.*}}, %[[XN]] :
// FULL: %[[W:.*]]:2 = stg.repeat "far" * 1 carry(%[[XF:.*]] = %[[N]]#0 : {{.*}}) <fwd> {
// FULL: stg.yield %{{.*}}, %[[XF]] :
// FULL: stg.yield %[[W]]#0,
// FULL: stg.repeat "periods" * G reverse
// FULL-NEXT: stg.repeat "far" * 1 reverse
// FULL-NOT: stg.repeat
// FULL: stg.einsum {{.*}} recompute>
// FULL: stg.repeat "near" * 1 reverse
// FULL-NOT: stg.repeat
// FULL: stg.einsum {{.*}} recompute>
// FULL: return
// SEL-LABEL: func.func @periods
func.func @periods(%x0: !x) -> !x {
  %w0 = stg.param "in" : !w
  %e = stg.einsum "bd,de->be" %x0, %w0 <"in"> : !x, !w
  %y = stg.repeat "periods" * G carry(%g = %e : !x) {
    %n = stg.repeat "near" * 1 carry(%x = %g : !x) {
      %w = stg.param "w" : !w
      %z = stg.einsum "bd,de->be" %x, %w <"product"> : !x, !w
      %o = stg.activation silu %z <"act"> : !x
      stg.yield %o : !x
    }
    %f = stg.repeat "far" * 1 carry(%x = %n : !x) {
      %w = stg.param "w" : !w
      %z = stg.einsum "bd,de->be" %x, %w <"product"> : !x, !w
      %o = stg.activation silu %z <"act"> : !x
      stg.yield %o : !x
    }
    stg.yield %f : !x
  }
  return %y : !x
}
