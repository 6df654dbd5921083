//===- CompileSteps.cpp - All steps that a strategy asks for --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileSteps.h"
#include "GraphEdits.h"
#include "MicroBatches.h"
#include "ModelChecks.h"
#include "PrepareModel.h"
#include "Steps.h"
#include "mlir/IR/Verifier.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Driver/DiagnosticForwarder.h"
#include "stg/Pipelines/Pipelines.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// Whether steps are of the model and of a draft of it.
static bool hasDrafts(const StrategyInput &strategy) {
  return strategy.values.inference && strategy.values.draft.has_value();
}

/// Whether the strategy has stages, as far as that is known without the model.
/// What is wrong with it is said when the model is there.
static bool hasStages(MLIRContext &context, const StrategyInput &strategy) {
  StrategyInput input = strategy;
  Expected<Preset> preset = loadPreset(input);
  if (!preset) {
    llvm::consumeError(preset.takeError());
    return false;
  }
  Expected<PresetPlan> plan =
      planStrategy(*preset, &context, /*dimensions=*/std::nullopt, input);
  if (!plan)
    llvm::consumeError(plan.takeError());
  return !input.values.pipelineRanks.isOne();
}

/// The graphs of one loop of steps, as of any strategy.
static Error compileLoop(const Model &model, const Resolved &resolved,
                         const CompileRequest &request,
                         const MessagePrinter &printer, TimingScope &timing,
                         CompileResult &result) {
  if (Error error = checkTokens(model, resolved, result.strategy, printer))
    return error;
  return compileModule(model, request, resolved, timing, result,
                       buildChakraPipeline);
}

/// Likewise, of a model that is read for it.
static Expected<Model> compileList(MLIRContext &context,
                                   const CompileRequest &request,
                                   llvm::SourceMgr &sources,
                                   const MessagePrinter &printer,
                                   TimingScope &timing, CompileResult &result) {
  TimingScope parserTiming = timing.nest("Parser");
  Expected<Model> model = loadModel(context, request, sources, printer);
  parserTiming.stop();
  if (!model)
    return model;
  Expected<Resolved> resolved = resolveStrategy(*model, request, result);
  if (!resolved)
    return resolved.takeError();
  if (Error error =
          compileLoop(*model, *resolved, request, printer, timing, result))
    return std::move(error);
  return model;
}

/// There is a list for each micro-batch.
static Error checkMicroBatches(const StrategyInput &input, size_t lists,
                               const Strategy &strategy) {
  if (static_cast<int64_t>(lists) == strategy.microBatches)
    return Error::success();
  return makeError(
      input.spell(getField(FieldId::requests)) + ": has lists of " +
      Twine(lists) + " micro-batches, but a data-parallel rank has " +
      Twine(strategy.microBatches) +
      "; give the rows of all of them with --batch, and of one of them with "
      "--micro-batch");
}

/// Likewise, where micro-batches may have lists of their own.
static Expected<Model> compileLoop(MLIRContext &context,
                                   const CompileRequest &request,
                                   llvm::SourceMgr &sources,
                                   const MessagePrinter &printer,
                                   TimingScope &timing, CompileResult &result) {
  if (!request.strategy.values.requests.areOfMicroBatches())
    return compileList(context, request, sources, printer, timing, result);
  Expected<MicroBatchParts> split = splitMicroBatches(request.strategy);
  if (!split)
    return split.takeError();
  std::vector<Model> models;
  SmallVector<ModuleOp> modules;
  for (StrategyInput &own : split->parts) {
    CompileRequest part = request;
    part.strategy = std::move(own);
    CompileResult other;
    CompileResult &made = models.empty() ? result : other;
    Expected<Model> model =
        compileList(context, part, sources, printer, timing, made);
    if (!model)
      return model;
    if (Error error = checkMicroBatches(request.strategy, split->partOf.size(),
                                        made.strategy.values))
      return std::move(error);
    models.push_back(std::move(*model));
    modules.push_back(*models.back().module);
  }
  if (failed(joinMicroBatches(modules, split->partOf)) ||
      failed(verify(modules.front())))
    return makeDiagnosed();
  result.strategy.values.requests = request.strategy.values.requests;
  return std::move(models.front());
}

/// Likewise, of a copy of one that has been read.
static Expected<Model> compilePrepared(PreparedModel &prepared,
                                       const CompileRequest &request,
                                       const MessagePrinter &printer,
                                       TimingScope &timing,
                                       CompileResult &result) {
  result.options = prepared.options;
  Model model = cloneModel(prepared.model);
  Expected<Resolved> resolved =
      resolvePrepared(model, request, result, &prepared.presets);
  if (!resolved)
    return resolved.takeError();
  if (Error error =
          compileLoop(model, *resolved, request, printer, timing, result))
    return std::move(error);
  return model;
}

/// Gives a result the fields of the strategy that say which steps there are.
static void setSteps(const StrategyInput &strategy, CompileResult &result) {
  for (FieldId id : {FieldId::requests, FieldId::steps, FieldId::chunk,
                     FieldId::tokenBudget, FieldId::seq, FieldId::kvLen,
                     FieldId::mode, FieldId::logits, FieldId::draft,
                     FieldId::drafts, FieldId::acceptance, FieldId::draftSet})
    getField(id).copy(strategy.values, result.strategy.values);
}

