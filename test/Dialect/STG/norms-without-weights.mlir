// Norms without weights, or without a bias: assembly, cost and gradient.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

stg.symbol @B
stg.symbol @D

!in = !stg.tensor<[B], bf16>
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D], bf16>

// CHECK-LABEL: func.func @norms
// CHECK: stg.rms_norm %{{.*}} <"rms"> : !stg.tensor<[B, D], bf16>
// CHECK: stg.layer_norm %{{.*}} <"bare"> : !stg.tensor<[B, D], bf16>
// CHECK: stg.layer_norm %{{.*}}, %{{.*}} <"unbiased"> : !stg.tensor<[B, D], bf16>, !stg.tensor<[D], bf16>
//
// COST: comp "rms.fwd"({{.*}}) ops(3*B*D + 3*B) bytes(4*B*D + 4*B)
// COST: comp "bare.fwd"({{.*}}) ops(5*B*D + 4*B) bytes(4*B*D + 8*B)
// COST: comp "unbiased.fwd"({{.*}}) ops(6*B*D + 4*B) bytes(4*B*D + 8*B + 2*D)
// COST: comp "unbiased.bwd"({{.*}}) ops(11*B*D + 2*B) bytes(4*B*D + 8*B + 6*D) phase "bwd"
// COST: comp "bare.bwd"({{.*}}) ops(8*B*D + 2*B) bytes(6*B*D + 8*B) phase "bwd"
// COST: comp "rms.bwd"({{.*}}) ops(6*B*D + B) bytes(6*B*D + 4*B) phase "bwd"
func.func @norms(%in: !in {stg.name = "in"}) -> !x {
  %w = stg.param "w" : !w
  %x = stg.einsum "b,d->bd" %in, %w <"x"> : !in, !w
  %y, %r = stg.rms_norm %x <"rms"> : !x
  %z, %mean, %s = stg.layer_norm %y <"bare"> : !x
  %v = stg.param "v" : !w
  %u, %n, %t = stg.layer_norm %z, %v <"unbiased"> : !x, !w
  return %u : !x
}
