// The optimizer took the type of a parameter from the function before, if that had a
// parameter of the same name.
//
// RUN: stg-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(func.func(stg-name-ops,stg-autodiff,stg-optimizer))' | FileCheck %s

!x = !stg.tensor<[8, 4], bf16>
!y = !stg.tensor<[8, 2], bf16>

// CHECK-LABEL: func.func @first
// CHECK: stg.adam f32 %{{.*}} : !stg.tensor<[4, 2], bf16>, !stg.tensor<[4, 2], f32>
func.func @first(%x: !x) -> !y {
  %w = stg.param "w" : !stg.tensor<[4, 2], bf16>
  %y = stg.einsum "bd,df->bf" %x, %w : !x, !stg.tensor<[4, 2], bf16>
  return %y : !y
}

// CHECK-LABEL: func.func @second
// CHECK: stg.adam f32 %{{.*}} : !stg.tensor<[2, 4], bf16>, !stg.tensor<[2, 4], f32>
func.func @second(%x: !x) -> !y {
  %w = stg.param "w" : !stg.tensor<[2, 4], bf16>
  %y = stg.einsum "bd,fd->bf" %x, %w : !x, !stg.tensor<[2, 4], bf16>
  return %y : !y
}
