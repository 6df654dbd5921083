// RUN: stg-opt %s --stg-pad-experts --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s "--stg-bind=A=2 B=3 D=64 X=8" | FileCheck %s --check-prefix=EXACT
// RUN: stg-opt %s --stg-pad-experts "--stg-bind=A=2 B=3 D=64 X=8" | FileCheck %s --check-prefix=PADDED
// RUN: not stg-opt %s "--stg-bind=A=2 B=3 D=64 X=5" 2>&1 | FileCheck %s --check-prefix=DIVISOR
// DIVISOR: error: 'stg.all_to_all' op has extent X/2, which is 5/2 and not a positive integer with X = 5

// Two ranks, each with B tokens and half of the experts. Rows are a mean, which is a fraction with
// few tokens; or each buffer has whole ones, those of each rank by itself.
//
// CHECK: stg.dispatch {{.*}} -> !stg.tensor<[X, ceildiv(A*B, X), D], bf16>
// CHECK: stg.all_to_all {{.*}} -> !stg.tensor<[X/2, 2*ceildiv(A*B, X), D], bf16>
// CHECK: stg.all_to_all {{.*}} -> !stg.tensor<[X, ceildiv(A*B, X), D], bf16>
//
// EXACT: stg.dispatch {{.*}} -> !stg.tensor<[X = 8, (A, B) = 3/4, D = 64], bf16>
// EXACT: stg.all_to_all {{.*}} -> !stg.tensor<[X = 4, (A, B) = 3/2, D = 64], bf16>
//
// PADDED: stg.dispatch {{.*}} -> !stg.tensor<[X = 8, (A, B) = 1, D = 64], bf16>
// PADDED: stg.all_to_all {{.*}} -> !stg.tensor<[X = 4, (A, B) = 2, D = 64], bf16>
stg.symbol @A
stg.symbol @B
stg.symbol @D
stg.symbol @X
stg.mesh @mesh <ep = 2 : expert>
!x = !stg.tensor<[B, D], bf16>
!i = !stg.tensor<[B, A], i32>
!all = !stg.tensor<[X, A*B/X, D], bf16>
!own = !stg.tensor<[X/2, 2*A*B/X, D], bf16>
func.func @exchange(%x: !x, %i: !i) -> !x {
  %rows = stg.dispatch %x, %i : !x, !i -> !all
  %own = stg.all_to_all from 1 to 0 over ["ep"] %rows : !all -> !own
  %back = stg.all_to_all from 0 to 1 over ["ep"] %own : !own -> !all
  %y = stg.combine %back, %i : !all, !i
  return %y : !x
}
