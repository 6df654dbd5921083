// Sums over axes that the mesh joins are one, but where one of them is among some
// ranks only.
//
// RUN: stg-opt %s --stg-simplify-collectives | FileCheck %s

stg.mesh @mesh <ep = 2 : tensor, tp = 2 : tensor, pp = 3 : pipeline> joined [[ep, tp], [pp]]

!x = !stg.tensor<[4, 8], bf16>

// CHECK-LABEL: func.func @together
func.func @together(%x: !x) -> !x {
  // CHECK-NEXT: %[[SUM:.*]] = stg.all_reduce sum over ["ep", "tp"]
  // CHECK-NEXT: return %[[SUM]]
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  %1 = stg.all_reduce sum over ["ep"] %0 : !x
  return %1 : !x
}

// CHECK-LABEL: func.func @inner_among
func.func @inner_among(%x: !x) -> !x {
  // CHECK-NEXT: %[[SUM:.*]] = stg.all_reduce sum over ["tp"] %{{.*}} {among = array<i64: 0, 1>}
  // CHECK-NEXT: stg.all_reduce sum over ["ep"] %[[SUM]]
  %0 = stg.all_reduce sum over ["tp"] %x {among = array<i64: 0, 1>} : !x
  %1 = stg.all_reduce sum over ["ep"] %0 : !x
  return %1 : !x
}

// CHECK-LABEL: func.func @outer_among
func.func @outer_among(%x: !x) -> !x {
  // CHECK-NEXT: %[[SUM:.*]] = stg.all_reduce sum over ["tp"]
  // CHECK-NEXT: stg.all_reduce sum over ["ep"] %[[SUM]] {among = array<i64: 0, 1>}
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  %1 = stg.all_reduce sum over ["ep"] %0 {among = array<i64: 0, 1>} : !x
  return %1 : !x
}
