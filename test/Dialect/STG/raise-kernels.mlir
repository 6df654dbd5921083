// Kernels are found by what they compute, in whatever order it is written. The models of
// Conversion/LinalgToSTG/models.test have the usual forms; these are the others.
//
// RUN: stg-opt %s --stg-raise-kernels --split-input-file | FileCheck %s

stg.symbol @B
stg.symbol @D
!x = !stg.tensor<[B, D], f32>
// CHECK-LABEL: func.func @quick_gelu
// CHECK-NEXT: %[[Y:.*]] = stg.activation quick_gelu %arg0
// CHECK-NEXT: return %[[Y]]
func.func @quick_gelu(%x: !x) -> !x {
  %c = stg.splat 851/500 : !x
  %one = stg.splat 1 : !x
  %a = stg.mul %c, %x : !x, !x
  %b = stg.elementwise neg %a : !x
  %d = stg.elementwise exp %b : !x
  %e = stg.add %one, %d : !x, !x
  %s = stg.elementwise reciprocal %e : !x
  %y = stg.mul %s, %x : !x, !x
  return %y : !x
}

// -----

// A product with something else is no activation.
stg.symbol @B
!x = !stg.tensor<[B], f32>
// CHECK-LABEL: func.func @other
// CHECK-NEXT: stg.activation sigmoid %arg0
// CHECK-NEXT: stg.mul %{{.*}}, %arg1
func.func @other(%x: !x, %z: !x) -> !x {
  %one = stg.splat 1 : !x
  %b = stg.elementwise neg %x : !x
  %d = stg.elementwise exp %b : !x
  %e = stg.add %one, %d : !x, !x
  %s = stg.elementwise reciprocal %e : !x
  %y = stg.mul %s, %z : !x, !x
  return %y : !x
}

// -----

// A norm without a weight, by the square root; one over heads and their size.
stg.symbol @B
stg.symbol @H
stg.symbol @E
!x = !stg.tensor<[B, H, E], bf16>
!f = !stg.tensor<[B, H, E], f32>
!r = !stg.tensor<[B, H], f32>
!s = !stg.tensor<[B], f32>
// CHECK-LABEL: func.func @norms
// CHECK-NEXT: %[[A:.*]], %{{.*}} = stg.rms_norm %arg0 : !stg.tensor<[B, H, E], bf16>
// CHECK-NEXT: %[[W:.*]] = stg.param "w"
// CHECK-NEXT: %[[B:.*]], %{{.*}} = stg.rms_norm %[[A]], %[[W]] : !stg.tensor<[B, H, E], bf16>, !stg.tensor<[H, E], bf16>
// CHECK-NEXT: return %[[B]]
func.func @norms(%x: !x) -> !x {
  %f = stg.cast %x : !x -> !f
  %q = stg.mul %f, %f : !f, !f
  %m = stg.mean dim 2 %q : !f
  %root = stg.elementwise sqrt %m : !r
  %inverse = stg.elementwise reciprocal %root : !r
  %n = stg.mul_along %f, %inverse {dims = array<i64: 0, 1>} : !f, !r
  %y = stg.cast %n : !f -> !x
  %g = stg.cast %y : !x -> !f
  %p = stg.elementwise square %g : !f
  %s0 = stg.sum dim 2 %p : !f
  %s1 = stg.sum dim 1 %s0 : !r
  %c = stg.splat 1/64 : !s
  %v = stg.mul %s1, %c : !s, !s
  %t = stg.elementwise rsqrt %v : !s
  %h = stg.mul_along %g, %t {dims = array<i64: 0>} : !f, !s
  %k = stg.cast %h : !f -> !x
  %w = stg.param "w" : !stg.tensor<[H, E], bf16>
  %z = stg.mul_along %k, %w {dims = array<i64: 1, 2>} : !x, !stg.tensor<[H, E], bf16>
  return %z : !x
}

// -----

