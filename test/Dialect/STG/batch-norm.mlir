// Normalization over a batch and its gradient, of a device that has half of the samples and half
// of the channels: statistics are its own, gradients of the parameters are summed over samples.
// Of what no parameter needs, no gradient is made.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2 tp=2 rules=C:tp" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
stg.symbol @C
!image = !stg.tensor<[B, 4, 4, C], bf16>
!vector = !stg.tensor<[C], bf16>

// CHECK: chakra.comp "first.fwd"({{.*}}) ops(28*B*C + 2*C) bytes(16*B*C + 2*C) phase "fwd"
// CHECK: chakra.comp "second.fwd"({{.*}}) ops(28*B*C + 2*C) bytes(16*B*C + 2*C) phase "fwd"
// CHECK-NOT: coll
// CHECK: chakra.comp "second.bwd"({{.*}}) ops(60*B*C + 3*C) bytes(16*B*C + 5*C) phase "bwd"
// CHECK: chakra.comp "first.bwd"({{.*}}) ops(32*B*C + 2*C) bytes(16*B*C + 5*C) phase "bwd"
// CHECK: chakra.coll all_reduce {{.*}} over ["dp"] in_place phase "bwd"
func.func @f(%x: !image) -> !image {
  %w1 = stg.param "first.weight" : !vector
  %b1 = stg.param "first.bias" : !vector
  %y = stg.batch_norm %x, %w1, %b1 <"first"> : !image, !vector, !vector
  %w2 = stg.param "second.weight" : !vector
  %b2 = stg.param "second.bias" : !vector
  %z = stg.batch_norm %y, %w2, %b2 <"second"> : !image, !vector, !vector
  return %z : !image
}
