// Dimensions are factors: what reshapes join and cut, and what indexing maps make one.
//
// RUN: stg-opt %s --convert-linalg-to-stg --split-input-file | FileCheck %s

// Rows of two dimensions, and heads: the weight gets three dimensions. Nothing is copied.
//
// CHECK-DAG: stg.symbol @B = 4
// CHECK-DAG: stg.symbol @S = 6
// CHECK-DAG: stg.symbol @d0 = 10
// CHECK-DAG: stg.symbol @H = 2
// CHECK-DAG: stg.symbol @d1 = 5
// CHECK-LABEL: func.func @heads
// CHECK-SAME: (%[[X:.*]]: !stg.tensor<[B, S, d0], bf16> {stg.name = "x"}) -> !stg.tensor<[B, H, S, d1], bf16>
// CHECK-NEXT: %[[W:.*]] = stg.param "q" : !stg.tensor<[H, d1, d0], bf16>
// CHECK-NEXT: %[[Y:.*]] = stg.einsum "abe,cde->abcd" %[[X]], %[[W]]
// CHECK-NEXT: %[[Z:.*]] = stg.rearrange "abcd->acbd" %[[Y]]
// CHECK-NEXT: return %[[Z]] : !stg.tensor<[B, H, S, d1], bf16>
func.func @heads(%x: tensor<4x6x10xbf16> {stg.name = "x", stg.dims = ["B", "S", ""]},
                 %w: tensor<10x10xbf16> {stg.param = "q", stg.dims = ["H=2 d1", "_"]}) -> tensor<4x2x6x5xbf16> {
  %zero = arith.constant 0.0 : bf16
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x6x10xbf16> into tensor<24x10xbf16>
  %e0 = tensor.empty() : tensor<10x10xbf16>
  %t = linalg.transpose ins(%w : tensor<10x10xbf16>) outs(%e0 : tensor<10x10xbf16>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<24x10xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e1 : tensor<24x10xbf16>) -> tensor<24x10xbf16>
  %y = linalg.matmul ins(%rows, %t : tensor<24x10xbf16>, tensor<10x10xbf16>) outs(%f : tensor<24x10xbf16>) -> tensor<24x10xbf16>
  %h = tensor.expand_shape %y [[0, 1], [2, 3]] output_shape [4, 6, 2, 5] : tensor<24x10xbf16> into tensor<4x6x2x5xbf16>
  %e2 = tensor.empty() : tensor<4x2x6x5xbf16>
  %z = linalg.transpose ins(%h : tensor<4x6x2x5xbf16>) outs(%e2 : tensor<4x2x6x5xbf16>) permutation = [0, 2, 1, 3]
  return %z : tensor<4x2x6x5xbf16>
}

// -----

// Extents that are not known are symbols without a value. The bias is what the product starts
// from.
//
// An argument that nobody reads is none, whatever it has.
//
// CHECK: stg.symbol @B{{$}}
// CHECK-NEXT: stg.symbol @d0 = 10
// CHECK-NEXT: stg.symbol @d1 = 7
// CHECK-NEXT: func.func @dynamic(%{{.*}}: !stg.tensor<[B, d0], bf16> {stg.name = "arg0"}) -> !stg.tensor<[B, d1], f32>
// CHECK: %[[Y:.*]] = stg.einsum "ac,cb->ab" %{{.*}}, %{{.*}} {into = f32} : !stg.tensor<[B, d0], bf16>, !stg.tensor<[d0, d1], bf16>
// CHECK-NEXT: %[[Z:.*]] = stg.bias_add %[[Y]], %{{.*}} : !stg.tensor<[B, d1], f32>, !stg.tensor<[d1], f32>
// CHECK-NEXT: return %[[Z]]
func.func @dynamic(%x: tensor<?x10xbf16> {stg.dims = ["B", ""]}, %w: tensor<10x7xbf16> {stg.param = "w"},
                   %b: tensor<7xf32> {stg.param = "b"}, %mask: tensor<3xi1>) -> tensor<?x7xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x10xbf16>
  %e = tensor.empty(%n) : tensor<?x7xf32>
  %start = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<7xf32>) outs(%e : tensor<?x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x7xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x10xbf16>, tensor<10x7xbf16>) outs(%start : tensor<?x7xf32>) -> tensor<?x7xf32>
  return %y : tensor<?x7xf32>
}

