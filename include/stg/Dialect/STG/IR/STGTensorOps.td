//===- STGTensorOps.td - Shapes, convolutions, positions ---*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What images, sounds and diffusion need beside products, norms and attention:
// other shapes of a tensor, a vector for many rows, sums along a dimension, scalar
// functions, convolutions, pooling, maps of another resolution, norms over positions,
// and scores of attention by relative position. This file is part of STGOps.td, which includes it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGTENSOROPS
#define STG_DIALECT_STG_IR_STGTENSOROPS

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def RearrangeOp : STG_ExplicitOp<"rearrange", [STG_Differentiable,
    DeclareOpInterfaceMethods<CostOpInterface, ["isView"]>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "the same elements under another shape, or in another order";
  let description = [{
    The pattern names what the dimensions of operand and result run over. A dimension of
    several letters, in parentheses, is over all of them, the first one slowest; one that is
    over none, `()`, has the extent 1. So a pattern cuts dimensions, joins them and changes
    their order:

    ```mlir
    %p = stg.rearrange "bhiwjc->b(hw)(ijc)" %image : !stg.tensor<[B, Y, P, X, P, C], bf16> -> !stg.tensor<[B, N = X*Y, _ = C*P^2], bf16>
    %m = stg.rearrange "b(nk)d->bn(kd)" %x : !stg.tensor<[B, N, D], bf16> -> !stg.tensor<[B, N/4, 4*D], bf16>
    ```
    Where the letters have one order on both sides it is a view. Otherwise elements are
    copied: no operations; all are read and written. A letter that is a dimension by itself on
    both sides is one dimension.

    Constraints: (C1) the pattern has two sides of lower-case letters, each letter once on
    each side; (C2) it has as many dimensions as operand and result; (C3) a letter that is a
    dimension on both sides has one extent and name; (C4) operand and result have as many
    elements, of one type.
  }];
  let args = (ins STG_Tensor:$input, StrAttr:$pattern);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"String", "pattern">];
}

def SliceOp : STG_ExplicitOp<"slice", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "a copy of a part of one dimension";
  let description = [{
    The elements `from`, `from` + 1, ... of the dimension, as many as the result has. What is
    copied is read and written; no operations. `stg.split` gives parts without a copy, which
    live as long as the whole.

    ```mlir
    %first = stg.slice dim 1 %x {from = #sym.expr<0>} : !x -> !stg.tensor<[B, 1, D], bf16>
    ```
    Constraints: (C1) the result has the operand's element type and its dimensions, but for
    the extent of this one; (C2) where they are numbers, the part lies in the dimension.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim, Sym_ExprAttr:$from);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "dim">];
}

def PadOp : STG_ExplicitOp<"pad", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "a tensor between zeros along one dimension";
  let description = [{
    The inverse of `stg.slice`, and its gradient: the operand's elements are those from
    `from` on, all others are zero. No operations; the operand is read, the result written.

    ```mlir
    %y = stg.pad dim 1 %x {from = #sym.expr<0>} : !x -> !stg.tensor<[B, S + 2, D], bf16>
    ```
    Constraints: those of `stg.slice` with operand and result exchanged.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim, Sym_ExprAttr:$from);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "dim">];
}

//===----------------------------------------------------------------------===//
// Along dimensions
//===----------------------------------------------------------------------===//

/// A sum along one dimension.
class STG_ReduceDimOp<string mnemonic, list<Trait> traits = []>
    : STG_InferredOp<mnemonic, !listconcat([STG_Differentiable], traits)> {
  let args = (ins STG_Tensor:$input, I64Attr:$dim);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_Leading<"Int", "dim">];
}

def SumOp : STG_ReduceDimOp<"sum", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "the sum along one dimension";
  let description = [{
    Operations: 1 per element of the operand. Over a dimension that is divided it is a partial
    sum.

    ```mlir
    %y = stg.sum dim 1 %x : !stg.tensor<[B, N, D], bf16>
    ```
    Constraints: (C1) the operand has the dimension.
  }];
}

