// RUN: stg-opt %s --stg-roll-layers --split-input-file | FileCheck %s

// Three layers, each with a symbol of its own; what all share is read from outside. What is read
// behind them is what the last one hands on.
//
// CHECK: stg.symbol @B = 2
// CHECK-NEXT: stg.symbol @D = 4
// CHECK-NEXT: stg.symbol @d0 = 8
// CHECK-NEXT: stg.symbol @L = 3
// CHECK-NEXT: func.func @layers(%[[X:.*]]: !stg.tensor<[B, D], f32>, %[[C:.*]]: !stg.tensor<[B, D], f32>)
// CHECK-NEXT: %[[S:.*]] = stg.param "shared" : !stg.tensor<[D, D], f32>
// CHECK-NEXT: %[[E:.*]] = stg.einsum "ab,bc->ac" %[[X]], %[[S]]
// CHECK-NEXT: %[[Y:.*]] = stg.repeat "layers" * L carry(%[[H:.*]] = %[[E]] : !stg.tensor<[B, D], f32>) {
// CHECK-NEXT:   %[[U:.*]] = stg.param "up.weight" : !stg.tensor<[D, d0], f32>
// CHECK-NEXT:   %[[A:.*]] = stg.einsum "ab,bc->ac" %[[H]], %[[U]]
// CHECK-NEXT:   %[[R:.*]] = stg.activation relu %[[A]]
// CHECK-NEXT:   %[[W:.*]] = stg.param "down.weight" : !stg.tensor<[d0, D], f32>
// CHECK-NEXT:   %[[F:.*]] = stg.einsum "ab,bc->ac" %[[R]], %[[W]]
// CHECK-NEXT:   %[[G:.*]] = stg.add %[[F]], %[[C]]
// CHECK-NEXT:   %[[I:.*]] = stg.einsum "ab,bc->ac" %[[G]], %[[S]]
// CHECK-NEXT:   %[[J:.*]] = stg.add %[[H]], %[[I]]
// CHECK-NEXT:   stg.yield %[[J]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[Z:.*]] = stg.activation tanh %[[Y]]
// CHECK-NEXT: return %[[Z]]
stg.symbol @B = 2
stg.symbol @D = 4
stg.symbol @d0 = 8
stg.symbol @d1 = 8
stg.symbol @d2 = 8
!x = !stg.tensor<[B, D], f32>
!s = !stg.tensor<[D, D], f32>
func.func @layers(%x: !x, %c: !x) -> !x {
  %s = stg.param "shared" : !s
  %e = stg.einsum "ab,bc->ac" %x, %s : !x, !s
  %u0 = stg.param "model.layers.0.up.weight" : !stg.tensor<[D, d0], f32>
  %w0 = stg.param "model.layers.0.down.weight" : !stg.tensor<[d0, D], f32>
  %a0 = stg.einsum "ab,bc->ac" %e, %u0 : !x, !stg.tensor<[D, d0], f32>
  %b0 = stg.activation relu %a0 : !stg.tensor<[B, d0], f32>
  %f0 = stg.einsum "ab,bc->ac" %b0, %w0 : !stg.tensor<[B, d0], f32>, !stg.tensor<[d0, D], f32>
  %g0 = stg.add %f0, %c : !x, !x
  %i0 = stg.einsum "ab,bc->ac" %g0, %s : !x, !s
  %y0 = stg.add %e, %i0 : !x, !x
  %u1 = stg.param "model.layers.1.up.weight" : !stg.tensor<[D, d1], f32>
  %w1 = stg.param "model.layers.1.down.weight" : !stg.tensor<[d1, D], f32>
  %a1 = stg.einsum "ab,bc->ac" %y0, %u1 : !x, !stg.tensor<[D, d1], f32>
  %b1 = stg.activation relu %a1 : !stg.tensor<[B, d1], f32>
  %f1 = stg.einsum "ab,bc->ac" %b1, %w1 : !stg.tensor<[B, d1], f32>, !stg.tensor<[d1, D], f32>
  %g1 = stg.add %f1, %c : !x, !x
  %i1 = stg.einsum "ab,bc->ac" %g1, %s : !x, !s
  %y1 = stg.add %y0, %i1 : !x, !x
  %u2 = stg.param "model.layers.2.up.weight" : !stg.tensor<[D, d2], f32>
  %w2 = stg.param "model.layers.2.down.weight" : !stg.tensor<[d2, D], f32>
  %a2 = stg.einsum "ab,bc->ac" %y1, %u2 : !x, !stg.tensor<[D, d2], f32>
  %b2 = stg.activation relu %a2 : !stg.tensor<[B, d2], f32>
  %f2 = stg.einsum "ab,bc->ac" %b2, %w2 : !stg.tensor<[B, d2], f32>, !stg.tensor<[d2, D], f32>
  %g2 = stg.add %f2, %c : !x, !x
  %i2 = stg.einsum "ab,bc->ac" %g2, %s : !x, !s
  %y2 = stg.add %y1, %i2 : !x, !x
  %z = stg.activation tanh %y2 : !x
  return %z : !x
}

