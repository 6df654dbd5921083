// RUN: stg-opt %s --convert-linalg-to-stg --split-input-file --verify-diagnostics

// expected-error @+1 {{argument #0 has type 'i32', expected a ranked tensor}}
func.func @scalar(%x: i32) -> i32 {
  return %x : i32
}

// -----

// expected-error @+1 {{argument #0 has names for 1 dimensions, expected 2}}
func.func @names(%x: tensor<2x3xf32> {stg.dims = ["B"]}) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}

// -----

// expected-error @+1 {{argument #1 has a dimension called 'B', and there is another 'B': [B = 3] and [B = 2] have different extents}}
func.func @twice(%x: tensor<2xf32> {stg.dims = ["B"]}, %y: tensor<3xf32> {stg.dims = ["B"]}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{argument #0 has a dimension called 'H=4 E', whose factors are no divisors of its extent}}
func.func @divisor(%x: tensor<6xf32> {stg.dims = ["H=4 E"]}) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}

// -----

// expected-error @+1 {{argument #0 has a dimension called 'H E', of which more than one factor has no extent}}
func.func @open(%x: tensor<6xf32> {stg.dims = ["H E"]}) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}

// -----

// expected-error @+1 {{has 'stg.dims' "B", expected texts, such as ["B", "S"]}}
func.func @texts(%x: tensor<6xf32> {stg.dims = "B"}) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}

// -----

// expected-error @+1 {{argument #0 is a mask, so that it cannot be a parameter}}
func.func @mask(%x: tensor<6x6xf32> {stg.mask = "causal", stg.param = "w"}) -> tensor<6x6xf32> {
  return %x : tensor<6x6xf32>
}

// -----

// expected-error @+1 {{has 'stg.mask' "some", expected "causal" or "none"}}
func.func @hides(%x: tensor<6x6xf32> {stg.mask = "some"}) -> tensor<6x6xf32> {
  return %x : tensor<6x6xf32>
}

// -----

