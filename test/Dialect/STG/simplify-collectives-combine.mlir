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
