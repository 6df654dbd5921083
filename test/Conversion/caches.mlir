// RUN: stg-opt %s --split-input-file | stg-opt --split-input-file | FileCheck %s --check-prefix=TEXT
// RUN: stg-opt %s --split-input-file --convert-stg-to-chakra | FileCheck %s

// A cache is one buffer of a layer, which is there throughout. Its op writes the new rows,
// and attention reads the buffer. Where the element type changes there is an operation for
// each new element. A selection of all rows is a view.
//
// TEXT: stg.cache "a.k" %{{.*}} <"a.k" fwd> : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S = P + S, K, E], f8E4M3FN>
// TEXT: stg.select_rows dim 1 %{{.*}} <"rows" fwd> : !stg.tensor<[B, S, H, E], bf16> -> !stg.tensor<[B, S = 2, H, E], bf16>
// TEXT: stg.sample %{{.*}} <"sample" fwd> : !stg.tensor<[B, S = 2, H, E], bf16>
// TEXT: stg.attention causal {{.*}} {requests = #stg.requests<3 * (1, 7), (P, 0, 0)>}
//
// CHECK: %[[L:.*]]:2 = chakra.repeat "layers" * L
// CHECK:   chakra.state "a.k" : !chakra.tensor<B*E*K*P + B*E*K*S, kv_cache>
// CHECK:   chakra.state "a.v" : !chakra.tensor<2*B*E*K*P + 2*B*E*K*S, kv_cache>
// CHECK: chakra.repeat "layers" * L {{.*}}slices(%[[K:.*]] = %[[L]]#0 : {{.*}}, %[[V:.*]] = %[[L]]#1 :
// CHECK:   %[[K1:.*]] = chakra.comp "a.k.fwd"(%{{.*}}) updates(%[[K]] : {{.*}}) ops(B*E*K*S) bytes(3*B*E*K*S) phase "fwd"
// CHECK:   %[[V1:.*]] = chakra.comp "a.v.fwd"(%{{.*}}) updates(%[[V]] : {{.*}}) ops(0) bytes(4*B*E*K*S) phase "fwd"
// CHECK:   chakra.comp "a.fwd"(%{{.*}}, %[[K1]], %[[V1]]) ops(4*B*E*H*P*S + 2*B*E*H*S*S + 2*B*E*H*S) matrix bytes(4*B*E*H*S + 3*B*E*K*P + 3*B*E*K*S + 4*B*H*S) phase "fwd"
// CHECK: chakra.comp "rows.fwd"(%{{.*}}) ops(0) bytes(8*B*E*H) phase "fwd"
// CHECK-NOT: chakra.comp "all.fwd"
// CHECK: chakra.comp "sample.fwd"(%{{.*}}) ops(2*B*E*H) bytes(4*B*E*H + 8*B*H) phase "fwd"
stg.symbol @B
stg.symbol @S
stg.symbol @P
stg.symbol @H
stg.symbol @K
stg.symbol @E
stg.symbol @L
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, S, K, E], bf16>
!keys = !stg.tensor<[B, S = S + P, K, E], f8E4M3FN>
!values = !stg.tensor<[B, S = S + P, K, E], bf16>
!rows = !stg.tensor<[B, S = 2, H, E], bf16>
func.func @f(%q: !q {stg.name = "q"}, %k: !k {stg.name = "k"}) -> !stg.tensor<[B, S = 2, H], i32> {
  %y = stg.repeat "layers" * L carry(%x = %q : !q) <fwd> {
    %k1 = stg.cache "a.k" %k <"a.k" fwd> : !k -> !keys
    %v1 = stg.cache "a.v" %k <"a.v" fwd> : !k -> !values
    %a, %lse = stg.attention causal %x, %k1, %v1 <"a" fwd> : !q, !keys, !values
    stg.yield %a : !q
  }
  %rows = stg.select_rows dim 1 %y <"rows" fwd> : !q -> !rows
  %all = stg.select_rows dim 1 %rows <"all" fwd> : !rows -> !rows
  %t = stg.sample %all <"sample" fwd> : !rows
  return %t : !stg.tensor<[B, S = 2, H], i32>
}

// -----

// Pairs of requests that are packed into a row: three of 8 keys and one of P new tokens.
//
// CHECK-LABEL: chakra.graph @packed
// CHECK: chakra.comp "a.fwd"(%{{.*}}) ops(2*B*E*H*P*P + 2*B*E*H*P + 96*B*E*H) matrix
stg.symbol @B
stg.symbol @S
stg.symbol @P
stg.symbol @H
stg.symbol @K
stg.symbol @E
!q = !stg.tensor<[B, S, H, E], bf16>
!values = !stg.tensor<[B, S = S + P, K, E], bf16>
func.func @packed(%q: !q {stg.name = "q"}, %k: !values {stg.name = "k"}) {
  %a, %lse = stg.attention causal %q, %k, %k {requests = #stg.requests<3 * (1, 7), (P, 0, 0)>} <"a" fwd> : !q, !values, !values
  return
}
