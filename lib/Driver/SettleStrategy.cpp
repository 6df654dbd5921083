//===- SettleStrategy.cpp - From what is given to what is compiled --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SettleStrategy.h"
#include "DeriveStrategy.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Support/Error.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// Puts into the strategy what follows from the model and from the mesh.
static Expected<PresetPlan> derivePlan(const Preset &preset, ModuleOp module,
                                       const SymbolValues &values,
                                       StrategyInput &strategy) {
  std::vector<StringRef> dimensions;
  for (StringAttr name : collectDimensionNames(module))
    dimensions.push_back(name);
  // Those of stacks are there once gradients are.
  module.walk([&](ScanOpInterface scan) {
    if (!llvm::is_contained(dimensions, scan.getScopeName().getValue()))
      dimensions.push_back(scan.getScopeName());
  });
  Expected<PresetPlan> plan =
      planStrategy(preset, module.getContext(), dimensions, strategy);
  if (!plan)
    return plan;
  if (Error error = deriveFromMesh(strategy, preset, values))
    return std::move(error);
  return plan;
}

/// What the file alone would have been, to know what flags took the effect
/// from. Nothing that is wrong with it is reported.
static StrategyInput deriveFile(const CompileRequest &request, ModuleOp module,
                                const SymbolValues &values) {
  StrategyInput file = request.strategyFile;
  file.deriveStep();
  Expected<Preset> preset = loadPreset(file);
  if (!preset) {
    llvm::consumeError(preset.takeError());
    return file;
  }
  deriveFromModel(file, module, *preset, values);
  if (auto plan = derivePlan(*preset, module, values, file); !plan)
    llvm::consumeError(plan.takeError());
  return file;
}

/// Ranks whose traces are written must exist, and suit what reads them.
static Error checkRankRange(const CompileRequest &request,
                            const PresetPlan &plan) {
  const auto &ranks = request.exportOptions.files.ranks;
  std::optional<int64_t> count = countRanks(plan);
  if (count && request.exportOptions.checkRanks)
    if (Error error = request.exportOptions.checkRanks(*count))
      return error;
  if (!ranks || !count || ranks->second <= *count)
    return Error::success();
  return makeError("--ranks " + Twine(ranks->first) + ":" +
                   Twine(ranks->second) +
                   ": expected LO:HI with 0 <= LO < HI <= " + Twine(*count) +
                   ", the number of ranks");
}

ScheduleRequest stg::getScheduleRequest(const Strategy &strategy) {
  ScheduleRequest request;
  request.devices = strategy.pipelineRanks.number;
  request.virtualStagesPerDevice = strategy.virtualStages;
  request.microBatches = strategy.microBatches;
  request.pairs = strategy.overlapMoeExpertParallelComm;
  return request;
}

/// That a preset has a forward beside a backward is for schedules that can have
/// that, and what it says of the order of such a backward goes with it.
static void dropPairs(StrategyInput &strategy) {
  const Strategy &values = strategy.values;
  if (values.overlapMoeExpertParallelComm &&
      !strategy.isGiven(FieldId::overlapMoeExpertParallelComm) &&
      !canHavePairs(values.schedule.text, getScheduleRequest(values)))
    strategy.reset(FieldId::overlapMoeExpertParallelComm);
  if (!values.overlapMoeExpertParallelComm &&
      !strategy.isGiven(FieldId::delayWgradCompute))
    strategy.reset(FieldId::delayWgradCompute);
}

Expected<PresetPlan> stg::settleStrategy(const Preset &preset,
                                         const CompileRequest &request,
                                         ModuleOp module, SymbolValues &values,
                                         StrategyInput &strategy) {
  deriveFromModel(strategy, module, preset, values);
  std::optional<StrategyInput> file;
  auto hasEffectInFile = [&](const Field &field) {
    if (!file)
      file = deriveFile(request, module, values);
    return file->hasEffect(field);
  };
  auto checkEffects = [&]() -> Error {
    if (!request.dropsWithoutEffect)
      return strategy.checkEffects(hasEffectInFile);
    strategy.dropWithoutEffect();
    return Error::success();
  };
  // First what says nothing at all about this model.
  if (Error error = checkEffects())
    return std::move(error);
  Expected<PresetPlan> plan = derivePlan(preset, module, values, strategy);
  if (!plan)
    return plan;
  if (padTokens(strategy, *plan, values))
    deriveFromModel(strategy, module, preset, values);
  // That of a preset is not what somebody has asked for.
  if (strategy.values.padVocabulary &&
      !strategy.isGiven(FieldId::vocabularyMultiple))
    strategy.reset(FieldId::vocabularyMultiple);
  if (strategy.values.padVocabulary || strategy.values.vocabularyMultiple) {
    if (Error error = padVocabulary(strategy, *plan, values))
      return std::move(error);
    // Binds what has been padded.
    deriveFromModel(strategy, module, preset, values);
  }
  if (Error error = checkEffects())
    return std::move(error);
  if (Error error = checkRankRange(request, *plan))
    return std::move(error);
  strategy.resolve();
  dropPairs(strategy);
  return plan;
}
