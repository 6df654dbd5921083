// RUN: stg-opt %s --chakra-offload="what=parameters" | FileCheck %s

// A parameter that is read in several blocks, in turn: each block has its load, before the
// first of its readers.

// CHECK-LABEL: chakra.graph @step
// CHECK: %[[W:.*]] = chakra.state "w" : !chakra.tensor<8, host>
// CHECK-NEXT: %[[TOP:.*]] = chakra.load "{{.*}}"(%[[W]]) phase "fwd"
// CHECK-NEXT: chakra.comp "a"(%[[TOP]])
// CHECK-NEXT: chakra.repeat "first" * 2
// CHECK-NEXT: %[[FIRST:.*]] = chakra.load "{{.*}}"(%[[W]])
// CHECK-NEXT: chakra.comp "b"(%[[FIRST]])
// CHECK-NEXT: }
// CHECK-NEXT: chakra.comp "c"(%[[TOP]])
// CHECK-NEXT: chakra.repeat "second" * 2
// CHECK-NEXT: %[[SECOND:.*]] = chakra.load "{{.*}}"(%[[W]])
// CHECK-NEXT: chakra.comp "d"(%[[SECOND]])
// CHECK-NEXT: }
// CHECK-NEXT: chakra.comp "e"(%[[TOP]])
// CHECK-NEXT: }
!w = !chakra.tensor<8, parameter>
chakra.graph @step mesh = #sym.mesh<dp = 2> {
  %w = chakra.state "w" : !w
  chakra.comp "a"(%w) ops(1) bytes(1) phase "fwd" : (!w) -> ()
  chakra.repeat "first" * 2 {
    chakra.comp "b"(%w) ops(1) bytes(1) phase "fwd" : (!w) -> ()
  }
  chakra.comp "c"(%w) ops(1) bytes(1) phase "fwd" : (!w) -> ()
  chakra.repeat "second" * 2 {
    chakra.comp "d"(%w) ops(1) bytes(1) phase "fwd" : (!w) -> ()
  }
  chakra.comp "e"(%w) ops(1) bytes(1) phase "fwd" : (!w) -> ()
}
