//===- PassFields.h - What passes are asked by ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass refuses a program in words of the program. Who gave flags is told
// which of them the pass was asked by.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_PASSFIELDS_H
#define STG_LIB_DRIVER_PASSFIELDS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "stg/Strategy/StrategyInput.h"

namespace stg {

/// As long as it lives, which is while the manager runs, errors of its passes
/// end with the given fields that the pass follows from: `(with --mtp 1)`.
class PassFields {
public:
  PassFields(mlir::PassManager &pm, const StrategyInput &strategy);

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic) const;

  struct Watcher;
  const StrategyInput &strategy;
  /// Of the pass that began last.
  llvm::StringRef argument;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace stg

#endif // STG_LIB_DRIVER_PASSFIELDS_H
