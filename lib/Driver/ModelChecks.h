//===- ModelChecks.h - Whether a strategy fits a model ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_MODELCHECKS_H
#define STG_LIB_DRIVER_MODELCHECKS_H

#include "ModelLibrary.h"
#include "stg/Driver/Compile.h"
#include "stg/Presets/Preset.h"
#include <map>

namespace stg {

/// Which flag gave a symbol its value, for messages: "--batch 64".
struct SymbolValue {
  int64_t value;
  std::string source;
};
using SymbolValues = std::map<std::string, SymbolValue>;

/// Gives the options of the model values, from its configuration and the
/// strategy. The error says what is wrong or which option has no value.
llvm::Error setOptions(const Model &model, const StrategyInput &strategy);

/// Values of all symbols of the model, from its configuration and the strategy.
/// The error says what is wrong or which symbol has no value.
llvm::Expected<SymbolValues> collectSymbols(const Model &model,
                                            const StrategyInput &strategy);

/// The value of an expression of the model's symbols; none if an extent does
/// not divide, or if a symbol of it has no value.
std::optional<Exact> evaluate(SymExpr expr, const SymbolValues &symbols);

/// Puts what follows from the model into the strategy: replicas of key/value
/// heads and groups, whether there are experts.
void deriveFromModel(StrategyInput &strategy, mlir::ModuleOp module,
                     const Preset &preset, const SymbolValues &values);
/// Adds rows to the vocabulary, as the strategy says, for the ranks that the
/// rules of the plan divide it over. The error says that there is none.
llvm::Error padVocabulary(const StrategyInput &strategy, const PresetPlan &plan,
                          SymbolValues &values);
/// In a step of inference a row of several requests is filled up with tokens of
/// none, as far as it takes to divide the stream. True if there are more then.
bool padTokens(const StrategyInput &strategy, const PresetPlan &plan,
               SymbolValues &values);
/// What follows from the mesh, too: micro-batches, and replicas of what is
/// exchanged for tokens. Checks loads of experts.
llvm::Error deriveFromMesh(StrategyInput &strategy, const Preset &preset,
                           const SymbolValues &values);

/// Checks that there are as many learned positions as requests have tokens in
/// steps of inference.
llvm::Error checkPositions(mlir::ModuleOp module, const StrategyInput &strategy,
                           const SymbolValues &values);

/// Checks that rows that begin with images have tokens behind these.
llvm::Error checkJoinedTokens(mlir::ModuleOp module,
                              const StrategyInput &strategy,
                              const SymbolValues &values);

/// True if a row has tokens of images before those of its text.
bool hasJoinedTokens(mlir::ModuleOp module);

/// Modules that predict further tokens look up all tokens of a row.
llvm::Error checkPrediction(mlir::ModuleOp module,
                            const StrategyInput &strategy);

/// Whether there are tokens to divide where caches are.
llvm::Error checkCacheAxes(const StrategyInput &strategy);

/// Whether ranks that divide tokens divide those that are cached, in programs
/// at the local level.
llvm::Error checkCachedTokens(mlir::ModuleOp module,
                              const StrategyInput &strategy,
                              const SymbolValues &values);

/// Checks that tokens and heads can be divided for context parallelism.
llvm::Error checkContext(mlir::func::FuncOp program,
                         const StrategyInput &strategy, const Preset &preset,
                         const SymbolValues &values);

/// The layers of all scans of the program; none if one has no value, which
/// binding reports.
std::optional<int64_t> countLayers(mlir::func::FuncOp program,
                                   const SymbolValues &values);

/// Checks that pipeline stages divide the layers of `program`.
/// Lists of the layers of stages are not those of a draft model.
llvm::Error checkStages(mlir::func::FuncOp program,
                        const StrategyInput &strategy,
                        const SymbolValues &values, bool isDraft = false);

/// Checks that the layers of `program` can be grouped for recomputation.
llvm::Error checkRecompute(mlir::func::FuncOp program,
                           const StrategyInput &strategy,
                           const SymbolValues &values);

/// Checks that each degree divides what the rules of the plan shard over it.
llvm::Error checkDegrees(const StrategyInput &strategy, mlir::ModuleOp module,
                         const Preset &preset, const PresetPlan &plan,
                         const SymbolValues &values);

} // namespace stg

#endif // STG_LIB_DRIVER_MODELCHECKS_H
