// Adapters of two products in a row: what reads the first one's gradient has it complete, reduced
// once with that of the adapter, as without adapters. A chain of sums is reduced at its end.
//
// RUN: stg-opt %s --stg-add-adapters="rank=4 targets=first,narrow,wide" --stg-name-ops --stg-autodiff \
// RUN:   --stg-apply-preset="tp=2" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s
// RUN: stg-opt %s --stg-add-adapters="rank=4 targets=first,wide" --stg-name-ops --stg-autodiff \
// RUN:   --stg-apply-preset="tp=2" --stg-propagate-shardings --stg-insert-collectives | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.symbol @G
stg.symbol @H
!x = !stg.tensor<[B, D], bf16>
!g = !stg.tensor<[B, G], bf16>
!h = !stg.tensor<[B, H], bf16>

// CHECK: stg.all_reduce sum over ["tp"] %{{.*}} <"last" fwd> : !stg.tensor<[B, D], bf16>
// CHECK: stg.all_reduce sum over ["tp"] %{{.*}} <"wide.lora_A" bwd dw> : !stg.tensor<[G, rank = 4], f32>
// CHECK: %[[W:.*]] = stg.add %{{.*}}, %{{.*}} <"wide" bwd add> : !stg.tensor<[B, G], bf16>
// CHECK-NEXT: %[[G:.*]] = stg.all_reduce sum over ["tp"] %[[W]] <"wide" bwd add> : !stg.tensor<[B, G], bf16>
// CHECK-NOT: stg.all_reduce
// CHECK: stg.einsum {{.*}} %[[G]], %{{.*}} <"narrow" bwd dx> : !stg.tensor<[B, G], bf16>, !stg.tensor<[D, G], bf16>
// CHECK-NOT: stg.all_reduce
func.func @f(%x: !x) -> !x {
  %w = stg.param "first" : !stg.tensor<[D, D], bf16>
  %y = stg.einsum "bd,de->be" %x, %w : !x, !stg.tensor<[D, D], bf16>
  %wn = stg.param "narrow" : !stg.tensor<[D, G], bf16>
  %g = stg.einsum "bd,dg->bg" %y, %wn : !x, !stg.tensor<[D, G], bf16>
  %ww = stg.param "wide" : !stg.tensor<[G, H], bf16>
  %h = stg.einsum "bg,gh->bh" %g, %ww : !g, !stg.tensor<[G, H], bf16>
  %s = stg.activation silu %h : !h
  %wl = stg.param "last" : !stg.tensor<[H, D], bf16>
  %z = stg.einsum "bh,hd->bd" %s, %wl : !h, !stg.tensor<[H, D], bf16>
  return %z : !x
}
