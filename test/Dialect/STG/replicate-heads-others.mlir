// Attention of a tower has heads of another number under the name of the key/value heads. They
// are called like its queries, and are not replicated.
//
// RUN: stg-opt %s --stg-replicate-heads="times=2" | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK:         %{{.*}} = stg.param "text" : !stg.tensor<[D, K, E], bf16>
// CHECK-NEXT:    %{{.*}} = stg.replicate dim 1 %{{.*}} : !stg.tensor<[D, K, E], bf16> -> !stg.tensor<[D, 2*K, E], bf16>
// CHECK:         %{{.*}} = stg.param "tower" : !stg.tensor<[D, H = HV, E], bf16>
// CHECK-NEXT:    %[[K:.*]] = stg.einsum "bsd,dke->bske" %{{.*}} : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D, H = HV, E], bf16>
// CHECK-NEXT:    %{{.*}} = stg.attention none %{{[a-z0-9]+}}, %[[K]], %[[K]] {{.*}}: !stg.tensor<[B, S, H = HV, E], bf16>, !stg.tensor<[B, S, H = HV, E], bf16>, !stg.tensor<[B, S, H = HV, E], bf16>
stg.symbol @B "batch"
stg.symbol @S "tokens"
stg.symbol @D "width"
stg.symbol @H "heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @HV "heads of the tower"
!x = !stg.tensor<[B, S, D], bf16>
!q = !stg.tensor<[B, S, H, E], bf16>
!v = !stg.tensor<[B, S, H = HV, E], bf16>
func.func @f(%x: !x, %q: !q, %v: !v) {
  %w = stg.param "text" : !stg.tensor<[D, K, E], bf16>
  %k = stg.einsum "bsd,dke->bske" %x, %w <"text" fwd> : !x, !stg.tensor<[D, K, E], bf16>
  %a, %l = stg.attention causal %q, %k, %k <"text_attention" fwd> : !q, !stg.tensor<[B, S, K, E], bf16>, !stg.tensor<[B, S, K, E], bf16>
  %u = stg.param "tower" : !stg.tensor<[D, K = HV, E], bf16>
  %t = stg.einsum "bsd,dke->bske" %x, %u <"tower" fwd> : !x, !stg.tensor<[D, K = HV, E], bf16>
  %b, %m = stg.attention none %v, %t, %t <"tower_attention" fwd> : !v, !stg.tensor<[B, S, K = HV, E], bf16>, !stg.tensor<[B, S, K = HV, E], bf16>
  return
}
