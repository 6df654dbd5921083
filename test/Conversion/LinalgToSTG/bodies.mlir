// Each scalar op of a body is an op over tensors; operands with fewer dimensions repeat themselves.
//
// RUN: stg-opt %s --convert-linalg-to-stg --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @functions
// CHECK: %[[A:.*]] = stg.elementwise exp %[[X:.*]] : !stg.tensor<[d0, d1], f32>
// CHECK-NEXT: %[[B:.*]] = stg.elementwise log %[[A]]
// CHECK-NEXT: %[[C:.*]] = stg.elementwise abs %[[B]]
// CHECK-NEXT: %[[D:.*]] = stg.elementwise neg %[[C]]
// CHECK-NEXT: %[[E:.*]] = stg.elementwise sqrt %[[D]]
// CHECK-NEXT: %[[F:.*]] = stg.elementwise rsqrt %[[E]]
// CHECK-NEXT: %[[G:.*]] = stg.elementwise erf %[[F]]
// CHECK-NEXT: %[[H:.*]] = stg.elementwise sin %[[G]]
// CHECK-NEXT: %[[I:.*]] = stg.elementwise cos %[[H]]
// CHECK-NEXT: %[[J:.*]] = stg.activation tanh %[[I]]
// CHECK-NEXT: %[[K:.*]] = stg.elementwise square %[[J]]
// CHECK-NEXT: %[[L:.*]] = stg.elementwise square %[[K]]
// CHECK-NEXT: %[[M:.*]] = stg.mul %[[L]], %[[K]]
// CHECK-NEXT: %[[N:.*]] = stg.activation relu %[[M]]
// CHECK-NEXT: %[[O:.*]] = stg.elementwise reciprocal %[[N]]
// CHECK-NEXT: %[[T:.*]] = stg.splat 2 : !stg.tensor<[d0, d1], f32>
// CHECK-NEXT: %[[P:.*]] = stg.mul %[[O]], %[[T]]
// CHECK-NEXT: %[[U:.*]] = stg.splat -1/4
// CHECK-NEXT: %[[Q:.*]] = stg.add %[[P]], %[[U]]
// CHECK-NEXT: %[[V:.*]] = stg.splat 5/2
// CHECK-NEXT: %[[R:.*]] = stg.elementwise pow %[[Q]], %[[V]]
// CHECK-NEXT: %[[S:.*]] = stg.elementwise max %[[R]], %[[X]]
// CHECK-NEXT: %[[W:.*]] = stg.elementwise min %[[S]], %[[X]]
// CHECK-NEXT: %[[Y:.*]] = stg.cast %[[W]] : !stg.tensor<[d0, d1], f32> -> !stg.tensor<[d0, d1], bf16>
// CHECK-NEXT: return %[[Y]]
func.func @functions(%x: tensor<2x3xf32>) -> tensor<2x3xbf16> {
  %e = tensor.empty() : tensor<2x3xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %zero = arith.constant 0.0 : f32
    %quarter = arith.constant 0.25 : f32
    %two = arith.constant 2.0 : f32
    %three = arith.constant 3.0 : f32
    %c = arith.constant 2.5 : f32
    %0 = math.exp %in : f32
    %1 = math.log %0 : f32
    %2 = math.absf %1 : f32
    %3 = arith.negf %2 : f32
    %4 = math.sqrt %3 : f32
    %5 = math.rsqrt %4 : f32
    %6 = math.erf %5 : f32
    %7 = math.sin %6 : f32
    %8 = math.cos %7 : f32
    %9 = math.tanh %8 : f32
    %10 = math.powf %9, %two : f32
    %11 = math.powf %10, %three : f32
    %12 = arith.cmpf ugt, %11, %zero : f32
    %13 = arith.select %12, %11, %zero : f32
    %14 = arith.divf %two, %13 : f32
    %15 = arith.subf %14, %quarter : f32
    %16 = math.powf %15, %c : f32
    %17 = arith.maximumf %16, %in : f32
    %18 = arith.minimumf %17, %in : f32
    %19 = arith.truncf %18 : f32 to bf16
    linalg.yield %19 : bf16
  } -> tensor<2x3xbf16>
  return %y : tensor<2x3xbf16>
}

// -----

