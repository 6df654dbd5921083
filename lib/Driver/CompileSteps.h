//===- CompileSteps.h - All steps that a strategy asks for ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_COMPILESTEPS_H
#define STG_LIB_DRIVER_COMPILESTEPS_H

#include "CompileModel.h"

namespace stg {

/// A model at the chakra level, and the text that locations in it are in.
struct CompiledModel {
  Model model;
  llvm::SourceMgr *sources;
};

/// Compiles the model of the request: one step, or loops of steps, of lists for
/// each micro-batch, or rounds with a draft model. `models` may have the model;
/// null: it is read, into `sources`.
llvm::Expected<CompiledModel>
compileSteps(mlir::MLIRContext &context, const CompileRequest &request,
             llvm::SourceMgr &sources, const MessagePrinter &printer,
             ModelCache *models, mlir::TimingScope &timing,
             CompileResult &result);

} // namespace stg

#endif // STG_LIB_DRIVER_COMPILESTEPS_H
