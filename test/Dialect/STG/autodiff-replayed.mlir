// An only iteration with nothing trained before it: by itself it has no gradient of what it
// reads, and where layers are replayed the one that each of several has.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff | FileCheck %s --check-prefixes=CHECK,ALONE
// RUN: stg-opt %s --stg-name-ops --stg-autodiff=replayed | FileCheck %s --check-prefixes=CHECK,REPLAYED

!x = !stg.tensor<[4, 4], bf16>

// CHECK-LABEL: func.func @layer
func.func @layer(%x: !x) -> !x {
  %y = stg.repeat "layers" * 1 carry(%c = %x : !x) {
    %w = stg.param "w" : !x
    %p = stg.einsum "bi,ij->bj" %c, %w : !x, !x
    stg.yield %p : !x
  }
  // CHECK: stg.repeat "layers" * 1 reverse
  // ALONE-NOT: <"w" bwd dx>
  // REPLAYED: stg.einsum {{.*}} <"w" bwd dx>
  // CHECK: stg.einsum {{.*}} <"w" bwd dw>
  // ALONE-NOT: <"w" bwd dx>
  return %y : !x
}
