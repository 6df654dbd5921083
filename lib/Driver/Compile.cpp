//===- Compile.cpp - From a model to traces -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/Compile.h"
#include "CompileDisaggregated.h"
#include "CompileSteps.h"
#include "SettleStrategy.h"
#include "stg/Driver/DiagnosticForwarder.h"
#include "stg/Driver/SymbolicCosts.h"
#include "stg/InitAll.h"
#include "stg/Pipelines/Pipelines.h"
#include "stg/Schedule/PipelineSchedule.h"
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

std::unique_ptr<MLIRContext> stg::makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  return context;
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
  return makeError("-o " + folder +
                   ": cannot create the folder: " + code.message());
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

/// `models` may have the model; null: it is read.
static Error compileAll(MLIRContext &context, const CompileRequest &request,
                        const MessagePrinter &printer, ModelCache *models,
                        CompileResult &result) {
  double start = getSeconds();
  DefaultTimingManager timingManager;
  applyDefaultTimingManagerCLOptions(timingManager);
  TimingScope timing = timingManager.getRootScope();
  llvm::SourceMgr ownSources;
  llvm::SourceMgr *sources = &ownSources;
  OwningOpRef<ModuleOp> module;
  if (request.decodeStrategy) {
    Expected<OwningOpRef<ModuleOp>> joined = compileDisaggregated(
        context, request, ownSources, printer, timing, result);
    if (!joined)
      return joined.takeError();
    module = std::move(*joined);
  } else {
    result.model = request.model;
    Expected<CompiledModel> compiled = compileSteps(
        context, request, ownSources, printer, models, timing, result);
    if (!compiled)
      return compiled.takeError();
    sources = compiled->sources;
    Model &model = compiled->model;
    if (model.config && model.config.getDescription())
      result.description = model.config.getDescription()->str();
    module = std::move(model.module);
  }
  double compiled = getSeconds();
  DiagnosticForwarder forwarder(context, *sources, printer);
  if (Error error = exportModule(*module, request, timing, result))
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
      return makeError(input.spell(getField(id)) +
                       ": costs with symbols are those of one step of "
                       "one model");
  if (strategy.pipelineRanks.isOne() && strategy.microBatches <= 1)
    return Error::success();
  return makeError(
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
      makeSchedule(strategy.schedule.text, getScheduleRequest(strategy));
  if (!schedule)
    return report(schedule.takeError(), printer);
  if (strategy.inference)
    schedule->dropBackward();
  writeSchedule(*schedule, os);
  return success();
}
