// RUN: stg-opt %s --verify-roundtrip | FileCheck %s

!act = !chakra.tensor<2*B*D*S/dp, activation>
!w = !chakra.tensor<2*D*D/tp, parameter>

// The graph of all ranks, and every category.
// CHECK-LABEL: chakra.graph @all_ranks mesh = #sym.mesh<tp = 8, dp = dp> {
chakra.graph @all_ranks mesh = #sym.mesh<tp = 8, dp = dp> {
  // CHECK: %{{.*}} = chakra.state "p" : !chakra.tensor<1024, parameter>
  %p = chakra.state "p" : !chakra.tensor<1024, parameter>
  // CHECK: chakra.state "g" : !chakra.tensor<4*D, gradient>
  %g = chakra.state "g" : !chakra.tensor<4*D, gradient>
  // CHECK: chakra.state "o" : !chakra.tensor<8*D, optimizer>
  %o = chakra.state "o" : !chakra.tensor<8*D, optimizer>
  // CHECK: chakra.state "a" : !chakra.tensor<{{.*}}, activation>
  %a = chakra.state "a" : !act
  // CHECK: chakra.state "t" : !chakra.tensor<1, temporary>
  %t = chakra.state "t" : !chakra.tensor<1, temporary>
  // CHECK: chakra.state "c" : !chakra.tensor<0, communication>
  %c = chakra.state "c" : !chakra.tensor<0, communication>
  // CHECK: chakra.state "i" : !chakra.tensor<4*B*S, input>
  %i = chakra.state "i" : !chakra.tensor<4*B*S, input>
  // CHECK: chakra.state "k" : !chakra.tensor<2, kv_cache>
  %k = chakra.state "k" : !chakra.tensor<2, kv_cache>
}

// CHECK-LABEL: chakra.graph @stage mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {pp = 1, tp = 0} {
chakra.graph @stage mesh = #sym.mesh<tp = 2, pp = 2> coordinates = {tp = 0, pp = 1} {
}

// CHECK-LABEL: chakra.graph @comp
chakra.graph @comp mesh = #sym.mesh<tp = 2> {
  // CHECK: %[[X:.*]] = chakra.state "x"
  %x = chakra.state "x" : !act
  // CHECK: %[[G:.*]] = chakra.state "g"
  %g = chakra.state "g" : !w
  // CHECK: chakra.comp "product"() ops(2*D) matrix bytes(D) phase "fwd" : () -> ()
  chakra.comp "product"() ops(2*D) matrix bytes(D) phase "fwd" : () -> ()
  // CHECK: chakra.comp "kernel"() ops(0) bytes(0) phase "fwd" : () -> () kernel <einsum bf16 -> f32, [B*S, D, 4, 1], accumulates>
  chakra.comp "kernel"() ops(0) bytes(0) phase "fwd" : () -> () kernel <einsum bf16 -> f32, [S*B, D, 4, 1], accumulates>
  // CHECK: chakra.comp "views"() ops(0) bytes(0) : () -> () kernel <add "" -> f8E4M3FN, [8]>
  chakra.comp "views"() ops(0) bytes(0) : () -> () kernel <add "" -> f8E4M3FN, [8]>
  // CHECK: chakra.comp "nothing"() ops(0) bytes(0) : () -> ()
  chakra.comp "nothing"() ops(0) bytes(0) : () -> ()
  // CHECK: %[[Y:.*]]:2 = chakra.comp "mlp.fwd"(%[[X]]) ops(2*B*D*S) bytes(B*S + 1) phase "fwd" : (!chakra.tensor<{{.*}}, activation>) -> (!chakra.tensor<{{.*}}, activation>, !chakra.token)
  %y, %done = chakra.comp "mlp.fwd"(%x) ops(2*B*S*D) bytes(1 + S*B) phase "fwd" : (!act) -> (!act, !chakra.token)
  // CHECK: %[[N:.*]]:2 = chakra.comp "mlp.dw"(%[[Y]]#0) updates(%[[G]] : !chakra.tensor<{{.*}}, parameter>) after(%[[Y]]#1, %[[X]] : !chakra.token, !chakra.tensor<{{.*}}, activation>) ops(1) bytes(2) : (!chakra.tensor<{{.*}}, activation>) -> (!chakra.tensor<1, temporary>, !chakra.tensor<{{.*}}, parameter>)
  %n:2 = chakra.comp "mlp.dw"(%y) updates(%g : !w) after(%done, %x : !chakra.token, !act) ops(1) bytes(2) : (!act) -> (!chakra.tensor<1, temporary>, !w)
}