func.func @two_names(%x: tensor<2xf32> {stg.dims = ["A"]}, %y: tensor<2xf32> {stg.dims = ["B"]}) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @+1 {{joins dimensions that do not go together: 'B' and 'A' are one dimension}}
  %z = linalg.add ins(%x, %y : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// -----

// 12 is cut into 2 x 6 and into 3 x 4: nothing says which elements belong together.
func.func @two_cuts(%x: tensor<12xf32>) -> (tensor<2x6xf32>, tensor<3x4xf32>) {
  %a = tensor.expand_shape %x [[0, 1]] output_shape [2, 6] : tensor<12xf32> into tensor<2x6xf32>
  // expected-error @+1 {{joins dimensions that do not go together: neither of [2, 6] and [3, 4] is cut as the other}}
  %b = tensor.expand_shape %x [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
  return %a, %b : tensor<2x6xf32>, tensor<3x4xf32>
}

// -----

func.func @apart(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<2x4x4x4xf32> {
  %e = tensor.empty() : tensor<2x4x4x4xf32>
  // expected-error @+1 {{reads windows of a tensor, whose elements are apart, and no op of a model has such}}
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}

// -----

func.func @minimum(%x: tensor<2x8x8x3xf32>) -> tensor<2x7x7x3xf32> {
  %e = tensor.empty() : tensor<2x7x7x3xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  // expected-error @+1 {{reads windows of a tensor, which it does not sum, and of which it takes no maximum}}
  %y = linalg.pooling_nhwc_min {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<2x8x8x3xf32>, tensor<2x2xf32>) outs(%e : tensor<2x7x7x3xf32>) -> tensor<2x7x7x3xf32>
  return %y : tensor<2x7x7x3xf32>
}

// -----

func.func @unknown_window(%x: tensor<2x8x3xf32>, %w: tensor<?x3x4xf32>, %e: tensor<2x6x4xf32>) -> tensor<2x6x4xf32> {
  // expected-error @+1 {{reads windows of a tensor, whose size is not known}}
  %y = linalg.conv_1d_nwc_wcf {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>} ins(%x, %w : tensor<2x8x3xf32>, tensor<?x3x4xf32>) outs(%e : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  return %y : tensor<2x6x4xf32>
}

// -----

// Rows and columns are one dimension.
func.func @product(%x: tensor<2x4x8x3xf32>, %w: tensor<3x3x4xf32>) -> tensor<2x30x4xf32> {
  %c = tensor.collapse_shape %x [[0], [1, 2], [3]] : tensor<2x4x8x3xf32> into tensor<2x32x3xf32>
  %e = tensor.empty() : tensor<2x30x4xf32>
  // expected-error @+1 {{slides over [4, 8], expected one dimension}}
  %y = linalg.conv_1d_nwc_wcf {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>} ins(%c, %w : tensor<2x32x3xf32>, tensor<3x3x4xf32>) outs(%e : tensor<2x30x4xf32>) -> tensor<2x30x4xf32>
  return %y : tensor<2x30x4xf32>
}

// -----

func.func @pad_by_place(%x: tensor<2x8xf32>) -> tensor<2x9xf32> {
  // expected-error @+1 {{fills with what is no constant}}
  %y = tensor.pad %x low[0, 0] high[0, 1] {
  ^bb0(%j: index, %k: index):
    %i = arith.index_cast %k : index to i32
    %v = arith.sitofp %i : i32 to f32
    tensor.yield %v : f32
  } : tensor<2x8xf32> to tensor<2x9xf32>
  return %y : tensor<2x9xf32>
}

// -----

func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @call(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has no counterpart in a model; --inline puts functions in the place of their calls}}
  %y = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @tensor_arith(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{has no counterpart in a model; --convert-elementwise-to-linalg makes it one of linalg}}
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @product(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  // expected-error @+1 {{reduces by what is neither a sum nor a maximum}}
  %y = linalg.reduce ins(%x : tensor<2x3xf32>) outs(%f : tensor<2xf32>) dimensions = [1] (%in: f32, %out: f32) {
    %0 = arith.mulf %in, %out : f32
    linalg.yield %0 : f32
  }
  return %y : tensor<2xf32>
}

// -----

func.func @mask(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %low = arith.constant -1.0e9 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ne, %i, %j : index
    // expected-error @+1 {{hides elements by their positions, and is no causal mask, with a window or without}}
    %s = arith.select %c, %in, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The second head sees nothing.
func.func @heads(%x: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %low = arith.constant -1.0e9 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %h = linalg.index 0 : index
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %k = arith.addi %h, %j : index
    %c = arith.cmpi ule, %k, %i : index
    // expected-error @+1 {{hides elements by their positions, and not alike along all other dimensions}}
    %s = arith.select %c, %in, %low : f32
    linalg.yield %s : f32
  } -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// -----

func.func @data(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    // expected-error @+1 {{compares data, which is no op of a model}}
    %c = arith.cmpf ogt, %a, %b : f32
    %s = arith.select %c, %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

func.func @strided(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is no part of one dimension, with numbers as its offset and size and a stride of 1}}
  %y = tensor.extract_slice %x[0] [4] [2] : tensor<8xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @diagonal(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{reads a diagonal, which no op of a model does}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument #0 has element type 'i1', which no tensor of a model has}}
func.func @booleans(%x: tensor<4xi1>) -> tensor<4xi1> {
  return %x : tensor<4xi1>
}

// -----

func.func @integers(%x: tensor<4x2xi32>, %w: tensor<2x3xi32>) -> tensor<4x3xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x3xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x3xi32>) -> tensor<4x3xi32>
  // expected-error @+1 {{adds up integers, which no op of a model does}}
  %y = linalg.matmul ins(%x, %w : tensor<4x2xi32>, tensor<2x3xi32>) outs(%f : tensor<4x3xi32>) -> tensor<4x3xi32>
  return %y : tensor<4x3xi32>
}

// -----

// What a tensor.empty is filled with is all that it has.
func.func @undefined(%x: tensor<4x2xf32>, %w: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  // expected-error @+1 {{reads elements of a tensor.empty, which are undefined; fill it first}}
  %y = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// What a named op computes is said at that op.
func.func @named(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{'math.round' op has no counterpart in a model}}
  %y = linalg.round ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{has no public function to convert}}
module {
}
