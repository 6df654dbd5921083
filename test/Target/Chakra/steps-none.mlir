// A loop over steps of which there are none leaves alone what steps before it
// have.
// RUN: rm -rf %t && stg-translate --chakra-to-traces %s --trace-dir=%t
// RUN: stg-trace validate %t
// RUN: stg-trace stats %t | FileCheck %s

// Of three steps: 1 + 2 + 3.
// CHECK: operations  6
chakra.graph @all mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<64, input>
  chakra.repeat "step" * 3 index "step" {
    chakra.comp "a"(%x) ops(step + 1) bytes(256) : (!chakra.tensor<64, input>) -> ()
  }
  chakra.repeat "more" * 0 index "more" {
    chakra.comp "b"(%x) ops(7) bytes(256) : (!chakra.tensor<64, input>) -> ()
  }
}
