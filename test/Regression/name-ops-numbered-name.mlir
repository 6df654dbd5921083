// The number that makes the name of an op unique could make it the name of another op.
//
// RUN: stg-opt %s --stg-name-ops | FileCheck %s

!x = !stg.tensor<[8], f32>

// CHECK-LABEL: func.func @f
func.func @f(%x: !x) -> !x {
  // CHECK: stg.name = "a"
  %0 = stg.activation relu %x {stg.name = "a"} : !x
  // CHECK: stg.name = "a.1"
  %1 = stg.activation relu %0 {stg.name = "a"} : !x
  // CHECK: stg.name = "a.1.1"
  %2 = stg.activation relu %1 {stg.name = "a.1"} : !x
  // CHECK: stg.name = "b.1"
  %3 = stg.activation relu %2 {stg.name = "b.1"} : !x
  // CHECK: stg.name = "b"
  %4 = stg.activation relu %3 {stg.name = "b"} : !x
  // CHECK: stg.name = "b.2"
  %5 = stg.activation relu %4 {stg.name = "b"} : !x
  return %5 : !x
}