def MeanOp : STG_ReduceDimOp<"mean", [STG_LinearIn<[0]>]> {
  let summary = "the mean along one dimension";
  let description = [{
    Operations: 1 per element of the operand and 1 per element of the result. The dimension is
    whole on every device. The gradient is `stg.broadcast` of dy times a constant, which is
    counted with it: no operations.

    ```mlir
    %y = stg.mean dim 1 %x : !stg.tensor<[B, N, D], bf16>
    ```
    Constraints: (C1) the operand has the dimension.
  }];
}

def MulAlongOp : STG_InferredOp<"mul_along", [STG_Differentiable, STG_LinearIn<[0, 1]>]> {
  let summary = "multiplies each slice of a tensor with a smaller one";
  let description = [{
    The second operand has the dimensions `dims` of the first, in their order, and is the same
    along all others: the scale and the gate of an adaptive norm, one vector for all tokens of
    a sample, or the temperature of logits (`dims` is empty). `stg.bias_add` adds so.
    Operations: 1 per element of the result.

    ```mlir
    %y = stg.mul_along %x, %scale {dims = array<i64: 0, 2>} : !stg.tensor<[B, N, D], bf16>, !stg.tensor<[B, D], bf16>
    ```
    Constraints: (C1) the dimensions ascend and are some of the first operand's; (C2) the
    second operand has these, and the element type of the first.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$vector,
                  DenseI64ArrayAttr:$dims);
  let results = (outs STG_Tensor:$result);
}

def MulAlongGradOp : STG_ExplicitOp<"mul_along_grad", [STG_LinearIn<[0, 1]>]> {
  let summary = "gradient of stg.mul_along with respect to its second operand";
  let description = [{
    The product of the first operand and `dy`, summed along all dimensions that are not in
    `dims`. Operations: 2 per element of `dy`.

    Constraints: (C1) the dimensions ascend and are some of the operand's; (C2) the result
    has these; (C3) `dy` has the shape of the operand.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$dy, DenseI64ArrayAttr:$dims);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

def STG_ElementwiseKind : I32EnumAttr<"ElementwiseKind", "a scalar function", [
    I32EnumAttrCase<"Exp", 0, "exp">, I32EnumAttrCase<"Log", 1, "log">,
    I32EnumAttrCase<"Abs", 2, "abs">, I32EnumAttrCase<"Neg", 3, "neg">,
    I32EnumAttrCase<"Reciprocal", 4, "reciprocal">,
    I32EnumAttrCase<"Sqrt", 5, "sqrt">, I32EnumAttrCase<"Rsqrt", 6, "rsqrt">,
    I32EnumAttrCase<"Square", 7, "square">, I32EnumAttrCase<"Erf", 8, "erf">,
    I32EnumAttrCase<"Sin", 9, "sin">, I32EnumAttrCase<"Cos", 10, "cos">,
    I32EnumAttrCase<"Sub", 11, "sub">, I32EnumAttrCase<"Div", 12, "div">,
    I32EnumAttrCase<"Max", 13, "max">, I32EnumAttrCase<"Min", 14, "min">,
    I32EnumAttrCase<"Pow", 15, "pow">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_ElementwiseKindAttr
    : EnumAttr<STG_Dialect, STG_ElementwiseKind, "elementwise_kind">;

def ElementwiseOp : STG_PointwiseOp<"elementwise", "1", "", [STG_Differentiable]> {
  let summary = "a scalar function of each element";
  let description = [{
    The last five functions have two operands, the others one. Sums and products are
    `stg.add` and `stg.mul`, whose partial sums go through; functions that networks name are
    `stg.activation`. Operations: 1 per element, whatever the function is. As in `stg.add`, an
    operand repeats itself along a dimension without a name of extent 1. The gradient needs
    what `stg.elementwise_grad` lists.

    ```mlir
    %e = stg.elementwise exp %x : !x
    %d = stg.elementwise sub %x, %m : !stg.tensor<[B, S], f32>, !stg.tensor<[B, 1], f32>
    ```
    Constraints: (C1) there are as many operands as the function has; (C2) operands have the
    same shape and element type, but for dimensions along which one of them repeats itself;
    (C3) they are floats.
  }];
  let broadcasts = 1;
  let args = (ins STG_Tensor:$lhs, Optional<STG_Tensor>:$rhs,
                  STG_ElementwiseKindAttr:$kind);
  let leading = [STG_EnumLeading<"ElementwiseKind", "kind">];
  let extraClassDeclaration = [{
    /// What the gradient with respect to the operand `of` reads.
    ::llvm::SmallVector<::mlir::Value> getSaved(unsigned of);
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                        ::mlir::TypeRange rhs) {
      return ::stg::detail::equalUpToSharding(lhs, rhs);
    }
  }];
  let hasVerifier = 1;
}

def ElementwiseGradOp : STG_PointwiseOp<"elementwise_grad",
    "getElementwiseGradOperations(getKind(), getOf())", "", [STG_LinearIn<[0]>]> {
  let summary = "gradient of stg.elementwise with respect to one operand";
  let description = [{
    The derivative with respect to the operand `of`, times the gradient of the result, which
    comes first. Then come the values that it is made of (x and z are the operands, y is the
    result), with so many operations per element:

    | function | of 0 | of 1 |
    |---|---|---|
    | exp | y: 1 | |
    | log, abs | x: 1 | |
    | neg | none: 1 | |
    | reciprocal | y: 3 | |
    | sqrt | y: 2 | |
    | rsqrt | y: 4 | |
    | square, sin | x: 2 | |
    | cos | x: 3 | |
    | erf | x: 5 | |
    | sub | is dy itself | none: 1 |
    | div | z: 1 | y, z: 3 |
    | max, min | x, z: 2 | x, z: 2 |
    | pow | x, z: 4 | x, y: 3 |

    Constraints: (C1) `of` is an operand of the function; (C2) there are as many values as the
    table says; (C3) they have the shape and element type of `dy`, but for dimensions along
    which they repeat themselves.
  }];
  let broadcasts = 1;
  let args = (ins STG_Tensor:$dy, Variadic<STG_Tensor>:$saved,
                  STG_ElementwiseKindAttr:$kind, I64Attr:$of);
  let leading = [STG_EnumLeading<"ElementwiseKind", "kind">];
  let hasVerifier = 1;
}

def MaskScoresOp : STG_PointwiseOp<"mask_scores", "1", "", [STG_Differentiable,
    STG_LinearIn<[0]>]> {
  let summary = "hides keys from queries";
  let description = [{
    The last two dimensions are queries and keys. Scores of keys that the query does not see
    become negative infinity: those behind it, and with a `window` those that are too far
    before it. `stg.attention` masks without touching memory; this op is for scores that are
    there. Operations: 1 per element. The gradient is zero in the same places.

    ```mlir
    %m = stg.mask_scores causal %s : !stg.tensor<[B, H, S, S], f32>
    ```
    Constraints: (C1) the rank is at least 2; (C2) the mask is causal; (C3) a window is at
    least 1.
  }];
  let args = (ins STG_Tensor:$input, STG_AttentionMaskAttr:$mask,
                  OptionalAttr<Sym_ExprAttr>:$window);
  let leading = [STG_EnumLeading<"AttentionMask", "mask">];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Convolution and pooling
//===----------------------------------------------------------------------===//

def ConvOp : STG_ExplicitOp<"conv", [STG_Differentiable, STG_LinearIn<[0, 1]>]> {
  let summary = "convolution over any number of dimensions";
  let description = [{
    The input is [batch, positions ..., channels], the weight [window ..., channels of a
    group, outputs], the result [batch, positions ..., outputs]. Each position of the result
    sees a window of the input; windows are `strides` apart, and `padding` zeros are on both
    sides of each dimension. With `grouped` the input has more channels than the weight: it and
    the outputs are cut into groups, each of which sees its own channels. A weight for one
    channel is a depthwise convolution.

    Operations: 2 x the elements of the result x those of the window x the channels of a
    group; zeros count. It is a matrix product, and its gradients are two.

    ```mlir
    %y = stg.conv %x, %w {strides = array<i64: 2>, padding = array<i64: 1>}
      : !stg.tensor<[B, S, C], bf16>, !stg.tensor<[3, C, D], bf16> -> !stg.tensor<[B, S/2, D], bf16>
    ```
    Constraints: (C1) input and result have one rank, at least 3, and the weight as many
    dimensions; (C2) batches agree, outputs are those of the weight, and so are channels, or, if
    grouped, a multiple of them; (C3) there is a stride of at least 1 and a padding of at least
    0 for each position; (C4) where they are numbers, the result has
    floor((positions + 2*padding - window)/stride) + 1 positions; (C5) element types agree.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$weight,
                  DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
                  UnitAttr:$grouped);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def ConvInputGradOp : STG_ExplicitOp<"conv_input_grad", [STG_LinearIn<[0, 1]>]> {
  let summary = "gradient of stg.conv with respect to its input";
  let description = [{
    The operations of the forward pass. Attributes are those of `stg.conv`.

    Constraints: those of `stg.conv` with the result as the input.
  }];
  let args = (ins STG_Tensor:$weight, STG_Tensor:$dy,
                  DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
                  UnitAttr:$grouped);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def ConvWeightGradOp : STG_ExplicitOp<"conv_weight_grad", [STG_LinearIn<[0, 1]>]> {
  let summary = "gradient of stg.conv with respect to its weight";
  let description = [{
    The operations of the forward pass. Attributes are those of `stg.conv`.

    Constraints: those of `stg.conv` with the result as the weight, but for its element type.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$dy,
                  DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
                  UnitAttr:$grouped);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def STG_Pooling : I32EnumAttr<"Pooling", "what a window becomes", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Mean", 1, "mean">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_PoolingAttr : EnumAttr<STG_Dialect, STG_Pooling, "pooling">;

def PoolOp : STG_ExplicitOp<"pool", [STG_Differentiable]> {
  let summary = "the maximum or the mean of windows";
  let description = [{
    Input and result are [batch, positions ..., channels]. Operations: 1 per element of the
    result and of its window. The gradient of a mean needs nothing saved, that of a maximum
    the input.

    ```mlir
    %y = stg.pool mean %x {window = array<i64: 4, 4>, strides = array<i64: 4, 4>, padding = array<i64: 0, 0>}
      : !stg.tensor<[B, Y, X, D], bf16> -> !stg.tensor<[B, Y/4, X/4, D], bf16>
    ```
    Constraints: (C1) input and result have one rank, at least 3, and agree in batch,
    channels and element type; (C2) there is a window and a stride of at least 1 and a padding
    of at least 0 for each position; (C3) where they are numbers, the result has
    floor((positions + 2*padding - window)/stride) + 1 positions.
  }];
  let args = (ins STG_Tensor:$input, STG_PoolingAttr:$kind,
                  DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                  DenseI64ArrayAttr:$padding);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_EnumLeading<"Pooling", "kind">];
}

def PoolGradOp : STG_ExplicitOp<"pool_grad", [STG_LinearIn<[0]>]> {
  let summary = "gradient of stg.pool";
  let description = [{
    From the gradient of the result and, of a maximum, the input. Operations: 1 per element of
    `dy` and of its window.

    Constraints: (C1) those of `stg.pool` with the result as the input; (C2) the input is
    there for a maximum, and has the shape of the result.
  }];
  let args = (ins STG_Tensor:$dy, Optional<STG_Tensor>:$input,
                  STG_PoolingAttr:$kind, DenseI64ArrayAttr:$window,
                  DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_EnumLeading<"Pooling", "kind">];
}

//===----------------------------------------------------------------------===//
// Maps of another resolution
//===----------------------------------------------------------------------===//

def STG_Resizing : I32EnumAttr<"Resizing", "what a position of another map is made of", [
    I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_ResizingAttr : EnumAttr<STG_Dialect, STG_Resizing, "resizing">;

def ResizeOp : STG_ExplicitOp<"resize", [STG_Differentiable, STG_LinearIn<[0]>]> {
  let summary = "a map with more or fewer positions";
  let description = [{
    Input and result are [batch, positions ..., channels]; the result has the positions that
    its type says, more or fewer, in each dimension. Each is a copy of the `nearest` position
    of the input, or a `linear` interpolation between those on both sides: in one dimension of
    two, in two dimensions of four. Pixels of a map are not told apart by whether corners or
    areas are aligned.

    Operations: none of `nearest`, which reads an element for each that it writes. Of `linear`,
    with n dimensions whose extent changes, 3 (2^n - 1) per element of the result: a difference,
    a product and a sum for each two elements that become one. The gradient needs nothing saved.
    Windows that have one weight for all positions are a `stg.conv`, means of whole windows a
    `stg.pool`.

    ```mlir
    %y = stg.resize nearest %x : !stg.tensor<[B, Y, X, C], bf16> -> !stg.tensor<[B, 2*Y, 2*X, C], bf16>
    %z = stg.resize linear %y : !stg.tensor<[B, 2*Y, 2*X, C], bf16> -> !stg.tensor<[B, R, R, C], bf16>
    ```
    Constraints: (C1) input and result have one rank, at least 3, and agree in batch, channels
    and element type; (C2) where they are numbers, positions are at least 1.
  }];
  let args = (ins STG_Tensor:$input, STG_ResizingAttr:$kind);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_EnumLeading<"Resizing", "kind">];
}

def ResizeGradOp : STG_ExplicitOp<"resize_grad", [STG_LinearIn<[0]>]> {
  let summary = "gradient of stg.resize";
  let description = [{
    Adds each element of `dy` to those that it was made of. Operations per element of `dy`: of
    `nearest` 1; of `linear`, with n dimensions whose extent changes, 3 * 2^n - 2: products with
    both weights of each dimension, and a sum for each of the 2^n elements.

    Constraints: those of `stg.resize` with the result as the input.
  }];
  let args = (ins STG_Tensor:$dy, STG_ResizingAttr:$kind);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_EnumLeading<"Resizing", "kind">];
}

//===----------------------------------------------------------------------===//
// Normalization over positions
//===----------------------------------------------------------------------===//

def BatchNormOp : STG_InferredOp<"batch_norm", [STG_Differentiable]> {
  let summary = "normalization of each channel over samples and positions";
  let description = [{
    The input is [batch, positions ..., channels]; weight and bias are vectors of the channels.
    The statistics are those of the samples that a device has at a time, of its part of a
    micro-batch, as where nothing synchronizes them: a divided batch communicates nothing.
    They are not kept: the backward pass computes them again from the input, which it reads
    anyway. Running averages, which training does not read, are not updated. Operations: 7 per
    element and 4 per channel.

    ```mlir
    %y = stg.batch_norm %x, %w, %b : !stg.tensor<[B, Y, X, C], bf16>, !stg.tensor<[C], bf16>, !stg.tensor<[C], bf16>
    ```
    Constraints: (C1) the input has at least rank 2; (C2) weight and bias have the extent of
    its last dimension.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$weight, STG_Tensor:$bias);
  let results = (outs STG_Tensor:$result);
}

def BatchNormGradOp : STG_ExplicitOp<"batch_norm_grad", [STG_MadeIfRead]> {
  let summary = "gradient of stg.batch_norm with respect to input, weight and bias";
  let description = [{
    Operations: 15 per element and 6 per channel. What nobody reads is not computed: of the
    15, 5 and 4 per channel are for the normalized value, which `dx` and `dw` need, 7 and 2
    per channel are for `dx`, 2 for `dw` and 1 for `db`.

    Constraints: (C1) as of `stg.batch_norm`; (C2) `dx` and `dy` have the input's shape, `dw`
    and `db` that of the weight.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$weight, STG_Tensor:$dy);
  let results = (outs STG_Tensor:$dx, STG_Tensor:$dw, STG_Tensor:$db);
  let hasVerifier = 1;
}

def GroupNormOp : STG_InferredOp<"group_norm", [STG_Differentiable]> {
  let summary = "normalization of groups of channels over the positions of a sample";
  let description = [{
    The input is [batch, positions ..., channels]; weight and bias are vectors of the channels,
    which are cut into so many `groups` of equally many. Gives the normalized, scaled and
    shifted tensor and, of each sample and group and in fp32, the mean and the reciprocal
    standard deviation, which the backward pass needs. Positions and channels are whole on every
    device. Operations: 7 per element, and 4 per group of a sample.

    ```mlir
    %y, %mean, %rstd = stg.group_norm %x, %w, %b {groups = #sym.expr<32>} : !stg.tensor<[B, Y, X, C], bf16>, !stg.tensor<[C], bf16>, !stg.tensor<[C], bf16>
    ```
    Constraints: (C1) the input has at least rank 2; (C2) weight and bias have the extent of
    its last dimension; (C3) where they are numbers, groups are at least 1 and divide the
    channels.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$weight, STG_Tensor:$bias,
                  Sym_ExprAttr:$groups);
  let results = (outs STG_Tensor:$result, STG_Tensor:$mean, STG_Tensor:$rstd);
}

def GroupNormGradOp : STG_ExplicitOp<"group_norm_grad", [STG_MadeIfRead, STG_LinearIn<[4]>]> {
  let summary = "gradient of stg.group_norm with respect to input, weight and bias";
  let description = [{
    Operations: 12 per element and 2 per group of a sample. What nobody reads is not computed:
    of the 12, 2 are for `dw`, 1 is for `db`, 7 and those per group are for `dx`, and 2 for
    `dx` or `dw`.

    Constraints: (C1) as of `stg.group_norm`; (C2) `dx` and `dy` have the input's shape, `dw`
    and `db` that of the weight; (C3) `mean` and `rstd` have a number for each sample and group.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$weight, STG_Tensor:$mean,
                  STG_Tensor:$rstd, STG_Tensor:$dy, Sym_ExprAttr:$groups);
  let results = (outs STG_Tensor:$dx, STG_Tensor:$dw, STG_Tensor:$db);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

def RelativeBiasOp : STG_ExplicitOp<"relative_bias", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "what attention adds to scores, by how far apart query and key are";
  let description = [{
    Looks up, for each query, key and head, the bucket of their distance in a table [buckets,
    heads]; the result [heads, queries, keys] is an operand of `stg.attention`. No operations:
    it reads one element of the table for each one that it writes.

    ```mlir
    %b = stg.relative_bias %table : !stg.tensor<[N, H], bf16> -> !stg.tensor<[H, S, T = S], bf16>
    ```
    Constraints: (C1) the table has rank 2 and the result rank 3; (C2) heads and element types
    agree.
  }];
  let args = (ins STG_Tensor:$table);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def RelativeBiasGradOp : STG_ExplicitOp<"relative_bias_grad", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "gradient of stg.relative_bias";
  let description = [{
    Adds each element to that of its bucket. Operations: 1 per element of `dy`.

    Constraints: (C1) `dy` has rank 3 and the result rank 2; (C2) heads agree.
  }];
  let args = (ins STG_Tensor:$dy);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def RelativeScoresOp : STG_ExplicitOp<"relative_scores", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "scores of pairs of tokens, by how far apart they are";
  let description = [{
    The operand [..., tokens, buckets] says what each token scores each bucket of distances. The
    result [..., queries, keys] has for each query and key the score of the bucket of their
    distance: what the query scores it, or with `of_keys` what the key does. So scores of
    attention depend on a token and a relative position (DeBERTa); the sum of both is a bias of
    `stg.attention`. No operations: it reads one element for each one that it writes.

    ```mlir
    %c = stg.relative_scores %q : !stg.tensor<[B, H, S, N], bf16> -> !stg.tensor<[B, H, S, T = S], bf16>
    %p = stg.relative_scores %k {of_keys} : !stg.tensor<[B, H, S, N], bf16> -> !stg.tensor<[B, H, S, T = S], bf16>
    ```
    Constraints: (C1) operand and result have one rank, at least 2, and one element type;
    (C2) they agree in all dimensions but the last two; (C3) there are as many tokens as
    queries, or with `of_keys` as keys.
  }];
  let args = (ins STG_Tensor:$input, UnitAttr:$of_keys);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def RelativeScoresGradOp : STG_ExplicitOp<"relative_scores_grad", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "gradient of stg.relative_scores";
  let description = [{
    Adds each element to that of its token and bucket. Operations: 1 per element of `dy`.

    Constraints: those of `stg.relative_scores` with `dy` as the result and the result as the
    operand.
  }];
  let args = (ins STG_Tensor:$dy, UnitAttr:$of_keys);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

#endif // STG_DIALECT_STG_IR_STGTENSOROPS
