//===- ParameterCounts.h - How many parameters a model has ---- -*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_PARAMETERCOUNTS_H
#define STG_LIB_DRIVER_PARAMETERCOUNTS_H

#include "mlir/IR/BuiltinOps.h"
#include "stg/Dialect/Sym/IR/SymExpr.h"

namespace stg {

/// Parameters of a program at the model level: each name once per scope, times
/// the iterations of the loops around it.
struct ParameterCounts {
  SymExpr all;
  /// Without those of the experts that a token does not go through.
  SymExpr active;
  /// Of the tables that have a row for each word of the vocabulary.
  SymExpr embedding;
  /// Those that are not trained.
  SymExpr frozen;
};

ParameterCounts countParameters(mlir::ModuleOp module);

/// The parameters that the optimizer of a step updates: those that the loss
/// depends on, and that are not frozen.
SymExpr countUpdated(mlir::ModuleOp module);

} // namespace stg

#endif // STG_LIB_DRIVER_PARAMETERCOUNTS_H