// -----

// Where nothing is known, also not of what a mask is made of: rows and columns are what they are
// made of.
//
// CHECK: stg.symbol @d0{{$}}
// CHECK-NEXT: stg.symbol @d1{{$}}
// CHECK-NEXT: stg.symbol @d2{{$}}
// CHECK-NEXT: stg.symbol @d3{{$}}
// CHECK-NEXT: func.func @nothing_known(%[[X:.*]]: !stg.tensor<[d0, d1, d2], f32> {stg.name = "arg0"}, %[[Y:.*]]: !stg.tensor<[d3, d2], f32> {stg.name = "arg1"}) -> !stg.tensor<[d0, d1, d3], f32>
// CHECK-NEXT: %[[M:.*]] = stg.mask_scores causal %[[X]]
// CHECK-NEXT: %[[Z:.*]] = stg.einsum "abd,cd->abc" %[[M]], %[[Y]]
// CHECK-NEXT: return %[[Z]]
func.func @nothing_known(%x: tensor<?x?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant -1.0e9 : f32
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %y, %c0 : tensor<?x?xf32>
  %e0 = tensor.empty(%s, %s) : tensor<?x?xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e0 : tensor<?x?xi1>) {
  ^bb0(%out: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ule, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<?x?xi1>
  %e1 = tensor.empty(%b, %s, %s) : tensor<?x?x?xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (i, j)>, affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask, %x : tensor<?x?xi1>, tensor<?x?x?xf32>) outs(%e1 : tensor<?x?x?xf32>) {
  ^bb0(%c: i1, %in: f32, %out: f32):
    %v = arith.select %c, %in, %low : f32
    linalg.yield %v : f32
  } -> tensor<?x?x?xf32>
  %rows = tensor.collapse_shape %m [[0, 1], [2]] : tensor<?x?x?xf32> into tensor<?x?xf32>
  %count = tensor.dim %rows, %c0 : tensor<?x?xf32>
  %e2 = tensor.empty(%s, %n) : tensor<?x?xf32>
  %t = linalg.transpose ins(%y : tensor<?x?xf32>) outs(%e2 : tensor<?x?xf32>) permutation = [1, 0]
  %e3 = tensor.empty(%count, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e3 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%rows, %t : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = tensor.expand_shape %p [[0, 1], [2]] output_shape [%b, %s, %n] : tensor<?x?xf32> into tensor<?x?x?xf32>
  return %z : tensor<?x?x?xf32>
}

// -----

// Parts of heads: the whole is their sum. Parts in another order of dimensions are joined in the
// order that is there. A dimension of the input keeps its order.
//
// CHECK-LABEL: func.func @parts
// CHECK: %[[W:.*]] = stg.param "qkv" : !stg.tensor<[d0 + 2*d1, d2, D], bf16>
// CHECK: %[[Y:.*]] = stg.einsum "ad,bcd->abc" %{{.*}}, %[[W]]
// CHECK-NEXT: %[[P:.*]]:3 = stg.split dim 1 %[[Y]] : !stg.tensor<[S, d0 + 2*d1, d2], bf16> -> !stg.tensor<[S, d0, d2], bf16>, !stg.tensor<[S, d1, d2], bf16>, !stg.tensor<[S, d1, d2], bf16>
// CHECK-NEXT: %[[KV:.*]] = stg.add %[[P]]#1, %[[P]]#2
// CHECK-NEXT: %[[H:.*]]:2 = stg.split dim 0 ordered %{{.*}} : !stg.tensor<[S, D], bf16> -> !stg.tensor<[S/2, D], bf16>, !stg.tensor<[S/2, D], bf16>
// CHECK-NEXT: %[[C:.*]] = stg.concat dim 0 ordered %[[H]]#1, %[[H]]#0
// CHECK-NEXT: return %[[P]]#0, %[[KV]], %[[C]]
func.func @parts(%x: tensor<6x10xbf16> {stg.dims = ["S", "D"]},
                 %w: tensor<24x10xbf16> {stg.param = "qkv"}) -> (tensor<6x4x3xbf16>, tensor<6x2x3xbf16>, tensor<6x10xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %e0 = tensor.empty() : tensor<10x24xbf16>
  %t = linalg.transpose ins(%w : tensor<24x10xbf16>) outs(%e0 : tensor<10x24xbf16>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<6x24xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e1 : tensor<6x24xbf16>) -> tensor<6x24xbf16>
  %y = linalg.matmul ins(%x, %t : tensor<6x10xbf16>, tensor<10x24xbf16>) outs(%f : tensor<6x24xbf16>) -> tensor<6x24xbf16>
  %q = tensor.extract_slice %y[0, 0] [6, 12] [1, 1] : tensor<6x24xbf16> to tensor<6x12xbf16>
  %k = tensor.extract_slice %y[0, 12] [6, 6] [1, 1] : tensor<6x24xbf16> to tensor<6x6xbf16>
  %v = tensor.extract_slice %y[0, 18] [6, 6] [1, 1] : tensor<6x24xbf16> to tensor<6x6xbf16>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [6, 4, 3] : tensor<6x12xbf16> into tensor<6x4x3xbf16>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [6, 2, 3] : tensor<6x6xbf16> into tensor<6x2x3xbf16>
  %vh = tensor.expand_shape %v [[0], [1, 2]] output_shape [6, 2, 3] : tensor<6x6xbf16> into tensor<6x2x3xbf16>
  %e2 = tensor.empty() : tensor<6x2x3xbf16>
  %kv = linalg.add ins(%kh, %vh : tensor<6x2x3xbf16>, tensor<6x2x3xbf16>) outs(%e2 : tensor<6x2x3xbf16>) -> tensor<6x2x3xbf16>
  %first = tensor.extract_slice %x[0, 0] [3, 10] [1, 1] : tensor<6x10xbf16> to tensor<3x10xbf16>
  %last = tensor.extract_slice %x[3, 0] [3, 10] [1, 1] : tensor<6x10xbf16> to tensor<3x10xbf16>
  %c = tensor.concat dim(0) %last, %first : (tensor<3x10xbf16>, tensor<3x10xbf16>) -> tensor<6x10xbf16>
  return %qh, %kv, %c : tensor<6x4x3xbf16>, tensor<6x2x3xbf16>, tensor<6x10xbf16>
}

// -----

// Parameters are globals and resources; a constant that is written out is frozen, and what
// depends on positions alone is an input.
//
// CHECK-LABEL: func.func @constants
// CHECK-SAME: (%{{.*}}: !stg.tensor<[d0], f32> {stg.name = "arg0"}, %[[P:.*]]: !stg.tensor<[d0], f32> {stg.name = "constant1"})
// CHECK: %[[A:.*]] = stg.param "a" : !stg.tensor<[d0], f32>
// CHECK: %[[B:.*]] = stg.param "b" : !stg.tensor<[d0], f32>
// CHECK: %[[C:.*]] = stg.param "constant" {frozen} : !stg.tensor<[d0], f32>
// CHECK: stg.add %{{.*}}, %[[P]]
ml_program.global private @a(dense<1.0> : tensor<3xf32>) : tensor<3xf32>
func.func @constants(%x: tensor<3xf32>) -> tensor<3xf32> {
  %a = ml_program.global_load_const @a : tensor<3xf32>
  %b = arith.constant dense_resource<b> : tensor<3xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %s = math.sin %f : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %0 = linalg.add ins(%x, %a : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %1 = linalg.mul ins(%0, %b : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %2 = linalg.div ins(%1, %c : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %3 = linalg.add ins(%2, %p : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %3 : tensor<3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      b: "0x040000000000803F0000004000004040"
    }
  }
#-}
