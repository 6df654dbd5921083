// Backward passes of ops that go over tokens, and what they execute: of scans twice as much as
// forward; a convolution has one op for its input and one for its weights.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @P
stg.symbol @N

!in = !stg.tensor<[B, S], bf16>
!h = !stg.tensor<[B, S, H, P], bf16>
!t = !stg.tensor<[B, S, H], bf16>
!n = !stg.tensor<[B, S, N], bf16>
!e = !stg.tensor<[H], bf16>
!w = !stg.tensor<[H, P], bf16>
!cw = !stg.tensor<[H, P, 4], bf16>

// CHECK-LABEL: func.func @mixer
// CHECK: %[[U:.*]] = stg.causal_conv
// CHECK: %[[Y:.*]] = stg.ssd S
// CHECK: %[[O:.*]], %[[R:.*]] = stg.gated_norm %[[Y]], %[[U]]
// CHECK: %[[SEED:.*]] = stg.splat
// CHECK: %[[DN:.*]], %[[DG:.*]], %{{.*}} = stg.gated_norm_grad %[[Y]], %[[U]], %{{.*}}, %[[R]], %[[SEED]] <"norm" bwd>
// CHECK: %[[DX:.*]], %ddt, %da, %db, %dc, %dd = stg.ssd_grad S %[[U]], {{.*}}, %[[DN]] <"ssd" bwd>
// CHECK: %[[DU:.*]] = stg.add %[[DG]], %[[DX]]
// CHECK: stg.causal_conv %[[DU]], %{{.*}} {reversed} <"conv" bwd dx>
// CHECK: stg.causal_conv_weight_grad %{{.*}}, %[[DU]] <"conv" bwd dw> : !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, H, P], bf16> -> !stg.tensor<[H, P, 4], f32>
//
// COST: comp "conv.fwd"({{.*}}) ops(8*B*H*P*S) bytes(4*B*H*P*S + 8*H*P)
// COST: comp "ssd.fwd"({{.*}}) ops({{.*}}) matrix
// COST: comp "norm.fwd"({{.*}}) ops(9*B*H*P*S + 3*B*S) bytes(6*B*H*P*S + 4*B*S + 2*H*P)
// COST: comp "norm.bwd"({{.*}}) ops(23*B*H*P*S + B*S) bytes(8*B*H*P*S + 4*B*S + 6*H*P)
// COST: comp "conv.bwd.dx"({{.*}}) ops(8*B*H*P*S) bytes(4*B*H*P*S + 8*H*P)
// COST: comp "conv.bwd.dw"({{.*}}) ops(8*B*H*P*S) bytes(4*B*H*P*S + 16*H*P)
func.func @mixer(%in: !in {stg.name = "in"}) -> !h {
  %p = stg.param "p" : !w
  %x = stg.einsum "bs,hp->bshp" %in, %p <"x"> : !in, !w
  %pt = stg.param "pt" : !e
  %t = stg.einsum "bs,h->bsh" %in, %pt <"t"> : !in, !e
  %pn = stg.param "pn" : !stg.tensor<[N], bf16>
  %n = stg.einsum "bs,n->bsn" %in, %pn <"n"> : !in, !stg.tensor<[N], bf16>
  %cw = stg.param "cw" : !cw
  %u = stg.causal_conv %x, %cw <"conv"> : !h, !cw
  %a = stg.param "a" : !e
  %d = stg.param "d" : !e
  %y = stg.ssd S %u, %t, %a, %n, %n, %d : !h, !t, !e, !n, !n, !e
  %w = stg.param "w" : !w
  %o, %r = stg.gated_norm %y, %u, %w <"norm"> : !h, !h, !w -> !h, !stg.tensor<[B, S], f32>
  return %o : !h
}
