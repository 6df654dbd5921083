// Backward of a repeat: a repeat in reverse that reads what forward saved, slice by
// slice; parameters are read again.
//
// RUN: stg-opt %s --split-input-file --stg-name-ops --stg-autodiff --verify-roundtrip | FileCheck %s

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>

// CHECK-LABEL: func.func @layers
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[4, 4], bf16>)
// CHECK-SAME: !stg.tensor<[layers = L, 4, 4], f32> {stg.gradient = #stg.gradient<"layers", "w">}
func.func @layers(%x: !x) -> !x {
  // What the backward body reads is stacked: the carried value, nothing else.
  // CHECK: %[[Y:.*]]:2 = stg.repeat "layers" * L carry(%[[C:.*]] = %[[X]] : !stg.tensor<[4, 4], bf16>) <fwd> {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %w = stg.param "w" : !x
    // CHECK: %[[A:.*]] = stg.einsum "bd,df->bf" %[[C]]
    %a = stg.einsum "bd,df->bf" %c, %w : !x, !x
    // CHECK-NEXT: stg.yield %[[A]], %[[C]]
    stg.yield %a : !x
  }
  // CHECK: %[[DY:.*]] = stg.splat 1/16
  // CHECK-NEXT: %[[D:.*]]:2 = stg.repeat "layers" * L reverse carry(%[[DC:.*]] = %[[DY]] : !stg.tensor<[4, 4], bf16>) slices(%[[S:.*]] = %[[Y]]#1 : !stg.tensor<[layers = L, 4, 4], bf16>) <bwd> {
  // CHECK-NEXT: %[[W:.*]] = stg.param "w"
  // CHECK-NEXT: %[[DX:.*]] = stg.einsum "bf,df->bd" %[[DC]], %[[W]] {{.*}}dx>
  // CHECK-NEXT: %[[DW:.*]] = stg.einsum "bd,bf->df" %[[S]], %[[DC]] {{.*}}dw>
  // CHECK-NEXT: stg.yield %[[DX]], %[[DW]]
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[Y]]#0, %[[D]]#1
  return %y : !x
}

// -----

stg.symbol @L
stg.symbol @M
!x = !stg.tensor<[4, 4], bf16>

// Nested: the inner stacks are stacked by the outer repeat.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: !stg.tensor<[outer = L, inner = M, 4, 4], f32> {stg.gradient = #stg.gradient<"outer", "inner", "v">}
func.func @nested(%x: !x) -> !x {
  // CHECK: %[[Y:.*]]:2 = stg.repeat "outer" * L carry(%[[C:.*]] = %{{.*}} : {{.*}}) <fwd>
  %y = stg.repeat "outer" * L carry(%c = %x : !x) {
    // CHECK-NEXT: %[[I:.*]]:2 = stg.repeat "inner" * M carry(%[[D:.*]] = %[[C]] :
    %i = stg.repeat "inner" * M carry(%d = %c : !x) {
      %v = stg.param "v" : !x
      // CHECK: %[[B:.*]] = stg.einsum
      %b = stg.einsum "bd,df->bf" %d, %v : !x, !x
      // CHECK-NEXT: stg.yield %[[B]], %[[D]]
      stg.yield %b : !x
    }
    // CHECK: stg.yield %[[I]]#0, %[[I]]#1 : !stg.tensor<[4, 4], bf16>, !stg.tensor<[inner = M, 4, 4], bf16>
    stg.yield %i : !x
  }
  // CHECK: %[[G:.*]]:2 = stg.repeat "outer" * L reverse carry(%[[DC:.*]] = %{{.*}} : {{.*}}) slices(%[[S:.*]] = %[[Y]]#1 : !stg.tensor<[outer = L, inner = M, 4, 4], bf16>)
  // CHECK-NEXT: %[[H:.*]]:2 = stg.repeat "inner" * M reverse carry(%[[DD:.*]] = %[[DC]] : {{.*}}) slices(%[[T:.*]] = %[[S]] : !stg.tensor<[inner = M, 4, 4], bf16>)
  // CHECK-NEXT: stg.param "v"
  // CHECK-NEXT: %[[DX:.*]] = stg.einsum "bf,df->bd" %[[DD]]
  // CHECK-NEXT: %[[DV:.*]] = stg.einsum "bd,bf->df" %[[T]], %[[DD]]
  // CHECK-NEXT: stg.yield %[[DX]], %[[DV]]
  // CHECK-NEXT: }
  // CHECK-NEXT: stg.yield %[[H]]#0, %[[H]]#1
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[Y]]#0, %[[G]]#1
  return %y : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>
!stack = !stg.tensor<[down = L, 4, 4], bf16>

