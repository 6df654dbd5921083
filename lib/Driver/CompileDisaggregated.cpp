//===- CompileDisaggregated.cpp - Two plans of one model ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileDisaggregated.h"
#include "Disaggregation.h"
#include "ModelChecks.h"
#include "mlir/IR/Verifier.h"
#include "stg/Dialect/STG/Transforms/CutRepeats.h"
#include "stg/Driver/DiagnosticForwarder.h"
#include "stg/Pipelines/Pipelines.h"
#include <set>

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

namespace {
/// One of the two programs of a disaggregated service.
struct Half {
  CompileRequest request;
  Expected<Model> model;
  CompileResult *result;
  DisaggregatedProgram program = {};
  std::optional<Resolved> resolved = std::nullopt;
  Requests requests = {}; ///< Of a row.

  ModuleOp getModule() { return *model->module; }
};
} // namespace

static Error runOn(Half &half, TimingScope &timing, BuildPasses build) {
  return runPasses(half.request, half.result->strategy, half.getModule(),
                   timing, build);
}

static Error resolveHalf(Half &half, const MessagePrinter &printer) {
  Expected<Resolved> resolved =
      resolveStrategy(*half.model, half.request, *half.result);
  if (!resolved)
    return resolved.takeError();
  half.resolved.emplace(std::move(*resolved));
  return checkTokens(*half.model, *half.resolved, half.result->strategy,
                     printer);
}

/// Adds the numbers of layers before each stage but the first one, and that of
/// all. What is no number, or does not divide, is an error of the schedule.
static void addStageEnds(Half &half, std::set<int64_t> &ends) {
  const Strategy &strategy = half.result->strategy.values;
  func::FuncOp program = getProgram(half.getModule());
  if (!program)
    return;
  int64_t stages = countStages(strategy), done = 0;
  int64_t total = countLayers(program, half.resolved->values).value_or(0);
  ends.insert(total);
  ArrayRef<int64_t> own = strategy.layersPerStage;
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    if (own.empty() ? total % stages != 0
                    : stage >= static_cast<int64_t>(own.size()))
      return;
    done += own.empty() ? total / stages : own[stage];
    ends.insert(done);
  }
}

/// So many layers from where any stage of either ends to where the next does,
/// so that both have the same repeats.
static SmallVector<int64_t> getLayersBetweenEnds(Half &prefill, Half &decode) {
  std::set<int64_t> ends;
  addStageEnds(prefill, ends);
  addStageEnds(decode, ends);
  SmallVector<int64_t> layers;
  int64_t done = 0;
  for (int64_t end : ends) {
    layers.push_back(end - done);
    done = end;
  }
  return layers;
}

/// The axes that rules name for all values.
static DividingAxes getDividingAxes(const PresetPlan &plan) {
  DividingAxes axes;
  for (const PresetPlan::Rule &rule : plan.rules)
    if (rule.rule.getScope() == RuleScope::All)
      axes[rule.rule.getDim().str()].push_back(
          rule.rule.getAxis().getValue().str());
  return axes;
}

/// Notes what it keeps, and gives stages their tasks. `others` are the caches
/// of the other one, if they are known.
static Error scheduleHalf(Half &half, TimingScope &timing,
                          ArrayRef<KeptCache> others = {}) {
  const Strategy &strategy = half.result->strategy.values;
  auto caches = collectCaches(half.getModule(), half.requests,
                              getDividingAxes(half.resolved->plan),
                              countTokenParts(strategy), others);
  if (!caches)
    return caches.takeError();
  half.program = {half.getModule(), std::move(*caches)};
  return runOn(half, timing, buildSchedulePipeline);
}

static Error convertHalf(Half &half, TimingScope &timing) {
  if (Error error = runOn(half, timing, buildConversionPipeline))
    return error;
  half.result->mesh = describeMesh(half.getModule());
  return Error::success();
}

