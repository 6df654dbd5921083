// Groups of layers where the iterations of a repeat have several.
//
// RUN: stg-opt %s --stg-group-layers="size=4" | FileCheck %s
// RUN: stg-opt %s --stg-group-layers="method=block size=2 values=P=3" | FileCheck %s --check-prefix=BLOCK
// RUN: not stg-opt %s --stg-group-layers="size=3" 2>&1 | FileCheck %s --check-prefix=WHOLE
//
// WHOLE: error: 'stg.repeat' op has 2 layers in an iteration, which groups of 3 layers do not have whole

stg.symbol @B
stg.symbol @D
stg.symbol @P
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>

// An iteration over a period has several layers; a group has whole ones.
//
// CHECK-LABEL: func.func @periods
// CHECK: stg.repeat "periods_groups" * P/2 carry({{.*}}) recompute full {
// CHECK-NEXT: stg.repeat "periods" * 2 carry({{.*}}) {
// CHECK-NEXT: stg.repeat "near" * 1 carry({{.*}}) {
//
// BLOCK-LABEL: func.func @periods
// BLOCK: stg.repeat "periods_replayed" * 1 carry({{.*}}) recompute full {
// BLOCK: stg.repeat "periods" * P - 1 carry({{.*}}) recompute none {
func.func @periods(%x: !x) -> !x {
  %y = stg.repeat "periods" * P carry(%p = %x : !x) {
    %n = stg.repeat "near" * 1 carry(%c = %p : !x) {
      %w = stg.param "w" : !w
      %z = stg.einsum "bi,ij->bj" %c, %w <"w"> : !x, !w
      stg.yield %z : !x
    }
    %f = stg.repeat "far" * 1 carry(%c = %n : !x) {
      %w = stg.param "w" : !w
      %z = stg.einsum "bi,ij->bj" %c, %w <"w"> : !x, !w
      stg.yield %z : !x
    }
    stg.yield %f : !x
  }
  return %y : !x
}
