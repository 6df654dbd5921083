//===- Explained.h - Failures that are said ---------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_STEP_EXPLAINED_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_STEP_EXPLAINED_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace stg {

/// Calls a method that an op of any dialect implements. If it fails and has not
/// said why, that is said at the op.
inline llvm::LogicalResult
callExplained(mlir::Operation *op, llvm::StringRef method,
              llvm::function_ref<llvm::LogicalResult()> call) {
  bool isExplained = false;
  llvm::LogicalResult result = llvm::failure();
  {
    mlir::ScopedDiagnosticHandler handler(
        op->getContext(), [&](mlir::Diagnostic &diagnostic) {
          isExplained |=
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
          return llvm::failure(); // Others handle it.
        });
    result = call();
  }
  if (failed(result) && !isExplained)
    op->emitOpError("fails in ") << method << " without saying why";
  return result;
}

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_STEP_EXPLAINED_H