// Rows, columns, both, and neither.
//
// CHECK-LABEL: func.func @broadcasts
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[d0, d1], f32> {stg.name = "arg0"}, %[[R:.*]]: !stg.tensor<[d0], f32> {stg.name = "arg1"}, %[[C:.*]]: !stg.tensor<[d1], f32> {stg.name = "arg2"})
// CHECK: %[[A:.*]] = stg.mul_along %[[X]], %[[R]] {dims = array<i64: 0>} : !stg.tensor<[d0, d1], f32>, !stg.tensor<[d0], f32>
// CHECK-NEXT: %[[B:.*]] = stg.bias_add %[[A]], %[[C]] : !stg.tensor<[d0, d1], f32>, !stg.tensor<[d1], f32>
// CHECK-NEXT: %[[U:.*]] = stg.rearrange "a->a()" %[[R]] : !stg.tensor<[d0], f32> -> !stg.tensor<[d0, 1], f32>
// CHECK-NEXT: %[[S:.*]] = stg.elementwise sub %[[B]], %[[U]] : !stg.tensor<[d0, d1], f32>, !stg.tensor<[d0, 1], f32>
// CHECK-NEXT: %[[V:.*]] = stg.rearrange "a->a()" %[[R]]
// CHECK-NEXT: %[[W:.*]] = stg.rearrange "a->()a" %[[C]] : !stg.tensor<[d1], f32> -> !stg.tensor<[1, d1], f32>
// CHECK-NEXT: %[[O:.*]] = stg.mul %[[V]], %[[W]] : !stg.tensor<[d0, 1], f32>, !stg.tensor<[1, d1], f32>
// CHECK-NEXT: %[[Y:.*]] = stg.add %[[S]], %[[O]]
// CHECK-NEXT: return %[[Y]]
func.func @broadcasts(%x: tensor<2x3xf32>, %r: tensor<2xf32>, %c: tensor<3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %r, %c : tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %row: f32, %column: f32, %out: f32):
    %0 = arith.mulf %row, %in : f32
    %1 = arith.addf %0, %column : f32
    %2 = arith.subf %1, %row : f32
    %3 = arith.mulf %row, %column : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A sum of products is one einsum, whatever else is multiplied; a sum of a function is a sum, a
// maximum one of the last dimension.
//
// CHECK-LABEL: func.func @reductions
// CHECK: %[[A:.*]] = stg.einsum "abc,c,ab->a" %[[X:.*]], %[[V:.*]], %[[M:.*]] : !stg.tensor<[d0, d1, d2], f32>, !stg.tensor<[d2], f32>, !stg.tensor<[d0, d1], f32>
// CHECK-NEXT: %[[H:.*]] = stg.splat 1/2 : !stg.tensor<[d0], f32>
// CHECK-NEXT: %[[B:.*]] = stg.mul %[[A]], %[[H]]
// CHECK-NEXT: %[[E:.*]] = stg.elementwise exp %[[X]]
// CHECK-NEXT: %[[S:.*]] = stg.sum dim 2 %[[E]] : !stg.tensor<[d0, d1, d2], f32>
// CHECK-NEXT: %[[T:.*]] = stg.sum dim 1 %[[S]] : !stg.tensor<[d0, d1], f32>
// CHECK-NEXT: %[[R:.*]] = stg.rearrange "abc->acb" %[[X]]
// CHECK-NEXT: %[[W:.*]] = stg.reduce max %[[R]] : !stg.tensor<[d0, d2, d1], f32>
// CHECK-NEXT: return %[[B]], %[[T]], %[[W]]
func.func @reductions(%x: tensor<2x3x5xf32>, %v: tensor<5xf32>, %m: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<2xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2xf32>) -> tensor<2xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x, %v, %m : tensor<2x3x5xf32>, tensor<5xf32>, tensor<2x3xf32>) outs(%f0 : tensor<2xf32>) {
  ^bb0(%in: f32, %w: f32, %n: f32, %out: f32):
    %half = arith.constant 0.5 : f32
    %0 = arith.mulf %in, %w : f32
    %1 = arith.mulf %0, %half : f32
    %2 = arith.mulf %1, %n : f32
    %3 = arith.addf %out, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<2x3x5xf32>) outs(%f0 : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2xf32>
  %e1 = tensor.empty() : tensor<2x5xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<2x5xf32>) -> tensor<2x5xf32>
  %c = linalg.reduce ins(%x : tensor<2x3x5xf32>) outs(%f1 : tensor<2x5xf32>) dimensions = [1] (%in: f32, %out: f32) {
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  }
  return %a, %b, %c : tensor<2xf32>, tensor<2xf32>, tensor<2x5xf32>
}

// -----

