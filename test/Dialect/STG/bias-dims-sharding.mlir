// A bias of experts is divided as its dimensions are, and so is its gradient; rows that are
// divided make that a partial sum.
//
// RUN: stg-opt %s --stg-propagate-shardings --stg-insert-collectives | FileCheck %s

stg.symbol @X
stg.symbol @C
stg.symbol @F
stg.mesh @mesh <ep = 2, tp = 4>

!hidden = !stg.tensor<[X : ep, C, F : tp], bf16>
!rows = !stg.tensor<[X : ep, C : tp, F], bf16>
!b = !stg.tensor<[X : ep, F : tp], bf16>

// CHECK-LABEL: func.func @columns(
// CHECK: stg.bias_add %{{.*}}, %{{.*}} {dims = array<i64: 0, 2>} : !stg.tensor<[X/2, C, F/4], bf16>, !stg.tensor<[X/2, F/4], bf16>
// CHECK-NEXT: %[[D:.*]] = stg.bias_grad %{{.*}} {dims = array<i64: 0, 2>} : !stg.tensor<[X/2, C, F/4], bf16> -> !stg.tensor<[X/2, F/4], f32>
// CHECK-NEXT: return %[[D]]
func.func @columns(%x: !hidden, %b: !b) -> !stg.tensor<[X : ep, F : tp], f32> {
  %y = stg.bias_add %x, %b {dims = array<i64: 0, 2>} : !hidden, !b
  %d = stg.bias_grad %x {dims = array<i64: 0, 2>} : !hidden -> !stg.tensor<[X : ep, F : tp], f32>
  return %d : !stg.tensor<[X : ep, F : tp], f32>
}

// CHECK-LABEL: func.func @rows(
// CHECK: %[[D:.*]] = stg.bias_grad %{{.*}} {dims = array<i64: 0, 2>} : !stg.tensor<[X/2, C/4, F], bf16> -> !stg.tensor<[X/2, F], f32>
// CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[D]]
// CHECK-NEXT: return %[[R]]
func.func @rows(%x: !rows) -> !stg.tensor<[X : ep, F], f32> {
  %d = stg.bias_grad %x {dims = array<i64: 0, 2>} : !rows -> !stg.tensor<[X : ep, F], f32>
  return %d : !stg.tensor<[X : ep, F], f32>
}
