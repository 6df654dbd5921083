// How ops that go over tokens are divided: by channels or heads. What all heads read is not, and
// its gradient is a partial sum. The norm of heads that are divided sums their squares.
//
// RUN: stg-opt %s --stg-propagate-shardings --stg-insert-collectives | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @P
stg.symbol @G
stg.symbol @N
stg.mesh @mesh <tp = 2 : tensor>

!x = !stg.tensor<[B, S, H : tp, P], bf16>
!t = !stg.tensor<[B, S, H : tp], bf16>
!e = !stg.tensor<[H : tp], bf16>
!w = !stg.tensor<[H : tp, P], bf16>
!g = !stg.tensor<[B, S, G : tp, N], bf16>
!n = !stg.tensor<[B, S, N], bf16>
!y = !stg.tensor<[B, S, H, P], bf16>
!s = !stg.tensor<[B, S : tp, H, P], bf16>

// CHECK-LABEL: func.func @groups(
// CHECK: stg.ssd 128 %{{.*}} : !stg.tensor<[B, S, H/2, P], bf16>, !stg.tensor<[B, S, H/2], bf16>, !stg.tensor<[H/2], bf16>, !stg.tensor<[B, S, G/2, N], bf16>, !stg.tensor<[B, S, G/2, N], bf16>, !stg.tensor<[H/2], bf16>
// CHECK-NEXT: stg.gated_norm {{.*}} -> !stg.tensor<[B, S, H/2, P], bf16>, !stg.tensor<[B, S, G/2], f32>
// CHECK-NEXT: return
func.func @groups(%x: !x, %t: !t, %e: !e, %g: !g, %w: !w) {
  %y = stg.ssd 128 %x, %t, %e, %g, %g, %e : !x, !t, !e, !g, !g, !e
  %n, %r = stg.gated_norm %y, %x, %w : !y, !x, !w -> !y, !stg.tensor<[B, S, G], f32>
  return
}

// CHECK-LABEL: func.func @shared(
// CHECK: %[[Y:.*]] = stg.ssd 128 %{{.*}} : !stg.tensor<[B, S, H/2, P], bf16>, !stg.tensor<[B, S, H/2], bf16>, !stg.tensor<[H/2], bf16>, !stg.tensor<[B, S, N], bf16>, !stg.tensor<[B, S, N], bf16>, !stg.tensor<[H/2], bf16>
// CHECK-NEXT: %[[Q:.*]] = stg.gated_norm_squares %[[Y]], %{{.*}} : !stg.tensor<[B, S, H/2, P], bf16>, !stg.tensor<[B, S, H/2, P], bf16> -> !stg.tensor<[B, S], f32>
// CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[Q]] <fwd part> : !stg.tensor<[B, S], f32>
// CHECK-NEXT: %[[ROOT:.*]] = stg.norm_root %[[R]]
// CHECK-NEXT: stg.gated_norm_apply %[[Y]], %{{.*}}, %{{.*}}, %[[ROOT]]
// CHECK-NEXT: return
func.func @shared(%x: !x, %t: !t, %e: !e, %n: !n, %w: !w) {
  %y = stg.ssd 128 %x, %t, %e, %n, %n, %e : !x, !t, !e, !n, !n, !e
  %o, %r = stg.gated_norm %y, %x, %w : !y, !x, !w -> !y, !stg.tensor<[B, S], f32>
  return
}

// CHECK-LABEL: func.func @gradient(
// CHECK: %[[D:.*]] = stg.gated_norm_dot
// CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[D]] <fwd part> : !stg.tensor<[B, S], f32>
// CHECK-NEXT: %{{.*}} = stg.gated_norm_grad {{.*}}, %[[R]]
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[DB:.*]], %{{.*}}, %{{.*}} = stg.ssd_grad 128
// CHECK: stg.all_reduce sum over ["tp"] %[[DB]]
func.func @gradient(%x: !x, %t: !t, %e: !e, %n: !n, %w: !w, %r: !stg.tensor<[B, S], f32>) -> !n {
  %d:3 = stg.gated_norm_grad %x, %x, %w, %r, %x : !x, !x, !w, !stg.tensor<[B, S], f32>, !x -> !y, !y, !stg.tensor<[H, P], bf16>
  %g:6 = stg.ssd_grad 128 %x, %t, %e, %n, %n, %e, %d#0 : !x, !t, !e, !n, !n, !e, !y -> !y, !stg.tensor<[B, S, H], bf16>, !stg.tensor<[H], bf16>, !n, !n, !stg.tensor<[H], bf16>
  return %g#3 : !n
}

// Tokens that are divided are gathered first.
//
// CHECK-LABEL: func.func @tokens(
// CHECK: %[[X:.*]] = stg.all_gather dim 1 over ["tp"]
// CHECK-NEXT: stg.causal_conv %[[X]]
func.func @tokens(%x: !s, %w: !stg.tensor<[H, P, 4], bf16>) {
  %y = stg.causal_conv %x, %w : !s, !stg.tensor<[H, P, 4], bf16>
  return
}
