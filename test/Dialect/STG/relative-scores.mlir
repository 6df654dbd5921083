// Scores by a token and a relative position, as a bias of each sequence: heads and the batch are
// divided, and what tokens score is read and written once for each pair of tokens.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="tp=2 dp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @E
stg.symbol @N
!x = !stg.tensor<[B, S, D], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>
!r = !stg.tensor<[N, H, E], bf16>
!n = !stg.tensor<[B, H, S, N], bf16>
!s = !stg.tensor<[B, H, S, _ = S], bf16>
!w = !stg.tensor<[D, H, E], bf16>

// CHECK-LABEL: chakra.graph
// CHECK: chakra.comp "c.fwd"({{.*}}) ops(B*E*H*N*S/2) matrix bytes(B*E*H*S/2 + B*H*N*S/2 + E*H*N) phase "fwd"
// CHECK: chakra.comp "c2p.fwd"({{.*}}) ops(0) bytes(B*H*S*S) phase "fwd"
// CHECK: chakra.comp "p.fwd"({{.*}}) ops(B*E*H*N*S/2) matrix bytes(B*E*H*S/2 + B*H*N*S/2 + E*H*N) phase "fwd"
// CHECK: chakra.comp "p2c.fwd"({{.*}}) ops(0) bytes(B*H*S*S) phase "fwd"
// CHECK: chakra.comp "sum.fwd"({{.*}}) ops(B*H*S*S/4) bytes(3*B*H*S*S/2) phase "fwd"
// CHECK: chakra.comp "attention.fwd"({{.*}}) ops(B*E*H*S*S) matrix bytes(B*E*H*S + B*H*S*S/2 + B*H*S) phase "fwd"
// CHECK: chakra.comp "attention.bwd"({{.*}}) ops(2*B*E*H*S*S) matrix bytes(3*B*E*H*S + B*H*S*S + B*H*S) phase "bwd"
// CHECK: chakra.comp "p2c.bwd"({{.*}}) ops(B*H*S*S/4) bytes((B*H*N*S + B*H*S*S)/2) phase "bwd"
// CHECK: chakra.comp "c2p.bwd"({{.*}}) ops(B*H*S*S/4) bytes((B*H*N*S + B*H*S*S)/2) phase "bwd"
func.func @layer(%x: !x) -> !x {
  %w = stg.param "w" : !w
  %q = stg.einsum "bsd,dhe->bshe" %x, %w <"q"> : !x, !w
  %r = stg.param "r" : !r
  %c = stg.einsum "bshe,nhe->bhsn" %q, %r <"c"> : !q, !r
  %a = stg.relative_scores %c <"c2p"> : !n -> !s
  %t = stg.param "t" : !r
  %p = stg.einsum "bshe,nhe->bhsn" %q, %t <"p"> : !q, !r
  %b = stg.relative_scores %p {of_keys} <"p2c"> : !n -> !s
  %s = stg.add %a, %b <"sum"> : !s, !s
  %y, %lse = stg.attention none %q, %q, %q, %s <"attention"> : !q, !q, !q, !s
  %o = stg.param "o" : !w
  %z = stg.einsum "bshe,dhe->bsd" %y, %o <"o"> : !q, !w
  return %z : !x
}
