//===- CompileModel.cpp - One program, as of any strategy -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileModel.h"
#include "ModelChecks.h"
#include "ParameterCounts.h"
#include "PassFields.h"
#include "PrepareModel.h"
#include "SettleStrategy.h"
#include "mlir/IR/Verifier.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/STG/IR/DrawnSlices.h"
#include "stg/Dialect/STG/IR/KeptParameters.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/CutRepeats.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Pipelines/Pipelines.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// The element types of the parameters, joined by '+'.
static std::string getParameterTypes(ModuleOp module) {
  llvm::SetVector<Type> types;
  module.walk([&](ParamOp param) {
    // Tables of numbers have a type of their own.
    Type type = param.getType().getElementType();
    if (!isa<IntegerType>(type))
      types.insert(type);
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(types, os, "+");
  return text;
}

namespace {
/// As long as it lives, asks the request before each pass whether to go on.
/// What is left after a no is skipped.
class PassWatcher {
public:
  PassWatcher(MLIRContext &context, const CompileRequest &request)
      : context(context), isWatching(static_cast<bool>(request.goOn)) {
    if (!isWatching)
      return;
    context.registerActionHandler(
        [&](function_ref<void()> run, const tracing::Action &action) {
          // What runs passes on nested ops is a pass without a name.
          const auto *pass = dyn_cast<PassExecutionAction>(&action);
          StringRef name = pass ? pass->getPass().getArgument() : "";
          if (!name.empty() && !isStopped)
            isStopped = !request.goOn(name);
          if (!isStopped)
            run();
        });
  }
  ~PassWatcher() {
    if (isWatching)
      context.registerActionHandler(nullptr);
  }
  PassWatcher(const PassWatcher &) = delete;
  PassWatcher &operator=(const PassWatcher &) = delete;

  bool isInterrupted() const { return isStopped; }

private:
  MLIRContext &context;
  const bool isWatching;
  bool isStopped = false;
};
} // namespace

Error stg::runPasses(const CompileRequest &request,
                     const StrategyInput &strategy, ModuleOp module,
                     TimingScope &timing, BuildPasses build) {
  PassManager pm(module->getContext());
  if (request.configurePasses && failed(request.configurePasses(pm)))
    return makeDiagnosed();
  pm.enableTiming(timing);
  PassFields fields(pm, strategy);
#ifdef NDEBUG
  // Checks between our own passes find mistakes of ours, which builds with
  // assertions and stg-opt look for; here the module is checked at the end.
  pm.enableVerifier(false);
#endif
  build(pm, strategy.values);
  PassWatcher watcher(*module->getContext(), request);
  LogicalResult ran = pm.run(module);
  if (watcher.isInterrupted())
    return makeError("interrupted");
  if (failed(ran) || (request.verifies && failed(verify(module))))
    return makeDiagnosed();
  return Error::success();
}

/// A step of one token is asked for by who expects decoding; a model may have
/// one by itself.
static void warnOfOneToken(const StrategyInput &strategy,
                           const SymbolValues &values,
                           const MessagePrinter &printer) {
  auto tokens = values.find(kTokenDim.str());
  bool isAsked = strategy.isGiven(FieldId::seq) ||
                 strategy.values.set.count(kTokenDim.str());
  if (isAsked && strategy.values.training && tokens != values.end() &&
      tokens->second.value == 1)
    printer.warning("S = 1, from " + tokens->second.source +
                    ": this is a training step of sequences of one token, with "
                    "its backward pass; decoding is --mode decode");
}

Error stg::checkTokens(const Model &model, const Resolved &resolved,
                       const StrategyInput &strategy,
                       const MessagePrinter &printer) {
  warnOfOneToken(strategy, resolved.values, printer);
  if (Error error = checkPositions(*model.module, strategy, resolved.values))
    return error;
  if (Error error = checkRollback(strategy, resolved.values))
    return error;
  return checkJoinedTokens(*model.module, strategy, resolved.values);
}

/// Says what is wrong with the schedule before anything is compiled. Few
/// micro-batches show it, which make a table of a moment; an error counts if
/// the table of all of them has it, too.
static Error checkSchedule(const Strategy &strategy) {
  ScheduleRequest request = getScheduleRequest(strategy);
  if (request.devices <= 1 && request.microBatches <= 1 && !request.pairs)
    return Error::success();
  Expected<PipelineSchedule> probe =
      makeSchedule(strategy.schedule.text, request.getProbe());
  if (probe)
    return Error::success();
  llvm::consumeError(probe.takeError());
  return makeSchedule(strategy.schedule.text, request).takeError();
}

Expected<Resolved> stg::resolvePrepared(const Model &model,
                                        const CompileRequest &request,
                                        CompileResult &result,
                                        LoadedPresets *presets) {
  StrategyInput &strategy = result.strategy;
  strategy = request.strategy;
  strategy.deriveStep();
  Expected<SymbolValues> values = collectSymbols(model, strategy);
  if (!values)
    return values.takeError();
  Expected<Preset> preset = loadPreset(strategy, presets);
  if (!preset)
    return preset.takeError();
  Expected<PresetPlan> plan =
      settleStrategy(*preset, request, *model.module, *values, strategy);
  if (!plan)
    return plan.takeError();
  for (auto &[name, value] : *values)
    result.symbols[name] = value.value;
  result.execution = preset->execution;
  return Resolved{std::move(*values), std::move(*preset), std::move(*plan)};
}

Expected<Resolved> stg::resolveStrategy(const Model &model,
                                        const CompileRequest &request,
                                        CompileResult &result) {
  StrategyInput strategy = request.strategy;
  strategy.deriveStep();
  auto options = prepareModel(model, request, strategy);
  if (!options)
    return options.takeError();
  result.options = std::move(*options);
  return resolvePrepared(model, request, result);
}

/// What devices execute where the stream starts so; null if that is an error.
static OwningOpRef<ModuleOp> localize(ModuleOp module, StreamStart start) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager pm(module->getContext());
  pm.addPass(createPropagateShardings({/*delayGradients=*/true, start}));
  pm.addPass(createInsertCollectives());
  pm.addPass(createSimplifyCollectives());
  return succeeded(pm.run(*copy)) ? std::move(copy) : nullptr;
}

/// Refuses a start of the residual stream that somebody chose and that changes
/// nothing of what devices execute.
static Error checkStreamStart(ModuleOp module, const StrategyInput &input) {
  GivenBy givenBy = input.getGivenBy(FieldId::streamStart);
  // That of a file is what a manifest says.
  if (givenBy != GivenBy::Option && givenBy != GivenBy::Flag)
    return Error::success();
  OwningOpRef<ModuleOp> whole = localize(module, StreamStart::Whole);
  if (!whole)
    return makeDiagnosed();
  OwningOpRef<ModuleOp> sharded = localize(module, StreamStart::Sharded);
  if (!sharded)
    return makeDiagnosed();
  if (!OperationEquivalence::isEquivalentTo(
          *whole, *sharded, OperationEquivalence::IgnoreLocations))
    return Error::success();
  return makeError(
      input.spell(getField(FieldId::streamStart)) +
      " has no effect: the residual stream of the model starts with one sum "
      "over the ranks that divide it, which is reduce-scattered; needs a model "
      "that adds to it before the layers, such as learned positions");
}

/// What is divided are experts with their replicas.
static SymbolValues withReplicas(const StrategyInput &strategy,
                                 SymbolValues values) {
  int64_t more = strategy.values.redundantExperts;
  if (auto experts = values.find(kExpertDim.str());
      more > 0 && experts != values.end()) {
    experts->second.value += more;
    experts->second.source +=
        " and " + strategy.spell(getField(FieldId::redundantExperts));
  }
  return values;
}

/// Keys and values of encoders are those of all requests of a row.
static Error checkEncoded(ModuleOp module, const StrategyInput &strategy) {
  if (strategy.values.microBatches <= 1 ||
      !module
           .walk([](ParamOp param) {
             return isKept(param) ? WalkResult::interrupt()
                                  : WalkResult::advance();
           })
           .wasInterrupted())
    return Error::success();
  return makeError(
      strategy.spell(getField(FieldId::microBatch)) +
      ": what an encoder has made is kept for all requests at once; use one "
      "micro-batch");
}

/// From the program of a device, of which all symbols need not have a value.
/// Symbols that it defines by others, such as experts with their replicas, have
/// one.
static Error collectExpertsRead(ModuleOp module, SymbolValues values,
                                CompileResult &result) {
  if (Error error = setDefinedSymbols(module, values))
    return error;
  module.walk([&](EinsumOp op) {
    std::optional<DrawnSlices> drawn = getDrawnSlices(op);
    if (!drawn)
      return;
    // Null where they depend on the number of a step, or of a rank.
    std::optional<Exact> held = evaluate(drawn->held, values),
                         read = evaluate(drawn->read, values);
    if (held && read)
      result.expertsRead.insert({*held, *read});
  });
  return Error::success();
}

Error stg::compileModule(const Model &model, const CompileRequest &request,
                         const Resolved &resolved, TimingScope &timing,
                         CompileResult &result, BuildPasses buildChakra,
                         ArrayRef<int64_t> layers) {
  ModuleOp module = *model.module;
  StrategyInput &strategy = result.strategy;
  const SymbolValues &values = resolved.values;
  auto run = [&](BuildPasses build, TimingScope &scope) {
    return runPasses(request, strategy, module, scope, build);
  };
  if (!getProgram(module))
    return makeDiagnosed();
  if (Error error = checkPrediction(module, strategy))
    return error;
  // What is said of the model that verifies is said of its draft, too.
  if (!request.dropsWithoutEffect)
    if (Error error = checkKept(module, strategy))
      return error;
  if (Error error = checkPredicted(getProgram(module), strategy))
    return error;
  if (Error error = checkCacheAxes(strategy))
    return error;
  if (Error error = run(buildModelPipeline, timing))
    return error;
  // A step of inference may have fewer layers than its model.
  if (!strategy.values.inference)
    if (Error error =
            checkStages(getProgram(module), strategy, values, request.isDraft))
      return error;
  if (Error error = checkSchedule(strategy.values))
    return error;
  if (Error error = settleRecompute(getProgram(module), strategy, values))
    return error;
  result.dtype = getParameterTypes(module);
  ParameterCounts counts = countParameters(module);
  // Binding reports at its op what has no value.
  auto getNumber = [&](SymExpr count) -> Exact {
    return count ? evaluate(count, values).value_or(0) : 0;
  };
  result.parameters = getNumber(counts.all);
  result.activeParameters = getNumber(counts.active);
  result.embeddingParameters = getNumber(counts.embedding);
  result.frozenParameters = getNumber(counts.frozen);
  auto buildPlan = [&](OpPassManager &pm, const Strategy &strategy) {
    if (layers.size() > 1)
      addCutLayers(pm, strategy, layers);
    buildPlanPipeline(pm, strategy, &resolved.plan);
  };
  if (Error error = run(buildPlan, timing))
    return error;
  // What the loss does not depend on has no gradient.
  if (!strategy.values.inference)
    result.frozenParameters =
        result.parameters - getNumber(countUpdated(module));
  if (strategy.values.inference)
    if (Error error =
            checkStages(getProgram(module), strategy, values, request.isDraft))
      return error;
  if (Error error = checkEncoded(module, strategy))
    return error;
  if (Error error = checkStreamStart(module, strategy))
    return error;
  if (Error error = run(buildShardingPipeline, timing))
    return error;
  if (Error error = checkDegrees(strategy, module, resolved.preset,
                                 resolved.plan, withReplicas(strategy, values)))
    return error;
  if (Error error =
          checkContext(getProgram(module), strategy, resolved.preset, values))
    return error;
  if (Error error = run(buildLocalPipeline, timing))
    return error;
  if (Error error = checkCachedTokens(module, strategy, values))
    return error;
  if (strategy.values.inference)
    if (Error error = collectExpertsRead(module, values, result))
      return error;
  // Times are told apart by the addresses of passes, which these may share with
  // those that are gone.
  TimingScope conversion = timing.nest("Conversion");
  return run(buildChakra, conversion);
}

std::string stg::describeMesh(ModuleOp module) {
  std::string text;
  for (auto graph : module.getOps<chakra::GraphOp>()) {
    MeshAttr mesh = graph.getMesh();
    for (auto [name, size] :
         llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes()))
      text += (text.empty() ? "" : " x ") + name.str() + " " + size.str();
    break;
  }
  return text;
}
