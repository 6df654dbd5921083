//===- STGOps.td - Operations of the stg dialect -----------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGOPS
#define STG_DIALECT_STG_IR_STGOPS

include "stg/Dialect/STG/IR/STGOpBase.td"
include "stg/Dialect/Sym/IR/Calls.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

def SymbolOp : STG_Op<"symbol", [Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "declares a symbol for use in shapes";
  let description = [{
    Every symbol that a shape, count or size uses is declared at module level. A
    value makes it a default that configurations and `--stg-bind` override.

    ```mlir
    stg.symbol @B "sequences in the global batch"
    stg.symbol @D = 4096 "hidden size"
    stg.symbol @E = D/H "head size"
    ```

    A symbol with a `coordinate` is the device's own coordinate on that axis of the mesh,
    from 0. It is never bound: what mentions it differs from device to device, and
    `--chakra-split-classes` makes one graph for each coordinate.

    ```mlir
    stg.symbol @cp_index coordinate "cp"
    ```
    Constraints: (C1) a constant value is an integer of at least 1; (C2) the value uses
    declared symbols and not the symbol itself; (C3) a coordinate has no value.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<Sym_ExprAttr>:$value,
                       OptionalAttr<StrAttr>:$coordinate,
                       OptionalAttr<StrAttr>:$description);
  let assemblyFormat = [{
    $sym_name (`=` custom<Expr>($value)^)? (`coordinate` $coordinate^)?
    ($description^)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// The symbol that is the device's coordinate on a mesh axis, or null.
    static SymbolOp lookupCoordinate(::mlir::ModuleOp module,
                                     ::llvm::StringRef axis);
    /// The same; a new one, by a name that is free, if there is none.
    static SymbolOp declareCoordinate(::mlir::ModuleOp module,
                                      ::llvm::StringRef axis);
  }];
  let hasVerifier = 1;
}

def ConfigOp : STG_Op<"config", [Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a named set of values: one model of a family";
  let description = [{
    ```mlir
    stg.config @"llama3-8b" "Llama 3 8B" {D = 4096, H = 32, K = 8, L = 32}
    stg.config @"qwen2-7b" "Qwen 2 7B" {D = 3584, H = 28, K = 4, L = 28, qkv_bias = true}
    ```
    `stg-compile llama3-8b` and `--stg-bind="config=llama3-8b"` select it.

    Constraints: (C1) every value of a symbol is an integer of at least 1 that fits 64
    bits; (C2) every name is a declared symbol or option; (C3) every value of an option is
    one that it may have.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$description,
                       DictionaryAttr:$bindings);
  let assemblyFormat = "$sym_name ($description^)? $bindings attr-dict";
  let hasVerifier = 1;
}

def MeshOp : STG_Op<"mesh", [Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the device mesh of a distributed program";
  let description = [{
    Axes from the fastest to the slowest in rank order, each with its role, and the
    sharding rules that the plan follows, most important first. A rule `DIM : AXIS` shards
    the dimensions named `DIM` of parameters, function arguments and values carried by a
    `stg.repeat` over `AXIS`; `DIM : AXIS @stream` only those of carried values (the
    residual stream).

    `joined` lists axes that one collective serves: a reduction or a gather over several
    axes of one list in a row is one collective in one group, over others it is one for
    each. Without it axes are joined whose ranks hold the same parameters (roles `data`,
    `replica`, `context`, `expert`), and axes with the role `tensor`.

    `--stg-propagate-shardings` applies the rules and takes them away. Before that no
    collectives can be inserted.

    ```mlir
    stg.mesh @mesh <tp = 8 : tensor, cp = 2 : context, dp = dp : data>
        rules [B : dp, S : cp, H : tp, F : tp, S : tp @stream]
    ```
    A module with several programs has a mesh for each, which the functions of the program
    name with `stg.program`.

    Constraints: (C1) in a module with several meshes each function with sharded values or
    collectives names one, and all of a program the same; (C2) sizes use declared symbols;
    (C3) each rule names an axis of the mesh; (C4) an axis is joined once, with axes of the
    mesh.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sym_MeshAttr:$mesh,
                       OptionalAttr<STG_RuleArrayAttr>:$rules,
                       OptionalAttr<TypedArrayAttrBase<StrArrayAttr,
                                    "lists of mesh axes">>:$joined);
  let assemblyFormat = [{
    $sym_name $mesh (`joined` custom<Joined>($joined)^)?
    (`rules` custom<Rules>($rules)^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The mesh of the program that `op` is part of: the one that the function
    /// names, or else that of the module. Null if there is none.
    static MeshOp lookup(::mlir::Operation *op);
    /// The same, where symbols are verified.
    static MeshOp lookup(::mlir::Operation *op,
                         ::mlir::SymbolTableCollection &symbolTable);
    /// The sharding rules, most important first.
    ::llvm::SmallVector<::stg::RuleAttr> getSharding();
    /// True if one collective serves both axes.
    bool areJoined(::mlir::StringAttr lhs, ::mlir::StringAttr rhs);
  }];
}

//===----------------------------------------------------------------------===//
// Values without operands
//===----------------------------------------------------------------------===//

def ParamOp : STG_TensorOp<"param", [MemoryEffects<[MemRead<STG_Parameters>]>]> {
  let summary = "a parameter";
  let description = [{
    Reads the parameter of that name: two reads are one unless the optimizer writes
    parameters between them. Inside `stg.repeat` every iteration has its
    own parameter, named by the repeat and the iteration (`layers.3.q_proj`). The
    same name twice in one scope is the same parameter: that is how weights are
    tied. So a read means something else outside of its repeat: it may not be moved out
    of a loop, and is neither free of effects nor speculatable.

    A `frozen` parameter is not trained: it has no gradient and no optimizer state, and
    where nothing else that is trained lies behind an op, that has no backward pass.

    ```mlir
    %w = stg.param "q_proj" : !stg.tensor<[D, H, E], bf16>
    %v = stg.param "patch_proj" {frozen} : !stg.tensor<[P, D], bf16>
    ```
    At the local level `layout` says what devices have of it.
    Constraints: (C1) the name is not empty and has no `,`, `=` or `/`; (C2) the layout
    is one of the type.
  }];
  let args = (ins StrAttr:$param_name, STG_Layout:$layout, UnitAttr:$frozen);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"String", "param_name">];
}

def SplatOp : STG_TensorOp<"splat", [Pure]> {
  let summary = "a constant tensor with one value";
  let description = [{
    An immediate: it occupies no memory, costs nothing and becomes no node. The
    gradient of a mean loss starts from one.

    ```mlir
    %seed = stg.splat 1/(B*S) : !stg.tensor<[B, S], f32>
    ```
  }];
  let args = (ins Sym_ExprAttr:$value);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_Leading<"Expr", "value">];
}

//===----------------------------------------------------------------------===//
// Compute ops
//===----------------------------------------------------------------------===//

def EinsumOp : STG_InferredOp<"einsum", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isMultilinear"]>]> {
  let summary = "sum of products over named indices";
  let description = [{
    Operations: 2 x the product of all index extents; 1 x where nothing is
    contracted. Accumulation is in fp32; the attribute `into` chooses the element type
    of the result, which is that of the first operand otherwise. An operand with slices for
    the rows of another one is read as far as there are rows; with `draws` as far as is
    expected of a random choice, and with `used` so many slices of it are.

    ```mlir
    %q = stg.einsum "bsd,dhe->bshe" %n, %wq : !x, !wq
    %g = stg.einsum "bsd,bshe->dhe" %n, %dq {into = f32} : !x, !q
    ```
    Constraints: (C1) the equation has one term of distinct lower-case letters per
    operand and one for the result; (C2) ranks agree with the terms; (C3) an index
    has the same extent wherever it occurs; (C4) each index of the result occurs in
    an operand; (C5) `into` is an element type of tensors;
    (C6) the operands are floats.
  }];
  let args = (ins Variadic<STG_Tensor>:$inputs, StrAttr:$equation,
                       OptionalAttr<TypeAttr>:$into,
                       OptionalAttr<STG_DrawsAttr>:$draws,
                       OptionalAttr<Sym_ExprAttr>:$used);
  let results = (outs STG_Tensor:$result);
  let useCustomPropertiesEncoding = 1;
  let leading = [STG_Leading<"String", "equation">];
}

def AddOp : STG_PointwiseOp<"add", "1", "", [Commutative, STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "pointwise sum";
  let description = [{
    Operations: 1 per element. Linear, so partial sums pass through it.

    ```mlir
    %y = stg.add %x, %a : !x, !x
    %z = stg.add %x, %row : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, 1, D], bf16>
    ```
    Along a dimension without a name of extent 1 an operand repeats itself; its gradient is
    the sum.

    Constraints: (C1) both operands have the same shape and element type, but for dimensions
    along which one of them repeats itself.
  }];
  let broadcasts = 1;
  let args = (ins STG_Tensor:$lhs, STG_Tensor:$rhs);
  let hasFolder = 1;
}

def MulOp : STG_PointwiseOp<"mul", "1", "", [Commutative, STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isMultilinear"]>]> {
  let summary = "pointwise product";
  let description = [{
    Operations: 1 per element. As in `stg.add`, an operand repeats itself along a dimension
    without a name of extent 1.

    Constraints: (C1) both operands have the same shape and element type, but for dimensions
    along which one of them repeats itself.
  }];
  let broadcasts = 1;
  let args = (ins STG_Tensor:$lhs, STG_Tensor:$rhs);
}

def CastOp : STG_ExplicitOp<"cast", [STG_Differentiable, STG_LinearIn<[0]>]> {
  let summary = "the same values in another element type";
  let description = [{
    Operations: 1 per element. What a parameter is cast to is cast again where it is
    needed, and not saved; the gradient of a parameter has its own type, and so is not
    cast. A cast to a type of one byte is for products only: its gradient has the type of
    what is cast.

    ```mlir
    %y = stg.cast %x : !stg.tensor<[B, S, D], f32> -> !stg.tensor<[B, S, D], bf16>
    ```
    Constraints: (C1) operand and result have the same shape; (C2) both are floats.
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let moreDefinitions = STG_Pointwise<"1">.rule;
  let extraClassDeclaration = [{
    /// True for a cast to a type that is for products only.
    bool isNarrowing() { return getType().getElementBytes() == 1; }
  }];
}

def DequantizeOp : STG_ExplicitOp<"dequantize"> {
  let summary = "elements times their scales";
  let description = [{
    What a product makes of a weight that is stored with scales, on its way from memory: the
    result is nowhere in memory, and whoever reads it reads the elements and the scales.
    Operations: 1 per element, and none if the result has the type of what is stored: then the
    scales are for the sums of the product. Of experts without a row there is nothing to do.

    ```mlir
    %w = stg.dequantize %p : !stg.tensor<[D, F], !stg.scaled<f8E4M3FN scales f32 of [128, 128]>>
        -> !stg.tensor<[D, F], bf16>
    ```
    Constraints: (C1) operand and result have the same shape; (C2) the operand's element
    type is `!stg.scaled`, and that of the result a float.
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def ActivationOp : STG_PointwiseOp<"activation",
    "getActivationOperations(getFunction())", "", [STG_Differentiable]> {
  let summary = "pointwise nonlinearity";
  let description = [{
    Operations per element: relu and tanh 1, relu2 (its square) 2, softplus (the logarithm
    of 1 + e^x) 3, sigmoid and silu 4, quick_gelu (x times the sigmoid of 1.702*x) 5, gelu 8.
    Backward of relu, tanh and sigmoid needs the result, of the others the input.

    ```mlir
    %y = stg.activation gelu %x : !h
    ```
  }];
  let args = (ins STG_Tensor:$input, STG_ActivationAttr:$function);
  let leading = [STG_EnumLeading<"Activation", "function">];
}

def ActivationGradOp : STG_PointwiseOp<"activation_grad",
    "getActivationGradOperations(getFunction())", "", [STG_LinearIn<[1]>]> {
  let summary = "gradient of stg.activation";
  let description = [{
    From what the activation has saved, its input or its result, and the gradient of its
    result. Operations per element: relu 1, relu2, tanh and sigmoid 3, softplus 5, silu 7,
    quick_gelu 8, gelu 13.
  }];
  let args = (ins STG_Tensor:$saved, STG_Tensor:$dy,
                  STG_ActivationAttr:$function);
  let leading = [STG_EnumLeading<"Activation", "function">];
}

def LearnedActivationOp : STG_InferredOp<"learned_activation", [STG_Differentiable]> {
  let summary = "pointwise nonlinearity with learned numbers, the same for all elements";
  let description = [{
    `prelu` has one number, the slope below zero: 2 operations per element (comparison,
    product). `xielu` has two, which scale x^2 above zero and e^x - 1 - x below, to both of
    which it adds a constant times x: 8 per element (a comparison and, of the side with the
    exponential, minimum, exponential, two differences, two products and a sum).

    ```mlir
    %y = stg.learned_activation xielu %h, %w : !h, !stg.tensor<[2], bf16>
    ```
    Constraints: (C1) there are as many numbers as the function has, of the input's element
    type.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$numbers,
                  STG_LearnedActivationAttr:$function);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_EnumLeading<"LearnedActivation", "function">];
}

def LearnedActivationGradOp
    : STG_ExplicitOp<"learned_activation_grad", [STG_MadeIfRead, STG_LinearIn<[2]>]> {
  let summary = "gradient of stg.learned_activation with respect to input and numbers";
  let description = [{
    Operations per element: `prelu` 4, of which 1 is for both gradients (the comparison), 1
    for that of the input and 2 for that of the number; `xielu` 10, of which 4 are for both
    (comparison, minimum, exponential, difference), and 3 for each. A gradient that nobody
    reads is not made.

    Constraints: (C1) `dx` and `dy` have the input's shape, `dnumbers` that of the numbers,
    which is that of stg.learned_activation.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$numbers, STG_Tensor:$dy,
                  STG_LearnedActivationAttr:$function);
  let results = (outs STG_Tensor:$dx, STG_Tensor:$dnumbers);
  let leading = [STG_EnumLeading<"LearnedActivation", "function">];
  let hasVerifier = 1;
}

def ClampOp : STG_PointwiseOp<"clamp", "2", "ClampGradOp"> {
  let summary = "values that are not beyond two limits";
  let description = [{
    No trace has the limits. Operations: 2 per element, a comparison with each.

    ```mlir
    %y = stg.clamp %x : !x
    ```
  }];
  let args = (ins STG_Tensor:$input);
}

def ClampGradOp : STG_PointwiseOp<"clamp_grad", "3", "", [STG_LinearIn<[1]>]> {
  let summary = "gradient of stg.clamp, from its input";
  let description = [{
    The gradient of the result where the input is between the limits, else zero. Operations:
    3 per element (two comparisons, a product with 0 or 1).
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$dy);
}

def DropoutOp : STG_InferredOp<"dropout", [STG_Differentiable]> {
  let summary = "zeros in random places, and the rest scaled";
  let description = [{
    Gives the result and, for the backward pass, a mask of a byte for each element. How likely
    a zero is changes nothing. Operations: 2 per element (comparison with a random number,
    product); making random numbers is not counted. A step of inference has none.

    ```mlir
    %y, %mask = stg.dropout %x : !x
    ```
    Constraints: (C1) the operand is a float.
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result, STG_Tensor:$mask);
  let moreDefinitions = STG_Pointwise<"2">.rule;
}

def DropoutGradOp : STG_InferredOp<"dropout_grad", [STG_LinearIn<[1]>]> {
  let summary = "gradient of stg.dropout";
  let description = [{
    The gradient of the result where the mask is set, scaled, else zero. Operations: 1 per
    element.

    Constraints: (C1) mask and gradient have the same shape; (C2) the mask is of integers.
  }];
  let args = (ins STG_Tensor:$mask, STG_Tensor:$dy);
  let results = (outs STG_Tensor:$dx);
  let moreDefinitions = STG_Pointwise<"1">.rule;
}

def GluOp : STG_InferredOp<"glu", [STG_Differentiable]> {
  let summary = "gated linear unit: activation(gate) * up";
  let description = [{
    Gate and up are the two slices of the second last dimension, so that one GEMM
    makes both. `silu` makes it SwiGLU. Operations per element of the result: 1 more
    than the activation.

    With `clamped` it is activation(gate) * (up + 1), where gate is not above a limit and
    up not further from zero than it, as in gpt-oss: 4 operations more (one and two
    comparisons, a sum). With `limited` it is so without the sum, as in DeepSeek-V4: 3 more.

    ```mlir
    %h = stg.glu silu %gate_up : !stg.tensor<[B, S, 2, F], bf16>
    ```
    Constraints: (C1) the rank is at least 2 and the second last dimension is 2; (C2) it is not
    both clamped and limited.
  }];
  let args = (ins STG_Tensor:$input, STG_ActivationAttr:$function,
                  UnitAttr:$clamped, UnitAttr:$limited);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_EnumLeading<"Activation", "function">];
}

def GluGradOp : STG_InferredOp<"glu_grad", [STG_LinearIn<[1]>]> {
  let summary = "gradient of stg.glu";
  let description = [{
    From the input (gate and up) and the gradient of the result; gives the gradient
    of gate and up in one tensor. Operations per element of `dy`: those of the
    activation and of its gradient, and 2 products; with `clamped` 6 more, the four of
    the forward pass and a product with 0 or 1 for each of gate and up, and with `limited` 5.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$dy,
                       STG_ActivationAttr:$function, UnitAttr:$clamped,
                       UnitAttr:$limited);
  let results = (outs STG_Tensor:$dx);
  let leading = [STG_EnumLeading<"Activation", "function">];
}

def RmsNormOp : STG_InferredOp<"rms_norm", [STG_Differentiable]> {
  let summary = "root-mean-square normalization over the last dimension";
  let description = [{
    Gives the normalized tensor and the fp32 reciprocal root per row, which the
    backward pass needs. Operations: 4 per element and 3 per row; without a weight 3 per
    element.

    ```mlir
    %n, %rstd = stg.rms_norm %x, %w : !x, !stg.tensor<[D], bf16>
    %m, %root = stg.rms_norm %q : !q
    ```
    Constraints: (C1) the weight, if there is one, has the extent of the input's last
    dimension.
  }];
  let args = (ins STG_Tensor:$input, Optional<STG_Tensor>:$weight);
  let results = (outs STG_Tensor:$result, STG_Tensor:$rstd);
}

def RmsNormGradOp : STG_ExplicitOp<"rms_norm_grad", [STG_MadeIfRead, STG_LinearIn<[3]>]> {
  let summary = "gradient of stg.rms_norm with respect to input and weight";
  let description = [{
    Operations: 9 per element and 1 per row; without a weight 6 per element. Where nobody
    reads `dw` 7 per element, where nobody reads `dx` 3 and none per row.

    Constraints: (C1) `dx` and `dy` have the input's shape, `dw` the weight's; (C2) `dw` is
    there if the weight is.
  }];
  let args = (ins STG_Tensor:$input, Optional<STG_Tensor>:$weight,
                       STG_Tensor:$rstd, STG_Tensor:$dy);
  let results = (outs STG_Tensor:$dx, Optional<STG_Tensor>:$dw);
  let hasVerifier = 1;
}

def LayerNormOp : STG_InferredOp<"layer_norm", [STG_Differentiable]> {
  let summary = "normalization to zero mean and unit variance over the last dimension";
  let description = [{
    Gives the normalized, scaled and shifted tensor and, per row and in fp32, the mean
    and the reciprocal standard deviation, which the backward pass needs. Weight and bias,
    in this order, are the `parameters`; there may be no bias, or neither. Operations: 5
    per element, 1 more for each of the parameters, and 4 per row.

    ```mlir
    %n, %mean, %rstd = stg.layer_norm %x, %w, %b : !x, !w, !w
    %m, %mean1, %rstd1 = stg.layer_norm %x : !x
    ```
    Constraints: (C1) weight and bias have the extent of the input's last dimension; (C2)
    there are at most two parameters.
  }];
  let args = (ins STG_Tensor:$input, Variadic<STG_Tensor>:$parameters);
  let results = (outs STG_Tensor:$result, STG_Tensor:$mean, STG_Tensor:$rstd);
}

def LayerNormGradOp : STG_ExplicitOp<"layer_norm_grad", [STG_MadeIfRead, STG_LinearIn<[4]>]> {
  let summary = "gradient of stg.layer_norm with respect to input, weight and bias";
  let description = [{
    Operations: 12 per element and 2 per row; without a bias 11, without a weight 8 per
    element. What nobody reads is not computed: of the 12, 2 are for `dw`, 1 is for that of
    the bias, 7 and those per row are for `dx`, and 2 for `dx` or `dw`.

    Constraints: (C1) `dx` and `dy` have the input's shape, the gradients of the parameters
    the weight's, `mean` and `rstd` that of the input's rows; (C2) without a weight there are
    no gradients of parameters.
  }];
  let args = (ins STG_Tensor:$input, Optional<STG_Tensor>:$weight,
                       STG_Tensor:$mean, STG_Tensor:$rstd, STG_Tensor:$dy);
  let results = (outs STG_Tensor:$dx, Variadic<STG_Tensor>:$dparameters);
  let hasVerifier = 1;
}

def BiasAddOp : STG_InferredOp<"bias_add", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "adds a bias to every row";
  let description = [{
    The bias has the last dimensions of the input, or those that `dims` names, and is the
    same for all others. Operations: 1 per element of the input. Of a bias with slices for
    rows `draws` says what is expected to be read, and `used` what is, as of `stg.einsum`.
    Linear, so a partial sum passes through it where the bias is one, too.

    ```mlir
    %y = stg.bias_add %x, %b : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[H, E], bf16>
    %e = stg.bias_add %r, %c {dims = array<i64: 0, 2>} : !stg.tensor<[X, C, F], bf16>, !stg.tensor<[X, F], bf16>
    ```
    Constraints: (C1) the bias has the extents of these dimensions of the input and its
    element type; (C2) `dims` are dimensions of the input in ascending order, as many as the
    bias has.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$bias,
                  OptionalAttr<DenseI64ArrayAttr>:$dims,
                  OptionalAttr<STG_DrawsAttr>:$draws,
                  OptionalAttr<Sym_ExprAttr>:$used);
  let results = (outs STG_Tensor:$result);
  let useCustomPropertiesEncoding = 1;
}

def BiasGradOp : STG_ExplicitOp<"bias_grad", [STG_LinearIn<[0]>]> {
  let summary = "gradient of stg.bias_add with respect to the bias";
  let description = [{
    The sum of `dy` over the dimensions that the bias lacks. Operations: 1 per element
    of `dy`.

    Constraints: (C1) the result has the extents of the last dimensions of `dy`, or of its
    `dims`; (C2) as of `stg.bias_add`.
  }];
  let args = (ins STG_Tensor:$dy, OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def RopeOp : STG_InferredOp<"rope", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates pairs of the last dimension by an angle that depends on the position
    (the second dimension). Linear and orthogonal: the backward pass is the inverse
    rotation and needs nothing saved. Operations: 3 per element that is rotated: all, or
    `rotated` ones of the last dimension.

    ```mlir
    %qr = stg.rope %q : !stg.tensor<[B, S, H, E], bf16>
    %pr = stg.rope %p {rotated = #sym.expr<E/4>} : !stg.tensor<[B, S, H, E], bf16>
    ```
    Constraints: (C1) the rank is at least 3; (C2) numbers of `rotated` and of the last
    extent agree with 1 <= rotated <= extent.
  }];
  let hasFolder = 1;
  let args = (ins STG_Tensor:$input, UnitAttr:$inverse,
                  OptionalAttr<Sym_ExprAttr>:$rotated);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_Leading<"Unit", "inverse">];
}

def AttentionOp : STG_InferredOp<"attention", [STG_Differentiable,
    DeclareOpInterfaceMethods<AttentionOpInterface>,
    DeclareOpInterfaceMethods<ContextOpInterface>,
    DeclareOpInterfaceMethods<IncrementalOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface, ["getLoweringPass"]>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>]> {
  let summary = "scaled dot-product attention with grouped query heads";
  let description = [{
    Queries `[batch, queries, heads, size]`, keys and values `[batch, keys, kv heads,
    size]`; each group of heads / kv heads query heads shares a kv head. Gives the
    output and the fp32 log-sum-exp per query and head, as a fused kernel saves it.

    Operations: 2 x batch x heads x span x (key size + value size), for QK^T and PV. Values
    that are a part of the keys, as latents are, are read once.
    The span is queries x keys, or with a causal mask the pairs that a kernel
    executes that skips masked blocks, keys*(keys+1)/2 for as many queries as keys;
    `full_count` counts the full square all the same, but not where keys are selected, or
    stand for blocks.

    With a `window` a query sees at most so many keys: under a causal mask its own and those
    before it, else half of them, rounded down, on each side of its own. With a `chunk` it
    sees the keys of its own chunk only, of so many tokens.

    `context` is for tokens that are divided among devices (`#stg.context`); without it keys
    and values are gathered, and shares are balanced. `--stg-lower-context-parallel` makes
    of it what a device executes.

    `requests` are those whose tokens are packed into a row (`#stg.requests`): each query
    sees keys of its own request only. Without it each row is one request. In training they
    are the documents of a row, of which nothing is cached.

    `sinks`, one for each head, are scores of a key without a value that every query sees:
    terms of the denominator of its softmax, as gpt-oss learns them. With `capped` scores go
    through c * tanh(x / c) before the softmax (Gemma 2), with `alibi` a constant slope of
    the head times the distance of query and key is subtracted from them. Like the softmax
    these are no operations that are counted.

    `bias` [heads, queries, keys] is added to the scores of every sequence, as T5 does by
    relative position; its gradient is that of the scores, summed over sequences. One that is
    [batch, heads, queries, keys] is each sequence's own (DeBERTa). With a `prefix` the first so
    many tokens of a causal mask see each other, whatever their order.

    `selected` [batch, queries, n] are numbers of keys, as `stg.select_keys` gives them: of
    the keys that a mask leaves each query sees n at most, whatever its head. No more keys and
    values are read than all queries see together. Sinks, bias and selected keys are the
    `terms`, in any order.

    With `compressed` the first two terms are keys and values [batch, blocks, kv heads, size],
    each of which stands for a block of so many tokens, as `stg.compress` makes them. Beside
    the keys that the mask leaves, a query sees those of the blocks that end at its own token
    or before it, in the same softmax. Keys that are selected are then of blocks. `past` says
    how many tokens of a row come before those of the step, whatever is kept of them.

    Keys that are values, too, are read once.

    Where a device has some of the keys only, `pairs` says how many pairs of a query and a key
    it computes of each sequence and head.

    ```mlir
    %o, %lse = stg.attention causal %q, %k, %v : !q, !k, !k
    %p, %lsf = stg.attention causal %q, %k, %v, %sinks {window = #sym.expr<128>} : !q, !k, !k, !stg.tensor<[H], bf16>
    ```
    Constraints: (C1) all operands have rank 4; (C2) batch extents agree, keys and
    values agree in all but the last extent, and queries and keys in the last; (C3) kv
    heads divide the heads; (C4) where they are numbers, requests have together as many new
    tokens as there are queries, and with those that are cached, as far as window or chunk
    reach, as many as there are keys, or under a window at most as many as are cached;
    (C5) window and chunk are not both there, and are at least 1; (C6) with one of them and
    no causal mask there are as many queries as keys, unless a device has some of the tokens or
    all pairs are counted; (C7) sinks are a float for each head of
    the queries, and a bias has the extents of heads, queries and keys, behind that of the batch
    if it has four; (C8) a prefix is that of a causal mask without window and chunk, and where
    they are numbers at most as long as there are queries; (C9) selected keys are integers, of
    each sequence and query as many, and there is no window, chunk and prefix, but for a window
    beside keys of blocks; (C10) keys of blocks are of at least one token, come with a causal
    mask without chunk, prefix and bias, and have the kv heads and sizes of the other keys;
    what is past comes with them.
  }];
  let args = (ins STG_Tensor:$query, STG_Tensor:$key, STG_Tensor:$value,
                       Variadic<STG_Tensor>:$terms,
                       STG_AttentionMaskAttr:$mask, UnitAttr:$full_count,
                       OptionalAttr<STG_ContextAttr>:$context,
                       OptionalAttr<STG_RequestsAttr>:$requests,
                       OptionalAttr<Sym_ExprAttr>:$window,
                       OptionalAttr<Sym_ExprAttr>:$chunk, UnitAttr:$capped,
                       UnitAttr:$alibi, OptionalAttr<Sym_ExprAttr>:$prefix,
                       OptionalAttr<Sym_ExprAttr>:$pairs,
                       OptionalAttr<Sym_ExprAttr>:$compressed,
                       OptionalAttr<Sym_ExprAttr>:$past);
  let results = (outs STG_Tensor:$result, STG_Tensor:$lse);
  let leading = [STG_EnumLeading<"AttentionMask", "mask">];
  let extraClassDeclaration = [{
    /// Of the terms that of one dimension, or null.
    ::mlir::Value getSinks();
    /// Of the blocks of tokens, or null.
    ::mlir::Value getCompressedKey();
    ::mlir::Value getCompressedValue();
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                        ::mlir::TypeRange rhs) {
      return ::stg::detail::equalUpToSharding(lhs, rhs);
    }
  }];
  let hasVerifier = 1;
}

def AttentionGradOp : STG_InferredOp<"attention_grad", [
    DeclareOpInterfaceMethods<AttentionOpInterface>,
    DeclareOpInterfaceMethods<ContextOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface, ["getLoweringPass",
                                                "isMadeIfRead"]>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>]> {
  let summary = "gradient of stg.attention";
  let description = [{
    The four products dV, dP, dQ and dK: twice the operations of the forward pass.
    (A fused kernel executes QK^T once more; model FLOP counts leave that out, and
    so does this.) Attributes are those of `stg.attention`. With sinks the log-sum-exp has
    them, so the gradients of queries, keys and values do not read them. Of the `terms` a bias
    is read, whose gradient is one more result, and so are selected keys, and keys and values
    of blocks, whose gradients are the first two of `dterms`. What nobody reads of the results
    is not computed: each has a product of its own, and dP is for dQ and dK.
  }];
  let args = (ins STG_Tensor:$query, STG_Tensor:$key, STG_Tensor:$value,
                       STG_Tensor:$output, STG_Tensor:$lse, STG_Tensor:$dy,
                       Variadic<STG_Tensor>:$terms,
                       STG_AttentionMaskAttr:$mask, UnitAttr:$full_count,
                       OptionalAttr<STG_ContextAttr>:$context,
                       OptionalAttr<STG_RequestsAttr>:$requests,
                       OptionalAttr<Sym_ExprAttr>:$window,
                       OptionalAttr<Sym_ExprAttr>:$chunk, UnitAttr:$capped,
                       UnitAttr:$alibi, OptionalAttr<Sym_ExprAttr>:$prefix,
                       OptionalAttr<Sym_ExprAttr>:$compressed);
  let hasVerifier = 1;
  let results = (outs STG_Tensor:$dquery, STG_Tensor:$dkey, STG_Tensor:$dvalue,
                      Variadic<STG_Tensor>:$dterms);
  let leading = [STG_EnumLeading<"AttentionMask", "mask">];
  let extraClassDeclaration = [{
    ::mlir::Value getCompressedKey();
    ::mlir::Value getCompressedValue();
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                        ::mlir::TypeRange rhs) {
      return ::stg::detail::equalUpToSharding(lhs, rhs);
    }
  }];
}

def SelectKeysOp : STG_InferredOp<"select_keys", [STG_Differentiable,
    DeclareOpInterfaceMethods<IncrementalOpInterface>]> {
  let summary = "the keys that score highest, of each query";
  let description = [{
    Queries `[batch, queries, heads, size]` and keys `[batch, keys, size]`, which are the same
    for all heads: the score of a query and a key is the sum over heads of the ReLU of their
    product, times the weight of query and head. Of the keys before it, and its own, each query
    gets the numbers of the `count` with the highest scores, as a fused kernel that keeps no
    scores; where there are fewer, the rest says that there is none. This is the lightning
    indexer of DeepSeek's sparse attention.

    Operations: 2 per pair, head and element of a key, which are those of a matrix product; 3
    per pair and head (ReLU, weight, sum) and 1 per pair (comparison) are counted with them.
    Pairs are those of a causal mask. Numbers have no gradient, so the operands get none of
    this op.

    With `compressed` keys stand for blocks of so many tokens, and a query selects among those
    that end at its own token or before it.

    In a step of inference keys are kept. `requests` and `past` are as of `stg.attention`.
    Devices that divide tokens, or heads, each select the keys of all queries.

    ```mlir
    %s = stg.select_keys 2048 %q, %k, %w : !q, !k, !w
    ```
    Constraints: (C1) queries have rank 4, keys and weights 3; (C2) batches agree, keys have
    the last extent of the queries, weights the first three; (C3) the count, and the tokens of
    a block, are at least 1.
  }];
  let args = (ins STG_Tensor:$query, STG_Tensor:$key, STG_Tensor:$weight,
                  Sym_ExprAttr:$count, OptionalAttr<STG_RequestsAttr>:$requests,
                  OptionalAttr<Sym_ExprAttr>:$compressed,
                  OptionalAttr<Sym_ExprAttr>:$past);
  let results = (outs STG_Tensor:$selected);
  let leading = [STG_Leading<"Expr", "count">];
}

def CompressOp : STG_ExplicitOp<"compress", [STG_Differentiable,
    DeclareOpInterfaceMethods<IncrementalOpInterface>]> {
  let summary = "one row for each block of tokens";
  let description = [{
    Of values and scores `[batch, tokens, channels]` the mean over each block of `size` tokens,
    channel by channel: the weights of a block's tokens are the softmax of their scores, to
    which a bias `[size, channels]` by the place in the block is added. A block that is not
    whole yet has a row, which nobody sees and nothing is made of. With `overlapping` there are
    two series of channels, and a block has the first one of the tokens of the block before,
    which the first block of a sequence does not have, and the second one of its own. These are
    the compressed keys of DeepSeek-V4.

    Operations: 8 per element of the blocks (bias; maximum, difference, exponential, sum,
    quotient; product, sum), of whole blocks. What belongs to no whole block is not read.

    In a step of inference the tokens are kept of which a block is not whole, and with
    `overlapping` one block more; the result has the blocks of the new tokens. `requests` and
    `past` are as of `stg.attention`.

    ```mlir
    %c = stg.compress 128 %v, %s, %b : !v, !v, !b -> !stg.tensor<[B, _ = ceildiv(S, 128), E], bf16>
    ```
    Constraints: (C1) values have rank 3, scores their shape; (C2) the size is at least 1, and
    the bias has so many rows of all channels; (C3) the result has the batch of the values,
    their channels, or half of them with `overlapping`, and without `requests` and `past` a row
    for each block.
  }];
  let args = (ins STG_Tensor:$value, STG_Tensor:$score, STG_Tensor:$bias,
                  Sym_ExprAttr:$size, UnitAttr:$overlapping,
                  OptionalAttr<STG_RequestsAttr>:$requests,
                  OptionalAttr<Sym_ExprAttr>:$past);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_Leading<"Expr", "size">];
  let hasVerifier = 1;
}

def CompressGradOp : STG_ExplicitOp<"compress_grad", [STG_MadeIfRead]> {
  let summary = "gradient of stg.compress";
  let description = [{
    The weights are computed again, 8 operations per element of the blocks. Then 1 for the
    gradient of values (product with the weight), 5 for that of scores (product with the value;
    4 of the softmax), and 1 more for that of the bias (sum), each where it is read.

    Constraints: (C1) values, scores and bias are as of `stg.compress`, the gradient as its
    result; (C2) the results have the shapes of the operands.
  }];
  let args = (ins STG_Tensor:$value, STG_Tensor:$score, STG_Tensor:$bias,
                  STG_Tensor:$dy, Sym_ExprAttr:$size, UnitAttr:$overlapping);
  let results = (outs STG_Tensor:$dvalue, STG_Tensor:$dscore, STG_Tensor:$dbias);
  let leading = [STG_Leading<"Expr", "size">];
  let hasVerifier = 1;
}

def AttentionSinksGradOp : STG_ExplicitOp<"attention_sinks_grad", [
    DeclareOpInterfaceMethods<ContextOpInterface>]> {
  let summary = "gradient of stg.attention with respect to its sinks";
  let description = [{
    Of each query and head the share of the sink, e^(sink - log-sum-exp), times the product of
    the output and its gradient, summed over all queries, with a minus sign. Operations: 2 per
    element of the output (product, sum), 4 per query and head (difference, exponential,
    product, sum).

    ```mlir
    %ds = stg.attention_sinks_grad %s, %o, %lse, %do
      : !s, !q, !lse, !q -> !stg.tensor<[H], f32>
    ```
    Constraints: (C1) the output has rank 4, its gradient the same shape, the log-sum-exp that
    of its rows, and sinks and result the extent of its heads.
  }];
  let args = (ins STG_Tensor:$sinks, STG_Tensor:$output, STG_Tensor:$lse,
                  STG_Tensor:$dy);
  let results = (outs STG_Tensor:$dsinks);
  let hasVerifier = 1;
}

/// What attention is on one device: the queries with some of the keys.
class STG_AttentionBlockOp<string mnemonic> : STG_TensorOp<mnemonic, [Pure,
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<CostOpInterface, ["getReusableOperand",
                                                "destroysOperand"]>]> {
  let hasVerifier = 1;
  let leading = [STG_Leading<"Expr", "pairs">];
  let useCustomPropertiesEncoding = 1;
}

def AttentionBlockOp : STG_AttentionBlockOp<"attention_block"> {
  let summary = "attention of the queries with some of the keys";
  let description = [{
    So many `pairs` of a query and a key of each sequence and head; whatever is masked is not
    among them. Where other keys have been before, `partial` are the output and the
    log-sum-exp so far, which the op corrects in place; before the first block it may be the
    sinks of the heads, with which log-sum-exps begin. `seen`, 0 or 1, is for a block that is
    masked as a whole on some devices: where it is 0 the results are those of no keys, which
    reads nothing. The output has the element type `into`, or that of the queries. At the local
    level only.

    Operations: those of `stg.attention` with the pairs as its span. Bytes: queries, keys and
    values are read, output and log-sum-exp are written.

    ```mlir
    %o, %lse = stg.attention_block S*(S + 1)/2 %q, %k, %v : !q, !k, !k
    %o1, %lse1 = stg.attention_block S*S %q, %k1, %v1, %o, %lse : !q, !k, !k, !q, !lse
    ```
    Constraints: (C1) to (C3) of `stg.attention`; (C4) there are as many `partial` values as
    results, of their types, or none, and nobody reads them afterwards; or there is one, a
    float for each head; (C5) `into` is a float of whole bytes.
  }];
  let args = (ins STG_Tensor:$query, STG_Tensor:$key, STG_Tensor:$value,
                       Variadic<STG_Tensor>:$partial, Sym_ExprAttr:$pairs,
                       OptionalAttr<Sym_ExprAttr>:$seen,
                       OptionalAttr<TypeAttr>:$into);
  let results = (outs STG_Tensor:$result, STG_Tensor:$lse);
}

def AttentionBlockGradOp : STG_AttentionBlockOp<"attention_block_grad"> {
  let summary = "gradient of stg.attention_block";
  let description = [{
    Twice the operations of the forward pass; `partial` are the gradients so far, or that of the
    queries alone, where those of keys and values come from another device and are added behind
    the block. `seen`, 0 or 1, is for a block that is masked as a whole on some devices: where it
    is 0 the gradients are set to zero, which reads nothing. Gradients have the element type
    `into`, or that of what they are of. At the local level only.

    ```mlir
    %dq, %dk, %dv = stg.attention_block_grad S*S %q, %k, %v, %o, %lse, %do {seen = #sym.expr<max(cp_index - 2, 0)>} : !q, !k, !k, !q, !lse, !q
    ```
    Constraints: those of `stg.attention_block`, and `partial` may be that of the queries.
  }];
  let args = (ins STG_Tensor:$query, STG_Tensor:$key, STG_Tensor:$value,
                       STG_Tensor:$output, STG_Tensor:$lse, STG_Tensor:$dy,
                       Variadic<STG_Tensor>:$partial, Sym_ExprAttr:$pairs,
                       OptionalAttr<Sym_ExprAttr>:$seen,
                       OptionalAttr<TypeAttr>:$into);
  let results = (outs STG_Tensor:$dquery, STG_Tensor:$dkey, STG_Tensor:$dvalue);
}

def EmbeddingOp : STG_InferredOp<"embedding", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>]> {
  let summary = "rows of a table, by token id";
  let description = [{
    Executes no operations: it reads one row per id. With the vocabulary sharded
    each device contributes the rows that it holds, and the result is a partial sum.

    ```mlir
    %x = stg.embedding %table, %tokens : !stg.tensor<[V, D], bf16>, !stg.tensor<[B, S], i32>
    %e = stg.embedding %tables, %ids : !stg.tensor<[N, R, D], bf16>, !stg.tensor<[B, N], i32>
    ```
    Several tables of one size are one with more dimensions, the leading ones, which are the
    last dimensions of the ids: each id is of its table. Where they are sharded each device
    looks up the rows of its tables, for all samples.

    `rows` lists the rows of tables of different sizes; their dimension is then the mean.
    On one device, where tables are divided over the axes `over`, `stg-place-tables` says
    which device has which, and of rows that are divided over `rows_over` how many. The
    pass joins the tables of a device: all their rows are one dimension.

    With `pooled` the rows that are found along that dimension of the ids are summed: 1
    operation for each element that is read.

    Constraints: (C1) the table has at least rank 2, and its leading dimensions are the last
    ones of the ids; (C2) ids are integers; (C3) what is pooled is a dimension of the ids that
    is none of the table; (C4) tables of different `rows` are one dimension, or are joined, and
    those are positive; (C5) tables that are not divided are as many as `rows`, which are all
    that they have; (C6) `over` and `rows_over` come with `rows`.
  }];
  let args = (ins STG_Tensor:$table, STG_Tensor:$ids, OptionalAttr<I64Attr>:$pooled,
                       OptionalAttr<DenseI64ArrayAttr>:$rows,
                       OptionalAttr<StrArrayAttr>:$over,
                       OptionalAttr<StrArrayAttr>:$rows_over);
  let results = (outs STG_Tensor:$result);
}

def EmbeddingGradOp : STG_ExplicitOp<"embedding_grad", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>]> {
  let summary = "gradient of stg.embedding with respect to the table";
  let description = [{
    Adds each row of `dy` to the row of its id, or of all its ids if rows are `pooled`.
    Operations: 1 per element of a row and id.

    Constraints: (C1) the result is [tables ..., vocabulary, last extent of `dy`], where the
    ids end with the dimensions of the tables, if there are several; (C2) as of
    `stg.embedding`.
  }];
  let args = (ins STG_Tensor:$ids, STG_Tensor:$dy, OptionalAttr<I64Attr>:$pooled,
                       OptionalAttr<DenseI64ArrayAttr>:$rows,
                       OptionalAttr<StrArrayAttr>:$over,
                       OptionalAttr<StrArrayAttr>:$rows_over);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def RowAdagradOp : STG_TensorOp<"row_adagrad", [
    MemoryEffects<[MemWrite<STG_Parameters>]>, STG_Destroys<0>,
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>,
    DeclareOpInterfaceMethods<CostOpInterface, ["getStateBuffers", "updatesOperand"]>]> {
  let summary = "one step of row-wise Adagrad of the rows that were looked up, in place";
  let description = [{
    Updates the rows of a table that the ids name, with the gradient of what was found, as
    a backward kernel of embeddings does that has its optimizer in it: the gradient of the
    table never exists. Keeps one fp32 number for each row, and no master copy.

    Operations: 5 for each element of a row and id (sum, square, its sum, product,
    difference), and 5 for each id (mean, sum, root, epsilon, quotient). Reads ids and
    gradient, reads and writes the rows of the ids and their numbers; each id counts as a row
    of its own.

    Where rows are divided, ids that are the same everywhere are divided as well: `among` so
    many devices. The batch must be whole, as all devices with the same rows must make the same
    step of them.

    ```mlir
    %t1 = stg.row_adagrad %t, %ids, %dy {pooled = 1}
        : !stg.tensor<[R, D], bf16>, !stg.tensor<[B, P, N], i32>, !stg.tensor<[B, N, D], bf16>
    ```
    Constraints: (C1) as of `stg.embedding_grad`, whose result the table would be; (C2) nobody
    reads the first operand afterwards.
  }];
  let args = (ins STG_Tensor:$param, STG_Tensor:$ids, STG_Tensor:$dy,
                       Variadic<STG_Tensor>:$lengths,
                       OptionalAttr<I64Attr>:$pooled,
                       OptionalAttr<DenseI64ArrayAttr>:$rows,
                       OptionalAttr<StrArrayAttr>:$over,
                       OptionalAttr<StrArrayAttr>:$rows_over,
                       OptionalAttr<Sym_ExprAttr>:$among);
  let plan = STG_Plan;
  let results = (outs STG_Tensor:$updated);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                        ::mlir::TypeRange rhs) {
      return ::stg::detail::equalUpToSharding(lhs, rhs);
    }
  }];
}

