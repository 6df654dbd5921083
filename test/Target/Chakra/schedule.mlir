// A schedule makes the traces that calls one by one make: names, ids, tags and memory are
// the same bytes. Two stages and three micro-batches; the channels of both directions lie
// between each other's, as between two devices they go the same way around.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/a %t/loop.mlir | FileCheck %s --check-prefix=OUT
// RUN: stg-translate --chakra-to-traces --trace-dir=%t/b %t/calls.mlir | FileCheck %s --check-prefix=OUT
// RUN: stg-trace validate %t/a
// OUT: 2 of 2 ranks, 2 classes, 0 communication groups, 26 nodes on all ranks
//
// So does a bundle of it.
// RUN: stg-translate --chakra-to-traces --trace-bundle --trace-dir=%t/c %t/loop.mlir
// RUN: stg-translate --unbundle %t/c/traces.stgb --trace-dir=%t/d
// RUN: diff -r %t/a %t/d
//
// Only the programs differ, by which manifests can be told apart.
// RUN: not diff -r %t/a %t/b
// RUN: sed -i '/"fingerprint"/d' %t/a/manifest.json %t/b/manifest.json
// RUN: diff -r %t/a %t/b
//
// RUN: stg-opt %t/loop.mlir | stg-opt | FileCheck %s
// CHECK:      %[[G:.*]] = chakra.schedule "mb" * 3 inputs(
// CHECK-SAME: order <[0 at 0, 1 at 0, 2 at 0, 0 at 1, 1 at 1, 3 at 0, 2 at 1, 0 at 2, 1 at 2, 2 at 2], 2 * [3 at 1]> -> !chakra.tensor<8192, gradient> {
// CHECK:        chakra.send "stage1.fwd.send"({{.*}}) axis "pp" shift 1 channel 0 by 2 phase "fwd"
// CHECK:        chakra.turn_call to 0 first @bwd.first next @bwd.next last @bwd.last(
// CHECK:      chakra.call @step(%[[G]]) scope ""

//--- loop.mlir
!x = !chakra.tensor<4096, activation>
!w = !chakra.tensor<8192, parameter>
!g = !chakra.tensor<8192, gradient>

chakra.graph @first mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} {
  %x0 = chakra.state "mb0.x" : !x
  %x1 = chakra.state "mb1.x" : !x
  %x2 = chakra.state "mb2.x" : !x
  %w = chakra.state "w" : !w
  chakra.func @fwd(%x : !x) -> !x {
    %y = chakra.comp "fwd"(%x, %w) ops(1000) bytes(10000) phase "fwd" : (!x, !w) -> !x
    chakra.return %y : !x
  }
  chakra.func @bwd.first(%d : !x, %y : !x) -> !g {
    %g = chakra.comp "bwd"(%d, %y) ops(2000) bytes(20000) phase "bwd" : (!x, !x) -> !g
    chakra.return %g : !g
  }
  chakra.func @bwd.next(%d : !x, %y : !x, %t : !g) -> !g {
    %g = chakra.comp "bwd"(%d, %y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x, !x) -> !g
    chakra.return %g : !g
  }
  chakra.func @bwd.last(%d : !x, %y : !x, %t : !g) -> !g {
    %g = chakra.comp "bwd"(%d, %y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x, !x) -> !g
    chakra.return %g : !g
  }
  %g = chakra.schedule "mb" * 3 inputs(%x0, %x1, %x2 : !x, !x, !x)
      order <[0 at 0, 1 at 0, 2 at 0, 0 at 1, 1 at 1, 3 at 0, 2 at 1, 0 at 2, 1 at 2, 2 at 2], 2 * [3 at 1]> -> !g {
  ^bb0(%x: !x):
    %y = chakra.call @fwd(%x) scope "" : (!x) -> !x
    chakra.send "stage1.fwd.send"(%y) axis "pp" shift 1 channel 0 by 2 phase "fwd" : (!x)
    %d = chakra.recv "stage0.bwd.recv" axis "pp" shift 1 channel 1 by 2 phase "bwd" : !x
    chakra.turn_call to 0 first @bwd.first next @bwd.next last @bwd.last(%d, %y) : (!x, !x) -> ()
  }
  chakra.func @step(%sum : !g) {
    chakra.comp "adam"(%sum) updates(%w : !w) ops(3000) bytes(30000) phase "opt" : (!g) -> !w
  }
  chakra.call @step(%g) scope "" : (!g) -> ()
}

