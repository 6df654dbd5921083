//===- Evaluate.h - Numbers from expressions, or an error -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_EVALUATE_H
#define STG_LIB_TARGET_CHAKRA_EVALUATE_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include "stg/Dialect/Sym/IR/SymExpr.h"

namespace stg::chakra {

/// Like `op->emitOpError()`, but does not print the op, which may be a graph of
/// thousands of lines.
mlir::InFlightDiagnostic emitShortOpError(mlir::Operation *op);

/// The value of `expr`, which is `what` of `op`. Emits an error at `op` if the
/// expression has unbound symbols, is no integer, is negative, or does not fit
/// 64 bits.
mlir::FailureOr<int64_t> evaluate(mlir::Operation *op, SymExpr expr,
                                  llvm::StringRef what);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_EVALUATE_H
