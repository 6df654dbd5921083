// Calls side by side are executed by turns: the first one begins, and each goes on up to its
// next compute node behind an all-to-all over just the axes that are named. What is left of
// the longer one comes behind the shorter one.
//
// RUN: rm -rf %t
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/a %s | FileCheck %s --check-prefix=OUT
// RUN: stg-trace validate %t/a
// RUN: %python %S/decode.py %t/a/workload.0.et | FileCheck %s
// OUT: 4 of 4 ranks, 1 class, {{[0-9]+}} communication groups, 128 nodes on all ranks
//
// So does a bundle of it.
// RUN: stg-translate --chakra-to-traces --trace-bundle --trace-dir=%t/c %s
// RUN: stg-translate --unbundle %t/c/traces.stgb --trace-dir=%t/d
// RUN: diff -r %t/a %t/d
//
// RUN: stg-opt %s | stg-opt | FileCheck %s --check-prefix=IR
// IR: chakra.schedule "mb" * 3 inputs({{.*}}) order <[0 at 0, 1 at 0 | 0 at 1, 1 at 1 | 0 at 2, 1 at 2]> switching at ["ep"] -> !chakra.tensor<8192, gradient>
//
// CHECK: node 0 COMP mb0.a/COMP_NODE
// CHECK: node 1 COMM_COLL mb0.tensor/COMM_COLL_NODE
// CHECK: node 2 COMM_COLL mb0.same/COMM_COLL_NODE
// CHECK: node 3 COMM_COLL mb0.wide/COMM_COLL_NODE
// CHECK: node 4 COMP mb0.c/COMP_NODE
// CHECK: node 5 COMM_COLL mb0.send/COMM_COLL_NODE
// CHECK: node 6 COMM_COLL mb0.more/COMM_COLL_NODE
// CHECK: node 7 COMP mb0.f/COMP_NODE
// CHECK: node 8 COMM_COLL mb0.layers.0.back/COMM_COLL_NODE
// CHECK: node 9 COMP mb1.a/COMP_NODE
// CHECK: node 10 COMM_COLL mb1.tensor/COMM_COLL_NODE
// CHECK: node 11 COMM_COLL mb1.same/COMM_COLL_NODE
// CHECK: node 12 COMM_COLL mb1.wide/COMM_COLL_NODE
// CHECK: node 13 COMP mb1.c/COMP_NODE
// CHECK: node 14 COMM_COLL mb1.send/COMM_COLL_NODE
// CHECK: node 15 COMM_COLL mb1.more/COMM_COLL_NODE
// CHECK: node 16 COMP mb0.layers.0.m/COMP_NODE
// CHECK: node 17 COMM_COLL mb0.layers.1.back/COMM_COLL_NODE
// CHECK: node 18 COMP mb1.f/COMP_NODE
// CHECK: node 19 COMP mb0.layers.1.m/COMP_NODE
// CHECK: node 20 COMP mb0.g/COMP_NODE
// CHECK: node 21 COMP mb1.g/COMP_NODE
// CHECK: node 22 COMP mb2.a/COMP_NODE
// CHECK: node 23 COMM_COLL mb2.tensor/COMM_COLL_NODE
// CHECK: node 24 COMM_COLL mb2.same/COMM_COLL_NODE
// CHECK: node 25 COMM_COLL mb2.wide/COMM_COLL_NODE
// CHECK: node 26 COMP mb2.c/COMP_NODE
// CHECK: node 27 COMM_COLL mb2.send/COMM_COLL_NODE
// CHECK: node 28 COMM_COLL mb2.more/COMM_COLL_NODE
// CHECK: node 29 COMP mb2.f/COMP_NODE
// CHECK: node 30 COMP mb2.g/COMP_NODE
// CHECK: node 31 COMP adam/COMP_NODE
// CHECK-NOT: {{^}}node

!x = !chakra.tensor<4096, activation>
!i = !chakra.tensor<4096, input>
!w = !chakra.tensor<8192, parameter>
!g = !chakra.tensor<8192, gradient>

chakra.graph @all mesh = #sym.mesh<ep = 2, tp = 2> {
  %x0 = chakra.state "mb0.x" : !i
  %x1 = chakra.state "mb1.x" : !i
  %x2 = chakra.state "mb2.x" : !i
  %w = chakra.state "w" : !w
  chakra.func @fwd(%x : !i) -> !x {
    %a = chakra.comp "a"(%x, %w) ops(1000) bytes(10000) phase "fwd" : (!i, !w) -> !x
    %b = chakra.coll all_reduce "tensor"(%a) over ["tp"] phase "fwd" : (!x) -> !x
    %s = chakra.coll all_reduce "same"(%b) over ["ep"] phase "fwd" : (!x) -> !x
    %v = chakra.coll all_to_all "wide"(%s) over ["ep", "tp"] phase "fwd" : (!x) -> !x
    %c = chakra.comp "c"(%v) ops(1000) bytes(10000) phase "fwd" : (!x) -> !x
    %d = chakra.coll all_to_all "send"(%c) over ["ep"] phase "fwd" : (!x) -> !x
    %e = chakra.coll all_to_all "more"(%b) over ["ep"] phase "fwd" : (!x) -> !x
    %f = chakra.comp "f"(%d, %e) ops(1000) bytes(10000) phase "fwd" : (!x, !x) -> !x
    chakra.return %f : !x
  }
  chakra.func @bwd.first(%y : !x) -> !g {
    %z = chakra.repeat "layers" * 2 carry(%k = %y : !x) -> !x {
      %l = chakra.coll all_to_all "back"(%k) over ["ep"] phase "bwd" : (!x) -> !x
      %m = chakra.comp "m"(%l) ops(1000) bytes(10000) phase "bwd" : (!x) -> !x
      chakra.yield carry(%m : !x)
    }
    %g = chakra.comp "g"(%z) ops(2000) bytes(20000) phase "bwd" : (!x) -> !g
    chakra.return %g : !g
  }
  chakra.func @bwd.next(%y : !x, %t : !g) -> !g {
    %g = chakra.comp "g"(%y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x) -> !g
    chakra.return %g : !g
  }
  chakra.func @bwd.last(%y : !x, %t : !g) -> !g {
    %g = chakra.comp "g"(%y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x) -> !g
    chakra.return %g : !g
  }
  %g = chakra.schedule "mb" * 3 inputs(%x0, %x1, %x2 : !i, !i, !i)
      order <[0 at 0, 1 at 0 | 0 at 1, 1 at 1 | 0 at 2, 1 at 2]> switching at ["ep"] -> !g {
  ^bb0(%x: !i):
    %y = chakra.call @fwd(%x) scope "" : (!i) -> !x
    chakra.turn_call to 0 first @bwd.first next @bwd.next last @bwd.last(%y) : (!x) -> ()
  }
  chakra.comp "adam"(%g) updates(%w : !w) ops(3000) bytes(30000) phase "opt" : (!g) -> !w
}
