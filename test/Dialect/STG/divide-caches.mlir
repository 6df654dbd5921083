// Devices keep some tokens of every cache each. What they make of their own is summed, or
// exchanged for heads; or each goes on with the heads that it reads behind attention.
//
// RUN: stg-opt %s --stg-divide-caches="axes=kvp values=B=3,cached=9" --stg-check-layouts | FileCheck %s --check-prefixes=CHECK,SUM
// RUN: stg-opt %s --stg-divide-caches="axes=kvp merge=exchange values=B=3,cached=9" --stg-check-layouts | FileCheck %s --check-prefixes=CHECK,EXCHANGE

stg.symbol @B
stg.symbol @cached
stg.symbol @G
stg.mesh @mesh <tp = 2 : tensor, kvp = 2 : tensor>

!q = !stg.tensor<[B, S = 1, H = 8, E = 16], bf16>
!half = !stg.tensor<[B, S = 1, H = 4, E = 16], bf16>
!k = !stg.tensor<[B, S = 1, K = 2, E = 16], bf16>
!keys = !stg.tensor<[B, S = cached + 1, K = 2, E = 16], bf16>
!wo = !stg.tensor<[H = 4, E = 16, D = 64], bf16>
!x = !stg.tensor<[B, S = 1, D = 64], bf16>