/// Compiles parts one by one, which become one module. The result is that of
/// the first one, with the strategy that was given.
template <typename PartT>
static Expected<Model>
compileParts(const StrategyInput &strategy, std::vector<PartT> parts,
             CompileResult &result,
             function_ref<Expected<Model>(PartT, CompileResult &)> compile) {
  std::optional<Model> all;
  for (PartT &part : parts) {
    CompileResult other;
    Expected<Model> model = compile(std::move(part), all ? other : result);
    if (!model)
      return model;
    if (!all)
      all.emplace(std::move(*model));
    else if (failed(appendSteps(*all->module, *model->module)))
      return makeDiagnosed();
  }
  setSteps(strategy, result);
  if (failed(verify(*all->module)))
    return makeDiagnosed();
  return std::move(*all);
}

/// All loops of steps, in one module.
static Expected<Model>
compileLoops(MLIRContext &context, const CompileRequest &request,
             StrategyInput strategy, llvm::SourceMgr &sources,
             const MessagePrinter &printer, TimingScope &timing,
             CompileResult &result) {
  std::vector<StrategyInput> parts = splitSteps(strategy, result.loops);
  // Where nobody says how many, the manifest says how many there are.
  if (!strategy.isGiven(FieldId::steps)) {
    strategy.values.steps = 0;
    for (const StepLoop &loop : result.loops)
      strategy.values.steps += loop.count;
  }
  return compileParts<StrategyInput>(
      strategy, std::move(parts), result,
      [&](StrategyInput own, CompileResult &made) {
        CompileRequest part = request;
        part.strategy = std::move(own);
        return compileLoop(context, part, sources, printer, timing, made);
      });
}

/// What is wrong with the draft model is told with where it is from.
static Error spellDraft(const StrategyInput &strategy, Error error) {
  std::string message = llvm::toString(std::move(error));
  if (message.empty()) // It has been diagnosed.
    return makeDiagnosed();
  return makeError(strategy.spell(getField(FieldId::draft)) + ": " + message);
}

/// Each rank has steps of both models, but for modules of the model, which are
/// those of its last stage.
static Error checkDraftRanks(const StrategyInput &strategy, ModuleOp model,
                             ModuleOp draft) {
  auto graphs = model.getOps<chakra::GraphOp>();
  auto others = draft.getOps<chakra::GraphOp>();
  const bool isOwn = strategy.values.draft == kOwnDraft;
  if (llvm::all_of(others,
                   [&](auto graph) { return findGraph(model, graph); }) &&
      (isOwn || llvm::range_size(graphs) == llvm::range_size(others)))
    return Error::success();
  std::string flag = strategy.spell(getField(FieldId::draft));
  std::string own = describeMesh(model), other = describeMesh(draft);
  if (own != other)
    return makeError(
        flag + ": its ranks are " + other + ", and those of the model " + own +
        ", but each has a part of both; use a draft model with experts if the "
        "model has them, or degrees that divide both alike, such as a tensor "
        "parallelism that divides the key/value heads of both");
  return makeError(
      flag + ": ranks that are alike in one of the models are not in the other "
             "one, as with loads of experts or unequal parts; use a draft "
             "model that is divided like the model");
}

/// The rounds of one loop: steps of the draft model, which come before that of
/// the model, in one module.
static Expected<Model> compileRounds(MLIRContext &context,
                                     const CompileRequest &request,
                                     RoundParts parts, llvm::SourceMgr &sources,
                                     const MessagePrinter &printer,
                                     TimingScope &timing,
                                     CompileResult &result) {
  CompileRequest part = request;
  part.strategy = std::move(parts.verification);
  Expected<Model> model =
      compileLoop(context, part, sources, printer, timing, result);
  if (!model)
    return model;
  const Strategy &values = request.strategy.values;
  bool isOwn = values.draft == kOwnDraft;
  part.isDraft = part.dropsWithoutEffect = true;
  if (!isOwn) {
    part.model = *values.draft;
    part.modelText.reset();
    part.config.clear();
    part.program.clear();
  }
  // A file of its own, of which messages may be.
  llvm::SourceMgr draftSources;
  DiagnosticForwarder forwarder(context, draftSources, printer);
  std::vector<Model> drafts;
  for (StrategyInput &own : parts.drafts) {
    part.strategy = std::move(own);
    auto other = std::make_shared<CompileResult>();
    other->model = isOwn ? kOwnDraft.str() : part.model;
    Expected<Model> draft =
        compileLoop(context, part, draftSources, printer, timing, *other);
    if (!draft)
      return spellDraft(request.strategy, draft.takeError());
    if (Error error =
            checkDraftRanks(request.strategy, *model->module, *draft->module))
      return std::move(error);
    if (!isOwn && draft->config && draft->config.getDescription())
      other->description = draft->config.getDescription()->str();
    if (!result.draft)
      result.draft = std::move(other);
    drafts.push_back(std::move(*draft));
  }
  SmallVector<ModuleOp> modules;
  for (Model &draft : drafts)
    modules.push_back(*draft.module);
  if (failed(joinRounds(*model->module, modules, isOwn)))
    return makeDiagnosed();
  return model;
}

