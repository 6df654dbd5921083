// Keys of blocks of tokens: assembly, and what they cost forward and backward. Of blocks of 4 tokens
// ceildiv(S + 1, 4) - 1 are whole.
//
// RUN: stg-opt %s -split-input-file --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s -split-input-file --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

stg.symbol @B
stg.symbol @S
stg.symbol @E

!row = !stg.tensor<[B, S, E], bf16>
!wide = !stg.tensor<[B, S, 2*E], bf16>
!blocks = !stg.tensor<[B, _ = ceildiv(S, 4), E], bf16>

// Values and scores are read of whole blocks, with two series of channels of the block before, too;
// rows are written of all. Backward, values and scores are no parameters: the bias has a gradient.
//
// CHECK-LABEL: func.func @blocks
// CHECK: stg.compress 4 %{{.*}}, %{{.*}}, %{{.*}} <"once"> : !stg.tensor<[B, S, E], bf16>, !stg.tensor<[B, S, E], bf16>, !stg.tensor<[4, E], bf16> -> !stg.tensor<[B, _ = ceildiv(S, 4), E], bf16>
// CHECK: stg.compress 4 %{{.*}}, %{{.*}}, %{{.*}} {overlapping} <"twice"> :
//
// COST: comp "once.fwd"(%v, %v, %a) ops(32*B*E*ceildiv(S + 1, 4) - 32*B*E) bytes(2*B*E*ceildiv(S, 4) + 16*B*E*ceildiv(S + 1, 4) - 16*B*E + 8*E) phase "fwd"
// COST: comp "twice.fwd"(%w, %w, %b) ops(64*B*E*ceildiv(S + 1, 4) - 32*B*E*min(ceildiv(S + 1, 4) - 1, 1) - 64*B*E) bytes(2*B*E*ceildiv(S, 4) + 32*B*E*ceildiv(S + 1, 4) - 16*B*E*min(ceildiv(S + 1, 4) - 1, 1) - 32*B*E + 16*E) phase "fwd"
// COST: comp "twice.bwd"(%w, %w, %b) ops(112*B*E*ceildiv(S + 1, 4) - 56*B*E*min(ceildiv(S + 1, 4) - 1, 1) - 112*B*E) bytes(4*B*E*S + 48*E) phase "bwd"
// COST: comp "once.bwd"(%v, %v, %a) ops(56*B*E*ceildiv(S + 1, 4) - 56*B*E) bytes(2*B*E*S + 24*E) phase "bwd"
func.func @blocks(%v: !row {stg.name = "v"}, %w: !wide {stg.name = "w"}) -> !blocks {
  %a = stg.param "a" : !stg.tensor<[_ = 4, E], bf16>
  %c = stg.compress 4 %v, %v, %a <"once"> : !row, !row, !stg.tensor<[_ = 4, E], bf16> -> !blocks
  %b = stg.param "b" : !stg.tensor<[_ = 4, 2*E], bf16>
  %o = stg.compress 4 %w, %w, %b {overlapping} <"twice"> : !wide, !wide, !stg.tensor<[_ = 4, 2*E], bf16> -> !blocks
  %y = stg.add %c, %o : !blocks, !blocks
  return %y : !blocks
}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
stg.symbol @D

!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, _ = 1, E], bf16>
!c = !stg.tensor<[B, _ = ceildiv(S, 4), _ = 1, E], bf16>
!w = !stg.tensor<[_ = 1, E], bf16>

