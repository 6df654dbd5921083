// Collectives whose ranks bring different bytes: a bundle has what the largest one brings, alone and by
// step, and traces are those that are written without it.
// RUN: rm -rf %t && stg-translate --chakra-to-traces %s --trace-dir=%t/files
// RUN: stg-translate --chakra-to-traces %s --trace-dir=%t/bundle --trace-bundle
// RUN: stg-translate --unbundle %t/bundle/traces.stgb --trace-dir=%t/again
// RUN: cmp %t/files/workload.3.et %t/again/workload.3.et
// RUN: stg-trace print %t/files --rank=0 | FileCheck %s

// CHECK: "name":"before/COMM_COLL_NODE"{{.*}}"comm_size","int64_val":2048}
// CHECK: "name":"step.2.gather/COMM_COLL_NODE"{{.*}}"comm_size","int64_val":2048}
// CHECK: "name":"step.4.gather/COMM_COLL_NODE"{{.*}}"comm_size","int64_val":6144}
// CHECK: "name":"step.4.same/COMM_COLL_NODE"{{.*}}"comm_size","int64_val":2048}

!x = !chakra.tensor<64, input>

chakra.graph @all mesh = #sym.mesh<tp = 4> {
  %x = chakra.state "x" : !x
  %b = chakra.coll all_gather "before"(%x) over ["tp"] payload(1024) padded(2048) : (!x) -> !chakra.token
  chakra.repeat "step" * 3 from 2 index "step" {
    %z = chakra.coll all_gather "gather"(%x) over ["tp"] payload(1024*step + 1024) padded(2048*step + 2048) : (!x) -> !chakra.token
    %s = chakra.coll all_gather "same"(%x) over ["tp"] payload(512*step + 512) padded(2048) : (!x) -> !chakra.token
  }
}
