// Full recomputation of a layer that yields values from outside of it crashed.
//
// RUN: stg-opt %s --stg-pipeline="recompute=full" | FileCheck %s

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>

// CHECK-LABEL: chakra.graph @f
// CHECK: chakra.comp "w.recompute"
func.func @f(%x: !x, %m: !x) -> !x {
  %y:3 = stg.repeat "layers" * L carry(%c = %x : !x, %d = %x : !x) {
    %w = stg.param "w" : !x
    %a = stg.einsum "bd,df->bf" %c, %w : !x, !x
    %g = stg.activation gelu %a : !x
    %h = stg.mul %g, %d : !x, !x
    stg.yield %h, %m, %m : !x, !x, !x
  }
  return %y#0 : !x
}
