// A mixture of experts on a mesh: tokens go to their experts by an all-to-all, as in
// Megatron-LM. A shared expert beside it, whose tokens stay where they are.
//
// RUN: stg-opt %s --stg-autodiff --stg-apply-preset="dp=8 ep=4 tp=2 cp=2 sequence-parallel" \
// RUN:   --stg-propagate-shardings -o %t.plan.mlir
// RUN: FileCheck %s --check-prefix=PLAN < %t.plan.mlir
// RUN: stg-opt %t.plan.mlir --stg-insert-collectives -o %t.local.mlir
// RUN: grep -c all_to_all %t.local.mlir | FileCheck %s --check-prefix=AGAIN
// RUN: stg-opt %t.local.mlir --stg-simplify-collectives | FileCheck %s
//
// Where experts are not sharded, no token moves; cp divides tokens like dp.
// RUN: stg-opt %s --stg-autodiff --stg-apply-preset="dp=8 cp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefix=DATA

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

// The experts are over ep; the router, which works on tokens of all ep ranks, is not. The
// rows of the buffers are over all axes of the tokens but ep.
//
// PLAN: stg.param "router" : !stg.tensor<[D, X], bf16>
// PLAN: stg.dispatch {{.*}}factors = #stg.factors<d0 : (edp, ep), d1 : (cp, tp)>
// PLAN-SAME: -> !stg.tensor<[X : ep, A*B*S/X : (edp, cp, tp), D], bf16>
// PLAN: stg.einsum "xcd,xdf->xcf" {{.*}}factors = #stg.factors<c : (edp, cp), f : tp, x : ep>
// PLAN: stg.einsum "xcf,xfd->xcd" {{.*}}factors = #stg.factors<c : (edp, cp), f : tp, x : ep>
// PLAN: stg.combine {{.*}} -> !stg.tensor<[B : (edp, ep), S : (cp, tp), D], bf16>
//
// Backward exchanges the experts' outputs again: 5 all-to-alls. What forward exchanged
// is kept instead: 4. So are the rows that it gathered over tp.
// AGAIN: {{^}}5{{$}}
//
// CHECK: stg.repeat "layers"
// CHECK: %[[ROWS:.*]] = stg.dispatch {{.*}} -> !stg.tensor<[X, A*B*S/(32*X), D], bf16>
// CHECK-NEXT: %[[SENT:.*]] = stg.all_to_all from 1 to 0 over ["ep"] %[[ROWS]] <"dispatch" fwd> : !stg.tensor<[X, A*B*S/(32*X), D], bf16> -> !stg.tensor<[X/4, A*B*S/(8*X), D], bf16>
// CHECK: %[[ALL:.*]] = stg.all_gather dim 1 over ["tp"] %[[SENT]]
// CHECK: %[[H:.*]] = stg.einsum "xcd,xdf->xcf" %[[ALL]]
// CHECK: %[[PART:.*]] = stg.einsum "xcf,xfd->xcd" %[[H]]
// CHECK-NEXT: %[[OUT:.*]] = stg.reduce_scatter dim 1 over ["tp"] %[[PART]]
// CHECK-NEXT: %[[BACK:.*]] = stg.all_to_all from 0 to 1 over ["ep"] %[[OUT]] {{.*}} -> !stg.tensor<[X, A*B*S/(32*X), D], bf16>
// CHECK-NEXT: stg.combine %[[BACK]]
// CHECK: stg.all_gather dim 1 over ["tp"] {{.*}}<"shared_up"
// CHECK: stg.reduce_scatter dim 1 over ["tp"] {{.*}}<"shared_down"
// CHECK: stg.yield {{.*}}%[[BACK]], %[[ALL]] :
// CHECK: stg.repeat "layers" {{.*}} reverse {{.*}}%[[SAVED:[a-z_0-9]*]] = %{{[0-9]+#[0-9]+}} : !stg.tensor<[layers = L, X, A*B*S/(32*X), D], bf16>, %[[KEPT:[a-z_0-9]*]] = %{{[0-9]+#[0-9]+}} : !stg.tensor<[layers = L, X/4, A*B*S/(4*X), D], bf16>)
// CHECK: %[[DBACK:.*]], %{{.*}} = stg.combine_grad %[[SAVED]]
// CHECK-NEXT: %[[DOUT:.*]] = stg.all_to_all from 1 to 0 over ["ep"] %[[DBACK]]
// CHECK: stg.all_gather dim 1 over ["tp"] %[[DOUT]]
// CHECK: %[[DPART:.*]] = stg.einsum "xcf,xdf->xcd"
// CHECK-NEXT: %[[DSENT:.*]] = stg.reduce_scatter dim 1 over ["tp"] %[[DPART]]
// CHECK-NEXT: stg.einsum "xcd,xcf->xdf" %[[KEPT]],
// CHECK: %[[DROWS:.*]] = stg.all_to_all from 0 to 1 over ["ep"] %[[DSENT]]
// CHECK-NEXT: stg.dispatch_grad %[[DROWS]]
// CHECK-NOT: stg.all_to_all
//
// Gradients of experts are reduced among the ranks that hold the same experts.
// CHECK: stg.all_reduce sum over ["tp"] {{.*}} : !stg.tensor<[layers = L, D, X], f32>
// CHECK-NEXT: stg.all_reduce sum over ["cp", "ep", "edp"] {{.*}} : !stg.tensor<[layers = L, D, X], f32>
// CHECK-NEXT: stg.all_reduce sum over ["cp", "edp"] {{.*}} : !stg.tensor<[layers = L, X/4, D, F/2], f32>
// CHECK-NEXT: stg.all_reduce sum over ["cp", "edp"] {{.*}} : !stg.tensor<[layers = L, X/4, F/2, D], f32>
// CHECK-NEXT: stg.all_reduce sum over ["cp", "ep", "edp"] {{.*}} : !stg.tensor<[layers = L, D, F/2], f32>
//
// DATA-NOT: stg.all_to_all
// DATA: stg.dispatch {{.*}} -> !stg.tensor<[X, A*B*S/(16*X), D], bf16>
// DATA-NOT: stg.all_to_all
stg.symbol @L
func.func @layers(%in: !x) -> !x {
  %out = stg.repeat "layers" * L carry(%x = %in : !x) {
    %wr = stg.param "router" : !stg.tensor<[D, X], bf16>
    %logits = stg.einsum "bsd,dx->bsx" %x, %wr <"router"> : !x, !stg.tensor<[D, X], bf16>
    %p = stg.softmax %logits <"softmax"> : !stg.tensor<[B, S, X], bf16>
    %w, %i = stg.top_k A %p <"top_k"> : !probs
    %rows = stg.dispatch %x, %i <"dispatch"> : !x, !choices -> !buffers
    %wu = stg.param "up" : !stg.tensor<[X, D, F], bf16>
    %h = stg.einsum "xcd,xdf->xcf" %rows, %wu <"up"> : !buffers, !stg.tensor<[X, D, F], bf16>
    %wd = stg.param "down" : !stg.tensor<[X, F, D], bf16>
    %o = stg.einsum "xcf,xfd->xcd" %h, %wd <"down"> : !hidden, !stg.tensor<[X, F, D], bf16>
    %c = stg.combine %o, %i, %w <"combine"> : !buffers, !choices, !weights
    %ws = stg.param "shared_up" : !stg.tensor<[D, F], bf16>
    %s = stg.einsum "bsd,df->bsf" %x, %ws <"shared_up"> : !x, !stg.tensor<[D, F], bf16>
    %wt = stg.param "shared_down" : !stg.tensor<[F, D], bf16>
    %t = stg.einsum "bsf,fd->bsd" %s, %wt <"shared_down"> : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[F, D], bf16>
    %u = stg.add %c, %t <"sum"> : !x, !x
    %y = stg.add %x, %u <"residual"> : !x, !x
    stg.yield %y : !x
  }
  return %out : !x
}
