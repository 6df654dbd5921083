// A pointwise op of one record goes from the model to nodes, with its backward pass.

// RUN: stg-test-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="tp=4" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s
// RUN: stg-test-opt %s --verify-roundtrip | FileCheck %s --check-prefix=TEXT

stg.symbol @B
stg.symbol @D
stg.symbol @V
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, V], bf16>
// TEXT: test.softcap %{{.*}} {cap = 3.000000e+01 : f64} : !stg.tensor<[B, V], bf16>{{$}}
// CHECK: chakra.comp "softcap.fwd"({{.*}}) ops(3*B*V/2) bytes(B*V) phase "fwd"
// CHECK: chakra.comp "softcap.bwd"({{.*}}) ops(B*V) bytes(B*V) phase "bwd"
func.func @f(%x: !x) -> !stg.tensor<[B, V], bf16> {
  %w = stg.param "w" : !w
  %l = stg.einsum "bd,dv->bv" %x, %w : !x, !w
  %y = test.softcap %l {cap = 30.0} : !stg.tensor<[B, V], bf16>
  return %y : !stg.tensor<[B, V], bf16>
}
