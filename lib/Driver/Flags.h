//===- Flags.h - Checks of what the user asked for --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_FLAGS_H
#define STG_LIB_DRIVER_FLAGS_H

#include "ModelLibrary.h"
#include "stg/Driver/Compile.h"
#include <map>

namespace stg {

/// Which flag gave a symbol its value, for messages: "--batch 64".
struct SymbolValue {
  int64_t value;
  std::string source;
};
using SymbolValues = std::map<std::string, SymbolValue>;

/// Values of all symbols of the model, from its configuration, `--batch`,
/// `--seq` and
/// `--set`. On failure `error` says which flag is wrong or which symbol has no
/// value.
mlir::FailureOr<SymbolValues> collectSymbols(const Model &model,
                                             const CompileRequest &request,
                                             std::string &error);

/// The value of an expression of the model's symbols; none if an extent does
/// not divide.
std::optional<Exact> evaluate(SymExpr expr, const SymbolValues &symbols);

/// Checks the flags that take one of a few words.
mlir::LogicalResult checkChoices(mlir::MLIRContext &context,
                                 const CompileRequest &request,
                                 std::string &error);

/// The micro-batches of a data-parallel rank; an error if they do not divide
/// its share of the batch.
mlir::FailureOr<int64_t> countMicroBatches(const CompileRequest &request,
                                           const SymbolValues &values,
                                           std::string &error);

/// Checks that tokens and heads can be divided for context parallelism.
mlir::LogicalResult checkContext(const CompileRequest &request,
                                 const SymbolValues &values,
                                 std::string &error);

/// The loads of `--expert-histogram` as integers, none without the flag.
llvm::Expected<std::vector<int64_t>>
readExpertLoads(const CompileRequest &request, const SymbolValues &values);

/// True if experts' buffers have the size of a capacity, which is not the mean.
bool hasExpertCapacity(const SymbolValues &values);

/// Checks that the layers of `program` can be grouped for recomputation as the
/// flags say.
mlir::LogicalResult checkRecompute(mlir::func::FuncOp program,
                                   const CompileRequest &request,
                                   const SymbolValues &values,
                                   std::string &error);

/// Creates the folder for the traces, before time is spent on them.
mlir::LogicalResult makeFolder(const CompileRequest &request,
                               std::string &error);

/// The ranks of tp that hold the same key/value heads: where tp is a multiple
/// of their number.
int64_t countReplicas(const CompileRequest &request,
                      const SymbolValues &values);

/// Checks that each degree divides what the rules of the mesh shard over it.
mlir::LogicalResult checkDegrees(const CompileRequest &request, MeshOp mesh,
                                 const SymbolValues &values,
                                 std::string &error);

} // namespace stg

#endif // STG_LIB_DRIVER_FLAGS_H
