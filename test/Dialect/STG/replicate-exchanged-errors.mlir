// What cannot be replicated before it is exchanged for tokens, and options that cannot be.
//
// RUN: stg-opt %s --stg-replicate-heads="dim=G exchanged=2 exchanges-scans" -split-input-file -verify-diagnostics
// RUN: not stg-opt %s --stg-replicate-heads="dim=G exchanged=0" -split-input-file 2>&1 | FileCheck %s --check-prefix=TIMES
// TIMES: error: exchanged is '0', expected an integer of at least 1 or a symbol
// RUN: not stg-opt %s --stg-parallelize="mesh=r=2:tensor rules=D:r claims=stg.replicate/replica@G" -split-input-file 2>&1 | FileCheck %s --check-prefix=CLAIM
// CLAIM: error: claim is 'stg.replicate/replica@G', expected OP/FACTOR:AXIS, OP/FACTOR@DIM:AXIS, or these with '>' for '/', with an axis of the mesh
// RUN: not stg-opt %s --stg-inference="token-parts=0" -split-input-file 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: token-parts is 0, expected at least 1

stg.symbol @B
stg.symbol @S
stg.symbol @G
stg.symbol @N
stg.symbol @D
!g = !stg.tensor<[B, S, G, N], bf16>
func.func @leaves(%x: !g) {
  %y = stg.repeat "layers" * 2 carry(%h = %x : !g) {
    %c = stg.param "c" : !stg.tensor<[G, N, 4], bf16>
    %z = stg.causal_conv %h, %c : !g, !stg.tensor<[G, N, 4], bf16>
    // expected-error @+1 {{cannot replicate 'G': what is exchanged for tokens leaves its block; without replicas at most G devices can divide it}}
    stg.yield %z : !g
  }
  return
}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @G
stg.symbol @N
stg.symbol @D
!g = !stg.tensor<[B, S, G, N], bf16>
func.func @sum(%x: !stg.tensor<[B, S, D], bf16>) {
  %w = stg.param "w" : !stg.tensor<[D, G, N], bf16>
  %y = stg.einsum "bsd,dgn->bsgn" %x, %w : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D, G, N], bf16>
  %c = stg.param "c" : !stg.tensor<[G, N, 4], bf16>
  %z = stg.causal_conv %y, %c : !g, !stg.tensor<[G, N, 4], bf16>
  %v = stg.param "v" : !stg.tensor<[G, N, D], bf16>
  // expected-error @+1 {{cannot replicate 'G': it does not compute each of 2*G alone; without replicas at most G devices can divide it}}
  %o = stg.einsum "bsgn,gnd->bsd" %z, %v : !g, !stg.tensor<[G, N, D], bf16>
  return
}
