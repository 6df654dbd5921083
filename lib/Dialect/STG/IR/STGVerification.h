//===- STGVerification.h - Checks that verifiers share ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_IR_STGVERIFICATION_H
#define STG_LIB_DIALECT_STG_IR_STGVERIFICATION_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg::detail {

inline SymTensorType tensorOf(mlir::Value value) {
  return llvm::cast<SymTensorType>(value.getType());
}

/// Fails with a message that names the first dimension in which the shapes
/// differ. Without a location nothing is printed.
llvm::LogicalResult checkSameShape(std::optional<mlir::Location> loc,
                                   llvm::StringRef what,
                                   llvm::ArrayRef<SymExpr> expected,
                                   llvm::ArrayRef<SymExpr> found);
llvm::LogicalResult checkMinRank(std::optional<mlir::Location> loc,
                                 llvm::StringRef what, SymTensorType type,
                                 int64_t rank);
llvm::LogicalResult checkIntegers(std::optional<mlir::Location> loc,
                                  llvm::StringRef what, SymTensorType type);

} // namespace stg::detail

#endif // STG_LIB_DIALECT_STG_IR_STGVERIFICATION_H
