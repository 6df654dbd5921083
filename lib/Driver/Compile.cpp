//===- Compile.cpp - From a model to traces -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/Compile.h"
#include "Disaggregation.h"
#include "GraphEdits.h"
#include "MicroBatches.h"
#include "ModelCache.h"
#include "ModelChecks.h"
#include "ModelLibrary.h"
#include "ParameterCounts.h"
#include "PassFields.h"
#include "SettleStrategy.h"
#include "Steps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Transforms/Passes.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/STG/IR/DrawnSlices.h"
#include "stg/Dialect/STG/IR/KeptParameters.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/CutRepeats.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Driver/DiagnosticForwarder.h"
#include "stg/Driver/SymbolicCosts.h"
#include "stg/InitAll.h"
#include "stg/Pipelines/Pipelines.h"
#include "stg/Presets/Preset.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

static double getSeconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

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

llvm::json::Object stg::getManifestEntries(const CompileRequest &request,
                                           const CompileResult &result) {
  llvm::json::Object symbols;
  for (auto &[name, value] : result.symbols)
    symbols[name] = value;
  llvm::json::Object extra;
  extra["model"] = result.model;
  if (!request.config.empty())
    extra["config"] = request.config;
  if (!request.program.empty())
    extra["program"] = request.program;
  extra["description"] = result.description;
  extra["mode"] = stringify(result.strategy.getMode());
  extra["symbols"] = std::move(symbols);
  llvm::json::Object options;
  for (auto &[name, value] : result.options)
    options[name] = value;
  if (!options.empty())
    extra["options"] = std::move(options);
  extra[StrategyInput::kPlan] = toJSON(result.strategy);
  if (result.decode) {
    extra[StrategyInput::kDecodePlan] = toJSON(result.decode->strategy);
    extra["decode_first_rank"] = result.decode->firstRank;
  }
  extra["dtype"] = result.dtype;
  extra["micro_batches"] = result.strategy.values.microBatches;
  if (!result.loops.empty()) {
    llvm::json::Array loops;
    int64_t first = 0;
    for (const StepLoop &loop : result.loops) {
      loops.push_back(
          llvm::json::Object{{"first", first},
                             {"count", loop.count},
                             {"requests", writeRequests(loop.requests)}});
      if (loop.advance)
        (*loops.back().getAsObject())["advance"] = loop.advance->str();
      first += loop.count;
    }
    extra["steps"] = std::move(loops);
  }
  if (const auto &draft = result.draft) {
    llvm::json::Object symbols;
    for (auto &[name, value] : draft->symbols)
      symbols[name] = value;
    extra["draft"] = llvm::json::Object{
        {"model", draft->model},
        {"description", draft->description},
        {"symbols", std::move(symbols)},
        {"parameters", static_cast<int64_t>(draft->parameters)},
        {"active_parameters", static_cast<int64_t>(draft->activeParameters)},
        {"tokens_of_round", result.loops.front().advance->getValue()}};
  }
  llvm::json::Array experts;
  for (auto [held, read] : result.expertsRead)
    experts.push_back(llvm::json::Object{{"held", static_cast<int64_t>(held)},
                                         {"read", static_cast<int64_t>(read)}});
  if (!experts.empty())
    extra["experts_read"] = std::move(experts);
  extra["parameters"] = static_cast<int64_t>(result.parameters);
  extra["active_parameters"] = static_cast<int64_t>(result.activeParameters);
  extra["embedding_parameters"] =
      static_cast<int64_t>(result.embeddingParameters);
  extra["trainable_parameters"] =
      static_cast<int64_t>(result.parameters - result.frozenParameters);
  return extra;
}

std::unique_ptr<MLIRContext> stg::makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  return context;
}

