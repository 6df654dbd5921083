// Layers that cannot be grouped.
//
// RUN: split-file %s %t
// RUN: not stg-opt %t/one.mlir --stg-group-layers="size=4" 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not stg-opt %t/one.mlir --stg-group-layers="method=block size=1 stages=4" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not stg-opt %t/one.mlir --stg-group-layers="method=block size=6" 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not stg-opt %models/llama.mlir --stg-pipeline="bind=config=llama3-8b,B=2 recompute=full recompute-method=block recompute-layers=32" 2>&1 | FileCheck %s --check-prefix=KNOWN
// RUN: not stg-opt %t/two.mlir --stg-group-layers="method=block size=1" 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not stg-opt %t/one.mlir --stg-autodiff --stg-group-layers="size=2" 2>&1 | FileCheck %s --check-prefix=STACKS
// RUN: not stg-opt %t/one.mlir --stg-group-layers="size=0" 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: not stg-opt %t/one.mlir --stg-group-layers="method=some" 2>&1 | FileCheck %s --check-prefix=METHOD
// RUN: not stg-opt %t/one.mlir --pass-pipeline="builtin.module(func.func(stg-name-ops),stg-group-layers{size=2},func.func(stg-autodiff,stg-optimizer),stg-apply-preset{pp=2},stg-propagate-shardings,stg-insert-collectives,stg-schedule)" 2>&1 | FileCheck %s --check-prefix=INSIDE
//
// DIVIDE: one.mlir:5:8: error: 'stg.repeat' op repeats 6 times, which groups of layers do not divide
// STAGES: error: 'stg.repeat' op repeats 6 times, which pipeline stages do not divide
// ALL: error: 'stg.repeat' op repeats 6 times, but more than the first 6 layers are needed for some that are not replayed
// KNOWN: error: 'stg.repeat' op repeats L = 32 times, but more than the first 32 layers are needed for some that are not replayed
// TWO: two.mlir:8:8: error: 'stg.repeat' op is a second repeat; the first layers of a pipeline stage can be replayed where there is one
// STACKS: error: 'stg.repeat' op reads or makes stacks, whose layers cannot be grouped; group them before --stg-autodiff
// OPTIONS: error: layers are grouped with 'size' and 'stages' of at least 1
// METHOD: for the --method option: has the value 'some', expected uniform or block
// INSIDE: error: 'stg.repeat' op has 2 layers in an iteration; pipeline stage 0 of 3 layers would end inside of one

//--- one.mlir
!x = !stg.tensor<[8, 8], bf16>
func.func @one(%x: !x) -> !x {
  %v = stg.param "v" : !x
  %e = stg.einsum "bi,ij->bj" %x, %v : !x, !x
  %y = stg.repeat "layers" * 6 carry(%c = %e : !x) {
    %w = stg.param "w" : !x
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !x
    stg.yield %z : !x
  }
  return %y : !x
}

//--- two.mlir
!x = !stg.tensor<[8, 8], bf16>
func.func @two(%x: !x) -> !x {
  %y = stg.repeat "first" * 6 carry(%c = %x : !x) {
    %w = stg.param "w" : !x
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !x
    stg.yield %z : !x
  }
  %u = stg.repeat "second" * 6 carry(%c = %y : !x) {
    %w = stg.param "w" : !x
    %z = stg.einsum "bi,ij->bj" %c, %w : !x, !x
    stg.yield %z : !x
  }
  return %u : !x
}
