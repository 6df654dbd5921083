// A collective that no pass knows is merged, delayed, coalesced and converted through its
// interface.

// RUN: stg-test-opt %s --stg-simplify-collectives | FileCheck %s --check-prefix=LOCAL
// RUN: stg-test-opt %s --stg-simplify-collectives --stg-bucket-gradients --convert-stg-to-chakra | FileCheck %s

stg.mesh @mesh <dp = 4 : data, tp = 2 : tensor>

!x = !stg.tensor<[8, 4], bf16>
!h = !stg.tensor<[8, 6], bf16>
!w = !stg.tensor<[4, 6], bf16>
!g = !stg.tensor<[4, 6], f32>

// Two branches are summed before they are reduced, equal collectives are one, and those
// of other bits are others. Gradients are reduced together, before the optimizer.

// LOCAL-LABEL: func.func @f
// LOCAL: %[[SUM:.*]] = stg.add
// LOCAL-NEXT: %[[Y:.*]] = test.quantized_all_reduce bits 8 over ["tp"] %[[SUM]] <"a"> : !stg.tensor<[8, 4], bf16> -> !stg.tensor<[8, 4], bf16>
// LOCAL-NEXT: %[[A:.*]] = test.quantized_all_reduce bits 4 over ["tp"] %[[Y]] <"c"> : !stg.tensor<[8, 4], bf16> -> !stg.tensor<[8, 4], bf16>
// LOCAL-NEXT: stg.add %[[A]], %[[A]]

// CHECK-LABEL: chakra.graph @f
// CHECK: chakra.comp "y.fwd"
// CHECK: chakra.coll all_reduce "a.fwd.all_reduce"(%{{.*}}) over ["tp"] in_place payload(32) phase "fwd" : (!chakra.tensor<64, activation>) -> !chakra.tensor<64, activation>
// CHECK: chakra.coll all_reduce "c.fwd.all_reduce"(%{{.*}}) over ["tp"] payload(16) phase "fwd" : (!chakra.tensor<64, activation>) -> !chakra.tensor<64, communication>
// CHECK: chakra.coll all_reduce "gradients.grad_sync.all_reduce"(%{{.*}}, %{{.*}}) over ["dp"] in_place payload(24) phase "grad_sync" : (!chakra.tensor<96, gradient>, !chakra.tensor<96, gradient>) -> (!chakra.tensor<96, gradient>, !chakra.tensor<96, gradient>)
// CHECK-NOT: chakra.coll
// CHECK: chakra.comp "u.opt"
// CHECK: chakra.comp "v.opt"
func.func @f(%x: !x {stg.name = "x"}, %h: !h {stg.name = "h"}) {
  %u = stg.param "u" : !w
  %v = stg.param "v" : !w
  %p = stg.einsum "bf,df->bd" %h, %u <"p"> : !h, !w
  %q = stg.einsum "bf,df->bd" %h, %v <"q"> : !h, !w
  %a = test.quantized_all_reduce bits 8 over ["tp"] %p <"a"> : !x -> !x
  %b = test.quantized_all_reduce bits 8 over ["tp"] %q <"b"> : !x -> !x
  %y = stg.add %a, %b <"y"> : !x, !x
  %c = test.quantized_all_reduce bits 4 over ["tp"] %y <"c"> : !x -> !x
  %d = test.quantized_all_reduce bits 4 over ["tp"] %y <"d"> : !x -> !x
  %z = stg.add %c, %d <"z"> : !x, !x
  %du = stg.einsum "bf,bd->df" %h, %z {into = f32} <"p" bwd dw> : !h, !x
  %ru = test.quantized_all_reduce bits 4 over ["dp"] %du <"p" grad_sync dw> : !g -> !g
  %dv = stg.einsum "bf,bd->df" %h, %y {into = f32} <"q" bwd dw> : !h, !x
  %rv = test.quantized_all_reduce bits 4 over ["dp"] %dv <"q" grad_sync dw> : !g -> !g
  %nu = stg.adam f32 %u, %ru <"u" opt> : !w, !g
  %nv = stg.adam f32 %v, %rv <"v" opt> : !w, !g
  return
}