def BucketizeOp : STG_ExplicitOp<"bucketize"> {
  let summary = "ids in the order of the devices that have their rows";
  let description = [{
    What a device does with ids before it sends them: one bucket for each device of a group,
    and how many ids each sample has for each table in it. Ids are spread evenly. Executes no
    operations.

    ```mlir
    %lengths, %sorted = stg.bucketize %ids
        : !stg.tensor<[B, P, N], i32> -> !stg.tensor<[dp, B, N], i32>, !stg.tensor<[dp, _ = B*N*P/dp], i32>
    ```
    Constraints: (C1) ids are integers [samples, ids, tables]; (C2) lengths are [devices,
    samples, tables], and the sorted ids, of which there are as many as before, [devices, ids].
  }];
  let args = (ins STG_Tensor:$ids);
  let results = (outs STG_Tensor:$lengths, STG_Tensor:$sorted);
  let hasVerifier = 1;
}

def EmbeddingBagOp : STG_ExplicitOp<"embedding_bag"> {
  let summary = "sums of rows of a table, by ids that were sent to the device with the rows";
  let description = [{
    Of each sample and table the sum of the rows that this device has: a partial sum over the
    devices of a group. Reads the rows of the ids. Operations: 1 for each element of a row and
    id.

    ```mlir
    %e = stg.embedding_bag %table, %ids, %lengths
        : !stg.tensor<[R/dp, D], bf16>, !stg.tensor<[1, _ = B*N*P/dp], i32>, !stg.tensor<[1, B, N], i32>
       -> !stg.tensor<[B, N, D], bf16>
    ```
    Constraints: (C1) the table has rank 2; (C2) ids and lengths are integers [device, ids] and
    [device, samples, tables]; (C3) the result is [samples, tables, width of the table].
  }];
  let args = (ins STG_Tensor:$table, STG_Tensor:$ids, STG_Tensor:$lengths);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def EmbeddingBagGradOp : STG_ExplicitOp<"embedding_bag_grad"> {
  let summary = "gradient of stg.embedding_bag with respect to the table";
  let description = [{
    Adds the gradient of each sum to the rows that are in it. Operations: 1 for each element of
    a row and id.

    Constraints: (C1) ids and lengths are those of `stg.embedding_bag`, the gradient has the
    shape of its result; (C2) the result has rank 2, and the width of the gradient.
  }];
  let args = (ins STG_Tensor:$ids, STG_Tensor:$lengths, STG_Tensor:$dy);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def GatherOp : STG_InferredOp<"gather", [STG_Differentiable]> {
  let summary = "slices along a dimension, by their numbers";
  let description = [{
    The dimension makes room for those of the numbers, which are the same for all other
    dimensions: the tokens that are predicted, patches in another order. Executes no
    operations, and reads what it gives. Where the dimension is sharded each device
    contributes the slices that it holds, and the result is a partial sum.

    ```mlir
    %y = stg.gather dim 1 %x, %places
        : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[P], i32>  // [B, P, D]
    ```
    Constraints: (C1) the operand has that dimension; (C2) numbers are integers.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$ids, I64Attr:$dim);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_Leading<"Int", "dim">];
}

def GatherGradOp : STG_ExplicitOp<"gather_grad", [STG_LinearIn<[1]>]> {
  let summary = "gradient of stg.gather with respect to what is gathered";
  let description = [{
    Adds each slice of `dy` to the one that has its number. Operations: 1 per element of
    `dy`.

    Constraints: (C1) `dy` is what `stg.gather` makes of the result; (C2) numbers are
    integers.
  }];
  let args = (ins STG_Tensor:$ids, STG_Tensor:$dy, I64Attr:$dim);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Int", "dim">];
}

def CrossEntropyOp : STG_InferredOp<"cross_entropy", [STG_Differentiable,
    LossOpInterface,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["decompose"]>]> {
  let summary = "cross-entropy of logits and labels";
  let description = [{
    Gives the fp32 loss per token and the fp32 softmax, which the backward pass
    needs. Operations: 5 per logit and 3 per token. With the vocabulary sharded it
    decomposes into `stg.reduce max`, `stg.exp_sum`, `stg.pick`, `stg.nll` and
    `stg.normalize`, whose partial results are three fp32 numbers per token.

    ```mlir
    %loss, %probs = stg.cross_entropy %logits, %labels : !logits, !ids
    ```
    Constraints: (C1) labels have the shape of the logits without the last
    dimension; (C2) labels are integers.
  }];
  let args = (ins STG_Tensor:$logits, STG_Tensor:$labels);
  let results = (outs STG_Tensor:$loss, STG_Tensor:$probs);
  let extraClassDeclaration = [{
    ::mlir::Value getPredictions() { return getLogits(); }
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                        ::mlir::TypeRange rhs) {
      return ::stg::detail::equalUpToSharding(lhs, rhs);
    }
  }];
}

def CrossEntropyGradOp : STG_ExplicitOp<"cross_entropy_grad"> {
  let summary = "gradient of stg.cross_entropy with respect to the logits";
  let description = [{
    (softmax - one-hot of the label) * dloss. Operations: 1 per logit and 1 per
    token.

    Constraints: (C1) the result has the shape of the softmax.
  }];
  let args = (ins STG_Tensor:$probs, STG_Tensor:$labels, STG_Tensor:$dloss);
  let results = (outs STG_Tensor:$dlogits);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Parts of a cross-entropy over a sharded vocabulary
//===----------------------------------------------------------------------===//

def ReduceOp : STG_InferredOp<"reduce", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "sum or maximum over the last dimension, in fp32";
  let description = [{
    Operations: 1 per element of the input.

    ```mlir
    %m = stg.reduce max %logits : !logits
    ```
    Constraints: (C1) the input has a dimension.
  }];
  let args = (ins STG_Tensor:$input, STG_ReduceKindAttr:$kind);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_EnumLeading<"ReduceKind", "kind">];
}