// Halves that are rotated one by one, of a part of each head; positions come first.
stg.symbol @S
stg.symbol @H
stg.symbol @E
!x = !stg.tensor<[S, H, E], f32>
!part = !stg.tensor<[S, H, E/2], f32>
!half = !stg.tensor<[S, H, E/4], f32>
!angle = !stg.tensor<[S, E/4], f32>
// CHECK-LABEL: func.func @rope
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[S, H, E], f32>)
// CHECK-NEXT: %[[P:.*]]:2 = stg.split dim 2 %[[X]]
// CHECK-NEXT: %[[A:.*]] = stg.rearrange "abc->bac" %[[P]]#0
// CHECK-NEXT: %[[R:.*]] = stg.rope %[[A]] : !stg.tensor<[H, S, E/2], f32>
// CHECK-NEXT: %[[C:.*]] = stg.rearrange "bac->abc" %[[R]]
// CHECK-NEXT: %[[Y:.*]] = stg.concat dim 2 %[[C]], %[[P]]#1
// CHECK-NEXT: return %[[Y]]
func.func @rope(%x: !x, %cos: !angle {stg.name = "constant1"}, %sin: !angle {stg.name = "constant2"}) -> !x {
  %r, %pass = stg.split dim 2 %x : !x -> !part, !part
  %a, %b = stg.split dim 2 %r : !part -> !half, !half
  %0 = stg.mul_along %a, %cos {dims = array<i64: 0, 2>} : !half, !angle
  %1 = stg.mul_along %b, %sin {dims = array<i64: 0, 2>} : !half, !angle
  %2 = stg.elementwise sub %0, %1 : !half, !half
  %3 = stg.mul_along %b, %cos {dims = array<i64: 0, 2>} : !half, !angle
  %4 = stg.mul_along %a, %sin {dims = array<i64: 0, 2>} : !half, !angle
  %5 = stg.add %4, %3 : !half, !half
  %6 = stg.concat dim 2 %2, %5 : !half, !half -> !part
  %y = stg.concat dim 2 %6, %pass : !part, !part -> !x
  return %y : !x
}

// -----

stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
!x = !stg.tensor<[B, S, H, E], f32>
!part = !stg.tensor<[B, S, H, E/2], f32>
!half = !stg.tensor<[B, S, H, E/4], f32>
!angle = !stg.tensor<[S, E/2], f32>
// CHECK-LABEL: func.func @partial_rope
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, S, H, E], f32>)
// CHECK-NEXT: %[[Y:.*]] = stg.rope %[[X]] {rotated = #sym.expr<E/2>}
// CHECK-NEXT: return %[[Y]]
func.func @partial_rope(%x: !x, %cos: !angle {stg.name = "constant1"}, %sin: !angle {stg.name = "constant2"}) -> !x {
  %r, %pass = stg.split dim 3 %x : !x -> !part, !part
  %a, %b = stg.split dim 3 %r : !part -> !half, !half
  %n = stg.elementwise neg %b : !half
  %t = stg.concat dim 3 %n, %a : !half, !half -> !part
  %0 = stg.mul_along %t, %sin {dims = array<i64: 1, 3>} : !part, !angle
  %1 = stg.mul_along %r, %cos {dims = array<i64: 1, 3>} : !part, !angle
  %2 = stg.add %0, %1 : !part, !part
  %y = stg.concat dim 3 %2, %pass : !part, !part -> !x
  return %y : !x
}

// -----

