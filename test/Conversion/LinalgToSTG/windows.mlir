// RUN: stg-opt %s --split-input-file --stg-import-linalg | FileCheck %s

// Convolutions and poolings, of any layout, have positions between batch and channels.

// A weight for one channel of each: padded on both sides, so that positions stay.
// CHECK-LABEL: func.func @depthwise
// CHECK-SAME: !stg.tensor<[B, Y, X, C], bf16>
// CHECK: %[[W:.*]] = stg.param "w" : !stg.tensor<[3, 3, 1, C], bf16>
// CHECK-NEXT: %[[Y:.*]] = stg.conv %arg0, %[[W]] {grouped, padding = array<i64: 1, 1>, strides = array<i64: 1, 1>} : {{.*}} -> !stg.tensor<[B, Y, X, C], bf16>
// CHECK-NEXT: return %[[Y]]
func.func @depthwise(%x: tensor<4x16x16x8xbf16> {stg.dims = ["B", "Y", "X", "C"]}, %w: tensor<3x3x8xbf16> {stg.param = "w"}) -> tensor<4x16x16x8xbf16> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<4x16x16x8xbf16> to tensor<4x18x18x8xbf16>
  %e = tensor.empty() : tensor<4x16x16x8xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x16x16x8xbf16>) -> tensor<4x16x16x8xbf16>
  %y = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %w : tensor<4x18x18x8xbf16>, tensor<3x3x8xbf16>) outs(%f : tensor<4x16x16x8xbf16>) -> tensor<4x16x16x8xbf16>
  return %y : tensor<4x16x16x8xbf16>
}

// -----

// Groups, as torch-mlir has them; 7 is not 16/2, so it is a symbol of its own.
// CHECK: stg.symbol @d3 = 7
// CHECK-LABEL: func.func @grouped
// CHECK-SAME: !stg.tensor<[B, Y, X, d0*d1], bf16>
// CHECK: %[[W:.*]] = stg.param "w" : !stg.tensor<[3, 3, d1, d0*d2], bf16>
// CHECK-NEXT: %[[B:.*]] = stg.param "b" : !stg.tensor<[d0, d2], bf16>
// CHECK-NEXT: %[[Y:.*]] = stg.conv %arg0, %[[W]] {grouped, padding = array<i64: 0, 0>, strides = array<i64: 2, 2>} : {{.*}} -> !stg.tensor<[B, d3, d4, d0*d2], bf16>
// CHECK-NEXT: %[[R:.*]] = stg.rearrange "abc(de)->abcde" %[[Y]]
// CHECK-NEXT: %[[S:.*]] = stg.bias_add %[[R]], %[[B]] : {{.*}}
// CHECK-NEXT: %[[Z:.*]] = stg.rearrange "abcde->adebc" %[[S]]
// CHECK-NEXT: return %[[Z]]
func.func @grouped(%x: tensor<4x8x16x16xbf16> {stg.dims = ["B", "C", "Y", "X"]}, %w: tensor<12x4x3x3xbf16> {stg.param = "w"}, %b: tensor<12xbf16> {stg.param = "b"}) -> tensor<4x12x7x7xbf16> {
  %zero = arith.constant 0.0 : bf16
  %x2 = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [4, 2, 4, 16, 16] : tensor<4x8x16x16xbf16> into tensor<4x2x4x16x16xbf16>
  %w2 = tensor.expand_shape %w [[0, 1], [2], [3], [4]] output_shape [2, 6, 4, 3, 3] : tensor<12x4x3x3xbf16> into tensor<2x6x4x3x3xbf16>
  %e = tensor.empty() : tensor<4x12x7x7xbf16>
  %bb = linalg.broadcast ins(%b : tensor<12xbf16>) outs(%e : tensor<4x12x7x7xbf16>) dimensions = [0, 2, 3]
  %e2 = tensor.expand_shape %bb [[0], [1, 2], [3], [4]] output_shape [4, 2, 6, 7, 7] : tensor<4x12x7x7xbf16> into tensor<4x2x6x7x7xbf16>
  %y = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%x2, %w2 : tensor<4x2x4x16x16xbf16>, tensor<2x6x4x3x3xbf16>) outs(%e2 : tensor<4x2x6x7x7xbf16>) -> tensor<4x2x6x7x7xbf16>
  %r = tensor.collapse_shape %y [[0], [1, 2], [3], [4]] : tensor<4x2x6x7x7xbf16> into tensor<4x12x7x7xbf16>
  return %r : tensor<4x12x7x7xbf16>
}