// One repeat after the other, the second reading what the first stacked (as a U-net
// does): the gradient of the stack is a stack.
// CHECK-LABEL: func.func @stacked_result_is_read
func.func @stacked_result_is_read(%x: !x) -> !x {
  %y:2 = stg.repeat "down" * L carry(%c = %x : !x) {
    %w = stg.param "w" : !x
    %a = stg.einsum "bd,df->bf" %c, %w : !x, !x
    stg.yield %a, %a : !x, !x
  }
  %z = stg.repeat "up" * L reverse carry(%c = %y#0 : !x) slices(%s = %y#1 : !stack) {
    %b = stg.mul %c, %s : !x, !x
    stg.yield %b : !x
  }
  // CHECK: %[[Y:.*]]:3 = stg.repeat "down"
  // CHECK: %[[Z:.*]]:2 = stg.repeat "up" * L reverse
  // The slice is read again from the stack that it is of; the carried value is saved.
  // CHECK: %[[U:.*]]:2 = stg.repeat "up" * L carry(%[[DC:[a-z_0-9]+]] = {{.*}} slices(%[[S:[a-z_0-9]+]] = %[[Y]]#1 : {{.*}}, %[[C:[a-z_0-9]+]] = %[[Z]]#1 :
  // CHECK-NEXT: %[[DL:.*]] = stg.mul %[[DC]], %[[S]] {{.*}}dlhs>
  // CHECK-NEXT: %[[DR:.*]] = stg.mul %[[DC]], %[[C]] {{.*}}drhs>
  // CHECK-NEXT: stg.yield %[[DL]], %[[DR]]
  // CHECK: stg.repeat "down" * L reverse carry(%{{[a-z_0-9]+}} = %[[U]]#0 : {{.*}}) slices(%{{[a-z_0-9]+}} = %[[U]]#1 : !stg.tensor<[down = L, 4, 4], bf16>
  // CHECK: %[[SUM:.*]] = stg.add %{{.*}}, %{{.*}} {{.*}}add>
  // CHECK-NEXT: stg.einsum "bf,df->bd" %[[SUM]]
  // CHECK-NEXT: stg.einsum "bd,bf->df" %{{.*}}, %[[SUM]]
  return %z : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>

// Weights that are tied inside of a layer.
// CHECK-LABEL: func.func @tied_in_layer
func.func @tied_in_layer(%x: !x) -> !x {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %w = stg.param "w" : !x
    %a = stg.einsum "bd,df->bf" %c, %w : !x, !x
    %v = stg.param "w" : !x
    %b = stg.einsum "bd,fd->bf" %a, %v : !x, !x
    stg.yield %b : !x
  }
  // CHECK: stg.repeat "layers" * L reverse
  // CHECK: %[[DV:.*]] = stg.einsum {{.*}} {into = f32
  // CHECK: %[[DW:.*]] = stg.einsum {{.*}} {into = f32
  // CHECK-NEXT: %[[SUM:.*]] = stg.add %[[DW]], %[[DV]]
  // CHECK-NEXT: stg.yield %{{.*}}, %[[SUM]]
  return %y : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>

// A value from outside that no parameter leads to is read in place, not saved.
// CHECK-LABEL: func.func @constant_from_outside
// CHECK-SAME: (%{{.*}}: {{[^,]*, [^,]*}}, bf16>, %[[M:.*]]: !stg.tensor<[4, 4], bf16>)
func.func @constant_from_outside(%x: !x, %m: !x) -> !x {
  %y = stg.repeat "layers" * L carry(%c = %x : !x) {
    %w = stg.param "w" : !x
    %a = stg.einsum "bd,df->bf" %c, %w : !x, !x
    %b = stg.mul %a, %m : !x, !x
    stg.yield %b : !x
  }
  // CHECK: stg.repeat "layers" * L reverse carry(%[[DC:[a-z_0-9]*]] = {{.*}}) slices(%[[S:[a-z_0-9]*]] = %{{[^,]*}} : !stg.tensor<[layers = L, 4, 4], bf16>) <bwd>
  // CHECK: stg.mul %[[DC]], %[[M]] {{.*}}dlhs>
  return %y : !x
}

// -----

stg.symbol @L
!x = !stg.tensor<[4, 4], bf16>

// A second carried value whose last one nobody reads: its gradient starts at zero.
// CHECK-LABEL: func.func @second_carry
func.func @second_carry(%x: !x) -> !x {
  %y:2 = stg.repeat "layers" * L carry(%c = %x : !x, %d = %x : !x) {
    %w = stg.param "w" : !x
    %a = stg.einsum "bd,df->bf" %c, %w : !x, !x
    %e = stg.add %a, %d : !x, !x
    stg.yield %e, %a : !x, !x
  }
  // CHECK: %[[SEED:.*]] = stg.splat 1/16
  // CHECK-NEXT: %[[ZERO:.*]] = stg.splat 0
  // CHECK-NEXT: stg.repeat "layers" * L reverse carry(%[[DE:[a-z_0-9]+]] = %[[SEED]] : {{.*}}, %[[DA:[a-z_0-9]+]] = %[[ZERO]] :
  // CHECK: %[[SUM:.*]] = stg.add %[[DA]], %[[DE]]
  // CHECK-NEXT: %[[DX:.*]] = stg.einsum "bf,df->bd" %[[SUM]]
  // CHECK: stg.yield %[[DX]], %[[DE]], %{{.*}}
  return %y#0 : !x
}
