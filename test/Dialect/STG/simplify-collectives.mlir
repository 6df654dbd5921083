// Facts about collectives: gathered once, summed before it is reduced, a slice of a
// reduction is a scatter.
//
// RUN: stg-opt %s --stg-simplify-collectives | FileCheck %s --check-prefixes=CHECK,AGAIN
// RUN: stg-opt %s --stg-simplify-collectives=keep-gathered=all | FileCheck %s --check-prefixes=CHECK,KEEP

stg.symbol @B
stg.mesh @mesh <tp = 2, dp = 2>

!x = !stg.tensor<[B, 8], bf16>
!s = !stg.tensor<[B, 4], bf16>

// CHECK-LABEL: func.func @gathered_once
// CHECK-SAME: (%[[S:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @gathered_once(%s: !s) -> (!x, !x) {
  // CHECK-NEXT: %[[G:.*]] = stg.all_gather dim 1 over ["tp"] %[[S]] <"q" fwd>
  // CHECK-NEXT: return %[[G]], %[[G]]
  %0 = stg.all_gather dim 1 over ["tp"] %s <"q" fwd> : !s -> !x
  %1 = stg.all_gather dim 1 over ["tp"] %s <"k" fwd> : !s -> !x
  return %0, %1 : !x, !x
}

// In another phase the value is gathered again, unless it is kept.
// CHECK-LABEL: func.func @gathered_per_phase
func.func @gathered_per_phase(%s: !s) -> (!x, !x) {
  // CHECK-NEXT: %[[G:.*]] = stg.all_gather {{.*}}fwd>
  // AGAIN-NEXT: %[[H:.*]] = stg.all_gather {{.*}}bwd>
  // AGAIN-NEXT: return %[[G]], %[[H]]
  // KEEP-NEXT: return %[[G]], %[[G]]
  %0 = stg.all_gather dim 1 over ["tp"] %s <fwd> : !s -> !x
  %1 = stg.all_gather dim 1 over ["tp"] %s <bwd> : !s -> !x
  return %0, %1 : !x, !x
}

// Other axes, another value: two gathers.
// CHECK-LABEL: func.func @gathered_otherwise
func.func @gathered_otherwise(%s: !s, %t: !s) -> (!x, !x, !x) {
  // CHECK-COUNT-3: stg.all_gather
  %0 = stg.all_gather dim 1 over ["tp"] %s : !s -> !x
  %1 = stg.all_gather dim 1 over ["dp"] %s : !s -> !x
  %2 = stg.all_gather dim 1 over ["tp"] %t : !s -> !x
  return %0, %1, %2 : !x, !x, !x
}

// CHECK-LABEL: func.func @sum_of_reductions
// CHECK-SAME: (%[[X:.*]]: {{.*}}, %[[Y:.*]]: !stg.tensor<[B, 8], bf16>)
func.func @sum_of_reductions(%x: !x, %y: !x) -> !x {
  // CHECK-NEXT: %[[A:.*]] = stg.add %[[X]], %[[Y]]
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[A]]
  // CHECK-NEXT: return %[[R]]
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  %1 = stg.all_reduce sum over ["tp"] %y : !x
  %2 = stg.add %0, %1 : !x, !x
  return %2 : !x
}

// Three branches, as query, key and value are: one reduce-scatter.
// CHECK-LABEL: func.func @sum_of_three
func.func @sum_of_three(%x: !x, %y: !x, %z: !x) -> !s {
  // CHECK-NEXT: %[[A:.*]] = stg.add %{{.*}}, %{{.*}} : !stg.tensor<[B, 8], bf16>
  // CHECK-NEXT: %[[B:.*]] = stg.add %[[A]], %{{.*}} : !stg.tensor<[B, 8], bf16>
  // CHECK-NEXT: %[[R:.*]] = stg.reduce_scatter dim 1 over ["tp"] %[[B]]
  // CHECK-NEXT: return %[[R]]
  %0 = stg.reduce_scatter dim 1 over ["tp"] %x : !x -> !s
  %1 = stg.reduce_scatter dim 1 over ["tp"] %y : !x -> !s
  %2 = stg.reduce_scatter dim 1 over ["tp"] %z : !x -> !s
  %3 = stg.add %0, %1 : !s, !s
  %4 = stg.add %3, %2 : !s, !s
  return %4 : !s
}

