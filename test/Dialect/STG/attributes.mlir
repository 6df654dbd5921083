// Attributes of other dialects pass through; origins are read and printed.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s

!x = !stg.tensor<[4], f32>

// CHECK-LABEL: func @foreign
func.func @foreign(%x: !x) -> !x {
  // CHECK-NEXT: stg.param "w" {test.frozen, test.rank = 4 : i64} : !stg.tensor<[4], f32>
  %w = stg.param "w" {test.frozen, test.rank = 4} : !x
  // CHECK-NEXT: stg.cast %{{.*}} {test.note = "x"} <"w" fwd cast_weight> : !stg.tensor<[4], f32> -> !stg.tensor<[4], bf16>
  %c = stg.cast %w {test.note = "x"} <"w" fwd cast_weight> : !x -> !stg.tensor<[4], bf16>
  return %x : !x
}

// CHECK-LABEL: func @origins
func.func @origins(%x: !x) -> !x {
  // CHECK-NEXT: stg.add %{{.*}}, %{{.*}} <"a b" bwd dx> : !stg
  %0 = stg.add %x, %x <"a b" bwd dx> : !x, !x
  // CHECK-NEXT: stg.add %{{.*}}, %{{.*}} <"a" dw> : !stg
  %1 = stg.add %0, %x <"a" dw> : !x, !x
  // CHECK-NEXT: stg.add %{{.*}}, %{{.*}} <grad_sync> : !stg
  %2 = stg.add %1, %x <grad_sync> : !x, !x
  // CHECK-NEXT: stg.add %{{.*}}, %{{.*}} <"a"> : !stg
  %3 = stg.add %2, %x {origin = #stg.origin<"a">} : !x, !x
  // CHECK-NEXT: stg.splat 1/2 <"seed" opt part> : !stg
  %4 = stg.splat 1/2 <"seed" opt part> : !x
  // CHECK-NEXT: stg.repeat "layers" * 2 carry({{.*}}) <"r" fwd> recompute selective attributes {test.kind} {
  %5 = stg.repeat "layers" * 2 carry(%c = %3 : !x) <"r" fwd> recompute selective attributes {test.kind} {
    stg.yield %c : !x
  }
  return %5 : !x
}

// CHECK: func private @task() attributes {stg.task = #stg.task<backward_input, sends = 2, saves, variant>}
func.func private @task() attributes {stg.task = #stg.task<backward_input, variant, saves, sends = 2>}
// CHECK: func private @step() attributes {stg.coordinates = #stg.coordinates<pp = 1, dp = 0>, stg.task = #stg.task<step>}
func.func private @step() attributes {stg.coordinates = #stg.coordinates<pp = 1, dp = 0>, stg.task = #stg.task<step>}
