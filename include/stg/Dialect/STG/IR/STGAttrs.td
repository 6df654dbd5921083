//===- STGAttrs.td - Attributes of the stg dialect ---------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGATTRS
#define STG_DIALECT_STG_IR_STGATTRS

include "stg/Dialect/STG/IR/STGBase.td"

class STG_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<STG_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

/// The hand-written attribute of SymExpr.h as an op attribute constraint.
def STG_ExprAttr : Attr<CPred<"::llvm::isa<::stg::SymExpr>($_self)">,
                        "symbolic expression"> {
  let storageType = "::stg::SymExpr";
  let returnType = "::stg::SymExpr";
  let convertFromStorage = "$_self";
}

def STG_ReduceKind : I32EnumAttr<"ReduceKind", "how partial values combine", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_ReduceKindAttr : EnumAttr<STG_Dialect, STG_ReduceKind, "reduce_kind">;

def STG_Activation : I32EnumAttr<"Activation", "pointwise nonlinearity", [
    I32EnumAttrCase<"Silu", 0, "silu">, I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"Relu", 2, "relu">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_ActivationAttr : EnumAttr<STG_Dialect, STG_Activation, "activation">;

def STG_AttentionMask : I32EnumAttr<"AttentionMask", "which keys a query sees", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Causal", 1, "causal">]> {
  let cppNamespace = "::stg";
  let genSpecializedAttr = 0;
}
def STG_AttentionMaskAttr
    : EnumAttr<STG_Dialect, STG_AttentionMask, "mask">;

def STG_MeshAttr : STG_Attr<"Mesh", "mesh"> {
  let summary = "the named axes of a device mesh";
  let description = [{
    Axes are listed from the fastest to the slowest in the numbering of ranks:
    with `#stg.mesh<tp = 8, dp = 4>` rank = tp + 8 * dp. Sizes are symbolic
    expressions.

    Constraints: (C1) axis names are distinct; (C2) no size is a constant other than
    a positive integer.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr">:$axisNames,
    ArrayRefParameter<"::stg::SymExpr">:$axisSizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Position of the axis, or nullopt if there is none of that name.
    std::optional<unsigned> getAxisIndex(::llvm::StringRef name) const;
    /// Size of the named axis; null if there is none of that name.
    ::stg::SymExpr getAxisSize(::llvm::StringRef name) const;
    /// Product of the sizes of the named axes; null if one does not exist.
    ::stg::SymExpr getGroupSize(::mlir::ArrayAttr axes) const;
  }];
}

def STG_ShardingAttr : STG_Attr<"Sharding", "sharding"> {
  let summary = "the mesh axes that each dimension of a tensor is sharded over";
  let description = [{
    One list of axes per dimension, major to minor, and the axes over which the
    tensor is a partial sum: the full value is the sum over the devices along
    those axes. Printed inline in `!stg.tensor`; stands alone only where a
    sharding has no tensor.

    Constraints: (C1) an axis occurs at most once.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::ArrayAttr">:$dimAxes,
    "::mlir::ArrayAttr":$partialAxes,
    "::stg::ReduceKind":$partialKind);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True if no dimension is sharded and nothing is partial.
    bool isTrivial() const;
    /// True if a dimension is sharded over the axis.
    bool shardsOver(::mlir::StringAttr axis) const;
    /// True if a dimension is sharded over the axis or it is partial.
    bool uses(::mlir::StringAttr axis) const;
  }];
}

#endif // STG_DIALECT_STG_IR_STGATTRS