// -----

// A layer whose symbol has another value is another one; so is one whose result somebody else
// reads, too.
//
// CHECK-LABEL: func.func @others
// CHECK-NOT: stg.repeat
stg.symbol @B = 2
stg.symbol @D = 4
stg.symbol @d0 = 8
stg.symbol @d1 = 9
!x = !stg.tensor<[B, D], f32>
func.func @others(%x: !x) -> !x {
  %u0 = stg.param "0.up" : !stg.tensor<[D, d0], f32>
  %w0 = stg.param "0.down" : !stg.tensor<[d0, D], f32>
  %a0 = stg.einsum "ab,bc->ac" %x, %u0 : !x, !stg.tensor<[D, d0], f32>
  %f0 = stg.einsum "ab,bc->ac" %a0, %w0 : !stg.tensor<[B, d0], f32>, !stg.tensor<[d0, D], f32>
  %u1 = stg.param "1.up" : !stg.tensor<[D, d1], f32>
  %w1 = stg.param "1.down" : !stg.tensor<[d1, D], f32>
  %a1 = stg.einsum "ab,bc->ac" %f0, %u1 : !x, !stg.tensor<[D, d1], f32>
  %f1 = stg.einsum "ab,bc->ac" %a1, %w1 : !stg.tensor<[B, d1], f32>, !stg.tensor<[d1, D], f32>
  return %f1 : !x
}

// -----

// CHECK-LABEL: func.func @read_twice
// CHECK-NOT: stg.repeat
stg.symbol @B = 2
stg.symbol @D = 4
!x = !stg.tensor<[B, D], f32>
!w = !stg.tensor<[D, D], f32>
func.func @read_twice(%x: !x) -> (!x, !x) {
  %w0 = stg.param "0" : !w
  %y0 = stg.einsum "ab,bc->ac" %x, %w0 : !x, !w
  %w1 = stg.param "1" : !w
  %y1 = stg.einsum "ab,bc->ac" %y0, %w1 : !x, !w
  return %y0, %y1 : !x, !x
}

// -----

// Weights that layers share in turn are not those of each layer.
//
// CHECK-LABEL: func.func @in_turn
// CHECK-NOT: stg.repeat
stg.symbol @B = 2
stg.symbol @D = 4
!x = !stg.tensor<[B, D], f32>
!w = !stg.tensor<[D, D], f32>
func.func @in_turn(%x: !x) -> !x {
  %a = stg.param "a" : !w
  %b = stg.param "b" : !w
  %0 = stg.einsum "ab,bc->ac" %x, %a : !x, !w
  %1 = stg.einsum "ab,bc->ac" %0, %a : !x, !w
  %2 = stg.einsum "ab,bc->ac" %1, %b : !x, !w
  return %2 : !x
}

// -----

// What the first layer starts with is also what all layers add.
//
// CHECK-LABEL: func.func @start
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, D], f32>)
// CHECK-NEXT: %{{.*}} = stg.repeat "layers" * L carry(%[[H:.*]] = %[[X]] : !stg.tensor<[B, D], f32>) {
// CHECK-NEXT:   %[[W:.*]] = stg.param
// CHECK-NEXT:   %[[F:.*]] = stg.einsum "ab,bc->ac" %[[H]], %[[W]]
// CHECK-NEXT:   %[[Y:.*]] = stg.add %[[F]], %[[X]]
// CHECK-NEXT:   stg.yield %[[Y]]
stg.symbol @B = 2
stg.symbol @D = 4
!x = !stg.tensor<[B, D], f32>
!w = !stg.tensor<[D, D], f32>
func.func @start(%x: !x) -> !x {
  %w0 = stg.param "0.w" : !w
  %f0 = stg.einsum "ab,bc->ac" %x, %w0 : !x, !w
  %y0 = stg.add %f0, %x : !x, !x
  %w1 = stg.param "1.w" : !w
  %f1 = stg.einsum "ab,bc->ac" %y0, %w1 : !x, !w
  %y1 = stg.add %f1, %x : !x, !x
  %w2 = stg.param "2.w" : !w
  %f2 = stg.einsum "ab,bc->ac" %y1, %w2 : !x, !w
  %y2 = stg.add %f2, %x : !x, !x
  return %y2 : !x
}
