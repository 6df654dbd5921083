// Groups that several devices have: heads of a group are divided, parts of what is normalized are
// summed over the devices of a group only, and what devices share has its gradient summed there.
// Nothing else is communicated, whatever divides the batch.
//
// RUN: stg-opt %s --stg-replicate-heads="dim=G times=2" | FileCheck %s --check-prefix=MODEL
// RUN: stg-opt %s --stg-replicate-heads="dim=G times=2" --stg-autodiff --stg-optimizer --stg-parallelize="mesh=r=2:tensor,g=4:tensor,dp=3:data rules=B:dp,H:g,H:r,G:g claims=stg.replicate/replica@G:r,stg.replicate_grad/replica@G:r,stg.gated_norm/g@G:g,stg.gated_norm/h@G:r,stg.gated_norm_grad/g@G:g,stg.gated_norm_grad/h@G:r" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s
// Or what is normalized is gathered, and each device makes the norms of all groups.
// RUN: stg-opt %s --stg-replicate-heads="dim=G times=2 gathers-norms" --stg-parallelize="mesh=r=2:tensor,g=4:tensor,dp=3:data rules=B:dp,H:g,H:r,G:g claims=stg.replicate/replica@G:r,stg.gated_norm/g@G:g,stg.gated_norm/h@G:r" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s --check-prefix=GATHERED
// RUN: stg-opt %s --stg-replicate-heads="dim=G times=2 gathers-norms" --stg-parallelize="mesh=r=2:tensor,g=4:tensor rules=H:g,H:r,G:g claims=stg.replicate/replica@G:r,stg.gated_norm/g@G:g,stg.gated_norm/h@G:r" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s --check-prefix=ALONE

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

// MODEL-LABEL: func.func @step(
// MODEL: stg.replicate dim 1 %{{.*}} <"b" replicas> : !stg.tensor<[D, G, N], bf16> -> !stg.tensor<[D, 2*G, N], bf16>
// MODEL: stg.ssd 128 {{.*}}, !stg.tensor<[B, S, 2*G, N], bf16>, !stg.tensor<[B, S, 2*G, N], bf16>
// MODEL: stg.gated_norm {{.*}} {cut} <"norm"> {{.*}} -> !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, G], f32>

// CHECK-LABEL: func.func @step(
// CHECK-NOT: stg.all_gather
// CHECK-NOT: stg.all_reduce
// CHECK: stg.ssd 128 {{.*}}, !stg.tensor<[B/3, S, G/4, N], bf16>, !stg.tensor<[B/3, S, G/4, N], bf16>
// CHECK: %[[Q:.*]] = stg.gated_norm_squares {{.*}} -> !stg.tensor<[B/3, S, G/4], f32>
// CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["r"] %[[Q]] <"norm" fwd part> : !stg.tensor<[B/3, S, G/4], f32>
// CHECK-NEXT: %[[ROOT:.*]] = stg.norm_root %[[R]] <"norm" fwd part> : !stg.tensor<[B/3, S, G/4], f32>
// CHECK-NEXT: stg.gated_norm_apply {{.*}}, %[[ROOT]]
// CHECK: stg.all_reduce sum over ["r", "g"] {{.*}} <"out" fwd> : !stg.tensor<[B/3, S, D], bf16>
// CHECK-NOT: stg.all_gather
// CHECK-NOT: stg.all_reduce sum over ["r"
// CHECK: %[[DOT:.*]] = stg.gated_norm_dot {{.*}} -> !stg.tensor<[B/3, S, G/4], f32>
// CHECK-NEXT: %[[DR:.*]] = stg.all_reduce sum over ["r"] %[[DOT]] <"norm" bwd part>
// CHECK-NEXT: stg.gated_norm_grad {{.*}}, %[[DR]] {cut}
// CHECK-NOT: stg.all_gather
// CHECK: stg.all_reduce sum over ["r"] {{.*}} : !stg.tensor<[D, G/4, N], f32>
// CHECK-NOT: stg.all_gather
// GATHERED: %[[V:.*]] = stg.gated_values {{.*}} -> !stg.tensor<[B/3, S, H/8, P], f32>
// GATHERED-NEXT: %[[ALL:.*]] = stg.all_gather
// GATHERED-SAME: %[[V]] <"norm" fwd part> : !stg.tensor<[B/3, S, H/8, P], f32> -> !stg.tensor<[B/3, S, H, P], f32>
// GATHERED-NEXT: %[[N:.*]], %{{.*}} = stg.grouped_norm %[[ALL]] <"norm" fwd part> : !stg.tensor<[B/3, S, H, P], f32> -> !stg.tensor<[B/3, S, H, P], f32>, !stg.tensor<[B/3, S, G], f32>
// GATHERED-NEXT: %[[OWN:.*]] = stg.local_slice
// GATHERED-SAME: %[[N]] <"norm" fwd part> : !stg.tensor<[B/3, S, H, P], f32> -> !stg.tensor<[B/3, S, H/8, P], f32>
// GATHERED-NEXT: stg.grouped_norm_apply %[[OWN]], %{{.*}} <"norm" fwd part> : !stg.tensor<[B/3, S, H/8, P], f32>, !stg.tensor<[H/8, P], bf16> -> !stg.tensor<[B/3, S, H/8, P], bf16>
// GATHERED-NOT: stg.all_reduce sum over ["r"]
// ALONE: stg.gated_values {{.*}} -> !stg.tensor<[B, S, H/8, P], f32>
// ALONE: stg.all_gather {{.*}} : !stg.tensor<[B, S, H/8, P], f32> -> !stg.tensor<[B, S, H, P], f32>
// ALONE-NEXT: stg.grouped_norm {{.*}} : !stg.tensor<[B, S, H, P], f32>
func.func @step(%x: !x) -> !stg.tensor<[B, S, D], bf16> {
  %wx = stg.param "x" : !stg.tensor<[D, H, P], bf16>
  %u = stg.einsum "bsd,dhp->bshp" %x, %wx <"x"> : !x, !stg.tensor<[D, H, P], bf16>
  %wt = stg.param "t" : !stg.tensor<[D, H], bf16>
  %t = stg.einsum "bsd,dh->bsh" %x, %wt <"t"> : !x, !stg.tensor<[D, H], bf16>
  %wb = stg.param "b" : !stg.tensor<[D, G, N], bf16>
  %b = stg.einsum "bsd,dgn->bsgn" %x, %wb <"b"> : !x, !stg.tensor<[D, G, N], bf16>
  %a = stg.param "a" : !e
  %y = stg.ssd 128 %u, %t, %a, %b, %b, %a <"scan"> : !h, !t, !e, !g, !g, !e
  %w = stg.param "w" : !stg.tensor<[H, P], bf16>
  %n, %r = stg.gated_norm %y, %u, %w <"norm"> : !h, !h, !stg.tensor<[H, P], bf16> -> !h, !stg.tensor<[B, S, G], f32>
  %wo = stg.param "o" : !stg.tensor<[H, P, D], bf16>
  %o = stg.einsum "bshp,hpd->bsd" %n, %wo <"out"> : !h, !stg.tensor<[H, P, D], bf16>
  return %o : !x
}