// What a mask hides is found by evaluating it: causal, with a window, or nothing at all.
//
// CHECK-LABEL: func.func @masks
// CHECK: %[[A:.*]] = stg.mask_scores causal %[[X:.*]] : !stg.tensor<[d0, d1, d2], f32>
// CHECK-NEXT: %[[B:.*]] = stg.mask_scores causal %[[A]] {window = #sym.expr<2>}
// CHECK-NEXT: return %[[B]]
func.func @masks(%x: tensor<3x4x4xf32>) -> tensor<3x4x4xf32> {
  %low = arith.constant -1.0e9 : f32
  %true = arith.constant true
  %e = tensor.empty() : tensor<4x4xi1>
  %visible = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xi1>) {
  ^bb0(%out: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi uge, %i, %j : index
    linalg.yield %c : i1
  } -> tensor<4x4xi1>
  %rows = tensor.expand_shape %visible [[0, 1], [2]] output_shape [1, 4, 4] : tensor<4x4xi1> into tensor<1x4x4xi1>
  %e1 = tensor.empty() : tensor<3x4x4xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (0, i, j)>, affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows, %x : tensor<1x4x4xi1>, tensor<3x4x4xf32>) outs(%e1 : tensor<3x4x4xf32>) {
  ^bb0(%c: i1, %in: f32, %out: f32):
    %s = arith.select %c, %in, %low : f32
    linalg.yield %s : f32
  } -> tensor<3x4x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : tensor<3x4x4xf32>) outs(%e1 : tensor<3x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %two = arith.constant 2 : index
    %end = arith.addi %j, %two : index
    %far = arith.cmpi uge, %i, %end : index
    %after = arith.cmpi ugt, %j, %i : index
    %c = arith.ori %far, %after : i1
    %s = arith.select %c, %low, %in : f32
    linalg.yield %s : f32
  } -> tensor<3x4x4xf32>
  %full = arith.constant dense<true> : tensor<4x4xi1>
  %d = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (i, j)>, affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%full, %b : tensor<4x4xi1>, tensor<3x4x4xf32>) outs(%e1 : tensor<3x4x4xf32>) {
  ^bb0(%c: i1, %in: f32, %out: f32):
    %s = arith.select %c, %in, %low : f32
    linalg.yield %s : f32
  } -> tensor<3x4x4xf32>
  return %d : tensor<3x4x4xf32>
}

// -----

// What a body computes before it multiplies is a tensor of its own; squares that are summed are no
// product of matrices; operands of a product are of the widest type.
//
// CHECK-LABEL: func.func @fused
// CHECK: %[[E:.*]] = stg.elementwise exp %[[X:.*]] : !stg.tensor<[d0, d1], f32>
// CHECK-NEXT: %[[W:.*]] = stg.cast %[[B:.*]] : !stg.tensor<[d1, d2], bf16> -> !stg.tensor<[d1, d2], f32>
// CHECK-NEXT: %[[Y:.*]] = stg.einsum "ac,cb->ab" %[[E]], %[[W]] : !stg.tensor<[d0, d1], f32>, !stg.tensor<[d1, d2], f32>
// CHECK-NEXT: %[[Q:.*]] = stg.elementwise square %[[X]]
// CHECK-NEXT: %[[S:.*]] = stg.sum dim 1 %[[Q]]
// CHECK-NEXT: return %[[Y]], %[[S]]
func.func @fused(%x: tensor<2x4xf32>, %w: tensor<4x3xbf16>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2x4xf32>, tensor<4x3xbf16>) outs(%f : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: bf16, %out: f32):
    %0 = math.exp %a : f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %out, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2x3xf32>
  %e1 = tensor.empty() : tensor<2xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x4xf32>) outs(%f1 : tensor<2xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2xf32>
  return %y, %s : tensor<2x3xf32>, tensor<2xf32>
}

// -----

// As an unsigned number a later key is far away. Rows that are not known are longer than a window.
//
// CHECK-LABEL: func.func @far_windows
// CHECK: %[[A:.*]] = stg.mask_scores causal %{{.*}} {window = #sym.expr<100>} : !stg.tensor<[d0, d1], f32>
// CHECK-NEXT: return %[[A]]
func.func @far_windows(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %low = arith.constant -1.0e9 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %w = arith.constant 100 : index
    %d = arith.subi %i, %j : index
    %c = arith.cmpi ult, %d, %w : index
    %s = arith.select %c, %in, %low : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %b : tensor<?x?xf32>
}

// -----

// Ids that count from the end are wrapped. A part that is no half is copied.
//
// CHECK-LABEL: func.func @lookups
// CHECK: %[[T:.*]] = stg.slice dim 0 %{{.*}} {from = #sym.expr<1>} : !stg.tensor<[d1, d2], f32> -> !stg.tensor<[d3, d2], f32>
// CHECK-NEXT: %[[Y:.*]] = stg.embedding %[[T]], %{{.*}} : !stg.tensor<[d3, d2], f32>, !stg.tensor<[d0], i64>
// CHECK-NEXT: return %[[Y]]
func.func @lookups(%ids: tensor<4xi64>, %t: tensor<9x5xf32> {stg.param = "t"}) -> tensor<4x5xf32> {
  %rows = tensor.extract_slice %t[1, 0] [7, 5] [1, 1] : tensor<9x5xf32> to tensor<7x5xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4xi64>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%a: i64, %out: f32):
    %zero = arith.constant 0 : i64
    %n = arith.constant 7 : i64
    %wrapped = arith.addi %a, %n : i64
    %c = arith.cmpi slt, %a, %zero : i64
    %s = arith.select %c, %wrapped, %a : i64
    %r = arith.index_cast %s : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %rows[%r, %j] : tensor<7x5xf32>
    linalg.yield %v : f32
  } -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
