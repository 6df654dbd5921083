// Ops of shapes, vectors of many rows, windows and positions, and their gradients, from the
// model to nodes: operations and bytes of one device of two that divide the batch.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @D
!x = !stg.tensor<[B, S, D], bf16>
!v = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// CHECK: chakra.comp "h.fwd"({{.*}}) ops(B*D*D*S) matrix bytes(2*B*D*S + 2*D*D) phase "fwd"
// CHECK: chakra.comp "u.fwd"({{.*}}) ops(B*D*D) matrix bytes(2*B*D + 2*D*D) phase "fwd"
// CHECK: chakra.comp "shift.fwd"({{.*}}) ops(B*D*S/2) bytes(2*B*D*S + B*D) phase "fwd"
// CHECK: chakra.comp "scale.fwd"({{.*}}) ops(B*D*S/2) bytes(2*B*D*S + B*D) phase "fwd"
// CHECK: chakra.comp "standardize.fwd"({{.*}}) ops(5*B*D*S/2 + 2*B*S) bytes(2*B*D*S + 4*B*S) phase "fwd"
// CHECK: chakra.comp "transpose.fwd"({{.*}}) ops(0) bytes(2*B*D*S) phase "fwd"
// CHECK: chakra.comp "slice.fwd"({{.*}}) ops(0) bytes(16*B*D) phase "fwd"
// CHECK: chakra.comp "pad.fwd"({{.*}}) ops(0) bytes(20*B*D) phase "fwd"
// CHECK: chakra.comp "sum.fwd"({{.*}}) ops(6*B*D) bytes(16*B*D) phase "fwd"
// CHECK: chakra.comp "mean.fwd"({{.*}}) ops(5*B*D/2) bytes(5*B*D) phase "fwd"
// CHECK: chakra.comp "mean.bwd"({{.*}}) ops(0) bytes(4*B*D) phase "bwd"
// CHECK: chakra.comp "sum.bwd"({{.*}}) ops(0) bytes(16*B*D) phase "bwd"
// CHECK: chakra.comp "pad.bwd"({{.*}}) ops(0) bytes(16*B*D) phase "bwd"
// CHECK: chakra.comp "slice.bwd"({{.*}}) ops(0) bytes(B*D*S + 8*B*D) phase "bwd"
// CHECK: chakra.comp "transpose.bwd"({{.*}}) ops(0) bytes(2*B*D*S) phase "bwd"
// CHECK: chakra.comp "standardize.bwd"({{.*}}) ops(4*B*D*S + B*S) bytes(3*B*D*S + 4*B*S) phase "bwd"
// CHECK: chakra.comp "scale.bwd.dlhs"({{.*}}) ops(B*D*S/2) bytes(2*B*D*S + B*D) phase "bwd"
// CHECK: chakra.comp "scale.bwd.drhs"({{.*}}) ops(B*D*S) bytes(2*B*D*S + B*D) phase "bwd"
// CHECK: chakra.comp "shift.bwd.db"({{.*}}) ops(B*D*S/2) bytes(B*D*S + B*D) phase "bwd"
// CHECK: chakra.comp "shift.bwd.add"({{.*}}) ops(B*D/2) bytes(3*B*D) phase "bwd"
// CHECK: chakra.comp "u.bwd.dw"({{.*}}) ops(B*D*D) matrix bytes(2*B*D + 4*D*D) phase "bwd"
// CHECK: chakra.coll all_reduce "u.bwd.dw.all_reduce"({{.*}}) over ["dp"] in_place phase "bwd"
// CHECK: chakra.comp "h.bwd.dw"({{.*}}) ops(B*D*D*S) matrix bytes(2*B*D*S + 4*D*D) phase "bwd"
// CHECK: chakra.coll all_reduce "h.bwd.dw.all_reduce"({{.*}}) over ["dp"] in_place phase "bwd"
// CHECK: chakra.comp "h.bwd.add"({{.*}}) ops(D*D) bytes(12*D*D) phase "bwd"
func.func @shapes(%x: !x, %v: !v) -> !v {
  %w = stg.param "w" : !w
  %h = stg.einsum "bsd,de->bse" %x, %w <"h"> : !x, !w
  %u = stg.einsum "bd,de->be" %v, %w <"u"> : !v, !w
  %a = stg.bias_add %h, %u {dims = array<i64: 0, 2>} <"shift"> : !x, !v
  %m = stg.mul_along %a, %u {dims = array<i64: 0, 2>} <"scale"> : !x, !v
  %n, %mean, %rstd = stg.layer_norm %m <"standardize"> : !x
  %r = stg.rearrange "b(nk)d->bn(kd)" %n <"merge"> : !x -> !stg.tensor<[B, S/4, 4*D], bf16>
  %t = stg.rearrange "bnd->bdn" %r <"transpose"> : !stg.tensor<[B, S/4, 4*D], bf16> -> !stg.tensor<[B, 4*D, S/4], bf16>
  %s = stg.slice dim 2 %t {from = #sym.expr<1>} <"slice"> : !stg.tensor<[B, 4*D, S/4], bf16> -> !stg.tensor<[B, 4*D, S = 2], bf16>
  %p = stg.pad dim 2 %s {from = #sym.expr<0>} <"pad"> : !stg.tensor<[B, 4*D, S = 2], bf16> -> !stg.tensor<[B, 4*D, S = 3], bf16>
  %e = stg.sum dim 2 %p <"sum"> : !stg.tensor<[B, 4*D, S = 3], bf16>
  %q = stg.rearrange "b(kd)->bkd" %e <"cut"> : !stg.tensor<[B, 4*D], bf16> -> !stg.tensor<[B, 4, D], bf16>
  %y = stg.mean dim 1 %q <"mean"> : !stg.tensor<[B, 4, D], bf16>
  return %y : !v
}
