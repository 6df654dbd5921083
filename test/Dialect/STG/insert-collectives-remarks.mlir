// Remarks say why each collective is there.
//
// RUN: stg-opt %s --stg-insert-collectives --remarks-filter-passed=stg-insert-collectives -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: stg-opt %s --stg-insert-collectives -o /dev/null 2>&1 | count 0

stg.symbol @B
stg.symbol @D
stg.mesh @mesh <tp = 4, dp = 2>
!x = !stg.tensor<[B, D], bf16>

// An argument that is read as it is not.
// CHECK: remarks.mlir:[[# @LINE + 3]]:{{[0-9]+}}: remark: [Passed] all_gather
// CHECK-SAME: Category:stg-insert-collectives
// CHECK-SAME: Reason="an argument is !stg.tensor<[B, D : tp], bf16>, 'stg.activation' of 'act' reads it as operand #0 of type !stg.tensor<[B, D], bf16>"
func.func @read(%x: !stg.tensor<[B, D : tp], bf16>) -> !x {
  %y = stg.activation relu %x <"act"> : !stg.tensor<[B, D : tp], bf16> -> !x
  return %y : !x
}

// A partial sum that is planned as whole, by whatever reads it.
// CHECK: remarks.mlir:[[# @LINE + 3]]:{{[0-9]+}}: remark: [Passed] all_reduce
// CHECK-SAME: Reason="'stg.reduce' of 'total' makes !stg.tensor<[B], f32, sum(tp)>, it is planned as !stg.tensor<[B], f32>"
func.func @planned(%x: !stg.tensor<[B, D : tp], bf16>) -> !stg.tensor<[B], f32> {
  %y = stg.reduce sum %x {factors = #stg.factors<v : tp>} <"total"> : !stg.tensor<[B, D : tp], bf16>
  return %y : !stg.tensor<[B], f32>
}
