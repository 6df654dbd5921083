// RUN: stg-opt %s --verify-roundtrip -split-input-file -verify-diagnostics -o /dev/null
// RUN: stg-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// A row of a norm has the dimensions of the weight.

stg.symbol @S
stg.symbol @H
stg.symbol @E
!heads = !stg.tensor<[2, S, H, E], bf16>

// CHECK-LABEL: func @of_all_heads
// CHECK: %[[N:.*]], %[[R:.*]] = stg.rms_norm %{{.*}}, %{{.*}} : !stg.tensor<[2, S, H, E], bf16>, !stg.tensor<[H, E], bf16>{{$}}
// CHECK-NEXT: return %[[N]], %[[R]] : !stg.tensor<[2, S, H, E], bf16>, !stg.tensor<[2, S], f32>
func.func @of_all_heads(%x: !heads, %w: !stg.tensor<[H, E], bf16>) -> (!heads, !stg.tensor<[2, S], f32>) {
  %n, %r = stg.rms_norm %x, %w : !heads, !stg.tensor<[H, E], bf16>
  return %n, %r : !heads, !stg.tensor<[2, S], f32>
}

// CHECK-LABEL: func @its_gradient
func.func @its_gradient(%x: !heads, %w: !stg.tensor<[H, E], bf16>, %r: !stg.tensor<[2, S], f32>) {
  // CHECK: stg.rms_norm_grad {{.*}} -> !stg.tensor<[2, S, H, E], bf16>, !stg.tensor<[H, E], f32>
  %dx, %dw = stg.rms_norm_grad %x, %w, %r, %x : !heads, !stg.tensor<[H, E], bf16>, !stg.tensor<[2, S], f32>, !heads -> !heads, !stg.tensor<[H, E], f32>
  return
}

// -----

stg.symbol @S
stg.symbol @H
stg.symbol @E
!heads = !stg.tensor<[2, S, H, E], bf16>

func.func @whole_heads(%x: !heads, %w: !stg.tensor<[H, E], bf16>, %r: !stg.tensor<[2, S, H], f32>) {
  // expected-error @+1 {{rstd has rank 3, expected 2}}
  %dx, %dw = stg.rms_norm_grad %x, %w, %r, %x : !heads, !stg.tensor<[H, E], bf16>, !stg.tensor<[2, S, H], f32>, !heads -> !heads, !stg.tensor<[H, E], f32>
  return
}

// -----

stg.symbol @S
stg.symbol @H
stg.symbol @E

func.func @other_dimensions(%x: !stg.tensor<[2, S, H, E], bf16>, %w: !stg.tensor<[S, E], bf16>) {
  // expected-error @+1 {{weight has extent S in dimension 0, expected H}}
  %n, %r = stg.rms_norm %x, %w : !stg.tensor<[2, S, H, E], bf16>, !stg.tensor<[S, E], bf16>
  return
}
