//===- Pipeline.cpp - The standard pass pipeline --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "stg/Conversion/STGToChakra/STGToChakra.h"
#include "stg/Dialect/Chakra/Transforms/Passes.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Presets/Passes.h"
#include "stg/Presets/Preset.h"
#include "stg/Strategy/StrategyInput.h"
#include "llvm/ADT/StringExtras.h"
#include <list>
#include <map>

using namespace mlir;
using namespace stg;

/// `config=NAME,SYMBOL=VALUE,...` as options of --stg-bind.
static BindOptions getBindOptions(const Strategy &strategy) {
  BindOptions options;
  SmallVector<StringRef> words;
  StringRef(strategy.bind).split(words, ',', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (word.consume_front("config="))
      options.config = word.str();
    else if (word == "defaults=true")
      options.bindDefaults = true;
    else
      options.values.push_back(word.str());
  return options;
}

std::vector<std::string> stg::getFrozenBlocks(const Strategy &strategy) {
  std::vector<std::string> names;
  for (StringRef name : strategy.freeze)
    if (name.consume_front("@"))
      names.push_back(name.str());
  return names;
}

static AddAdaptersOptions getAdapterOptions(const Strategy &strategy) {
  AddAdaptersOptions options;
  options.rank = strategy.lora.rank;
  options.alpha = strategy.lora.alpha;
  llvm::append_range(options.targets, strategy.lora.targets);
  return options;
}

/// What names of parameters and repeats say.
static FreezeParametersOptions getFreezeOptions(const Strategy &strategy) {
  BindOptions bind = getBindOptions(strategy);
  FreezeParametersOptions options;
  for (StringRef name : strategy.freeze)
    if (!name.starts_with("@"))
      options.names.push_back(name.str());
  // Where layers are replayed, frameworks make what the first one reads require
  // a gradient, as nothing would be replayed otherwise.
  options.peel = strategy.recompute != RecomputeChoice::Full;
  options.config = bind.config;
  options.values = bind.values;
  return options;
}

/// The same, where it gives values to options of the model.
static InlineBlocksOptions getInlineOptions(const Strategy &strategy) {
  BindOptions bind = getBindOptions(strategy);
  InlineBlocksOptions options;
  options.config = bind.config;
  options.values = bind.values;
  llvm::append_range(options.freeze, getFrozenBlocks(strategy));
  return options;
}

/// Blocks and private functions; from here on there is one function.
static void addInlining(OpPassManager &pm, const Strategy &strategy) {
  pm.addPass(createResolveImports());
  pm.addPass(createCheckCalls());
  pm.addPass(createInlineBlocks(getInlineOptions(strategy)));
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
}

/// Which ops give what they read of heads in exchange for tokens.
static void setExchanges(ReplicateHeadsOptions &options,
                         const Strategy &strategy) {
  options.exchangesKeys = strategy.cpCommType == ContextExchange::AllToAll;
  options.exchangesScans = strategy.cpScanType == StateExchange::AllToAll;
}

static void addReplicas(OpPassManager &pm, const Strategy &strategy) {
  std::map<std::string, ReplicateHeadsOptions> all;
  for (StringRef text : strategy.replicas) {
    auto [dim, times] = text.split('=');
    all[dim.str()].times = times.str();
  }
  for (StringRef text : strategy.exchangedReplicas) {
    auto [dim, times] = text.split('=');
    ReplicateHeadsOptions &options = all[dim.str()];
    options.exchanged = times.str();
    setExchanges(options, strategy);
  }
  for (auto &[dim, options] : all) {
    options.dim = dim;
    options.gathersNorms = strategy.cutNorms == NormExchange::Gather;
    pm.addNestedPass<func::FuncOp>(createReplicateHeads(options));
  }
}

void stg::buildModelPipeline(OpPassManager &pm, const Strategy &strategy) {
  if (strategy.dtype)
    pm.addPass(createSetElementType({"", stringify(*strategy.dtype).str()}));
  if (strategy.attentionCount != AttentionCount::Executed)
    pm.addPass(createSetAttentionCount({strategy.attentionCount}));
  if (!strategy.documents.empty() || strategy.prefixTokens) {
    SetAttentionMaskOptions options;
    options.documents.assign(strategy.documents.begin(),
                             strategy.documents.end());
    options.prefix = strategy.prefixTokens.value_or(0);
    pm.addPass(createSetAttentionMask(options));
  }
  if (strategy.mtp > 0) {
    AddPredictionLayersOptions options;
    options.count = static_cast<unsigned>(strategy.mtp);
    options.repeated = strategy.mtpRepeated;
    options.only = strategy.predictOnly;
    // What is copied has its name, with that of the module.
    pm.addNestedPass<func::FuncOp>(createNameOps());
    pm.addNestedPass<func::FuncOp>(createAddPredictionLayers(options));
  }
  if (strategy.routerLoss != RouterLoss::Model || strategy.routerZLoss) {
    AddRouterLossesOptions options;
    options.balance = strategy.routerLoss;
    options.zLoss = strategy.routerZLoss;
    pm.addNestedPass<func::FuncOp>(createNameOps());
    pm.addNestedPass<func::FuncOp>(createAddRouterLosses(options));
  }
  if (strategy.lora.isSet())
    pm.addPass(createAddAdapters(getAdapterOptions(strategy)));
  pm.addNestedPass<func::FuncOp>(createNameOps());
  if (!strategy.inference)
    pm.addPass(createFreezeParameters(getFreezeOptions(strategy)));
  addReplicas(pm, strategy);
  if (strategy.attentionHeads == AttentionHeads::Repeated)
    pm.addNestedPass<func::FuncOp>(createRepeatHeads());
}

int64_t stg::countStages(const Strategy &strategy) {
  return std::max<int64_t>(strategy.pipelineRanks.number, 1) *
         strategy.virtualStages;
}

/// The size of a group that changes nothing is 1 with the method uniform only.
static bool isGrouped(const Strategy &strategy) {
  return strategy.recompute == RecomputeChoice::Full &&
         (strategy.recomputeLayers > 1 ||
          strategy.recomputeMethod == RecomputeMethod::Block);
}

/// Stages with so many layers, or with equally many.
static CutLayersOptions getCutOptions(const Strategy &strategy, int64_t stages,
                                      ArrayRef<int64_t> layersPerStage) {
  BindOptions bind = getBindOptions(strategy);
  CutLayersOptions options;
  options.stages = static_cast<unsigned>(stages);
  llvm::append_range(options.layersPerStage, layersPerStage);
  options.config = bind.config;
  options.values = bind.values;
  return options;
}

/// Every virtual stage has layers that are replayed, where not all are.
static GroupLayersOptions getGroupLayersOptions(const Strategy &strategy) {
  BindOptions bind = getBindOptions(strategy);
  int64_t devices = std::max<int64_t>(strategy.pipelineRanks.number, 1);
  GroupLayersOptions options;
  options.method = strategy.recomputeMethod;
  options.size = static_cast<unsigned>(strategy.recomputeLayers);
  options.stages = static_cast<unsigned>(devices * strategy.virtualStages);
  options.config = bind.config;
  options.values = bind.values;
  return options;
}

static ApplyPresetOptions getPresetOptions(const Strategy &strategy) {
  ApplyPresetOptions options;
  options.preset = strategy.preset.str();
  llvm::append_range(options.values, strategy.presetValues);
  llvm::append_range(options.rules, strategy.rules);
  options.rankOrder = strategy.rankOrder;
  llvm::append_range(options.late, strategy.cacheAxes);
  return options;
}

/// The lists of all ranks, separated by ';'.
static std::string getRequestLists(const Strategy &strategy) {
  Requests all =
      strategy.requests.withLogits(strategy.logits == LogitRows::All);
  return llvm::join(
      llvm::map_range(all.getLists(),
                      [](const Requests &own) { return own.str(); }),
      ";");
}

/// True if data-parallel ranks have different programs.
static bool hasRequestLists(const Strategy &strategy) {
  return strategy.rankLists && strategy.requests.getLists().size() > 1;
}

int64_t stg::countTokenParts(const Strategy &strategy) {
  if (strategy.contextRanks.number <= 1)
    return 1;
  // Where tokens are balanced, a device has two parts of them.
  bool hasTwo = strategy.cpCommType != ContextExchange::AllToAll &&
                strategy.cpBalance == ContextBalance::ZigZag;
  return strategy.contextRanks.number * (hasTwo ? 2 : 1);
}

/// Without a number of cached tokens a program can be that of any: it is a
/// symbol, which nothing binds.
static InferenceOptions getInferenceOptions(const Strategy &strategy) {
  InferenceOptions options;
  if (strategy.kvLen)
    options.cached = std::to_string(*strategy.kvLen);
  else if (strategy.mode == Mode::Prefill)
    options.cached = "0";
  options.requests = getRequestLists(strategy);
  options.logits = strategy.logits;
  if (strategy.kvDtype)
    options.kvType = stringify(*strategy.kvDtype).str();
  options.kvScaleBlock = strategy.kvScaleBlock;
  llvm::append_range(options.kvKeep, strategy.kvKeep);
  options.kvKeepIfThere = strategy.keepIfThere;
  options.kvBlockSize = strategy.kvBlockSize;
  options.kvWindowRoom = strategy.kvWindowRoom;
  options.rollback = strategy.rollback;
  options.tokenParts = countTokenParts(strategy);
  // Rows that are divided over the stream are filled up.
  options.padded = !strategy.requests.empty() && !strategy.rankLists &&
                   strategy.requests.countNew() %
                       std::max<int64_t>(strategy.streamRanks.number, 1);
  options.mlaForm = strategy.mlaForm;
  options.steps = strategy.steps;
  options.reserve = strategy.reserve;
  options.beside = strategy.beside;
  options.advance = strategy.advance;
  BindOptions bind = getBindOptions(strategy);
  options.config = bind.config;
  llvm::append_range(options.values, bind.values);
  return options;
}

static ExpectExpertsOptions getExpectOptions(const Strategy &strategy) {
  BindOptions bind = getBindOptions(strategy);
  ExpectExpertsOptions options;
  options.config = bind.config;
  llvm::append_range(options.values, bind.values);
  return options;
}

static QuantizeWeightsOptions getQuantizeOptions(const Strategy &strategy) {
  QuantizeWeightsOptions options;
  options.format = *strategy.weightDtype;
  llvm::append_range(options.keep, strategy.weightKeep);
  options.keepIfThere = strategy.keepIfThere;
  return options;
}

static bool hasNarrowProducts(const Strategy &strategy) {
  return strategy.fp8 || strategy.productDtype;
}

static bool hasWideLayers(const Strategy &strategy) {
  return hasNarrowProducts(strategy) &&
         (strategy.wideLayersAtStart || strategy.wideLayersAtEnd);
}

/// The first and last layers, where their operands are others.
template <typename Options>
static void setEndLayers(Options &options, const Strategy &strategy) {
  BindOptions bind = getBindOptions(strategy);
  options.atStart = static_cast<unsigned>(strategy.wideLayersAtStart);
  options.atEnd = static_cast<unsigned>(strategy.wideLayersAtEnd);
  options.config = bind.config;
  options.values = bind.values;
}

static CutLayersOptions getDivideOptions(const Strategy &strategy) {
  CutLayersOptions options;
  setEndLayers(options, strategy);
  return options;
}

/// Gradients have the type of other operands but with --fp8.
static NarrowProductsOptions getNarrowOptions(const Strategy &strategy) {
  NarrowProductsOptions options;
  setEndLayers(options, strategy);
  llvm::append_range(options.keep, strategy.productKeep);
  options.keepIfThere = strategy.keepIfThere;
  if (strategy.productDtype)
    options.type = options.gradients = stringify(*strategy.productDtype).str();
  if (strategy.weightDtype)
    llvm::append_range(options.keep, strategy.weightKeep);
  options.outside = strategy.narrowHead;
  return options;
}

/// What a step of training has beside the forward pass.
static void addTraining(OpPassManager &pm, const Strategy &strategy) {
  // Derived before anything is sharded, so that one rule finds all collectives.
  pm.addNestedPass<func::FuncOp>(
      createAutodiff({stringify(strategy.gradDtype).str(),
                      strategy.recompute == RecomputeChoice::Full}));
  if (hasNarrowProducts(strategy))
    pm.addPass(createNarrowProducts(getNarrowOptions(strategy)));
  RecomputeOptions recompute;
  recompute.policy = strategy.recompute;
  recompute.convolutions = strategy.replayConvolutions;
  if (strategy.recompute == RecomputeChoice::Selective) {
    for (RecomputeModule module : strategy.recomputeModules)
      recompute.modules.push_back(stringify(module).str());
    if (strategy.recomputeModules.empty())
      recompute.modules.push_back("none"); // No module: core attention.
  }
  if (strategy.recompute == RecomputeChoice::Needed)
    llvm::append_range(recompute.saved, strategy.recomputeSaved);
  pm.addNestedPass<func::FuncOp>(createRecompute(recompute));
  pm.addNestedPass<func::FuncOp>(createOptimizer(
      {strategy.optimizer, stringify(strategy.optimizerDtype).str(),
       strategy.sparseGradients}));
}

void stg::addCutLayers(OpPassManager &pm, const Strategy &strategy,
                       ArrayRef<int64_t> layers) {
  pm.addPass(createCutLayers(
      getCutOptions(strategy, static_cast<int64_t>(layers.size()), layers)));
}

void stg::addInference(OpPassManager &pm, const Strategy &strategy) {
  pm.addPass(createInference(getInferenceOptions(strategy)));
}

void stg::buildPlanPipeline(OpPassManager &pm, const Strategy &strategy,
                            const PresetPlan *plan) {
  auto cutLayers = [&] {
    if (!strategy.pipelineRanks.isOne() && !strategy.predictOnly)
      pm.addPass(createCutLayers(getCutOptions(strategy, countStages(strategy),
                                               strategy.layersPerStage)));
  };
  if (hasWideLayers(strategy))
    pm.addPass(createCutLayers(getDivideOptions(strategy)));
  // A step of inference may have less than the model: its layers are divided.
  if (!strategy.inference)
    cutLayers();
  if (isGrouped(strategy))
    pm.addPass(createGroupLayers(getGroupLayersOptions(strategy)));
  if (hasNarrowProducts(strategy))
    pm.addPass(createNarrowProducts(getNarrowOptions(strategy)));
  if (strategy.paramDtype)
    pm.addNestedPass<func::FuncOp>(
        createSetParameterType({stringify(*strategy.paramDtype).str()}));
  // What a scan starts from is saved for backward.
  if (strategy.cpScanType == StateExchange::Pass)
    pm.addNestedPass<func::FuncOp>(createPassStates());
  if (strategy.inference) {
    addInference(pm, strategy);
    cutLayers();
    pm.addPass(
        createReplicateExperts({strategy.redundantExperts, kExpertDim.str()}));
    // Rows that are given for each expert are no random choice.
    if (strategy.expertHits == ExpertHits::Expected &&
        strategy.expertRows == ExpertRows::Exact &&
        strategy.expertHistogram.values.empty())
      pm.addPass(createExpectExperts(getExpectOptions(strategy)));
    if (strategy.weightDtype)
      pm.addNestedPass<func::FuncOp>(
          createQuantizeWeights(getQuantizeOptions(strategy)));
  } else {
    addTraining(pm, strategy);
  }
  if (plan)
    addPresetPlan(pm, *plan);
  else
    pm.addPass(createApplyPreset(getPresetOptions(strategy)));
  if (!strategy.cp.isOne() || !strategy.contextRanks.isOne() ||
      strategy.cpCommType != ContextExchange::AllGather ||
      strategy.cpBalance != ContextBalance::ZigZag)
    pm.addPass(
        createContextParallel({strategy.cpCommType, strategy.cpBalance}));
}

/// Checks what the pass before has made, where assertions are on.
static void expectLayouts([[maybe_unused]] OpPassManager &pm) {
#ifndef NDEBUG
  pm.addPass(createCheckLayouts());
#endif
}

void stg::buildShardingPipeline(OpPassManager &pm, const Strategy &strategy) {
  // From ZeRO-2 on, gradients are reduced where they are made.
  bool delayGradients = strategy.gradientReduction == GradientReduction::Flat &&
                        strategy.zero < ZeroLevel::Gradients;
  pm.addPass(createPropagateShardings({delayGradients, strategy.streamStart}));
}

/// Collectives of what shardings say, without those that others make needless.
static void addCollectives(OpPassManager &pm, const Strategy &strategy) {
  pm.addPass(createInsertCollectives());
  expectLayouts(pm);
  SimplifyCollectivesOptions simplify;
  for (GatherKind kind : strategy.keepGathered)
    simplify.keepGathered.push_back(stringify(kind).str());
  if (simplify.keepGathered.empty())
    simplify.keepGathered.push_back("none");
  simplify.combineFirst = strategy.inference;
  pm.addPass(createSimplifyCollectives(simplify));
  expectLayouts(pm);
}

/// Where rows of tables are, and who looks them up.
static void addTables(OpPassManager &pm, const Strategy &strategy,
                      const BindOptions &bind) {
  PlaceTablesOptions tables;
  llvm::append_range(tables.ranks, strategy.tableRanks);
  tables.config = bind.config;
  llvm::append_range(tables.values, bind.values);
  pm.addPass(createPlaceTables(tables));
  if (strategy.rowIds == RowIds::Send)
    pm.addPass(createSendIds());
  expectLayouts(pm);
}

/// How many rows experts get, and how these are sent.
static void addExperts(OpPassManager &pm, const Strategy &strategy,
                       const BindOptions &bind) {
  // Buffers that have room for so many rows have whole rows.
  if (strategy.expertRows == ExpertRows::Padded || strategy.clipExperts)
    pm.addPass(createPadExperts());
  if (!strategy.expertHistogram.values.empty()) {
    LoadExpertsOptions experts;
    std::vector<int64_t> loads = strategy.expertHistogram.values;
    if (strategy.placeReplicas)
      loads = spreadLoads(loads, strategy.redundantExperts,
                          strategy.expertRanks.number);
    experts.loads.assign(loads.begin(), loads.end());
    experts.clip = strategy.clipExperts;
    pm.addPass(createLoadExperts(experts));
  }
  if (strategy.dispatchBytes.empty() && strategy.combineBytes.empty() &&
      !strategy.dispatchOnce)
    return;
  EncodeExpertsOptions encode;
  encode.dispatchBytes = strategy.dispatchBytes;
  encode.combineBytes = strategy.combineBytes;
  encode.once = strategy.dispatchOnce;
  encode.config = bind.config;
  llvm::append_range(encode.values, bind.values);
  pm.addPass(createEncodeExperts(encode));
}

/// What devices have of caches, requests, and of dimensions that they do not
/// divide evenly.
static void addDivisions(OpPassManager &pm, const Strategy &strategy,
                         const BindOptions &bind) {
  if (!strategy.cacheAxes.empty()) {
    DivideCachesOptions caches;
    llvm::append_range(caches.axes, strategy.cacheAxes);
    caches.merge = strategy.cacheMerge;
    caches.config = bind.config;
    llvm::append_range(caches.values, bind.values);
    pm.addPass(createDivideCaches(caches));
    expectLayouts(pm);
  }
  if (hasRequestLists(strategy)) {
    LoadRequestsOptions requests;
    requests.requests = getRequestLists(strategy);
    requests.rows = strategy.gatheredRows;
    pm.addPass(createLoadRequests(requests));
    expectLayouts(pm);
  }
  if (!strategy.uneven.empty()) {
    DivideUnevenlyOptions uneven;
    llvm::append_range(uneven.dims, strategy.uneven);
    uneven.config = bind.config;
    llvm::append_range(uneven.values, bind.values);
    pm.addPass(createDivideUnevenly(uneven));
    expectLayouts(pm);
  }
}

void stg::buildLocalPipeline(OpPassManager &pm, const Strategy &strategy) {
  addCollectives(pm, strategy);
  const auto parts = static_cast<unsigned>(strategy.overlappedBatches);
  if (strategy.microBatches > 1 || parts > 1)
    pm.addPass(createMicroBatch(
        {std::to_string(strategy.microBatches), parts, kBatchDim.str()}));
  expectLayouts(pm);
  const BindOptions bind = getBindOptions(strategy);
  addTables(pm, strategy, bind);
  addExperts(pm, strategy, bind);
  addDivisions(pm, strategy, bind);
  if (strategy.zero != ZeroLevel::None)
    pm.addPass(createShardStates({strategy.zero, strategy.zeroRoot,
                                  strategy.reshardAfterForward,
                                  static_cast<unsigned>(strategy.prefetch),
                                  strategy.fp8Gather ? 8u : 16u}));
  if (parts > 1)
    pm.addPass(createOverlapBatches({parts, kBatchDim.str()}));
  if (strategy.delayWgradCompute)
    pm.addPass(createDelayWeightGradients());
  expectLayouts(pm);
}

/// Orders micro-batches and stages, where there is more than one of either.
static void addSchedule(OpPassManager &pm, const Strategy &strategy) {
  if (strategy.microBatches <= 1 && strategy.pipelineRanks.isOne())
    return;
  ScheduleOptions schedule;
  schedule.scheduleName = strategy.schedule.text;
  schedule.microBatches = static_cast<unsigned>(strategy.microBatches);
  schedule.virtualStages = static_cast<unsigned>(strategy.virtualStages);
  schedule.pairs = strategy.overlapMoeExpertParallelComm;
  schedule.onLastDevice = strategy.predictOnly;
  if (!strategy.predictOnly)
    schedule.layersPerStage.assign(strategy.layersPerStage.begin(),
                                   strategy.layersPerStage.end());
  schedule.stageTensors = static_cast<unsigned>(strategy.stageTensors);
  schedule.stageSlices = strategy.stageSlices;
  schedule.receivedTokens = strategy.receivedTokens;
  schedule.sentTokens = strategy.sentTokens;
  pm.addPass(createSchedule(schedule));
}

/// From the program of one device to its graph.
static void addConversion(OpPassManager &pm, const Strategy &strategy) {
  // Devices of a stage then differ, which cuts no stages.
  if (strategy.logitsGather != LogitsGather::All)
    pm.addPass(createGatherLogits({strategy.logitsGather}));
  if (strategy.gradientReduction != GradientReduction::PerParameter)
    pm.addPass(
        createBucketGradients({static_cast<uint64_t>(strategy.bucketSize)}));
  if (strategy.clipGrad)
    pm.addPass(createClipGradients());
  pm.addPass(createCheckLayouts());
  LowerContextParallelOptions context;
  if (strategy.cpSumDtype)
    context.sumType = stringify(*strategy.cpSumDtype).str();
  pm.addPass(createLowerContextParallel(context));
  pm.addPass(createLowerRecurrence());
  pm.addPass(createConvertSTGToChakra());
  if (strategy.offload.empty())
    return;
  chakra::OffloadOptions offload;
  for (OffloadKind kind : strategy.offload)
    offload.what.push_back(stringify(kind).str());
  llvm::append_range(offload.saved, strategy.offloadSaved);
  offload.percent = static_cast<unsigned>(strategy.offloadPercent);
  offload.ahead = static_cast<unsigned>(strategy.offloadAhead);
  pm.addPass(chakra::createOffload(offload));
}

void stg::buildSymbolicChakraPipeline(OpPassManager &pm,
                                      const Strategy &strategy) {
  addConversion(pm, strategy);
}

void stg::buildBindPipeline(OpPassManager &pm, const Strategy &strategy) {
  BindOptions options = getBindOptions(strategy);
  if (strategy.redundantExperts > 0)
    options.values.push_back(kPhysicalExperts.str() + "=X+" +
                             std::to_string(strategy.redundantExperts));
  pm.addPass(createBind(options));
}

void stg::buildSchedulePipeline(OpPassManager &pm, const Strategy &strategy) {
  addSchedule(pm, strategy);
}

void stg::buildConversionPipeline(OpPassManager &pm, const Strategy &strategy) {
  addConversion(pm, strategy);
  pm.addPass(chakra::createSplitClasses());
  if (strategy.steps > 1 || !strategy.reserve.empty())
    pm.addPass(chakra::createRepeatSteps(
        {strategy.steps, strategy.firstStep, "step"}));
}

void stg::buildChakraPipeline(OpPassManager &pm, const Strategy &strategy) {
  buildBindPipeline(pm, strategy);
  buildSchedulePipeline(pm, strategy);
  buildConversionPipeline(pm, strategy);
}

//===----------------------------------------------------------------------===//
// --stg-pipeline
//===----------------------------------------------------------------------===//

namespace {
/// An option for each field. All are texts, which the strategy reads: flags of
/// the tools and options of the pipeline have the same messages.
struct StrategyOptions : PassPipelineOptions<StrategyOptions> {
  using TextOption = Option<std::string>;

  StrategyOptions() {
    for (const Field &field : getFields()) {
      if (!(field.scopes & Field::Pipeline))
        continue;
      texts.push_back(field.getHelp());
      fields.push_back(&field);
      options.push_back(std::make_unique<TextOption>(
          *this, field.name, llvm::cl::desc(texts.back())));
      if (field.kind == Field::Kind::Bool || field.kind == Field::Kind::Words)
        options.back()->setValueExpectedFlag(llvm::cl::ValueOptional);
    }
  }

  llvm::Expected<Strategy> read() const;

  /// No part of the strategy, which is for one program.
  TextOption program{
      *this, "program",
      llvm::cl::desc("The program that is compiled, where there are several")};

  std::list<std::string> texts; ///< Options keep references to them.
  std::vector<const Field *> fields;
  std::vector<std::unique_ptr<TextOption>> options;
};
} // namespace

/// Puts into the strategy what follows from its preset. There is no program
/// yet: a preset may count on any dimension.
static llvm::Error settle(StrategyInput &input) {
  input.deriveStep();
  llvm::Expected<Preset> preset = loadPreset(input);
  if (!preset)
    return preset.takeError();
  deriveReplicas(
      *preset, [](StringRef) -> std::optional<int64_t> { return std::nullopt; },
      input);
  if (llvm::Error error = input.checkEffects())
    return error;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  llvm::Expected<PresetPlan> plan =
      planStrategy(*preset, &context, /*dimensions=*/std::nullopt, input);
  if (!plan)
    return plan.takeError();
  if (llvm::Error error = input.checkEffects())
    return error;
  input.resolve();
  return llvm::Error::success();
}

llvm::Expected<Strategy> StrategyOptions::read() const {
  StrategyInput input;
  for (auto [field, option] : llvm::zip_equal(fields, options)) {
    bool isFromModel = !(field->scopes & Field::Flags);
    if (isFromModel)
      input.setDerived(field->id);
    if (option->hasValue())
      if (llvm::Error error =
              input.set(*field, option->getValue(), GivenBy::Option))
        return error;
  }
  if (llvm::Error error = input.check())
    return error;
  if (llvm::Error error = settle(input))
    return error;
  return input.values;
}

static LogicalResult
buildPipeline(OpPassManager &pm, StringRef text,
              function_ref<LogicalResult(const Twine &)> errorHandler) {
  StrategyOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  llvm::Expected<Strategy> strategy = options.read();
  if (!strategy)
    return errorHandler(llvm::toString(strategy.takeError()));
  if (!options.program.empty())
    pm.addPass(createSelectProgram({options.program.getValue()}));
  addInlining(pm, *strategy);
  buildModelPipeline(pm, *strategy);
  buildPlanPipeline(pm, *strategy);
  buildShardingPipeline(pm, *strategy);
  buildLocalPipeline(pm, *strategy);
  buildChakraPipeline(pm, *strategy);
  return success();
}

void stg::registerPipelines() {
  registerPassPipeline(
      "stg-pipeline",
      "The whole way from the model level to the chakra level, as stg-compile "
      "goes",
      buildPipeline,
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(StrategyOptions());
      });
}
