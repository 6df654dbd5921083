// The backward pass of a mixture of experts, and what its ops cost.
//
// RUN: stg-opt %s --split-input-file --stg-autodiff | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @X
stg.symbol @A

!x = !stg.tensor<[B, S, D], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>
!hidden = !stg.tensor<[X, A*B*S/X, F], bf16>

// Backward reads the softmax, the choice, the weights, the rows of the experts, gate and
// up, their product and the experts' outputs.
//
// CHECK-LABEL: func.func @moe
// CHECK: %[[P:.*]] = stg.softmax
// CHECK: %[[W:.*]], %[[I:.*]] = stg.top_k
// CHECK: %[[ROWS:.*]] = stg.dispatch
// CHECK: %[[UP:.*]] = stg.param "up"
// CHECK: %[[GU:.*]] = stg.einsum "xcd,xdgf->xcgf" %[[ROWS]], %[[UP]]
// CHECK: %[[H:.*]] = stg.glu
// CHECK: %[[DOWN:.*]] = stg.param "down"
// CHECK: %[[OUT:.*]] = stg.einsum "xcf,xfd->xcd" %[[H]], %[[DOWN]]
// CHECK: %[[DY:.*]] = stg.splat
// CHECK: %[[DOUT:.*]], %[[DW:.*]] = stg.combine_grad %[[OUT]], %[[I]], %[[W]], %[[DY]] <"combine" bwd>
// CHECK: %[[DH:.*]] = stg.einsum "xcd,xfd->xcf" %[[DOUT]], %[[DOWN]] {{.*}} dx>
// CHECK: %[[DDOWN:.*]] = stg.einsum "xcf,xcd->xfd" %[[H]], %[[DOUT]] {into = f32} <{{.*}} dw>
// CHECK: %[[DGU:.*]] = stg.glu_grad silu %[[GU]], %[[DH]]
// CHECK: %[[DROWS:.*]] = stg.einsum "xcgf,xdgf->xcd" %[[DGU]], %[[UP]] {{.*}} dx>
// CHECK: %[[DUP:.*]] = stg.einsum "xcd,xcgf->xdgf" %[[ROWS]], %[[DGU]] {into = f32} <{{.*}} dw>
// CHECK: %[[DX:.*]] = stg.dispatch_grad %[[DROWS]], %[[I]] <"dispatch" bwd> {{.*}} -> !stg.tensor<[B, S, D], bf16>
// CHECK: %[[DP:.*]] = stg.top_k_grad %[[I]], %[[DW]] <"top_k" bwd> {{.*}} -> !stg.tensor<[B, S, X], f32>
// CHECK: %[[DL:.*]] = stg.softmax_grad %[[P]], %[[DP]] <"softmax" bwd> {{.*}} -> !stg.tensor<[B, S, X], bf16>
// CHECK: stg.einsum "bsx,dx->bsd" %[[DL]], %{{.*}} {{.*}} dx>
// CHECK: %[[DROUTER:.*]] = stg.einsum "bsd,bsx->dx" %{{.*}}, %[[DL]] {into = f32} <{{.*}} dw>
// CHECK: return %{{.*}}, %{{.*}}, %[[DROUTER]], %[[DUP]], %[[DDOWN]]
//
// A product of experts is one matrix product with the rows of all experts. It reads the weights of
// those that have a row.
//
// COST: comp "softmax.fwd"(%{{.*}}) ops(5*B*S*X) bytes(6*B*S*X)
// COST: comp "top_k.fwd"(%{{.*}}) ops(A*B*S*X) bytes(8*A*B*S + 4*B*S*X)
// COST: comp "dispatch.fwd"(%{{.*}}) ops(0) bytes(4*A*B*D*S + 4*A*B*S)
// COST: comp "up.fwd"(%{{.*}}) ops(4*A*B*D*F*S) matrix bytes(2*A*B*D*S + 4*A*B*F*S + 4*D*F*min(A*B*S, X))
// COST: comp "glu.fwd"(%{{.*}}) ops(5*A*B*F*S) bytes(6*A*B*F*S)
// COST: comp "down.fwd"(%{{.*}}) ops(2*A*B*D*F*S) matrix
// COST: comp "combine.fwd"(%{{.*}}) ops(2*A*B*D*S) bytes(2*A*B*D*S + 8*A*B*S + 2*B*D*S)
// COST: comp "combine.bwd"(%{{.*}}) ops(3*A*B*D*S) bytes(4*A*B*D*S + 12*A*B*S)
// COST: comp "down.bwd.dx"(%{{.*}}) ops(2*A*B*D*F*S) matrix
// COST: comp "down.bwd.dw"(%{{.*}}) ops(2*A*B*D*F*S) matrix
// COST: comp "up.bwd.dx"(%{{.*}}) ops(4*A*B*D*F*S) matrix
// COST: comp "up.bwd.dw"(%{{.*}}) ops(4*A*B*D*F*S) matrix
// COST: comp "dispatch.bwd"(%{{.*}}) ops(A*B*D*S) bytes(2*A*B*D*S + 4*A*B*S + 2*B*D*S)
// COST: comp "top_k.bwd"(%{{.*}}) ops(0) bytes(8*A*B*S + 4*B*S*X)
// COST: comp "softmax.bwd"(%{{.*}}) ops(4*B*S*X) bytes(10*B*S*X)
func.func @moe(%in: !x) -> !x {
  %wi = stg.param "in" : !stg.tensor<[D], bf16>
  %x, %rstd = stg.rms_norm %in, %wi <"in"> : !x, !stg.tensor<[D], bf16>
  %wr = stg.param "router" : !stg.tensor<[D, X], bf16>
  %logits = stg.einsum "bsd,dx->bsx" %x, %wr <"router"> : !x, !stg.tensor<[D, X], bf16>
  %p = stg.softmax %logits <"softmax"> : !stg.tensor<[B, S, X], bf16>
  %w, %i = stg.top_k A %p <"top_k"> : !probs
  %rows = stg.dispatch %x, %i <"dispatch"> : !x, !choices -> !buffers
  %wu = stg.param "up" : !stg.tensor<[X, D, 2, F], bf16>
  %u = stg.einsum "xcd,xdgf->xcgf" %rows, %wu <"up"> : !buffers, !stg.tensor<[X, D, 2, F], bf16>
  %h = stg.glu silu %u <"glu"> : !stg.tensor<[X, A*B*S/X, 2, F], bf16>
  %wd = stg.param "down" : !stg.tensor<[X, F, D], bf16>
  %o = stg.einsum "xcf,xfd->xcd" %h, %wd <"down"> : !hidden, !stg.tensor<[X, F, D], bf16>
  %c = stg.combine %o, %i, %w <"combine"> : !buffers, !choices, !weights
  return %c : !x
}

