//===- ModelChecks.h - Whether a strategy fits a model ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_MODELCHECKS_H
#define STG_LIB_DRIVER_MODELCHECKS_H

#include "SymbolValues.h"
#include "stg/Presets/Preset.h"

namespace stg {

/// Checks that there are as many learned positions as sequences of training, or
/// requests at the end of all steps, have tokens that are looked up in them.
llvm::Error checkPositions(mlir::ModuleOp module, const StrategyInput &strategy,
                           const SymbolValues &values);

/// Checks that requests have as many tokens as may be taken back.
llvm::Error checkRollback(const StrategyInput &strategy,
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

/// Whether a step keeps something, where somebody says how, at the model level.
llvm::Error checkKept(mlir::ModuleOp module, const StrategyInput &strategy);

/// Checks that there is a prediction for each token where steps go on from
/// cached ones.
llvm::Error checkPredicted(mlir::func::FuncOp program,
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

/// Checks that `program` has what is to be replayed, and that its layers can be
/// grouped. What only a preset asks for is dropped where it has nothing of it.
llvm::Error settleRecompute(mlir::func::FuncOp program, StrategyInput &strategy,
                            const SymbolValues &values);

/// Checks that each degree divides what the rules of the plan shard over it.
llvm::Error checkDegrees(const StrategyInput &strategy, mlir::ModuleOp module,
                         const Preset &preset, const PresetPlan &plan,
                         const SymbolValues &values);

} // namespace stg

#endif // STG_LIB_DRIVER_MODELCHECKS_H
