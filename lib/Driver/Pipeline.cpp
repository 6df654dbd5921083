//===- Pipeline.cpp - The standard pass pipeline --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "stg/Conversion/STGToChakra/STGToChakra.h"
#include "stg/Dialect/Chakra/Transforms/Passes.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;

void stg::buildModelPipeline(OpPassManager &pm,
                             const PipelineOptions &options) {
  // Blocks of a model are private functions; from here on there is one
  // function.
  pm.addPass(createCheckCalls());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  if (!options.dtype.empty())
    pm.addPass(createSetElementType({"", options.dtype}));
  if (options.attentionCount != "executed")
    pm.addPass(createSetAttentionCount({options.attentionCount}));
  pm.addNestedPass<func::FuncOp>(createNameOps());
  if (options.tpReplicate != "1")
    pm.addNestedPass<func::FuncOp>(
        createReplicateHeads({"K", options.tpReplicate}));
}

/// The size of a group that changes nothing is 1 with the method uniform only.
static bool isGrouped(const PipelineOptions &options) {
  return options.recompute == "full" &&
         (options.recomputeLayers > 1 || options.recomputeMethod == "block");
}

/// Every virtual stage has layers that are replayed, where not all are.
static GroupLayersOptions
getGroupLayersOptions(const PipelineOptions &options) {
  unsigned devices = 1;
  llvm::to_integer(options.pp, devices);
  return {options.recomputeMethod, options.recomputeLayers,
          devices * options.virtualStages};
}

void stg::buildPlanPipeline(OpPassManager &pm, const PipelineOptions &options) {
  if (isGrouped(options))
    pm.addNestedPass<func::FuncOp>(
        createGroupLayers(getGroupLayersOptions(options)));
  if (options.fp8)
    pm.addNestedPass<func::FuncOp>(createNarrowProducts());
  if (!options.paramDtype.empty())
    pm.addNestedPass<func::FuncOp>(
        createSetParameterType({options.paramDtype}));
  // Derived before anything is sharded, so that one rule finds all collectives.
  pm.addNestedPass<func::FuncOp>(createAutodiff({options.gradDtype}));
  if (options.fp8)
    pm.addNestedPass<func::FuncOp>(createNarrowProducts());
  RecomputeOptions recompute;
  recompute.policy = options.recompute;
  pm.addNestedPass<func::FuncOp>(createRecompute(recompute));
  pm.addNestedPass<func::FuncOp>(createOptimizer({options.optimizerDtype}));
  if (options.cpCommType != "all_gather" || options.cpBalance != "zigzag")
    pm.addPass(createContextParallel({options.cpCommType, options.cpBalance}));
  ParallelizeOptions parallelize;
  parallelize.dp = options.dp;
  parallelize.tp = options.tp;
  parallelize.tpReplicate = options.tpReplicate;
  parallelize.cp = options.cp;
  parallelize.ep = options.ep;
  parallelize.etp = options.etp;
  parallelize.pp = options.pp;
  parallelize.dpReplicate = options.dpReplicate;
  parallelize.sequenceParallel = options.sequenceParallel;
  parallelize.rules.assign(options.rules.begin(), options.rules.end());
  parallelize.rankOrder = options.rankOrder;
  pm.addPass(createParallelize(parallelize));
}

void stg::buildLocalPipeline(OpPassManager &pm,
                             const PipelineOptions &options) {
  // From ZeRO-2 on, gradients are reduced where they are made.
  bool delayGradients = options.gradientReduction == "flat" && options.zero < 2;
  pm.addPass(createPropagateShardings({delayGradients}));
  pm.addPass(createInsertCollectives());
  pm.addPass(createSimplifyCollectives({options.keepGathered}));
  if (options.microBatches > 1)
    pm.addPass(createMicroBatch({std::to_string(options.microBatches), "B"}));
  if (!options.expertLoads.empty()) {
    LoadExpertsOptions experts;
    experts.loads.assign(options.expertLoads.begin(),
                         options.expertLoads.end());
    experts.clip = options.clipExperts;
    pm.addPass(createLoadExperts(experts));
  }
  if (options.zero > 0)
    pm.addPass(createShardStates({options.zero, options.zeroRoot,
                                  options.reshardAfterForward, options.prefetch,
                                  options.fp8Gather ? 8u : 16u}));
}

/// Orders micro-batches and stages, where there is more than one of either.
static void addSchedule(OpPassManager &pm, const PipelineOptions &options) {
  if (options.microBatches <= 1 && options.pp == "1")
    return;
  ScheduleOptions schedule;
  schedule.scheduleName = options.schedule;
  if (options.schedule.empty())
    schedule.scheduleName = options.virtualStages > 1 ? "interleaved" : "1f1b";
  schedule.microBatches = options.microBatches;
  schedule.virtualStages = options.virtualStages;
  schedule.layersPerStage.assign(options.layersPerStage.begin(),
                                 options.layersPerStage.end());
  pm.addPass(createSchedule(schedule));
}

void stg::buildChakraPipeline(OpPassManager &pm, StringRef bind,
                              const PipelineOptions &options) {
  std::unique_ptr<Pass> pass = createBind();
  LogicalResult valid =
      pass->initializeOptions(bind, [](const Twine &) { return failure(); });
  assert(succeeded(valid) && "every word is an assignment");
  (void)valid;
  pm.addPass(std::move(pass));
  addSchedule(pm, options);
  if (options.gradientReduction != "per-parameter")
    pm.addPass(createBucketGradients({options.bucketSize}));
  pm.addPass(createConvertSTGToChakra());
  pm.addPass(chakra::createSplitClasses());
}

void stg::registerPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "stg-pipeline",
      "The whole way from the model level to the chakra level, as stg-compile "
      "goes",
      [](OpPassManager &pm, const PipelineOptions &options) {
        buildModelPipeline(pm, options);
        buildPlanPipeline(pm, options);
        buildLocalPipeline(pm, options);
        std::string bind = options.bind;
        llvm::replace(bind, ',', ' ');
        buildChakraPipeline(pm, bind, options);
      });
}
