//===- ChakraTypes.h - Types and enums of the chakra dialect ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_IR_CHAKRATYPES_H
#define STG_DIALECT_CHAKRA_IR_CHAKRATYPES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "stg/Dialect/Sym/IR/Sym.h"

#include "stg/Dialect/Chakra/IR/ChakraEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "stg/Dialect/Chakra/IR/ChakraAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "stg/Dialect/Chakra/IR/ChakraTypes.h.inc"

namespace stg::chakra {

/// Number of memory categories; `Category` is dense from 0.
constexpr unsigned kNumCategories = getMaxEnumValForCategory() + 1;

/// Bytes of a tensor, or of all tensors of a stack together.
SymExpr getTotalBytes(mlir::Type type);

} // namespace stg::chakra

#endif // STG_DIALECT_CHAKRA_IR_CHAKRATYPES_H
