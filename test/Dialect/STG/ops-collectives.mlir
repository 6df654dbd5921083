// Round trip of the collectives, and of plan-level types.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @K
stg.symbol @dp
// CHECK: stg.mesh @mesh <tp = 8, cp = 2, dp = dp>{{$}}
stg.mesh @mesh <tp = 8, cp = 2, dp = dp>

!whole = !stg.tensor<[B, S], bf16>
!shard = !stg.tensor<[B, S/8], bf16>

// CHECK-LABEL: func.func @collectives
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, S], bf16>, %[[Y:.*]]: !stg.tensor<[B, S/8], bf16>)
func.func @collectives(%x: !whole, %y: !shard) {
  // CHECK: stg.all_reduce sum over ["tp"] %[[X]] : !stg.tensor<[B, S], bf16>{{$}}
  %0 = stg.all_reduce sum over ["tp"] %x : !whole
  // CHECK: stg.all_reduce max over ["tp", "dp"] %[[X]] : !stg.tensor<[B, S], bf16>{{$}}
  %1 = stg.all_reduce max over ["tp", "dp"] %x : !whole
  // CHECK: %{{.*}}:2 = stg.all_reduce sum over ["dp"] %[[X]], %[[Y]] : !stg.tensor<[B, S], bf16>, !stg.tensor<[B, S/8], bf16>{{$}}
  %2:2 = stg.all_reduce sum over ["dp"] %x, %y : !whole, !shard
  // CHECK: stg.all_gather dim 1 over ["tp"] %[[Y]] : !stg.tensor<[B, S/8], bf16> -> !stg.tensor<[B, S], bf16>
  %3 = stg.all_gather dim 1 over ["tp"] %y : !shard -> !whole
  // CHECK: stg.reduce_scatter dim 1 over ["tp"] %[[X]] : !stg.tensor<[B, S], bf16> -> !stg.tensor<[B, S/8], bf16>
  %4 = stg.reduce_scatter dim 1 over ["tp"] %x : !whole -> !shard
  // CHECK: stg.all_to_all from 1 to 0 over ["tp"] %[[Y]] : !stg.tensor<[B, S/8], bf16> -> !stg.tensor<[B/8, S], bf16>
  %5 = stg.all_to_all from 1 to 0 over ["tp"] %y : !shard -> !stg.tensor<[B/8, S], bf16>
  // CHECK: stg.local_slice dim 1 over ["tp"] %[[X]] : !stg.tensor<[B, S], bf16> -> !stg.tensor<[B, S/8], bf16>
  %6 = stg.local_slice dim 1 over ["tp"] %x : !whole -> !shard
  return
}

// CHECK-LABEL: func.func private @plan(
// CHECK-SAME: !stg.tensor<[B : dp, S, H + 2*K : tp], bf16>
// CHECK-SAME: !stg.tensor<[B : (dp, cp), S], f32>
// CHECK-SAME: !stg.tensor<[B, S : cp], bf16, sum(tp)>
// CHECK-SAME: !stg.tensor<[B], f32, max(tp, dp)>
// CHECK-SAME: !stg.tensor<[], f32, sum(tp)>
func.func private @plan(!stg.tensor<[B : dp, S, (H + 2*K) : tp], bf16>,
                        !stg.tensor<[B : (dp, cp), S], f32>,
                        !stg.tensor<[B, S : cp], bf16, sum(tp)>,
                        !stg.tensor<[B], f32, max(tp, dp)>,
                        !stg.tensor<[], f32, sum(tp)>)

// CHECK-LABEL: func.func @sharded
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B : dp, S], bf16>)
func.func @sharded(%x: !stg.tensor<[B : dp, S], bf16>) {
  // The result type follows without its sharding: it is written where it has one.
  // CHECK: stg.activation relu %[[X]] {factors = #stg.factors<d0 : dp>} : !stg.tensor<[B : dp, S], bf16> -> !stg.tensor<[B : dp, S], bf16>
  %0 = stg.activation relu %x {factors = #stg.factors<d0 : dp>} : !stg.tensor<[B : dp, S], bf16> -> !stg.tensor<[B : dp, S], bf16>
  // CHECK: stg.activation relu %[[X]] : !stg.tensor<[B : dp, S], bf16>{{$}}
  %1 = stg.activation relu %x : !stg.tensor<[B : dp, S], bf16>
  return
}

// CHECK-LABEL: func.func private @attributes()
// CHECK-SAME: a = #sym.expr<B*S/dp>
// CHECK-SAME: b = #sym.mesh<tp = 2, dp = dp>
// CHECK-SAME: c = #stg.sharding<[{dp}, {}, {tp, cp}]>
// CHECK-SAME: d = #stg.sharding<[{}], max(tp)>
// CHECK-SAME: e = #sym.mesh<>
func.func private @attributes() attributes {
  a = #sym.expr<B*S/dp>, b = #sym.mesh<tp = 2, dp = dp>,
  c = #stg.sharding<[{dp}, {}, {tp, cp}]>, d = #stg.sharding<[{}], max(tp)>,
  e = #sym.mesh<>}
