// Which pairs attention counts, forward and backward.
//
// RUN: stg-opt %s --stg-set-attention-count=count=full | FileCheck %s --check-prefix=FULL
// RUN: stg-opt %s --stg-set-attention-count=count=full --stg-set-attention-count | FileCheck %s --check-prefix=EXECUTED

!q = !stg.tensor<[1, 8, 2, 4], bf16>
!l = !stg.tensor<[1, 8, 2], f32>

// EXECUTED-NOT: full_count
func.func @attention(%q: !q, %l: !l) {
  // FULL: stg.attention causal {{.*}} {full_count}
  %0, %1 = stg.attention causal %q, %q, %q : !q, !q, !q
  // FULL: stg.attention_grad causal {{.*}} {full_count}
  %2:3 = stg.attention_grad causal %q, %q, %q, %q, %l, %q : !q, !q, !q, !q, !l, !q
  return
}