chakra.graph @last mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} {
  %w = chakra.state "w" : !w
  chakra.func @fwd(%x : !x) -> !x {
    %y = chakra.comp "fwd"(%x, %w) ops(1000) bytes(10000) phase "fwd" : (!x, !w) -> !x
    chakra.return %y : !x
  }
  chakra.func @bwd.first(%y : !x) -> (!x, !g) {
    %dx, %g = chakra.comp "bwd"(%y) ops(2000) bytes(20000) phase "bwd" : (!x) -> (!x, !g)
    chakra.return %dx, %g : !x, !g
  }
  chakra.func @bwd.next(%y : !x, %t : !g) -> (!x, !g) {
    %dx, %g = chakra.comp "bwd"(%y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x) -> (!x, !g)
    chakra.return %dx, %g : !x, !g
  }
  chakra.func @bwd.last(%y : !x, %t : !g) -> (!x, !g) {
    %dx, %g = chakra.comp "bwd"(%y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x) -> (!x, !g)
    chakra.return %dx, %g : !x, !g
  }
  %g = chakra.schedule "mb" * 3 order <3 * [0 at 0, 1 at 0, 2 at 0, 3 at 0]> -> !g {
    %x = chakra.recv "stage1.fwd.recv" axis "pp" shift -1 channel 0 by 2 phase "fwd" : !x
    %y = chakra.call @fwd(%x) scope "" : (!x) -> !x
    %d = chakra.turn_call to 0 first @bwd.first next @bwd.next last @bwd.last(%y) : (!x) -> !x
    chakra.send "stage0.bwd.send"(%d) axis "pp" shift -1 channel 1 by 2 phase "bwd" : (!x)
  }
  chakra.func @step(%sum : !g) {
    chakra.comp "adam"(%sum) updates(%w : !w) ops(3000) bytes(30000) phase "opt" : (!g) -> !w
  }
  chakra.call @step(%g) scope "" : (!g) -> ()
}

//--- calls.mlir
!x = !chakra.tensor<4096, activation>
!w = !chakra.tensor<8192, parameter>
!g = !chakra.tensor<8192, gradient>

chakra.graph @first mesh = #sym.mesh<pp = 2> coordinates = {pp = 0} {
  %x0 = chakra.state "mb0.x" : !x
  %x1 = chakra.state "mb1.x" : !x
  %x2 = chakra.state "mb2.x" : !x
  %w = chakra.state "w" : !w
  chakra.func @fwd(%x : !x) -> !x {
    %y = chakra.comp "fwd"(%x, %w) ops(1000) bytes(10000) phase "fwd" : (!x, !w) -> !x
    chakra.return %y : !x
  }
  chakra.func @bwd.first(%d : !x, %y : !x) -> !g {
    %g = chakra.comp "bwd"(%d, %y) ops(2000) bytes(20000) phase "bwd" : (!x, !x) -> !g
    chakra.return %g : !g
  }
  chakra.func @bwd.next(%d : !x, %y : !x, %t : !g) -> !g {
    %g = chakra.comp "bwd"(%d, %y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x, !x) -> !g
    chakra.return %g : !g
  }
  chakra.func @bwd.last(%d : !x, %y : !x, %t : !g) -> !g {
    %g = chakra.comp "bwd"(%d, %y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x, !x) -> !g
    chakra.return %g : !g
  }
  %y0 = chakra.call @fwd(%x0) scope "mb0" : (!x) -> !x
  chakra.send "mb0.stage1.fwd.send"(%y0) axis "pp" shift 1 channel 0 phase "fwd" : (!x)
  %d0 = chakra.recv "mb0.stage0.bwd.recv" axis "pp" shift 1 channel 1 phase "bwd" : !x
  %y1 = chakra.call @fwd(%x1) scope "mb1" : (!x) -> !x
  chakra.send "mb1.stage1.fwd.send"(%y1) axis "pp" shift 1 channel 2 phase "fwd" : (!x)
  %g0 = chakra.call @bwd.first(%d0, %y0) scope "mb0" : (!x, !x) -> !g
  %d1 = chakra.recv "mb1.stage0.bwd.recv" axis "pp" shift 1 channel 3 phase "bwd" : !x
  %y2 = chakra.call @fwd(%x2) scope "mb2" : (!x) -> !x
  chakra.send "mb2.stage1.fwd.send"(%y2) axis "pp" shift 1 channel 4 phase "fwd" : (!x)
  %d2 = chakra.recv "mb2.stage0.bwd.recv" axis "pp" shift 1 channel 5 phase "bwd" : !x
  %g1 = chakra.call @bwd.next(%d1, %y1, %g0) scope "mb1" : (!x, !x, !g) -> !g
  %g2 = chakra.call @bwd.last(%d2, %y2, %g1) scope "mb2" : (!x, !x, !g) -> !g
  chakra.func @step(%sum : !g) {
    chakra.comp "adam"(%sum) updates(%w : !w) ops(3000) bytes(30000) phase "opt" : (!g) -> !w
  }
  chakra.call @step(%g2) scope "" : (!g) -> ()
}