// -----

// Frames of sound, every second one; sums of fp32 that are rounded to bf16.
// CHECK-LABEL: func.func @frames
// CHECK-SAME: !stg.tensor<[B, S, M], bf16>
// CHECK: %[[W:.*]] = stg.param "w" : !stg.tensor<[3, M, D], bf16>
// CHECK-NEXT: %[[B:.*]] = stg.param "b" : !stg.tensor<[D], bf16>
// CHECK-NEXT: %[[Y:.*]] = stg.conv %arg0, %[[W]] {padding = array<i64: 1>, strides = array<i64: 2>} : {{.*}} -> !stg.tensor<[B, S/2, D], bf16>
// CHECK-NEXT: %[[Z:.*]] = stg.bias_add %[[Y]], %[[B]]
// CHECK-NEXT: return %[[Z]]
func.func @frames(%x: tensor<4x8x30xbf16> {stg.dims = ["B", "M", "S"]}, %w: tensor<16x8x3xbf16> {stg.param = "w", stg.dims = ["D", "", ""]}, %b: tensor<16xbf16> {stg.param = "b"}) -> tensor<4x15x16xbf16> {
  %zero = arith.constant 0.0 : bf16
  %zf = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : bf16
  } : tensor<4x8x30xbf16> to tensor<4x8x32xbf16>
  %e = tensor.empty() : tensor<4x16x15xf32>
  %f = linalg.fill ins(%zf : f32) outs(%e : tensor<4x16x15xf32>) -> tensor<4x16x15xf32>
  %y = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<2> : vector<1xi64>} ins(%p, %w : tensor<4x8x32xbf16>, tensor<16x8x3xbf16>) outs(%f : tensor<4x16x15xf32>) -> tensor<4x16x15xf32>
  %e3 = tensor.empty() : tensor<4x16x15xbf16>
  %t = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(b)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %b : tensor<4x16x15xf32>, tensor<16xbf16>) outs(%e3 : tensor<4x16x15xbf16>) {
  ^bb0(%a: f32, %bi: bf16, %o: bf16):
    %tr = arith.truncf %a : f32 to bf16
    %s = arith.addf %tr, %bi : bf16
    linalg.yield %s : bf16
  } -> tensor<4x16x15xbf16>
  %e4 = tensor.empty() : tensor<4x15x16xbf16>
  %z = linalg.transpose ins(%t : tensor<4x16x15xbf16>) outs(%e4 : tensor<4x15x16xbf16>) permutation = [0, 2, 1]
  return %z : tensor<4x15x16xbf16>
}

// -----

