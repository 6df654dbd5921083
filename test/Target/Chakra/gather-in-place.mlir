// In place: each rank has its shard of a buffer up to date after a scatter and before a
// gather, and no second buffer appears.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s
// RUN: stg-trace validate %t
// RUN: %python %S/decode.py %t/workload.2.et | FileCheck %s
// RUN: FileCheck %s --input-file=%t/manifest.json --check-prefix=MANIFEST

!w = !chakra.tensor<65536, parameter>

chakra.graph @ranks mesh = #sym.mesh<dp = 4> {
  %w = chakra.state "w" : !w
  %s = chakra.coll reduce_scatter "scatter"(%w) over ["dp"] in_place payload(65536) phase "grad_sync" : (!w) -> !w
  %g = chakra.coll all_gather "gather"(%s) over ["dp"] in_place payload(16384) phase "opt" : (!w) -> !w
  chakra.comp "use"(%g) ops(1000000) bytes(10000) : (!w) -> ()
}
// CHECK:      node 0 COMM_COLL scatter/
// CHECK:        comm_size: int64 65536
// CHECK:        inputs: string_list [parameter/w, 65536]
// CHECK-NEXT:   outputs: string_list []
// CHECK:      node 1 COMM_COLL gather/
// CHECK-NEXT:   ctrl [0] data [0]
// CHECK:        comm_size: int64 16384
// CHECK:        inputs: string_list [parameter/w, 65536]
// CHECK-NEXT:   outputs: string_list []
// CHECK:      node 2 COMP use/
// CHECK-NEXT:   ctrl [] data [1]
// CHECK:        inputs: string_list [parameter/w, 65536]
// MANIFEST: "largest_peak_bytes": 65536
// MANIFEST-DAG: "bytes": 65536
// MANIFEST-DAG: "bytes": 16384