// CHECK-LABEL: chakra.graph @coll
chakra.graph @coll mesh = #sym.mesh<tp = tp, dp = 2> {
  // CHECK: %[[W:.*]] = chakra.state "w"
  %w = chakra.state "w" : !w
  // CHECK: %[[G:.*]] = chakra.coll all_gather "w.all_gather"(%[[W]]) over ["tp"] : (!chakra.tensor<{{.*}}, parameter>) -> !chakra.tensor<2*D*D, communication>
  %g = chakra.coll all_gather "w.all_gather"(%w) over ["tp"] : (!w) -> !chakra.tensor<2*D*D, communication>
  // CHECK: %[[S:.*]] = chakra.coll reduce_scatter "w.reduce_scatter"(%[[G]]) over ["tp"] phase "bwd" : (!chakra.tensor<2*D*D, communication>) -> !chakra.tensor<{{.*}}, parameter>
  %s = chakra.coll reduce_scatter "w.reduce_scatter"(%g) over ["tp"] phase "bwd" : (!chakra.tensor<2*D*D, communication>) -> !w
  // CHECK: %[[R:.*]]:2 = chakra.coll all_reduce "w.all_reduce"(%[[S]], %[[W]]) over ["dp", "tp"] in_place after(%[[G]] : !chakra.tensor<2*D*D, communication>) phase "bwd" : ({{.*}}) -> ({{.*}})
  %r:2 = chakra.coll all_reduce "w.all_reduce"(%s, %w) over ["dp", "tp"] in_place after(%g : !chakra.tensor<2*D*D, communication>) phase "bwd" : (!w, !w) -> (!w, !w)
  // CHECK: chakra.coll all_to_all "w.all_to_all"(%[[R]]#0) over ["dp"] : (!chakra.tensor<{{.*}}, parameter>) -> !chakra.tensor<{{.*}}, communication>
  %a = chakra.coll all_to_all "w.all_to_all"(%r#0) over ["dp"] : (!w) -> !chakra.tensor<2*D*D/tp, communication>
  // CHECK: chakra.coll all_gather "foreign"() over ["dp"] payload(2*N) : () -> !chakra.token
  %t = chakra.coll all_gather "foreign"() over ["dp"] payload(2*N) : () -> !chakra.token
}

// CHECK-LABEL: chakra.graph @repeat
chakra.graph @repeat mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !act
  // Sliceless and carryless: only the collected states.
  // CHECK: %[[WS:.*]] = chakra.repeat "weights" * L -> !chakra.stack<!chakra.tensor<{{.*}}, parameter>, L> {
  %ws = chakra.repeat "weights" * L -> !chakra.stack<!w, L> {
    %w = chakra.state "w" : !w
    // CHECK: chakra.yield stack(%{{.*}} : !chakra.tensor<{{.*}}, parameter>)
    chakra.yield stack(%w : !w)
  }
  // CHECK: %[[Y:.*]]:2 = chakra.repeat "layers" * L carry(%[[H:.*]] = %{{.*}} : !chakra.tensor<{{.*}}, activation>) slices(%[[W:.*]] = %[[WS]] : !chakra.stack<!chakra.tensor<{{.*}}, parameter>, L>) -> (!chakra.tensor<{{.*}}, activation>, !chakra.stack<!chakra.stack<!chakra.tensor<{{.*}}, activation>, 2>, L>) {
  %y, %saved = chakra.repeat "layers" * L carry(%h = %x : !act) slices(%w = %ws : !chakra.stack<!w, L>) -> (!act, !chakra.stack<!chakra.stack<!act, 2>, L>) {
    // CHECK: chakra.repeat "half" * 2 carry(%{{.*}} = %[[H]]
    %z:2 = chakra.repeat "half" * 2 carry(%c = %h : !act) -> (!act, !chakra.stack<!act, 2>) {
      // CHECK: chakra.comp "ffn"(%{{.*}}, %[[W]])
      %n = chakra.comp "ffn"(%c, %w) ops(1) bytes(1) : (!act, !w) -> !act
      // CHECK: chakra.yield carry(%{{.*}} : {{.*}}) stack(%{{.*}} : {{.*}})
      chakra.yield carry(%n : !act) stack(%n : !act)
    }
    chakra.yield carry(%z#0 : !act) stack(%z#1 : !chakra.stack<!act, 2>)
  }
  // CHECK: chakra.repeat "layers" * L reverse carry(%{{.*}} = %[[Y]]#0 : {{.*}}) slices(%{{.*}} = %[[Y]]#1 : {{.*}}) -> {{.*}} attributes {note = "backward"} {
  %d = chakra.repeat "layers" * L reverse carry(%g = %y : !act) slices(%s = %saved : !chakra.stack<!chakra.stack<!act, 2>, L>) -> !act attributes {note = "backward"} {
    %n = chakra.comp "ffn.dx"(%g, %s) ops(1) bytes(1) : (!act, !chakra.stack<!act, 2>) -> !act
    chakra.yield carry(%n : !act)
  }
  // CHECK: chakra.repeat "nothing" * (H + 2*K)/tp {
  chakra.repeat "nothing" * (H + 2*K)/tp {
    // CHECK-NEXT: }
    chakra.yield
  }
}