/// The prompts of each row: what is given, or one.
static Expected<Requests> getPrompts(const Strategy &strategy,
                                     const SymbolValues &values) {
  if (strategy.rankLists || strategy.requests.areOfMicroBatches())
    return makeError("--prefill-strategy: prompts are the same on all "
                     "data-parallel ranks and in all micro-batches; "
                     "give one list with --requests");
  if (!strategy.requests.empty())
    return strategy.requests;
  auto tokens = values.find(kTokenDim.str());
  if (tokens == values.end())
    return makeError("--prefill-strategy needs a model with tokens (a "
                     "symbol 'S')");
  Request prompt;
  prompt.newTokens = tokens->second.value;
  prompt.cachedTokens = strategy.kvLen.value_or(0);
  Requests prompts;
  prompts.list = {prompt};
  return prompts;
}

/// The step that goes on with the prompts: a new token of each.
static Requests goOnWith(const Requests &prompts) {
  Requests next = prompts;
  for (Request &request : next.list) {
    request.cachedTokens += request.newTokens;
    request.newTokens = 1;
    request.logits.reset();
  }
  return next;
}

/// What decoding is follows from the prompts. What its file says must be that.
static Error setDecoding(StrategyInput &strategy, const Requests &next,
                         bool isList) {
  auto set = [&](FieldId id, StringRef text) -> Error {
    const Field &field = getField(id);
    StrategyInput derived;
    if (Error error = derived.set(field, text, GivenBy::Flag))
      return error;
    if (strategy.getGivenBy(id) == GivenBy::File &&
        field.print(strategy.values) != field.print(derived.values))
      return makeError("the plan of decoding has " + strategy.spell(field) +
                       ", expected " + text +
                       ", as it goes on with the prompts; leave it "
                       "out");
    strategy.reset(id);
    return strategy.set(field, text, GivenBy::Flag);
  };
  if (Error error = set(FieldId::mode, stringify(Mode::Decode)))
    return error;
  if (Error error = set(FieldId::seq, "1"))
    return error;
  strategy.reset(FieldId::seq);
  strategy.values.set.erase(kTokenDim.str());
  FieldId other = isList ? FieldId::kvLen : FieldId::requests;
  if (strategy.getGivenBy(other) == GivenBy::File)
    return makeError(
        "the plan of decoding has " + strategy.spell(getField(other)) +
        ", but the prompts that it goes on with are " +
        (isList ? "a list of requests" : "rows") + "; leave it out");
  strategy.reset(other);
  if (isList)
    return set(FieldId::requests, next.str());
  return set(FieldId::kvLen, std::to_string(next.list[0].cachedTokens));
}

/// Both plans are of one model, of the same prompts, and of caches of one type.
static Error checkAlike(const Half &prefill, const Half &decode) {
  auto first = collectSymbols(*prefill.model, prefill.result->strategy);
  if (!first)
    return first.takeError();
  auto second = collectSymbols(*decode.model, decode.result->strategy);
  if (!second)
    return second.takeError();
  for (const auto &[name, value] : *first) {
    auto it = second->find(name);
    bool isTokens = name == kTokenDim;
    if (!isTokens && it != second->end() && it->second.value != value.value)
      return makeError("prefill has " + name + " = " + Twine(value.value) +
                       ", from " + value.source + ", and decoding " + name +
                       " = " + Twine(it->second.value) + ", from " +
                       it->second.source + "; give both plans one value");
  }
  const Strategy &sent = prefill.result->strategy.values,
                 &kept = decode.result->strategy.values;
  if (sent.kvBlockSize != kept.kvBlockSize)
    return makeError("blocks of " + Twine(sent.kvBlockSize) +
                     " tokens are sent and those of " +
                     Twine(kept.kvBlockSize) +
                     " kept; give both plans one --kv-block-size");
  return Error::success();
}

/// Prompts are read in one step, and one step of decoding follows.
static Error checkHalf(const StrategyInput &strategy) {
  for (FieldId id :
       {FieldId::steps, FieldId::chunk, FieldId::tokenBudget, FieldId::draft})
    if (getField(id).print(strategy.values) != getField(id).print(Strategy()))
      return makeError(
          strategy.spell(getField(id)) +
          " with --prefill-strategy: prompts are read in one step, and one "
          "step of decoding follows; compile several steps of each by "
          "themselves");
  if (strategy.values.overlappedBatches > 1)
    return makeError(
        strategy.spell(getField(FieldId::overlappedBatches)) +
        " with --prefill-strategy: ranks that read prompts send the caches of "
        "whole micro-batches; compile prefill and decoding by themselves");
  return Error::success();
}

