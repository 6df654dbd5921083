//===- SymAttrs.td - Attributes of the sym dialect ---------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Enums are in SymEnums.td, which other dialects do not include: the enums of all
// included files would be generated again.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_SYM_IR_SYMATTRS
#define STG_DIALECT_SYM_IR_SYMATTRS

include "stg/Dialect/Sym/IR/SymBase.td"

/// The hand-written attribute of SymExpr.h as an op attribute constraint.
def Sym_ExprAttr : Attr<CPred<"::llvm::isa<::stg::SymExpr>($_self)">,
                        "symbolic expression"> {
  let storageType = "::stg::SymExpr";
  let returnType = "::stg::SymExpr";
  let convertFromStorage = "$_self";
}

def Sym_MeshAttr : AttrDef<Sym_Dialect, "Mesh"> {
  let mnemonic = "mesh";
  let summary = "the named axes of a device mesh";
  let description = [{
    Axes are listed from the fastest to the slowest in the numbering of ranks:
    with `#sym.mesh<tp = 8 : tensor, dp = 4 : data>` rank = tp + 8 * dp. Sizes are
    symbolic expressions. Names are free. A role says what the ranks along an axis divide
    among them, and is all that passes know of it; several axes may have one role:

    | role | ranks along the axis | who asks |
    |---|---|---|
    | `data` | hold the same parameters and divide the batch | joined collectives, ZeRO |
    | `replica` | likewise, and hold whole copies of what ZeRO shards | joined collectives, ZeRO |
    | `context` | hold the same parameters and divide the tokens of a sequence | joined collectives, ZeRO, attention |
    | `expert` | hold the same parameters but those of experts, which they divide | joined collectives, ZeRO |
    | `tensor` | divide parameters and what is computed with them | joined collectives |
    | `pipeline` | have different stages of the program | the schedule |
    | `none` (not written) | what rules say | |

    Constraints: (C1) axis names are distinct; (C2) no size is a constant other than
    a positive integer; (C3) at most one axis has the role `pipeline`.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr">:$axisNames,
    ArrayRefParameter<"::stg::SymExpr">:$axisSizes,
    ArrayRefParameter<"::stg::AxisRole">:$axisRoles);
  let builders = [
    /// Axes without roles: nothing but a numbering of ranks.
    AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$axisNames,
                     "::llvm::ArrayRef<::stg::SymExpr>":$axisSizes), [{
      ::llvm::SmallVector<::stg::AxisRole> roles(axisNames.size(),
                                                 ::stg::AxisRole::None);
      return $_get($_ctxt, axisNames, axisSizes, roles);
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Position of the axis, or nullopt if there is none of that name.
    std::optional<unsigned> getAxisIndex(::llvm::StringRef name) const;
    /// Size of the named axis; null if there is none of that name.
    ::stg::SymExpr getAxisSize(::llvm::StringRef name) const;
    /// Product of the sizes of the named axes; null if one does not exist.
    ::stg::SymExpr getGroupSize(::mlir::ArrayAttr axes) const;
    /// Role of the named axis; `None` if there is none of that name.
    ::stg::AxisRole getAxisRole(::llvm::StringRef name) const;
    /// The axes of that role, from the fastest to the slowest.
    ::llvm::SmallVector<::mlir::StringAttr> getAxes(::stg::AxisRole role) const;
    /// The axis along which stages live; null if the program is not cut.
    ::mlir::StringAttr getPipelineAxis() const;
  }];
}

def Sym_OrderAttr : AttrDef<Sym_Dialect, "Order"> {
  let mnemonic = "order";
  let summary = "in which order a schedule executes its ops, and in which turns";
  let description = [{
    `OP at TURN` is the execution of an op of the body, by its number, in one turn. What
    comes again and again is there once: `3 * [0 at 1, 1 at 0]` is executed three times, and
    the turn of each moves on by 1, or by as many as `by` says. `1 at 0 | 0 at 1` are side by
    side: they are executed by turns, and the first one begins.

    ```mlir
    #sym.order<[0 at 0], 3 * [0 at 1, 1 at 0], [1 at 3]>
    #sym.order<4 * [0 at 0], 4 * [1 at 3 by -1]>
    #sym.order<[0 at 0], 3 * [1 at 0 | 0 at 1], [1 at 3]>
    ```
    Constraints: (C1) numbers of ops and turns are at least 0 and have 31 bits, and at most
    two are side by side.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$numbers);
  let builders = [
    AttrBuilder<(ins "const ::stg::ExecutionOrder &":$order), [{
      ::llvm::SmallVector<int64_t> numbers = order.flatten();
      return $_get($_ctxt, ::llvm::ArrayRef<int64_t>(numbers));
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::stg::ExecutionOrder getOrder() const;
  }];
}

#endif // STG_DIALECT_SYM_IR_SYMATTRS
