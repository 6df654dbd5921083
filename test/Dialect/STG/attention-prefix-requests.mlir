// Of the requests of a row those that begin have the prefix among their new tokens, 4 * 3 / 2 pairs
// more than a causal mask: (15 + 6) of five tokens, 9 of each token behind eight others, 3 * 6 + 6
// of three behind six. 63 pairs of two heads, 2 * (4 + 4) operations each. The kernel has the same.
//
// RUN: stg-opt %s --split-input-file --verify-diagnostics --stg-name-ops --convert-stg-to-chakra | FileCheck %s

!w = !stg.tensor<[8, 2, 4], f32>
!x = !stg.tensor<[1, 10, 8], f32>
!y = !stg.tensor<[1, 32, 8], f32>
!q = !stg.tensor<[1, 10, 2, 4], f32>
!k = !stg.tensor<[1, 32, 2, 4], f32>
// CHECK: chakra.comp "attention.fwd"({{.*}}) ops(2016) matrix {{.*}} kernel <attention f32 -> f32, [1, 2, 2, 10, 32, 4, 4, 63, 5, 1, 5, 21, 1, 2, 18, 18, 3, 1, 9, 24]>
func.func @several(%x: !x {stg.name = "x"}, %y: !y {stg.name = "y"}) -> !q {
  %w = stg.param "w" : !w
  %q = stg.einsum "bsd,dhe->bshe" %x, %w <"q"> : !x, !w
  %k = stg.einsum "bsd,dhe->bshe" %y, %w <"k"> : !y, !w
  %a, %la = stg.attention causal %q, %k, %k {prefix = #sym.expr<4>, requests = #stg.requests<(5, 0), 2 * (1, 8), (3, 6)>} <"attention"> : !q, !k, !k
  return %a : !q
}

// -----

!q = !stg.tensor<[1, 8, 2, 4], f32>
func.func @short(%q: !q) -> !q {
  // expected-error @+1 {{has a prefix of 4 tokens, expected at least 1 and at most those of each request that begins}}
  %a, %la = stg.attention causal %q, %q, %q {prefix = #sym.expr<4>, requests = #stg.requests<(5, 0), (3, 0)>} : !q, !q, !q
  return %a : !q
}
