//===- CompileModel.h - One program, as of any strategy -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_COMPILEMODEL_H
#define STG_LIB_DRIVER_COMPILEMODEL_H

#include "ModelCache.h"
#include "SymbolValues.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"

namespace stg {

/// What a model, and the preset that is asked for, make of a strategy.
struct Resolved {
  SymbolValues values;
  Preset preset;
  PresetPlan plan;
};

/// Completes the strategy by what follows from the model, which is prepared.
llvm::Expected<Resolved> resolvePrepared(const Model &model,
                                         const CompileRequest &request,
                                         CompileResult &result,
                                         LoadedPresets *presets = nullptr);
/// Prepares the model, and completes the strategy.
llvm::Expected<Resolved> resolveStrategy(const Model &model,
                                         const CompileRequest &request,
                                         CompileResult &result);

/// Whether the tokens of the strategy are those of a step of the model; warns
/// of what is hardly meant.
llvm::Error checkTokens(const Model &model, const Resolved &resolved,
                        const StrategyInput &strategy,
                        const MessagePrinter &printer);

/// Adds the passes of a part of the way.
using BuildPasses =
    llvm::function_ref<void(mlir::OpPassManager &, const Strategy &)>;

/// Runs passes as the request wants them run. The error is empty if that has
/// been diagnosed.
llvm::Error runPasses(const CompileRequest &request,
                      const StrategyInput &strategy, mlir::ModuleOp module,
                      mlir::TimingScope &timing, BuildPasses build);

/// Compiles to the chakra level, from the local level with `buildChakra`; fills
/// all of `result` but what is exported. With `layers` stages of this program
/// or another one end behind so many layers each.
llvm::Error compileModule(const Model &model, const CompileRequest &request,
                          const Resolved &resolved, mlir::TimingScope &timing,
                          CompileResult &result, BuildPasses buildChakra,
                          llvm::ArrayRef<int64_t> layers = {});

/// `tp 4 x dp 2`, of axes with several ranks.
std::string describeMesh(mlir::ModuleOp module);

} // namespace stg

#endif // STG_LIB_DRIVER_COMPILEMODEL_H