// A sum over windows that is divided by their elements is a mean.
// CHECK-LABEL: func.func @average
// CHECK-NEXT: %[[Y:.*]] = stg.pool mean %arg0 {padding = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : !stg.tensor<[B, Y, X, C], bf16> -> !stg.tensor<[B, Y/2, X/2, C], bf16>
// CHECK-NEXT: %[[Z:.*]] = stg.rearrange "abcd->adbc" %[[Y]]
// CHECK-NEXT: return %[[Z]]
func.func @average(%x: tensor<4x8x16x16xbf16> {stg.dims = ["B", "C", "Y", "X"]}) -> tensor<4x8x8x8xbf16> {
  %zero = arith.constant 0.0 : bf16
  %four = arith.constant 4.0 : bf16
  %win = tensor.empty() : tensor<2x2xbf16>
  %e = tensor.empty() : tensor<4x8x8x8xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x8x8x8xbf16>) -> tensor<4x8x8x8xbf16>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%x, %win : tensor<4x8x16x16xbf16>, tensor<2x2xbf16>) outs(%f : tensor<4x8x8x8xbf16>) -> tensor<4x8x8x8xbf16>
  %t = linalg.generic {indexing_maps = [affine_map<(a,b,c,d)->(a,b,c,d)>, affine_map<(a,b,c,d)->(a,b,c,d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<4x8x8x8xbf16>) outs(%e : tensor<4x8x8x8xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %s = arith.divf %a, %four : bf16
    linalg.yield %s : bf16
  } -> tensor<4x8x8x8xbf16>
  return %t : tensor<4x8x8x8xbf16>
}

// -----

// More behind than before: padded by itself. So (17 - 3)/2 + 1 = 8 is half of 16.
// CHECK-LABEL: func.func @uneven
// CHECK-NEXT: %[[W:.*]] = stg.param "w" : !stg.tensor<[3, 3, C, d0], bf16>
// CHECK-NEXT: %[[A:.*]] = stg.pad dim 1 %arg0 {from = #sym.expr<0>} : !stg.tensor<[B, Y, X, C], bf16> -> !stg.tensor<[B, Y + 1, X, C], bf16>
// CHECK-NEXT: %[[P:.*]] = stg.pad dim 2 %[[A]] {from = #sym.expr<0>} : {{.*}} -> !stg.tensor<[B, Y + 1, X + 1, C], bf16>
// CHECK-NEXT: %[[Y:.*]] = stg.conv %[[P]], %[[W]] {padding = array<i64: 0, 0>, strides = array<i64: 2, 2>} : {{.*}} -> !stg.tensor<[B, Y/2, X/2, d0], bf16>
// CHECK-NEXT: return %[[Y]]
func.func @uneven(%x: tensor<4x16x16x8xbf16> {stg.dims = ["B", "Y", "X", "C"]}, %w: tensor<3x3x8x5xbf16> {stg.param = "w"}) -> tensor<4x8x8x5xbf16> {
  %zero = arith.constant 0.0 : bf16
  %p = tensor.pad %x low[0, 0, 0, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : bf16
  } : tensor<4x16x16x8xbf16> to tensor<4x17x17x8xbf16>
  %e = tensor.empty() : tensor<4x8x8x5xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x8x8x5xbf16>) -> tensor<4x8x8x5xbf16>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%p, %w : tensor<4x17x17x8xbf16>, tensor<3x3x8x5xbf16>) outs(%f : tensor<4x8x8x5xbf16>) -> tensor<4x8x8x5xbf16>
  return %y : tensor<4x8x8x5xbf16>
}

// -----

