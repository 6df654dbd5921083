// RUN: stg-opt %s --stg-place-tables -split-input-file -verify-diagnostics -o /dev/null
// RUN: echo "module {}" | not stg-opt --stg-place-tables="ranks=0,1" 2>&1 | FileCheck %s --check-prefix=NOTHING --implicit-check-not=error:
// NOTHING: error: ranks of tables are given, but no tables of different sizes are divided; divide them with a rule for their dimension, such as NT:dp+

stg.mesh @mesh <dp = 2 : data>
stg.symbol @NT = 4
func.func @number(%t: !stg.tensor<[NT/2, R = 4, D = 8], bf16>, %ids: !stg.tensor<[B = 4, NT/2], i32>) {
  // expected-error @below {{lists the rows of 3 tables, but NT is 4}}
  %e = stg.embedding %t, %ids {rows = array<i64: 2, 9, 5>, over = ["dp"]} : !stg.tensor<[NT/2, R = 4, D = 8], bf16>, !stg.tensor<[B = 4, NT/2], i32>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data>
stg.symbol @NT = 3
stg.symbol @NR = 17
func.func @sum(%t: !stg.tensor<[NT/2, R = NR/NT, D = 8], bf16>, %ids: !stg.tensor<[B = 4, NT/2], i32>) {
  // expected-error @below {{lists 16 rows in all, but NR is 17}}
  %e = stg.embedding %t, %ids {rows = array<i64: 2, 9, 5>, over = ["dp"]} : !stg.tensor<[NT/2, R = NR/NT, D = 8], bf16>, !stg.tensor<[B = 4, NT/2], i32>
  return
}

// -----

stg.symbol @dp
stg.mesh @mesh <dp = dp : data>
stg.symbol @NT
func.func @size(%t: !stg.tensor<[NT/dp, R = 4, D = 8], bf16>, %ids: !stg.tensor<[B = 4, NT/dp], i32>) {
  // expected-error @below {{has tables that are divided over axis 'dp', whose size is not a number}}
  %e = stg.embedding %t, %ids {rows = array<i64: 2, 9, 5>, over = ["dp"]} : !stg.tensor<[NT/dp, R = 4, D = 8], bf16>, !stg.tensor<[B = 4, NT/dp], i32>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data>
stg.symbol @NT
func.func @other(%t: !stg.tensor<[NT/2, R = 4, D = 8], bf16>, %ids: !stg.tensor<[B = 4, NT/2], i32>) {
  %e = stg.embedding %t, %ids {rows = array<i64: 2, 9, 1>, over = ["dp"]} : !stg.tensor<[NT/2, R = 4, D = 8], bf16>, !stg.tensor<[B = 4, NT/2], i32>
  // expected-error @below {{looks up tables whose dimensions have the names and extents of other tables; name them differently}}
  %f = stg.embedding %t, %ids {rows = array<i64: 4, 4, 4>, over = ["dp"]} : !stg.tensor<[NT/2, R = 4, D = 8], bf16>, !stg.tensor<[B = 4, NT/2], i32>
  return
}

// -----

stg.mesh @mesh <dp = 2 : data>
stg.symbol @NT
func.func @whole(%t: !stg.tensor<[NT/2, R = 4, D = 8], bf16>, %ids: !stg.tensor<[B = 4, NT/2], i32>) {
  %e = stg.embedding %t, %ids {rows = array<i64: 2, 9, 1>, over = ["dp"]} : !stg.tensor<[NT/2, R = 4, D = 8], bf16>, !stg.tensor<[B = 4, NT/2], i32>
  // expected-error @below {{has values of the tables of a device, which are exchanged for samples over ["dp"] and nothing else; divide the samples over the axes that divide the tables}}
  %g = stg.all_gather dim 1 over ["dp"] %e : !stg.tensor<[B = 4, NT/2, D = 8], bf16> -> !stg.tensor<[B = 4, NT, D = 8], bf16>
  return
}

// -----

// The same number of tables on each device, by its name, but not by where they are.
stg.mesh @mesh <dp = 2 : data>
stg.symbol @NT
func.func @places(%t: !stg.tensor<[NT/2, R = 4, D = 8], bf16>, %u: !stg.tensor<[NT/2, Q = 5, D = 8], bf16>, %ids: !stg.tensor<[B = 4, NT/2], i32>) {
  %e = stg.embedding %t, %ids {rows = array<i64: 2, 9, 1>, over = ["dp"]} : !stg.tensor<[NT/2, R = 4, D = 8], bf16>, !stg.tensor<[B = 4, NT/2], i32>
  // expected-error @below {{looks up tables whose dimensions have the names and extents of other tables; name them differently}}
  %f = stg.embedding %u, %ids {rows = array<i64: 5, 5, 5>, over = ["dp"]} : !stg.tensor<[NT/2, Q = 5, D = 8], bf16>, !stg.tensor<[B = 4, NT/2], i32>
  return
}
