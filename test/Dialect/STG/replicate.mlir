// Replicas of slices: the gradient is a sum over them, on one device or over several.
//
// RUN: stg-opt %s | stg-opt | FileCheck %s
// RUN: stg-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// RUN: stg-opt %s --stg-name-ops --stg-autodiff | FileCheck %s --check-prefix=GRAD
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

stg.symbol @B
stg.symbol @D
stg.symbol @K
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, K], bf16>
!r = !stg.tensor<[D, 3*K], bf16>
!y = !stg.tensor<[B, 3*K], bf16>

// The replicated parameter is not saved for the backward pass but made again, and its
// gradient has the type of gradients.
//
// CHECK-LABEL: func.func @layers(
// GRAD-LABEL: func.func @layers(
// COST-LABEL: chakra.graph @layers
func.func @layers(%x: !x) -> !stg.tensor<[B, D], bf16> {
  %z = stg.repeat "layers" * 4 carry(%c = %x : !x) {
    %w = stg.param "w" : !w
    // CHECK: stg.replicate dim 1 %{{.*}} : !stg.tensor<[D, K], bf16> -> !stg.tensor<[D, 3*K], bf16>
    // COST: chakra.comp "w.fwd"(%{{.*}}) ops(0) bytes(8*D*K) phase "fwd"
    %r = stg.replicate dim 1 %w : !w -> !r
    %y = stg.einsum "bd,dk->bk" %c, %r <"up"> : !x, !r
    %o = stg.param "o" : !stg.tensor<[3*K, D], bf16>
    %d = stg.einsum "bk,kd->bd" %y, %o : !y, !stg.tensor<[3*K, D], bf16>
    // GRAD: stg.yield %{{.*}}, %{{.*}}, %{{.*}} : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, 3*K], bf16>, !stg.tensor<[B, D], bf16>
    stg.yield %d : !x
  }
  // GRAD: stg.repeat "layers" * 4 reverse
  // GRAD: %[[R:.*]] = stg.replicate dim 1 %{{.*}} <"w" bwd>
  // GRAD: stg.einsum "bk,dk->bd" %{{.*}}, %[[R]]
  // GRAD: %[[DW:.*]] = stg.einsum "bd,bk->dk" {{.*}}dw> : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, 3*K], bf16>
  // GRAD: stg.replicate_grad dim 1 %[[DW]] <"w" bwd replicas> : !stg.tensor<[D, 3*K], f32> -> !stg.tensor<[D, K], f32>
  // COST: chakra.comp "w.bwd.replicas"(%{{.*}}) ops(3*D*K) bytes(16*D*K) phase "bwd"
  return %z : !x
}

// One replica of each is the operand.
//
// FOLD-LABEL: func.func private @one(
// FOLD-SAME: %[[W:.*]]: !stg.tensor<[D, K], bf16>
func.func private @one(%w: !w) -> !w {
  // FOLD-NEXT: return %[[W]]
  %r = stg.replicate dim 1 %w : !w -> !w
  %g = stg.replicate_grad dim 0 %r : !w -> !w
  return %g : !w
}
