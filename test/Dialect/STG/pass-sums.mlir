// What ops make of parameters alone has a gradient that stays a partial sum over data ranks
// until it is that of the parameters: these are reduced, once per step.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-optimizer --stg-apply-preset="dp=2" \
// RUN:   --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives \
// RUN:   --stg-check-layouts -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=COUNT < %t.mlir

// Four parameters, four reductions, and none before backward is done with them.
// COUNT-COUNT-4: stg.all_reduce
// COUNT-NOT: stg.all_reduce

stg.symbol @B
stg.symbol @D
stg.symbol @L
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], bf16>
!v = !stg.tensor<[D], bf16>
!s = !stg.tensor<[], bf16>

// In a layer the gate is what tanh has made of a parameter, which forward stacks.
// CHECK:      %[[DGATE:.*]] = stg.mul_along_grad {{.*}} <"gated" bwd drhs>
// CHECK-NEXT: %[[DTANH:.*]] = stg.activation_grad tanh {{.*}}, %[[DGATE]] <"tanh" bwd>
// CHECK-NEXT: %[[DPARAM:.*]] = stg.cast %[[DTANH]] <"tanh" bwd cast>
// CHECK:      stg.yield {{%[^,]*, %[^,]*}}, %[[DPARAM]] :

// The weight is a direction and a length.
// CHECK:      %[[DWEIGHT:.*]] = stg.einsum "bd,be->de" {{.*}} <"proj" bwd dx>
// CHECK-NEXT: %[[DDIRECTION:.*]] = stg.mul_along %[[DWEIGHT]], {{.*}} <"weight" bwd dlhs>
// CHECK-NEXT: %[[CAST:.*]] = stg.cast %[[DDIRECTION]] <"weight" bwd cast>
// CHECK-NEXT: stg.all_reduce sum over ["dp"] %[[CAST]] <"weight" grad_sync cast> : !stg.tensor<[D, D], f32>
// CHECK-NEXT: %[[DLENGTH:.*]] = stg.mul_along_grad {{.*}}, %[[DWEIGHT]] {{.*}} <"weight" bwd drhs>
// CHECK-NEXT: stg.all_reduce sum over ["dp"] %[[DLENGTH]] <"weight" grad_sync drhs> : !stg.tensor<[D], f32>
// CHECK:      stg.all_reduce sum over ["dp"] {{.*}} <grad_sync> : !stg.tensor<[layers = L, D, D], f32>
// CHECK-NEXT: stg.all_reduce sum over ["dp"] {{.*}} <grad_sync> : !stg.tensor<[layers = L], f32>

func.func @f(%x: !x) -> !x {
  %direction = stg.param "direction" : !w
  %length = stg.param "length" : !v
  %w = stg.mul_along %direction, %length {dims = array<i64: 1>} <"weight"> : !w, !v
  %y = stg.einsum "bd,de->be" %x, %w <"proj"> : !x, !w
  %z = stg.repeat "layers" * L carry(%h = %y : !x) {
    %own = stg.param "own" : !w
    %u = stg.einsum "bd,de->be" %h, %own <"own"> : !x, !w
    %gate = stg.param "gate" : !s
    %tanh = stg.activation tanh %gate <"tanh"> : !s
    %gated = stg.mul_along %u, %tanh {dims = array<i64>} <"gated"> : !x, !s
    %sum = stg.add %h, %gated <"sum"> : !x, !x
    stg.yield %sum : !x
  }
  return %z : !x
}
