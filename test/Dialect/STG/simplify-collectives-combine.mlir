// RUN: stg-opt %s --stg-simplify-collectives="combine-first" | FileCheck %s
// RUN: stg-opt %s --stg-simplify-collectives="combine-first" --stg-check-layouts | FileCheck %s
// RUN: stg-opt %s --stg-simplify-collectives | FileCheck %s --check-prefix=TRAINING

stg.symbol @T
stg.symbol @D
stg.symbol @X
stg.symbol @A
stg.mesh @mesh <tp = 2>
!t = !stg.tensor<[T, D], bf16>
!c = !stg.tensor<[T, A], i32>
!w = !stg.tensor<[T, A], f32>
!rows = !stg.tensor<[X, A*T/X, D], bf16>
!bias = !stg.tensor<[X, D], bf16>

// One row of a token is summed, not one of each of its experts, where all devices have the
// same weights and choices.
//
// CHECK-LABEL: func.func @same(
// CHECK-SAME: %[[ROWS:[^:]*]]:
// CHECK-NEXT: %[[C:.*]] = stg.combine %[[ROWS]], %{{.*}}, %{{.*}} : {{.*}}
// CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[C]] : !stg.tensor<[T, D], bf16>
// CHECK-NEXT: return %[[R]]
// TRAINING-LABEL: func.func @same(
// TRAINING-NEXT: stg.all_reduce
// TRAINING-NEXT: stg.combine
func.func @same(%rows: !rows {stg.layout = #stg.layout<tp : sum>}, %c: !c {stg.layout = #stg.layout<>}, %w: !w {stg.layout = #stg.layout<>}) -> !t {
  %s = stg.all_reduce sum over ["tp"] %rows : !rows
  %y = stg.combine %s, %c, %w : !rows, !c, !w
  return %y : !t
}

// Weights of a device's own, and a sum that somebody else reads.
//
// CHECK-LABEL: func.func @own(
// CHECK-NEXT: stg.all_reduce
// CHECK-NEXT: stg.combine
func.func @own(%rows: !rows {stg.layout = #stg.layout<tp : sum>}, %c: !c {stg.layout = #stg.layout<>}, %w: !w) -> !t {
  %s = stg.all_reduce sum over ["tp"] %rows : !rows
  %y = stg.combine %s, %c, %w : !rows, !c, !w
  return %y : !t
}

// CHECK-LABEL: func.func @read(
// CHECK-NEXT: stg.all_reduce
// CHECK-NEXT: stg.combine
func.func @read(%rows: !rows {stg.layout = #stg.layout<tp : sum>}, %c: !c {stg.layout = #stg.layout<>}, %w: !w {stg.layout = #stg.layout<>}) -> (!t, !rows) {
  %s = stg.all_reduce sum over ["tp"] %rows : !rows
  %y = stg.combine %s, %c, %w : !rows, !c, !w
  return %y, %s : !t, !rows
}

// A bias that is added before is that of one device, also where it is cast: what all have of the
// parameter is a partial sum, and so is what is combined.
//
// CHECK-LABEL: func.func @biased(
// CHECK-SAME: %[[ROWS:[^:]*]]:
// CHECK-NEXT: %[[B:.*]] = stg.param "bias" {layout = #stg.layout<tp : sum>} : !stg.tensor<[X, D], f32>
// CHECK-NEXT: %[[BC:.*]] = stg.cast %[[B]]
// CHECK-NEXT: %[[P:.*]] = stg.bias_add %[[ROWS]], %[[BC]] {dims = array<i64: 0, 2>}
// CHECK-NEXT: %[[C:.*]] = stg.combine %[[P]], %{{.*}}, %{{.*}} : {{.*}}
// CHECK-NEXT: %[[R:.*]] = stg.all_reduce sum over ["tp"] %[[C]] : !stg.tensor<[T, D], bf16>
// CHECK-NEXT: return %[[R]]
// TRAINING-LABEL: func.func @biased(
// TRAINING: stg.param "bias" {layout = #stg.layout<>}
// TRAINING: stg.all_reduce
// TRAINING: stg.bias_add
// TRAINING: stg.combine
func.func @biased(%rows: !rows {stg.layout = #stg.layout<tp : sum>}, %c: !c {stg.layout = #stg.layout<>}, %w: !w {stg.layout = #stg.layout<>}) -> !t {
  %s = stg.all_reduce sum over ["tp"] %rows : !rows
  %p = stg.param "bias" {layout = #stg.layout<>} : !stg.tensor<[X, D], f32>
  %b = stg.cast %p : !stg.tensor<[X, D], f32> -> !bias
  %z = stg.bias_add %s, %b {dims = array<i64: 0, 2>} : !rows, !bias
  %y = stg.combine %z, %c, %w : !rows, !c, !w
  return %y : !t
}

// A parameter that is read again, as it is, has one layout, and what is no parameter is what all
// devices have.
//
// CHECK-LABEL: func.func @read_again(
// CHECK: stg.param "bias" {layout = #stg.layout<>}
// CHECK: stg.all_reduce
// CHECK-NEXT: stg.bias_add
// CHECK-NEXT: stg.combine
// CHECK-NEXT: return
func.func @read_again(%rows: !rows {stg.layout = #stg.layout<tp : sum>}, %c: !c {stg.layout = #stg.layout<>}, %w: !w {stg.layout = #stg.layout<>}) -> (!t, !bias) {
  %again = stg.param "bias" {layout = #stg.layout<>} : !bias
  %b = stg.param "bias" {layout = #stg.layout<>} : !bias
  %s = stg.all_reduce sum over ["tp"] %rows : !rows
  %z = stg.bias_add %s, %b {dims = array<i64: 0, 2>} : !rows, !bias
  %y = stg.combine %z, %c, %w : !rows, !c, !w
  return %y, %again : !t, !bias
}

// CHECK-LABEL: func.func @biased_by_value(
// CHECK-NEXT: stg.all_reduce
// CHECK-NEXT: stg.bias_add
// CHECK-NEXT: stg.combine
// CHECK-NEXT: return
func.func @biased_by_value(%rows: !rows {stg.layout = #stg.layout<tp : sum>}, %c: !c {stg.layout = #stg.layout<>}, %w: !w {stg.layout = #stg.layout<>}, %b: !bias {stg.layout = #stg.layout<>}) -> !t {
  %s = stg.all_reduce sum over ["tp"] %rows : !rows
  %z = stg.bias_add %s, %b {dims = array<i64: 0, 2>} : !rows, !bias
  %y = stg.combine %z, %c, %w : !rows, !c, !w
  return %y : !t
}

// Rows that are summed for somebody else, too, and a device's own weights: no bias is divided.
//
// CHECK-LABEL: func.func @biased_read(
// CHECK: stg.param "bias" {layout = #stg.layout<>}
// CHECK: stg.bias_add
// CHECK-NEXT: stg.combine
// CHECK-NEXT: return
func.func @biased_read(%rows: !rows {stg.layout = #stg.layout<tp : sum>}, %c: !c {stg.layout = #stg.layout<>}, %w: !w {stg.layout = #stg.layout<>}) -> (!t, !rows) {
  %s = stg.all_reduce sum over ["tp"] %rows : !rows
  %b = stg.param "bias" {layout = #stg.layout<>} : !bias
  %z = stg.bias_add %s, %b {dims = array<i64: 0, 2>} : !rows, !bias
  %y = stg.combine %z, %c, %w : !rows, !c, !w
  return %y, %z : !t, !rows
}

// CHECK-LABEL: func.func @biased_own(
// CHECK: stg.param "bias" {layout = #stg.layout<>}
// CHECK: stg.bias_add
// CHECK-NEXT: stg.combine
// CHECK-NEXT: return
func.func @biased_own(%rows: !rows {stg.layout = #stg.layout<tp : sum>}, %c: !c {stg.layout = #stg.layout<>}, %w: !w) -> !t {
  %s = stg.all_reduce sum over ["tp"] %rows : !rows
  %b = stg.param "bias" {layout = #stg.layout<>} : !bias
  %z = stg.bias_add %s, %b {dims = array<i64: 0, 2>} : !rows, !bias
  %y = stg.combine %z, %c, %w : !rows, !c, !w
  return %y : !t
}
