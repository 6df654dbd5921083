// Totals and memory in the manifest, against numbers worked out by hand.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s
// RUN: FileCheck %s --input-file=%t/manifest.json

// Live bytes while each node runs, by hand. States: 1000 parameter + 50 input.
//
//   0 fwd.0   writes h0 (100), s0 (10)       1050 + 110            = 1160
//   1 fwd.1   reads h0; writes h1, s1        1050 + 110 + 110      = 1270
//             h0 is not read again
//   2 loss    reads h1; writes d (100)       1050 + 110 + 10 + 100 = 1270
//             (h1 100, s0 10, s1 10, d 100: 1050 + 220)
//   3 bwd.1   reads d, s1; writes d1, w1     1050 + 10 + 10 + 100 + 100 + 400 = 1670
//             (s0, s1, d, d1 100, w1 400)
//   4 bwd.0   reads d1, s0; writes d0, w0    1050 + s0 10 + d1 100 + w1 400
//                                            + d0 100 + w0 400     = 2060
//   5 reduce  reads w0, w1, in place         1050 + 800            = 1850
//   6 big     writes 300, read by no one     1050 + 800 + 300      = 2150
//   7 opt     reads w0, w1                   1050 + 800            = 1850
//
// The peak is at node 6: 1000 parameter, 50 input, 800 gradient, 300 temporary.
// Activations alone are largest at nodes 1, 2 and 3:
//   1: h0 100, s0 10, h1 100, s1 10 = 220;  2: h1, s0, s1, d = 220;
//   3: s0, s1, d, d1 = 220;                 4: s0, d1, d0 = 210.
// Operations: 2 * (5 + 7) + 1 + 1 + 1. Payload of the all-reduce: 2 * 400 bytes.

// CHECK:      "totals": {
// Two ranks of 8 nodes; 27 operations on each.
// CHECK-NEXT:   "nodes": 16,
// CHECK-NEXT:   "operations": 54,
// CHECK-NEXT:   "largest_peak_bytes": 2150
// CHECK:      "graph": "ranks"
// CHECK:      "compute_nodes": 7,
// CHECK-NEXT: "collective_nodes": 1,
// CHECK-NEXT: "operations": 27,
// CHECK-NEXT: "operations_by_phase": {
// CHECK-NEXT:   "fwd": 11,
// CHECK-NEXT:   "bwd": 14,
// CHECK-NEXT:   "none": 2
// CHECK-NEXT: },
// Of which in matrix products: those of bwd.1 and bwd.0.
// CHECK-NEXT: "matrix_operations_by_phase": {
// CHECK-NEXT:   "bwd": 14
// CHECK-NEXT: },
// Bytes moved: 2 * (60 + 80) + 1 + 2 + 4.
// CHECK-NEXT: "memory_traffic_bytes": 287,
// CHECK-NEXT: "collectives": [
// CHECK-NEXT:   {
// CHECK-NEXT:     "kind": "all_reduce",
// CHECK-NEXT:     "axes": [
// CHECK-NEXT:       "dp"
// CHECK-NEXT:     ],
// CHECK-NEXT:     "group_size": 2,
// CHECK-NEXT:     "phase": "grad_sync",
// CHECK-NEXT:     "count": 1,
// CHECK-NEXT:     "bytes": 800
// CHECK-NEXT:   }
// CHECK-NEXT: ],
// CHECK-NEXT: "memory": {
// CHECK-NEXT:   "persistent_bytes": {
// CHECK-NEXT:     "total": 1050,
// CHECK-NEXT:     "parameter": 1000,
// CHECK-NEXT:     "input": 50
// CHECK-NEXT:   },
// CHECK-NEXT:   "peak_bytes": {
// CHECK-NEXT:     "total": 2150,
// CHECK-NEXT:     "parameter": 1000,
// CHECK-NEXT:     "gradient": 800,
// CHECK-NEXT:     "temporary": 300,
// CHECK-NEXT:     "input": 50
// CHECK-NEXT:   },
// CHECK-NEXT:   "peak_at": "big",
// CHECK-NEXT:   "largest_bytes": {
// CHECK-NEXT:     "parameter": 1000,
// CHECK-NEXT:     "gradient": 800,
// CHECK-NEXT:     "activation": 220,
// CHECK-NEXT:     "temporary": 300,
// CHECK-NEXT:     "input": 50
// CHECK-NEXT:   }

!h = !chakra.tensor<100, activation>
!s = !chakra.tensor<10, activation>
!w = !chakra.tensor<500, parameter>
!g = !chakra.tensor<400, gradient>

chakra.graph @ranks mesh = #sym.mesh<dp = 2> {
  %x = chakra.state "x" : !chakra.tensor<50, input>
  %ws = chakra.repeat "layers" * 2 -> !chakra.stack<!w, 2> {
    %w = chakra.state "w" : !w
    chakra.yield stack(%w : !w)
  }
  %h0:2 = chakra.comp "fwd.0"(%x) ops(5) bytes(60) phase "fwd" : (!chakra.tensor<50, input>) -> (!h, !s)
  %h1:2 = chakra.comp "fwd.1"(%h0#0) ops(5) bytes(60) phase "fwd" : (!h) -> (!h, !s)
  %d = chakra.comp "loss"(%h1#0) ops(1) bytes(1) phase "fwd" : (!h) -> !h
  %d1:2 = chakra.comp "bwd.1"(%d, %h1#1) ops(7) matrix bytes(80) phase "bwd" : (!h, !s) -> (!h, !g)
  %d0:2 = chakra.comp "bwd.0"(%d1#0, %h0#1) ops(7) matrix bytes(80) phase "bwd" : (!h, !s) -> (!h, !g)
  %r:2 = chakra.coll all_reduce "reduce"(%d0#1, %d1#1) over ["dp"] in_place phase "grad_sync" : (!g, !g) -> (!g, !g)
  %t = chakra.comp "big"() ops(1) bytes(2) : () -> !chakra.tensor<300, temporary>
  %u = chakra.comp "opt"(%r#0, %r#1) updates(%ws : !chakra.stack<!w, 2>) ops(1) bytes(4) : (!g, !g) -> !chakra.stack<!w, 2>
}
