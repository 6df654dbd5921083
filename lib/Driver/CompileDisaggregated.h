//===- CompileDisaggregated.h - Two plans of one model --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_COMPILEDISAGGREGATED_H
#define STG_LIB_DRIVER_COMPILEDISAGGREGATED_H

#include "CompileModel.h"

namespace stg {

/// Compiles the model of the request twice, to read prompts and to go on with
/// them, into one module of the chakra level with the messages between them.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
compileDisaggregated(mlir::MLIRContext &context, const CompileRequest &request,
                     llvm::SourceMgr &sources, const MessagePrinter &printer,
                     mlir::TimingScope &timing, CompileResult &result);

} // namespace stg

#endif // STG_LIB_DRIVER_COMPILEDISAGGREGATED_H
