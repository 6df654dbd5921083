// RUN: stg-opt %s --split-input-file --stg-inference --verify-diagnostics

// What mixes tokens by other means says nothing of earlier ones.
stg.symbol @B
stg.symbol @S
stg.symbol @D
!x = !stg.tensor<[B, S, D], bf16>
func.func @mixed(%x: !x, %w: !stg.tensor<[S, T = S], bf16>) -> !stg.tensor<[B, T = S, D], bf16> {
  // expected-error @+1 {{'stg.einsum' op looks at several of the tokens 'S' at once, but does not say what it keeps of earlier ones; implement IncrementalOpInterface, or give whole sequences, cached=0}}
  %y = stg.einsum "bsd,st->btd" %x, %w : !x, !stg.tensor<[S, T = S], bf16>
  return %y : !stg.tensor<[B, T = S, D], bf16>
}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @D
!x = !stg.tensor<[B, S, D], bf16>
func.func @positions(%x: !x) -> !x {
  // expected-error @+1 {{'stg.param' op has a row for each of the tokens 'S', which are others in each step; look its rows up by position}}
  %w = stg.param "positions" : !stg.tensor<[S, D], bf16>
  %y = stg.bias_add %x, %w : !x, !stg.tensor<[S, D], bf16>
  return %y : !x
}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
!q = !stg.tensor<[B, S, H, E], bf16>
func.func @encoder(%q: !q) -> !q {
  // expected-error @+1 {{'stg.attention' op sees tokens that come later, so nothing of it can be kept; needs whole sequences, cached=0}}
  %a, %lse = stg.attention none %q, %q, %q : !q, !q, !q
  return %a : !q
}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @P
stg.symbol @H
stg.symbol @E
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, P, H, E], bf16>
func.func @cross(%q: !q, %k: !k) -> (!q, !k) {
  %a, %lse = stg.attention none %q, %k, %k : !q, !k, !k
  // Keys are tokens, and queries are not.
  // expected-error @+1 {{'stg.attention' op sees tokens that come later, so nothing of it can be kept; needs whole sequences, cached=0}}
  %b, %lse1 = stg.attention none %k, %q, %q : !k, !q, !q
  return %a, %b : !q, !k
}

// -----

stg.symbol @B
stg.symbol @T
stg.symbol @V
!l = !stg.tensor<[B, T, V], bf16>
func.func @other_tokens(%l: !l, %labels: !stg.tensor<[B, T], i32>) -> !stg.tensor<[B, T], f32> {
  // expected-error @+1 {{'stg.cross_entropy' op has predictions of type '!stg.tensor<[B, T, V], bf16>', expected one dimension 'S', the tokens; name it with tokens=NAME, or give whole sequences, cached=0}}
  %loss, %p = stg.cross_entropy %l, %labels : !l, !stg.tensor<[B, T], i32>
  return %loss : !stg.tensor<[B, T], f32>
}

// -----

