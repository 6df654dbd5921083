// A ring along the middle axis of a mesh: every rank sends one way and receives
// from the other side, three times. With two ranks in the ring both ways lead
// to the same peer, and tags still tell them apart.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/ring %t/ring.mlir
// RUN: stg-trace validate %t/ring
// RUN: %python %S/decode.py %t/ring/workload.5.et | FileCheck %t/ring.mlir
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/two %t/two.mlir
// RUN: stg-trace validate %t/two
// RUN: %python %S/decode.py %t/two/workload.0.et | FileCheck %t/two.mlir

//--- ring.mlir
!kv = !chakra.tensor<4096, activation>

chakra.graph @ranks mesh = #sym.mesh<tp = 2, cp = 3, dp = 2> {
  %kv = chakra.state "kv" : !kv
  %last = chakra.repeat "ring" * 2 carry(%c = %kv : !kv) -> !kv {
    %n = chakra.recv "recv" axis "cp" shift -1 channel 0 : !kv
    chakra.send "send"(%c) axis "cp" shift 1 channel 0 : (!kv)
    chakra.comp "attention"(%c) ops(1000000) bytes(10000) : (!kv) -> ()
    chakra.yield carry(%n : !kv)
  }
  chakra.comp "attention"(%last) ops(1000000) bytes(10000) : (!kv) -> ()
}
// Rank 5 is tp=1, cp=2, dp=0: it sends to cp=0, rank 1, and receives from cp=1,
// rank 3.
// CHECK:      node 0 COMM_RECV ring.0.recv/COMM_RECV_NODE
// CHECK-DAG:    comm_src: int32 3
// CHECK-DAG:    comm_dst: int32 5
// CHECK-DAG:    comm_tag: int32 0
// CHECK:      node 1 COMM_SEND ring.0.send/COMM_SEND_NODE
// CHECK-NEXT:   ctrl [] data []
// CHECK-DAG:    comm_src: int32 5
// CHECK-DAG:    comm_dst: int32 1
// CHECK-DAG:    comm_tag: int32 0
// CHECK:      node 3 COMM_RECV ring.1.recv/COMM_RECV_NODE
// CHECK-NEXT:   ctrl [2] data []
// CHECK:        comm_tag: int32 1
// CHECK:      node 4 COMM_SEND ring.1.send/COMM_SEND_NODE
// CHECK-NEXT:   ctrl [1] data [0]
// CHECK:        comm_tag: int32 1

//--- two.mlir
!x = !chakra.tensor<4096, activation>

chakra.graph @ranks mesh = #sym.mesh<cp = 2> {
  %x = chakra.state "x" : !x
  chakra.send "up"(%x) axis "cp" shift 1 channel 0 : (!x)
  chakra.send "down"(%x) axis "cp" shift 1 channel 1 : (!x)
  %a = chakra.recv "from_above" axis "cp" shift 1 channel 1 : !x
  %b = chakra.recv "from_below" axis "cp" shift -1 channel 0 : !x
  chakra.comp "add"(%a, %b) ops(1000000) bytes(10000) : (!x, !x) -> ()
}
// CHECK: node 0 COMM_SEND
// CHECK:   comm_tag: int32 0
// CHECK: node 1 COMM_SEND
// CHECK:   comm_tag: int32 1
// CHECK: node 2 COMM_RECV
// CHECK:   comm_tag: int32 1
// CHECK: node 3 COMM_RECV
// CHECK:   comm_tag: int32 0
