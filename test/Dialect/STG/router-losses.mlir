// Losses of routers: assembly, the pass that adds them, the backward pass, and what is summed
// over devices.
//
// RUN: split-file %s %t
// RUN: stg-opt %t/ops.mlir --verify-roundtrip | FileCheck %t/ops.mlir
// RUN: stg-opt %t/routers.mlir --stg-add-router-losses="balance=batch z-loss" | FileCheck %t/routers.mlir --check-prefix=BATCH
// RUN: stg-opt %t/routers.mlir --stg-add-router-losses="balance=sequence weight=W" | FileCheck %t/routers.mlir --check-prefix=SEQUENCE
// RUN: stg-opt %t/routers.mlir --stg-add-router-losses="balance=batch z-loss" --stg-add-router-losses="balance=none" | FileCheck %t/routers.mlir --check-prefix=NONE
// RUN: stg-opt %t/routers.mlir --stg-add-router-losses | FileCheck %t/routers.mlir --check-prefix=MODEL
// RUN: stg-opt %t/loop.mlir --stg-name-ops --stg-add-router-losses="balance=batch z-loss" --stg-autodiff -o %t/step.mlir
// RUN: FileCheck %t/loop.mlir < %t/step.mlir
// RUN: stg-opt %t/step.mlir --convert-stg-to-chakra | FileCheck %t/loop.mlir --check-prefix=COST
// RUN: stg-opt %t/step.mlir --stg-apply-preset="dp=2 cp=4 tp=2 sequence-parallel" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives | FileCheck %t/loop.mlir --check-prefix=LOCAL
// RUN: stg-opt %t/loop.mlir --stg-name-ops --stg-add-router-losses="balance=global" --stg-autodiff --stg-apply-preset="dp=2 cp=4" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives | FileCheck %t/loop.mlir --check-prefix=GLOBAL
// RUN: stg-opt %t/loop.mlir --stg-name-ops --stg-add-router-losses="balance=sequence" --stg-autodiff --stg-apply-preset="dp=2 cp=4" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives | FileCheck %t/loop.mlir --check-prefix=EACH
// RUN: stg-opt %t/loop.mlir --stg-name-ops --stg-add-router-losses="balance=batch z-loss" --stg-inference="cached=0 tokens=S" | FileCheck %t/loop.mlir --check-prefix=INFERENCE
// RUN: stg-opt %t/frozen.mlir --stg-autodiff | FileCheck %t/frozen.mlir

//--- ops.mlir
stg.symbol @B
stg.symbol @S
stg.symbol @X
stg.symbol @A
!logits = !stg.tensor<[B, S, X], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!choices = !stg.tensor<[B, S, A], i32>
!rows = !stg.tensor<[B, S], f32>
func.func @f(%l: !logits, %p: !probs, %i: !choices) -> (!probs, !logits) {
  // CHECK: %[[C:.*]] = stg.count_indices %{{.*}} {own} : !stg.tensor<[B, S, A], i32> -> !stg.tensor<[X], f32>
  %c = stg.count_indices %i {own} : !choices -> !stg.tensor<[X], f32>
  // CHECK: stg.count_indices %{{.*}} : !stg.tensor<[B, S, A], i32> -> !stg.tensor<[B, X], f32>
  %d = stg.count_indices %i : !choices -> !stg.tensor<[B, X], f32>
  // CHECK: %[[Y:.*]] = stg.balance_loss %{{.*}}, %[[C]] : !stg.tensor<[B, S, X], f32>, !stg.tensor<[X], f32>{{$}}
  %y = stg.balance_loss %p, %c : !probs, !stg.tensor<[X], f32>
  // CHECK: stg.auxiliary_loss 1/100 %[[Y]] : !stg.tensor<[B, S], f32>
  stg.auxiliary_loss 1/100 %y : !rows
  // CHECK: stg.z_loss %{{.*}} : !stg.tensor<[B, S, X], bf16>{{$}}
  %z, %lse = stg.z_loss %l : !logits
  %dp = stg.balance_loss_grad %d, %y : !stg.tensor<[B, X], f32>, !rows -> !probs
  %dl = stg.z_loss_grad %l, %lse, %z : !logits, !rows, !rows -> !logits
  return %dp, %dl : !probs, !logits
}

