// A table that is only looked up has no gradient with sparse gradients; one that something else
// reads, as a head that is tied, has.
//
// RUN: stg-opt %s --stg-autodiff --stg-optimizer=sparse -split-input-file -verify-diagnostics | FileCheck %s

stg.symbol @B
stg.symbol @V
stg.symbol @D
!ids = !stg.tensor<[B], i32>
!table = !stg.tensor<[V, D], bf16>
!x = !stg.tensor<[B, D], bf16>

// CHECK-LABEL: func.func @untied
// CHECK-NOT: embedding_grad
// CHECK: stg.einsum {{.*}} <"head" bwd dw>
// CHECK: %[[T:.*]] = stg.param "table"
// CHECK: stg.row_adagrad %[[T]], %{{.*}}, %{{.*}} <"table" bwd dw> : !stg.tensor<[V, D], bf16>, !stg.tensor<[B], i32>, !stg.tensor<[B, D], bf16>
// CHECK: %[[H:.*]] = stg.param "head"
// CHECK: stg.adam f32 %[[H]],
// CHECK-NOT: stg.adam
func.func @untied(%ids: !ids) -> !stg.tensor<[B, V], bf16> {
  %t = stg.param "table" : !table
  %e = stg.embedding %t, %ids <"table"> : !table, !ids
  %h = stg.param "head" : !table
  %y = stg.einsum "bd,vd->bv" %e, %h <"head"> : !x, !table
  return %y : !stg.tensor<[B, V], bf16>
}

// -----

stg.symbol @B
stg.symbol @V
stg.symbol @D
!ids = !stg.tensor<[B], i32>
!table = !stg.tensor<[V, D], bf16>
!x = !stg.tensor<[B, D], bf16>

// expected-error @below {{sparse gradients have no effect: no parameter at the top of the program is a table whose rows are looked up once and that nothing else reads}}
func.func @tied(%ids: !ids) -> !stg.tensor<[B, V], bf16> {
  %t = stg.param "table" : !table
  %e = stg.embedding %t, %ids <"table"> : !table, !ids
  %y = stg.einsum "bd,vd->bv" %e, %t <"head"> : !x, !table
  return %y : !stg.tensor<[B, V], bf16>
}
