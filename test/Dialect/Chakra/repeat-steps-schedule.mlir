// RUN: stg-opt %s --chakra-repeat-steps=count=3 --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --chakra-repeat-steps=count=3 | stg-translate --chakra-to-traces --trace-dir=%t
// RUN: stg-trace validate %t
// RUN: stg-trace print %t --rank=1 | FileCheck %s --check-prefix=TRACE

// Micro-batches of two stages are executed in each step. Each turn has a channel, in which there is
// a message in each step; the buffer that it is received into is that of all steps.

!t = !chakra.tensor<64, temporary>
!i = !chakra.tensor<8, input>

// CHECK: chakra.graph @first
chakra.graph @first mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} {
  // CHECK-NEXT: chakra.state "mb0.x"
  // CHECK-NEXT: chakra.state "mb1.x"
  %x0 = chakra.state "mb0.x" : !i
  %x1 = chakra.state "mb1.x" : !i
  // CHECK: chakra.func @f
  chakra.func @f(%x: !i) -> !t {
    %y = chakra.comp "y"(%x) ops(16*step + 16) bytes(72) : (!i) -> !t
    chakra.return %y : !t
  }
  // CHECK: chakra.repeat "step" * 3 index "step" {
  // CHECK-NEXT: chakra.schedule "mb" * 2
  chakra.schedule "mb" * 2 inputs(%x0, %x1 : !i, !i) order <2 * [0 at 0 by 1, 1 at 0 by 1]> {
  ^bb0(%x: !i):
    %y = chakra.call @f(%x) scope "" : (!i) -> !t
    chakra.send "s"(%y) axis "pp" shift 1 channel 4 by 2 : (!t)
  }
}

// CHECK: chakra.graph @second
chakra.graph @second mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} {
  %x0 = chakra.state "mb0.x" : !chakra.tensor<128, input>
  %x1 = chakra.state "mb1.x" : !chakra.tensor<128, input>
  chakra.func @g(%x: !chakra.tensor<128, input>) {
    %y = chakra.comp "z"(%x) ops(0) bytes(64) : (!chakra.tensor<128, input>) -> !t
  }
  // CHECK: chakra.repeat "step" * 3 index "step" {
  chakra.schedule "mb" * 2 inputs(%x0, %x1 : !chakra.tensor<128, input>, !chakra.tensor<128, input>) order <2 * [0 at 0 by 1, 1 at 0 by 1]> {
  ^bb0(%x: !chakra.tensor<128, input>):
    // CHECK: chakra.recv "r" into(%{{.*}} : !chakra.tensor<128, input>) payload(64) axis "pp" shift -1 channel 4 by 2 : !chakra.tensor<128, input>
    %y = chakra.recv "r" into(%x : !chakra.tensor<128, input>) payload(64) axis "pp" shift -1 channel 4 by 2 : !chakra.tensor<128, input>
    chakra.call @g(%y) scope "" : (!chakra.tensor<128, input>) -> ()
  }
}

// TRACE: "name":"step.0.mb0.r/COMM_RECV_NODE"
// TRACE: "name":"step.0.mb0.z/COMP_NODE"
// TRACE: "name":"step.0.mb1.r/COMM_RECV_NODE"
// TRACE: "name":"step.2.mb1.r/COMM_RECV_NODE"
// TRACE: "name":"step.2.mb1.z/COMP_NODE"