// All query heads share one key head, keys are of other tokens, and products have their operands
// in the other order. The result has the order of the second product.
stg.symbol @B
stg.symbol @S
stg.symbol @T
stg.symbol @H
stg.symbol @E
!q = !stg.tensor<[B, S, H, E], bf16>
!k = !stg.tensor<[B, T, E], bf16>
!s = !stg.tensor<[B, H, S, T], bf16>
!f = !stg.tensor<[B, H, S, T], f32>
!m = !stg.tensor<[B, H, S], f32>
!m1 = !stg.tensor<[B, H, S, 1], f32>
// CHECK-LABEL: func.func @multi_query
// CHECK-SAME: (%[[Q:.*]]: !stg.tensor<[B, S, H, E], bf16>, %[[K:.*]]: !stg.tensor<[B, T, E], bf16>, %[[V:.*]]: !stg.tensor<[B, T, E], bf16>)
// CHECK-NEXT: %[[A:.*]] = stg.rearrange "abc->ab()c" %[[K]] : !stg.tensor<[B, T, E], bf16> -> !stg.tensor<[B, T, 1, E], bf16>
// CHECK-NEXT: %[[C:.*]] = stg.rearrange "abc->ab()c" %[[V]]
// CHECK-NEXT: %[[O:.*]], %{{.*}} = stg.attention none %[[Q]], %[[A]], %[[C]] : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, T, 1, E], bf16>, !stg.tensor<[B, T, 1, E], bf16>
// CHECK-NEXT: %[[Y:.*]] = stg.rearrange "abcd->acbd" %[[O]] : !stg.tensor<[B, S, H, E], bf16> -> !stg.tensor<[B, H, S, E], bf16>
// CHECK-NEXT: return %[[Y]]
func.func @multi_query(%q: !q, %k: !k, %v: !k) -> !stg.tensor<[B, H, S, E], bf16> {
  %s = stg.einsum "bte,bshe->bhst" %k, %q : !k, !q
  %f = stg.cast %s : !s -> !f
  %c = stg.splat 1/8 : !f
  %g = stg.mul %c, %f : !f, !f
  %max = stg.reduce max %g : !f
  %max1 = stg.rearrange "abc->abc()" %max : !m -> !m1
  %d = stg.elementwise sub %g, %max1 : !f, !m1
  %e = stg.elementwise exp %d : !f
  %sum = stg.sum dim 3 %e : !f
  %inverse = stg.elementwise reciprocal %sum : !m
  %p = stg.mul_along %e, %inverse {dims = array<i64: 0, 1, 2>} : !f, !m
  %w = stg.cast %p : !f -> !s
  %y = stg.einsum "bte,bhst->bhse" %v, %w : !k, !s
  return %y : !stg.tensor<[B, H, S, E], bf16>
}

// -----

// Scores to which something else is added are no such kernel, but have a softmax.
stg.symbol @S
stg.symbol @T
stg.symbol @E
!q = !stg.tensor<[S, E], f32>
!k = !stg.tensor<[T, E], f32>
!s = !stg.tensor<[S, T], f32>
// CHECK-LABEL: func.func @biased
// CHECK-NEXT: stg.einsum
// CHECK-NEXT: stg.add
// CHECK-NEXT: stg.softmax
// CHECK-NEXT: stg.einsum
// CHECK-NEXT: return
func.func @biased(%q: !q, %k: !k, %v: !k, %b: !s) -> !q {
  %s = stg.einsum "se,te->st" %q, %k : !q, !k
  %a = stg.add %s, %b : !s, !s
  %max = stg.reduce max %a : !s
  %max1 = stg.rearrange "a->a()" %max : !stg.tensor<[S], f32> -> !stg.tensor<[S, 1], f32>
  %d = stg.elementwise sub %a, %max1 : !s, !stg.tensor<[S, 1], f32>
  %e = stg.elementwise exp %d : !s
  %sum = stg.sum dim 1 %e : !s
  %sum1 = stg.rearrange "a->a()" %sum : !stg.tensor<[S], f32> -> !stg.tensor<[S, 1], f32>
  %p = stg.elementwise div %e, %sum1 : !s, !stg.tensor<[S, 1], f32>
  %y = stg.einsum "st,te->se" %p, %v : !s, !k
  return %y : !q
}

// -----

