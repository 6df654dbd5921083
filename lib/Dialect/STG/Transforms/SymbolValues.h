//===- SymbolValues.h - Values of symbols before binding --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known of the values of symbols before they are bound.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SYMBOLVALUES_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SYMBOLVALUES_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// What `NAME=VALUE` texts, a configuration of the module and defaults say,
/// each before the next. An expression that cannot be read is an error.
mlir::FailureOr<SymBinding>
collectSymbolValues(mlir::ModuleOp module, llvm::StringRef config,
                    llvm::ArrayRef<std::string> values);

/// The number that an expression is, if its symbols have values.
std::optional<int64_t> evaluate(SymExpr expr, const SymBinding &binding);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SYMBOLVALUES_H
