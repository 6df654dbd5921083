// Activations with learned numbers, and limits of values: assembly, costs, gradients of what is
// read alone, and shards. The numbers are on every device, and their gradient is a partial sum.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="tp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefix=SHARDS

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @F
!x = !stg.tensor<[B, S, D], bf16>
!h = !stg.tensor<[B, S, F], bf16>
!w = !stg.tensor<[D, F], bf16>
!v = !stg.tensor<[F, D], bf16>
!two = !stg.tensor<[2], bf16>
!one = !stg.tensor<[1], bf16>

// CHECK: stg.learned_activation xielu %{{.*}}, %{{.*}} : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[2], bf16>
// CHECK: stg.learned_activation prelu %{{.*}}, %{{.*}} : !stg.tensor<[B, S, F], bf16>, !stg.tensor<[1], bf16>
// CHECK: stg.clamp %{{.*}} : !stg.tensor<[B, S, F], bf16>
//
// COST: comp "xielu.fwd"({{.*}}) ops(8*B*F*S) bytes(4*B*F*S + 4) phase "fwd"
// COST: comp "prelu.fwd"({{.*}}) ops(2*B*F*S) bytes(4*B*F*S + 2) phase "fwd"
// COST: comp "clamp.fwd"({{.*}}) ops(2*B*F*S) bytes(4*B*F*S) phase "fwd"
// COST: comp "clamp.bwd"({{.*}}) ops(3*B*F*S) bytes(6*B*F*S) phase "bwd"
// COST: comp "prelu.bwd"({{.*}}) ops(4*B*F*S) bytes(6*B*F*S + 6) phase "bwd"
// COST: comp "xielu.bwd"({{.*}}) ops(10*B*F*S) bytes(6*B*F*S + 12) phase "bwd"
//
// SHARDS: comp "xielu.fwd"({{.*}}) ops(4*B*F*S) bytes(2*B*F*S + 4) phase "fwd"
// SHARDS: comp "clamp.fwd"({{.*}}) ops(B*F*S) bytes(2*B*F*S) phase "fwd"
// SHARDS: comp "prelu.bwd"({{.*}}) ops(2*B*F*S) bytes(3*B*F*S + 6) phase "bwd"
// SHARDS: all_reduce "prelu.bwd.all_reduce"({{.*}}) over ["tp"]
// SHARDS: comp "xielu.bwd"({{.*}}) ops(5*B*F*S) bytes(3*B*F*S + 12) phase "bwd"
// SHARDS: all_reduce "xielu.bwd.all_reduce"({{.*}}) over ["tp"]
func.func @network(%x: !x) -> !x {
  %w = stg.param "w" : !w
  %h = stg.einsum "bsd,df->bsf" %x, %w : !x, !w
  %a = stg.param "a" : !two
  %g = stg.learned_activation xielu %h, %a <"xielu"> : !h, !two
  %b = stg.param "b" : !one
  %p = stg.learned_activation prelu %g, %b <"prelu"> : !h, !one
  %c = stg.clamp %p <"clamp"> : !h
  %v = stg.param "v" : !v
  %y = stg.einsum "bsf,fd->bsd" %c, %v : !h, !v
  return %y : !x
}
