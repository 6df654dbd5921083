// The naming of ops read the body of a function that has none.
//
// RUN: stg-opt %s --stg-name-ops | FileCheck %s

!x = !stg.tensor<[8], f32>

// CHECK: func.func private @callee(!stg.tensor<[8], f32>)
func.func private @callee(!x)

// CHECK-LABEL: func.func @caller
func.func @caller(%x: !x) {
  // CHECK: stg.activation relu %{{.*}} <"activation">
  %y = stg.activation relu %x : !x
  call @callee(%y) : (!x) -> ()
  return
}
