// RUN: stg-opt %s --chakra-offload="what=activations" | FileCheck %s

// Loops in a loop that are done again as a whole: what an inner loop starts with
// is stored by the forward pass and loaded before the inner loop.

// CHECK-LABEL: chakra.graph @step
// CHECK: %[[FWD:.*]]:2 = chakra.repeat "groups" * 3 carry({{.*}}) -> (!chakra.tensor<64, activation>, !chakra.stack<!chakra.tensor<64, host>, 3>) {
// CHECK-NEXT: %[[S:.*]] = chakra.store "input0.store"(%[[X:.*]]) phase "fwd" : (!chakra.tensor<64, activation>) -> !chakra.tensor<64, host>
// CHECK: chakra.yield carry(%{{.*}} : !chakra.tensor<64, activation>) stack(%[[S]] : !chakra.tensor<64, host>)
// CHECK: chakra.repeat "groups" * 3 reverse carry({{.*}}) slices(%[[H:.*]] = %[[FWD]]#1 : !chakra.stack<!chakra.tensor<64, host>, 3>)
// CHECK-NEXT: %[[L:.*]] = chakra.load "input0.recompute.load"(%[[H]]) phase "recompute" : (!chakra.tensor<64, host>) -> !chakra.tensor<64, activation>
// CHECK-NEXT: chakra.repeat "layers" * 2 carry(%{{.*}} = %[[L]] : !chakra.tensor<64, activation>)
// CHECK-NOT: chakra.load
!x = !chakra.tensor<64, activation>
chakra.graph @step mesh = #sym.mesh<dp = 2> {
  %x0 = chakra.state "x" : !x
  %y, %xs = chakra.repeat "groups" * 3 carry(%x = %x0 : !x) -> (!x, !chakra.stack<!x, 3>) {
    %z = chakra.repeat "layers" * 2 carry(%a = %x : !x) -> !x {
      %b = chakra.comp "f.fwd"(%a) ops(1) bytes(1) phase "fwd" : (!x) -> !x
      chakra.yield carry(%b : !x)
    }
    chakra.yield carry(%z : !x) stack(%x : !x)
  }
  %d = chakra.repeat "groups" * 3 reverse carry(%dy = %y : !x) slices(%x = %xs : !chakra.stack<!x, 3>) -> !x {
    %z, %as = chakra.repeat "layers" * 2 carry(%a = %x : !x) -> (!x, !chakra.stack<!x, 2>) {
      %b = chakra.comp "f.recompute"(%a) ops(1) bytes(1) phase "recompute" : (!x) -> !x
      chakra.yield carry(%b : !x) stack(%a : !x)
    }
    %dx = chakra.repeat "layers" * 2 reverse carry(%da = %dy : !x) slices(%a = %as : !chakra.stack<!x, 2>) -> !x {
      %db = chakra.comp "f.bwd"(%da, %a) ops(1) bytes(1) phase "bwd" : (!x, !x) -> !x
      chakra.yield carry(%db : !x)
    }
    chakra.yield carry(%dx : !x)
  }
}
