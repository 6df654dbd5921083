stg.symbol @B = 2
stg.symbol @S = 8
stg.symbol @D = 16
stg.symbol @H = 4
stg.symbol @K = 2
stg.symbol @E = 4
!x = !stg.tensor<[B, S, D], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
!w = !stg.tensor<[D, H + 2*K, E], bf16>
!o = !stg.tensor<[H, E, D], bf16>
func.func @f(%x: !x) -> !x {
  %w = stg.param "qkv" : !w
  %p = stg.einsum "bsd,dhe->bshe" %x, %w : !x, !w
  %q, %k, %v = stg.split dim 2 %p : !stg.tensor<[B, S, H + 2*K, E], bf16> -> !q, !k, !k
  %qr = stg.rope %q <"rope_q"> : !q
  %kr = stg.rope inverse %k <"rope_k"> : !k
  %a, %lse = stg.attention causal %qr, %kr, %v {full_count} : !q, !k, !k
  %wo = stg.param "o" : !o
  %y = stg.einsum "bshe,hed->bsd" %a, %wo : !q, !o
  return %y : !x
}
