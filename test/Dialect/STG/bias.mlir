// stg.bias_add: assembly and inferred types.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E

!x = !stg.tensor<[B, S, H, E], bf16>
!w = !stg.tensor<[H, E], bf16>
!v = !stg.tensor<[E], bf16>

// The bias has any number of the last dimensions; the result is like the input.
//
// CHECK-LABEL: func.func @types
func.func @types(%x: !x, %w: !w, %v: !v) -> (!x, !x, !x) {
  // CHECK: %[[A:.*]] = stg.bias_add %{{.*}}, %{{.*}} : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[H, E], bf16>{{$}}
  %0 = stg.bias_add %x, %w : !x, !w
  // CHECK: %[[B:.*]] = stg.bias_add %[[A]], %{{.*}} : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[E], bf16>{{$}}
  %1 = stg.bias_add %0, %v : !x, !v
  // CHECK: %[[C:.*]] = stg.bias_add %[[B]], %{{.*}} : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H, E], bf16>{{$}}
  %2 = stg.bias_add %1, %x : !x, !x
  // CHECK: return %[[A]], %[[B]], %[[C]]
  return %0, %1, %2 : !x, !x, !x
}

// CHECK-LABEL: func.func @gradient_op
func.func @gradient_op(%x: !x) -> !stg.tensor<[H, E], f32> {
  // CHECK: stg.bias_grad %{{.*}} : !stg.tensor<[B, S, H, E], bf16> -> !stg.tensor<[H, E], f32>
  %0 = stg.bias_grad %x : !x -> !stg.tensor<[H, E], f32>
  return %0 : !stg.tensor<[H, E], f32>
}
