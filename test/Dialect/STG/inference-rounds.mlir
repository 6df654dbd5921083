// Contexts that grow by a part of the tokens of a step: whole tokens, those of all steps before.
//
// RUN: stg-opt %s --split-input-file --stg-inference="cached=9 steps=4 advance=2101/625" | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-inference="cached=9 steps=4 advance=3" | FileCheck %s --check-prefix=WHOLE
// RUN: not stg-opt %s --stg-inference="cached=9 steps=4 advance=-1" 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: advance is '-1', expected tokens of a step such as 4 or 2101/625

stg.symbol @B
stg.symbol @S
!q = !stg.tensor<[B, S, K = 2, E = 8], bf16>

// CHECK-LABEL: func @keys
// CHECK: stg.cache "attention.k" {{.*}}capacity = #sym.expr<S + 19>{{.*}} -> !stg.tensor<[B, S = S + ceildiv(2101*step + 1, 625) + 8, K = 2, E = 8], bf16>
// WHOLE: stg.cache "attention.k" {{.*}}capacity = #sym.expr<S + 18>{{.*}} -> !stg.tensor<[B, S = S + 3*step + 9, K = 2, E = 8], bf16>
func.func @keys(%q: !q, %v: !q) -> !q {
  %a, %l = stg.attention causal %q, %q, %v : !q, !q, !q
  return %a : !q
}