//--- routers.mlir
stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @X
stg.symbol @A
stg.symbol @W
!x = !stg.tensor<[B, S, D], bf16>
!logits = !stg.tensor<[B, S, X], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!choices = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>

// The softmax that is there, the shares of sigmoids, or a softmax of what is compared. A top-k
// that copies no tokens is no router.
func.func @f(%x: !x, %l: !logits) -> (!buffers, !buffers, !buffers, !choices) {
  // BATCH: %[[P:.*]] = stg.softmax
  // BATCH: %{{.*}}, %[[I:.*]] = stg.top_k A %[[P]] <"router">
  // BATCH: %[[Z:.*]], %{{.*}} = stg.z_loss %{{.*}} <"router.z_loss"> : !stg.tensor<[B, S, X], bf16>
  // BATCH: stg.auxiliary_loss 1/1000 %[[Z]]
  // BATCH: %[[C:.*]] = stg.count_indices %[[I]] {own} <"router.counts"> {{.*}} -> !stg.tensor<[X], f32>
  // BATCH: %[[L:.*]] = stg.balance_loss %[[P]], %[[C]] <"router.balance">
  // BATCH: stg.auxiliary_loss 1/100 %[[L]]
  // SEQUENCE: stg.top_k A
  // SEQUENCE: %[[C:.*]] = stg.count_indices %{{.*}} <"router.counts"> {{.*}} -> !stg.tensor<[B, X], f32>
  // SEQUENCE: stg.balance_loss %{{.*}}, %[[C]]
  // SEQUENCE: stg.auxiliary_loss W
  // NONE-NOT: auxiliary_loss 1/100 
  // NONE-COUNT-3: stg.auxiliary_loss 1/1000
  // NONE-NOT: auxiliary_loss 1/100 
  // MODEL-NOT: auxiliary_loss
  %p = stg.softmax %l : !logits
  %w, %i = stg.top_k A %p <"router"> : !probs
  %e = stg.dispatch %x, %i : !x, !choices -> !buffers
  // BATCH: stg.activation sigmoid
  // BATCH: %{{.*}}, %[[J:.*]] = stg.top_k A %{{.*}} <"sigmoids">
  // BATCH: stg.z_loss %arg1 <"sigmoids.z_loss">
  // BATCH: %[[SHARES:.*]], %{{.*}} = stg.divide_by_sum %{{.*}} <"sigmoids.shares">
  // BATCH: stg.balance_loss %[[SHARES]]
  %f = stg.cast %l : !logits -> !probs
  %s = stg.activation sigmoid %f : !probs
  %v, %j = stg.top_k A %s <"sigmoids"> : !probs
  %g = stg.dispatch %x, %j : !x, !choices -> !buffers
  // BATCH: stg.top_k A %[[F:.*]] <"chosen">
  // BATCH: stg.z_loss %arg1 <"chosen.z_loss">
  // BATCH: %[[SOFT:.*]] = stg.softmax %[[F]] <"chosen.shares">
  // BATCH: stg.balance_loss %[[SOFT]]
  %u, %k = stg.top_k A %f <"chosen"> : !probs
  %h = stg.dispatch %x, %k : !x, !choices -> !buffers
  // BATCH: stg.auxiliary_loss
  // BATCH-NOT: auxiliary_loss
  %t, %o = stg.top_k A %p <"sparse"> : !probs
  return %e, %g, %h, %o : !buffers, !buffers, !buffers, !choices
}

//--- loop.mlir
stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @X
stg.symbol @A
stg.symbol @L
!x = !stg.tensor<[B, S, D], bf16>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!probs = !stg.tensor<[B, S, X], f32>
!logits = !stg.tensor<[B, S, X], bf16>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>