// All devices have all heads of queries, and go on with half of them.
//
// CHECK-LABEL: func @slices
// CHECK: stg.cache "k" %{{.*}} {divided_over = ["kvp"]} : !stg.tensor<[B, S = 1, K = 2, E = 16], bf16> -> !stg.tensor<[B, S = (cached + 1)/2, K = 2, E = 16], bf16>
// CHECK: %[[O:.*]], %[[L:.*]] = stg.attention causal
// SUM: %[[ALL:.*]] = stg.all_gather dim 2 over ["kvp"] %[[L]] {{.*}} -> !stg.tensor<[B, S = 1, H = 16], f32>
// SUM: %[[P:.*]] = stg.merge_partial %[[O]], %[[ALL]]
// SUM: %[[OWN:.*]] = stg.reduce_scatter dim 2 over ["kvp"] %[[P]] {{.*}} -> !stg.tensor<[B, S = 1, H = 4, E = 16], bf16>
// EXCHANGE: %[[P:.*]] = stg.pack_partial %[[O]], %[[L]] {{.*}} -> !stg.tensor<[B, S = 1, H = 8, 1, 40], i8>
// EXCHANGE: %[[PARTS:.*]] = stg.all_to_all from 3 to 2 over ["kvp"] %[[P]] {{.*}} -> !stg.tensor<[B, S = 1, H = 4, 2, 40], i8>
// EXCHANGE: %[[OWN:.*]] = stg.merge_parts %[[PARTS]] {{.*}} -> !stg.tensor<[B, S = 1, H = 4, E = 16], bf16>
// CHECK-NOT: local_slice
// CHECK: stg.einsum "bshe,hed->bsd" %[[OWN]], %{{.*}}
// CHECK: stg.all_reduce sum over ["kvp"]
func.func @slices(%q: !q {stg.layout = #stg.layout<tp : 2>}, %k: !k {stg.layout = #stg.layout<tp : 2>}, %w: !wo {stg.layout = #stg.layout<tp : 0, kvp : 0>}) -> !x {
  %k1 = stg.cache "k" %k : !k -> !keys
  %v1 = stg.cache "v" %k : !k -> !keys
  %o, %l = stg.attention causal %q, %k1, %v1 <"attention"> : !q, !keys, !keys
  %own = stg.local_slice dim 2 over ["kvp"] %o : !q -> !half
  %p = stg.einsum "bshe,hed->bsd" %own, %w : !half, !wo
  %y = stg.all_reduce sum over ["kvp"] %p : !x
  return %y : !x
}

// Each has some heads of the queries, with the same keys: they are gathered.
//
// CHECK-LABEL: func @queries
// CHECK: %[[Q:.*]] = stg.all_gather dim 2 over ["kvp"] %{{.*}} -> !stg.tensor<[B, S = 1, H = 8, E = 16], bf16>
// CHECK: %[[O:.*]], %[[L:.*]] = stg.attention causal %[[Q]]
// SUM: stg.reduce_scatter dim 2 over ["kvp"] %{{.*}} -> !stg.tensor<[B, S = 1, H = 4, E = 16], bf16>
// EXCHANGE: stg.pack_partial %[[O]], %[[L]] {{.*}} -> !stg.tensor<[B, S = 1, H = 8, 1, 40], i8>
// EXCHANGE: stg.all_to_all from 3 to 2 over ["kvp"] {{.*}} -> !stg.tensor<[B, S = 1, H = 4, 2, 40], i8>
// EXCHANGE: stg.merge_parts
func.func @queries(%q: !half {stg.layout = #stg.layout<kvp : 2>}, %k: !k {stg.layout = #stg.layout<>}) -> !half {
  %k1 = stg.cache "k" %k : !k -> !keys
  %v1 = stg.cache "v" %k : !k -> !keys
  %o, %l = stg.attention causal %q, %k1, %v1 <"attention"> : !half, !keys, !keys
  return %o : !half
}

// What is the same on all devices stays that with a dimension more, such as a number for each element.
//
// CHECK-LABEL: func @broadcast
// CHECK: stg.cache "k" %{{.*}} {divided_over = ["kvp"]}
func.func @broadcast(%q: !q {stg.layout = #stg.layout<tp : 2>}, %k: !k {stg.layout = #stg.layout<tp : 2>}, %g: !stg.tensor<[B, S = 1, K = 2], bf16> {stg.layout = #stg.layout<tp : 2>}, %m: !stg.tensor<[G, E = 16], bf16> {stg.layout = #stg.layout<>}) -> !half {
  %b = stg.broadcast dim 3 %g : !stg.tensor<[B, S = 1, K = 2], bf16> -> !stg.tensor<[B, S = 1, K = 2, G], bf16>
  %s = stg.einsum "bskg,ge->bske" %b, %m : !stg.tensor<[B, S = 1, K = 2, G], bf16>, !stg.tensor<[G, E = 16], bf16>
  %p = stg.mul %k, %s : !k, !k
  %k1 = stg.cache "k" %p : !k -> !keys
  %v1 = stg.cache "v" %k : !k -> !keys
  %o, %l = stg.attention causal %q, %k1, %v1 <"attention"> : !q, !keys, !keys
  %own = stg.local_slice dim 2 over ["kvp"] %o : !q -> !half
  return %own : !half
}

// A cache of requests of which some have new tokens only: these are read as they are made, and each
// device keeps its own.
//
// CHECK-LABEL: func @parts
// CHECK-SAME: %[[Q:[a-z0-9]*]]: {{.*}}, %[[K:[a-z0-9]*]]: !stg.tensor<[1, S = 6, E = 16], bf16>
// CHECK: %[[C:.*]] = stg.cache "k" %[[K]] {divided_over = ["kvp"]} : !stg.tensor<[1, S = 6, E = 16], bf16> -> !stg.tensor<[1, S = 8, E = 16], bf16>
// CHECK: %[[NEW:.*]]:2 = stg.split dim 1 ordered %[[K]] : !stg.tensor<[1, S = 6, E = 16], bf16> -> !stg.tensor<[1, S = 2, E = 16], bf16>, !stg.tensor<[1, S = 4, E = 16], bf16>
// CHECK: %[[OLD:.*]]:2 = stg.split dim 1 ordered %[[C]] {{.*}} -> !stg.tensor<[1, S = 6, E = 16], bf16>, !stg.tensor<[1, S = 2, E = 16], bf16>
// CHECK: %[[H1:.*]] = stg.broadcast dim 2 %[[OLD]]#0
// CHECK: stg.attention causal %{{.*}}, %[[H1]], %[[H1]] {pairs = #sym.expr<6>} <"old">
// CHECK: %[[H2:.*]] = stg.broadcast dim 2 %[[NEW]]#1
// CHECK: stg.attention causal %{{.*}}, %[[H2]], %[[H2]] {requests = #stg.requests<(4, 0)>} <"new">
!old = !stg.tensor<[1, S = 2, H = 8, E = 16], bf16>
!new = !stg.tensor<[1, S = 4, H = 8, E = 16], bf16>
!latent = !stg.tensor<[1, S = 6, E = 16], bf16>
!keys2 = !stg.tensor<[1, S = 12, 1, E = 16], bf16>
!keys4 = !stg.tensor<[1, S = 4, 1, E = 16], bf16>
func.func @parts(%q: !old {stg.layout = #stg.layout<kvp : 2>}, %k: !latent {stg.layout = #stg.layout<>}, %q2: !new {stg.layout = #stg.layout<>}) -> (!old, !new) {
  %c = stg.cache "k" %k : !latent -> !stg.tensor<[1, S = 16, E = 16], bf16>
  %p:2 = stg.split dim 1 ordered %c : !stg.tensor<[1, S = 16, E = 16], bf16> -> !stg.tensor<[1, S = 12, E = 16], bf16>, !stg.tensor<[1, S = 4, E = 16], bf16>
  %h1 = stg.broadcast dim 2 %p#0 : !stg.tensor<[1, S = 12, E = 16], bf16> -> !keys2
  %o1, %l1 = stg.attention causal %q, %h1, %h1 {requests = #stg.requests<2 * (1, 5)>} <"old"> : !old, !keys2, !keys2
  %h2 = stg.broadcast dim 2 %p#1 : !stg.tensor<[1, S = 4, E = 16], bf16> -> !keys4
  %o2, %l2 = stg.attention causal %q2, %h2, %h2 {requests = #stg.requests<(4, 0)>} <"new"> : !new, !keys4, !keys4
  return %o1, %o2 : !old, !new
}