def ExpSumOp : STG_InferredOp<"exp_sum"> {
  let summary = "exp(input - max) and its sum over the last dimension, in fp32";
  let description = [{
    Operations: 3 per element.

    Constraints: (C1) `max` has the shape of the input without the last dimension.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$max);
  let results = (outs STG_Tensor:$exp, STG_Tensor:$sum);
}

def PickOp : STG_InferredOp<"pick"> {
  let summary = "the element of the last dimension that the index names, in fp32";
  let description = [{
    Executes no operations. A device whose shard does not hold the element gives 0,
    so the result is a partial sum over the axes of the last dimension.

    Constraints: (C1) `index` has the shape of the input without the last dimension.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$index);
  let results = (outs STG_Tensor:$result);
}

def NllOp : STG_PointwiseOp<"nll", "3"> {
  let summary = "negative log-likelihood: log(sum) + max - target";
  let description = [{
    Operations: 3 per element.

    Constraints: (C1) all operands have the same shape and element type.
  }];
  let args = (ins STG_Tensor:$sum, STG_Tensor:$max, STG_Tensor:$target);
}

def NormalizeOp : STG_InferredOp<"normalize", [
    DeclareOpInterfaceMethods<CostOpInterface, ["getReusableOperand"]>]> {
  let summary = "divides each row of the last dimension by that row's sum";
  let description = [{
    Operations: 1 per element. In place where nobody else reads the input.

    Constraints: (C1) `sum` has the shape of the input without the last dimension.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$sum);
  let results = (outs STG_Tensor:$result);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

def SplitOp : STG_ExplicitOp<"split", [STG_Differentiable,
    DeclareOpInterfaceMethods<CostOpInterface, ["isView"]>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "cuts a tensor along one dimension, without a copy";
  let description = [{
    The results are views: the producer of the operand writes them. All parts are
    sharded together with the whole (as Megatron interleaves query, key and value
    heads), so a shard of the whole is the shards of the parts. `ordered` says that the
    order along the dimension matters (tokens, say): the dimension is then whole on
    every device.

    ```mlir
    %q, %k, %v = stg.split dim 2 %qkv : !qkv -> !q, !kv, !kv
    ```
    Constraints: (C1) the results have the operand's element type and its extents
    in all other dimensions; (C2) the results' extents in the dimension add up to
    the operand's.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim, UnitAttr:$ordered);
  let results = (outs Variadic<STG_Tensor>:$results);
  let hasVerifier = 1;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "dim">, STG_Leading<"Unit", "ordered">];
}

def ConcatOp : STG_ExplicitOp<"concat", [STG_Differentiable,
    DeclareOpInterfaceMethods<CostOpInterface, ["isView"]>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "joins tensors along one dimension, without a copy";
  let description = [{
    The inverse of `stg.split`: the producers of the operands write into the result.

    Constraints: (C1) and (C2) of `stg.split` with operands and result exchanged.
  }];
  let args = (ins Variadic<STG_Tensor>:$inputs, I64Attr:$dim, UnitAttr:$ordered);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "dim">, STG_Leading<"Unit", "ordered">];
}

def PackOp : STG_TensorOp<"pack", [Pure, InferTypeOpAdaptor]> {
  let summary = "a tensor in one buffer";
  let description = [{
    What is in several buffers, or in a part of a larger one, is copied into one of its own;
    anything else stays where it is, and there is no node. At the local level only.

    ```mlir
    %k1 = stg.pack %k : !k
    ```
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
}

//===----------------------------------------------------------------------===//
// Replicas
//===----------------------------------------------------------------------===//

def ReplicateOp : STG_ExplicitOp<"replicate", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "repeats each slice along one dimension";
  let description = [{
    Replicas of a slice follow one another: 0, 1, 2 become 0, 0, 1, 1, 2, 2. How many there
    are is the quotient of the extents. Factor `replica` of the sharding rule runs over the
    replicas of a slice; on a device that has one of each the op folds away. With `together` a
    device that has a slice has all replicas of it, as before an exchange that gives them to
    others. No operations.

    ```mlir
    %r = stg.replicate dim 1 %w : !stg.tensor<[D, K, E], bf16> -> !stg.tensor<[D, 2*K, E], bf16>
    ```
    Constraints: (C1) the result has the operand's element type and its extents in all
    other dimensions; (C2) its extent in the dimension is a multiple of the operand's.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim, UnitAttr:$together);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "dim">];
}

def ReplicateGradOp : STG_ExplicitOp<"replicate_grad", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "gradient of stg.replicate";
  let description = [{
    Sums the gradients of the replicas of each slice: where devices have different replicas,
    a partial sum over them. Operations: 1 per element of the operand.

    Constraints: (C1) and (C2) of `stg.replicate` with operand and result exchanged.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim, UnitAttr:$together);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "dim">];
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

def BroadcastOp : STG_ExplicitOp<"broadcast", [STG_Differentiable,
    DeclareOpInterfaceMethods<CostOpInterface, ["isView"]>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "puts one more dimension into a tensor, along which it repeats itself";
  let description = [{
    The rotary key of latent attention, which all heads share, or a gate of each token for
    all of its elements. No operations. With an extent of 1 it is a view.

    ```mlir
    %k = stg.broadcast dim 2 %r : !stg.tensor<[B, S, E], bf16> -> !stg.tensor<[B, S, H, E], bf16>
    ```
    Constraints: (C1) the result is the operand with one more dimension at that place.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Int", "dim">];
}

def BroadcastGradOp : STG_ExplicitOp<"broadcast_grad", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "gradient of stg.broadcast: the sum along the dimension";
  let description = [{
    Operations: 1 per element of the operand.

    Constraints: (C1) the operand is the result with one more dimension at that place.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Int", "dim">];
}

def KeepOp : STG_TensorOp<"keep", [
    MemoryEffects<[MemWrite]>, SameTypeOperands,
    DeclareOpInterfaceMethods<ShardableOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface, ["isView"]>]> {
  let summary = "keeps a value that nobody reads from being removed";
  let description = [{
    Costs nothing and becomes no node. Frameworks replay a whole layer, also what its
    backward pass does not read; this op says that the replay is meant. With `like` each rank
    has of the value what it has of that one, so that a sum is reduced as it is where the
    residual stream goes on.

    ```mlir
    stg.keep %y : !x
    stg.keep %y, %n : !x, !x
    ```
  }];
  let args = (ins STG_Tensor:$value, Optional<STG_Tensor>:$like);
  let plan = STG_Plan;
}

//===----------------------------------------------------------------------===//
// Optimizer
//===----------------------------------------------------------------------===//

def AccumulateOp : STG_PointwiseOp<"accumulate", "1", "", [STG_Destroys<0>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>,
    DeclareOpInterfaceMethods<CostOpInterface, ["getReusableOperand",
                                                "destroysOperand"]>]> {
  let summary = "adds a micro-batch's contribution to a gradient, in place";
  let description = [{
    The result is the first operand's buffer after the change; nobody may read the
    operand afterwards. Operations: 1 per element. Where the second operand is a product
    that nobody else reads, the product adds to the buffer itself, as Megatron-LM's fused
    gradient accumulation does: there is no node for this op, and no operation more.

    ```mlir
    %g1 = stg.accumulate %g0, %dw : !dw, !dw
    ```
    Constraints: (C1) both operands have the same shape and element type; (C2) nobody
    reads the first operand afterwards.
  }];
  let args = (ins STG_Tensor:$total, STG_Tensor:$term);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def AllReduceOp : STG_CollectiveOp<"all_reduce", "AllReduce",
                                    [Pure, InferTypeOpAdaptor]> {
  let summary = "combines partial values over mesh axes";
  let description = [{
    Several operands are one coalesced collective over one flat buffer, as gradient
    buckets are. `among` restricts the group to the devices with these coordinates on the
    only axis, as the first and the last pipeline stage that share an embedding.

    ```mlir
    %y = stg.all_reduce sum over ["tp"] %x : !x
    ```
    Constraints: (C1) results have the operands' types; (C2) the axes are axes of
    the mesh and distinct; (C3) with `among` there is one axis, and at least two
    coordinates, of which none is negative, listed twice, or beyond a size that is a number.
  }];
  let args = (ins Variadic<STG_Tensor>:$inputs, STG_ReduceKindAttr:$kind,
                       StrArrayAttr:$axes,
                       OptionalAttr<DenseI64ArrayAttr>:$among);
  let results = (outs Variadic<STG_Tensor>:$results);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$types,
      "::mlir::ValueRange":$inputs, "::stg::ReduceKind":$kind,
      "::mlir::ArrayAttr":$axes), [{
    build($_builder, $_state, types, inputs, kind, axes,
          ::mlir::DenseI64ArrayAttr());
  }]>];
  let reduction = "getKind()";
  let coalescable = 1;
  let hasCanonicalizer = 1;
  let leading = [STG_EnumLeading<"ReduceKind", "kind">,
                 STG_Leading<"Axes", "axes">];
}

/// What a collective of devices with shares of different size says: the bytes that this
/// device brings, and those that all devices of the group say.
def STG_UnevenCollective {
  code declarations = [{
    ::stg::SymExpr getExactBytes() { return getPayloadAttr(); }
    ::stg::SymExpr getPaddedBytes() { return getPaddedAttr(); }
  }];
}

def AllGatherOp : STG_CollectiveOp<"all_gather", "AllGather", [Pure]> {
  let summary = "joins the shards of one dimension over mesh axes";
  let description = [{
    ```mlir
    %y = stg.all_gather dim 1 over ["tp"] %x : !shard -> !whole
    ```
    With a `payload` devices have shards of different size: it is what this one brings.
    Traces of a group must agree on a size, which is `padded` then, or the payload.

    Constraints: (C1) the result's extent in the dimension is the operand's times
    the size of the axes, all other extents agree; with a `payload` extents are free; (C2)
    the axes are axes of the mesh and distinct; (C3) `padded` comes with a `payload`.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim, StrArrayAttr:$axes,
                       OptionalAttr<Sym_ExprAttr>:$payload,
                       OptionalAttr<Sym_ExprAttr>:$padded);
  let results = (outs STG_Tensor:$result);
  let dividedBefore = "getDim()";
  let moreDeclarations = STG_UnevenCollective.declarations;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "dim">, STG_Leading<"Axes", "axes">];
}

def ReduceScatterOp : STG_CollectiveOp<"reduce_scatter", "ReduceScatter", [Pure]> {
  let summary = "sums partial values and leaves one shard of a dimension each";
  let description = [{
    ```mlir
    %y = stg.reduce_scatter dim 1 over ["tp"] %x : !whole -> !shard
    ```
    `payload` and `padded` are those of `stg.all_gather`.

    Constraints: (C1) the operand's extent in the dimension is the result's times
    the size of the axes, all other extents agree; with a `payload` extents are free; (C2)
    the axes are axes of the mesh and distinct; (C3) `padded` comes with a `payload`.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim, StrArrayAttr:$axes,
                       OptionalAttr<Sym_ExprAttr>:$payload,
                       OptionalAttr<Sym_ExprAttr>:$padded);
  let results = (outs STG_Tensor:$result);
  let reduction = "::stg::ReduceKind::Sum";
  let dividedAfter = "getDim()";
  let moreDeclarations = STG_UnevenCollective.declarations;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "dim">, STG_Leading<"Axes", "axes">];
}

def AllToAllOp : STG_CollectiveOp<"all_to_all", "AllToAll", [Pure]> {
  let summary = "moves the sharding over mesh axes from one dimension to another";
  let description = [{
    ```mlir
    %y = stg.all_to_all from 2 to 1 over ["cp"] %x : !heads_sharded -> !tokens_sharded
    ```
    Dimension `from` is sharded before and whole after, dimension `to` the other way
    round. With a `payload` devices hold different shares of one of them: it is the
    bytes that the device with the largest share passes in or gets, whichever is more,
    and all devices of the group have this size, as their traces must agree on it. With
    `padded`, that is this size, and the payload is what this device passes in.

    Constraints: (C1) the extents agree with that, with a `payload` those of `from` or
    of `to`, and with `padded` extents are free; (C2) the axes are axes of the mesh and
    distinct; (C3) `padded` comes with a `payload`.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$from, I64Attr:$to,
                       StrArrayAttr:$axes, OptionalAttr<Sym_ExprAttr>:$payload,
                       OptionalAttr<Sym_ExprAttr>:$padded);
  let results = (outs STG_Tensor:$result);
  let dividedBefore = "getFrom()";
  let dividedAfter = "getTo()";
  let moreDeclarations = STG_UnevenCollective.declarations;
  let hasFolder = 1;
  let leading = [STG_Leading<"Int", "from">,
                 STG_Leading<"Int", "to">, STG_Leading<"Axes", "axes">];
}

def LocalSliceOp : STG_CollectiveOp<"local_slice", "LocalSlice", [Pure]> {
  let summary = "this device's shard of a value that it holds whole";
  let description = [{
    A view; nothing is communicated.

    ```mlir
    %y = stg.local_slice dim 0 over ["dp"] %x : !whole -> !shard
    ```
    With `peer` it is the shard of another device of the group. Which one that is changes
    nothing of the cost.

    Constraints: those of `stg.reduce_scatter`.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim, StrArrayAttr:$axes,
                  UnitAttr:$peer);
  let results = (outs STG_Tensor:$result);
  let dividedAfter = "getDim()";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let leading = [STG_Leading<"Int", "dim">, STG_Leading<"Axes", "axes">];
}

/// Collectives over flat shards: the elements of a tensor, as they lie in memory,
/// divided evenly among the devices and padded, as ZeRO and FSDP do. The leading
/// dimensions that whole and shard have in common are those of a stack, whose tensors are
/// divided one by one.
class STG_FlatCollectiveOp<string mnemonic, string kind,
                           list<Trait> traits = [Pure]>
    : STG_CollectiveOp<mnemonic, kind, traits> {
  let args = (ins Variadic<STG_Tensor>:$inputs, StrArrayAttr:$axes);
  let results = (outs Variadic<STG_Tensor>:$results);
  let flat = 1;
  let coalescable = 1;
  let moreDeclarations = "::stg::SymExpr getExactBytes();\n";
  let leading = [STG_Leading<"Axes", "axes">];
}

def FlatAllGatherOp : STG_FlatCollectiveOp<"flat_all_gather", "AllGather"> {
  let summary = "joins the flat shards of tensors over mesh axes";
  let description = [{
    Several operands are one collective, as the parameters of an FSDP unit are. In a
    `stg.repeat` it may start as many iterations `ahead`.

    ```mlir
    %w = stg.flat_all_gather over ["dp"] %s
      : !stg.tensor<[ceildiv(D*F, dp)], bf16> -> !stg.tensor<[D, F], bf16>
    ```
    Constraints: (C1) there are as many results as operands, and at least one; (C2) each
    shard has the leading dimensions of its tensor and one more, `ceildiv` of the other
    elements by the size of the group, and the same element type, or in a gather a wider
    one: what is gathered is cast first; (C3) the axes are axes of the mesh and distinct.
  }];
  let args = (ins Variadic<STG_Tensor>:$inputs, StrArrayAttr:$axes,
                  OptionalAttr<I64Attr>:$ahead);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$types,
      "::mlir::ValueRange":$inputs, "::mlir::ArrayAttr":$axes), [{
    build($_builder, $_state, types, inputs, axes, ::mlir::IntegerAttr());
  }]>];
}

def FlatReduceScatterOp
    : STG_FlatCollectiveOp<"flat_reduce_scatter", "ReduceScatter"> {
  let summary = "sums partial tensors over mesh axes and leaves a flat shard of each";
  let description = [{
    The inverse of `stg.flat_all_gather`, with a sum: what is left of gradients in ZeRO.

    Constraints: those of `stg.flat_all_gather`, with operands and results exchanged.
  }];
  let reduction = "::stg::ReduceKind::Sum";
}

def GatherUpdatedOp
    : STG_FlatCollectiveOp<"gather_updated", "AllGather", [
        MemoryEffects<[MemWrite<STG_Parameters>]>]> {
  let summary = "completes parameters of which each device has updated a flat shard";
  let description = [{
    In place: afterwards each device has all elements of the parameters, of which it had
    its own shard up to date (ZeRO-1 and -2).

    ```mlir
    stg.gather_updated over ["dp"] %w1, %v1 : !w, !v
    ```
    Constraints: (C1) there is at least one operand; (C2) the axes are axes of the mesh
    and distinct; (C3) `leading` says of each operand how many dimensions are those of a
    stack.
  }];
  let args = (ins Variadic<STG_Tensor>:$inputs, StrArrayAttr:$axes,
                       DenseI64ArrayAttr:$leading);
  let results = (outs);
  let hasVerifier = 1;
  let moreDeclarations = [{
    ::stg::SymExpr getExactBytes();
    void takeOperandsOf(::llvm::ArrayRef<::mlir::OpOperand *> operands);
    ::mlir::Attribute getIdentity() {
      return ::stg::detail::getCollectiveIdentity(*this, {"leading"});
    }
  }];
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

def SendOp : STG_Op<"send", [MemoryEffects<[MemWrite]>, StepOpInterface,
    DeclareOpInterfaceMethods<MessageOpInterface, ["getMessageTypes"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "sends values to a neighbour along a mesh axis";
  let description = [{
    One message with all operands, to the device whose coordinate on the axis is the own
    one plus `shift`, modulo the size of the axis, and whose other coordinates are the
    same. The k-th send of a channel meets the k-th `stg.recv` of that channel on the
    peer, which has the opposite shift. At the local level only.

    In a `stg.schedule` each turn has a channel of its own: the one that is written is that
    of turn 0, and `by` says how far they are apart.

    ```mlir
    stg.send over "pp" shift 1 channel 7 %y : !x
    stg.send over "pp" shift 1 channel 7 by 2 %y : !x
    ```
    A part of the values is sent with `payload`, which is its bytes.

    Constraints: (C1) the axis is one of the mesh; (C2) the shift is not 0 and the channel
    not negative; (C3) there is at least one value; (C4) in a schedule, and only there, there
    is a `by`, which is positive.
  }];
  let arguments = (ins Variadic<STG_Tensor>:$inputs, StrAttr:$axis,
                       I64Attr:$shift, I64Attr:$channel,
                       OptionalAttr<I64Attr>:$stride,
                       OptionalAttr<Sym_ExprAttr>:$payload, STG_Origin:$origin);
  let assemblyFormat = [{
    `over` $axis `shift` $shift `channel` $channel (`by` $stride^)?
    (`payload` `(` custom<Expr>($payload)^ `)`)? $inputs
    attr-dict custom<Origin>($origin) `:` type($inputs)
  }];
}

def RecvOp : STG_Op<"recv", [MemoryEffects<[MemRead, MemWrite]>, StepOpInterface,
    DeclareOpInterfaceMethods<MessageOpInterface, ["getMessageTypes"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "receives values from a neighbour along a mesh axis";
  let description = [{
    The counterpart of `stg.send`: from the device whose coordinate on the axis is the own
    one plus `shift`.

    ```mlir
    %x = stg.recv over "pp" shift -1 channel 7 : !x
    %t = stg.recv into %tokens payload(4*B) over "pp" shift -1 channel 9 : !tokens
    ```
    With `into` the message is written into a value that is there, of which it may be a part:
    tokens that a step reads, and that the step before has sampled. The result is that value
    from then on.

    Constraints: those of `stg.send`, and (C5) what is received `into` has the type of the
    only result, and there is a `payload` with it, and only with it.
  }];
  let arguments = (ins Optional<STG_Tensor>:$into, StrAttr:$axis,
                       I64Attr:$shift, I64Attr:$channel,
                       OptionalAttr<I64Attr>:$stride,
                       OptionalAttr<Sym_ExprAttr>:$payload, STG_Origin:$origin);
  let results = (outs Variadic<STG_Tensor>:$results);
  let assemblyFormat = [{
    (`into` $into^ `:` qualified(type($into)))? (`payload` `(` custom<Expr>($payload)^ `)`)?
    `over` $axis `shift` $shift `channel` $channel (`by` $stride^)? attr-dict
    custom<Origin>($origin) `:` type($results)
  }];
  let hasVerifier = 1;
}

def ExchangeOp : STG_Op<"exchange", [MemoryEffects<[MemRead, MemWrite]>,
    StepOpInterface, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<MessageOpInterface, ["getMessageTypes"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "sends values to one neighbour and receives its like from the other";
  let description = [{
    An `stg.send` and the `stg.recv` of the other side of the device: in a ring all devices
    pass on what they have. What is received is of the same types, and for the same.

    ```mlir
    %k1, %v1 = stg.exchange over "cp" shift 1 channel 0 %k, %v : !k, !k
    ```
    Constraints: those of `stg.send`.
  }];
  let arguments = (ins Variadic<STG_Tensor>:$inputs, StrAttr:$axis,
                       I64Attr:$shift, I64Attr:$channel, STG_Origin:$origin);
  let results = (outs Variadic<STG_Tensor>:$results);
  let assemblyFormat = [{
    `over` $axis `shift` $shift `channel` $channel $inputs attr-dict
    custom<Origin>($origin) `:` type($inputs)
  }];
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def ScheduleOp : STG_Op<"schedule", [NoTerminator, SingleBlock,
    RecursiveMemoryEffects, HasParent<"::mlir::func::FuncOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what a pipeline device does for all micro-batches, in order";
  let description = [{
    The body is one turn, what is done for one micro-batch; its ops are executed in up to
    `count` turns. `order` says when: any order in which what an op reads has been made
    before in the same turn. So one micro-batch may be far ahead of another, and the text
    does not grow with their number. What only some micro-batches do is executed in their
    turns.

    An argument of the body is an input, which is another value in each turn: those of the
    first argument come first. What `stg.turn_call`s add up over the turns are the results.
    Names in turn 3 of a schedule `mb` begin with `mb3.`.

    Two calls side by side, as a forward and a backward, are executed by turns: one of them
    up to its next kernel behind an all-to-all over just `switch_axes` (behind any
    collective, if there are none), then the other one.

    ```mlir
    %g = stg.schedule "mb" * 4 inputs(%x0, %x1, %x2, %x3 : !x, !x, !x, !x)
        order <[0 at 0], 3 * [0 at 1, 1 at 0], [1 at 3]> -> !w {
    ^bb0(%x: !x):
      %saved = func.call @forward(%x) : (!x) -> !x
      stg.turn_call to 0 first @backward.first next @backward.next last @backward.last(%saved)
        : (!x) -> ()
    }
    ```
    Constraints: (C1) there are at least two turns; (C2) for each argument of the body there
    is an input of its type for each turn; (C3) the body has calls of functions and messages;
    (C4) the order executes an op at most once in a turn, after those whose results it reads;
    (C5) the results are what is added up, in the order of the numbers of totals; (C6) what
    is side by side are calls in different turns, which do not both add to one total; (C7)
    `switch_axes` are one or more axes of the mesh, each once.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$count,
                       Variadic<STG_Tensor>:$inputs, Sym_OrderAttr:$order,
                       OptionalAttr<StrArrayAttr>:$switch_axes);
  let results = (outs Variadic<STG_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `*` $count (`inputs` `(` $inputs^ `:` type($inputs) `)`)?
    `order` $order (`switching` `at` $switch_axes^)? (`->` type($results)^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The value that an argument of the body has in a turn.
    ::mlir::Value getInput(unsigned argument, uint64_t turn) {
      return getInputs()[argument * getCount() + turn];
    }
  }];
}

def TurnCallOp : STG_Op<"turn_call", [CallOpInterface, HasParent<"ScheduleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a call that adds something up over the turns of a schedule";
  let description = [{
    The ops with one number add up to one total. What of them is executed first calls
    `first`, what is executed last `last`, and what is in between `next`, whatever the turns
    are. What these functions return behind the results of the op is what has been added up:
    `next` and `last` take it as further arguments, and what `last` returns are results of
    the schedule. To MLIR it calls the first function that is there.

    ```mlir
    %dx = stg.turn_call to 0 first @b.first next @b.next last @b.last(%dy, %saved)
      : (!x, !x) -> !x
    ```
    Constraints: (C1) the functions exist, and have the types of operands, results and of
    what is added up; (C2) those are there that the order of the schedule needs, and only
    those, at least one.
  }];
  let arguments = (ins I64Attr:$total, OptionalAttr<FlatSymbolRefAttr>:$first,
                       OptionalAttr<FlatSymbolRefAttr>:$next,
                       OptionalAttr<FlatSymbolRefAttr>:$last,
                       Variadic<STG_Tensor>:$operands);
  let results = (outs Variadic<STG_Tensor>:$results);
  let assemblyFormat = [{
    `to` $total (`first` $first^)? (`next` $next^)? (`last` $last^)?
    `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
  let extraClassDeclaration = Sym_TurnCall<>.methods;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

def RepeatOp : STG_Op<"repeat", [AttrSizedOperandSegments, RecursiveMemoryEffects,
    RecursivelySpeculatable, StepOpInterface,
    SingleBlockImplicitTerminator<"::stg::YieldOp">, ScanOpInterface,
    DeclareOpInterfaceMethods<LoopLikeOpInterface,
        ["getInitsMutable", "getRegionIterArgs", "getYieldedValuesMutable",
         "getLoopResults", "getStaticTripCount"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
        ["getEntrySuccessorOperands", "getRegionInvocationBounds",
         "areTypesCompatible"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "repeats its body: the layers of a model";
  let description = [{
    A scan: values are carried from each iteration to the next, stacked operands are
    read one slice per iteration, and what the body yields beyond the carried values
    is stacked into results with a new leading dimension. `reverse` runs from the last
    iteration to the first; slice i of a stack belongs to iteration i either way. The
    body may read values defined outside. Never unrolled before traces are written.

    MLIR's analyses know it as a loop that carries values and is entered at least once.
    Where the value that it starts with or yields is sharded otherwise than the one it
    carries, `LoopLikeOpInterface`, which wants one type, sees no carried values;
    `RegionBranchOpInterface` and `ScanOpInterface` do.

    ```mlir
    %y = stg.repeat "layers" * L carry(%x = %e : !x) {
      ...
      stg.yield %out : !x
    }
    %dx, %dw = stg.repeat "layers" * L reverse carry(%d = %dy : !x)
        slices(%s = %saved : !stg.tensor<[layers = L, B, S, D], bf16>) {
      ...
      stg.yield %din, %g : !x, !w
    }
    ```
    At the plan level an argument may be sharded otherwise than what it is bound to
    (`carry(%x = %e : !x as !y)`), and a stacked result otherwise than what is yielded
    (`-> (types)` before the body).

    `from` says how the first iteration is numbered (`* 8 from 16`: the layers 16 to 23 of
    a pipeline stage); without it, 0.

    `recompute full` says of a repeat of the forward pass what backward replays of it
    (`none`, `selective`, `full`), instead of what `--stg-recompute` is told.

    The name is the scope of the parameters inside, and by default that of the leading
    dimension of what is stacked. A repeat may read what another one has stacked.
    Constraints: (C1) the first
    yielded values have the carried types; (C2) a stack's leading extent is the count; (C3) the count is not a constant other than a positive integer, and may be zero on some ranks where passes compute it; (C4)
    arguments and results have the types of what they are bound to, up to sharding.
  }];
  let arguments = (ins StrAttr:$repeat_name, Sym_ExprAttr:$count,
                       OptionalAttr<Sym_ExprAttr>:$first, UnitAttr:$reverse,
                       Variadic<STG_Tensor>:$carried_inits,
                       Variadic<STG_Tensor>:$stacks,
                       OptionalAttr<STG_RecomputePolicyAttr>:$recompute,
                       STG_Origin:$origin);
  let results = (outs Variadic<STG_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// Creates the body block with arguments for carries and slices and without
    /// terminator; `stackedTypes` are those of the yielded values that are stacked.
    OpBuilder<(ins "::llvm::StringRef":$name, "::stg::SymExpr":$count,
                   "bool":$reverse, "::mlir::ValueRange":$inits,
                   "::mlir::ValueRange":$stacks,
                   "::mlir::TypeRange":$stackedTypes)>
  ];
  let extraClassDeclaration = [{
    unsigned getNumCarried() { return getCarriedInits().size(); }
    ::mlir::StringAttr getScopeName() { return getRepeatNameAttr(); }
    void setRange(::stg::SymExpr first, ::stg::SymExpr count);
    ::stg::YieldOp getYield();
    /// The leading dimension of its stacks.
    ::stg::DimAttr getStackDim() {
      return ::stg::DimAttr::get(getRepeatNameAttr(), getCount());
    }
    /// Adds a stacked operand and returns its slice argument.
    ::mlir::BlockArgument addSlice(::mlir::Value stack);
    /// Replaces the op by one that also stacks `values` of its body; returns it.
    /// The old op is erased; the first results are those it had.
    ::stg::RepeatOp withStacked(::mlir::RewriterBase &rewriter,
                                ::mlir::ValueRange values);
    ::llvm::LogicalResult dropUnusedStacks(::mlir::RewriterBase &rewriter);
  }];
}

def YieldOp : STG_Op<"yield", [Pure, Terminator,
    ParentOneOf<["RepeatOp", "IfOp"]>,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "ends one iteration of stg.repeat, or a variant of stg.if";
  let description = [{
    Of a repeat: first the carried values for the next iteration, then the values to
    stack. Of a variant: the results.
  }];
  let arguments = (ins Variadic<STG_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

include "stg/Dialect/STG/IR/STGInferenceOps.td"
include "stg/Dialect/STG/IR/STGMoEOps.td"
include "stg/Dialect/STG/IR/STGTensorOps.td"
include "stg/Dialect/STG/IR/STGBlockOps.td"
include "stg/Dialect/STG/IR/STGOptimizerOps.td"

#endif // STG_DIALECT_STG_IR_STGOPS