// Patches of an image are tokens behind one for its class: 17 = 1 + 4*4.
// CHECK-LABEL: func.func @patches
// CHECK-SAME: !stg.tensor<[B, Y, X, CI], bf16>
// CHECK: %[[W:.*]] = stg.param "w" : !stg.tensor<[8, 8, CI, D], bf16>
// CHECK-NEXT: %[[C:.*]] = stg.param "cls" : !stg.tensor<[D], bf16>
// CHECK-NEXT: %[[P:.*]] = stg.param "pos" : !stg.tensor<[X*Y/64 + 1, D], bf16>
// CHECK-NEXT: %[[Y:.*]] = stg.conv %arg0, %[[W]] {padding = array<i64: 0, 0>, strides = array<i64: 8, 8>} : {{.*}} -> !stg.tensor<[B, Y/8, X/8, D], bf16>
// CHECK-NEXT: %[[R:.*]] = stg.broadcast dim 0 %[[C]] : !stg.tensor<[D], bf16> -> !stg.tensor<[B, D], bf16>
// CHECK-NEXT: %[[T:.*]] = stg.rearrange "ab->a()b" %[[R]]
// CHECK-NEXT: %[[J:.*]] = stg.rearrange "abcd->a(bc)d" %[[Y]]
// CHECK-NEXT: %[[S:.*]] = stg.concat dim 1 ordered %[[T]], %[[J]] : {{.*}} -> !stg.tensor<[B, X*Y/64 + 1, D], bf16>
// CHECK-NEXT: %[[Z:.*]] = stg.bias_add %[[S]], %[[P]]
// CHECK-NEXT: return %[[Z]]
func.func @patches(%x: tensor<4x3x32x32xbf16> {stg.dims = ["B", "CI", "Y", "X"]}, %w: tensor<16x3x8x8xbf16> {stg.param = "w", stg.dims = ["D", "", "", ""]}, %cls: tensor<1x1x16xbf16> {stg.param = "cls"}, %pos: tensor<1x17x16xbf16> {stg.param = "pos"}) -> tensor<4x17x16xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4x16x4x4xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x16x4x4xbf16>) -> tensor<4x16x4x4xbf16>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<8> : vector<2xi64>} ins(%x, %w : tensor<4x3x32x32xbf16>, tensor<16x3x8x8xbf16>) outs(%f : tensor<4x16x4x4xbf16>) -> tensor<4x16x4x4xbf16>
  %c = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<4x16x4x4xbf16> into tensor<4x16x16xbf16>
  %e4 = tensor.empty() : tensor<4x16x16xbf16>
  %z = linalg.transpose ins(%c : tensor<4x16x16xbf16>) outs(%e4 : tensor<4x16x16xbf16>) permutation = [0, 2, 1]
  %e5 = tensor.empty() : tensor<4x1x16xbf16>
  %cc = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(0,b,c)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cls : tensor<1x1x16xbf16>) outs(%e5 : tensor<4x1x16xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<4x1x16xbf16>
  %t = tensor.concat dim(1) %cc, %z : (tensor<4x1x16xbf16>, tensor<4x16x16xbf16>) -> tensor<4x17x16xbf16>
  %e6 = tensor.empty() : tensor<4x17x16xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(0,b,c)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%t, %pos : tensor<4x17x16xbf16>, tensor<1x17x16xbf16>) outs(%e6 : tensor<4x17x16xbf16>) {
  ^bb0(%a: bf16, %bi: bf16, %o: bf16):
    %s = arith.addf %a, %bi : bf16
    linalg.yield %s : bf16
  } -> tensor<4x17x16xbf16>
  return %r : tensor<4x17x16xbf16>
}

// -----

// A maximum over all positions is none of windows; a sum is a mean where it is divided.
// CHECK-LABEL: func.func @whole
// CHECK-SAME: !stg.tensor<[B, Y, X, C], bf16>
// CHECK-NEXT: %[[R:.*]] = stg.rearrange "abcd->a(bc)d" %arg0 : !stg.tensor<[B, Y, X, C], bf16> -> !stg.tensor<[B, X*Y, C], bf16>
// CHECK-NEXT: %[[M:.*]] = stg.mean dim 1 %[[R]] : !stg.tensor<[B, X*Y, C], bf16>
// CHECK-NEXT: return %[[M]]
func.func @whole(%x: tensor<4x8x6x6xbf16> {stg.dims = ["B", "C", "Y", "X"]}) -> tensor<4x8xbf16> {
  %zero = arith.constant 0.0 : bf16
  %count = arith.constant 36.0 : bf16
  %window = tensor.empty() : tensor<6x6xbf16>
  %e = tensor.empty() : tensor<4x8x1x1xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x8x1x1xbf16>) -> tensor<4x8x1x1xbf16>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %window : tensor<4x8x6x6xbf16>, tensor<6x6xbf16>) outs(%f : tensor<4x8x1x1xbf16>) -> tensor<4x8x1x1xbf16>
  %c = tensor.collapse_shape %y [[0], [1, 2, 3]] : tensor<4x8x1x1xbf16> into tensor<4x8xbf16>
  %r = tensor.empty() : tensor<4x8xbf16>
  %s = linalg.fill ins(%count : bf16) outs(%r : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %z = linalg.div ins(%c, %s : tensor<4x8xbf16>, tensor<4x8xbf16>) outs(%r : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %z : tensor<4x8xbf16>
}