// -----
stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @X
stg.symbol @A

!x = !stg.tensor<[B, S, D], bf16>
!probs = !stg.tensor<[B, S, X], f32>
!weights = !stg.tensor<[B, S, A], f32>
!choices = !stg.tensor<[B, S, A], i32>
!buffers = !stg.tensor<[X, A*B*S/X, D], bf16>

// Weights that depend on no parameter have no gradient.
//
// CHECK-LABEL: func.func @constant_weights
// CHECK-NEXT: %[[W:.*]], %[[I:.*]] = stg.top_k A %{{.*}} <
// CHECK-NEXT: %[[T:.*]] = stg.dispatch %{{.*}}, %[[I]] <
// CHECK: %[[Y:.*]] = stg.einsum "xcd,xde->xce" %[[T]],
// CHECK-NEXT: %[[R:.*]] = stg.combine %[[Y]], %[[I]], %[[W]] <
// CHECK-NEXT: %[[DR:.*]] = stg.splat 1/(B*D*S)
// CHECK-NEXT: %[[DY:.*]], %{{.*}} = stg.combine_grad %[[Y]], %[[I]], %[[W]], %[[DR]] <
// CHECK-NEXT: %[[DW:.*]] = stg.einsum "xcd,xce->xde" %[[T]], %[[DY]] {into = f32} <
// CHECK-NEXT: return %[[R]], %[[DW]]
func.func @constant_weights(%x: !x, %p: !probs) -> !x {
  %w, %i = stg.top_k A %p <"top_k"> : !probs
  %rows = stg.dispatch %x, %i <"dispatch"> : !x, !choices -> !buffers
  %wd = stg.param "expert" : !stg.tensor<[X, D, D], bf16>
  %o = stg.einsum "xcd,xde->xce" %rows, %wd <"expert"> : !buffers, !stg.tensor<[X, D, D], bf16>
  %c = stg.combine %o, %i, %w <"combine"> : !buffers, !choices, !weights
  return %c : !x
}
