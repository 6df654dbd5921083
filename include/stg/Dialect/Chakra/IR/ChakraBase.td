//===- ChakraBase.td - The chakra dialect and its types ----*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_IR_CHAKRABASE
#define STG_DIALECT_CHAKRA_IR_CHAKRABASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "stg/Dialect/Sym/IR/SymAttrs.td"

def Chakra_Dialect : Dialect {
  let name = "chakra";
  let cppNamespace = "::stg::chakra";
  let summary = "Execution graphs of classes of ranks";
  let description = [{
    The `chakra` dialect says what one rank of a distributed step executes, node
    by node, just before it is written as a Chakra execution trace. Ranks that
    execute the same program and differ only in whom they talk to form a
    *class*; there is one `chakra.graph` per class, whatever the number of
    ranks. Sizes and operation counts stay symbolic expressions, and
    `chakra.repeat` is never unrolled in the IR, so that a graph has the size of
    the model's text.

    Values are buffers in the memory of the rank. A `!chakra.tensor` carries its
    size in bytes and its memory category; a `!chakra.stack` is one tensor per
    iteration of a repeat. There are no views and no copies: what is not a node
    costs nothing and is not here.

    Program order is the order of execution of each of the four streams of a rank
    (compute, communication, loads from the host, stores to it). An SSA use is a
    dependency that is needed for correctness.

    ```mlir
    chakra.graph @ranks mesh = #sym.mesh<tp = 8, dp = 4> {
      %x = chakra.state "tokens" : !chakra.tensor<4*B*S/dp, input>
      %t = chakra.state "tok_embeddings" : !chakra.tensor<2*V*D/tp, parameter>
      %h = chakra.comp "tok_embeddings.fwd"(%t, %x) ops(0) bytes(4*B*D*S/dp)
        : (!chakra.tensor<2*V*D/tp, parameter>, !chakra.tensor<4*B*S/dp, input>)
        -> !chakra.tensor<2*B*D*S/dp, activation>
      %r = chakra.coll all_reduce "tok_embeddings.all_reduce"(%h) over ["tp"]
        in_place : (!chakra.tensor<2*B*D*S/dp, activation>)
        -> !chakra.tensor<2*B*D*S/dp, activation>
    }
    ```

    Names make paths: node `qkv_proj.fwd` in iteration 3 of the repeat `layers`
    is `layers.3.qkv_proj.fwd` in the trace. The verifier of `chakra.graph`
    proves that no two nodes of a rank can have the same path.
  }];
  let dependentDialects = ["::stg::SymDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// A unit attribute of compute nodes.
    static constexpr ::llvm::StringLiteral kDelayedAttr = "chakra.delayed";
    /// What a compute node took that was measured, in microseconds.
    static constexpr ::llvm::StringLiteral kDurationAttr =
        "chakra.duration_micros";

    void registerAttributes();
    void registerTypes();
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// What a buffer is for; memory is accounted by category.
def Chakra_Category : I32EnumAttr<"Category", "memory category", [
    I32EnumAttrCase<"Parameter", 0, "parameter">,
    I32EnumAttrCase<"Gradient", 1, "gradient">,
    I32EnumAttrCase<"Optimizer", 2, "optimizer">,
    I32EnumAttrCase<"Activation", 3, "activation">,
    I32EnumAttrCase<"Temporary", 4, "temporary">,
    I32EnumAttrCase<"Communication", 5, "communication">,
    I32EnumAttrCase<"Input", 6, "input">,
    I32EnumAttrCase<"KVCache", 7, "kv_cache">,
    I32EnumAttrCase<"Host", 8, "host">]> {
  let cppNamespace = "::stg::chakra";
  let genSpecializedAttr = 0;
}

/// The values are those of Chakra's CollectiveCommType.
def Chakra_CollKind : I32EnumAttr<"CollKind", "collective", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">,
    I32EnumAttrCase<"AllGather", 2, "all_gather">,
    I32EnumAttrCase<"AllToAll", 6, "all_to_all">,
    I32EnumAttrCase<"ReduceScatter", 7, "reduce_scatter">]> {
  let cppNamespace = "::stg::chakra";
  let genSpecializedAttr = 0;
}
def Chakra_CollKindAttr
    : EnumAttr<Chakra_Dialect, Chakra_CollKind, "coll_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def Chakra_KernelAttr : AttrDef<Chakra_Dialect, "Kernel"> {
  let mnemonic = "kernel";
  let summary = "what a compute node computes, and its sizes";
  let description = [{
    The mnemonic of the op that the node was made of, the element types of its first
    operand and of its first result, and sizes:

    | op | sizes |
    |---|---|
    | `einsum` that contracts | M, N, K, batch: rows of the left operand, columns of the right one, what is summed over, and what both have; of a right operand that is stored otherwise, or read in part, its bytes |
    | `conv`, `conv_input_grad`, `conv_weight_grad` | M, N, K, batch of the product that it is: positions, outputs of a group, its window times channels, and groups. For the gradient of the input, positions that are read, channels, and what each of them is read for; for that of the weight, a window times channels, outputs, and positions |
    | `attention`, `attention_grad`, `attention_block`, `attention_block_grad` | sequences, heads, key/value heads, queries, keys, size of a key, size of a value, pairs of a query and a key that are not masked. Of several requests in a row, for those with as many new tokens: these, how many such requests there are, keys and pairs of all of them |
    | `glu`, `glu_grad` | elements of its operands, then of its result; with `clamped` the elements that are limited |
    | `top_k` | elements of scores, and of those that are chosen; where experts are in groups, how many of these there are, and from how many experts are chosen |
    | `orthogonalize` | of the block of a matrix that a device has, its shorter and its longer side; matrices; iterations |
    | `ssd`, `gated_delta_rule`, `general_delta_rule`, `matrix_memory`, and their gradients | chunks of the longest sequence, each of which waits for the one before; elements of its operands, then of its results |
    | any other | elements of its operands, then of its results |

    `accumulates`: the result is added to what is in its buffer. Nobody needs kernels to
    make traces; what says how long a node takes does.

    ```mlir
    %y = chakra.comp "ffn.fwd"(%x, %w) ... : (...) -> !chakra.tensor<2*B*S*F, activation>
      kernel <einsum bf16 -> bf16, [B*S, F, D, 1]>
    ```

    Where experts have different loads, sizes may be fractions; programs have them rounded up.

    Constraints: (C1) a constant size is not negative; (C2) there is a size.
  }];
  let parameters = (ins "::mlir::StringAttr":$op,
                        "::mlir::StringAttr":$operandType,
                        "::mlir::StringAttr":$resultType,
                        ArrayRefParameter<"::stg::SymExpr">:$sizes,
                        "bool":$accumulates);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Chakra_Type<string name, string typeMnemonic>
    : TypeDef<Chakra_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Chakra_Tensor : Chakra_Type<"Tensor", "tensor"> {
  let summary = "a buffer of so many bytes, of one memory category";
  let description = [{
    ```mlir
    !chakra.tensor<2*B*S*D/(dp*cp), activation>
    !chakra.tensor<1024, parameter>
    ```

    Categories: `parameter`, `gradient`, `optimizer`, `activation`, `temporary`,
    `communication`, `input`, `kv_cache`; and `host` for what is not in the memory of the
    rank but in that of its host, or in a remote one. Only `chakra.load` and `chakra.store`
    touch such a buffer.

    Constraints: (C1) a constant size is a non-negative integer.
  }];
  let parameters = (ins "::stg::SymExpr":$bytes,
                        "::stg::chakra::Category":$category);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Chakra_Stack : Chakra_Type<"Stack", "stack"> {
  let summary = "one tensor per iteration of a repeat";
  let description = [{
    Index `i` belongs to iteration `i` of the repeat that made the stack or
    reads it, also where that repeat runs in reverse. A nested repeat makes
    stacks of stacks, the outer repeat's index first.

    ```mlir
    !chakra.stack<!chakra.tensor<2*B*S*D, activation>, L>
    !chakra.stack<!chakra.stack<!chakra.tensor<64, gradient>, 4>, L>
    ```

    Constraints: (C1) the element is a tensor or a stack; (C2) a constant count
    is a non-negative integer.
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::stg::SymExpr":$count);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
                                        "::stg::SymExpr":$count), [{
      return Base::get(elementType.getContext(), elementType, count);
    }]>
  ];
  let extraClassDeclaration = [{
    /// The tensor at the bottom of stacks of stacks.
    TensorType getTensorType() const;
    /// Bytes of all tensors together.
    ::stg::SymExpr getBytes() const;
  }];
}

def Chakra_Token : Chakra_Type<"Token", "token"> {
  let summary = "the completion of a node, without a buffer";
  let description = [{
    What remains of a value when only its dependency matters: an `after` operand
    that has a token's type orders two nodes and takes no memory.
  }];
}

/// What carries can be and `after` accepts.
def Chakra_AnyValue : AnyTypeOf<[Chakra_Tensor, Chakra_Stack, Chakra_Token]>;
/// What nodes read.
def Chakra_Buffer : AnyTypeOf<[Chakra_Tensor, Chakra_Stack]>;

#endif // STG_DIALECT_CHAKRA_IR_CHAKRABASE
