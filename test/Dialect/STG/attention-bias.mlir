// A bias of scores by relative position, of one table for all layers: each layer's gradient of
// it is stacked, the sum of the stack goes to the table, and only that is reduced.
//
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --stg-apply-preset="tp=2 dp=2" --stg-propagate-shardings \
// RUN:   --stg-insert-collectives --convert-stg-to-chakra | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @D
stg.symbol @H
stg.symbol @E
stg.symbol @L
!x = !stg.tensor<[B, S, D], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>
!b = !stg.tensor<[H, S, _ = S], bf16>
!w = !stg.tensor<[D, H, E], bf16>

// CHECK: chakra.comp "bias.fwd"({{.*}}) ops(0) bytes(2*H*S*S) phase "fwd"
// CHECK: chakra.comp "q.fwd"({{.*}}) ops(B*D*E*H*S/2) matrix bytes(B*D*S + B*E*H*S/2 + D*E*H) phase "fwd"
// CHECK: chakra.comp "attention.fwd"({{.*}}) ops((B*E*H*S*S + B*E*H*S)/2) matrix bytes(B*E*H*S + B*H*S + H*S*S) phase "fwd"
// CHECK: chakra.comp "o.fwd"({{.*}}) ops(B*D*E*H*S/2) matrix bytes(B*D*S + B*E*H*S/2 + D*E*H) phase "fwd"
// CHECK: chakra.coll all_reduce "o.fwd.all_reduce"({{.*}}) over ["tp"] in_place phase "fwd"
// CHECK: chakra.comp "layers.bwd.fill"({{.*}}) ops(0) bytes(B*D*S) phase "bwd"
// CHECK: chakra.comp "o.bwd.dx"({{.*}}) ops(B*D*E*H*S/2) matrix bytes(B*D*S + B*E*H*S/2 + D*E*H) phase "bwd"
// CHECK: chakra.comp "o.bwd.dw"({{.*}}) ops(B*D*E*H*S/2) matrix bytes(B*D*S + B*E*H*S/2 + 2*D*E*H) phase "bwd"
// CHECK: chakra.comp "attention.bwd"({{.*}}) ops(B*E*H*S*S + B*E*H*S) matrix bytes(3*B*E*H*S + B*H*S + 2*H*S*S) phase "bwd"
// CHECK: chakra.comp "attention.bwd.add"({{.*}}) ops(B*E*H*S/4) bytes(3*B*E*H*S/2) phase "bwd"
// CHECK: chakra.comp "attention.bwd.add.1"({{.*}}) ops(B*E*H*S/4) bytes(3*B*E*H*S/2) phase "bwd"
// CHECK: chakra.comp "q.bwd.dx"({{.*}}) ops(B*D*E*H*S/2) matrix bytes(B*D*S + B*E*H*S/2 + D*E*H) phase "bwd"
// CHECK: chakra.coll all_reduce "q.bwd.dx.all_reduce"({{.*}}) over ["tp"] in_place phase "bwd"
// CHECK: chakra.comp "q.bwd.dw"({{.*}}) ops(B*D*E*H*S/2) matrix bytes(B*D*S + B*E*H*S/2 + 2*D*E*H) phase "bwd"
// CHECK: chakra.comp "bias.bwd.add"({{.*}}) ops(H*L*S*S/2) bytes(H*L*S*S + H*S*S) phase "bwd"
// CHECK: chakra.comp "bias.bwd.dw"({{.*}}) ops(H*S*S/2) bytes(H*S*S + 64*H) phase "bwd"
// CHECK: chakra.coll all_reduce "bias.bwd.dw.all_reduce"({{.*}}) over ["dp"] in_place phase "bwd"
// CHECK: chakra.coll all_reduce "all_reduce.fwd.all_reduce"({{.*}}) over ["dp"] in_place phase "fwd"
// CHECK: chakra.coll all_reduce "all_reduce.fwd.all_reduce.1"({{.*}}) over ["dp"] in_place phase "fwd"
func.func @layers(%x: !x) -> !x {
  %t = stg.param "table" : !stg.tensor<[32, H], bf16>
  %b = stg.relative_bias %t <"bias"> : !stg.tensor<[32, H], bf16> -> !b
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %w = stg.param "w" : !w
    %q = stg.einsum "bsd,dhe->bshe" %c, %w <"q"> : !x, !w
    %a, %lse = stg.attention causal %q, %q, %q, %b <"attention"> : !q, !q, !q, !b
    %o = stg.param "o" : !w
    %z = stg.einsum "bshe,dhe->bsd" %a, %o <"o"> : !q, !w
    stg.yield %z : !x
  }
  return %y : !x
}
