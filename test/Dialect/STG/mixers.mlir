// Ops that go over tokens in order: assembly and inferred types.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @C
stg.symbol @N
stg.symbol @H
stg.symbol @P
stg.symbol @G

!x = !stg.tensor<[B, S, C], bf16>
!n = !stg.tensor<[B, S, N], bf16>
!c = !stg.tensor<[C], bf16>
!h = !stg.tensor<[B, S, H, P], bf16>
!t = !stg.tensor<[B, S, H], bf16>
!e = !stg.tensor<[H], bf16>
!w = !stg.tensor<[H, P], bf16>
!g = !stg.tensor<[B, S, G, N], bf16>

// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: !x, %w: !stg.tensor<[C, 4], bf16>, %h: !h, %v: !stg.tensor<[H, P, 4], bf16>) -> (!x, !h) {
  // CHECK: %[[Y:.*]] = stg.causal_conv %{{.*}}, %{{.*}} : !stg.tensor<[B, S, C], bf16>, !stg.tensor<[C, 4], bf16>{{$}}
  %0 = stg.causal_conv %x, %w : !x, !stg.tensor<[C, 4], bf16>
  // CHECK: %[[Z:.*]] = stg.causal_conv %{{.*}}, %{{.*}} {state = "conv.state"} : !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[H, P, 4], bf16>{{$}}
  %2 = stg.causal_conv %h, %v {state = "conv.state"} : !h, !stg.tensor<[H, P, 4], bf16>
  // CHECK: return %[[Y]], %[[Z]]
  return %0, %2 : !x, !h
}

// CHECK-LABEL: func.func @scans
func.func @scans(%x: !x, %n: !n, %a: !stg.tensor<[C, N], bf16>, %d: !c, %h: !h, %t: !t, %e: !e, %g: !g) -> (!x, !h, !h, !h, !h) {
  // CHECK: %[[A:.*]] = stg.selective_scan %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !stg.tensor<[B, S, C], bf16>, !stg.tensor<[B, S, C], bf16>, !stg.tensor<[C, N], bf16>, !stg.tensor<[B, S, N], bf16>, !stg.tensor<[B, S, N], bf16>, !stg.tensor<[C], bf16>{{$}}
  %0 = stg.selective_scan %x, %x, %a, %n, %n, %d : !x, !x, !stg.tensor<[C, N], bf16>, !n, !n, !c
  // CHECK: %[[B:.*]] = stg.ssd 128 %{{.*}} : !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, H], bf16>, !stg.tensor<[H], bf16>, !stg.tensor<[B, S, G, N], bf16>, !stg.tensor<[B, S, G, N], bf16>, !stg.tensor<[H], bf16>{{$}}
  %1 = stg.ssd 128 %h, %t, %e, %g, %g, %e : !h, !t, !e, !g, !g, !e
  // CHECK: %[[C:.*]] = stg.ssd 2*P %{{.*}} : !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, H], bf16>, !stg.tensor<[H], bf16>, !stg.tensor<[B, S, N], bf16>, !stg.tensor<[B, S, N], bf16>, !stg.tensor<[H], bf16>{{$}}
  %2 = stg.ssd 2*P %h, %t, %e, %n, %n, %e : !h, !t, !e, !n, !n, !e
  // CHECK: %[[D:.*]] = stg.gated_delta_rule 64 %{{.*}} : !stg.tensor<[B, S, G, N], bf16>, !stg.tensor<[B, S, G, N], bf16>, !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, H], bf16>, !stg.tensor<[H], bf16>, !stg.tensor<[B, S, H], bf16>{{$}}
  %3 = stg.gated_delta_rule 64 %g, %g, %h, %t, %e, %t : !g, !g, !h, !t, !e, !t
  // CHECK: %[[E:.*]] = stg.gated_delta_rule 64 %{{.*}} : !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[H], bf16>, !stg.tensor<[B, S, H], bf16>{{$}}
  %4 = stg.gated_delta_rule 64 %h, %h, %h, %h, %e, %t : !h, !h, !h, !h, !e, !t
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
  return %0, %1, %2, %3, %4 : !x, !h, !h, !h, !h
}

// The roots of groups have a dimension more than those of all heads.
//
// CHECK-LABEL: func.func @norms
func.func @norms(%h: !h, %w: !w) -> (!h, !h) {
  // CHECK: stg.gated_norm %{{.*}} -> !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, G], f32>
  %0, %r = stg.gated_norm %h, %h, %w : !h, !h, !w -> !h, !stg.tensor<[B, S, G], f32>
  // CHECK: stg.gated_norm %{{.*}} -> !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S], f32>
  %1, %s = stg.gated_norm %h, %h, %w : !h, !h, !w -> !h, !stg.tensor<[B, S], f32>
  return %0, %1 : !h, !h
}
