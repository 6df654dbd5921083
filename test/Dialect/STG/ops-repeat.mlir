// Round trip of repeats: carried values, slices, reversed, stacked results, nested,
// and with the types that a plan writes out.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt | FileCheck %s
// RUN: stg-opt %s --mlir-print-op-generic | stg-opt | FileCheck %s

stg.symbol @B
stg.symbol @D
stg.symbol @L
stg.mesh @mesh <tp = 2>

!x = !stg.tensor<[B, D], bf16>
!stack = !stg.tensor<[layers = L, B, D], bf16>

// CHECK-LABEL: func.func @carry
func.func @carry(%x: !x) -> !x {
  // CHECK: %[[Y:.*]] = stg.repeat "layers" * L carry(%[[C:.*]] = %{{.*}} : !stg.tensor<[B, D], bf16>) {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    // CHECK-NEXT: %[[A:.*]] = stg.add %[[C]], %[[C]]
    %a = stg.add %c, %c : !x, !x
    // CHECK-NEXT: stg.yield %[[A]] : !stg.tensor<[B, D], bf16>
    stg.yield %a : !x
  // CHECK-NEXT: }
  }
  // CHECK: return %[[Y]]
  return %y : !x
}

// CHECK-LABEL: func.func @slices_reverse_stacked
func.func @slices_reverse_stacked(%x: !x, %s: !stack) -> (!x, !stack) {
  // CHECK: %{{.*}}:2 = stg.repeat "layers" * L reverse carry(%[[C:.*]] = %{{.*}} : !stg.tensor<[B, D], bf16>) slices(%[[S:.*]] = %{{.*}} : !stg.tensor<[layers = L, B, D], bf16>) <bwd> {
  %y:2 = stg.repeat "layers" * L reverse carry(%c = %x : !x) slices(%v = %s : !stack) <bwd> {
    // CHECK: stg.yield %[[C]], %[[S]] : !stg.tensor<[B, D], bf16>, !stg.tensor<[B, D], bf16>
    stg.yield %c, %v : !x, !x
  }
  return %y#0, %y#1 : !x, !stack
}

// CHECK-LABEL: func.func @nothing_carried
func.func @nothing_carried() {
  // CHECK: stg.repeat "layers" * 2*L {
  // CHECK-NEXT: stg.yield{{$}}
  stg.repeat "layers" * 2*L {
  }
  return
}

// CHECK-LABEL: func.func @nested
func.func @nested(%x: !x) -> !x {
  // CHECK: stg.repeat "blocks" * L carry(%[[C:.*]] =
  %y = stg.repeat "blocks" * L carry(%c = %x : !x) {
    // CHECK: %[[I:.*]] = stg.repeat "mamba" * 7 carry(%[[D:.*]] = %[[C]] : !stg.tensor<[B, D], bf16>)
    %i = stg.repeat "mamba" * 7 carry(%d = %c : !x) {
      // CHECK: stg.yield %[[D]]
      stg.yield %d : !x
    }
    // CHECK: stg.yield %[[I]]
    stg.yield %i : !x
  }
  return %y : !x
}

// A stack may have been made by another repeat, and results may be called otherwise.
// CHECK-LABEL: func.func @other_names
func.func @other_names(%s: !stg.tensor<[down = L, B, D], bf16>) {
  // CHECK: stg.repeat "up" * L slices(%{{.*}} = %{{.*}} : !stg.tensor<[down = L, B, D], bf16>) {
  %y = stg.repeat "up" * L slices(%v = %s : !stg.tensor<[down = L, B, D], bf16>) {
    stg.yield %v : !x
  }
  // CHECK: stg.repeat "up" * L slices(%{{.*}} = %{{.*}} : !stg.tensor<[up = L, B, D], bf16>) -> !stg.tensor<[down = L, B, D], bf16> {
  %z = stg.repeat "up" * L slices(%v = %y : !stg.tensor<[up = L, B, D], bf16>) -> !stg.tensor<[down = L, B, D], bf16> {
    stg.yield %v : !x
  }
  return
}

// CHECK-LABEL: func.func @plan_level
func.func @plan_level(%x: !x, %s: !stack) {
  // CHECK: %{{.*}}:2 = stg.repeat "layers" * L
  // CHECK-SAME: carry(%{{.*}} = %{{.*}} : !stg.tensor<[B, D], bf16> as !stg.tensor<[B : tp, D], bf16>)
  // CHECK-SAME: slices(%{{.*}} = %{{.*}} : !stg.tensor<[layers = L, B, D], bf16> as !stg.tensor<[B, D : tp], bf16>)
  // CHECK-SAME: -> (!stg.tensor<[B : tp, D], bf16>, !stg.tensor<[layers = L, B, D], bf16, sum(tp)>)
  %y:2 = stg.repeat "layers" * L
      carry(%c = %x : !x as !stg.tensor<[B : tp, D], bf16>)
      slices(%v = %s : !stack as !stg.tensor<[B, D : tp], bf16>)
      -> (!stg.tensor<[B : tp, D], bf16>, !stg.tensor<[layers = L, B, D], bf16, sum(tp)>) {
    stg.yield %c, %v : !stg.tensor<[B : tp, D], bf16>, !stg.tensor<[B, D : tp], bf16>
  }
  return
}