chakra.graph @last mesh = #sym.mesh<pp = 2> coordinates = {pp = 1} {
  %w = chakra.state "w" : !w
  chakra.func @fwd(%x : !x) -> !x {
    %y = chakra.comp "fwd"(%x, %w) ops(1000) bytes(10000) phase "fwd" : (!x, !w) -> !x
    chakra.return %y : !x
  }
  chakra.func @bwd.first(%y : !x) -> (!x, !g) {
    %dx, %g = chakra.comp "bwd"(%y) ops(2000) bytes(20000) phase "bwd" : (!x) -> (!x, !g)
    chakra.return %dx, %g : !x, !g
  }
  chakra.func @bwd.next(%y : !x, %t : !g) -> (!x, !g) {
    %dx, %g = chakra.comp "bwd"(%y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x) -> (!x, !g)
    chakra.return %dx, %g : !x, !g
  }
  chakra.func @bwd.last(%y : !x, %t : !g) -> (!x, !g) {
    %dx, %g = chakra.comp "bwd"(%y) updates(%t : !g) ops(2000) bytes(20000) phase "bwd" : (!x) -> (!x, !g)
    chakra.return %dx, %g : !x, !g
  }
  %x0 = chakra.recv "mb0.stage1.fwd.recv" axis "pp" shift -1 channel 0 phase "fwd" : !x
  %y0 = chakra.call @fwd(%x0) scope "mb0" : (!x) -> !x
  %d0, %g0 = chakra.call @bwd.first(%y0) scope "mb0" : (!x) -> (!x, !g)
  chakra.send "mb0.stage0.bwd.send"(%d0) axis "pp" shift -1 channel 1 phase "bwd" : (!x)
  %x1 = chakra.recv "mb1.stage1.fwd.recv" axis "pp" shift -1 channel 2 phase "fwd" : !x
  %y1 = chakra.call @fwd(%x1) scope "mb1" : (!x) -> !x
  %d1, %g1 = chakra.call @bwd.next(%y1, %g0) scope "mb1" : (!x, !g) -> (!x, !g)
  chakra.send "mb1.stage0.bwd.send"(%d1) axis "pp" shift -1 channel 3 phase "bwd" : (!x)
  %x2 = chakra.recv "mb2.stage1.fwd.recv" axis "pp" shift -1 channel 4 phase "fwd" : !x
  %y2 = chakra.call @fwd(%x2) scope "mb2" : (!x) -> !x
  %d2, %g2 = chakra.call @bwd.last(%y2, %g1) scope "mb2" : (!x, !g) -> (!x, !g)
  chakra.send "mb2.stage0.bwd.send"(%d2) axis "pp" shift -1 channel 5 phase "bwd" : (!x)
  chakra.func @step(%sum : !g) {
    chakra.comp "adam"(%sum) updates(%w : !w) ops(3000) bytes(30000) phase "opt" : (!g) -> !w
  }
  chakra.call @step(%g2) scope "" : (!g) -> ()
}
