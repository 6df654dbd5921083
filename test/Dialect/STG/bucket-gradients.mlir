// Collectives of gradients and of updated parameters become one for each group, kind and
// element type, right before the optimizer; with a size, as many buckets as reach it.
//
// RUN: stg-opt %s --stg-bucket-gradients | FileCheck %s
// RUN: stg-opt %s --stg-bucket-gradients="bucket-bytes=1" | FileCheck %s --check-prefix=EACH
// RUN: stg-opt %s --stg-bucket-gradients="bucket-bytes=512" | FileCheck %s --check-prefix=PAIRS
// RUN: stg-opt %s --stg-bucket-gradients="bucket-bytes=100000" | FileCheck %s

stg.mesh @mesh <tp = 2, dp = 4>
!g = !stg.tensor<[64], f32>
!h = !stg.tensor<[64], bf16>
!s = !stg.tensor<[16], f32>

// Gradients of 256 bytes each: two reach 512. The maximum and the sum of another type are
// collectives of their own.
// CHECK-LABEL: func.func @sums
// CHECK-SAME:  (%[[A:.*]]: !{{.*}}, %[[B:.*]]: !{{.*}}, %[[C:.*]]: !{{.*}}, %[[D:.*]]: !{{.*}}, %[[H:.*]]: !stg.tensor<[64], bf16>)
// CHECK-DAG:   %[[G:.*]]:3 = stg.all_reduce sum over ["dp"] %[[A]], %[[B]], %[[D]] <"gradients" grad_sync>
// CHECK-DAG:   stg.all_reduce max over ["dp"] %[[C]] <
// CHECK-DAG:   stg.all_reduce sum over ["dp"] %[[H]] <
// CHECK:       stg.adam f32 %{{.*}}, %[[G]]#0
// EACH-LABEL:  func.func @sums
// EACH-COUNT-3: stg.all_reduce sum over ["dp"] %{{[a-z0-9]*}} {{.*}} : !stg.tensor<[64], f32>{{$}}
// EACH:        stg.adam
// PAIRS-LABEL: func.func @sums
// PAIRS-SAME:  (%[[A:.*]]: !{{.*}}, %[[B:.*]]: !{{.*}}, %[[C:.*]]: !{{.*}}, %[[D:.*]]: !{{.*}}, %[[H:.*]]: !
// PAIRS:       stg.all_reduce sum over ["dp"] %[[A]], %[[B]] <"gradients"
// PAIRS:       stg.all_reduce sum over ["dp"] %[[D]] <
func.func @sums(%a: !g, %b: !g, %c: !g, %d: !g, %h: !h) {
  %0 = stg.all_reduce sum over ["dp"] %a <grad_sync> : !g
  %w = stg.param "w" : !g
  %1 = stg.all_reduce sum over ["dp"] %b <grad_sync> : !g
  %2 = stg.all_reduce max over ["dp"] %c <grad_sync> : !g
  %3 = stg.all_reduce sum over ["dp"] %d <grad_sync> : !g
  %4 = stg.all_reduce sum over ["dp"] %h <grad_sync> : !h
  %n0 = stg.adam f32 %w, %0 <opt> : !g, !g
  %w1 = stg.param "w" : !g
  %n1 = stg.adam f32 %w1, %1 <opt> : !g, !g
  %w2 = stg.param "w" : !g
  %n2 = stg.adam f32 %w2, %2 <opt> : !g, !g
  %w3 = stg.param "w" : !g
  %n3 = stg.adam f32 %w3, %3 <opt> : !g, !g
  %v = stg.param "v" : !h
  %n4 = stg.adam f32 %v, %4 <opt> : !h, !h
  return
}

// Reductions that wait for others: first over tp and then over dp, of which there is one
// for all gradients.
// CHECK-LABEL: func.func @then_dp
// CHECK-SAME:  (%[[A:.*]]: !{{.*}}, %[[B:.*]]: !{{.*}}, %[[C:.*]]: !stg
// CHECK:       %[[T:.*]]:2 = stg.all_reduce sum over ["tp"] %[[A]], %[[B]]
// CHECK-NEXT:  %[[D:.*]]:3 = stg.all_reduce sum over ["dp"] %[[T]]#0, %[[T]]#1, %[[C]]
// CHECK-NEXT:  return %[[D]]#0, %[[D]]#1, %[[D]]#2
func.func @then_dp(%a: !g, %b: !g, %c: !g) -> (!g, !g, !g) {
  %0 = stg.all_reduce sum over ["tp"] %a <grad_sync> : !g
  %1 = stg.all_reduce sum over ["dp"] %0 <grad_sync> : !g
  %2 = stg.all_reduce sum over ["tp"] %b <grad_sync> : !g
  %3 = stg.all_reduce sum over ["dp"] %2 <grad_sync> : !g
  %4 = stg.all_reduce sum over ["dp"] %c <grad_sync> : !g
  return %1, %3, %4 : !g, !g, !g
}

// Orders that contradict each other, and one reduction that is followed by another while
// others are not: a bucket never waits for itself.
// CHECK-LABEL: func.func @both_ways
// CHECK-SAME:  (%[[A:.*]]: !{{.*}}, %[[B:.*]]: !{{.*}}, %[[C:.*]]: !stg
// CHECK:       %[[X:.*]] = stg.all_reduce sum over ["dp"] %[[A]] <
// CHECK-NEXT:  %[[Y:.*]] = stg.all_reduce sum over ["tp"] %[[B]] <
// CHECK-NEXT:  stg.all_reduce sum over ["tp"] %[[X]] <
// CHECK-NEXT:  stg.all_reduce sum over ["dp"] %[[Y]], %[[C]] <
func.func @both_ways(%a: !g, %b: !g, %c: !g) -> (!g, !g, !g) {
  %0 = stg.all_reduce sum over ["dp"] %a <grad_sync> : !g
  %1 = stg.all_reduce sum over ["tp"] %0 <grad_sync> : !g
  %2 = stg.all_reduce sum over ["tp"] %b <grad_sync> : !g
  %3 = stg.all_reduce sum over ["dp"] %2 <grad_sync> : !g
  %4 = stg.all_reduce sum over ["dp"] %c <grad_sync> : !g
  return %1, %3, %4 : !g, !g, !g
}

