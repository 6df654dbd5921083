// Attributes of other dialects pass through; origins are read and printed.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s

!x = !stg.tensor<[4], f32>

// CHECK-LABEL: func @foreign
func.func @foreign(%x: !x) -> !x {
  // CHECK-NEXT: stg.param "w" {test.frozen, test.rank = 4 : i64} : !stg.tensor<[4], f32>
  %w = stg.param "w" {test.frozen, test.rank = 4} : !x
  // CHECK-NEXT: stg.einsum "a->a" %{{.*}} {into = bf16, test.note = "x"} <"w" fwd cast_weight> : !stg.tensor<[4], f32>
  %c = stg.einsum "a->a" %w {test.note = "x", into = bf16} <"w" fwd cast_weight> : !x
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
