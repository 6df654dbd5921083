// Casts: their text, their gradients and what they cost.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s --check-prefix=TEXT
// RUN: stg-opt %s --stg-name-ops --stg-autodiff | FileCheck %s --check-prefix=GRAD
// RUN: stg-opt %s --stg-name-ops --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

!x = !stg.tensor<[4, 8], bf16>
!w = !stg.tensor<[8, 2], f32>
!v = !stg.tensor<[8, 2], bf16>

// TEXT: stg.cast %{{.*}} : !stg.tensor<[8, 2], f32> -> !stg.tensor<[8, 2], bf16>
// TEXT: stg.cast %{{.*}} : !stg.tensor<[4, 2], bf16> -> !stg.tensor<[4, 2], f32>

// The parameter is cast again for backward, the gradient of the result is cast back, and
// that of the parameter has its own type.
// GRAD: %[[SEED:.*]] = stg.splat 1/8 : !stg.tensor<[4, 2], f32>
// GRAD: %[[DY:.*]] = stg.cast %[[SEED]] <"cast" bwd dx> : !stg.tensor<[4, 2], f32> -> !stg.tensor<[4, 2], bf16>
// GRAD: %[[DW:.*]] = stg.einsum "bd,bf->df" %{{.*}}, %[[DY]] {into = f32} <"einsum" bwd dw>
// GRAD-NEXT: return %{{.*}}, %[[DW]]

// COST: chakra.comp "w.fwd"({{.*}}) ops(16) bytes(96) phase "fwd"
// COST: chakra.comp "cast.fwd"({{.*}}) ops(8) bytes(48) phase "fwd"
func.func @f(%x: !x) -> !stg.tensor<[4, 2], f32> {
  %w = stg.param "w" : !w
  %c = stg.cast %w : !w -> !v
  %y = stg.einsum "bd,df->bf" %x, %c : !x, !v
  %z = stg.cast %y : !stg.tensor<[4, 2], bf16> -> !stg.tensor<[4, 2], f32>
  return %z : !stg.tensor<[4, 2], f32>
}
