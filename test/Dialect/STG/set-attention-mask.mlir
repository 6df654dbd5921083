// Documents and prefixes of a row: of attention of its tokens to each other, and no other.
//
// RUN: stg-opt %s --stg-set-attention-mask="documents=3,3,4" | FileCheck %s --check-prefix=DOCUMENTS
// RUN: stg-opt %s --stg-set-attention-mask="prefix=4" | FileCheck %s --check-prefix=PREFIX
// RUN: stg-opt %s --stg-set-attention-mask | FileCheck %s --check-prefix=NONE
// RUN: not stg-opt %s --stg-set-attention-mask="prefix=4 tokens=V" 2>&1 | FileCheck %s --check-prefix=CAUSAL
// RUN: not stg-opt %s --stg-set-attention-mask="documents=4 tokens=Q" 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not stg-opt %s --stg-set-attention-mask="documents=4,0" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not stg-opt %s --stg-set-attention-mask="documents=4 tokens=T" 2>&1 | FileCheck %s --check-prefix=CROSS
// CAUSAL: error: has no causal attention of tokens 'V' to each other, expected one for a prefix
// ABSENT: error: has no attention of tokens 'Q' to each other, expected one for documents
// EMPTY: error: a document has 0 tokens, expected at least 1
// CROSS: error: 'stg.attention' op has keys of S; which of them belong to a document of tokens 'T' is not known

stg.symbol @S
stg.symbol @T
stg.symbol @V
!q = !stg.tensor<[1, S, 2, 4], bf16>
!r = !stg.tensor<[1, T, 2, 4], bf16>
!v = !stg.tensor<[1, V, 2, 4], bf16>

// NONE-NOT: requests
// NONE-NOT: prefix =
func.func @f(%q: !q, %r: !r, %v: !v) {
  // DOCUMENTS: stg.attention causal {{.*}} {requests = #stg.requests<2 * (3, 0), (4, 0)>}
  // PREFIX: stg.attention causal {{.*}} {prefix = #sym.expr<4>}
  %0, %1 = stg.attention causal %q, %q, %q : !q, !q, !q
  // DOCUMENTS: stg.attention none {{.*}} {requests = #stg.requests<2 * (3, 0), (4, 0)>}
  // PREFIX-NOT: stg.attention none {{.*}} {prefix
  %2, %3 = stg.attention none %q, %q, %q : !q, !q, !q
  // DOCUMENTS-NOT: requests
  %4, %5 = stg.attention none %v, %v, %v : !v, !v, !v
  %6, %7 = stg.attention none %r, %q, %q : !r, !q, !q
  return
}
