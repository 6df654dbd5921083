//===- DiagnosticForwarder.h - MLIR's diagnostics as messages ---*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DRIVER_DIAGNOSTICFORWARDER_H
#define STG_DRIVER_DIAGNOSTICFORWARDER_H

#include "mlir/IR/Diagnostics.h"
#include "stg/Support/Messages.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>

namespace stg {

/// As long as it lives, the diagnostics of a context go to a printer: as text
/// MLIR prints them, with the line of the source, as JSON they are messages
/// like any other.
class DiagnosticForwarder {
public:
  DiagnosticForwarder(mlir::MLIRContext &context, llvm::SourceMgr &sources,
                      const MessagePrinter &printer);

private:
  std::optional<mlir::SourceMgrDiagnosticHandler> text;
  std::optional<mlir::ScopedDiagnosticHandler> messages;
};

} // namespace stg

#endif // STG_DRIVER_DIAGNOSTICFORWARDER_H
