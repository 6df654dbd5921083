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

    Constraints: (C1) the element type is an integer or a float of whole bytes, or f4E2M1FN, of
    which two share a byte;
    (C2) no axis occurs twice; (C3) no dimension is a constant other than a positive
    integer.
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
    /// Bytes of one element (int4 and other sub-byte types are refused).
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

#endif // STG_DIALECT_STG_IR_STGTYPES
