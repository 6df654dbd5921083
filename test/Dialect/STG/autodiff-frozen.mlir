// What nothing that is trained lies before has no gradient: no product, nothing saved.
//
// RUN: stg-opt %s --split-input-file --stg-name-ops --stg-autodiff --verify-roundtrip | FileCheck %s

stg.symbol @B
!x = !stg.tensor<[B, 4], bf16>
!w = !stg.tensor<[4, 4], bf16>

// The gradient goes through a frozen product, which has no gradient of its weight; before
// the trained one there is nothing to do.
// CHECK-LABEL: func.func @products
// CHECK-SAME: -> (!stg.tensor<[B, 4], bf16>, !stg.tensor<[4, 4], f32> {stg.gradient = #stg.gradient<"b">})
func.func @products(%x: !x) -> !x {
  %a = stg.param "a" {frozen} : !w
  // CHECK: %[[X1:.*]] = stg.einsum "bi,ij->bj" %{{.*}} <"a" fwd>
  %x1 = stg.einsum "bi,ij->bj" %x, %a : !x, !w
  %b = stg.param "b" : !w
  %x2 = stg.einsum "bi,ij->bj" %x1, %b : !x, !w
  // CHECK: %[[C:.*]] = stg.param "c" {frozen}
  %c = stg.param "c" {frozen} : !w
  %x3 = stg.einsum "bi,ij->bj" %x2, %c : !x, !w
  // CHECK: %[[DY:.*]] = stg.splat
  // CHECK-NEXT: %[[DX2:.*]] = stg.einsum "bj,ij->bi" %[[DY]], %[[C]] <"c" bwd dx>
  // CHECK-NEXT: %[[DB:.*]] = stg.einsum "bi,bj->ij" %[[X1]], %[[DX2]] {into = f32} <"b" bwd dw>
  // CHECK-NEXT: return %{{.*}}, %[[DB]]
  return %x3 : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4], f32>

// A repeat of frozen layers behind something trained: gradients pass, and what is saved
// is what they need of it.
// CHECK-LABEL: func.func @frozen_layers
// CHECK-SAME: -> (!stg.tensor<[4], f32>, !stg.tensor<[4], f32> {stg.gradient = #stg.gradient<"w">})
func.func @frozen_layers(%x: !x) -> !x {
  %w = stg.param "w" : !x
  %e = stg.mul %x, %w : !x, !x
  // CHECK: stg.repeat "layers" * L carry({{.*}}) <fwd> {
  // CHECK: stg.yield %{{[0-9]+}} :
  %y = stg.repeat "layers" * L carry(%c = %e : !x) {
    %v = stg.param "v" {frozen} : !x
    %a = stg.mul %c, %v : !x, !x
    stg.yield %a : !x
  }
  // CHECK: stg.repeat "layers" * L reverse carry(%[[DC:.*]] = %{{.*}} : !stg.tensor<[4], f32>) <bwd> {
  // CHECK-NEXT: %[[V:.*]] = stg.param "v" {frozen}
  // CHECK-NEXT: %[[DX:.*]] = stg.mul %[[DC]], %[[V]]
  // CHECK-NEXT: stg.yield %[[DX]] :
  return %y : !x
}

// -----

!x = !stg.tensor<[4, 4], f32>

// Before the trained layers nothing at all happens in backward.
// CHECK-LABEL: func.func @frozen_start
func.func @frozen_start(%x: !x) -> !x {
  %y = stg.repeat "tower" * 3 carry(%c = %x : !x) {
    %v = stg.param "v" {frozen} : !x
    %a = stg.mul %c, %v : !x, !x
    stg.yield %a : !x
  }
  // One iteration reads a value that needs no gradient, so that its repeat carries none.
  %z = stg.repeat "first" * 1 carry(%c = %y : !x) {
    %u = stg.param "u" : !x
    %a = stg.mul %c, %u : !x, !x
    stg.yield %a : !x
  }
  // CHECK: %[[DY:.*]] = stg.splat 1/16
  // CHECK-NEXT: %[[G:.*]] = stg.repeat "first" * 1 reverse slices(%[[S:.*]] = %{{.*}}#1 : {{.*}}) <bwd> {
  // CHECK-NEXT: %[[DU:.*]] = stg.mul %[[DY]], %[[S]]
  // CHECK-NEXT: stg.yield %[[DU]]
  // CHECK-NEXT: }
  // CHECK-NEXT: return %{{.*}}, %[[G]]
  return %z : !x
}

// -----

stg.symbol @B
!x = !stg.tensor<[B, 4], bf16>
!n = !stg.tensor<[4], bf16>

// The weight of a norm is frozen: what nobody reads of its gradient is not made.
// CHECK-LABEL: func.func @norm
func.func @norm(%x: !x) -> !x {
  %w = stg.param "w" : !n
  %e = stg.bias_add %x, %w : !x, !n
  %s = stg.param "s" {frozen} : !n
  %y, %r = stg.rms_norm %e, %s : !x, !n
  // CHECK: %[[DX:.*]], %{{.*}} = stg.rms_norm_grad
  // CHECK-NEXT: %[[DW:.*]] = stg.bias_grad %[[DX]]
  // CHECK-NEXT: return %{{.*}}, %[[DW]]
  return %y : !x
}