namespace {
/// As long as it lives, asks the request before each pass whether to go on.
/// What is left after a no is skipped.
class PassWatcher {
public:
  PassWatcher(MLIRContext &context, const CompileRequest &request)
      : context(context) {
    if (!request.goOn)
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
  ~PassWatcher() { context.registerActionHandler(nullptr); }
  PassWatcher(const PassWatcher &) = delete;
  PassWatcher &operator=(const PassWatcher &) = delete;

  Error check() const {
    return isStopped ? makeStrategyError("interrupted") : Error::success();
  }

private:
  MLIRContext &context;
  bool isStopped = false;
};
} // namespace

static LogicalResult runPasses(const CompileRequest &request,
                               const StrategyInput &strategy, ModuleOp module,
                               TimingScope &timing,
                               function_ref<void(OpPassManager &)> build) {
  PassManager pm(module->getContext());
  if (request.configurePasses && failed(request.configurePasses(pm)))
    return failure();
  pm.enableTiming(timing);
  PassFields fields(pm, strategy);
#ifdef NDEBUG
  // Checks between our own passes find mistakes of ours, which builds with
  // assertions and stg-opt look for; here the module is checked at the end.
  pm.enableVerifier(false);
#endif
  build(pm);
  return failure(failed(pm.run(module)) ||
                 (request.verifies && failed(verify(module))));
}

/// A step of one token is asked for by who expects decoding.
static void warnOfOneToken(const Strategy &strategy, const SymbolValues &values,
                           const MessagePrinter &printer) {
  auto tokens = values.find("S");
  if (strategy.training && tokens != values.end() && tokens->second.value == 1)
    printer.warning("S = 1, from " + tokens->second.source +
                    ": this is a training step of sequences of one token, with "
                    "its backward pass; decoding is --mode decode");
}

/// Creates the folder for the traces, before time is spent on them.
static Error makeFolder(const CompileRequest &request) {
  using Output = chakra::ExportOptions::Output;
  if (request.dryRun || request.exportOptions.output == Output::Memory)
    return Error::success();
  const std::string &folder = request.exportOptions.files.directory;
  std::error_code code = llvm::sys::fs::create_directories(
      folder, /*IgnoreExisting=*/true, llvm::sys::fs::all_all);
  if (!code)
    return Error::success();
  return makeStrategyError("-o " + folder +
                           ": cannot create the folder: " + code.message());
}

/// What the handler of diagnostics has been told.
static Error makeDiagnosed() { return makeStrategyError(""); }

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

/// Says what is wrong with the schedule before anything is compiled. Few
/// micro-batches show it, which make a table of a moment; an error counts if
/// the table of all of them has it, too.
static Error checkSchedule(const Strategy &strategy) {
  ScheduleRequest request;
  request.devices = strategy.pipelineRanks.number;
  request.virtualStagesPerDevice = strategy.virtualStages;
  request.microBatches = strategy.microBatches;
  if (request.devices <= 1)
    return Error::success();
  ScheduleRequest few = request;
  few.microBatches = std::min<int64_t>(
      strategy.microBatches,
      2 * request.devices + strategy.microBatches % request.devices);
  Expected<PipelineSchedule> probe = makeSchedule(strategy.schedule.text, few);
  if (probe)
    return Error::success();
  llvm::consumeError(probe.takeError());
  return makeSchedule(strategy.schedule.text, request).takeError();
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
  return makeStrategyError(
      "--ranks " + Twine(ranks->first) + ":" + Twine(ranks->second) +
      ": expected LO:HI with 0 <= LO < HI <= " + Twine(*count) +
      ", the number of ranks");
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
  return plan;
}

/// Leaves the program that is compiled, where there are several.
static Error chooseProgram(ModuleOp module, const CompileRequest &request) {
  SmallVector<StringRef> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal())
      names.push_back(function.getSymName());
  const std::string &name = request.program;
  if (name.empty() && names.size() <= 1)
    return Error::success();
  std::string all = llvm::join(names, ", ");
  if (name.empty())
    return makeStrategyError("the model has the programs " + all +
                             "; choose one with --program NAME");
  if (!llvm::is_contained(names, name))
    return makeStrategyError("--program " + name +
                             ": the model has no such program; its programs "
                             "are " +
                             all);
  PassManager pm(module->getContext());
  pm.addPass(createSelectProgram({name}));
  return succeeded(pm.run(module)) ? Error::success() : makeDiagnosed();
}