/// All loops of rounds, in one module.
static Expected<Model>
compileRounds(MLIRContext &context, const CompileRequest &request,
              const StrategyInput &strategy, llvm::SourceMgr &sources,
              const MessagePrinter &printer, TimingScope &timing,
              CompileResult &result) {
  return compileParts<RoundParts>(
      strategy,
      splitRounds(strategy, result.loops, hasStages(context, strategy)), result,
      [&](RoundParts parts, CompileResult &made) {
        return compileRounds(context, request, std::move(parts), sources,
                             printer, timing, made);
      });
}

/// Whether the tokens with which a request begins are not made like those that
/// follow: there are images before a text.
static Expected<bool> hasOtherBeginnings(MLIRContext &context,
                                         const CompileRequest &request,
                                         const StrategyInput &strategy,
                                         const MessagePrinter &printer) {
  llvm::SourceMgr sources;
  DiagnosticForwarder forwarder(context, sources, printer);
  Expected<Model> model = loadModel(context, request, sources, printer);
  if (!model)
    return model.takeError();
  if (auto options = prepareModel(*model, request, strategy); !options)
    return options.takeError();
  return hasJoinedTokens(*model->module);
}

/// Whether there is one loop of steps, of the requests that the strategy has.
static bool isOnlyLoop(const StrategyInput &strategy,
                       const CompileResult &result) {
  return result.loops.empty() ||
         (isOneLoop(strategy) && result.loops.size() == 1);
}

/// Notes in `result` which loops of steps there are.
static Error planLoops(MLIRContext &context, const CompileRequest &request,
                       const StrategyInput &strategy,
                       const MessagePrinter &printer, CompileResult &result) {
  if (hasDrafts(strategy)) {
    Expected<StepLoop> rounds = planRounds(strategy);
    if (!rounds)
      return rounds.takeError();
    result.loops = {std::move(*rounds)};
    if (hasStages(context, strategy))
      handOnTokens(result.loops);
    return Error::success();
  }
  const bool isPipeline =
      hasSeveralSteps(strategy) && hasStages(context, strategy);
  Expected<std::vector<StepLoop>> loops = planSteps(strategy, isPipeline);
  if (!loops)
    return loops.takeError();
  result.loops = std::move(*loops);
  // Stages are cut where steps have the same layers.
  const bool asksForStages = isPipeline && hasBeginning(result.loops);
  if (beginAndGoOn(result.loops) || asksForStages) {
    Expected<bool> hasOther =
        hasOtherBeginnings(context, request, strategy, printer);
    if (!hasOther)
      return hasOther.takeError();
    if (*hasOther && asksForStages)
      return makeError(
          spellSteps(strategy) +
          ": stages have the same layers in all steps, but steps in which "
          "requests begin have those of their images, too; use one stage, or "
          "compile these steps by themselves");
    if (*hasOther)
      beginApart(result.loops);
  }
  if (isPipeline && !result.loops.empty())
    handOnTokens(result.loops);
  return Error::success();
}

/// What is not compiled from a prepared model.
static Expected<Model> compileRead(MLIRContext &context,
                                   const CompileRequest &request,
                                   const StrategyInput &strategy,
                                   llvm::SourceMgr &sources,
                                   const MessagePrinter &printer,
                                   TimingScope &timing, CompileResult &result) {
  DiagnosticForwarder forwarder(context, sources, printer);
  if (hasDrafts(strategy))
    return compileRounds(context, request, strategy, sources, printer, timing,
                         result);
  if (isOnlyLoop(strategy, result))
    return compileLoop(context, request, sources, printer, timing, result);
  return compileLoops(context, request, strategy, sources, printer, timing,
                      result);
}

Expected<CompiledModel>
stg::compileSteps(MLIRContext &context, const CompileRequest &request,
                  llvm::SourceMgr &sources, const MessagePrinter &printer,
                  ModelCache *models, TimingScope &timing,
                  CompileResult &result) {
  StrategyInput strategy = request.strategy;
  strategy.deriveStep();
  if (Error error = planLoops(context, request, strategy, printer, result))
    return std::move(error);
  if (!models || !isOnlyLoop(strategy, result) || hasDrafts(strategy) ||
      strategy.values.requests.areOfMicroBatches()) {
    Expected<Model> model = compileRead(context, request, strategy, sources,
                                        printer, timing, result);
    if (!model)
      return model.takeError();
    return CompiledModel{std::move(*model), &sources};
  }
  Expected<PreparedModel *> prepared = models->get(request, strategy, printer);
  if (!prepared)
    return prepared.takeError();
  DiagnosticForwarder forwarder(context, (*prepared)->sources, printer);
  Expected<Model> model =
      compilePrepared(**prepared, request, printer, timing, result);
  if (!model)
    return model.takeError();
  return CompiledModel{std::move(*model), &(*prepared)->sources};
}
