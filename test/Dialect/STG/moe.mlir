// Ops of mixtures of experts: assembly and inferred types.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @X
stg.symbol @A

!x = !stg.tensor<[B, S, D], bf16>
!logits = !stg.tensor<[B, S, X], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>

// CHECK-LABEL: func.func @forward
func.func @forward(%x: !x, %logits: !logits) -> (!x, !choices) {
  // CHECK: %[[P:.*]] = stg.softmax %{{.*}} : !stg.tensor<[B, S, X], bf16>{{$}}
  %p = stg.softmax %logits : !logits
  // CHECK: %[[W:.*]], %[[I:.*]] = stg.top_k A %[[P]] : !stg.tensor<[B, S, X], f32>{{$}}
  %w, %i = stg.top_k A %p : !probs
  // CHECK: %[[E:.*]] = stg.dispatch %{{.*}}, %[[I]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, A], i32> -> !stg.tensor<[X, A*B*S/X, D], bf16>
  %e = stg.dispatch %x, %i : !x, !choices -> !buffers
  // CHECK: %[[Y:.*]] = stg.combine %[[E]], %[[I]], %[[W]] : !stg.tensor<[X, A*B*S/X, D], bf16>, !stg.tensor<[B, S, A], i32>, !stg.tensor<[B, S, A], f32>{{$}}
  %y = stg.combine %e, %i, %w : !buffers, !choices, !weights
  // CHECK: return %[[Y]], %[[I]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, A], i32>
  return %y, %i : !x, !choices
}

// CHECK-LABEL: func.func @backward
func.func @backward(%p: !probs, %w: !weights, %i: !choices, %h: !buffers, %dy: !x) -> (!x, !logits) {
  // CHECK: %[[DH:.*]], %[[DW:.*]] = stg.combine_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !stg.tensor<[X, A*B*S/X, D], bf16>, !stg.tensor<[B, S, A], i32>, !stg.tensor<[B, S, A], f32>, !stg.tensor<[B, S, D], bf16>{{$}}
  %dh, %dw = stg.combine_grad %h, %i, %w, %dy : !buffers, !choices, !weights, !x
  // CHECK: %[[DX:.*]] = stg.dispatch_grad %[[DH]], %{{.*}} : !stg.tensor<[X, A*B*S/X, D], bf16>, !stg.tensor<[B, S, A], i32> -> !stg.tensor<[B, S, D], bf16>
  %dx = stg.dispatch_grad %dh, %i : !buffers, !choices -> !x
  // CHECK: %[[DP:.*]] = stg.top_k_grad %{{.*}}, %[[DW]] : !stg.tensor<[B, S, A], i32>, !stg.tensor<[B, S, A], f32> -> !stg.tensor<[B, S, X], f32>
  %dp = stg.top_k_grad %i, %dw : !choices, !weights -> !probs
  // CHECK: %[[DL:.*]] = stg.softmax_grad %{{.*}}, %[[DP]] : !stg.tensor<[B, S, X], f32>, !stg.tensor<[B, S, X], f32> -> !stg.tensor<[B, S, X], bf16>
  %dl = stg.softmax_grad %p, %dp : !probs, !probs -> !logits
  // CHECK: return %[[DX]], %[[DL]]
  return %dx, %dl : !x, !logits
}

// k is a number, or the only element is taken.
//
// CHECK-LABEL: func.func @numbers
func.func @numbers(%p: !stg.tensor<[5, 8], bf16>, %q: !stg.tensor<[1], f32>) {
  // CHECK: stg.top_k 2 %{{.*}} : !stg.tensor<[5, 8], bf16>{{$}}
  %w, %i = stg.top_k 2 %p : !stg.tensor<[5, 8], bf16>
  // CHECK: stg.top_k 1 %{{.*}} : !stg.tensor<[1], f32>{{$}}
  %v, %j = stg.top_k 1 %q : !stg.tensor<[1], f32>
  return
}
