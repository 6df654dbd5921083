// Experts whose input is scaled, as in Llama 4: assembly, gradient and cost.
//
// RUN: stg-opt %s --verify-roundtrip --stg-autodiff | FileCheck %s
// RUN: stg-opt %s --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @X
stg.symbol @A

!in = !stg.tensor<[B, S], bf16>
!d = !stg.tensor<[D], bf16>
!r = !stg.tensor<[D, X], bf16>
!x = !stg.tensor<[B, S, D], bf16>
!logits = !stg.tensor<[B, S, X], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>

// The gradient of outputs that are added up is dispatched, that of scaled copies is combined.
//
// CHECK-LABEL: func.func @moe
// CHECK: %[[X:.*]] = stg.einsum "bs,d->bsd"
// CHECK: %[[W:.*]], %[[I:.*]] = stg.top_k
// CHECK: stg.dispatch %[[X]], %[[I]], %[[W]] <"dispatch" fwd> : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, A], i32>, !stg.tensor<[B, S, A], f32> -> !stg.tensor<[X, A*B*S/X, D], bf16>
// CHECK: stg.combine %{{.*}}, %[[I]] <"combine" fwd> : !stg.tensor<[X, A*B*S/X, D], bf16>, !stg.tensor<[B, S, A], i32>
// CHECK: %[[DY:.*]] = stg.splat
// CHECK: %[[DH:.*]] = stg.dispatch %[[DY]], %[[I]] <"combine" bwd>
// CHECK: %[[DX:.*]] = stg.combine %[[DH]], %[[I]], %[[W]] <"dispatch" bwd dlhs>
// CHECK: %[[DW:.*]] = stg.dispatch_weights_grad %[[DH]], %[[I]], %[[X]] <"dispatch" bwd drhs> : !stg.tensor<[X, A*B*S/X, D], bf16>, !stg.tensor<[B, S, A], i32>, !stg.tensor<[B, S, D], bf16> -> !stg.tensor<[B, S, A], f32>
// CHECK: stg.top_k_grad %[[I]], %[[DW]]
//
// COST: comp "dispatch.fwd"({{.*}}) ops(A*B*D*S) bytes(4*A*B*D*S + 8*A*B*S)
// COST: comp "combine.fwd"({{.*}}) ops(A*B*D*S) bytes(2*A*B*D*S + 4*A*B*S + 2*B*D*S)
// COST: comp "combine.bwd"({{.*}}) ops(0) bytes(4*A*B*D*S + 4*A*B*S)
// COST: comp "dispatch.bwd.dlhs"({{.*}}) ops(2*A*B*D*S)
// COST: comp "dispatch.bwd.drhs"({{.*}}) ops(2*A*B*D*S) bytes(2*A*B*D*S + 8*A*B*S + 2*B*D*S)
func.func @moe(%in: !in {stg.name = "in"}) -> !x {
  %e = stg.param "e" : !d
  %x = stg.einsum "bs,d->bsd" %in, %e <"x"> : !in, !d
  %router = stg.param "router" : !r
  %l = stg.einsum "bsd,dx->bsx" %x, %router <"router"> : !x, !r
  %p = stg.softmax %l <"softmax"> : !logits
  %w, %i = stg.top_k A %p <"top_k"> : !probs
  %rows = stg.dispatch %x, %i, %w <"dispatch" fwd> : !x, !choices, !weights -> !buffers
  %y = stg.combine %rows, %i <"combine"> : !buffers, !choices
  return %y : !x
}
