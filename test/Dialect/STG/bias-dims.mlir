// Biases of experts: a bias that has other dimensions than the last ones, and its gradient.
//
// RUN: stg-opt %s --verify-roundtrip --stg-autodiff | FileCheck %s

stg.symbol @X
stg.symbol @C
stg.symbol @D
stg.symbol @F

!rows = !stg.tensor<[X, C, D], bf16>
!w = !stg.tensor<[X, D, F], bf16>
!b = !stg.tensor<[X, F], bf16>
!hidden = !stg.tensor<[X, C, F], bf16>

// CHECK-LABEL: func.func @experts
// CHECK: stg.bias_add %{{.*}}, %{{.*}} {dims = array<i64: 0, 2>} <"b" fwd> : !stg.tensor<[X, C, F], bf16>, !stg.tensor<[X, F], bf16>
// CHECK: %[[D:.*]] = stg.bias_grad %{{.*}} {dims = array<i64: 0, 2>} <"b" bwd db> : !stg.tensor<[X, C, F], bf16> -> !stg.tensor<[X, F], f32>
// CHECK: return {{.*}}%[[D]]
func.func @experts(%x: !rows) -> !hidden {
  %w = stg.param "w" : !w
  %p = stg.einsum "xcd,xdf->xcf" %x, %w <"w"> : !rows, !w
  %b = stg.param "b" : !b
  %y = stg.bias_add %p, %b {dims = array<i64: 0, 2>} <"b"> : !hidden, !b
  return %y : !hidden
}
