// RUN: stg-opt %s --split-input-file --stg-inference | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-inference="requests=2*(1,4095),(300,0)" | FileCheck %s --check-prefix=PACKED
// RUN: stg-opt %s --split-input-file --stg-inference="kv-block-size=16" | FileCheck %s --check-prefix=BLOCKS
// RUN: stg-opt %s --split-input-file --stg-inference="cached=0" | FileCheck %s --check-prefix=FIRST

// A query sees its own key and W - 1 before it, so no more are read; the ring has room for W.
// Of a request of 300 tokens 300 are written and 128 are kept.
//
// CHECK: stg.cache "attention.k" %{{.*}} {capacity = #sym.expr<min(S + cached, 128)>, dim = 1 : i64} <"attention.k" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S = S + min(cached, 127), K, E], bf16>
// CHECK: stg.attention causal
// CHECK-SAME: {window = #sym.expr<128>}
// PACKED: stg.cache "attention.v" %{{.*}} {capacity = #sym.expr<384>, dim = 1 : i64} <"attention.v" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S + 254, K, E], bf16>
// BLOCKS: stg.cache "attention.k" %{{.*}} {capacity = #sym.expr<16*ceildiv(min(S + cached, 128), 16)>, dim = 1 : i64}
// FIRST: stg.cache "attention.k" %{{.*}} {capacity = #sym.expr<min(S, 128)>, dim = 1 : i64} <"attention.k" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S, K, E], bf16>
stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
func.func @window(%q: !q, %k: !k, %v: !k) -> !q {
  %a, %lse = stg.attention causal %q, %k, %v {window = #sym.expr<128>} <"attention"> : !q, !k, !k
  return %a : !q
}

// -----

// Tokens of the chunk that the new ones are in.
//
// CHECK: stg.cache "attention.k" %{{.*}} {capacity = #sym.expr<min(S + cached, 100)>, dim = 1 : i64} <"attention.k" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S = S + cached - 100*ceildiv(cached + 1, 100) + 100, K, E], bf16>
// PACKED: stg.cache "attention.k" %{{.*}} {capacity = #sym.expr<300>, dim = 1 : i64} <"attention.k" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S + 190, K, E], bf16>
// BLOCKS: stg.cache
// FIRST: stg.cache
stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
func.func @chunk(%q: !q, %k: !k, %v: !k) -> !q {
  %a, %lse = stg.attention causal %q, %k, %v {chunk = #sym.expr<100>} <"attention"> : !q, !k, !k
  return %a : !q
}

// -----

// Without a window all is kept, in whole blocks.
//
// CHECK: stg.cache "attention.k" %{{.*}} <"attention.k" fwd> :
// PACKED: stg.cache "attention.k" %{{.*}} <"attention.k" fwd> :
// BLOCKS: stg.cache "attention.k" %{{.*}} {capacity = #sym.expr<16*ceildiv(S + cached, 16)>, dim = 1 : i64} <"attention.k" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S = S + cached, K, E], bf16>
// FIRST: stg.cache "attention.k" %{{.*}} <"attention.k" fwd> :
stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
func.func @all(%q: !q, %k: !k, %v: !k) -> !q {
  %a, %lse = stg.attention causal %q, %k, %v <"attention"> : !q, !k, !k
  return %a : !q
}
