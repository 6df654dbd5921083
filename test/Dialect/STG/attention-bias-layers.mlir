// A bias of scores by relative position, of a table that each layer has: what the gradient of the
// bias becomes by a linear op is a partial sum, too, is stacked so, and the stack is reduced.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2" --stg-propagate-shardings | FileCheck %s --check-prefix=PLAN
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2" --stg-propagate-shardings --stg-insert-collectives \
// RUN:   | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="dp=2" --stg-propagate-shardings="delay-gradients=false" \
// RUN:   --stg-insert-collectives | FileCheck %s --check-prefix=EACH

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
stg.symbol @L
!q = !stg.tensor<[B, S, H, E], bf16>
!b = !stg.tensor<[H, S, _ = S], bf16>

// PLAN: %[[DBIAS:.*]] = stg.relative_bias_grad %dterms <"bias" bwd dw> : !stg.tensor<[H, S, _ = S], bf16, sum(dp)> -> !stg.tensor<[32, H], f32, sum(dp)>
// PLAN-NEXT: stg.yield %{{[0-9]+}}, %[[DBIAS]] : !stg.tensor<[B : dp, S, H, E], bf16>, !stg.tensor<[32, H], f32, sum(dp)>

// CHECK-NOT: all_reduce
// CHECK: %[[DBIAS:.*]] = stg.relative_bias_grad %dterms <"bias" bwd dw> : !stg.tensor<[H, S, _ = S], bf16> -> !stg.tensor<[32, H], f32>
// CHECK-NEXT: stg.yield %{{[0-9]+}}, %[[DBIAS]] : !stg.tensor<[B/2, S, H, E], bf16>, !stg.tensor<[32, H], f32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[ALL:.*]] = stg.all_reduce sum over ["dp"] %{{[0-9]+}}#1 <fwd> : !stg.tensor<[layers = L, 32, H], f32>
// CHECK-NEXT: return %{{[0-9]+}}#0, %[[ALL]] : !stg.tensor<[B/2, S, H, E], bf16>, !stg.tensor<[layers = L, 32, H], f32>

// Where gradients do not wait, each layer reduces its own.
// EACH-NOT: all_reduce
// EACH: %[[DBIAS:.*]] = stg.relative_bias_grad %dterms <"bias" bwd dw> : !stg.tensor<[H, S, _ = S], bf16> -> !stg.tensor<[32, H], f32>
// EACH-NEXT: %[[ALL:.*]] = stg.all_reduce sum over ["dp"] %[[DBIAS]] <"bias" bwd dw> : !stg.tensor<[32, H], f32>
// EACH-NEXT: stg.yield %{{[0-9]+}}, %[[ALL]] : !stg.tensor<[B/2, S, H, E], bf16>, !stg.tensor<[32, H], f32>
// EACH-NEXT: }
// EACH-NEXT: return
func.func @layers(%x: !q) -> !q {
  %y = stg.repeat "layers" * L carry(%c = %x : !q) {
    %t = stg.param "table" : !stg.tensor<[32, H], bf16>
    %b = stg.relative_bias %t <"bias"> : !stg.tensor<[32, H], bf16> -> !b
    %a, %lse = stg.attention none %c, %c, %c, %b <"attention"> : !q, !q, !q, !b
    stg.yield %a : !q
  }
  return %y : !q
}