// Not where somebody else reads a reduced value, where the groups differ, for maxima,
// or for a product.
// CHECK-LABEL: func.func @not_summed
func.func @not_summed(%x: !x, %y: !x) -> (!x, !x, !x, !x, !x) {
  // CHECK-COUNT-8: stg.all_reduce
  // CHECK-NOT: stg.all_reduce
  %0 = stg.all_reduce sum over ["tp"] %x <"a"> : !x
  %1 = stg.all_reduce sum over ["tp"] %y <"a"> : !x
  %2 = stg.add %0, %1 : !x, !x
  %3 = stg.all_reduce sum over ["dp"] %x : !x
  %4 = stg.all_reduce sum over ["dp", "tp"] %y : !x
  %5 = stg.add %3, %4 : !x, !x
  %6 = stg.all_reduce max over ["tp"] %x : !x
  %7 = stg.all_reduce max over ["tp"] %y : !x
  %8 = stg.add %6, %7 : !x, !x
  %9 = stg.all_reduce sum over ["tp", "dp"] %x : !x
  %10 = stg.all_reduce sum over ["tp", "dp"] %y : !x
  %11 = stg.mul %9, %10 : !x, !x
  return %0, %2, %5, %8, %11 : !x, !x, !x, !x, !x
}

// CHECK-LABEL: func.func @slice_of_reduction
func.func @slice_of_reduction(%x: !x) -> !s {
  // CHECK-NEXT: stg.reduce_scatter dim 1 over ["tp"] %{{.*}} <"o" fwd> : !stg.tensor<[B, 8], bf16> -> !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: return
  %0 = stg.all_reduce sum over ["tp"] %x <"o" fwd> : !x
  %1 = stg.local_slice dim 1 over ["tp"] %0 : !x -> !s
  return %1 : !s
}

// What is gathered of slices is the value where all devices have the same one.
// CHECK-LABEL: func.func @slice_and_gather
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 8], bf16> {stg.layout = #stg.layout<dp : 0>}, %[[S:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @slice_and_gather(%x: !x {stg.layout = #stg.layout<dp : 0>}, %s: !s) -> (!x, !s) {
  // CHECK-NEXT: return %[[X]], %[[S]]
  %0 = stg.local_slice dim 1 over ["tp"] %x : !x -> !s
  %1 = stg.all_gather dim 1 over ["tp"] %0 : !s -> !x
  %2 = stg.all_gather dim 1 over ["tp"] %s : !s -> !x
  %3 = stg.local_slice dim 1 over ["tp"] %2 : !x -> !s
  return %1, %3 : !x, !s
}

// It is not where they have different ones, or nothing is known of it.
// CHECK-LABEL: func.func @slice_of_others
func.func @slice_of_others(%x: !x {stg.layout = #stg.layout<dp : 0>}, %y: !x) -> (!x, !x) {
  // CHECK-NEXT: stg.local_slice dim 1 over ["dp"]
  // CHECK-NEXT: stg.all_gather dim 1 over ["dp"]
  // CHECK-NEXT: stg.local_slice dim 1 over ["tp"]
  // CHECK-NEXT: stg.all_gather dim 1 over ["tp"]
  // CHECK-NEXT: return
  %0 = stg.local_slice dim 1 over ["dp"] %x : !x -> !s
  %1 = stg.all_gather dim 1 over ["dp"] %0 : !s -> !x
  %2 = stg.local_slice dim 1 over ["tp"] %y : !x -> !s
  %3 = stg.all_gather dim 1 over ["tp"] %2 : !s -> !x
  return %1, %3 : !x, !x
}

// A slice in a loop of a sum that is made before it: the sum stays one.
// CHECK-LABEL: func.func @slice_in_loop
func.func @slice_in_loop(%x: !x, %h: !s) -> !s {
  // CHECK-NEXT: %[[SUM:.*]] = stg.all_reduce sum over ["tp"]
  // CHECK-NEXT: stg.repeat "layers" * 3
  // CHECK-NEXT: %[[SLICE:.*]] = stg.local_slice dim 1 over ["tp"] %[[SUM]]
  // CHECK-NEXT: stg.add %{{.*}}, %[[SLICE]]
  // CHECK-NOT: stg.reduce_scatter
  // CHECK: return
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  %1 = stg.repeat "layers" * 3 carry(%c = %h : !s) {
    %2 = stg.local_slice dim 1 over ["tp"] %0 : !x -> !s
    %3 = stg.add %c, %2 : !s, !s
    stg.yield %3 : !s
  }
  return %1 : !s
}
