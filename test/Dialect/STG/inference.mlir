// RUN: stg-opt %s --split-input-file --stg-inference | FileCheck %s
// RUN: stg-opt %s --split-input-file --stg-inference="cached=0 logits=all" | FileCheck %s --check-prefix=ALL
// RUN: stg-opt %s --split-input-file --stg-inference="requests=2*(1,4095),(512,0),(U,2048,3) kv-type=f8E4M3FN" | FileCheck %s --check-prefix=PACKED

// Keys and values are kept, before the attention that reads them; logits are made of one
// row of each request, and a token of them. Labels are no input.
//
// CHECK: stg.symbol @cached "tokens of a request"
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: !stg.tensor<[B, S, D], bf16>) -> !stg.tensor<[B, S = 1], i32> {
// CHECK: stg.repeat "layers" * L carry(%[[C:.*]] = %[[X]] : !stg.tensor<[B, S, D], bf16>) <fwd> {
// CHECK:   %[[Q:.*]] = stg.einsum "bsd,dhe->bshe" %[[C]], %{{.*}} <"q" fwd>
// CHECK:   %[[K:.*]] = stg.einsum "bsd,dhe->bshe" %[[C]], %{{.*}} <"k" fwd>
// CHECK:   %[[KV:.*]] = stg.cache "attention.kv" %[[K]] <"attention.kv" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S = S + cached, K, E], bf16>
// CHECK:   stg.attention causal %[[Q]], %[[KV]], %[[KV]] <"attention" fwd>
// CHECK: %[[N:.*]], %{{.*}} = stg.rms_norm
// CHECK: %[[R:.*]] = stg.select_rows dim 1 %[[N]] <"loss.rows" fwd> : !stg.tensor<[B, S, D], bf16> -> !stg.tensor<[B, S = 1, D], bf16>
// CHECK: %[[P:.*]] = stg.einsum "bsd,dv->bsv" %[[R]], %{{.*}} <"head" fwd>
// CHECK: %[[L:.*]] = stg.activation gelu %[[P]] <"cap" fwd> : !stg.tensor<[B, S = 1, V], bf16>
// CHECK: %[[T:.*]] = stg.sample %[[L]] <"loss.sample" fwd> : !stg.tensor<[B, S = 1, V], bf16>
// CHECK-NOT: cross_entropy
// CHECK: return %[[T]] : !stg.tensor<[B, S = 1], i32>

// ALL-NOT: cached
// ALL-LABEL: func.func @step(
// ALL-SAME: -> !stg.tensor<[B, S], i32> {
// ALL: stg.cache "attention.kv" %{{.*}} : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S, K, E], bf16>
// ALL-NOT: select_rows
// ALL: stg.sample %{{.*}} : !stg.tensor<[B, S, V], bf16>

// 2 * 4095 + 0 + 2048 tokens are cached, 2 + 1 + 3 rows have logits.
//
// PACKED: stg.symbol @U
// PACKED-LABEL: func.func @step(
// PACKED: stg.cache "attention.kv" %{{.*}} : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S + 10238, K, E], f8E4M3FN>
// PACKED: stg.attention causal {{.*}} {requests = #stg.requests<2 * (1, 4095), (512, 0), (U, 2048, 3)>} <"attention" fwd>
// PACKED: stg.select_rows dim 1 {{.*}} -> !stg.tensor<[B, S = 6, D], bf16>

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @K
stg.symbol @E
stg.symbol @V
stg.symbol @L
!x = !stg.tensor<[B, S, D], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
!logits = !stg.tensor<[B, S, V], bf16>

func.func @step(%x: !x, %labels: !stg.tensor<[B, S], i32>) -> !stg.tensor<[B, S], f32> {
  %y = stg.repeat "layers" * L carry(%h = %x : !x) {
    %wq = stg.param "q" : !stg.tensor<[D, H, E], bf16>
    %wk = stg.param "k" : !stg.tensor<[D, K, E], bf16>
    %q = stg.einsum "bsd,dhe->bshe" %h, %wq <"q"> : !x, !stg.tensor<[D, H, E], bf16>
    %k = stg.einsum "bsd,dhe->bshe" %h, %wk <"k"> : !x, !stg.tensor<[D, K, E], bf16>
    %a, %lse = stg.attention causal %q, %k, %k <"attention"> : !q, !k, !k
    %wo = stg.param "o" : !stg.tensor<[H, E, D], bf16>
    %o = stg.einsum "bshe,hed->bsd" %a, %wo <"o"> : !q, !stg.tensor<[H, E, D], bf16>
    stg.yield %o : !x
  }
  %w = stg.param "norm" : !stg.tensor<[D], bf16>
  %n, %rstd = stg.rms_norm %y, %w <"norm"> : !x, !stg.tensor<[D], bf16>
  %head = stg.param "head" : !stg.tensor<[D, V], bf16>
  %p = stg.einsum "bsd,dv->bsv" %n, %head <"head"> : !x, !stg.tensor<[D, V], bf16>
  %l = stg.activation gelu %p <"cap"> : !logits
  %loss, %probs = stg.cross_entropy %l, %labels <"loss"> : !logits, !stg.tensor<[B, S], i32>
  return %loss : !stg.tensor<[B, S], f32>
}

// -----

// What only another loss needs is dropped, with what it would keep; here the loss is a sum
// of two, and both give tokens.
//
// CHECK-LABEL: func.func @two_losses(
// CHECK-SAME: -> (!stg.tensor<[B, S = 1], i32>, !stg.tensor<[B, S = 1], i32>) {
// CHECK: stg.select_rows dim 1 %{{.*}} <"first.rows" fwd>
// CHECK: stg.select_rows dim 1 %{{.*}} <"second.rows" fwd>
// CHECK-NOT: stg.add
// ALL-LABEL: func.func @two_losses(
// PACKED-LABEL: func.func @two_losses(
stg.symbol @B
stg.symbol @S
stg.symbol @V
!logits = !stg.tensor<[B, S, V], bf16>
!ids = !stg.tensor<[B, S], i32>
func.func @two_losses(%x: !logits, %y: !logits, %labels: !ids) -> !stg.tensor<[B, S], f32> {
  %a, %pa = stg.cross_entropy %x, %labels <"first"> : !logits, !ids
  %b, %pb = stg.cross_entropy %y, %labels <"second"> : !logits, !ids
  %sum = stg.add %a, %b <"sum"> : !stg.tensor<[B, S], f32>, !stg.tensor<[B, S], f32>
  return %sum : !stg.tensor<[B, S], f32>
}

// -----

// Attention without a mask sees whole sequences and keeps nothing.
//
// ALL-LABEL: func.func @encoder(
// ALL-NOT: stg.cache
// ALL: stg.attention none
// CHECK-LABEL: func.func @encoder(
// CHECK-NOT: stg.cache
// PACKED-LABEL: func.func @encoder(
// PACKED-NOT: stg.cache
stg.symbol @B
stg.symbol @P
stg.symbol @H
stg.symbol @E
!q = !stg.tensor<[B, P, H, E], bf16>
func.func @encoder(%q: !q) -> !q {
  %a, %lse = stg.attention none %q, %q, %q <"attention"> : !q, !q, !q
  return %a : !q
}

// -----

// What layers read of another one's keys is kept once, before the loop that reads it; a window of
// the same keys is kept by itself.
//
// CHECK-LABEL: func.func @shared_keys(
// CHECK: %[[K:.*]] = stg.cache "first.k" %{{.*}} <"first.k" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S = S + cached, K, E], bf16>
// CHECK: %[[V:.*]] = stg.cache "first.v" %{{.*}} <"first.v" fwd>
// CHECK: stg.attention causal %{{.*}}, %[[K]], %[[V]] <"first" fwd>
// CHECK: %[[KW:.*]] = stg.cache "near.k" %{{.*}} {capacity
// CHECK: %[[VW:.*]] = stg.cache "near.v" %{{.*}} {capacity
// CHECK-NOT: stg.cache
// CHECK: stg.repeat "layers" * L
// CHECK-NOT: stg.cache
// CHECK: stg.attention causal %[[C:.*]], %[[K]], %[[V]] <"far" fwd>
// CHECK-NOT: stg.cache
// CHECK: stg.attention causal %{{.*}}, %[[KW]], %[[VW]] {window = #sym.expr<W>} <"near" fwd>
// CHECK-NOT: stg.cache
// CHECK: return
// ALL-LABEL: func.func @shared_keys(
// PACKED-LABEL: func.func @shared_keys(
stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @K
stg.symbol @E
stg.symbol @W
stg.symbol @L
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
func.func @shared_keys(%q: !q, %k: !k, %v: !k) -> !q {
  %a, %lse = stg.attention causal %q, %k, %v <"first"> : !q, !k, !k
  %y = stg.repeat "layers" * L carry(%c = %a : !q) {
    %far, %l1 = stg.attention causal %c, %k, %v <"far"> : !q, !k, !k
    %near, %l2 = stg.attention causal %far, %k, %v {window = #sym.expr<W>} <"near"> : !q, !k, !k
    stg.yield %near : !q
  }
  return %y : !q
}
