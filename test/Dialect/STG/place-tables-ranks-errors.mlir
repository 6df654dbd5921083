// RUN: stg-opt %s --stg-place-tables="ranks=0,2,1" -split-input-file -verify-diagnostics -o /dev/null
// RUN: not stg-opt %s --stg-place-tables="ranks=0,1" 2>&1 | FileCheck %s
// CHECK: error: 'stg.embedding' op looks up 3 tables, but the ranks of 2 are given

stg.mesh @mesh <dp = 2 : data>
stg.symbol @NT
func.func @f(%t: !stg.tensor<[NT/2, R = 4, D = 8], bf16>, %ids: !stg.tensor<[B = 4, NT/2], i32>) {
  // expected-error @below {{has tables that 2 ranks divide, numbered from 0, but one is to be on rank 2}}
  %e = stg.embedding %t, %ids {rows = array<i64: 2, 9, 1>, over = ["dp"]} : !stg.tensor<[NT/2, R = 4, D = 8], bf16>, !stg.tensor<[B = 4, NT/2], i32>
  return
}
