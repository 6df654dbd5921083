// Repeats in repeats: paths, stacks of stacks, swapped carries, no iterations.
//
// RUN: rm -rf %t && stg-translate --chakra-to-traces --trace-dir=%t %s
// RUN: %python %S/decode.py %t/workload.0.et | grep -v -e is_cpu_op -e num_ops -e tensor_size | FileCheck %s

!x = !chakra.tensor<8, activation>
!s = !chakra.tensor<4, temporary>

chakra.graph @ranks mesh = #sym.mesh<tp = 1> {
  %a = chakra.state "a" : !x
  %b = chakra.state "b" : !x
  // Iteration i of the outer and j of the inner repeat is node 2 * i + j; the outer
  // runs 0, 1, the inner 1, 0.
  // CHECK:      node 0 COMP outer.0.inner.1.f/COMP_NODE
  // CHECK-NEXT:   ctrl [] data []
  // CHECK-NEXT:   inputs: string_list [activation/a, 8, input/outer.0.p, 1, input/outer.0.inner.1.q, 2]
  // CHECK-NEXT:   outputs: string_list [outer.0.inner.1.f:0, 8, outer.0.inner.1.f:1, 4]
  // CHECK-NEXT: node 1 COMP outer.0.inner.0.f/COMP_NODE
  // CHECK-NEXT:   ctrl [0] data [0]
  // CHECK-NEXT:   inputs: string_list [outer.0.inner.1.f:0, 8, input/outer.0.p, 1, input/outer.0.inner.0.q, 2]
  // CHECK:      node 2 COMP outer.1.inner.1.f/COMP_NODE
  // CHECK-NEXT:   ctrl [1] data [1]
  // CHECK-NEXT:   inputs: string_list [outer.0.inner.0.f:0, 8, input/outer.1.p, 1, input/outer.1.inner.1.q, 2]
  // CHECK:      node 3 COMP outer.1.inner.0.f/COMP_NODE
  // CHECK-NEXT:   ctrl [2] data [2]
  %x, %ss = chakra.repeat "outer" * 2 carry(%c = %a : !x) -> (!x, !chakra.stack<!chakra.stack<!s, 2>, 2>) {
    %p = chakra.state "p" : !chakra.tensor<1, input>
    %y, %s = chakra.repeat "inner" * 2 reverse carry(%d = %c : !x) -> (!x, !chakra.stack<!s, 2>) {
      %q = chakra.state "q" : !chakra.tensor<2, input>
      %f:2 = chakra.comp "f"(%d, %p, %q) ops(1) bytes(1) : (!x, !chakra.tensor<1, input>, !chakra.tensor<2, input>) -> (!x, !s)
      chakra.yield carry(%f#0 : !x) stack(%f#1 : !s)
    }
    chakra.yield carry(%y : !x) stack(%s : !chakra.stack<!s, 2>)
  }
  // Slices of slices, outermost index first.
  // CHECK:      node 4 COMP back.1.i.0.g/COMP_NODE
  // CHECK-NEXT:   ctrl [3] data [3]
  // CHECK-NEXT:   inputs: string_list [outer.1.inner.0.f:1, 4]
  // CHECK:      node 5 COMP back.1.i.1.g/COMP_NODE
  // CHECK-NEXT:   ctrl [4] data [2]
  // CHECK-NEXT:   inputs: string_list [outer.1.inner.1.f:1, 4]
  // CHECK:      node 6 COMP back.0.i.0.g/COMP_NODE
  // CHECK-NEXT:   ctrl [5] data [1]
  // CHECK-NEXT:   inputs: string_list [outer.0.inner.0.f:1, 4]
  // CHECK:      node 7 COMP back.0.i.1.g/COMP_NODE
  // CHECK-NEXT:   ctrl [6] data [0]
  // CHECK-NEXT:   inputs: string_list [outer.0.inner.1.f:1, 4]
  chakra.repeat "back" * 2 reverse slices(%s = %ss : !chakra.stack<!chakra.stack<!s, 2>, 2>) {
    chakra.repeat "i" * 2 slices(%t = %s : !chakra.stack<!s, 2>) {
      chakra.comp "g"(%t) ops(1) bytes(1) : (!s) -> ()
    }
  }
  // After three swaps of a and b the first result is b.
  // CHECK:      node 8 COMP swapped/COMP_NODE
  // CHECK-NEXT:   ctrl [7] data []
  // CHECK-NEXT:   inputs: string_list [activation/b, 8]
  %swap:2 = chakra.repeat "swap" * 3 carry(%p = %a : !x, %q = %b : !x) -> (!x, !x) {
    chakra.yield carry(%q, %p : !x, !x)
  }
  chakra.comp "swapped"(%swap#0) ops(1) bytes(1) : (!x) -> ()
  // No iterations: the carry passes through, the stack has nothing in it.
  // CHECK:      node 9 COMP passed/COMP_NODE
  // CHECK-NEXT:   ctrl [8] data []
  // CHECK-NEXT:   inputs: string_list [activation/a, 8]
  // CHECK-NOT:  node
  %none:2 = chakra.repeat "none" * 0 carry(%c = %a : !x) -> (!x, !chakra.stack<!x, 0>) {
    %n = chakra.comp "n"(%c) ops(1) bytes(1) : (!x) -> !x
    chakra.yield carry(%n : !x) stack(%n : !x)
  }
  chakra.comp "passed"(%none#0, %none#1) ops(1) bytes(1) : (!x, !chakra.stack<!x, 0>) -> ()
}
