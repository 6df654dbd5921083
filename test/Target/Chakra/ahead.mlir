// Gathers that are issued ahead of the layer that uses them, in both
// directions of a repeat.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t --trace-memory=%t/memory %s
// RUN: stg-trace validate %t
// RUN: %python %S/decode.py %t/workload.0.et | FileCheck %s
// RUN: FileCheck %s --check-prefix=CSV --input-file=%t/memory.ranks.csv --match-full-lines

!shard = !chakra.tensor<4096, parameter>
!full = !chakra.tensor<8192, communication>

chakra.graph @ranks mesh = #sym.mesh<dp = 2> {
  %ws = chakra.repeat "layers" * 3 -> !chakra.stack<!shard, 3> {
    %w = chakra.state "w" : !shard
    chakra.yield stack(%w : !shard)
  }
  chakra.repeat "layers" * 3 slices(%w = %ws : !chakra.stack<!shard, 3>) {
    %n = chakra.comp "norm"() ops(1000000) bytes(10000) : () -> !chakra.token
    %g = chakra.coll all_gather "fwd.gather"(%w) over ["dp"] ahead 1 : (!shard) -> !full
    chakra.comp "fwd"(%g) ops(1000000) bytes(10000) : (!full) -> ()
  }
  chakra.repeat "layers" * 3 reverse slices(%w = %ws : !chakra.stack<!shard, 3>) {
    %g = chakra.coll all_gather "bwd.gather"(%w) over ["dp"] ahead 2 : (!shard) -> !full
    chakra.comp "bwd"(%g) ops(1000000) bytes(10000) : (!full) -> ()
  }
}

// Those of iterations 0 and 1 at the start, that of 2 at the start of 1. Each
// waits for the compute stream, not for the data of its iteration.
// CHECK:      node 0 COMM_COLL layers.0.fwd.gather/
// CHECK-NEXT:   ctrl [] data []
// CHECK:      node 1 COMM_COLL layers.1.fwd.gather/
// CHECK-NEXT:   ctrl [0] data []
// CHECK:      node 2 COMP layers.0.norm/
// CHECK:      node 3 COMP layers.0.fwd/
// CHECK-NEXT:   ctrl [2] data [0]
// CHECK:      node 4 COMM_COLL layers.2.fwd.gather/
// CHECK-NEXT:   ctrl [1, 3] data []
// CHECK:        inputs: string_list [parameter/layers.2.w, 4096]
// CHECK:      node 5 COMP layers.1.norm/
// CHECK:      node 6 COMP layers.1.fwd/
// CHECK-NEXT:   ctrl [5] data [1]
// CHECK:      node 7 COMP layers.2.norm/
// CHECK:      node 8 COMP layers.2.fwd/
// CHECK-NEXT:   ctrl [7] data [4]
// CHECK:      node 9 COMM_COLL layers.2.bwd.gather/
// CHECK-NEXT:   ctrl [4, 8] data []
// CHECK:      node 10 COMM_COLL layers.1.bwd.gather/
// CHECK:      node 11 COMM_COLL layers.0.bwd.gather/
// CHECK:        inputs: string_list [parameter/layers.0.w, 4096]
// CHECK:      node 12 COMP layers.2.bwd/
// CHECK-NEXT:   ctrl [8] data [9]
// CHECK:      node 13 COMP layers.1.bwd/
// CHECK-NEXT:   ctrl [12] data [10]
// CHECK:      node 14 COMP layers.0.bwd/
// CHECK-NEXT:   ctrl [13] data [11]

// A line for each change: 12288 bytes of states and 8192 for each gathered
// layer from its gather to its last reader.
// CSV:      node,path,{{.*}}parameter{{.*}}communication{{.*}}
// CSV-NEXT: 0,layers.0.fwd.gather,{{.*}}12288{{.*}},8192{{.*}}
// CSV-NEXT: 1,layers.1.fwd.gather,{{.*}}12288{{.*}},16384{{.*}}
// CSV-NEXT: 7,layers.2.norm,{{.*}}12288{{.*}},8192{{.*}}
// CSV-NEXT: 10,layers.1.bwd.gather,{{.*}}12288{{.*}},16384{{.*}}
// CSV-NEXT: 11,layers.0.bwd.gather,{{.*}}12288{{.*}},24576{{.*}}
// CSV-NEXT: 13,layers.1.bwd,{{.*}}12288{{.*}},16384{{.*}}
// CSV-NEXT: 14,layers.0.bwd,{{.*}}12288{{.*}},8192{{.*}}
// CSV-NOT:  {{.+}}
