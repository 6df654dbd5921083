// Folds: what an axis of size 1 leaves, zero gradients, views that cancel, stacks that
// nobody reads.
//
// RUN: stg-opt %s --canonicalize | FileCheck %s

stg.symbol @B
stg.symbol @L
stg.mesh @mesh <one = 1, tp = 2, dp = 2>

!x = !stg.tensor<[B, 4], bf16>
!half = !stg.tensor<[B, 2], bf16>

// CHECK-LABEL: func.func @collectives_of_one_device
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @collectives_of_one_device(%x: !x) -> (!x, !x, !x, !x, !x) {
  %0 = stg.all_reduce sum over ["one"] %x : !x
  %1 = stg.all_gather dim 1 over ["one"] %x : !x -> !x
  %2 = stg.reduce_scatter dim 1 over ["one"] %x : !x -> !x
  %3 = stg.all_to_all from 0 to 1 over ["one"] %x : !x -> !x
  %4 = stg.local_slice dim 1 over ["one"] %x : !x -> !x
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  return %0, %1, %2, %3, %4 : !x, !x, !x, !x, !x
}

// CHECK-LABEL: func.func @collectives_of_two_devices
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @collectives_of_two_devices(%x: !x) -> (!x, !half) {
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[X]] : !stg.tensor<[B, 4], bf16>
  %0 = stg.all_reduce sum over ["tp"] %x : !x
  // CHECK-NEXT: %[[S:.*]] = stg.local_slice dim 1 over ["tp"] %[[X]] : !stg.tensor<[B, 4], bf16> -> !stg.tensor<[B, 2], bf16>
  // CHECK-NEXT: return %[[R]], %[[S]]
  %1 = stg.local_slice dim 1 over ["tp"] %x : !x -> !half
  return %0, %1 : !x, !half
}

// A shard of what was gathered, an exchange and its inverse, a slice of a sum.
// CHECK-LABEL: func.func @collectives_and_inverses
// CHECK-SAME: (%[[H:.*]]: !stg.tensor<[B, 2], bf16>, %[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @collectives_and_inverses(%h: !half, %x: !x) -> (!half, !half, !half) {
  %0 = stg.all_gather dim 1 over ["tp"] %h : !half -> !x
  %1 = stg.local_slice dim 1 over ["tp"] %0 : !x -> !half
  %2 = stg.all_to_all from 1 to 0 over ["tp"] %h : !half -> !stg.tensor<[B/2, 4], bf16>
  %3 = stg.all_to_all from 0 to 1 over ["tp"] %2 : !stg.tensor<[B/2, 4], bf16> -> !half
  // CHECK-NEXT: %[[R:.*]] = stg.reduce_scatter dim 1 over ["tp"] %[[X]] <"o" fwd> : !stg.tensor<[B, 4], bf16> -> !stg.tensor<[B, 2], bf16>
  %4 = stg.all_reduce sum over ["tp"] %x <"o" fwd> : !x
  %5 = stg.local_slice dim 1 over ["tp"] %4 : !x -> !half
  // CHECK-NEXT: return %[[H]], %[[H]], %[[R]]
  return %1, %3, %5 : !half, !half, !half
}

