// A ring of four where each device has the queries of one range: blocks of later ranges are
// passed on, but not computed. All devices send and receive equally often.
//
// RUN: stg-opt %s --stg-lower-context-parallel --convert-stg-to-chakra | FileCheck %s --check-prefix=ALL
// RUN: stg-opt %s --stg-lower-context-parallel --convert-stg-to-chakra --chakra-split-classes | FileCheck %s

stg.symbol @cp_index coordinate "cp"
stg.mesh @mesh <cp = 4>
!x = !stg.tensor<[2, 8, 4, 16], bf16>
!lse = !stg.tensor<[2, 8, 4], f32>

// A pair is 4*16*4*2 = 512 operations; a block of a range before has 64 pairs, the own 36.
//
// ALL-LABEL: chakra.graph @f
// ALL: chakra.comp "o.fwd.own"({{.*}}) ops(18432) matrix
// ALL: chakra.repeat "o.fwd.ring" * min(cp_index, 2)
// ALL: ops(32768) matrix
// ALL: chakra.repeat "o.fwd.hidden" * -min(cp_index, 2) + 2
// ALL-NOT: chakra.comp
// ALL: chakra.repeat "o.fwd.farthest" * max(cp_index - 2, 0)
// ALL: ops(32768) matrix
// ALL: chakra.comp "g.fwd.farthest"({{.*}}) ops(65536*max(cp_index - 2, 0)) matrix
// ALL: chakra.repeat "g.fwd.hidden" * -min(cp_index, 2) + 2
// ALL-NOT: chakra.comp
// ALL: chakra.repeat "g.fwd.ring" * min(cp_index, 2)
// ALL: ops(65536) matrix
// ALL: chakra.comp "g.fwd.own"({{.*}}) ops(36864) matrix

// CHECK-LABEL: chakra.graph @f.cp0
// CHECK:       chakra.comp "o.fwd.own"
// CHECK-NEXT:  %[[PASSED:.*]]:4 = chakra.repeat "o.fwd.hidden" * 2
// CHECK-NOT:   chakra.comp
// CHECK:       chakra.send "g.fwd.first.send"
// CHECK-NEXT:  chakra.recv "g.fwd.first.recv"
// Gradients are set to zero, and nothing is read for that.
// CHECK-NEXT:  chakra.comp "g.fwd.farthest"({{.*}}) ops(0) matrix bytes(6144)
// CHECK-NEXT:  chakra.repeat "g.fwd.hidden" * 2
// CHECK-NOT:   chakra.comp
// CHECK:       chakra.comp "g.fwd.own"

// CHECK-LABEL: chakra.graph @f.cp1
// CHECK:       chakra.repeat "o.fwd.ring" * 1
// CHECK:       chakra.repeat "o.fwd.hidden" * 1
// CHECK-NOT:   "o.fwd.last"
// CHECK:       chakra.comp "g.fwd.farthest"({{.*}}) ops(0)

// CHECK-LABEL: chakra.graph @f.cp3
// CHECK:       chakra.repeat "o.fwd.ring" * 2
// CHECK-NOT:   chakra.repeat "o.fwd.hidden"
// CHECK:       chakra.repeat "o.fwd.farthest" * 1
// CHECK:       chakra.comp "g.fwd.farthest"({{.*}}) ops(65536) matrix bytes(16640)
// CHECK-NOT:   chakra.repeat "g.fwd.hidden"
// CHECK:       chakra.repeat "g.fwd.ring" * 2
func.func @f(%q: !x, %k: !x, %v: !x, %do: !x) {
  %o, %lse = stg.attention causal %q, %k, %v {context = #stg.context<p2p range over ["cp"]>} <"o"> : !x, !x, !x
  %g:3 = stg.attention_grad causal %q, %k, %v, %o, %lse, %do {context = #stg.context<p2p range over ["cp"]>} <"g"> : !x, !x, !x, !x, !lse, !x
  return
}
