// What backward does not gather again is said by kind, and the kind of a gather is what
// first reads it: rows of experts are kept unless one says otherwise.
//
// RUN: stg-opt %s --stg-simplify-collectives | FileCheck %s --check-prefixes=CHECK,COLUMNS-AGAIN,EXPERTS-KEPT,CONTEXT-AGAIN
// RUN: stg-opt %s --stg-simplify-collectives=keep-gathered=none | FileCheck %s --check-prefixes=CHECK,COLUMNS-AGAIN,EXPERTS-AGAIN,CONTEXT-AGAIN
// RUN: stg-opt %s --stg-simplify-collectives=keep-gathered=columns | FileCheck %s --check-prefixes=CHECK,COLUMNS-KEPT,EXPERTS-AGAIN,CONTEXT-AGAIN
// RUN: stg-opt %s --stg-simplify-collectives=keep-gathered=context,experts | FileCheck %s --check-prefixes=CHECK,COLUMNS-AGAIN,EXPERTS-KEPT,CONTEXT-KEPT
// RUN: stg-opt %s --stg-simplify-collectives=keep-gathered=all | FileCheck %s --check-prefixes=CHECK,COLUMNS-KEPT,EXPERTS-KEPT,CONTEXT-KEPT
// RUN: not stg-opt %s --stg-simplify-collectives=keep-gathered=rows 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not stg-opt %s --stg-simplify-collectives=keep-gathered=none,rows 2>&1 | FileCheck %s --check-prefix=MIXED

// UNKNOWN: error: keep-gathered is 'rows', expected all, none, or any of columns, experts or context
// MIXED: error: keep-gathered is 'none,rows', expected all, none, or any of columns, experts or context

stg.symbol @B
stg.symbol @S
stg.mesh @mesh <tp = 2, cp = 2>

!x = !stg.tensor<[B, 8], bf16>
!s = !stg.tensor<[B, 4], bf16>
!w = !stg.tensor<[8, 16], bf16>

// CHECK-LABEL: func.func @columns
// CHECK-SAME: (%[[S:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @columns(%s: !s) -> (!stg.tensor<[B, 16], bf16>, !x) {
  // CHECK: %[[G:.*]] = stg.all_gather dim 1 over ["tp"] %[[S]] <fwd>
  // CHECK: %[[Y:.*]] = stg.einsum "bd,df->bf" %[[G]]
  // COLUMNS-AGAIN-NEXT: %[[H:.*]] = stg.all_gather dim 1 over ["tp"] %[[S]] <bwd>
  // COLUMNS-AGAIN-NEXT: return %[[Y]], %[[H]]
  // COLUMNS-KEPT-NEXT: return %[[Y]], %[[G]]
  %w = stg.param "w" : !w
  %0 = stg.all_gather dim 1 over ["tp"] %s <fwd> : !s -> !x
  %y = stg.einsum "bd,df->bf" %0, %w <fwd> : !x, !w
  %1 = stg.all_gather dim 1 over ["tp"] %s <bwd> : !s -> !x
  return %y, %1 : !stg.tensor<[B, 16], bf16>, !x
}

!rows = !stg.tensor<[2, B, 8], f32>
!some = !stg.tensor<[2, B/2, 8], f32>
!narrow = !stg.tensor<[2, B, 8], bf16>
!experts = !stg.tensor<[2, 8, 16], bf16>

// One matrix for each entry of the leading index; a cast stands between.
// CHECK-LABEL: func.func @experts
// CHECK-SAME: (%[[S:.*]]: !stg.tensor<[2, B/2, 8], f32>)
func.func @experts(%s: !some) -> (!stg.tensor<[2, B, 16], bf16>, !rows) {
  // CHECK: %[[G:.*]] = stg.all_gather dim 1 over ["tp"] %[[S]] <fwd>
  // CHECK: %[[C:.*]] = stg.einsum "xcd->xcd" %[[G]] {into = bf16}
  // CHECK: %[[Y:.*]] = stg.einsum "xcd,xdf->xcf" %[[C]]
  // EXPERTS-AGAIN-NEXT: %[[H:.*]] = stg.all_gather dim 1 over ["tp"] %[[S]] <bwd>
  // EXPERTS-AGAIN-NEXT: return %[[Y]], %[[H]]
  // EXPERTS-KEPT-NEXT: return %[[Y]], %[[G]]
  %w = stg.param "w" : !experts
  %0 = stg.all_gather dim 1 over ["tp"] %s <fwd> : !some -> !rows
  %c = stg.einsum "xcd->xcd" %0 {into = bf16} <fwd> : !rows
  %y = stg.einsum "xcd,xdf->xcf" %c, %w <fwd> : !narrow, !experts
  %1 = stg.all_gather dim 1 over ["tp"] %s <bwd> : !some -> !rows
  return %y, %1 : !stg.tensor<[2, B, 16], bf16>, !rows
}

!queries = !stg.tensor<[B, S/2, 4, 8], bf16>
!keys = !stg.tensor<[B, S, 4, 8], bf16>

// CHECK-LABEL: func.func @context
// CHECK-SAME: (%[[Q:.*]]: !stg.tensor<{{.*}}>, %[[K:.*]]: !stg.tensor<{{.*}}>)
func.func @context(%q: !queries, %k: !queries) -> (!queries, !keys) {
  // CHECK-NEXT: %[[G:.*]] = stg.all_gather dim 1 over ["cp"] %[[K]] <fwd>
  // CHECK-NEXT: %[[A:.*]], %{{.*}} = stg.attention causal %[[Q]], %[[G]], %[[G]]
  // CONTEXT-AGAIN-NEXT: %[[H:.*]] = stg.all_gather dim 1 over ["cp"] %[[K]] <bwd>
  // CONTEXT-AGAIN-NEXT: return %[[A]], %[[H]]
  // CONTEXT-KEPT-NEXT: return %[[A]], %[[G]]
  %0 = stg.all_gather dim 1 over ["cp"] %k <fwd> : !queries -> !keys
  %a, %lse = stg.attention causal %q, %0, %0 <fwd> : !queries, !keys, !keys
  %1 = stg.all_gather dim 1 over ["cp"] %k <bwd> : !queries -> !keys
  return %a, %1 : !queries, !keys
}
