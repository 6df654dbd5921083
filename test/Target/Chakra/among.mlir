// A group over part of an axis: the first and the last of four stages.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s
// RUN: stg-trace validate %t
// RUN: FileCheck %s --input-file=%t/comm_group.json --check-prefix=GROUPS
// RUN: %python %S/decode.py %t/workload.7.et | FileCheck %s
// RUN: FileCheck %s --input-file=%t/manifest.json --check-prefix=MANIFEST

!g = !chakra.tensor<4096, gradient>

// Rank = tp + 2 * pp: one group for each tp, of pp = 0 and pp = 3.
// GROUPS:      {
// GROUPS-NEXT:   "1": [0, 6],
// GROUPS-NEXT:   "2": [1, 7]
// GROUPS-NEXT: }
chakra.graph @first mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 0} {
  %g = chakra.state "g" : !g
  %r = chakra.coll all_reduce "tied"(%g) over ["pp"] among [0, 3] in_place : (!g) -> !g
}
chakra.graph @second mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 1} {
  chakra.comp "work"() ops(1000000) bytes(10000) : () -> ()
}
chakra.graph @third mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 2} {
  chakra.comp "work"() ops(1000000) bytes(10000) : () -> ()
}
// The order of the coordinates does not matter.
chakra.graph @last mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 3} {
  %g = chakra.state "g" : !g
  %r = chakra.coll all_reduce "tied"(%g) over ["pp"] among [3, 0] in_place : (!g) -> !g
}
// CHECK: node 0 COMM_COLL tied/
// CHECK:   pg_name: string "2"
// MANIFEST: "kind": "all_reduce"
// MANIFEST: "group_size": 2
