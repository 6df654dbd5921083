// Normalization of groups of channels and its gradient, of a device that has half of the samples:
// gradients of the parameters are summed over samples. Of what no parameter needs, no gradient is
// made. Channels are whole, whatever a rule says.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-apply-preset="tp=2 rules=C:tp" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives | FileCheck %s --check-prefix=WHOLE

stg.symbol @B
stg.symbol @C
stg.symbol @G
!image = !stg.tensor<[B, 4, 4, C], bf16>
!vector = !stg.tensor<[C], bf16>

// CHECK: chakra.comp "first.fwd"({{.*}}) ops(56*B*C + 2*B*G) bytes(32*B*C + 4*B*G + 4*C) phase "fwd"
// CHECK: chakra.comp "second.fwd"({{.*}}) ops(56*B*C + 2*B*G)
// CHECK: chakra.comp "second.bwd"({{.*}}) ops(96*B*C + B*G) bytes(32*B*C + 4*B*G + 10*C) phase "bwd"
// CHECK: chakra.comp "first.bwd"({{.*}}) ops(40*B*C)
// CHECK: chakra.coll all_reduce {{.*}} over ["dp"]
// WHOLE: stg.all_gather
// WHOLE: stg.group_norm {{.*}} {groups = #sym.expr<G>} <"first"> : !stg.tensor<[B, 4, 4, C], bf16>
func.func @f(%x: !image) -> !image {
  %w1 = stg.param "first.weight" : !vector
  %b1 = stg.param "first.bias" : !vector
  %y, %mean1, %rstd1 = stg.group_norm %x, %w1, %b1 {groups = #sym.expr<G>} <"first"> : !image, !vector, !vector
  %w2 = stg.param "second.weight" : !vector
  %b2 = stg.param "second.bias" : !vector
  %z, %mean2, %rstd2 = stg.group_norm %y, %w2, %b2 {groups = #sym.expr<G>} <"second"> : !image, !vector, !vector
  return %z : !image
}
