// Devices that have one range of tokens each: the pass declares the coordinate, and local
// attention under a causal mask is that of the range with this number.
//
// RUN: stg-opt %s --stg-apply-preset="cp=4" --stg-context-parallel="balance=none" --verify-roundtrip | FileCheck %s --check-prefix=MARK
// RUN: stg-opt %s --stg-apply-preset="cp=4" --stg-context-parallel="balance=none" --stg-context-parallel="balance=none" | FileCheck %s --check-prefix=MARK
// RUN: stg-opt %s --stg-apply-preset="cp=4" --stg-context-parallel="balance=none" --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefix=GATHERED
// RUN: stg-opt %s --stg-apply-preset="cp=4" --stg-context-parallel="balance=none type=p2p" --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefix=RING
// RUN: stg-opt %s --stg-apply-preset="cp=4" --stg-context-parallel="balance=none type=a2a" --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefix=HEADS
// RUN: stg-opt %s --stg-apply-preset="dp=4" --stg-context-parallel="balance=none" --stg-propagate-shardings --stg-insert-collectives --stg-simplify-collectives | FileCheck %s --check-prefix=HEADS

// A coordinate is not bound: each device has another.
// RUN: not stg-opt %s --stg-apply-preset="cp=4" --stg-context-parallel="balance=none" --stg-bind="cp_index_=0" 2>&1 | FileCheck %s --check-prefix=BIND
// BIND: error: 'stg.symbol' op is the coordinate on axis 'cp', which no value is bound to; run --chakra-split-classes at the chakra level

// Nothing but the pass says which range a device has.
// RUN: sed 's/stg.attention causal %q, %k, %v :/stg.attention causal %q, %k, %v {context = #stg.context<all_gather range>} :/' %s > %t.mlir
// RUN: not stg-opt %t.mlir --stg-apply-preset="cp=4" --stg-propagate-shardings --stg-insert-collectives --stg-lower-context-parallel 2>&1 | FileCheck %s --check-prefix=UNDECLARED
// UNDECLARED: error: 'stg.attention' op has ranges of tokens over mesh axis 'cp', whose coordinate is not a symbol, as --stg-context-parallel="balance=none" declares it for axes with the role context

// The name of the symbol is one that is free.
// MARK-COUNT-1: stg.symbol @cp_index_ coordinate "cp"
// MARK-NOT: coordinate
stg.symbol @cp_index
stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
!x = !stg.tensor<[B, S, H, E], bf16>
!lse = !stg.tensor<[B, S, H], f32>

func.func @f(%q: !x, %k: !x, %v: !x, %do: !x) -> (!x, !x, !x, !x, !x) {
  // MARK: stg.attention causal {{.*}} {context = #stg.context<all_gather range>} :
  // MARK: stg.attention_grad causal {{.*}} {context = #stg.context<all_gather range>} :
  // MARK: stg.attention none
  // GATHERED: stg.attention causal {{.*}} {context = #stg.context<all_gather range over ["cp"]>} : !stg.tensor<[B, S/4, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>
  // GATHERED: stg.attention_grad causal {{.*}} {context = #stg.context<all_gather range over ["cp"]>}
  // GATHERED: stg.attention none
  // GATHERED-NOT: range
  // RING: stg.attention causal {{.*}} {context = #stg.context<p2p range over ["cp"]>} : !stg.tensor<[B, S/4, H, E], bf16>, !stg.tensor<[B, S/4, H, E], bf16>
  // RING: stg.attention_grad causal {{.*}} {context = #stg.context<p2p range over ["cp"]>}
  // RING: stg.attention none {{.*}} {context = #stg.context<p2p range over ["cp"]>}
  // Whole sequences: no ranges.
  // HEADS-NOT: range
  %o, %lse = stg.attention causal %q, %k, %v : !x, !x, !x
  %g:3 = stg.attention_grad causal %q, %k, %v, %o, %lse, %do : !x, !x, !x, !x, !lse, !x
  %n, %m = stg.attention none %q, %k, %v : !x, !x, !x
  return %o, %g#0, %g#1, %g#2, %n : !x, !x, !x, !x, !x
}