Error stg::inlineBlocks(ModuleOp module, ArrayRef<std::string> frozen) {
  PassManager blocks(module->getContext());
  blocks.addPass(createCheckCalls());
  InlineBlocksOptions options;
  llvm::append_range(options.freeze, frozen);
  blocks.addPass(createInlineBlocks(options));
  if (failed(blocks.run(module)))
    return makeDiagnosed();
  // What MLIR makes of a valid module is looked at with what comes next.
  PassManager functions(module->getContext());
  functions.enableVerifier(false);
  functions.addPass(createInlinerPass());
  functions.addPass(createSymbolDCEPass());
  return succeeded(functions.run(module)) ? Error::success() : makeDiagnosed();
}

Expected<std::map<std::string, std::string>>
stg::prepareModel(const Model &model, const CompileRequest &request,
                  const StrategyInput &strategy) {
  ModuleOp module = *model.module;
  if (Error error = chooseProgram(module, request))
    return std::move(error);
  if (Error error = setOptions(model, strategy))
    return std::move(error);
  std::map<std::string, std::string> options;
  for (auto option : module.getOps<OptionOp>())
    options[option.getSymName().str()] = option.getValue()->str();
  if (Error error = inlineBlocks(module, getFrozenBlocks(strategy.values)))
    return std::move(error);
  return options;
}

namespace {
/// What a model, and the preset that is asked for, make of a strategy.
struct Resolved {
  SymbolValues values;
  Preset preset;
  PresetPlan plan;
};
} // namespace

/// Completes the strategy by what follows from the model, which is prepared.
static Expected<Resolved> resolvePrepared(const Model &model,
                                          const CompileRequest &request,
                                          CompileResult &result,
                                          LoadedPresets *presets = nullptr) {
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

/// Prepares the model, and completes the strategy.
static Expected<Resolved> resolveStrategy(const Model &model,
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

/// What devices execute where the stream starts so, as text.
static FailureOr<std::string> printWithStart(ModuleOp module,
                                             StreamStart start) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager pm(module->getContext());
  pm.addPass(createPropagateShardings({/*delayGradients=*/true, start}));
  pm.addPass(createInsertCollectives());
  pm.addPass(createSimplifyCollectives());
  if (failed(pm.run(*copy)))
    return failure();
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os);
  return text;
}

/// Refuses a start of the residual stream that somebody chose and that changes
/// nothing of what devices execute.
static Error checkStreamStart(ModuleOp module, const StrategyInput &input) {
  GivenBy givenBy = input.getGivenBy(FieldId::streamStart);
  // That of a file is what a manifest says.
  if (givenBy != GivenBy::Option && givenBy != GivenBy::Flag)
    return Error::success();
  FailureOr<std::string> whole = printWithStart(module, StreamStart::Whole);
  if (failed(whole))
    return makeDiagnosed();
  FailureOr<std::string> sharded = printWithStart(module, StreamStart::Sharded);
  if (failed(sharded))
    return makeDiagnosed();
  if (*whole != *sharded)
    return Error::success();
  return makeStrategyError(
      input.spell(getField(FieldId::streamStart)) +
      " has no effect: the residual stream of the model starts with one sum "
      "over the ranks that divide it, which is reduce-scattered; needs a model "
      "that adds to it before the layers, such as learned positions");
}

