// What a layer has saved is loaded once in it, also where a ring inside of the layer reads it: before
// the layer's own readers, a layer ahead, and the ring has no loads. A loop whose own iterations
// saved it loads what they read.
//
// RUN: stg-opt %s --chakra-offload="what=activations" | FileCheck %s

!x = !chakra.tensor<64, activation>
!stack = !chakra.stack<!x, 3>
!rings = !chakra.stack<!x, 2>

// CHECK-LABEL: chakra.graph @ring
// CHECK: chakra.repeat "layers" * 3 reverse carry({{.*}}) slices(%[[H:.*]] = %{{.*}} : !chakra.stack<!chakra.tensor<64, host>, 3>)
// CHECK-NEXT: %[[L:.*]] = chakra.load "input0.bwd.load"(%[[H]]) ahead 1 phase "bwd"
// CHECK-NEXT: chakra.comp "a.bwd"
// CHECK-NEXT: chakra.repeat "ring" * 4
// CHECK-NEXT: chakra.comp "b.bwd"(%{{.*}}, %[[L]])
// CHECK-NEXT: chakra.yield
// CHECK: chakra.comp "c.bwd"(%{{.*}}, %[[L]])
// CHECK-NOT: chakra.load
chakra.graph @ring mesh = #sym.mesh<dp = 2> {
  %x0 = chakra.state "x" : !x
  %y, %xs = chakra.repeat "layers" * 3 carry(%x = %x0 : !x) -> (!x, !stack) {
    %b = chakra.comp "f.fwd"(%x) ops(1) bytes(1) phase "fwd" : (!x) -> !x
    chakra.yield carry(%b : !x) stack(%x : !x)
  }
  %d = chakra.repeat "layers" * 3 reverse carry(%dy = %y : !x) slices(%x = %xs : !stack) -> !x {
    %a = chakra.comp "a.bwd"(%dy) ops(1) bytes(1) phase "bwd" : (!x) -> !x
    %r = chakra.repeat "ring" * 4 carry(%e = %a : !x) -> !x {
      %b = chakra.comp "b.bwd"(%e, %x) ops(1) bytes(1) phase "bwd" : (!x, !x) -> !x
      chakra.yield carry(%b : !x)
    }
    %c = chakra.comp "c.bwd"(%r, %x) ops(1) bytes(1) phase "bwd" : (!x, !x) -> !x
    chakra.yield carry(%c : !x)
  }
}

// Slices of an inner loop are its own.
//
// CHECK-LABEL: chakra.graph @slices
// CHECK: chakra.repeat "layers" * 3 reverse
// CHECK-NEXT: chakra.repeat "parts" * 2 reverse carry({{.*}}) slices(%[[H:.*]] = %{{.*}} : !chakra.stack<!chakra.tensor<64, host>, 2>)
// CHECK-NEXT: %[[L:.*]] = chakra.load "input0.bwd.load"(%[[H]]) ahead 1 phase "bwd"
// CHECK-NEXT: chakra.comp "f.bwd"(%{{.*}}, %[[L]])
// CHECK-NOT: chakra.load
chakra.graph @slices mesh = #sym.mesh<dp = 2> {
  %x0 = chakra.state "x" : !x
  %y, %xs = chakra.repeat "layers" * 3 carry(%x = %x0 : !x) -> (!x, !chakra.stack<!rings, 3>) {
    %z, %as = chakra.repeat "parts" * 2 carry(%a = %x : !x) -> (!x, !rings) {
      %b = chakra.comp "f.fwd"(%a) ops(1) bytes(1) phase "fwd" : (!x) -> !x
      chakra.yield carry(%b : !x) stack(%a : !x)
    }
    chakra.yield carry(%z : !x) stack(%as : !rings)
  }
  %d = chakra.repeat "layers" * 3 reverse carry(%dy = %y : !x) slices(%as = %xs : !chakra.stack<!rings, 3>) -> !x {
    %dx = chakra.repeat "parts" * 2 reverse carry(%da = %dy : !x) slices(%a = %as : !rings) -> !x {
      %db = chakra.comp "f.bwd"(%da, %a) ops(1) bytes(1) phase "bwd" : (!x, !x) -> !x
      chakra.yield carry(%db : !x)
    }
    chakra.yield carry(%dx : !x)
  }
}