stg.symbol @B
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S = 3, K, E], bf16>
!k = !stg.tensor<[B, S = 8, K, E], bf16>
func.func @requests(%q: !q, %k: !k) {
  // expected-error @+1 {{'stg.attention' op has requests with 4 queries, the operand has 3}}
  %a, %l = stg.attention causal %q, %k, %k {requests = #stg.requests<(1, 4), (3, 0)>} : !q, !k, !k
  return
}

// -----

stg.symbol @B
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S = 8, K, E], bf16>
!k = !stg.tensor<[B, S = 8, K, E], bf16>
!longer = !stg.tensor<[B, S = 9, K, E], bf16>
func.func @filled(%q: !q, %k: !k, %l: !longer) {
  // What fills a row up is of no request, and keeps nothing.
  %a, %b = stg.attention causal %q, %k, %k {requests = #stg.requests<(1, 4), (3, 0)>} : !q, !k, !k
  // expected-error @+1 {{'stg.attention' op has requests with 8 keys, the operand has 9}}
  %c, %d = stg.attention causal %q, %l, %l {requests = #stg.requests<(1, 4), (3, 0)>} : !q, !longer, !longer
  return
}

// -----

stg.symbol @B
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S = 5, K, E], bf16>
!k = !stg.tensor<[B, S = 9, K, E], bf16>
func.func @requests(%q: !q, %k: !k) {
  // expected-error @+1 {{'stg.attention' op has requests with 10 keys, the operand has 9}}
  %a, %l = stg.attention causal %q, %k, %k {requests = #stg.requests<(2, 5), (3, 0)>} : !q, !k, !k
  return
}

// -----

stg.symbol @B
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S = 5, K, E], bf16>
func.func @requests(%q: !q) {
  // expected-error @+1 {{'stg.attention' op has a request with -1 cached tokens, expected at least 0}}
  %a, %l = stg.attention causal %q, %q, %q {requests = #stg.requests<(5, -1)>} : !q, !q, !q
  return
}

// -----

// expected-error @+1 {{has 1 numbers, expected new and cached tokens and rows of logits}}
func.func private @f() attributes {test.r = #stg.requests<(5)>}

// -----

// expected-error @+1 {{has a request 0 times, expected at least 1}}
func.func private @f() attributes {test.r = #stg.requests<0 * (5, 1)>}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @K
!k = !stg.tensor<[B, S, K], bf16>
func.func @cache(%k: !k) {
  // expected-error @+1 {{cache has extent 2*S in dimension 2, expected K}}
  %c = stg.cache "k" %k : !k -> !stg.tensor<[B, S = S + 1, K = 2*S], bf16>
  return
}

// -----

stg.symbol @B
stg.symbol @S
!k = !stg.tensor<[B, S], bf16>
func.func @cache(%k: !k) {
  // expected-error @+1 {{'stg.cache' op expects a name}}
  %c = stg.cache "" %k : !k -> !k
  return
}

// -----

stg.symbol @B
stg.symbol @S
!k = !stg.tensor<[B, S], bf16>
func.func @rows(%k: !k) {
  // expected-error @+1 {{'stg.select_rows' op has dimension 2, the tensor has rank 2}}
  %c = stg.select_rows dim 2 %k : !k -> !k
  return
}

// -----

stg.symbol @B
stg.symbol @S
!k = !stg.tensor<[B, S], i32>
func.func @tokens(%k: !k) {
  // expected-error @+1 {{logits have element type 'i32', expected a float}}
  %c = stg.sample %k : !k
  return
}

// -----

stg.symbol @B
stg.symbol @S
!k = !stg.tensor<[B, S], bf16>
func.func @capacity(%k: !k) {
  // expected-error @+1 {{'stg.cache' op has a capacity and no dimension}}
  %c = stg.cache "k" %k {capacity = #sym.expr<S>} : !k -> !k
  return
}

// -----

stg.symbol @B
stg.symbol @S
!k = !stg.tensor<[B, S], bf16>
func.func @capacity(%k: !k) {
  // expected-error @+1 {{'stg.cache' op has a dimension and no capacity}}
  %c = stg.cache "k" %k {dim = 1 : i64} : !k -> !k
  return
}

// -----

stg.symbol @B
stg.symbol @S
!k = !stg.tensor<[B, S], bf16>
func.func @capacity(%k: !k) {
  // expected-error @+1 {{'stg.cache' op has a capacity of dimension 2, the tensor has rank 2}}
  %c = stg.cache "k" %k {capacity = #sym.expr<S>, dim = 2 : i64} : !k -> !k
  return
}

// -----

stg.symbol @B
stg.symbol @S
!k = !stg.tensor<[B, S], bf16>
func.func @capacity(%k: !k) {
  // expected-error @+1 {{'stg.cache' op has a capacity of 0, expected an integer of at least 1}}
  %c = stg.cache "k" %k {capacity = #sym.expr<0>, dim = 1 : i64} : !k -> !k
  return
}

// -----

// Under a window of 4 the request of 5 cached tokens reads 3 of them. Where devices divide tokens
// there may be more, but no more than are cached.
stg.symbol @B
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S = 5, K, E], bf16>
!all = !stg.tensor<[B, S = 10, K, E], bf16>
!more = !stg.tensor<[B, S = 11, K, E], bf16>
func.func @more(%q: !q, %all: !all, %more: !more) {
  %a, %l = stg.attention causal %q, %all, %all {requests = #stg.requests<(2, 5), (3, 0)>, window = #sym.expr<4>} : !q, !all, !all
  // expected-error @+1 {{'stg.attention' op has requests with 8 keys, the operand has 11}}
  %b, %m = stg.attention causal %q, %more, %more {requests = #stg.requests<(2, 5), (3, 0)>, window = #sym.expr<4>} : !q, !more, !more
  return
}

// -----

stg.symbol @B
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S = 5, K, E], bf16>
!k = !stg.tensor<[B, S = 7, K, E], bf16>
func.func @fewer(%q: !q, %k: !k) {
  // expected-error @+1 {{'stg.attention' op has requests with 8 keys, the operand has 7}}
  %a, %l = stg.attention causal %q, %k, %k {requests = #stg.requests<(2, 5), (3, 0)>, window = #sym.expr<4>} : !q, !k, !k
  return
}

// -----

stg.symbol @R
func.func @rows(%x: !stg.tensor<[R, 8], bf16>) {
  // expected-error @+1 {{result has extent 2*R in dimension 0, expected R}}
  %y = stg.encode_rows %x : !stg.tensor<[R, 8], bf16> -> !stg.tensor<[R = 2*R, 10], i8>
  return
}
