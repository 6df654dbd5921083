// Replicas on different devices: the op leaves no trace, its gradient is a partial sum.
//
// RUN: stg-opt %s --stg-propagate-shardings --stg-insert-collectives --canonicalize | FileCheck %s
// RUN: stg-opt %s --stg-propagate-shardings=delay-gradients=false | FileCheck %s --check-prefix=PLAN

stg.symbol @B
stg.symbol @D
stg.symbol @K
stg.symbol @k
stg.symbol @r
stg.mesh @mesh <rep = r : tensor, kv = k : tensor, dp = 2 : data>

!x = !stg.tensor<[B : dp, D], bf16>
!y = !stg.tensor<[B, K = K*r : (kv, rep)], bf16>

// CHECK-LABEL: func.func @forward(
func.func @forward(%x: !x, %w: !stg.tensor<[D, K : kv], bf16>, %z: !y) -> !y {
  // CHECK-NEXT: stg.einsum "bd,dk->bk" {{.*}} : !stg.tensor<[B/2, D], bf16>, !stg.tensor<[D, K/k], bf16>
  // CHECK-NOT: stg.all_gather
  %r = stg.replicate dim 1 %w {factors = #stg.factors<replica : rep>} : !stg.tensor<[D, K : kv], bf16> -> !stg.tensor<[D, K = K*r], bf16>
  %y = stg.einsum "bd,dk->bk" %x, %r : !x, !stg.tensor<[D, K = K*r], bf16>
  %s = stg.add %y, %z : !stg.tensor<[B, K = K*r], bf16>, !y -> !y
  // CHECK: return
  return %s : !y
}

// The product leaves a partial sum over dp, the sum of replicas one over `rep`: nothing is
// reduced in between.
//
// CHECK-LABEL: func.func @gradient(
// PLAN-LABEL: func.func @gradient(
func.func @gradient(%x: !x, %dy: !stg.tensor<[B : dp, K = K*r : (kv, rep)], bf16>) -> !stg.tensor<[D, K : kv], bf16> {
  // CHECK-NEXT: %[[DW:.*]] = stg.einsum "bd,bk->dk" {{.*}} : !stg.tensor<[B/2, D], bf16>, !stg.tensor<[B/2, K/k], bf16>
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["rep"] %[[DW]]
  // CHECK-NEXT: %[[G:.*]] = stg.all_reduce sum over ["dp"] %[[R]] {{.*}} : !stg.tensor<[D, K/k], bf16>
  // CHECK-NEXT: return %[[G]]
  // PLAN: stg.einsum {{.*}} -> !stg.tensor<[D, K = K*r : (kv, rep)], bf16, sum(dp)>
  // PLAN: stg.replicate_grad {{.*}} : !stg.tensor<[D, K = K*r : (kv, rep)], bf16, sum(dp)> -> !stg.tensor<[D, K : kv], bf16>
  %dw = stg.einsum "bd,bk->dk" %x, %dy : !x, !stg.tensor<[B : dp, K = K*r : (kv, rep)], bf16>
  %g = stg.replicate_grad dim 1 %dw {factors = #stg.factors<replica : rep>} : !stg.tensor<[D, K = K*r], bf16> -> !stg.tensor<[D, K : kv], bf16>
  return %g : !stg.tensor<[D, K : kv], bf16>
}

// What somebody else reads, too, is reduced for both.
//
// CHECK-LABEL: func.func @read_twice(
func.func @read_twice(%x: !x, %dy: !stg.tensor<[B : dp, K = K*r : (kv, rep)], bf16>) -> (!stg.tensor<[D, K : kv], bf16>, !stg.tensor<[D, K = K*r : (kv, rep)], bf16>) {
  // CHECK-NEXT: %[[DW:.*]] = stg.einsum "bd,bk->dk"
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["dp"] %[[DW]]
  // CHECK-NEXT: %[[G:.*]] = stg.all_reduce sum over ["rep"] %[[R]]
  // CHECK-NEXT: return %[[G]], %[[R]]
  %dw = stg.einsum "bd,bk->dk" %x, %dy : !x, !stg.tensor<[B : dp, K = K*r : (kv, rep)], bf16> -> !stg.tensor<[D, K = K*r : (kv, rep)], bf16>
  %g = stg.replicate_grad dim 1 %dw {factors = #stg.factors<replica : rep>} : !stg.tensor<[D, K = K*r : (kv, rep)], bf16> -> !stg.tensor<[D, K : kv], bf16>
  return %g, %dw : !stg.tensor<[D, K : kv], bf16>, !stg.tensor<[D, K = K*r : (kv, rep)], bf16>
}

// The axes of tensor parallelism are one group.
//
// CHECK-LABEL: func.func @together(
func.func @together(%h: !stg.tensor<[B, K : (kv, rep)], bf16>, %w: !stg.tensor<[K : (kv, rep), D], bf16>) -> !stg.tensor<[B, D], bf16> {
  // CHECK-NEXT: %[[P:.*]] = stg.einsum "bk,kd->bd"
  // CHECK-NEXT: %[[Y:.*]] = stg.all_reduce sum over ["rep", "kv"] %[[P]]
  // CHECK-NEXT: return %[[Y]]
  %y = stg.einsum "bk,kd->bd" %h, %w : !stg.tensor<[B, K : (kv, rep)], bf16>, !stg.tensor<[K : (kv, rep), D], bf16>
  return %y : !stg.tensor<[B, D], bf16>
}
