// RUN: stg-opt %s --chakra-repeat-steps="count=4 first=8" --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --chakra-repeat-steps=count=4 | stg-translate --chakra-to-traces --trace-dir=%t
// RUN: stg-trace validate %t
// RUN: stg-trace print %t --rank=0 | FileCheck %s --check-prefix=TRACE

!t = !chakra.tensor<64, temporary>
!c = !chakra.tensor<16*step + 16, temporary>
!k = !chakra.tensor<128, kv_cache>

// CHECK: chakra.graph @decode
chakra.graph @decode mesh = #sym.mesh<tp = 2> {
  // CHECK-NEXT: chakra.state "x"
  %x = chakra.state "x" : !t
  // CHECK-NEXT: %[[LAYERS:.*]] = chakra.repeat "layers" * 2
  // CHECK-NEXT:   chakra.state "k"
  %ks = chakra.repeat "layers" * 2 -> !chakra.stack<!k, 2> {
    %k = chakra.state "k" : !k
    chakra.yield stack(%k : !k)
  }
  // CHECK:      chakra.repeat "step" * 4 from 8 index "step" {
  // CHECK-NEXT:   chakra.comp "read"
  %y = chakra.comp "read"(%x) ops(32) bytes(128) : (!t) -> !t
  // CHECK-NEXT:   chakra.repeat "layers" * 2 carry
  %z = chakra.repeat "layers" * 2 carry(%a = %y : !t) slices(%k = %ks : !chakra.stack<!k, 2>) -> !t {
    %new = chakra.comp "write"(%a) updates(%k : !k) ops(0) bytes(16) : (!t) -> !k
    // CHECK: "gather"({{.*}}) ops(0) bytes(16*step + 16)
    %g = chakra.comp "gather"(%new) ops(0) bytes(16*step + 16) : (!k) -> !c
    %b = chakra.comp "attention"(%a, %g) ops(64*step + 36) bytes(min(step, 2) + 8) : (!t, !c) -> !t
    %r = chakra.coll all_reduce "reduce"(%b) over ["tp"] in_place : (!t) -> !t
    chakra.yield carry(%r : !t)
  }
  // CHECK:      chakra.coll all_gather "all"
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  chakra.coll all_gather "all"(%z) over ["tp"] payload(8*step + 8) : (!t) -> !chakra.token
}

// TRACE-COUNT-2: "name":"step.0.layers.{{[01]}}.attention/COMP_NODE"
// TRACE: "name":"step.3.layers.1.gather/COMP_NODE"
// TRACE: "name":"step.3.layers.1.attention/COMP_NODE"
