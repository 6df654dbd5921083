// What --stg-recompute replays of a layer of which parts are named.
//
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=selective modules=layernorm,mlp" | FileCheck %s
// RUN: stg-opt %s --stg-autodiff --stg-recompute="policy=selective modules=mlp ops=stg.activation" | FileCheck %s --check-prefix=MLP
// RUN: not stg-opt %s --stg-autodiff --stg-recompute="policy=selective modules=moe" 2>&1 | FileCheck %s --check-prefix=MOE
// RUN: not stg-opt %s --stg-autodiff --stg-recompute="policy=selective modules=experts" 2>&1 | FileCheck %s --check-prefix=WORD
// MOE: recompute-modules.mlir:[[#@LINE+40]]:1: error: no layer has 'moe', which is to be replayed; there are layernorm, mlp
// WORD: error: modules are 'experts', expected all, none, or any of core_attn, layernorm, mla_up_proj, moe_act, shared_experts, mlp or moe

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
stg.symbol @L

!x = !stg.tensor<[B, S, D], bf16>
!h = !stg.tensor<[B, S, F], bf16>
!v = !stg.tensor<[D], bf16>

// The input of the layer is all that is saved. The replay of the norm is before that of the
// network, which reads it. Nobody reads the output of that; it is sharded like its input.
//
// CHECK: %[[F:.*]]:2 = stg.repeat "layers" * L carry(%[[IN:[a-z0-9]+]] = {{.*}}) <fwd> {
// CHECK: stg.yield %{{[0-9]+}}, %[[IN]] :
// CHECK: stg.repeat "layers" * L reverse carry(%[[G:[a-z0-9_]+]] = {{.*}}) slices(%[[X:[a-z0-9_]+]] = %[[F]]#1 :
// CHECK: %[[N:.*]], %[[R:.*]] = stg.rms_norm %[[X]], %{{.*}} <"norm" recompute>
// CHECK: %[[U:.*]] = stg.einsum "bsd,df->bsf" %[[N]], %{{.*}} <"up" recompute>
// CHECK-NEXT: %[[A:.*]] = stg.activation gelu %[[U]] <"act" recompute>
// CHECK: %[[Y:.*]] = stg.einsum "bsf,fd->bsd" %[[A]], %{{.*}} <"down" recompute>
// CHECK-NEXT: stg.keep %[[Y]], %[[N]] :
// CHECK-NOT: recompute>
// CHECK: stg.einsum "bsd,fd->bsf" %[[G]], %{{.*}} <"down" bwd dx>
// CHECK: stg.einsum "bsf,bsd->fd" %[[A]], %[[G]] {into = f32} <"down" bwd dw>
// CHECK: stg.activation_grad gelu %[[U]],
// CHECK: stg.einsum "bsd,bsf->df" %[[N]], %{{.*}} <"up" bwd dw>
// CHECK: stg.rms_norm_grad %[[X]], %{{.*}}, %[[R]],
//
// Without the norm its output is saved, and with the network the activation, which is named
// once more, is replayed once.
//
// MLP: slices(
// MLP-NOT: <"norm" recompute>
// MLP: <"up" recompute>
// MLP: <"act" recompute>
// MLP: <"down" recompute>
// MLP-NOT: recompute>
func.func @layers(%x0: !x) -> !x {
  %y = stg.repeat "layers" * L carry(%x = %x0 : !x) {
    %g = stg.param "norm" : !v
    %n, %r = stg.rms_norm %x, %g <"norm"> : !x, !v
    %wu = stg.param "up" : !stg.tensor<[D, F], bf16>
    %u = stg.einsum "bsd,df->bsf" %n, %wu <"up"> : !x, !stg.tensor<[D, F], bf16>
    %a = stg.activation gelu %u <"act"> : !h
    %wd = stg.param "down" : !stg.tensor<[F, D], bf16>
    %d = stg.einsum "bsf,fd->bsd" %a, %wd <"down"> : !h, !stg.tensor<[F, D], bf16>
    %z = stg.add %x, %d <"residual"> : !x, !x
    stg.yield %z : !x
  }
  return %y : !x
}
