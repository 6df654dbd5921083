// Files: the same for any number of threads, only the ranks asked for, replaced as
// a whole, and valid protobuf for a reader that is not ours.
//
// RUN: rm -rf %t && mkdir %t
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/one --trace-threads=1 %s | FileCheck %s --check-prefix=SUMMARY
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/four --trace-threads=4 %s
// RUN: diff -r %t/one %t/four
// RUN: ls -A %t/one | wc -l | FileCheck %s --check-prefix=COUNT
// 64 ranks, comm_group.json and manifest.json; no temporary file is left.
// COUNT: 66
// 1 collective and 1 + 12 compute nodes on 64 ranks; two groups of 32 ranks.
// SUMMARY: one: 64 of 64 ranks, 2 classes, 2 communication groups, 896 nodes on all ranks

// A range writes the same files as the whole, with the same group ids.
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/some --trace-ranks=30:34 --trace-prefix=part %s
// RUN: ls %t/some | FileCheck %s --check-prefix=RANGE
// RANGE:      comm_group.json
// RANGE-NEXT: manifest.30-34.json
// RANGE-NEXT: part.30.et
// RANGE-NEXT: part.31.et
// RANGE-NEXT: part.32.et
// RANGE-NEXT: part.33.et
// RANGE-NOT:  {{.}}
// RUN: cmp %t/some/part.33.et %t/one/workload.33.et
// RUN: cmp %t/some/comm_group.json %t/one/comm_group.json
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t/some/manifest.30-34.json
// MANIFEST:      "ranks": 64,
// MANIFEST-NEXT: "files": "part.{rank}.et",
// MANIFEST-NEXT: "ranks_written": [30, 34],
// MANIFEST-NEXT: "comm_groups": 2,
// MANIFEST-NEXT: "splits": 4,

// An existing file is replaced by a new one, not written into: a second name of
// the old one keeps the old contents. An old file that cannot be written is no
// obstacle, and neither is what a killed process has left behind.
// RUN: mkdir %t/old && echo old > %t/old/workload.0.et && ln %t/old/workload.0.et %t/kept
// RUN: chmod 444 %t/old/workload.0.et && echo rest > %t/old/.stg-write-0.tmp
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/old %s
// RUN: FileCheck %s --check-prefix=OLD --input-file=%t/kept
// RUN: diff -r %t/one %t/old
// OLD: old

// The number of splits changes the padding: 1000 bytes for 32 ranks.
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/split --trace-splits=1 %s
// RUN: %python %S/decode.py %t/one/workload.0.et | FileCheck %s --check-prefix=SPLIT4
// RUN: %python %S/decode.py %t/split/workload.0.et | FileCheck %s --check-prefix=SPLIT1
// A multiple of 4 * 32 = 128, and at least 4 * 64 = 256.
// SPLIT4:      comm_size: int64 1024
// SPLIT4-NEXT: payload_bytes: int64 1000
// A multiple of 1 * 32, and at least 1 * 64.
// SPLIT1:      comm_size: int64 1024
// SPLIT1-NEXT: payload_bytes: int64 1000

// A reader that is not ours: protoc, with the schema that the readers in lib/Trace
// use. A script removes the framing.
// RUN: %python %S/message.py %t/one/workload.0.et 0 | protoc -I %stg_src_root/include stg/Proto/et_def.proto --decode=stg.proto.GlobalMetadata | FileCheck %s --check-prefix=META
// RUN: %python %S/message.py %t/one/workload.0.et 1 | protoc -I %stg_src_root/include stg/Proto/et_def.proto --decode=stg.proto.Node | FileCheck %s --check-prefix=COMP
// RUN: %python %S/message.py %t/one/workload.0.et 2 | protoc -I %stg_src_root/include stg/Proto/et_def.proto --decode=stg.proto.Node | FileCheck %s --check-prefix=COLL
// META:      version: "stg-0.1.0 chakra-0.0.4"
// META-NEXT: attr {
// META-NEXT:   name: "persistent_tensors"
// META-NEXT:   string_list {
// META-NEXT:     values: "activation/*"
// META-NEXT:   }
// META-NEXT: }
// COMP:      name: "first/COMP_NODE"
// COMP-NEXT: type: COMP_NODE
// COMP-NEXT: attr {
// COMP-NEXT:   name: "is_cpu_op"
// COMP-NEXT:   bool_val: false
// COMP-NEXT: }
// COMP-NEXT: attr {
// COMP-NEXT:   name: "num_ops"
// COMP-NEXT:   int64_val: 1
// COMP-NEXT: }
// COMP-NEXT: attr {
// COMP-NEXT:   name: "tensor_size"
// COMP-NEXT:   uint64_val: 9000
// COMP-NEXT: }
// COMP-NEXT: attr {
// COMP-NEXT:   name: "inputs"
// COMP-NEXT:   string_list {
// COMP-NEXT:     values: "activation/x"
// COMP-NEXT:     values: "1000"
// COMP-NEXT:   }
// COMP-NEXT: }
// COMP-NEXT: attr {
// COMP-NEXT:   name: "outputs"
// COMP-NEXT:   string_list {
// COMP-NEXT:     values: "first:0"
// COMP-NEXT:     values: "1000"
// COMP-NEXT:   }
// COMP-NEXT: }
// COMP-NOT:  {{.}}
// COLL:      id: 1
// COLL-NEXT: name: "reduce/COMM_COLL_NODE"
// COLL-NEXT: type: COMM_COLL_NODE
// COLL-NEXT: data_deps: 0
// COLL:        name: "comm_type"
// COLL-NEXT:   int64_val: 0
// COLL:        name: "comm_size"
// COLL-NEXT:   int64_val: 1024
// COLL:        name: "payload_bytes"
// COLL-NEXT:   int64_val: 1000
// COLL:        name: "outputs"
// COLL-NEXT:   string_list {
// COLL-NEXT:   }
// COLL:        name: "pg_name"
// COLL-NEXT:   string_val: "1"

!x = !chakra.tensor<1000, activation>
chakra.graph @a mesh = #sym.mesh<tp = 32, pp = 2> coordinates = {pp = 0} {
  %x = chakra.state "x" : !x
  %0 = chakra.comp "first"(%x) ops(1) bytes(9000) : (!x) -> !x
  %1 = chakra.coll all_reduce "reduce"(%0) over ["tp"] in_place : (!x) -> !x
  %2 = chakra.repeat "r" * 12 carry(%c = %1 : !x) -> !x {
    %3 = chakra.comp "f"(%c) ops(1) bytes(1) : (!x) -> !x
    chakra.yield carry(%3 : !x)
  }
}
chakra.graph @b mesh = #sym.mesh<tp = 32, pp = 2> coordinates = {pp = 1} {
  %x = chakra.state "x" : !x
  %0 = chakra.comp "first"(%x) ops(1) bytes(9000) : (!x) -> !x
  %1 = chakra.coll all_reduce "reduce"(%0) over ["tp"] in_place : (!x) -> !x
  %2 = chakra.repeat "r" * 12 carry(%c = %1 : !x) -> !x {
    %3 = chakra.comp "f"(%c) ops(1) bytes(1) : (!x) -> !x
    chakra.yield carry(%3 : !x)
  }
}
