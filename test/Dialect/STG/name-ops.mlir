// Names: an op's own, its parameter's, its mnemonic; a second one of the same name in a
// scope gets a number.
//
// RUN: stg-opt %s --stg-name-ops | FileCheck %s

!x = !stg.tensor<[4, 4], bf16>
!w = !stg.tensor<[4], bf16>

// CHECK-LABEL: func.func @names
func.func @names(%x: !x) -> !x {
  // CHECK-NOT: stg.name
  %w = stg.param "q_proj" : !x
  // CHECK: stg.einsum {{.*}} <"q_proj">
  %0 = stg.einsum "ab,bc->ac" %x, %w : !x, !x
  // The same parameter again.
  // CHECK-NEXT: stg.einsum {{.*}} <"q_proj.1">
  %1 = stg.einsum "ab,bc->ac" %0, %w : !x, !x
  // No parameter: the mnemonic.
  // CHECK-NEXT: stg.add {{.*}} <"add">
  %2 = stg.add %0, %1 : !x, !x
  // CHECK-NEXT: stg.add {{.*}} <"add.1">
  %3 = stg.add %2, %1 : !x, !x
  // Its own.
  // CHECK-NEXT: stg.add {{.*}} <"residual">
  %4 = stg.add %3, %1 <"residual"> : !x, !x
  // CHECK-NEXT: stg.add {{.*}} <"residual.1">
  %5 = stg.add %4, %1 <"residual"> : !x, !x
  // Two parameters: the mnemonic.
  // CHECK-NEXT: stg.param "v"
  %v = stg.param "v" : !x
  // CHECK-NEXT: stg.mul {{.*}} <"mul">
  %6 = stg.mul %w, %v : !x, !x
  return %6 : !x
}

// A repeat is a scope of its own; immediates and steps of control have no name.
// CHECK-LABEL: func.func @scopes
func.func @scopes(%x: !x) -> !x {
  // CHECK: stg.splat 0 : !stg.tensor<[4, 4], bf16>
  %z = stg.splat 0 : !x
  // CHECK-NEXT: stg.add {{.*}} <"add">
  %0 = stg.add %x, %x : !x, !x
  // CHECK: stg.repeat "layers" * 3 carry({{.*}}) {
  %y = stg.repeat "layers" * 3 carry(%c = %0 : !x) {
    // CHECK-NEXT: stg.add {{.*}} <"add">
    %1 = stg.add %c, %c : !x, !x
    // CHECK-NEXT: stg.yield %{{[0-9]*}} :
    stg.yield %1 : !x
  }
  return %y : !x
}
