// stg.layer_norm: assembly and inferred types.
//
// RUN: stg-opt %s --verify-roundtrip | FileCheck %s
// RUN: stg-opt %s --emit-bytecode | stg-opt --mlir-print-op-generic | stg-opt | FileCheck %s

stg.symbol @B
stg.symbol @S
stg.symbol @D

!x = !stg.tensor<[B, S, D], bf16>
!w = !stg.tensor<[D], bf16>
!g = !stg.tensor<[D], f32>
!row = !stg.tensor<[B, S], f32>

// The result is like the input; mean and reciprocal deviation are one fp32 per row.
//
// CHECK-LABEL: func.func @types
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, S, D], bf16>, %[[W:.*]]: !stg.tensor<[D], bf16>, %[[V:.*]]: !stg.tensor<[D], bf16>)
func.func @types(%x: !x, %w: !w, %b: !w) -> (!x, !row, !row) {
  // CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = stg.layer_norm %[[X]], %[[W]], %[[V]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], bf16>, !stg.tensor<[D], bf16>{{$}}
  %y, %mean, %rstd = stg.layer_norm %x, %w, %b : !x, !w, !w
  // CHECK: return %[[Y]], %[[MEAN]], %[[RSTD]] : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S], f32>, !stg.tensor<[B, S], f32>
  return %y, %mean, %rstd : !x, !row, !row
}

// A vector has one row.
//
// CHECK-LABEL: func.func @vector
// CHECK-SAME: (%[[W:.*]]: !stg.tensor<[D], bf16>)
func.func @vector(%w: !w) -> !stg.tensor<[], f32> {
  // CHECK-NEXT: %{{.*}}, %[[MEAN:.*]], %{{.*}} = stg.layer_norm %[[W]], %[[W]], %[[W]] : !stg.tensor<[D], bf16>, !stg.tensor<[D], bf16>, !stg.tensor<[D], bf16>{{$}}
  %y, %mean, %rstd = stg.layer_norm %w, %w, %w : !w, !w, !w
  // CHECK-NEXT: return %[[MEAN]] : !stg.tensor<[], f32>
  return %mean : !stg.tensor<[], f32>
}

// The types of the gradients are written out: those of parameters have their own.
//
// CHECK-LABEL: func.func @gradient_op
func.func @gradient_op(%x: !x, %w: !w, %r: !row) -> !g {
  // CHECK: stg.layer_norm_grad %{{.*}} : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], bf16>, !stg.tensor<[B, S], f32>, !stg.tensor<[B, S], f32>, !stg.tensor<[B, S, D], bf16> -> !stg.tensor<[B, S, D], bf16>, !stg.tensor<[D], f32>, !stg.tensor<[D], f32>
  %dx, %dw, %db = stg.layer_norm_grad %x, %w, %r, %r, %x : !x, !w, !row, !row, !x -> !x, !g, !g
  return %dw : !g
}
