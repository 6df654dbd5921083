// One graph for each coordinate that costs, sizes or counts mention.
//
// RUN: stg-opt %s --chakra-split-classes | FileCheck %s
// RUN: stg-opt %s --chakra-split-classes --chakra-split-classes | FileCheck %s

// CHECK: stg.symbol @cp_index coordinate "cp"
stg.symbol @cp_index coordinate "cp"
stg.symbol @dp_index coordinate "dp" "a copy of the model"
!x = !chakra.tensor<8, input>

// Nothing is mentioned.
// CHECK-LABEL: chakra.graph @same mesh = #sym.mesh<cp = 2, dp = 3> coordinates = {dp = 0} {
chakra.graph @same mesh = #sym.mesh<cp = 2, dp = 3> coordinates = {dp = 0} {
  %x = chakra.state "x" : !x
}

// A coordinate that the graph has is put in its place.
// CHECK-LABEL: chakra.graph @one mesh = #sym.mesh<cp = 2, dp = 3> coordinates = {cp = 1, dp = 1} {
// CHECK: ops(7)
chakra.graph @one mesh = #sym.mesh<cp = 2, dp = 3> coordinates = {cp = 1, dp = 1} {
  %x = chakra.state "x" : !x
  chakra.comp "a"(%x) ops(5*cp_index + 2*dp_index) bytes(8) : (!x) -> ()
}

// Each combination of two; a tensor's size, an operation count, a number of iterations.
// CHECK-LABEL: chakra.graph @both.cp0.dp2 mesh = #sym.mesh<cp = 2, dp = 3> coordinates = {cp = 0, dp = 2} {
// CHECK-NEXT: %[[X:.*]] = chakra.state "x" : !chakra.tensor<12, input>
// CHECK-NEXT: chakra.comp "a"(%[[X]]) ops(0) bytes(8)
// CHECK-NEXT: }
// CHECK-LABEL: chakra.graph @both.cp1.dp2 mesh = #sym.mesh<cp = 2, dp = 3> coordinates = {cp = 1, dp = 2} {
// CHECK-NEXT: %[[X:.*]] = chakra.state "x" : !chakra.tensor<12, input>
// CHECK-NEXT: chakra.repeat "steps" * 1
// CHECK:      chakra.comp "a"(%{{.*}}) ops(100) bytes(8)
chakra.graph @both mesh = #sym.mesh<cp = 2, dp = 3> {
  %x = chakra.state "x" : !chakra.tensor<4*dp_index + 4, input>
  // The carried values of a repeat without iterations are those it began with.
  %y = chakra.repeat "steps" * cp_index carry(%a = %x : !chakra.tensor<4*dp_index + 4, input>) -> !chakra.tensor<4*dp_index + 4, input> {
    %b = chakra.comp "b"(%a) updates(%a : !chakra.tensor<4*dp_index + 4, input>) ops(1) bytes(8) : (!chakra.tensor<4*dp_index + 4, input>) -> !chakra.tensor<4*dp_index + 4, input>
    chakra.yield carry(%b : !chakra.tensor<4*dp_index + 4, input>)
  }
  chakra.comp "a"(%y) ops(100*cp_index) bytes(8) : (!chakra.tensor<4*dp_index + 4, input>) -> ()
}