/// Completes both strategies: that of prefill says what decoding goes on with.
static Error resolveHalves(Half &prefill, Half &decode,
                           const MessagePrinter &printer) {
  StrategyInput &first = prefill.request.strategy;
  for (const StrategyInput *half : {&first, &*decode.request.decodeStrategy})
    if (Error error = checkHalf(*half))
      return error;
  StrategyInput &firstFile = prefill.request.strategyFile;
  for (StrategyInput *input : {&first, &firstFile})
    if (!input->isGiven(FieldId::mode))
      if (Error error = input->set(getField(FieldId::mode),
                                   stringify(Mode::Prefill), GivenBy::Flag))
        return error;
  if (first.values.mode != Mode::Prefill)
    return makeError(first.spell(getField(FieldId::mode)) +
                     " with --prefill-strategy: its ranks read "
                     "prompts");
  if (Error error = resolveHalf(prefill, printer))
    return error;
  Expected<Requests> prompts =
      getPrompts(prefill.result->strategy.values, prefill.resolved->values);
  if (!prompts)
    return prompts.takeError();
  prefill.requests = std::move(*prompts);
  decode.requests = goOnWith(prefill.requests);
  decode.request.strategy = *decode.request.decodeStrategy;
  decode.request.strategyFile = decode.request.decodeStrategyFile;
  bool isList = !prefill.result->strategy.values.requests.empty();
  if (Error error =
          setDecoding(decode.request.strategy, decode.requests, isList))
    return error;
  if (Error error = decode.request.strategyFile.set(
          getField(FieldId::mode), stringify(Mode::Decode), GivenBy::Flag))
    return error;
  if (Error error = resolveHalf(decode, printer))
    return error;
  return checkAlike(prefill, decode);
}

/// Compiles both to the chakra level, with the same repeats.
static Error compileHalves(Half &prefill, Half &decode, TimingScope &timing) {
  SmallVector<int64_t> layers = getLayersBetweenEnds(prefill, decode);
  for (Half *half : {&prefill, &decode})
    if (Error error =
            compileModule(*half->model, half->request, *half->resolved, timing,
                          *half->result, buildBindPipeline, layers))
      return error;
  if (Error error = scheduleHalf(decode, timing))
    return error;
  if (Error error = scheduleHalf(prefill, timing, decode.program.caches))
    return error;
  // A stage may send some of its layers to each of several ones.
  cutRepeatsLike(prefill.getModule(), decode.getModule());
  for (Half *half : {&prefill, &decode})
    if (Error error = convertHalf(*half, timing))
      return error;
  return Error::success();
}

Expected<OwningOpRef<ModuleOp>>
stg::compileDisaggregated(MLIRContext &context, const CompileRequest &request,
                          llvm::SourceMgr &sources,
                          const MessagePrinter &printer, TimingScope &timing,
                          CompileResult &result) {
  DiagnosticForwarder forwarder(context, sources, printer);
  result.decode = std::make_shared<CompileResult>();
  result.model = result.decode->model = request.model;
  Half prefill{request, loadModel(context, request, sources, printer), &result};
  if (!prefill.model)
    return prefill.model.takeError();
  Half decode{request, loadModel(context, request, sources, printer),
              result.decode.get()};
  if (!decode.model)
    return decode.model.takeError();
  for (Half *half : {&prefill, &decode})
    if (ConfigOp config = half->model->config;
        config && config.getDescription())
      half->result->description = config.getDescription()->str();
  if (Error error = resolveHalves(prefill, decode, printer))
    return std::move(error);
  if (Error error = compileHalves(prefill, decode, timing))
    return std::move(error);
  OwningOpRef<ModuleOp> joined =
      ModuleOp::create((*prefill.model->module).getLoc());
  Expected<int64_t> firstRank =
      joinPrograms(*joined, prefill.program, decode.program, prefill.requests,
                   result.strategy.values.kvBlockSize, result.symbols);
  if (!firstRank)
    return firstRank.takeError();
  result.decode->firstRank = *firstRank;
  if (failed(verify(*joined)))
    return makeDiagnosed();
  return joined;
}
