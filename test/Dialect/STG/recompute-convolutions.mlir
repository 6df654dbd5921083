// What --stg-recompute replays of causal convolutions, whatever else is replayed.
//
// RUN: stg-opt %s --stg-autodiff --stg-recompute="convolutions=true" | FileCheck %s
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=full convolutions=true" > %t.both
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=full" | diff - %t.both

stg.symbol @B
stg.symbol @S
stg.symbol @C
stg.symbol @N
stg.symbol @L
stg.symbol @LV
stg.symbol @EL

!x = !stg.tensor<[B, S, C], bf16>
!v = !stg.tensor<[C], bf16>
!n = !stg.tensor<[B, S, N], bf16>
!w = !stg.tensor<[C, 4], bf16>

// A scan of Mamba reads what is made again: the input alone is saved.
//
// CHECK-LABEL: func.func @selective
// CHECK: stg.repeat "layers" * L carry(%[[IN:[a-z0-9]+]] = {{.*}}) <fwd> {
// CHECK: stg.yield %{{[a-z0-9]+}}, %[[IN]] :
// CHECK: reverse carry(%[[G:[a-z0-9_]+]] = {{.*}}) slices(%[[X:[a-z0-9_]+]] = %{{[0-9]+}}#1 : !stg.tensor<[layers = L, B, S, C], bf16>) <bwd> {
// CHECK: %[[U:.*]] = stg.causal_conv %[[X]], %{{.*}} <"conv" recompute>
// CHECK: %[[P:.*]] = stg.bias_add %[[U]], %{{.*}} <"bias" recompute>
// CHECK-NEXT: %[[A:.*]] = stg.activation silu %[[P]] <"silu" recompute>
// CHECK-NEXT: %[[DX:[a-z0-9]+]], {{.*}} = stg.selective_scan_grad %[[A]], %[[X]],
// CHECK-NEXT: stg.activation_grad silu %[[P]], %[[DX]] <"silu" bwd>
// CHECK-NOT: recompute>
func.func @selective(%x0: !x, %b: !n, %c: !n) -> !x {
  %y = stg.repeat "layers" * L carry(%x = %x0 : !x) {
    %w = stg.param "conv" : !w
    %u = stg.causal_conv %x, %w <"conv"> : !x, !w
    %bias = stg.param "bias" : !v
    %p = stg.bias_add %u, %bias <"bias"> : !x, !v
    %s = stg.activation silu %p <"silu"> : !x
    %a = stg.param "a" : !stg.tensor<[C, N], bf16>
    %d = stg.param "d" : !v
    %m = stg.selective_scan %s, %x, %a, %b, %c, %d <"scan"> : !x, !x, !stg.tensor<[C, N], bf16>, !n, !n, !v
    stg.yield %m : !x
  }
  return %y : !x
}

// What the delta rule reads is saved, what the activation reads is made again. Nothing is of a convolution
// without an activation, such as that of the values, nor of one that others read, too.
//
// CHECK-LABEL: func.func @delta
// CHECK: stg.repeat "layers" * L carry(%[[IN:[a-z0-9]+]] = {{.*}}) <fwd> {
// CHECK: %[[W:.*]] = stg.causal_conv %[[IN]], %{{.*}} <"v_conv" fwd>
// CHECK: %[[T:.*]] = stg.causal_conv %[[IN]], %{{.*}} <"shared_conv" fwd>
// CHECK: %[[A:.*]] = stg.activation silu %[[T]] <"shared_silu" fwd>
// CHECK: %[[Q:.*]] = stg.mul %[[T]], %[[A]] <"q" fwd>
// CHECK: %[[K:.*]] = stg.activation silu %{{.*}} <"k_silu" fwd>
// CHECK: stg.yield %{{[a-z0-9]+}}, %[[Q]], %[[K]], %[[W]], %[[IN]], %[[A]], %[[T]] :
// CHECK: reverse
// CHECK: stg.gated_delta_rule_grad
// CHECK: %[[C:.*]] = stg.causal_conv %{{.*}}, %{{.*}} <"k_conv" recompute>
// CHECK: stg.activation_grad silu %[[C]], %{{.*}} <"k_silu" bwd>
// CHECK-NOT: recompute>
!h = !stg.tensor<[B, S, LV, EL], bf16>
!t = !stg.tensor<[B, S, LV], bf16>
!hw = !stg.tensor<[LV, EL, 4], bf16>
func.func @delta(%x0: !h, %dt: !t, %beta: !t) -> !h {
  %y = stg.repeat "layers" * L carry(%x = %x0 : !h) {
    %wv = stg.param "v_conv" : !hw
    %v = stg.causal_conv %x, %wv <"v_conv"> : !h, !hw
    %ws = stg.param "shared_conv" : !hw
    %c = stg.causal_conv %x, %ws <"shared_conv"> : !h, !hw
    %s = stg.activation silu %c <"shared_silu"> : !h
    %q = stg.mul %c, %s <"q"> : !h, !h
    %wk = stg.param "k_conv" : !hw
    %kc = stg.causal_conv %x, %wk <"k_conv"> : !h, !hw
    %k = stg.activation silu %kc <"k_silu"> : !h
    %a = stg.param "a" : !stg.tensor<[LV], bf16>
    %m = stg.gated_delta_rule 16 %q, %k, %v, %dt, %a, %beta <"rule"> : !h, !h, !h, !t, !stg.tensor<[LV], bf16>, !t
    stg.yield %m : !h
  }
  return %y : !h
}
