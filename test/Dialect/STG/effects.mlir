// Parameters are a resource: equal reads are one where nothing writes between.
//
// RUN: stg-opt %s --cse | FileCheck %s

!w = !stg.tensor<[4], f32>

// CHECK-LABEL: func @reads
func.func @reads(%g: !w) -> (!w, !w) {
  // CHECK-NEXT: %[[A:.*]] = stg.param "w"
  // CHECK-NEXT: %[[S:.*]] = stg.mul %[[A]], %[[A]]
  // CHECK-NEXT: return %[[A]], %[[S]]
  %0 = stg.param "w" : !w
  %1 = stg.param "w" : !w
  %2 = stg.mul %0, %1 : !w, !w
  return %0, %2 : !w, !w
}

// CHECK-LABEL: func @reads_around_step
func.func @reads_around_step(%g: !w) -> (!w, !w) {
  // CHECK-NEXT: %[[A:.*]] = stg.param "w"
  // CHECK-NEXT: %[[V:.*]] = stg.param "v"
  // CHECK-NEXT: stg.adam f32 %[[V]], %{{.*}}
  // CHECK-NEXT: %[[B:.*]] = stg.param "w"
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = stg.param "w" : !w
  %v = stg.param "v" : !w
  %n = stg.adam f32 %v, %g : !w, !w
  %1 = stg.param "w" : !w
  return %0, %1 : !w, !w
}

// CHECK-LABEL: func @unread
// CHECK-NEXT: return
func.func @unread() {
  %0 = stg.param "w" : !w
  return
}
