// How attention sees the tokens of other devices: attributes on attention and its
// gradient, and what follows from them when collectives are inserted.
//
// RUN: stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel | FileCheck %s --check-prefix=GATHER
// RUN: stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel="type=all_gather" | FileCheck %s --check-prefix=GATHER
// RUN: stg-opt %s --stg-apply-preset="dp=2" --stg-context-parallel | FileCheck %s --check-prefix=NONE
// RUN: stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel="type=p2p" | FileCheck %s --check-prefix=P2P
// RUN: stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel="type=a2a" | FileCheck %s --check-prefix=A2A
// RUN: stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel="type=gather_p2p" | FileCheck %s --check-prefix=BOTH
// RUN: not stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel="type=ring" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: for the --type option: has the value 'ring', expected all_gather, a2a, p2p, gather_p2p, query_p2p or auto_p2p
// RUN: not stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel="balance=striped" 2>&1 | FileCheck %s --check-prefix=BALANCE
// BALANCE: for the --balance option: has the value 'striped', expected zigzag or none

// RUN: stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefix=GATHERED
// RUN: stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel="type=p2p" --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefix=RING
// RUN: stg-opt %s --stg-apply-preset="cp=2" --stg-context-parallel="type=a2a" --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefix=HEADS

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
!x = !stg.tensor<[B, S, H, E], bf16>
!lse = !stg.tensor<[B, S, H], f32>

func.func @f(%q: !x, %k: !x, %v: !x, %do: !x) -> (!x, !x, !x, !x) {
  // NONE: stg.attention causal %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : {{.*}}
  // GATHER: stg.attention causal {{.*}} {context = #stg.context<all_gather zigzag>} :
  // P2P: stg.attention causal {{.*}} {context = #stg.context<p2p zigzag>} :
  // BOTH: stg.attention causal {{.*}} {context = #stg.context<gather_p2p zigzag>} :
  // A2A: stg.attention causal {{.*}} {context = #stg.context<a2a zigzag>, factors = #stg.factors<h : cp>} :
  // NONE: stg.attention_grad causal
  // NONE-NOT: {
  // NONE: stg.add
  // GATHER: stg.attention_grad causal {{.*}} {context = #stg.context<all_gather zigzag>} :
  // GATHER: stg.add %{{[^{]*$}}
  // P2P: stg.attention_grad causal {{.*}} {context = #stg.context<p2p zigzag>} :
  // P2P: stg.add %{{[^{]*$}}
  // BOTH: stg.attention_grad causal {{.*}} {context = #stg.context<gather_p2p zigzag>} :
  // A2A: stg.attention_grad causal {{.*}} {context = #stg.context<a2a zigzag>, factors = #stg.factors<h : cp>} :
  // A2A: stg.add %{{[^{]*$}}

  // Queries stay where they are; keys, values and their gradients are those of all tokens.
  // GATHERED: %[[K:.*]] = stg.all_gather dim 1 over ["cp"]
  // GATHERED: %[[V:.*]] = stg.all_gather dim 1 over ["cp"]
  // GATHERED: stg.attention causal %{{.*}}, %[[K]], %[[V]] {context = #stg.context<all_gather zigzag over ["cp"]>} : !stg.tensor<[B, S/2, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>
  // GATHERED: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = stg.attention_grad causal %{{.*}}, %[[K]], %[[V]], {{.*}} {context = #stg.context<all_gather zigzag over ["cp"]>}
  // GATHERED-DAG: stg.all_reduce sum over ["cp"] %[[DK]]
  // GATHERED-DAG: stg.all_reduce sum over ["cp"] %[[DV]]
  // GATHERED: stg.add %[[DQ]]

  // A ring has its messages inside: no collective beside it.
  // RING-NOT: stg.all_
  // RING: stg.attention causal {{.*}} {context = #stg.context<p2p zigzag over ["cp"]>} : !stg.tensor<[B, S/2, H, E], bf16>, !stg.tensor<[B, S/2, H, E], bf16>, !stg.tensor<[B, S/2, H, E], bf16>
  // RING-NOT: stg.all_
  // RING: stg.attention_grad causal {{.*}} {context = #stg.context<p2p zigzag over ["cp"]>}
  // RING-NOT: stg.all_
  // RING: return

  // Tokens for heads before each attention, heads for tokens after it. Every device sees
  // whole sequences, so nothing needs to be balanced.
  // HEADS-COUNT-3: stg.all_to_all from 1 to 2 over ["cp"]
  // HEADS: stg.attention causal %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : !stg.tensor<[B, S, H/2, E], bf16>
  // HEADS: stg.all_to_all from 1 to 2 over ["cp"]
  // HEADS: %[[DQ:.*]], %{{.*}}, %{{.*}} = stg.attention_grad
  // HEADS: %[[BACK:.*]] = stg.all_to_all from 2 to 1 over ["cp"] %[[DQ]]
  // HEADS: stg.add %[[BACK]]
  %o, %lse = stg.attention causal %q, %k, %v : !x, !x, !x
  %g:3 = stg.attention_grad causal %q, %k, %v, %o, %lse, %do : !x, !x, !x, !x, !lse, !x
  %s = stg.add %g#0, %q : !x, !x
  return %o, %s, %g#1, %g#2 : !x, !x, !x, !x
}
