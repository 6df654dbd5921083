// Iterations in which a stage ends are taken out of their repeats, with the names they had.
//
// RUN: stg-opt %s --stg-name-ops --stg-cut-layers="stages=3 layers-per-stage=4,2,6" | FileCheck %s
// RUN: stg-opt %s --stg-name-ops --stg-cut-layers="stages=2 values=P=3" | FileCheck %s --check-prefix=HALF
// RUN: stg-opt %s --stg-name-ops --stg-cut-layers="stages=4" | FileCheck %s --check-prefix=WHOLE
// RUN: stg-opt %s --stg-name-ops --stg-cut-layers="at-start=3 at-end=1" | FileCheck %s --check-prefix=APART
// RUN: stg-opt %s --stg-name-ops --stg-cut-layers="at-end=3 stages=3 layers-per-stage=4,2,6" | FileCheck %s --check-prefix=BOTH
// RUN: not stg-opt %s --stg-name-ops --stg-cut-layers="at-start=3 values=P=D" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: 'stg.repeat' op has 3*P layers; the first and last layers of a model need a number, give its symbols values

stg.symbol @D
stg.symbol @P = 4
!x = !stg.tensor<[D], bf16>

// After 4 and after 6 of 12 layers: in the second period, which begins after 3, and after it.
// CHECK: %[[A:.*]] = stg.repeat "layers_0" * 1 carry(%{{.*}} = %arg0 :
// CHECK: stg.repeat "local" * 2 carry
// CHECK: stg.repeat "global" * 1 carry
// CHECK: %[[W:.*]] = stg.param "layers.1.scale"
// CHECK: %[[S:.*]] = stg.bias_add %[[A]], %[[W]] <"layers.1.scale">
// CHECK: %[[B:.*]] = stg.repeat "layers.1.local" * 2 carry(%{{.*}} = %[[S]] :
// CHECK-NEXT: stg.param "w"
// CHECK: %[[C:.*]] = stg.repeat "layers.1.global" * 1 carry(%{{.*}} = %[[B]] :
// CHECK: %[[E:.*]] = stg.repeat "layers_1" * 2 from 2 carry(%{{.*}} = %[[C]] :
// CHECK: return %[[E]]

// The first three layers are a whole period, the last one is part of one.
// APART: stg.repeat "layers_0" * 1 carry
// APART: stg.repeat "layers_1" * 2 from 1 carry
// APART: stg.repeat "layers.3.local" * 2 carry
// APART: %[[Y:.*]] = stg.repeat "layers.3.global" * 1 carry
// APART: return %[[Y]]

// BOTH: stg.repeat "layers_0" * 1 carry
// BOTH: stg.repeat "layers.1.local" * 2 carry
// BOTH: stg.repeat "layers.1.global" * 1 carry
// BOTH: stg.repeat "layers_1" * 1 from 2 carry
// BOTH: %[[Z:.*]] = stg.repeat "layers_2" * 1 from 3 carry
// BOTH: return %[[Z]]

// Three periods have nine layers, which two stages do not divide: that is the schedule's error.
// HALF: stg.repeat "layers" * P carry
// WHOLE: stg.repeat "layers" * P carry
func.func @f(%x: !x) -> !x {
  %y = stg.repeat "layers" * P carry(%h = %x : !x) {
    %s = stg.param "scale" : !x
    %a = stg.bias_add %h, %s : !x, !x
    %b = stg.repeat "local" * 2 carry(%i = %a : !x) {
      %w = stg.param "w" : !x
      %z = stg.bias_add %i, %w : !x, !x
      stg.yield %z : !x
    }
    %c = stg.repeat "global" * 1 carry(%i = %b : !x) {
      %w = stg.param "w" : !x
      %z = stg.bias_add %i, %w : !x, !x
      stg.yield %z : !x
    }
    stg.yield %c : !x
  }
  return %y : !x
}

// What a step keeps has the name of what keeps it, also where that is taken out of a repeat.
// CHECK-LABEL: func.func @kept
// CHECK: stg.cache "layers.1.scan.k" %{{.*}} <"layers.1.scan.k">
// CHECK: stg.causal_conv {{.*}} {state = "layers.1.conv.state"} <"layers.1.conv">
// CHECK: stg.repeat "layers.1.inner" * 3
func.func @kept(%x: !stg.tensor<[B = 1, S = 4, MC = 8], bf16>) -> !stg.tensor<[B = 1, S = 4, MC = 8], bf16> {
  %y = stg.repeat "layers" * 4 carry(%h = %x : !stg.tensor<[B = 1, S = 4, MC = 8], bf16>) {
    %k = stg.cache "scan.k" %h <"scan.k"> : !stg.tensor<[B = 1, S = 4, MC = 8], bf16> -> !stg.tensor<[B = 1, S = 9, MC = 8], bf16>
    %w = stg.param "taps" : !stg.tensor<[MC = 8, CW = 4], bf16>
    %c = stg.causal_conv %h, %w {state = "conv.state"} <"conv"> : !stg.tensor<[B = 1, S = 4, MC = 8], bf16>, !stg.tensor<[MC = 8, CW = 4], bf16>
    %z = stg.repeat "inner" * 3 carry(%i = %c : !stg.tensor<[B = 1, S = 4, MC = 8], bf16>) {
      stg.yield %i : !stg.tensor<[B = 1, S = 4, MC = 8], bf16>
    }
    stg.yield %z : !stg.tensor<[B = 1, S = 4, MC = 8], bf16>
  }
  return %y : !stg.tensor<[B = 1, S = 4, MC = 8], bf16>
}