// Keys that are values are read once; each has two gradients, of which a sum is made.
//
// CHECK-LABEL: func.func @attend
// CHECK: stg.attention causal %{{.*}}, %[[K:.*]], %[[K]], %[[C:.*]], %[[C]] {compressed = #sym.expr<4>, window = #sym.expr<128>} <"attention"> :
//
// COST: comp "attention.fwd"({{.*}}) ops(2*B*E*H*S*S + 4*B*E*H*S*ceildiv(S + 1, 4) - 2*B*E*H*S - 8*B*E*H*ceildiv(S + 1, 4)*ceildiv(S + 1, 4) + 12*B*E*H*ceildiv(S + 1, 4) - 2*B*E*H*max(S - 128, 0)*max(S - 128, 0) - 2*B*E*H*max(S - 128, 0) - 4*B*E*H) matrix bytes(4*B*E*H*S + 2*B*E*S + 2*B*E*ceildiv(S, 4) + 4*B*H*S) phase "fwd"
// COST: comp "attention.bwd"({{.*}}) ops(3*B*E*H*S*S + 6*B*E*H*S*ceildiv(S + 1, 4) - 3*B*E*H*S - 12*B*E*H*ceildiv(S + 1, 4)*ceildiv(S + 1, 4) + 18*B*E*H*ceildiv(S + 1, 4) - 3*B*E*H*max(S - 128, 0)*max(S - 128, 0) - 3*B*E*H*max(S - 128, 0) - 6*B*E*H) matrix bytes(4*B*E*H*S + 6*B*E*S + 6*B*E*ceildiv(S, 4) + 4*B*H*S) phase "bwd"
// COST: comp "attention.bwd.add"(%attention.bwd#0, %attention.bwd#1) ops(B*E*S)
// COST: comp "attention.bwd.add.1"(%attention.bwd#2, %attention.bwd#3) ops(B*E*ceildiv(S, 4))
func.func @attend(%q: !q {stg.name = "q"}, %x: !k {stg.name = "x"}, %z: !c {stg.name = "z"}) -> !q {
  %w = stg.param "w" : !w
  %k = stg.mul_along %x, %w {dims = array<i64: 2, 3>} <"k"> : !k, !w
  %c = stg.mul_along %z, %w {dims = array<i64: 2, 3>} <"c"> : !c, !w
  %y, %lse = stg.attention causal %q, %k, %k, %c, %c {window = #sym.expr<128>, compressed = #sym.expr<4>} <"attention"> : !q, !k, !k, !c, !c
  return %y : !q
}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @X
stg.symbol @A
!p = !stg.tensor<[B, S, X], f32>
!i = !stg.tensor<[B, S, A], i32>

// CHECK-LABEL: func.func @weights
// CHECK: stg.take %{{.*}}, %{{.*}} <"take"> : !stg.tensor<[B, S, X], f32>, !stg.tensor<[B, S, A], i32>
//
// COST: comp "take.fwd"(%p, %arg0) ops(0) bytes(12*A*B*S) phase "fwd"
// COST: comp "take.bwd"(%arg0) ops(0) bytes(4*A*B*S + 4*B*S*X) phase "bwd"
func.func @weights(%i: !i) -> !stg.tensor<[B, S, A], f32> {
  %p = stg.param "p" : !p
  %w = stg.take %p, %i <"take"> : !p, !i
  return %w : !stg.tensor<[B, S, A], f32>
}

// -----

stg.symbol @B
!p = !stg.tensor<[B, _ = 4, _ = 4], f32>

// CHECK-LABEL: func.func @mix
// CHECK: stg.balance 20 %{{.*}} <"balance"> : !stg.tensor<[B, 4, 4], f32>
//
// COST: comp "balance.fwd"(%p) ops(1248*B) bytes(128*B) phase "fwd"
// COST: comp "balance.bwd"(%p) ops(3744*B) bytes(128*B) phase "bwd"
func.func @mix() -> !p {
  %p = stg.param "p" : !p
  %w = stg.balance 20 %p <"balance"> : !p
  return %w : !p
}

// -----

stg.symbol @B
stg.symbol @E
!p = !stg.tensor<[B, 2, E], bf16>

// CHECK-LABEL: func.func @limited
// CHECK: stg.glu silu %{{.*}} {limited} <"glu"> : !stg.tensor<[B, 2, E], bf16>
//
// COST: comp "glu.fwd"(%p) ops(8*B*E) bytes(6*B*E) phase "fwd"
// COST: comp "glu.bwd"(%p) ops(18*B*E) bytes(8*B*E) phase "bwd"
func.func @limited() -> !stg.tensor<[B, E], bf16> {
  %p = stg.param "p" : !p
  %w = stg.glu silu %p {limited} <"glu"> : !p
  return %w : !stg.tensor<[B, E], bf16>
}
