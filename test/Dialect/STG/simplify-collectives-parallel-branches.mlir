// Two branches that are added to a stream one after the other are reduced once.
//
// RUN: stg-opt %s --stg-simplify-collectives | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.mesh @mesh <tp = 2>
!x = !stg.tensor<[B, D], bf16>
!s = !stg.tensor<[B/2, D], bf16>

// CHECK-LABEL: func.func @parallel_blocks(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*, D], bf16>}}, %[[A:[^:]*]]: {{[^,]*, D], bf16>}}, %[[B:[^:]*]]:
// CHECK-NEXT: %[[SUM:.*]] = stg.add %[[A]], %[[B]]
// CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[SUM]]
// CHECK-NEXT: %[[Y:.*]] = stg.add %[[X]], %[[R]]
// CHECK-NEXT: return %[[Y]]
func.func @parallel_blocks(%x: !x, %a: !x, %b: !x) -> !x {
  %0 = stg.all_reduce sum over ["tp"] %a : !x
  %1 = stg.add %x, %0 : !x, !x
  %2 = stg.all_reduce sum over ["tp"] %b : !x
  %3 = stg.add %1, %2 : !x, !x
  return %3 : !x
}

// CHECK-LABEL: func.func @scattered(
// CHECK: stg.add %{{.*}} : !stg.tensor<[B, D], bf16>
// CHECK-NEXT: stg.reduce_scatter dim 0
// CHECK-NEXT: stg.add %{{.*}} : !stg.tensor<[B/2, D], bf16>
// CHECK-NEXT: return
func.func @scattered(%x: !s, %a: !x, %b: !x) -> !s {
  %0 = stg.reduce_scatter dim 0 over ["tp"] %a : !x -> !s
  %1 = stg.add %0, %x : !s, !s
  %2 = stg.reduce_scatter dim 0 over ["tp"] %b : !x -> !s
  %3 = stg.add %2, %1 : !s, !s
  return %3 : !s
}

// What somebody else reads is not rewritten.
// CHECK-LABEL: func.func @read_in_between(
// CHECK-COUNT-2: stg.all_reduce
func.func @read_in_between(%x: !x, %a: !x, %b: !x) -> (!x, !x) {
  %0 = stg.all_reduce sum over ["tp"] %a : !x
  %1 = stg.add %x, %0 : !x, !x
  %2 = stg.all_reduce sum over ["tp"] %b : !x
  %3 = stg.add %1, %2 : !x, !x
  return %1, %3 : !x, !x
}
