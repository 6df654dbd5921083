// Heads that cannot be replicated: the message says which op does not treat them one by one.
//
// RUN: stg-opt %s --stg-replicate-heads="times=2" -split-input-file -verify-diagnostics
// RUN: not stg-opt %s --stg-replicate-heads="times=0" -split-input-file 2>&1 | FileCheck %s --check-prefix=TIMES
// TIMES: error: times is '0', expected an integer of at least 1 or a symbol

stg.symbol @B
stg.symbol @K
stg.symbol @E
stg.symbol @D
func.func @sum_of_heads(%x: !stg.tensor<[B, D], bf16>) {
  %w = stg.param "w" : !stg.tensor<[D, K, E], bf16>
  %v = stg.param "v" : !stg.tensor<[K, E, D], bf16>
  %y = stg.einsum "bd,dke->bke" %x, %w : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, K, E], bf16>
  // expected-error @+1 {{cannot replicate 'K': it does not compute each of K alone; without replicas at most K devices can divide it}}
  %z = stg.einsum "bke,ked->bd" %y, %v : !stg.tensor<[B, K, E], bf16>, !stg.tensor<[K, E, D], bf16>
  return
}
// -----
stg.symbol @B
stg.symbol @K
stg.symbol @D
func.func @norm_of_heads(%x: !stg.tensor<[B, D], bf16>, %n: !stg.tensor<[D], bf16>) {
  %w = stg.param "w" : !stg.tensor<[D, K], bf16>
  %m = stg.param "m" : !stg.tensor<[K], bf16>
  %y = stg.einsum "bd,dk->bk" %x, %w : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, K], bf16>
  // expected-error @+1 {{cannot replicate 'K': it does not compute each of K alone; without replicas at most K devices can divide it}}
  %z, %r = stg.rms_norm %y, %m : !stg.tensor<[B, K], bf16>, !stg.tensor<[K], bf16>
  return
}
// -----
stg.symbol @K
stg.symbol @E
// expected-error @+1 {{cannot replicate 'K': argument #1 has the type !stg.tensor<[2*K, E], bf16>}}
func.func @argument(%a: !stg.tensor<[E], bf16>, %x: !stg.tensor<[2*K, E], bf16>) {
  return
}
// -----
stg.symbol @B
stg.symbol @H
stg.symbol @K
!qk = !stg.tensor<[B, H + K], bf16>
func.func @ordered(%x: !stg.tensor<[B, B], bf16>) {
  %w = stg.param "w" : !qk
  %y = stg.einsum "bd,dh->bh" %x, %w : !stg.tensor<[B, B], bf16>, !qk
  // expected-error @+1 {{cannot replicate 'K': what it cuts is not a product with a parameter}}
  %q, %k = stg.split dim 1 ordered %y : !qk -> !stg.tensor<[B, H], bf16>, !stg.tensor<[B, K], bf16>
  return
}
// -----
stg.symbol @B
stg.symbol @H
stg.symbol @K
!qk = !stg.tensor<[B, H + K], bf16>
func.func @no_product(%x: !qk) {
  %y = stg.add %x, %x : !qk, !qk
  // expected-error @+1 {{cannot replicate 'K': what it cuts is not a product with a parameter}}
  %q, %k = stg.split dim 1 %y : !qk -> !stg.tensor<[B, H], bf16>, !stg.tensor<[B, K], bf16>
  return
}
// -----
stg.symbol @B
stg.symbol @H
stg.symbol @K
func.func @not_cut(%x: !stg.tensor<[B, B], bf16>) {
  // expected-error @+1 {{cannot replicate 'K': its type !stg.tensor<[B, H + K], bf16> has no dimension of its own for them}}
  %w = stg.param "w" : !stg.tensor<[B, H + K], bf16>
  %y = stg.einsum "bd,dh->bh" %x, %w : !stg.tensor<[B, B], bf16>, !stg.tensor<[B, H + K], bf16>
  return
}
// -----
stg.symbol @K
func.func @two_dimensions() {
  // expected-error @+1 {{cannot replicate 'K': its type !stg.tensor<[K, 2*K], bf16> has no dimension of its own for them}}
  %w = stg.param "w" : !stg.tensor<[K, 2*K], bf16>
  return
}
