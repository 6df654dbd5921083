// Groups over every set of axes of a 2 x 2 x 2 mesh, for classes and without.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/all %t/all.mlir
// RUN: FileCheck %t/all.mlir --input-file=%t/all/comm_group.json
// RUN: %python %S/decode.py %t/all/workload.5.et | FileCheck %t/all.mlir --check-prefix=RANK5
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/classes %t/classes.mlir
// RUN: FileCheck %t/classes.mlir --input-file=%t/classes/comm_group.json
// RUN: %python %S/decode.py %t/classes/workload.5.et | FileCheck %t/classes.mlir --check-prefix=RANK5
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/world %t/world.mlir
// RUN: FileCheck %t/world.mlir --input-file=%t/world/comm_group.json

//--- all.mlir
// Rank = tp + 2 * dp + 4 * pp; rank 5 is tp=1, dp=0, pp=1. Members differ only on
// the axes of the collective, so over tp by 1, over dp by 2, over pp by 4. The
// order of axes in a collective does not matter.
// CHECK:      "1": [0, 1],
// CHECK-NEXT: "2": [2, 3],
// CHECK-NEXT: "3": [4, 5],
// CHECK-NEXT: "4": [6, 7],
// CHECK-NEXT: "5": [0, 2],
// CHECK-NEXT: "6": [1, 3],
// CHECK-NEXT: "7": [4, 6],
// CHECK-NEXT: "8": [5, 7],
// CHECK-NEXT: "9": [0, 1, 2, 3],
// CHECK-NEXT: "10": [4, 5, 6, 7],
// CHECK-NEXT: "11": [0, 4],
// CHECK-NEXT: "12": [1, 5],
// CHECK-NEXT: "13": [2, 6],
// CHECK-NEXT: "14": [3, 7],
// CHECK-NEXT: "15": [0, 1, 4, 5],
// CHECK-NEXT: "16": [2, 3, 6, 7],
// CHECK-NEXT: "17": [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-NEXT: }
// RANK5: pg_name: string "17"
// RANK5: pg_name: string "3"
// RANK5: pg_name: string "8"
// RANK5: pg_name: string "10"
// RANK5: pg_name: string "12"
// RANK5: pg_name: string "15"
// RANK5-NOT: pg_name
!x = !chakra.tensor<1024, activation>
chakra.graph @ranks mesh = #sym.mesh<tp = 2, dp = 2, pp = 2> {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "0"(%x) over ["pp", "tp", "dp"] in_place : (!x) -> !x
  %1 = chakra.coll all_reduce "1"(%0) over ["tp"] in_place : (!x) -> !x
  %2 = chakra.coll all_reduce "2"(%1) over ["dp"] in_place : (!x) -> !x
  %3 = chakra.coll all_reduce "3"(%2) over ["dp", "tp"] in_place : (!x) -> !x
  %4 = chakra.coll all_reduce "4"(%3) over ["pp"] in_place : (!x) -> !x
  %5 = chakra.coll all_reduce "5"(%4) over ["tp", "pp"] in_place : (!x) -> !x
}

//--- classes.mlir
// Only the groups that are used: over tp in the first stage (pp=0: ranks 0-3), over
// dp in the second (ranks 4-7), and over pp in both.
// CHECK:      "1": [0, 1],
// CHECK-NEXT: "2": [2, 3],
// CHECK-NEXT: "3": [4, 6],
// CHECK-NEXT: "4": [5, 7],
// CHECK-NEXT: "5": [0, 4],
// CHECK-NEXT: "6": [1, 5],
// CHECK-NEXT: "7": [2, 6],
// CHECK-NEXT: "8": [3, 7]
// CHECK-NEXT: }
// RANK5:      node 0 COMM_COLL dp/COMM_COLL_NODE
// RANK5:      pg_name: string "4"
// RANK5:      node 1 COMM_COLL pp/COMM_COLL_NODE
// RANK5:      pg_name: string "6"
!x = !chakra.tensor<1024, activation>
chakra.graph @first mesh = #sym.mesh<tp = 2, dp = 2, pp = 2> coordinates = {pp = 0} {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "tp"(%x) over ["tp"] in_place : (!x) -> !x
  %1 = chakra.coll all_reduce "pp"(%0) over ["pp"] in_place : (!x) -> !x
}
chakra.graph @last mesh = #sym.mesh<tp = 2, dp = 2, pp = 2> coordinates = {pp = 1} {
  %x = chakra.state "x" : !x
  %0 = chakra.coll all_reduce "dp"(%x) over ["dp"] in_place : (!x) -> !x
  %1 = chakra.coll all_reduce "pp"(%0) over ["pp"] in_place : (!x) -> !x
  // Never executed, so its groups are not there.
  %2 = chakra.repeat "never" * 0 carry(%c = %1 : !x) -> !x {
    %3 = chakra.coll all_reduce "tp"(%c) over ["tp"] in_place : (!x) -> !x
    chakra.yield carry(%3 : !x)
  }
}

//--- world.mlir
// One rank talks to nobody.
// CHECK: {}
chakra.graph @rank mesh = #sym.mesh<tp = 1> {
  %x = chakra.state "x" : !chakra.tensor<1024, activation>
  %0 = chakra.coll all_gather "0"(%x) over ["tp"] : (!chakra.tensor<1024, activation>) -> !chakra.tensor<1024, activation>
  chakra.comp "use"(%0) ops(1) bytes(1) : (!chakra.tensor<1024, activation>) -> ()
}
