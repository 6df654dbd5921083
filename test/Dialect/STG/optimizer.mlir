// One step per parameter, those of a repeat in a repeat; gradients are not returned.
//
// RUN: stg-opt %s --split-input-file --stg-optimizer | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-optimizer=moment-type=bf16 | FileCheck %s --check-prefix=BF16

!x = !stg.tensor<[4], bf16>
!g = !stg.tensor<[4], f32>

// CHECK-LABEL: func.func @one_scope
// CHECK-SAME: (%[[DW:.*]]: !stg.tensor<[4], f32>, %[[DV:.*]]: !stg.tensor<[4], f32>) -> !stg.tensor<[4], bf16> {
func.func @one_scope(%dw: !g, %dv: !g) -> (!g {stg.gradient = #stg.gradient<"w">}, !x, !g {stg.gradient = #stg.gradient<"v">}) {
  %w = stg.param "w" : !x
  %v = stg.param "v" : !x
  // CHECK: %[[Y:.*]] = stg.add
  %y = stg.add %w, %v : !x, !x
  // CHECK-NEXT: %[[W:.*]] = stg.param "w" : !stg.tensor<[4], bf16>
  // CHECK-NEXT: stg.adam f32 %[[W]], %[[DW]] <"w" opt> : !stg.tensor<[4], bf16>, !stg.tensor<[4], f32>
  // CHECK-NEXT: %[[V:.*]] = stg.param "v"
  // CHECK-NEXT: stg.adam f32 %[[V]], %[[DV]] <"v" opt>
  // BF16: stg.adam bf16
  // BF16: stg.adam bf16
  // CHECK-NEXT: return %[[Y]] : !stg.tensor<[4], bf16>
  return %dw, %y, %dv : !g, !x, !g
}

// -----

stg.symbol @L
!x = !stg.tensor<[4], bf16>

// CHECK-LABEL: func.func @nested_scopes
// CHECK-SAME: (%[[DW:.*]]: !stg.tensor<[outer = L, 4], f32>, %[[DV:.*]]: !stg.tensor<[outer = L, 3, 4], f32>) {
func.func @nested_scopes(%dw: !stg.tensor<[outer = L, 4], f32>, %dv: !stg.tensor<[outer = L, 3, 4], f32>)
    -> (!stg.tensor<[outer = L, 4], f32> {stg.gradient = #stg.gradient<"outer", "w">},
        !stg.tensor<[outer = L, 3, 4], f32> {stg.gradient = #stg.gradient<"outer", "inner", "v">}) {
  stg.repeat "outer" * L {
    %w = stg.param "w" : !x
    stg.repeat "inner" * 3 {
      %v = stg.param "v" : !x
    }
  }
  // CHECK: stg.repeat "outer" * L slices(%[[SW:[a-z_0-9]+]] = %[[DW]] : {{.*}}, %[[SV:[a-z_0-9]+]] = %[[DV]] : {{.*}}) <opt> {
  // CHECK-NEXT: %[[W:.*]] = stg.param "w"
  // CHECK-NEXT: stg.adam f32 %[[W]], %[[SW]]
  // CHECK-NEXT: stg.repeat "inner" * 3 slices(%[[TV:[a-z_0-9]+]] = %[[SV]] : !stg.tensor<[3, 4], f32>) <opt> {
  // CHECK-NEXT: %[[V:.*]] = stg.param "v"
  // CHECK-NEXT: stg.adam f32 %[[V]], %[[TV]]
  // CHECK: return{{$}}
  return %dw, %dv : !stg.tensor<[outer = L, 4], f32>, !stg.tensor<[outer = L, 3, 4], f32>
}