// Where shares differ types do not tell that a group is one device, nor that what comes back is what
// was sent.
// CHECK-LABEL: func.func @uneven_collectives
func.func @uneven_collectives(%x: !x) -> (!x, !x, !x, !x, !x, !x) {
  // CHECK-NEXT: %[[A:.*]] = stg.all_to_all from 0 to 1 over ["tp"] %{{.*}} {padded
  %0 = stg.all_to_all from 0 to 1 over ["tp"] %x {payload = #sym.expr<8*B>, padded = #sym.expr<16*B>} : !x -> !x
  // CHECK-NEXT: %[[I:.*]] = stg.all_to_all from 1 to 0 over ["tp"] %[[A]] {padded
  %1 = stg.all_to_all from 1 to 0 over ["tp"] %0 {payload = #sym.expr<8*B>, padded = #sym.expr<16*B>} : !x -> !x
  // CHECK-NEXT: %[[G:.*]] = stg.all_gather dim 1 over ["tp"] %{{.*}} {padded
  %2 = stg.all_gather dim 1 over ["tp"] %x {payload = #sym.expr<8*B>, padded = #sym.expr<16*B>} : !x -> !x
  // CHECK-NEXT: %[[H:.*]] = stg.all_gather dim 1 over ["tp"] %{{.*}} {payload
  %3 = stg.all_gather dim 1 over ["tp"] %x {payload = #sym.expr<8*B>} : !x -> !x
  // CHECK-NEXT: %[[S:.*]] = stg.reduce_scatter dim 1 over ["tp"] %{{.*}} {padded
  %4 = stg.reduce_scatter dim 1 over ["tp"] %x {payload = #sym.expr<8*B>, padded = #sym.expr<16*B>} : !x -> !x
  // Groups of one are known by the mesh.
  %5 = stg.all_gather dim 1 over ["one"] %x {payload = #sym.expr<8*B>} : !x -> !x
  // CHECK-NEXT: return %[[A]], %[[I]], %[[G]], %[[H]], %[[S]], %{{.*}} :
  return %0, %1, %2, %3, %4, %5 : !x, !x, !x, !x, !x, !x
}

// The shard of another device is not this one's, nor what a scattered sum leaves here.
// CHECK-LABEL: func.func @shards_of_peers
// CHECK-SAME: (%[[H:.*]]: !stg.tensor<[B, 2], bf16>, %[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @shards_of_peers(%h: !half, %x: !x) -> (!half, !half) {
  // CHECK-NEXT: %[[G:.*]] = stg.all_gather dim 1 over ["tp"] %[[H]]
  // CHECK-NEXT: %[[P:.*]] = stg.local_slice dim 1 over ["tp"] %[[G]] {peer} :
  %0 = stg.all_gather dim 1 over ["tp"] %h : !half -> !x
  %1 = stg.local_slice dim 1 over ["tp"] %0 {peer} : !x -> !half
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[X]]
  // CHECK-NEXT: %[[Q:.*]] = stg.local_slice dim 1 over ["tp"] %[[R]] {peer} :
  %2 = stg.all_reduce sum over ["tp"] %x <"o" fwd> : !x
  %3 = stg.local_slice dim 1 over ["tp"] %2 {peer} : !x -> !half
  // CHECK-NEXT: return %[[P]], %[[Q]]
  return %1, %3 : !half, !half
}

// Of a sum only what is read is reduced.
// CHECK-LABEL: func.func @slice_of_other_sum
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @slice_of_other_sum(%x: !x) -> (!half, !x, !half) {
  // CHECK-NEXT: %[[S:.*]] = stg.local_slice dim 1 over ["tp"] %[[X]] <"o" grad_sync> : !stg.tensor<[B, 4], bf16> -> !stg.tensor<[B, 2], bf16>
  // CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["dp"] %[[S]] <"o" grad_sync> : !stg.tensor<[B, 2], bf16>
  %0 = stg.all_reduce sum over ["dp"] %x <"o" grad_sync> : !x
  %1 = stg.local_slice dim 1 over ["tp"] %0 <"o" grad_sync> : !x -> !half
  // Others read the whole sum.
  // CHECK-NEXT: %[[SUM:.*]] = stg.all_reduce sum over ["dp"] %[[X]] : !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: %[[PART:.*]] = stg.local_slice dim 1 over ["tp"] %[[SUM]] : !stg.tensor<[B, 4], bf16> -> !stg.tensor<[B, 2], bf16>
  // CHECK-NEXT: return %[[R]], %[[SUM]], %[[PART]]
  %2 = stg.all_reduce sum over ["dp"] %x : !x
  %3 = stg.local_slice dim 1 over ["tp"] %2 : !x -> !half
  return %1, %2, %3 : !half, !x, !half
}

// What is gathered of slices need not be what was sliced, and other exchanges and slices
// undo nothing.
// CHECK-LABEL: func.func @collectives_that_stay
// CHECK-SAME: (%[[H:.*]]: !stg.tensor<[B, 2], bf16>, %[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @collectives_that_stay(%h: !half, %x: !x) -> (!x, !stg.tensor<[B = 2*B, 1], bf16>, !stg.tensor<[B/4, 8], bf16>, !half) {
  // CHECK-NEXT: %[[SLICE:.*]] = stg.local_slice dim 1 over ["tp"] %[[X]] : !stg.tensor<[B, 4], bf16> -> !stg.tensor<[B, 2], bf16>
  // CHECK-NEXT: %[[GATHERED:.*]] = stg.all_gather dim 1 over ["tp"] %[[SLICE]] : !stg.tensor<[B, 2], bf16> -> !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: %[[ROWS:.*]] = stg.all_gather dim 0 over ["tp"] %[[H]] : !stg.tensor<[B, 2], bf16> -> !stg.tensor<[2*B, 2], bf16>
  // CHECK-NEXT: %[[COLUMN:.*]] = stg.local_slice dim 1 over ["tp"] %[[ROWS]] : !stg.tensor<[2*B, 2], bf16> -> !stg.tensor<[2*B, 1], bf16>
  // CHECK-NEXT: %[[FIRST:.*]] = stg.all_to_all from 1 to 0 over ["tp"] %[[H]] : !stg.tensor<[B, 2], bf16> -> !stg.tensor<[B/2, 4], bf16>
  // CHECK-NEXT: %[[SECOND:.*]] = stg.all_to_all from 1 to 0 over ["tp"] %[[FIRST]] : !stg.tensor<[B/2, 4], bf16> -> !stg.tensor<[B/4, 8], bf16>
  // CHECK-NEXT: %[[MOST:.*]] = stg.all_reduce max over ["tp"] %[[X]] : !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: %[[PART:.*]] = stg.local_slice dim 1 over ["tp"] %[[MOST]] : !stg.tensor<[B, 4], bf16> -> !stg.tensor<[B, 2], bf16>
  // CHECK-NEXT: return %[[GATHERED]], %[[COLUMN]], %[[SECOND]], %[[PART]]
  %0 = stg.local_slice dim 1 over ["tp"] %x : !x -> !half
  %1 = stg.all_gather dim 1 over ["tp"] %0 : !half -> !x
  %2 = stg.all_gather dim 0 over ["tp"] %h : !half -> !stg.tensor<[B = 2*B, 2], bf16>
  %3 = stg.local_slice dim 1 over ["tp"] %2 : !stg.tensor<[B = 2*B, 2], bf16> -> !stg.tensor<[B = 2*B, 1], bf16>
  %4 = stg.all_to_all from 1 to 0 over ["tp"] %h : !half -> !stg.tensor<[B/2, 4], bf16>
  %5 = stg.all_to_all from 1 to 0 over ["tp"] %4 : !stg.tensor<[B/2, 4], bf16> -> !stg.tensor<[B/4, 8], bf16>
  %6 = stg.all_reduce max over ["tp"] %x : !x
  %7 = stg.local_slice dim 1 over ["tp"] %6 : !x -> !half
  return %1, %3, %5, %7 : !x, !stg.tensor<[B = 2*B, 1], bf16>, !stg.tensor<[B/4, 8], bf16>, !half
}

// CHECK-LABEL: func.func @sum_with_zero
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @sum_with_zero(%x: !x) -> (!x, !x) {
  %zero = stg.splat 0 : !x
  %0 = stg.add %x, %zero : !x, !x
  %1 = stg.add %zero, %x : !x, !x
  // CHECK-NEXT: return %[[X]], %[[X]]
  return %0, %1 : !x, !x
}

// CHECK-LABEL: func.func @sum_with_one
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @sum_with_one(%x: !x) -> !x {
  // CHECK-NEXT: %[[ONE:.*]] = stg.splat 1 : !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: %[[Y:.*]] = stg.add %[[X]], %[[ONE]] : !stg.tensor<[B, 4], bf16>, !stg.tensor<[B, 4], bf16>
  // CHECK-NEXT: return %[[Y]]
  %one = stg.splat 1 : !x
  %0 = stg.add %x, %one : !x, !x
  return %0 : !x
}

// CHECK-LABEL: func.func @rotation_and_inverse
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4, 8], bf16>)
func.func @rotation_and_inverse(%x: !stg.tensor<[B, 4, 8], bf16>) -> (!stg.tensor<[B, 4, 8], bf16>, !stg.tensor<[B, 4, 8], bf16>) {
  // CHECK-NEXT: %[[ONCE:.*]] = stg.rope %[[X]]
  // CHECK-NEXT: %[[TWICE:.*]] = stg.rope %[[ONCE]]
  %0 = stg.rope %x : !stg.tensor<[B, 4, 8], bf16>
  %1 = stg.rope inverse %0 : !stg.tensor<[B, 4, 8], bf16>
  %2 = stg.rope %0 : !stg.tensor<[B, 4, 8], bf16>
  // CHECK-NEXT: return %[[X]], %[[TWICE]]
  return %1, %2 : !stg.tensor<[B, 4, 8], bf16>, !stg.tensor<[B, 4, 8], bf16>
}

// CHECK-LABEL: func.func @split_and_concat
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4], bf16>, %[[H:.*]]: !stg.tensor<[B, 2], bf16>)
func.func @split_and_concat(%x: !x, %h: !half) -> (!x, !half, !x) {
  %0:2 = stg.split dim 1 %x : !x -> !half, !half
  %1 = stg.concat dim 1 %0#0, %0#1 : !half, !half -> !x
  %2 = stg.concat dim 1 %h, %0#0 : !half, !half -> !x
  %3:2 = stg.split dim 1 %2 : !x -> !half, !half
  // Exchanged parts are another value.
  // CHECK: %[[SWAPPED:.*]] = stg.concat dim 1 %{{.*}}#1, %{{.*}}#0
  %4 = stg.concat dim 1 %0#1, %0#0 : !half, !half -> !x
  // CHECK-NEXT: return %[[X]], %[[H]], %[[SWAPPED]]
  return %1, %3#0, %4 : !x, !half, !x
}

