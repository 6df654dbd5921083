// The nodes of a repeat: carries, slices and stacks, in both directions.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s
// RUN: %python %S/decode.py %t/workload.1.et | FileCheck %s

!x = !chakra.tensor<8192, activation>
!s = !chakra.tensor<100, temporary>
!w = !chakra.tensor<64, parameter>

// Two forward iterations: nodes 0, 1 and 2, 3; then two backward iterations,
// which meet the iterations in the order 1, 0: nodes 4 and 5.
chakra.graph @ranks mesh = #sym.mesh<tp = 2> {
  %x = chakra.state "x" : !chakra.tensor<8192, activation>
  %y, %saved, %ws = chakra.repeat "layers" * 2 carry(%c = %x : !x) -> (!x, !chakra.stack<!s, 2>, !chakra.stack<!w, 2>) {
    %w = chakra.state "w" : !w
    %n = chakra.comp "norm"(%c) ops(7) bytes(5) : (!x) -> !x
    %o, %s = chakra.comp "mlp.fwd"(%n, %w) ops(10) bytes(20) : (!x, !w) -> (!x, !s)
    chakra.yield carry(%o : !x) stack(%s, %w : !s, !w)
  }
  %d = chakra.repeat "layers" * 2 reverse carry(%c = %y : !x) slices(%s = %saved : !chakra.stack<!s, 2>, %w = %ws : !chakra.stack<!w, 2>) -> !x {
    %o = chakra.comp "mlp.dx"(%c, %s, %w) ops(30) bytes(40) : (!x, !s, !w) -> !x
    chakra.yield carry(%o : !x)
  }
  // All slices of a stack at once.
  chakra.comp "end"(%d, %saved) ops(1) bytes(1) : (!x, !chakra.stack<!s, 2>) -> ()
}

// CHECK:      metadata version "stg-0.1.0 chakra-0.0.4"
// CHECK-NEXT:   persistent_tensors: string_list [parameter/*, activation/*]
// The first node is a root: its 5 bytes would take no time.
// CHECK-NEXT: node 0 COMP layers.0.norm/COMP_NODE
// CHECK-NEXT:   ctrl [] data []
// CHECK-NEXT:   is_cpu_op: bool false
// CHECK-NEXT:   num_ops: int64 7
// CHECK-NEXT:   tensor_size: uint64 4096
// CHECK-NEXT:   exact_tensor_size: int64 5
// CHECK-NEXT:   inputs: string_list [activation/x, 8192]
// CHECK-NEXT:   outputs: string_list [layers.0.norm:0, 8192]
// CHECK-NEXT: node 1 COMP layers.0.mlp.fwd/COMP_NODE
// CHECK-NEXT:   ctrl [0] data [0]
// CHECK-NEXT:   is_cpu_op: bool false
// CHECK-NEXT:   num_ops: int64 10
// CHECK-NEXT:   tensor_size: uint64 20
// CHECK-NEXT:   inputs: string_list [layers.0.norm:0, 8192, parameter/layers.0.w, 64]
// CHECK-NEXT:   outputs: string_list [layers.0.mlp.fwd:0, 8192, layers.0.mlp.fwd:1, 100]
// CHECK-NEXT: node 2 COMP layers.1.norm/COMP_NODE
// CHECK-NEXT:   ctrl [1] data [1]
// CHECK:        inputs: string_list [layers.0.mlp.fwd:0, 8192]
// CHECK-NEXT:   outputs: string_list [layers.1.norm:0, 8192]
// CHECK-NEXT: node 3 COMP layers.1.mlp.fwd/COMP_NODE
// CHECK-NEXT:   ctrl [2] data [2]
// CHECK:        inputs: string_list [layers.1.norm:0, 8192, parameter/layers.1.w, 64]
// CHECK-NEXT:   outputs: string_list [layers.1.mlp.fwd:0, 8192, layers.1.mlp.fwd:1, 100]
// CHECK-NEXT: node 4 COMP layers.1.mlp.dx/COMP_NODE
// CHECK-NEXT:   ctrl [3] data [3]
// CHECK:        inputs: string_list [layers.1.mlp.fwd:0, 8192, layers.1.mlp.fwd:1, 100, parameter/layers.1.w, 64]
// CHECK-NEXT:   outputs: string_list [layers.1.mlp.dx:0, 8192]
// CHECK-NEXT: node 5 COMP layers.0.mlp.dx/COMP_NODE
// CHECK-NEXT:   ctrl [4] data [1, 4]
// CHECK:        inputs: string_list [layers.1.mlp.dx:0, 8192, layers.0.mlp.fwd:1, 100, parameter/layers.0.w, 64]
// CHECK-NEXT:   outputs: string_list [layers.0.mlp.dx:0, 8192]
// CHECK-NEXT: node 6 COMP end/COMP_NODE
// CHECK-NEXT:   ctrl [5] data [1, 3, 5]
// CHECK:        inputs: string_list [layers.0.mlp.dx:0, 8192, layers.0.mlp.fwd:1, 100, layers.1.mlp.fwd:1, 100]
// CHECK-NEXT:   outputs: string_list []
// CHECK-NOT: node
