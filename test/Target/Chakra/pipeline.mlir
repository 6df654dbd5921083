// Two pipeline stages with two micro-batches on a 2 x 2 mesh: calls, messages
// and their order.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s | FileCheck %s --check-prefix=OUT
// RUN: stg-trace validate %t
// RUN: %python %S/decode.py %t/workload.1.et | FileCheck %s --check-prefix=FIRST
// RUN: %python %S/decode.py %t/workload.3.et | FileCheck %s --check-prefix=LAST
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t/manifest.json

!x = !chakra.tensor<4096, activation>
!w = !chakra.tensor<8192, parameter>

// OUT: 4 of 4 ranks, 2 classes, 0 communication groups, 24 nodes on all ranks

chakra.graph @first mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {pp = 0} {
  %w = chakra.state "w" : !w
  chakra.func @fwd(%x : !x) -> !x {
    %y = chakra.comp "fwd"(%x, %w) ops(1000000) bytes(10000) phase "fwd" : (!x, !w) -> !x
    chakra.send "fwd.send"(%y) axis "pp" shift 1 channel 3 phase "fwd" : (!x)
    chakra.return %y : !x
  }
  chakra.func @bwd(%y : !x) {
    %d = chakra.recv "bwd.recv" axis "pp" shift 1 channel 4 phase "bwd" : !x
    chakra.comp "bwd"(%d, %y) ops(2000000) bytes(20000) phase "bwd" : (!x, !x) -> ()
  }
  %x0 = chakra.state "x0" : !x
  %x1 = chakra.state "x1" : !x
  %y0 = chakra.call @fwd(%x0) scope "mb0" : (!x) -> !x
  chakra.call @bwd(%y0) scope "mb0" : (!x) -> ()
  %y1 = chakra.call @fwd(%x1) scope "mb1" : (!x) -> !x
}
// Rank 1 is tp=1, pp=0, its peer rank 3. The message back is the other
// channel, which has the tags after those of the first.
// FIRST:      node 0 COMP mb0.fwd/COMP_NODE
// FIRST-NEXT:   ctrl [] data []
// FIRST:      node 1 COMM_SEND mb0.fwd.send/COMM_SEND_NODE
// FIRST-NEXT:   ctrl [] data [0]
// FIRST-NEXT:   is_cpu_op: bool false
// FIRST-DAG:    comm_size: int64 4096
// FIRST-DAG:    comm_src: int32 1
// FIRST-DAG:    comm_dst: int32 3
// FIRST-DAG:    comm_tag: int32 0
// FIRST-DAG:    inputs: string_list [mb0.fwd:0, 4096]
// FIRST-DAG:    outputs: string_list []
// The receive waits for nothing but its place beside the compute stream.
// FIRST:      node 2 COMM_RECV mb0.bwd.recv/COMM_RECV_NODE
// FIRST-NEXT:   ctrl [0] data []
// FIRST-DAG:    comm_src: int32 3
// FIRST-DAG:    comm_dst: int32 1
// FIRST-DAG:    comm_tag: int32 2
// FIRST-DAG:    outputs: string_list [mb0.bwd.recv:0, 4096]
// FIRST:      node 3 COMP mb0.bwd/COMP_NODE
// FIRST-NEXT:   ctrl [0] data [0, 2]
// FIRST:      node 4 COMP mb1.fwd/COMP_NODE
// FIRST-NEXT:   ctrl [3] data []
// The second execution of the channel; sends are a stream.
// FIRST:      node 5 COMM_SEND mb1.fwd.send/COMM_SEND_NODE
// FIRST-NEXT:   ctrl [1] data [4]
// FIRST:        comm_tag: int32 1

chakra.graph @last mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {pp = 1} {
  %w = chakra.state "w" : !w
  chakra.func @step() -> !x {
    %x = chakra.recv "recv" axis "pp" shift -1 channel 3 phase "fwd" : !x
    %y = chakra.comp "fwd"(%x, %w) ops(1000000) bytes(10000) phase "fwd" : (!x, !w) -> !x
    chakra.return %y : !x
  }
  %y0 = chakra.call @step() scope "mb0" : () -> !x
  chakra.send "mb0.send"(%y0) axis "pp" shift -1 channel 4 phase "bwd" : (!x)
  %y1 = chakra.call @step() scope "mb1" : () -> !x
  chakra.comp "end"(%y1) ops(1000000) bytes(10000) : (!x) -> ()
}
// LAST:      node 0 COMM_RECV mb0.recv/COMM_RECV_NODE
// LAST-NEXT:   ctrl [] data []
// LAST-DAG:    comm_src: int32 1
// LAST-DAG:    comm_dst: int32 3
// LAST-DAG:    comm_tag: int32 0
// LAST:      node 2 COMM_SEND mb0.send/COMM_SEND_NODE
// LAST:        comm_tag: int32 2
// LAST:      node 3 COMM_RECV mb1.recv/COMM_RECV_NODE
// LAST-NEXT:   ctrl [1] data []
// LAST:        comm_tag: int32 1

// MANIFEST:      "graph": "first"
// MANIFEST:      "compute_nodes": 3,
// MANIFEST-NEXT: "collective_nodes": 0,
// MANIFEST-NEXT: "send_nodes": 2,
// MANIFEST-NEXT: "recv_nodes": 1,
// MANIFEST:      "messages": [
// MANIFEST-NEXT: {
// MANIFEST-NEXT:   "kind": "send",
// MANIFEST:        "shift": 1,
// MANIFEST:        "count": 2,
// MANIFEST-NEXT:   "bytes": 8192
// MANIFEST:        "kind": "recv",
// MANIFEST:        "bytes": 4096
// The output of the first call and what is received for the second.
// MANIFEST:        "peak_at": "mb0.bwd.recv"
