// A factor that is written on an op is computed over its axis whatever the tensors say: here
// the tokens are divided, and are to be gathered for columns of the matrix, whether its type
// says so or not. What reads the result gets its columns.
//
// RUN: stg-opt %s --split-input-file --stg-propagate-shardings | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-propagate-shardings --stg-propagate-shardings | FileCheck %s

stg.symbol @B = 4
stg.symbol @S = 4
stg.symbol @D = 8
stg.symbol @F = 8
stg.mesh @mesh <tp = 2 : tensor>
!x = !stg.tensor<[B, S : tp, D], bf16>
!w = !stg.tensor<[D, F : tp], bf16>
!y = !stg.tensor<[B, S, F], bf16>
// CHECK-LABEL: func.func @typed
func.func @typed(%x: !x {stg.name = "x"}) -> !y {
  %w = stg.param "w" : !w
  // CHECK: stg.einsum "bsd,df->bsf" %{{.*}}, %{{.*}} {factors = #stg.factors<f : tp>} : !stg.tensor<[B, S : tp, D], bf16>, !stg.tensor<[D, F : tp], bf16> -> !stg.tensor<[B, S, F : tp], bf16>
  %h = stg.einsum "bsd,df->bsf" %x, %w {factors = #stg.factors<f : tp>} : !x, !w -> !y
  return %h : !y
}

// -----

stg.symbol @B = 4
stg.symbol @S = 4
stg.symbol @D = 8
stg.symbol @F = 8
stg.mesh @mesh <tp = 2 : tensor>
!x = !stg.tensor<[B, S : tp, D], bf16>
!w = !stg.tensor<[D, F], bf16>
!y = !stg.tensor<[B, S, F], bf16>
// CHECK-LABEL: func.func @open
func.func @open(%x: !x {stg.name = "x"}) -> !y {
  // CHECK: stg.param "w" : !stg.tensor<[D, F : tp], bf16>
  %w = stg.param "w" : !w
  // CHECK: stg.einsum "bsd,df->bsf" %{{.*}}, %{{.*}} {factors = #stg.factors<f : tp>} : !stg.tensor<[B, S : tp, D], bf16>, !stg.tensor<[D, F : tp], bf16> -> !stg.tensor<[B, S, F : tp], bf16>
  %h = stg.einsum "bsd,df->bsf" %x, %w {factors = #stg.factors<f : tp>} : !x, !w -> !y
  return %h : !y
}