// Each iteration adds to the objective: the mean over all tokens, times the weight. The counts are
// summed over the devices that divide the tokens of a sequence, not over those of the batch.
//
// CHECK: stg.repeat "layers" * L
// CHECK: %[[C:.*]] = stg.count_indices
// CHECK: stg.keep
// CHECK-NOT: stg.auxiliary_loss
// CHECK: stg.repeat "layers" * L reverse
// CHECK: %[[DL:.*]] = stg.splat 1/(100*B*S) : !stg.tensor<[B, S], f32>
// CHECK: %[[DP:.*]] = stg.balance_loss_grad %{{.*}}, %[[DL]] <"top_k.balance" bwd>
// CHECK: %[[DZ:.*]] = stg.splat 1/(1000*B*S) : !stg.tensor<[B, S], f32>
// CHECK: stg.z_loss_grad %{{.*}}, %{{.*}}, %[[DZ]] <"top_k.z_loss" bwd>
// CHECK: stg.add %[[DP]], %{{.*}} <"top_k" bwd add>
//
// COST: "top_k.z_loss.fwd"({{.*}}) ops(4*B*S*X + 3*B*S) bytes(2*B*S*X + 8*B*S)
// COST: "top_k.counts.fwd"({{.*}}) ops(A*B*S) bytes(4*A*B*S + 4*X)
// COST: "top_k.balance.fwd"({{.*}}) ops(2*B*S*X) bytes(4*B*S*X + 4*B*S + 4*X)
// COST: "top_k.balance.bwd"({{.*}}) ops(B*S*X)
// COST: "top_k.z_loss.bwd"({{.*}}) ops(3*B*S*X + 2*B*S)
//
// LOCAL: %[[C:.*]] = stg.count_indices {{.*}} -> !stg.tensor<[X], f32>
// LOCAL: %[[T:.*]] = stg.all_reduce sum over ["tp"] %[[C]]
// LOCAL: %[[A:.*]] = stg.all_reduce sum over ["cp"] %[[T]]
// LOCAL: stg.balance_loss %{{.*}}, %[[A]]
//
// GLOBAL: %[[C:.*]] = stg.count_indices {{.*}} -> !stg.tensor<[X], f32>
// GLOBAL: stg.all_reduce sum over ["cp", "dp"] %[[C]]
//
// EACH: %[[C:.*]] = stg.count_indices {{.*}} -> !stg.tensor<[B/2, X], f32>
// EACH: stg.all_reduce sum over ["cp"] %[[C]]
//
// INFERENCE-NOT: {{auxiliary_loss|balance|z_loss|count}}
func.func @f(%x: !x) -> !x {
  %y = stg.repeat "layers" * L carry(%h = %x : !x) {
    %r = stg.param "router" : !stg.tensor<[D, X], bf16>
    %l = stg.einsum "bsd,dx->bsx" %h, %r : !x, !stg.tensor<[D, X], bf16>
    %p = stg.softmax %l : !logits
    %w, %i = stg.top_k A %p : !probs
    %e = stg.dispatch %h, %i : !x, !choices -> !buffers
    %o = stg.combine %e, %i, %w : !buffers, !choices, !weights
    stg.yield %o : !x
  }
  return %y : !x
}

//--- frozen.mlir
// A loss that nothing trained has made is computed, and nothing goes back.
//
// CHECK-LABEL: func.func @f
// CHECK: %[[L:.*]] = stg.activation relu
// CHECK: stg.keep %[[L]]
// CHECK-NOT: activation_grad
// CHECK: return
stg.symbol @B
!x = !stg.tensor<[B], f32>
func.func @f(%x: !x) -> !x {
  %p = stg.param "p" : !x
  %l = stg.activation relu %x : !x
  stg.auxiliary_loss 2 %l : !x
  %y = stg.mul %x, %p : !x, !x
  return %y : !x
}
