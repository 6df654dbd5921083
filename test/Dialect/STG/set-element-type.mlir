// Another element type in all tensors, wherever they stand.
//
// RUN: stg-opt %s --stg-set-element-type="from=bf16 to=f32" | FileCheck %s
// RUN: stg-opt %s --stg-set-element-type="from=f32 to=f64" | FileCheck %s --check-prefix=F64

// CHECK-LABEL: func.func @types
// CHECK-SAME: (%{{.*}}: !stg.tensor<[4], f32>, %{{.*}}: !stg.tensor<[4], i32>) -> !stg.tensor<[4], f32>
// F64-LABEL: func.func @types
// F64-SAME: (%{{.*}}: !stg.tensor<[4], bf16>, %{{.*}}: !stg.tensor<[4], i32>) -> !stg.tensor<[4], bf16>
func.func @types(%x: !stg.tensor<[4], bf16>, %i: !stg.tensor<[4], i32>) -> !stg.tensor<[4], bf16> {
  // CHECK: stg.param "w" : !stg.tensor<[4], f32>
  // F64: stg.param "w" : !stg.tensor<[4], bf16>
  %w = stg.param "w" : !stg.tensor<[4], bf16>
  // CHECK: stg.param "v" : !stg.tensor<[4], f32>
  // F64: stg.param "v" : !stg.tensor<[4], f64>
  %v = stg.param "v" : !stg.tensor<[4], f32>
  // CHECK: stg.repeat "layers" * 2 carry(%{{.*}} = %{{.*}} : !stg.tensor<[4], f32>)
  %y = stg.repeat "layers" * 2 carry(%c = %x : !stg.tensor<[4], bf16>) {
    %a = stg.mul %c, %w : !stg.tensor<[4], bf16>, !stg.tensor<[4], bf16>
    // CHECK: stg.yield %{{.*}} : !stg.tensor<[4], f32>
    stg.yield %a : !stg.tensor<[4], bf16>
  }
  return %y : !stg.tensor<[4], bf16>
}
