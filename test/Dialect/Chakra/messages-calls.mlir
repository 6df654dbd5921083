// Messages, functions and calls, groups over part of an axis, nodes ahead and
// repeats that are numbered from elsewhere.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s

!x = !chakra.tensor<2*B*D, activation>
!w = !chakra.tensor<2*D*D, parameter>

// CHECK-LABEL: chakra.graph @first
chakra.graph @first mesh = #sym.mesh<tp = 2, pp = 4> coordinates = {pp = 0} {
  %w = chakra.state "w" : !w
  // CHECK: chakra.func @forward(%[[X:.*]] : !chakra.tensor<2*B*D, activation>) -> (!chakra.tensor<2*B*D, activation>, !chakra.token) {
  chakra.func @forward(%x : !x) -> (!x, !chakra.token) {
    %y = chakra.comp "ffn"(%x, %w) ops(1) bytes(1) : (!x, !w) -> !x
    %t = chakra.comp "mark"(%y) ops(1) bytes(1) : (!x) -> !chakra.token
    // CHECK: chakra.return %{{.*}}, %{{.*}} : !chakra.tensor<2*B*D, activation>, !chakra.token
    chakra.return %y, %t : !x, !chakra.token
  }
  // CHECK: chakra.func @nothing() {
  // CHECK-NEXT: }
  chakra.func @nothing() {
  }
  %x = chakra.state "x" : !x
  // CHECK: %[[Y:.*]]:2 = chakra.call @forward(%{{.*}}) scope "mb0" : (!chakra.tensor<2*B*D, activation>) -> (!chakra.tensor<2*B*D, activation>, !chakra.token)
  %y:2 = chakra.call @forward(%x) scope "mb0" : (!x) -> (!x, !chakra.token)
  // CHECK: chakra.call @nothing() scope "" : () -> ()
  chakra.call @nothing() scope "" : () -> ()
  // CHECK: chakra.send "send"(%[[Y]]#0) axis "pp" shift 1 channel 7 after(%[[Y]]#1 : !chakra.token) phase "fwd" : (!chakra.tensor<2*B*D, activation>)
  chakra.send "send"(%y#0) axis "pp" shift 1 channel 7 after(%y#1 : !chakra.token) phase "fwd" : (!x)
  // CHECK: chakra.recv "recv" axis "pp" shift 1 channel 8 after(%[[Y]]#1 : !chakra.token) phase "bwd" : !chakra.tensor<2*B*D, activation>, !chakra.stack<!chakra.tensor<2*B*D, activation>, 3>
  %d:2 = chakra.recv "recv" axis "pp" shift 1 channel 8 after(%y#1 : !chakra.token) phase "bwd" : !x, !chakra.stack<!x, 3>
  // CHECK: chakra.coll all_reduce "tied"(%{{.*}}) over ["pp"] among [0, 3] in_place
  %g = chakra.coll all_reduce "tied"(%d#0) over ["pp"] among [0, 3] in_place : (!x) -> !x
  // CHECK: chakra.coll all_gather "shards"(%{{.*}}) over ["tp"] in_place payload(B*D)
  %h = chakra.coll all_gather "shards"(%g) over ["tp"] in_place payload(B*D) : (!x) -> !x
}

// Two repeats of one name share no iteration, so names may repeat.
// CHECK-LABEL: chakra.graph @chunks
chakra.graph @chunks mesh = #sym.mesh<tp = 2> {
  // CHECK: chakra.repeat "layers" * 4 -> !chakra.stack
  %a = chakra.repeat "layers" * 4 -> !chakra.stack<!w, 4> {
    %w = chakra.state "w" : !w
    chakra.yield stack(%w : !w)
  }
  // CHECK: chakra.repeat "layers" * 4 from 8 -> !chakra.stack
  %b = chakra.repeat "layers" * 4 from 8 -> !chakra.stack<!w, 4> {
    %w = chakra.state "w" : !w
    chakra.yield stack(%w : !w)
  }
  // CHECK: chakra.repeat "blocks" * L from 2*L + 1 reverse {
  chakra.repeat "blocks" * L from 2*L + 1 reverse {
    chakra.comp "norm"() ops(1) bytes(1) : () -> ()
  }
  chakra.repeat "gathered" * 4 slices(%w = %b : !chakra.stack<!w, 4>) {
    // CHECK: chakra.coll all_gather "gather"(%{{.*}}) over ["tp"] ahead 2 phase "fwd"
    %g = chakra.coll all_gather "gather"(%w) over ["tp"] ahead 2 phase "fwd" : (!w) -> !chakra.tensor<4*D*D, communication>
  }
}
