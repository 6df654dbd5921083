// Messages of several sizes share a channel: they meet in order.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s
// RUN: stg-trace validate %t
// RUN: %python %S/decode.py %t/workload.2.et | FileCheck %s

!x = !chakra.tensor<4, activation>
!y = !chakra.tensor<8, activation>

chakra.graph @ranks mesh = #sym.mesh<cp = 3> {
  %x = chakra.state "x" : !x
  %y = chakra.state "y" : !y
  chakra.send "s"(%x) axis "cp" shift 1 channel 0 : (!x)
  chakra.send "t"(%y) axis "cp" shift 1 channel 0 : (!y)
  %a = chakra.recv "a" axis "cp" shift -1 channel 0 : !x
  %b = chakra.recv "b" axis "cp" shift -1 channel 0 : !y
}
// CHECK: node 1 COMM_SEND t/
// CHECK:   comm_size: int64 8
// CHECK:   comm_tag: int32 1
// CHECK: node 3 COMM_RECV b/
// CHECK:   comm_size: int64 8
// CHECK:   comm_tag: int32 1