/// What is divided are experts with their replicas.
static SymbolValues withReplicas(const StrategyInput &strategy,
                                 SymbolValues values) {
  int64_t more = strategy.values.redundantExperts;
  if (auto experts = values.find("X"); more > 0 && experts != values.end()) {
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
  return makeStrategyError(
      strategy.spell(getField(FieldId::microBatch)) +
      ": what an encoder has made is kept for all requests at once; use one "
      "micro-batch");
}

/// With the symbols that the module defines by others, such as experts with
/// their replicas.
static SymbolValues withDefined(ModuleOp module, SymbolValues values) {
  for (auto symbol : module.getOps<SymbolOp>()) {
    std::string name = symbol.getSymName().str();
    std::optional<SymExpr> defined = symbol.getValue();
    if (!defined || values.count(name))
      continue;
    if (std::optional<Exact> number = evaluate(*defined, values))
      values[name].value = static_cast<int64_t>(*number);
  }
  return values;
}

/// From the program of a device, of which all symbols need not have a value.
static void collectExpertsRead(ModuleOp module, const SymbolValues &given,
                               CompileResult &result) {
  SymbolValues values = withDefined(module, given);
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
}

/// From the local to the chakra level.
using BuildChakra = function_ref<void(OpPassManager &, const Strategy &)>;

/// Compiles to the chakra level; fills all of `result` but what is exported.
/// With `layers` stages of this program or another one end behind so many
/// layers each.
static Error compileModule(const Model &model, const CompileRequest &request,
                           const Resolved &resolved, TimingScope &timing,
                           CompileResult &result, BuildChakra buildChakra,
                           ArrayRef<int64_t> layers = {}) {
  ModuleOp module = *model.module;
  PassWatcher watcher(*module->getContext(), request);
  StrategyInput &strategy = result.strategy;
  const SymbolValues &values = resolved.values;
  auto run = [&](function_ref<void(OpPassManager &, const Strategy &)> build,
                 TimingScope &scope) -> Error {
    LogicalResult ran =
        runPasses(request, strategy, module, scope,
                  [&](OpPassManager &pm) { build(pm, strategy.values); });
    if (Error error = watcher.check())
      return error;
    return succeeded(ran) ? Error::success() : makeDiagnosed();
  };
  if (!getProgram(module))
    return makeDiagnosed();
  if (Error error = checkPrediction(module, strategy))
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
  if (Error error = checkRecompute(getProgram(module), strategy, values))
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
    collectExpertsRead(module, values, result);
  // Times are told apart by the addresses of passes, which these may share with
  // those that are gone.
  TimingScope conversion = timing.nest("Conversion");
  return run(buildChakra, conversion);
}

static Error exportModule(ModuleOp module, const CompileRequest &request,
                          TimingScope &timing, CompileResult &result) {
  if (Error error = makeFolder(request))
    return error;
  chakra::ExportOptions options = request.exportOptions;
  options.splits = static_cast<unsigned>(result.strategy.values.splits);
  if (request.dryRun)
    options.output = chakra::ExportOptions::Output::Nothing;
  options.consumesGraphs = true;
  if (request.goOn)
    options.files.goOn = [&] { return request.goOn("write"); };
  options.manifestExtra = getManifestEntries(request, result);
  TimingScope exportTiming = timing.nest("Export");
  FailureOr<chakra::ExportSummary> summary =
      chakra::exportTraces(module, options);
  if (failed(summary))
    return makeDiagnosed();
  result.summary = std::move(*summary);
  return Error::success();
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
  warnOfOneToken(result.strategy.values, resolved.values, printer);
  if (Error error =
          checkPositions(*model.module, result.strategy, resolved.values))
    return error;
  if (Error error =
          checkJoinedTokens(*model.module, result.strategy, resolved.values))
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
  return makeStrategyError(
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
             llvm::SourceMgr &sources, const MessagePrinter &printer,
             TimingScope &timing, CompileResult &result) {
  StrategyInput strategy = request.strategy;
  strategy.deriveStep();
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

/// `tp 4 x dp 2`, of axes with several ranks.
static std::string describeMesh(ModuleOp module) {
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

/// What is wrong with the draft model is told with where it is from.
static Error spellDraft(const StrategyInput &strategy, Error error) {
  std::string message = llvm::toString(std::move(error));
  if (message.empty()) // It has been diagnosed.
    return makeDiagnosed();
  return makeStrategyError(strategy.spell(getField(FieldId::draft)) + ": " +
                           message);
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
    return makeStrategyError(
        flag + ": its ranks are " + other + ", and those of the model " + own +
        ", but each has a part of both; use a draft model with experts if the "
        "model has them, or degrees that divide both alike, such as a tensor "
        "parallelism that divides the key/value heads of both");
  return makeStrategyError(
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
              llvm::SourceMgr &sources, const MessagePrinter &printer,
              TimingScope &timing, CompileResult &result) {
  StrategyInput strategy = request.strategy;
  strategy.deriveStep();
  return compileParts<RoundParts>(
      strategy,
      splitRounds(strategy, result.loops, hasStages(context, strategy)), result,
      [&](RoundParts parts, CompileResult &made) {
        return compileRounds(context, request, std::move(parts), sources,
                             printer, timing, made);
      });
}

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

static Error runOn(Half &half, TimingScope &timing, BuildChakra build) {
  LogicalResult ran = runPasses(
      half.request, half.result->strategy, half.getModule(), timing,
      [&](OpPassManager &pm) { build(pm, half.result->strategy.values); });
  return succeeded(ran) ? Error::success() : makeDiagnosed();
}

static Error resolveHalf(Half &half) {
  Expected<Resolved> resolved =
      resolveStrategy(*half.model, half.request, *half.result);
  if (!resolved)
    return resolved.takeError();
  half.resolved.emplace(std::move(*resolved));
  return Error::success();
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
    return makeStrategyError("--prefill-strategy: prompts are the same on all "
                             "data-parallel ranks and in all micro-batches; "
                             "give one list with --requests");
  if (!strategy.requests.empty())
    return strategy.requests;
  auto tokens = values.find(getField(FieldId::seq).symbolName.str());
  if (tokens == values.end())
    return makeStrategyError("--prefill-strategy needs a model with tokens (a "
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
      return makeStrategyError("the plan of decoding has " +
                               strategy.spell(field) + ", expected " + text +
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
  strategy.values.set.erase(getField(FieldId::seq).symbolName.str());
  FieldId other = isList ? FieldId::kvLen : FieldId::requests;
  if (strategy.getGivenBy(other) == GivenBy::File)
    return makeStrategyError(
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
    bool isTokens = name == getField(FieldId::seq).symbolName;
    if (!isTokens && it != second->end() && it->second.value != value.value)
      return makeStrategyError(
          "prefill has " + name + " = " + Twine(value.value) + ", from " +
          value.source + ", and decoding " + name + " = " +
          Twine(it->second.value) + ", from " + it->second.source +
          "; give both plans one value");
  }
  const Strategy &sent = prefill.result->strategy.values,
                 &kept = decode.result->strategy.values;
  if (sent.kvBlockSize != kept.kvBlockSize)
    return makeStrategyError("blocks of " + Twine(sent.kvBlockSize) +
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
      return makeStrategyError(
          strategy.spell(getField(id)) +
          " with --prefill-strategy: prompts are read in one step, and one "
          "step of decoding follows; compile several steps of each by "
          "themselves");
  return Error::success();
}

/// Completes both strategies: that of prefill says what decoding goes on with.
static Error resolveHalves(Half &prefill, Half &decode) {
  StrategyInput &first = prefill.request.strategy;
  for (const StrategyInput *half : {&first, &*decode.request.decodeStrategy})
    if (Error error = checkHalf(*half))
      return error;
  if (!first.isGiven(FieldId::mode))
    if (Error error = first.set(getField(FieldId::mode),
                                stringify(Mode::Prefill), GivenBy::Flag))
      return error;
  if (first.values.mode != Mode::Prefill)
    return makeStrategyError(first.spell(getField(FieldId::mode)) +
                             " with --prefill-strategy: its ranks read "
                             "prompts");
  if (Error error = resolveHalf(prefill))
    return error;
  Expected<Requests> prompts =
      getPrompts(prefill.result->strategy.values, prefill.resolved->values);
  if (!prompts)
    return prompts.takeError();
  prefill.requests = std::move(*prompts);
  decode.requests = goOnWith(prefill.requests);
  decode.request.strategy = *decode.request.decodeStrategy;
  bool isList = !prefill.result->strategy.values.requests.empty();
  if (Error error =
          setDecoding(decode.request.strategy, decode.requests, isList))
    return error;
  if (Error error = resolveHalf(decode))
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

/// Two programs of one model, and the messages between them.
static Error compileDisaggregated(MLIRContext &context,
                                  const CompileRequest &request,
                                  const MessagePrinter &printer,
                                  CompileResult &result) {
  double start = getSeconds();
  llvm::SourceMgr sources;
  DiagnosticForwarder forwarder(context, sources, printer);
  TimingScope timing;
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
  if (Error error = resolveHalves(prefill, decode))
    return error;
  if (Error error = compileHalves(prefill, decode, timing))
    return error;
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
  double compiled = getSeconds();
  if (Error error = exportModule(*joined, request, timing, result))
    return error;
  result.compileSeconds = compiled - start;
  result.writeSeconds = getSeconds() - compiled;
  return Error::success();
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

/// `models` may have the model; null: it is read.
static Error compileAll(MLIRContext &context, const CompileRequest &request,
                        const MessagePrinter &printer, ModelCache *models,
                        CompileResult &result) {
  if (request.decodeStrategy)
    return compileDisaggregated(context, request, printer, result);
  double start = getSeconds();
  DefaultTimingManager timingManager;
  applyDefaultTimingManagerCLOptions(timingManager);
  TimingScope timing = timingManager.getRootScope();
  StrategyInput strategy = request.strategy;
  strategy.deriveStep();
  const bool hasDrafts =
      strategy.values.inference && strategy.values.draft.has_value();
  if (hasDrafts) {
    Expected<StepLoop> rounds = planRounds(strategy);
    if (!rounds)
      return rounds.takeError();
    result.loops = {std::move(*rounds)};
    if (hasStages(context, strategy))
      handOnTokens(result.loops);
  } else {
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
        return makeStrategyError(
            spellSteps(strategy) +
            ": stages have the same layers in all steps, but steps in which "
            "requests begin have those of their images, too; use one stage, or "
            "compile these steps by themselves");
      if (*hasOther)
        beginApart(result.loops);
    }
    if (isPipeline && !result.loops.empty())
      handOnTokens(result.loops);
  }
  result.model = request.model;
  const bool isOne =
      (isOneLoop(strategy) && result.loops.size() <= 1) || result.loops.empty();
  PreparedModel *prepared = nullptr;
  if (models && isOne && !hasDrafts &&
      !strategy.values.requests.areOfMicroBatches()) {
    Expected<PreparedModel *> found = models->get(request, strategy, printer);
    if (!found)
      return found.takeError();
    prepared = *found;
  }
  llvm::SourceMgr ownSources;
  llvm::SourceMgr &sources = prepared ? prepared->sources : ownSources;
  DiagnosticForwarder forwarder(context, sources, printer);
  Expected<Model> model =
      prepared ? compilePrepared(*prepared, request, printer, timing, result)
      : hasDrafts
          ? compileRounds(context, request, sources, printer, timing, result)
      : isOne
          ? compileLoop(context, request, sources, printer, timing, result)
          : compileLoops(context, request, sources, printer, timing, result);
  if (!model)
    return model.takeError();
  if (model->config && model->config.getDescription())
    result.description = model->config.getDescription()->str();
  double compiled = getSeconds();
  if (Error error = exportModule(*model->module, request, timing, result))
    return error;
  result.compileSeconds = compiled - start;
  result.writeSeconds = getSeconds() - compiled;
  return Error::success();
}

/// What has been diagnosed has no message.
static LogicalResult report(Error error, const MessagePrinter &printer) {
  if (!error)
    return success();
  std::string message = llvm::toString(std::move(error));
  if (!message.empty())
    printer.error(message);
  return failure();
}

FailureOr<CompileResult> stg::compile(MLIRContext &context,
                                      const CompileRequest &request,
                                      const MessagePrinter &printer) {
  CompileResult result;
  if (failed(report(compileAll(context, request, printer, nullptr, result),
                    printer)))
    return failure();
  return result;
}

/// What is interned ends with a context.
struct Compiler::Session {
  std::unique_ptr<MLIRContext> context = makeContext();
  ModelCache models{*context};
  unsigned numCompiled = 0;
};

Compiler::Compiler() = default;
Compiler::~Compiler() = default;

FailureOr<CompileResult> Compiler::compile(const CompileRequest &request,
                                           const MessagePrinter &printer) {
  // Few enough for tables to stay small, enough for reading not to count.
  constexpr unsigned kMostCompiled = 64;
  if (!session || session->numCompiled++ == kMostCompiled)
    session = std::make_unique<Session>();
  CompileResult result;
  Error error =
      compileAll(*session->context, request, printer, &session->models, result);
  if (failed(report(std::move(error), printer)))
    return failure();
  return result;
}

/// Stages and micro-batches are made when symbols have values, and so are
/// steps.
static Error checkSymbolic(const StrategyInput &input) {
  const Strategy &strategy = input.values;
  for (FieldId id :
       {FieldId::draft, FieldId::chunk, FieldId::tokenBudget, FieldId::steps})
    if (input.isGiven(id) && !(id == FieldId::steps && strategy.steps <= 1))
      return makeStrategyError(input.spell(getField(id)) +
                               ": costs with symbols are those of one step of "
                               "one model");
  if (strategy.pipelineRanks.isOne() && strategy.microBatches <= 1)
    return Error::success();
  return makeStrategyError(
      "costs with symbols need one pipeline stage and one micro-batch, found " +
      strategy.pipelineRanks.str() + " and " + Twine(strategy.microBatches));
}

static Error computeAll(MLIRContext &context, const CompileRequest &request,
                        const MessagePrinter &printer, SymbolicCosts &costs) {
  llvm::SourceMgr sources;
  DiagnosticForwarder forwarder(context, sources, printer);
  Expected<Model> model = loadModel(context, request, sources, printer);
  if (!model)
    return model.takeError();
  CompileResult result;
  Expected<Resolved> resolved = resolveStrategy(*model, request, result);
  if (!resolved)
    return resolved.takeError();
  if (Error error = checkSymbolic(result.strategy))
    return error;
  TimingScope timing;
  if (Error error = compileModule(*model, request, *resolved, timing, result,
                                  buildSymbolicChakraPipeline))
    return error;
  FailureOr<std::vector<SymbolicCost>> collected = collectCosts(*model->module);
  if (failed(collected))
    return makeDiagnosed();
  costs = {std::move(*collected), std::move(result.symbols)};
  // What is left are coordinates of the rank.
  for (const SymbolicCost &cost : costs.costs)
    cost.expression.walkSymbols(
        [&](StringAttr name) { costs.symbols.try_emplace(name.str(), 0); });
  return Error::success();
}

FailureOr<SymbolicCosts> stg::computeCosts(MLIRContext &context,
                                           const CompileRequest &request,
                                           const MessagePrinter &printer) {
  SymbolicCosts costs;
  if (failed(report(computeAll(context, request, printer, costs), printer)))
    return failure();
  return costs;
}

LogicalResult stg::printSchedule(MLIRContext &context,
                                 const CompileRequest &request, raw_ostream &os,
                                 const MessagePrinter &printer) {
  llvm::SourceMgr sources;
  DiagnosticForwarder forwarder(context, sources, printer);
  Expected<Model> model = loadModel(context, request, sources, printer);
  if (!model)
    return report(model.takeError(), printer);
  CompileResult result;
  Expected<Resolved> resolved = resolveStrategy(*model, request, result);
  if (!resolved)
    return report(resolved.takeError(), printer);
  const Strategy &strategy = result.strategy.values;
  Expected<PipelineSchedule> schedule =
      makeSchedule(strategy.schedule.text,
                   {static_cast<unsigned>(strategy.pipelineRanks.number),
                    static_cast<unsigned>(strategy.virtualStages),
                    static_cast<unsigned>(strategy.microBatches)});
  if (!schedule)
    return report(schedule.takeError(), printer);
  if (strategy.inference)
    schedule->dropBackward();
  writeSchedule(*schedule, os);
  return success();
}
