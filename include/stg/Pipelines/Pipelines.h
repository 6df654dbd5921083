//===- Pipeline.h - The standard pass pipeline ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes that a strategy asks for, from the model to the chakra level. The
// strategy is resolved (`StrategyInput::resolve`), and has what follows from
// the model.
//
//===----------------------------------------------------------------------===//

#ifndef STG_PIPELINES_PIPELINES_H
#define STG_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "stg/Strategy/Strategy.h"

namespace stg {

struct PresetPlan;

/// The patterns of names of blocks whose parameters are not trained.
std::vector<std::string> getFrozenBlocks(const Strategy &strategy);

/// The virtual stages of a pipeline.
int64_t countStages(const Strategy &strategy);

/// Into how many parts devices divide tokens; 1: they do not.
int64_t countTokenParts(const Strategy &strategy);

/// Ops named, types chosen, of a program whose blocks are inlined.
void buildModelPipeline(mlir::OpPassManager &pm, const Strategy &strategy);
/// From there to the plan: the training step, and the intended sharding, which
/// is `plan` where it is known, or else what the strategy's preset makes of the
/// module.
void buildPlanPipeline(mlir::OpPassManager &pm, const Strategy &strategy,
                       const PresetPlan *plan = nullptr);
/// What makes the program of a step of inference of a model.
void addInference(mlir::OpPassManager &pm, const Strategy &strategy);
/// Lets stages end behind so many layers each, those of another program of the
/// model, too: before its plan.
void addCutLayers(mlir::OpPassManager &pm, const Strategy &strategy,
                  llvm::ArrayRef<int64_t> layers);
/// From there to the complete plan: the sharding of every value.
void buildShardingPipeline(mlir::OpPassManager &pm, const Strategy &strategy);
/// From there to the local level.
void buildLocalPipeline(mlir::OpPassManager &pm, const Strategy &strategy);
/// The conversion to the chakra level with symbols, of a program without stages
/// and micro-batches.
void buildSymbolicChakraPipeline(mlir::OpPassManager &pm,
                                 const Strategy &strategy);
/// Binding and the conversion to the chakra level.
void buildChakraPipeline(mlir::OpPassManager &pm, const Strategy &strategy);

/// The parts of it: symbols get values, stages get tasks, and what comes then.
void buildBindPipeline(mlir::OpPassManager &pm, const Strategy &strategy);
void buildSchedulePipeline(mlir::OpPassManager &pm, const Strategy &strategy);
void buildConversionPipeline(mlir::OpPassManager &pm, const Strategy &strategy);

/// Registers all of them, one after the other, as `--stg-pipeline`.
void registerPipelines();

} // namespace stg

#endif // STG_PIPELINES_PIPELINES_H
