// A gather in place: each rank brings its shard of a buffer, and no second
// buffer appears.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s
// RUN: stg-trace validate %t
// RUN: %python %S/decode.py %t/workload.2.et | FileCheck %s
// RUN: FileCheck %s --input-file=%t/manifest.json --check-prefix=MANIFEST

!w = !chakra.tensor<65536, parameter>

chakra.graph @ranks mesh = #stg.mesh<dp = 4> {
  %w = chakra.state "w" : !w
  %g = chakra.coll all_gather "gather"(%w) over ["dp"] in_place payload(16384) phase "opt" : (!w) -> !w
  chakra.comp "use"(%g) ops(1000000) bytes(10000) : (!w) -> ()
}
// CHECK:      node 0 COMM_COLL gather/
// CHECK:        comm_size: int64 16384
// CHECK:        inputs: string_list [parameter/w, 65536]
// CHECK-NEXT:   outputs: string_list []
// CHECK:      node 1 COMP use/
// CHECK-NEXT:   ctrl [] data [0]
// CHECK:        inputs: string_list [parameter/w, 65536]
// MANIFEST: "largest_peak_bytes": 65536
// MANIFEST: "bytes": 16384
