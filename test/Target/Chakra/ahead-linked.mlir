// Gathers that are issued ahead of layers that differ: those of a repeat in turns of the one before
// it, in the same body or in the iteration before of a repeat around both. Phases are apart.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t --trace-memory=%t/memory %s
// RUN: stg-trace validate %t
// RUN: %python %S/decode.py %t/workload.0.et | grep -A1 node | FileCheck %s
// RUN: FileCheck %s --check-prefix=CSV --input-file=%t/memory.ranks.csv --match-full-lines

!shard = !chakra.tensor<4096, parameter>
!full = !chakra.tensor<8192, communication>

chakra.graph @ranks mesh = #sym.mesh<dp = 2> {
  %near, %far = chakra.repeat "periods" * 2 -> (!chakra.stack<!chakra.stack<!shard, 2>, 2>, !chakra.stack<!chakra.stack<!shard, 1>, 2>) {
    %n = chakra.repeat "near" * 2 -> !chakra.stack<!shard, 2> {
      %w = chakra.state "w" : !shard
      chakra.yield stack(%w : !shard)
    }
    %f = chakra.repeat "far" * 1 -> !chakra.stack<!shard, 1> {
      %w = chakra.state "w" : !shard
      chakra.yield stack(%w : !shard)
    }
    chakra.yield stack(%n, %f : !chakra.stack<!shard, 2>, !chakra.stack<!shard, 1>)
  }
  %last = chakra.state "last.w" : !shard
  chakra.repeat "periods" * 2 slices(%n = %near : !chakra.stack<!chakra.stack<!shard, 2>, 2>, %f = %far : !chakra.stack<!chakra.stack<!shard, 1>, 2>) {
    chakra.repeat "near" * 2 slices(%w = %n : !chakra.stack<!shard, 2>) {
      %g = chakra.coll all_gather "gather"(%w) over ["dp"] ahead 1 phase "fwd" : (!shard) -> !full
      chakra.comp "fwd"(%g) ops(1000000) bytes(10000) : (!full) -> ()
    }
    chakra.repeat "far" * 1 slices(%w = %f : !chakra.stack<!shard, 1>) {
      %g = chakra.coll all_gather "gather"(%w) over ["dp"] ahead 1 phase "fwd" : (!shard) -> !full
      chakra.comp "fwd"(%g) ops(1000000) bytes(10000) : (!full) -> ()
    }
  }
  chakra.repeat "rest" * 1 {
    %g = chakra.coll all_gather "gather"(%last) over ["dp"] ahead 1 phase "fwd" : (!shard) -> !full
    chakra.comp "fwd"(%g) ops(1000000) bytes(10000) : (!full) -> ()
  }
  chakra.repeat "rest" * 1 reverse {
    %g = chakra.coll all_gather "again"(%last) over ["dp"] ahead 1 phase "bwd" : (!shard) -> !full
    chakra.comp "bwd"(%g) ops(1000000) bytes(10000) : (!full) -> ()
  }
}

// CHECK:      node 0 COMM_COLL periods.0.near.0.gather/
// CHECK-NEXT:   ctrl [] data []
// CHECK:      node 1 COMM_COLL periods.0.near.1.gather/
// CHECK-NEXT:   ctrl [0] data []
// CHECK:      node 2 COMP periods.0.near.0.fwd/
// CHECK-NEXT:   ctrl [] data [0]
// CHECK:      node 3 COMM_COLL periods.0.far.0.gather/
// CHECK-NEXT:   ctrl [1, 2] data []
// CHECK:      node 4 COMP periods.0.near.1.fwd/
// CHECK-NEXT:   ctrl [2] data [1]
// CHECK:      node 5 COMM_COLL periods.1.near.0.gather/
// CHECK-NEXT:   ctrl [3, 4] data []
// CHECK:      node 6 COMP periods.0.far.0.fwd/
// CHECK-NEXT:   ctrl [4] data [3]
// CHECK:      node 7 COMM_COLL periods.1.near.1.gather/
// CHECK-NEXT:   ctrl [5, 6] data []
// CHECK:      node 8 COMP periods.1.near.0.fwd/
// CHECK-NEXT:   ctrl [6] data [5]
// CHECK:      node 9 COMM_COLL periods.1.far.0.gather/
// CHECK-NEXT:   ctrl [7, 8] data []
// CHECK:      node 10 COMP periods.1.near.1.fwd/
// CHECK-NEXT:   ctrl [8] data [7]
// CHECK:      node 11 COMM_COLL rest.0.gather/
// CHECK-NEXT:   ctrl [9, 10] data []
// CHECK:      node 12 COMP periods.1.far.0.fwd/
// CHECK-NEXT:   ctrl [10] data [9]
// CHECK:      node 13 COMP rest.0.fwd/
// CHECK-NEXT:   ctrl [12] data [11]
// CHECK:      node 14 COMM_COLL rest.0.again/
// CHECK-NEXT:   ctrl [11, 13] data []
// CHECK:      node 15 COMP rest.0.bwd/
// CHECK-NEXT:   ctrl [13] data [14]
// CHECK-NOT: node
//
// At most two gathered layers are there.
// CSV:      node,path,parameter,gradient,optimizer,activation,temporary,communication,input,kv_cache,host
// CSV-NEXT: 0,periods.0.near.0.gather,28672,0,0,0,0,8192,0,0,0
// CSV-NEXT: 1,periods.0.near.1.gather,28672,0,0,0,0,16384,0,0,0
// CSV-NEXT: 13,rest.0.fwd,28672,0,0,0,0,8192,0,0,0
