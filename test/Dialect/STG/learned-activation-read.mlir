// Of the two gradients of an activation with learned numbers, the one that nobody reads is not made:
// that of an input that has none, or that of frozen numbers.
//
// RUN: stg-opt %s --split-input-file --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-name-ops --stg-freeze-parameters="names=a" --stg-autodiff --convert-stg-to-chakra \
// RUN:   | FileCheck %s --check-prefix=FROZEN

stg.symbol @B
stg.symbol @F
!x = !stg.tensor<[B, F], bf16>
!y = !stg.tensor<[B, _ = F], bf16>
!w = !stg.tensor<[F, _ = F], bf16>
!two = !stg.tensor<[2], bf16>

// What the gradient of the result is, is an immediate here.
// CHECK: comp "behind.bwd"({{.*}}) ops(10*B*F) bytes(4*B*F + 12) phase "bwd"
// CHECK: comp "before.bwd"({{.*}}) ops(7*B*F) bytes(4*B*F + 12) phase "bwd"
// FROZEN: comp "behind.bwd"({{.*}}) ops(7*B*F) bytes(4*B*F + 4) phase "bwd"
func.func @xielu(%x: !x) -> !y {
  %n = stg.param "n" : !two
  %h = stg.learned_activation xielu %x, %n <"before"> : !x, !two
  %w = stg.param "w" : !w
  %p = stg.einsum "bf,fg->bg" %h, %w <"p"> : !x, !w
  %a = stg.param "a" : !two
  %y = stg.learned_activation xielu %p, %a <"behind"> : !y, !two
  return %y : !y
}

// -----

stg.symbol @B
stg.symbol @F
!x = !stg.tensor<[B, F], bf16>
!y = !stg.tensor<[B, _ = F], bf16>
!w = !stg.tensor<[F, _ = F], bf16>
!one = !stg.tensor<[1], bf16>

// CHECK: comp "slope.bwd"({{.*}}) ops(4*B*F)
// FROZEN: comp "slope.bwd"({{.*}}) ops(2*B*F)
func.func @prelu(%x: !x) -> !y {
  %w = stg.param "w" : !w
  %p = stg.einsum "bf,fg->bg" %x, %w <"p"> : !x, !w
  %a = stg.param "a" : !one
  %y = stg.learned_activation prelu %p, %a <"slope"> : !y, !one
  return %y : !y
}
