// Passes of MLIR that move, merge and remove are safe to run: a repeat tells them what it
// carries, and a parameter that it is another one in each iteration.

// RUN: stg-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=MOVE
// RUN: stg-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: stg-opt %s --sccp --canonicalize --symbol-dce | FileCheck %s --check-prefix=SAME
// RUN: stg-opt %s --remove-dead-values | FileCheck %s --check-prefix=DEAD

stg.symbol @L
stg.symbol @D
!x = !stg.tensor<[D], f32>
!s = !stg.tensor<[layers = L, D], f32>

// What does not change is made once; a parameter, and what is made of it, stay.
// MOVE-LABEL: func.func @invariant
// MOVE-NEXT: %[[SUM:.*]] = stg.add %arg0, %arg0 : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
// MOVE-NEXT: stg.repeat "layers" * L carry(%[[C:.*]] = %arg0 : !stg.tensor<[D], f32>) {
// MOVE-NEXT: %[[W:.*]] = stg.param "w" : !stg.tensor<[D], f32>
// MOVE-NEXT: %[[WW:.*]] = stg.add %[[W]], %[[W]] : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
// MOVE-NEXT: %[[A:.*]] = stg.add %[[C]], %[[SUM]] : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
// MOVE-NEXT: %[[B:.*]] = stg.add %[[A]], %[[WW]] : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
// MOVE-NEXT: stg.yield %[[B]] : !stg.tensor<[D], f32>

// Two reads in one iteration are one, one before the repeat is of another parameter.
// CSE-LABEL: func.func @reads
// CSE-NEXT: %[[OUT:.*]] = stg.param "w" : !stg.tensor<[D], f32>
// CSE-NEXT: stg.repeat "layers" * L carry(%[[C:.*]] = %[[OUT]] : !stg.tensor<[D], f32>) {
// CSE-NEXT: %[[W:.*]] = stg.param "w" : !stg.tensor<[D], f32>
// CSE-NEXT: %[[A:.*]] = stg.add %[[C]], %[[W]] : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
// CSE-NEXT: %[[B:.*]] = stg.add %[[A]], %[[W]] : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
// CSE-NEXT: stg.yield %[[B]] : !stg.tensor<[D], f32>

// A repeat has at least one iteration: what it carries is not what it starts with.
// SAME-LABEL: func.func @reads
// SAME: stg.repeat "layers" * L carry(%[[C:.*]] = %{{.*}} : !stg.tensor<[D], f32>) {
// SAME: stg.yield %{{.*}} : !stg.tensor<[D], f32>

// A stack that is read stays, with its slices; one that is not is removed.
// DEAD-LABEL: func.func @stacks
// DEAD-NEXT: %[[R:.*]]:2 = stg.repeat "layers" * L carry(%[[C:.*]] = %arg0 : !stg.tensor<[D], f32>) slices(%[[S:.*]] = %arg1 : !stg.tensor<[layers = L, D], f32>) {
// DEAD-NEXT: %[[N:.*]] = stg.add %[[C]], %[[S]] : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
// DEAD-NEXT: stg.yield %[[N]], %[[N]] : !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
// DEAD-NEXT: }
// DEAD-NEXT: return %[[R]]#1 : !stg.tensor<[layers = L, D], f32>

func.func @invariant(%x: !x) -> !x {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %w = stg.param "w" : !x
    %ww = stg.add %w, %w : !x, !x
    %s = stg.add %x, %x : !x, !x
    %a = stg.add %c, %s : !x, !x
    %b = stg.add %a, %ww : !x, !x
    stg.yield %b : !x
  }
  return %y : !x
}

func.func @reads() -> !x {
  %out = stg.param "w" : !x
  %y = stg.repeat "layers" * L carry(%c = %out : !x) {
    %w0 = stg.param "w" : !x
    %a = stg.add %c, %w0 : !x, !x
    %w1 = stg.param "w" : !x
    %b = stg.add %a, %w1 : !x, !x
    stg.yield %b : !x
  }
  return %y : !x
}

func.func @stacks(%x: !x, %t: !s) -> !s {
  %y, %unused, %stack = stg.repeat "layers" * L carry(%c = %x : !x) slices(%s = %t : !s) {
    %n = stg.add %c, %s : !x, !x
    stg.yield %n, %c, %n : !x, !x, !x
  }
  return %stack : !s
}
