//===- STGTypes.td - Types of the stg dialect --------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGTYPES
#define STG_DIALECT_STG_IR_STGTYPES

include "stg/Dialect/STG/IR/STGAttrs.td"

def STG_Tensor : TypeDef<STG_Dialect, "SymTensor"> {
  let mnemonic = "tensor";
  let summary = "a tensor with symbolic shape";
  let description = [{
    Shape, element type and, from the plan level on, sharding:

    ```mlir
    !stg.tensor<[B, S, D], bf16>                        // model level
    !stg.tensor<[B : dp, S, (H + 2*K) : tp, E], bf16>   // plan level
    !stg.tensor<[B : dp, S, D], bf16, sum(tp)>          // partial sums over tp
    !stg.tensor<[B/dp, S/tp, D], bf16>                  // local level
    !stg.tensor<[B = 64, T = S : cp, (H, K) = 48, 2], bf16>
    ```

    A dimension has names and an extent, which is a symbolic expression. Passes find
    it by its names. By default these are the symbols of the extent (see `#stg.dim`);
    others stand before it: `T = S`, `(H, K) = 48`, `_ = S` for none. Types whose
    dimensions have different names are different types. A dimension sharded over
    several axes lists them major to minor: `B : (dp, cp)`.

    A dimension may be the mean of several: of the rows that experts get, where these do not
    divide evenly. Then it is a fraction, and the tensor has an integer number of elements.

    Constraints: (C1) the element type is an integer or a float of whole bytes, f4E2M1FN, of
    which two share a byte, `!stg.scaled` or `!stg.mixed`;
    (C2) no axis occurs twice; (C3) no dimension is a constant other than a positive number,
    and the number of elements is an integer where it is a constant; (C4) the parts of a mixed
    row add up to the last dimension.
  }];
  let parameters = (ins
    ArrayRefParameter<"::stg::DimAttr">:$dims,
    "::mlir::Type":$elementType,
    OptionalParameter<"::stg::ShardingAttr">:$sharding);
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<::stg::DimAttr>":$dims,
                     "::mlir::Type":$elementType), [{
      return Base::get($_ctxt, dims, elementType, ::stg::ShardingAttr());
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDims().size(); }
    ::stg::DimAttr getDim(unsigned dim) const { return getDims()[dim]; }
    /// The extents of all dimensions.
    ::stg::ExtentRange getShape() const { return getDims(); }
    /// Number of elements; 1 for a scalar.
    ::stg::SymExpr getNumElements() const;
    /// Bytes of one element, rounded up, without scales.
    int64_t getElementBytes() const;
    ::stg::SymExpr getNumBytes() const;
    /// The same tensor without sharding.
    SymTensorType withoutSharding() const;
    /// The same tensor with this sharding; a trivial one is dropped.
    SymTensorType withSharding(::stg::ShardingAttr sharding) const;
    SymTensorType withElementType(::mlir::Type elementType) const;
    /// The same tensor with other dimensions, as many, sharded alike.
    SymTensorType withDims(::llvm::ArrayRef<::stg::DimAttr> dims) const;
    /// A stack of these: a new leading dimension, never sharded.
    SymTensorType getStacked(::stg::DimAttr leading) const;
    /// The inverse of getStacked: without the leading dimension.
    SymTensorType getSlice() const;
    /// True for what may be the element type of a tensor.
    static bool isValidElementType(::mlir::Type type);
    /// True if dimensions and element types agree; shardings may differ.
    static bool equalUpToSharding(::mlir::Type lhs, ::mlir::Type rhs);
  }];
}

def STG_Scaled : TypeDef<STG_Dialect, "Scaled"> {
  let mnemonic = "scaled";
  let summary = "narrow elements, with scales of blocks of them";
  let description = [{
    An element type of what is stored: elements in few bits, and beside them one scale for
    each block. There is a number for each of the last dimensions of the tensor: how many
    elements of it are in a block, -1 for all of them, and 0 for a dimension that is joined
    with the next one before both are divided. Dimensions before these have a block for each
    element.

    ```mlir
    // 128 x 128 elements share a scale, as in DeepSeek-V3
    !stg.tensor<[D, F], !stg.scaled<f8E4M3FN scales f32 of [128, 128]>>
    // 32 of the products of a column, as MXFP4 has them; heads and their sizes are one row
    !stg.tensor<[H, E, D], !stg.scaled<f4E2M1FN scales f8E8M0FNU of [0, 32, 1]>>
    ```
    The bytes of a tensor are those of its elements and of its scales. Blocks that a shard
    of a tensor begins are counted whole.

    Constraints: (C1) elements are integers or floats of 4 or 8 bits, and scales floats of
    whole bytes; (C2) there is at least one number, none is below -1, and the last one is
    not 0.
  }];
  let parameters = (ins
    "::mlir::Type":$elementType, "::mlir::Type":$scaleType,
    ArrayRefParameter<"int64_t">:$blocks);
  let assemblyFormat =
      "`<` $elementType `scales` $scaleType `of` `[` $blocks `]` `>`";
  let genVerifyDecl = 1;
}

def STG_Mixed : TypeDef<STG_Dialect, "Mixed"> {
  let mnemonic = "mixed";
  let summary = "rows whose parts have types of their own";
  let description = [{
    An element type of what is joined along the last dimension of a tensor: so many elements of
    a row have the first type, so many the next one.

    ```mlir
    // FP8 latents with scales, and positions in 16 bits: 656 bytes of a token
    !stg.tensor<[B, S, 576], !stg.mixed<[#sym.expr<512>, #sym.expr<64>] of !stg.scaled<f8E4M3FN scales f32 of [128]>, bf16>>
    ```
    The bytes of a tensor are those of its parts.

    Constraints: (C1) there are as many types as extents, at least two; (C2) each is an element
    type of tensors, and none is of this kind itself.
  }];
  let parameters = (ins
    ArrayRefParameter<"::stg::SymExpr">:$extents,
    ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` `[` $extents `]` `of` $types `>`";
  let genVerifyDecl = 1;
}

#endif // STG_DIALECT_STG_IR_STGTYPES