// CHECK-LABEL: func.func @unused_stacks
func.func @unused_stacks(%x: !x, %s: !stg.tensor<[layers = L, B, 4], bf16>) -> (!x, !stg.tensor<[layers = L, B, 4], bf16>) {
  // CHECK: %[[Y:.*]]:2 = stg.repeat "layers" * L carry(%[[C:.*]] = %{{.*}} : !stg.tensor<[B, 4], bf16>) {
  %y:3 = stg.repeat "layers" * L carry(%c = %x : !x) slices(%v = %s : !stg.tensor<[layers = L, B, 4], bf16>) {
    %a = stg.add %c, %c : !x, !x
    %m = stg.mul %c, %c : !x, !x
    // CHECK: %[[A:.*]] = stg.add
    // CHECK-NEXT: stg.yield %[[A]], %[[C]] : !stg.tensor<[B, 4], bf16>, !stg.tensor<[B, 4], bf16>
    stg.yield %a, %m, %c : !x, !x, !x
  }
  // CHECK: return %[[Y]]#0, %[[Y]]#1
  return %y#0, %y#2 : !x, !stg.tensor<[layers = L, B, 4], bf16>
}

// A part that is all of a tensor, and what is padded by nothing.
// CHECK-LABEL: func.func @whole_parts
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, 4], bf16>)
func.func @whole_parts(%x: !x) -> (!x, !x, !half) {
  %0 = stg.slice dim 1 %x {from = #sym.expr<0>} : !x -> !x
  %1 = stg.pad dim 1 %x {from = #sym.expr<0>} : !x -> !x
  // CHECK-NEXT: %[[H:.*]] = stg.slice dim 1 %[[X]]
  %2 = stg.slice dim 1 %x {from = #sym.expr<2>} : !x -> !half
  // CHECK-NEXT: return %[[X]], %[[X]], %[[H]]
  return %0, %1, %2 : !x, !x, !half
}
