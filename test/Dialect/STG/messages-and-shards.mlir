// Round trip of messages, accumulated gradients and collectives over flat shards.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.symbol @L
stg.symbol @dp
// CHECK: stg.mesh @mesh <cp = 2 : context, dp = dp : data, pp = 4>
stg.mesh @mesh <cp = 2 : context, dp = dp : data, pp = 4>
!x = !stg.tensor<[B, D], bf16>
!w = !stg.tensor<[D, D], f32>
!ws = !stg.tensor<[ceildiv(D*D, 2*dp)], f32>
!v = !stg.tensor<[L, D], f32>
!vs = !stg.tensor<[L, ceildiv(D, 2*dp)], f32>

// CHECK-LABEL: func.func @messages
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, D], bf16>, %[[W:.*]]: !stg.tensor<[D, D], f32>)
func.func @messages(%x: !x, %w: !w) {
  // CHECK: stg.send over "pp" shift 1 channel 7 %[[X]], %[[W]] : !stg.tensor<[B, D], bf16>, !stg.tensor<[D, D], f32>
  stg.send over "pp" shift 1 channel 7 %x, %w : !x, !w
  // CHECK: %[[G:.*]]:2 = stg.recv over "pp" shift -1 channel 0 : !stg.tensor<[D, D], f32>, !stg.tensor<[B, D], bf16>
  %0:2 = stg.recv over "pp" shift -1 channel 0 : !w, !x
  // CHECK: stg.accumulate %[[W]], %[[G]]#0 : !stg.tensor<[D, D], f32>, !stg.tensor<[D, D], f32>
  %1 = stg.accumulate %w, %0#0 : !w, !w
  return
}

// CHECK-LABEL: func.func @flat
// CHECK-SAME: (%[[W:.*]]: !stg.tensor<[D, D], f32>, %[[V:.*]]: !stg.tensor<[L, D], f32>)
func.func @flat(%w: !w, %v: !v) {
  // CHECK: %[[S:.*]]:2 = stg.flat_reduce_scatter over ["cp", "dp"] %[[W]], %[[V]]
  // CHECK-SAME: -> !stg.tensor<[ceildiv(D*D, 2*dp)], f32>, !stg.tensor<[L, ceildiv(D, 2*dp)], f32>
  %0:2 = stg.flat_reduce_scatter over ["cp", "dp"] %w, %v : !w, !v -> !ws, !vs
  // CHECK: stg.flat_all_gather over ["cp", "dp"] %[[S]]#0, %[[S]]#1
  // CHECK-SAME: -> !stg.tensor<[D, D], f32>, !stg.tensor<[L, D], f32>
  %1:2 = stg.flat_all_gather over ["cp", "dp"] %0#0, %0#1 : !ws, !vs -> !w, !v
  // CHECK: stg.gather_updated over ["cp", "dp"] %[[W]], %[[V]] {leading = array<i64: 0, 1>}
  stg.gather_updated over ["cp", "dp"] %w, %v {leading = array<i64: 0, 1>} : !w, !v
  return
}
