// Slices by their numbers: what they cost, their gradient, and how they are divided. Where the
// dimension is divided each device gives the slices that it has, and the sum of all is read.
//
// RUN: stg-opt %s | stg-opt | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2 tp=2 rules=D:tp" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefix=WIDTH
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2 tp=2 rules=S:tp" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s --check-prefix=TOKENS

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @P "tokens that are predicted"
!x = !stg.tensor<[B, S, D], bf16>
!y = !stg.tensor<[B, P, D], bf16>
!places = !stg.tensor<[P], i32>

// CHECK: stg.gather dim 1 %{{.*}}, %{{.*}} : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[P], i32>
// Reads and writes P of S slices, and their numbers.
// COST: chakra.comp "gather.fwd"({{.*}}) ops(0) bytes(4*B*D*P + 4*P) phase "fwd"
// COST: chakra.comp "gather.bwd"({{.*}}) ops(B*D*P) bytes(2*B*D*P + 2*B*D*S + 4*P) phase "bwd"

// WIDTH: chakra.comp "gather.fwd"({{.*}}) bytes(B*D*P + 4*P) phase "fwd"
// WIDTH: chakra.comp "gather.bwd"({{.*}}) ops(B*D*P/4)

// A device reads no more than it gives.
// TOKENS: chakra.comp "gather.fwd"({{.*}}) bytes(2*B*D*P + 4*P) phase "fwd"
// TOKENS: chakra.coll all_reduce {{.*}} over ["tp"] {{.*}}phase "fwd"
// TOKENS: chakra.comp "gather.bwd"({{.*}}) ops(B*D*P/2) bytes(B*D*P + B*D*S/2 + 4*P)
func.func @f(%x: !x, %places: !places) -> !y {
  %w = stg.param "scale" : !stg.tensor<[D], bf16>
  %s = stg.einsum "bsd,d->bsd" %x, %w : !x, !stg.tensor<[D], bf16>
  %y = stg.gather dim 1 %s, %places : !x, !places
  %z = stg.activation relu %y : !y
  return %z : !y
}
