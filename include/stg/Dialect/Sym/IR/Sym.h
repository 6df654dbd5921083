//===- Sym.h - The sym dialect ----------------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_SYM_IR_SYM_H
#define STG_DIALECT_SYM_IR_SYM_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "stg/Dialect/Sym/IR/SymExpr.h"
#include "stg/Support/ExecutionOrder.h"
#include <optional>

#include "stg/Dialect/Sym/IR/SymDialect.h.inc"
#include "stg/Dialect/Sym/IR/SymEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "stg/Dialect/Sym/IR/SymAttrs.h.inc"

namespace stg::detail {

/// Checks the coordinates that a collective over `numAxes` axes is among: of
/// one axis, at least two, none negative or listed twice.
llvm::LogicalResult verifyAmong(mlir::Operation *collective,
                                llvm::ArrayRef<int64_t> among, size_t numAxes);

} // namespace stg::detail

#endif // STG_DIALECT_SYM_IR_SYM_H
