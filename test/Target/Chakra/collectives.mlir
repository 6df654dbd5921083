// Collectives: new buffers, in place, coalesced, over one rank, and padding.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s
// RUN: %python %S/decode.py %t/workload.2.et | FileCheck %s
// RUN: FileCheck %s --check-prefix=GROUPS --input-file=%t/comm_group.json

// Rank = tp + 2 * dp. Rank 2 is tp=0, dp=1. Groups over tp: {0,1} and {2,3};
// over dp: {0,2} and {1,3}; over both: all. Sets of axes are numbered in the
// order tp, dp, tp and dp (the first axis is the lowest bit), groups by their
// first rank.
// GROUPS:      {
// GROUPS-NEXT:   "1": [0, 1],
// GROUPS-NEXT:   "2": [2, 3],
// GROUPS-NEXT:   "3": [0, 2],
// GROUPS-NEXT:   "4": [1, 3],
// GROUPS-NEXT:   "5": [0, 1, 2, 3]
// GROUPS-NEXT: }

!a = !chakra.tensor<1024, activation>
!b = !chakra.tensor<2048, communication>
!g = !chakra.tensor<160, gradient>

chakra.graph @ranks mesh = #sym.mesh<tp = 2, cp = 1, dp = 2> {
  %x = chakra.state "x" : !a
  %a = chakra.comp "a"(%x) ops(1) bytes(8000) : (!a) -> !a
  // CHECK-LABEL: node 1 COMM_COLL a.gather/COMM_COLL_NODE
  // CHECK-NEXT:    ctrl [] data [0]
  // CHECK-NEXT:    is_cpu_op: bool false
  // CHECK-NEXT:    comm_type: int64 2
  // CHECK-NEXT:    comm_size: int64 1024
  // CHECK-NEXT:    inputs: string_list [a:0, 1024]
  // CHECK-NEXT:    outputs: string_list [a.gather:0, 2048]
  // CHECK-NEXT:    pg_name: string "2"
  %b = chakra.coll all_gather "a.gather"(%a) over ["tp"] : (!a) -> !b
  // A group of one rank is no node: the scatter below reads the gathered buffer.
  %c = chakra.coll all_reduce "nobody"(%b) over ["cp"] : (!b) -> !b
  // CHECK-LABEL: node 2 COMM_COLL c.scatter/COMM_COLL_NODE
  // CHECK-NEXT:    ctrl [1] data [1]
  // CHECK-NEXT:    is_cpu_op: bool false
  // CHECK-NEXT:    comm_type: int64 7
  // CHECK-NEXT:    comm_size: int64 2048
  // CHECK-NEXT:    inputs: string_list [a.gather:0, 2048]
  // CHECK-NEXT:    outputs: string_list [c.scatter:0, 1024]
  // CHECK-NEXT:    pg_name: string "2"
  %d = chakra.coll reduce_scatter "c.scatter"(%c) over ["cp", "tp"] : (!b) -> !a
  // In place: no output; the reader below takes the buffer under its name, and
  // depends on the node that wrote it and on the one that changed it.
  // CHECK-LABEL: node 3 COMM_COLL d.reduce/COMM_COLL_NODE
  // CHECK-NEXT:    ctrl [2] data [2]
  // CHECK-NEXT:    is_cpu_op: bool false
  // CHECK-NEXT:    comm_type: int64 0
  // CHECK-NEXT:    comm_size: int64 1024
  // CHECK-NEXT:    inputs: string_list [c.scatter:0, 1024]
  // CHECK-NEXT:    outputs: string_list []
  // CHECK-NEXT:    pg_name: string "3"
  %e = chakra.coll all_reduce "d.reduce"(%d) over ["dp"] in_place : (!a) -> !a
  // The same buffer twice is one input.
  // CHECK-LABEL: node 4 COMP f/COMP_NODE
  // CHECK-NEXT:    ctrl [0] data [2, 3]
  // CHECK:         inputs: string_list [c.scatter:0, 1024]
  // CHECK-NEXT:    outputs: string_list [f:0, 1024]
  %f = chakra.comp "f"(%e, %e) ops(1) bytes(1) : (!a, !a) -> !a
  // CHECK-LABEL: node 5 COMM_COLL f.exchange/COMM_COLL_NODE
  // CHECK-NEXT:    ctrl [3] data [4]
  // CHECK-NEXT:    is_cpu_op: bool false
  // CHECK-NEXT:    comm_type: int64 6
  // CHECK:         pg_name: string "5"
  %h = chakra.coll all_to_all "f.exchange"(%f) over ["dp", "tp"] : (!a) -> !a
  %gs = chakra.repeat "layers" * 3 -> !chakra.stack<!g, 3> {
    %g = chakra.comp "dw"(%h) ops(1) bytes(1) : (!a) -> !g
    chakra.yield stack(%g : !g)
  }
  // One collective for all gradients: 3 * 160 = 480 bytes, and 100 more. With 4
  // chunks and 2 ranks in the group, sizes are multiples of 8: 580 is not, 584 is.
  // CHECK-LABEL: node 9 COMM_COLL grads.reduce/COMM_COLL_NODE
  // CHECK-NEXT:    ctrl [5] data [0, 4, 6, 7, 8]
  // CHECK-NEXT:    is_cpu_op: bool false
  // CHECK-NEXT:    comm_type: int64 0
  // CHECK-NEXT:    comm_size: int64 584
  // CHECK-NEXT:    payload_bytes: int64 580
  // CHECK-NEXT:    inputs: string_list [layers.0.dw:0, 160, layers.1.dw:0, 160, layers.2.dw:0, 160, parameter/bias, 100]
  // CHECK-NEXT:    outputs: string_list []
  // CHECK-NEXT:    pg_name: string "3"
  %bias = chakra.state "bias" : !chakra.tensor<100, parameter>
  %r:2 = chakra.coll all_reduce "grads.reduce"(%gs, %bias) over ["dp"] in_place after(%a, %f : !a, !a)
      : (!chakra.stack<!g, 3>, !chakra.tensor<100, parameter>) -> (!chakra.stack<!g, 3>, !chakra.tensor<100, parameter>)
  // Not in place, a stack becomes a stack of new buffers.
  // CHECK-LABEL: node 10 COMM_COLL grads.gather/COMM_COLL_NODE
  // CHECK-NEXT:    ctrl [9] data [6, 7, 8, 9]
  // CHECK:         comm_size: int64 480
  // CHECK-NEXT:    inputs: string_list [layers.0.dw:0, 160, layers.1.dw:0, 160, layers.2.dw:0, 160]
  // CHECK-NEXT:    outputs: string_list [grads.gather:0, 320, grads.gather:1, 320, grads.gather:2, 320]
  %s = chakra.coll all_gather "grads.gather"(%r#0) over ["dp"] : (!chakra.stack<!g, 3>) -> !chakra.stack<!chakra.tensor<320, gradient>, 3>
  // A slice of the gathered stack depends on the gather alone, a slice of the
  // reduced one on the node that wrote it and on the reduction.
  // CHECK-LABEL: node 13 COMP update.2.adam/COMP_NODE
  // CHECK-NEXT:    ctrl [12] data [8, 9, 10]
  // CHECK:         inputs: string_list [grads.gather:2, 320, layers.2.dw:0, 160, parameter/update.2.w, 64]
  // CHECK-NEXT:    outputs: string_list []
  %u = chakra.repeat "update" * 3 slices(%sg = %s : !chakra.stack<!chakra.tensor<320, gradient>, 3>, %rg = %r#0 : !chakra.stack<!g, 3>) -> !chakra.stack<!chakra.tensor<64, parameter>, 3> {
    %w = chakra.state "w" : !chakra.tensor<64, parameter>
    %n = chakra.comp "adam"(%sg, %rg) updates(%w : !chakra.tensor<64, parameter>) ops(1) bytes(1) : (!chakra.tensor<320, gradient>, !g) -> !chakra.tensor<64, parameter>
    chakra.yield stack(%n : !chakra.tensor<64, parameter>)
  }
  // 3 * 64 = 192 bytes are a multiple of 16, four chunks for each of four ranks, so
  // nothing is padded. What was updated depends on the update.
  // CHECK-LABEL: node 14 COMM_COLL w.gather/COMM_COLL_NODE
  // CHECK-NEXT:    ctrl [10] data [11, 12, 13]
  // CHECK-NEXT:    is_cpu_op: bool false
  // CHECK-NEXT:    comm_type: int64 2
  // CHECK-NEXT:    comm_size: int64 192
  // CHECK-NEXT:    inputs: string_list [parameter/update.0.w, 64, parameter/update.1.w, 64, parameter/update.2.w, 64]
  // CHECK-NEXT:    outputs: string_list [w.gather:0, 256, w.gather:1, 256, w.gather:2, 256]
  // CHECK-NEXT:    pg_name: string "5"
  %v = chakra.coll all_gather "w.gather"(%u) over ["tp", "dp"] : (!chakra.stack<!chakra.tensor<64, parameter>, 3>) -> !chakra.stack<!chakra.tensor<256, communication>, 3>
  // A payload of nothing is raised to one byte per chunk and rank: 4 * 4.
  // CHECK-LABEL: node 15 COMM_COLL nothing/COMM_COLL_NODE
  // CHECK:         comm_size: int64 16
  // CHECK-NEXT:    payload_bytes: int64 0
  %z = chakra.state "z" : !chakra.tensor<0, temporary>
  %y = chakra.coll all_reduce "nothing"(%z) over ["tp"] in_place : (!chakra.tensor<0, temporary>) -> !chakra.tensor<0, temporary>
  // Zero operations are written as one, zero bytes as one.
  // CHECK-LABEL: node 16 COMP view/COMP_NODE
  // CHECK-NEXT:    ctrl [13] data []
  // CHECK-NEXT:    is_cpu_op: bool false
  // CHECK-NEXT:    num_ops: int64 1
  // CHECK-NEXT:    tensor_size: uint64 1
  // CHECK-NEXT:    exact_tensor_size: int64 0
  chakra.comp "view"(%x) ops(0) bytes(0) : (!a) -> ()
  // A token orders without a buffer.
  // CHECK-LABEL: node 17 COMP first/COMP_NODE
  // CHECK:         outputs: string_list []
  // CHECK-NEXT:  node 18 COMM_COLL second/COMM_COLL_NODE
  // CHECK-NEXT:    ctrl [15] data [17]
  // CHECK:         inputs: string_list [activation/x, 1024]
  %t = chakra.comp "first"() ops(1) bytes(1) : () -> !chakra.token
  %w = chakra.coll all_reduce "second"(%x) over ["tp"] after(%t : !chakra.token) : (!a) -> !a
}
