// The number that makes the name of an op unique could make it the name of another op.
//
// RUN: stg-opt %s --stg-name-ops | FileCheck %s

!x = !stg.tensor<[8], f32>

// CHECK-LABEL: func.func @f
func.func @f(%x: !x) -> !x {
  // CHECK: <"a"
  %0 = stg.activation relu %x <"a"> : !x
  // CHECK: <"a.1"
  %1 = stg.activation relu %0 <"a"> : !x
  // CHECK: <"a.1.1"
  %2 = stg.activation relu %1 <"a.1"> : !x
  // CHECK: <"b.1"
  %3 = stg.activation relu %2 <"b.1"> : !x
  // CHECK: <"b"
  %4 = stg.activation relu %3 <"b"> : !x
  // CHECK: <"b.2"
  %5 = stg.activation relu %4 <"b"> : !x
  return %5 : !x
}
