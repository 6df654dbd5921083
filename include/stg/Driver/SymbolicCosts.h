//===- SymbolicCosts.h - What a rank does, as expressions -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The totals of a compilation before its symbols have values: one expression
// for what all values of them come to. The degrees of the strategy are numbers.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DRIVER_SYMBOLICCOSTS_H
#define STG_DRIVER_SYMBOLICCOSTS_H

#include "stg/Dialect/Sym/IR/SymExpr.h"
#include "stg/Driver/Compile.h"

namespace stg {

/// A total of one rank. An unused part of the key is empty.
struct SymbolicCost {
  /// "operations", "product_operations" (those of them in matrix products),
  /// "memory_traffic", "collective", or "state".
  std::string quantity;
  std::string phase;
  /// Of a collective its kind, of a state its category.
  std::string kind;
  std::string axes; ///< Of a collective, joined by '+'.
  /// Operations, or bytes: of a collective the payloads.
  SymExpr expression;
};

struct SymbolicCosts {
  std::vector<SymbolicCost> costs; ///< In order of first occurrence.
  /// The values that the model and the strategy give to symbols. Where ranks
  /// differ, the coordinate of a rank along an axis is AXIS_index, here 0.
  std::map<std::string, int64_t> symbols;
};

/// Compiles up to what one rank executes. Pipeline stages, micro-batches and
/// steps are made of numbers only, so there must be one of each. Expressions
/// live as long as the context.
mlir::FailureOr<SymbolicCosts> computeCosts(mlir::MLIRContext &context,
                                            const CompileRequest &request,
                                            const MessagePrinter &printer);

/// Adds up the ops of a module of the chakra level with one graph.
mlir::FailureOr<std::vector<SymbolicCost>> collectCosts(mlir::ModuleOp module);

} // namespace stg

#endif // STG_DRIVER_SYMBOLICCOSTS_H
