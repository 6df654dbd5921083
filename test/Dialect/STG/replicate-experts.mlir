// Replicas of experts: buffers and parameters of experts are more, those of the router are not, and
// no rule for experts divides them.
//
// RUN: stg-opt %s --stg-replicate-experts="count=2" | FileCheck %s
// RUN: stg-opt %s --stg-replicate-experts="count=0" | FileCheck %s --check-prefix=NONE
// RUN: not stg-opt %s --stg-replicate-experts="count=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not stg-opt %s --stg-replicate-experts="count=1 experts=Y" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// NONE-NOT: physical_experts
// NEGATIVE: error: count of replicas is -1, expected at least 0
// UNKNOWN: error: has no symbol 'Y', the experts that are to be replicated

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
// CHECK: stg.symbol @X
// CHECK-NEXT: stg.symbol @physical_experts = X + 2 "experts with their replicas"
stg.symbol @X
stg.symbol @A

!x = !stg.tensor<[B, S, D], bf16>
!scores = !stg.tensor<[B, S, X], bf16>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>

// CHECK-LABEL: func @layer
func.func @layer(%x: !x) -> !x {
  // CHECK: stg.param "router" : !stg.tensor<[D, chosen_experts = X], bf16>
  %r = stg.param "router" : !stg.tensor<[D, X], bf16>
  // CHECK: stg.einsum "bsd,dx->bsx" {{.*}} : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D, chosen_experts = X], bf16>
  %s = stg.einsum "bsd,dx->bsx" %x, %r : !x, !stg.tensor<[D, X], bf16>
  %v, %i = stg.top_k A %s : !scores
  // CHECK: stg.dispatch {{.*}} -> !stg.tensor<[X = physical_experts, A*B*S/physical_experts, D], bf16>
  %e = stg.dispatch %x, %i : !x, !stg.tensor<[B, S, A], i32> -> !buffers
  // CHECK: stg.param "up" : !stg.tensor<[X = physical_experts, D, F], bf16>
  %w = stg.param "up" : !stg.tensor<[X, D, F], bf16>
  %h = stg.einsum "xcd,xdf->xcf" %e, %w : !buffers, !stg.tensor<[X, D, F], bf16>
  %u = stg.param "down" : !stg.tensor<[X, F, D], bf16>
  // CHECK: stg.einsum "xcf,xfd->xcd" {{.*}} !stg.tensor<[X = physical_experts, F, D], bf16>
  %o = stg.einsum "xcf,xfd->xcd" %h, %u : !stg.tensor<[X, A*B*S/X, F], bf16>, !stg.tensor<[X, F, D], bf16>
  %y = stg.combine %o, %i, %v : !buffers, !stg.tensor<[B, S, A], i32>, !stg.tensor<[B, S, A], bf16>
  return %y : !x
}