// Angles that are trained are no rotation; scores that somebody else reads stay, too.
stg.symbol @B
stg.symbol @S
stg.symbol @H
stg.symbol @E
!x = !stg.tensor<[B, S, H, E], f32>
!half = !stg.tensor<[B, S, H, E/2], f32>
!angle = !stg.tensor<[S, E], f32>
!s = !stg.tensor<[B, H, S, S], f32>
// CHECK-LABEL: func.func @others
// CHECK-NOT: stg.rope
// CHECK-NOT: stg.attention
func.func @others(%x: !x, %p: !s) -> (!x, !x, !s) {
  %cos = stg.param "cos" : !angle
  %sin = stg.param "sin" : !angle
  %a, %b = stg.split dim 3 %x : !x -> !half, !half
  %n = stg.elementwise neg %b : !half
  %t = stg.concat dim 3 %n, %a : !half, !half -> !x
  %0 = stg.mul_along %t, %sin {dims = array<i64: 1, 3>} : !x, !angle
  %1 = stg.mul_along %x, %cos {dims = array<i64: 1, 3>} : !x, !angle
  %2 = stg.add %0, %1 : !x, !x
  %scores = stg.einsum "bshe,bthe->bhst" %x, %2 : !x, !x
  %w = stg.softmax %scores : !s
  %o = stg.einsum "bhst,bthe->bshe" %w, %x : !s, !x
  return %2, %o, %w : !x, !x, !s
}

// -----

// Quotients: what divides is 1 + exp(-x).
stg.symbol @B
!x = !stg.tensor<[B], f32>
// CHECK-LABEL: func.func @quotients
// CHECK: %[[SILU:.*]] = stg.activation silu %arg0
// CHECK-NEXT: %[[SIGMOID:.*]] = stg.activation sigmoid %arg0
// CHECK: %[[OTHER:.*]] = stg.elementwise div %arg1
// CHECK-NEXT: return %[[SILU]], %[[SIGMOID]], %[[OTHER]]
func.func @quotients(%x: !x, %z: !x) -> (!x, !x, !x) {
  %one = stg.splat 1 : !x
  %b = stg.elementwise neg %x : !x
  %d = stg.elementwise exp %b : !x
  %e = stg.add %one, %d : !x, !x
  %silu = stg.elementwise div %x, %e : !x, !x
  %sigmoid = stg.elementwise div %one, %e : !x, !x
  %other = stg.elementwise div %z, %e : !x, !x
  return %silu, %sigmoid, %other : !x, !x, !x
}

// -----

// A softmax along a dimension that is not the last one; a maximum along another one makes none.
stg.symbol @B
stg.symbol @S
stg.symbol @D
!x = !stg.tensor<[B, S, D], f32>
!m = !stg.tensor<[B, D, S], f32>
!r = !stg.tensor<[B, D], f32>
!one = !stg.tensor<[B, 1, D], f32>
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: %[[M:.*]] = stg.rearrange "abc->acb" %arg0
// CHECK-NEXT: %[[S:.*]] = stg.softmax %[[M]] : !stg.tensor<[B, D, S], f32>
// CHECK-NEXT: %[[Y:.*]] = stg.rearrange "acb->abc" %[[S]]
// CHECK-NEXT: return %[[Y]]
func.func @softmax(%x: !x) -> !x {
  %0 = stg.rearrange "abc->acb" %x : !x -> !m
  %1 = stg.reduce max %0 : !m
  %2 = stg.rearrange "ab->a()b" %1 : !r -> !one
  %3 = stg.elementwise sub %x, %2 : !x, !one
  %4 = stg.elementwise exp %3 : !x
  %5 = stg.sum dim 1 %4 : !x
  %6 = stg.rearrange "ab->a()b" %5 : !r -> !one
  %7 = stg.elementwise div %4, %6 : !x, !one
  return %7 : !x
}
// CHECK-LABEL: func.func @no_softmax
// CHECK-NOT: stg.softmax
// CHECK: return
func.func @no_softmax(%x: !x, %z: !m) -> !x {
  %1 = stg.reduce max %z : !m
  %2 = stg.rearrange "ab->a()b" %1 : !r -> !one
  %3 = stg.elementwise sub %x, %2 : !x, !one
  %4 = stg.elementwise exp %3 : !x
  %5 = stg.sum dim 1 %4 : !x
  %6 = stg.rearrange "ab->a()b" %5 : !r -> !one
  %7 = stg.elementwise div %4, %6 : !x, !one
  return %7 : !x
}