// CHECK-LABEL: func.func @shards
// CHECK:       %[[S:.*]]:2 = stg.flat_reduce_scatter over ["dp"] %{{.*}}, %{{.*}} <"gradients" grad_sync>
// CHECK:       %[[W:.*]] = stg.adam f32 %{{.*}}, %[[S]]#0
// CHECK:       %[[V:.*]] = stg.adam f32 %{{.*}}, %[[S]]#1
// CHECK:       stg.gather_updated over ["dp"] %[[W]], %[[V]] {leading = array<i64: 0, 0>} <"parameters" opt>
// EACH-LABEL:  func.func @shards
// EACH-COUNT-2: stg.gather_updated over ["dp"] %{{[a-z0-9]*}} {leading = array<i64: 0>
func.func @shards(%a: !g, %b: !g) {
  %0 = stg.flat_reduce_scatter over ["dp"] %a <grad_sync> : !g -> !s
  %1 = stg.flat_reduce_scatter over ["dp"] %b <grad_sync> : !g -> !s
  %w = stg.param "w" : !g
  %n0 = stg.adam f32 %w, %0 <opt> : !g, !s
  %v = stg.param "v" : !g
  %n1 = stg.adam f32 %v, %1 <opt> : !g, !s
  stg.gather_updated over ["dp"] %n0 {leading = array<i64: 0>} <opt> : !g
  stg.gather_updated over ["dp"] %n1 {leading = array<i64: 0>} <opt> : !g
  return
}

// A reduction in backward is not moved: it overlaps with what follows.
// CHECK-LABEL: func.func @backward
// CHECK:       stg.all_reduce sum over ["dp"] %{{.*}} <bwd>
// CHECK-NEXT:  stg.all_reduce sum over ["dp"] %{{.*}} <bwd>
func.func @backward(%a: !g, %b: !g) -> (!g, !g) {
  %0 = stg.all_reduce sum over ["dp"] %a <bwd> : !g
  %1 = stg.all_reduce sum over ["dp"] %b <bwd> : !g
  return %0, %1 : !g, !g
}

// A gradient that is made after a step waits for the next one: each bucket stands where its
// members are there, and before the steps that read it.
// CHECK-LABEL: func.func @between(
// CHECK-SAME:    %[[A:.*]]: !{{.*}}, %[[B:.*]]: !{{.*}}, %[[X:.*]]: !{{.*}}) {
// CHECK-NEXT:  %[[W:.*]] = stg.param "w"
// CHECK-NEXT:  %[[R:.*]]:2 = stg.all_reduce sum over ["dp"] %[[A]], %[[B]] <"gradients" grad_sync> :
// CHECK-NEXT:  stg.adam f32 %[[W]], %[[R]]#0 <opt>
// CHECK-NEXT:  %[[U:.*]] = stg.param "u"
// CHECK-NEXT:  %[[C:.*]] = stg.add %[[X]], %[[X]] <bwd>
// CHECK-NEXT:  %[[D:.*]] = stg.add %[[C]], %[[X]] <bwd>
// CHECK-NEXT:  %[[S:.*]]:2 = stg.all_reduce sum over ["dp"] %[[C]], %[[D]] <"gradients" grad_sync> :
// CHECK-NEXT:  stg.adam f32 %[[U]], %[[S]]#0 <opt>
// CHECK-NEXT:  %[[E:.*]] = stg.add %[[D]], %[[X]] <bwd>
// CHECK-NEXT:  %[[F:.*]] = stg.add %[[E]], %[[X]] <bwd>
// CHECK-NEXT:  %[[T:.*]]:2 = stg.all_reduce sum over ["dp"] %[[E]], %[[F]] <"gradients" grad_sync> :
// CHECK-NEXT:  return %[[R]]#1, %[[S]]#1, %[[T]]#0, %[[T]]#1
func.func @between(%a: !g, %b: !g, %x: !g) -> (!g, !g, !g, !g) {
  %0 = stg.all_reduce sum over ["dp"] %a <grad_sync> : !g
  %1 = stg.all_reduce sum over ["dp"] %b <grad_sync> : !g
  %w = stg.param "w" : !g
  %n0 = stg.adam f32 %w, %0 <opt> : !g, !g
  %u = stg.param "u" : !g
  %c = stg.add %x, %x <bwd> : !g, !g
  %2 = stg.all_reduce sum over ["dp"] %c <grad_sync> : !g
  %d = stg.add %c, %x <bwd> : !g, !g
  %3 = stg.all_reduce sum over ["dp"] %d <grad_sync> : !g
  %n1 = stg.adam f32 %u, %2 <opt> : !g, !g
  %e = stg.add %d, %x <bwd> : !g, !g
  %4 = stg.all_reduce sum over ["dp"] %e <grad_sync> : !g
  %f = stg.add %e, %x <bwd> : !g, !g
  %5 = stg.all_reduce sum over ["dp"] %f <grad_sync> : !g
  return %1, %3, %4, %5 : !g, !g, !g, !g
}
