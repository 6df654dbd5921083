// Sinks of heads, capped scores and ALiBi: assembly, what they cost, and the gradient of sinks.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-autodiff --convert-stg-to-chakra | FileCheck %s --check-prefix=COST

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @K
stg.symbol @E

!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
!s = !stg.tensor<[H], bf16>

// Sinks are read, and are in no product. Their gradient alone is made here: of the output, its
// gradient and the log-sum-exp, 2 operations for each element of the output, 4 for each query
// and head.
//
// CHECK-LABEL: func.func @sinks
// CHECK: stg.attention causal %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} <"attention"> : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, K, E], bf16>, !stg.tensor<[B, S, K, E], bf16>, !stg.tensor<[H], bf16>
// CHECK: stg.attention causal %{{.*}}, %{{.*}}, %{{.*}} {alibi, capped} <"plain"> : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, K, E], bf16>, !stg.tensor<[B, S, K, E], bf16>
//
// COST: comp "attention.fwd"({{.*}}) ops(2*B*E*H*S*S + 2*B*E*H*S) matrix bytes(4*B*E*H*S + 4*B*E*K*S + 4*B*H*S + 2*H)
// COST: comp "plain.fwd"({{.*}}) ops(2*B*E*H*S*S + 2*B*E*H*S) matrix bytes(4*B*E*H*S + 4*B*E*K*S + 4*B*H*S)
// COST: comp "attention.bwd.dw"({{.*}}) ops(2*B*E*H*S + 4*B*H*S) bytes(2*B*E*H*S + 4*B*H*S + 6*H) phase "bwd"
// COST-NOT: "attention.bwd"
func.func @sinks(%q: !q {stg.name = "q"}, %k: !k {stg.name = "k"}, %v: !k {stg.name = "v"}) -> !q {
  %s = stg.param "sinks" : !s
  %y, %lse = stg.attention causal %q, %k, %v, %s <"attention"> : !q, !k, !k, !s
  %z, %lsf = stg.attention causal %q, %k, %v {alibi, capped} <"plain"> : !q, !k, !k
  %r = stg.add %y, %z : !q, !q
  return %r : !q
}
