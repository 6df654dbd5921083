//===- Compile.cpp - From a model to traces -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/Compile.h"
#include "Flags.h"
#include "ModelLibrary.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "stg/Driver/Pipeline.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <chrono>

using namespace mlir;
using namespace stg;

static double getSeconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Parameters of the model: each name once per scope, times the repeats around
/// it.
static SymExpr countParameters(ModuleOp module) {
  SmallVector<SymExpr> counts = {SymExpr::get(module.getContext(), 0)};
  llvm::StringSet<> seen;
  module.walk([&](ParamOp param) {
    SymExpr count = param.getType().getNumElements();
    for (auto repeat = param->getParentOfType<RepeatOp>(); repeat;
         repeat = repeat->getParentOfType<RepeatOp>())
      count = count * repeat.getCount();
    if (seen.insert(getParameterPath(param)).second)
      counts.push_back(count);
  });
  // In pairs: a sum costs as much as it has terms.
  for (size_t step = 1; step < counts.size(); step *= 2)
    for (size_t i = 0; i + step < counts.size(); i += 2 * step)
      counts[i] = counts[i] + counts[i + step];
  return counts.front();
}

/// The element types of the parameters, joined by '+'.
static std::string getParameterTypes(ModuleOp module) {
  llvm::SetVector<Type> types;
  module.walk(
      [&](ParamOp param) { types.insert(param.getType().getElementType()); });
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(types, os, "+");
  return text;
}

static void setOptions(const CompileRequest &request,
                       PipelineOptions &options) {
  options.dp = std::to_string(request.dp);
  options.tp = std::to_string(request.tp);
  options.cp = std::to_string(request.cp);
  options.cpCommType = request.cpCommType;
  options.cpBalance = request.cpBalance;
  options.ep = std::to_string(request.ep);
  if (request.etp)
    options.etp = std::to_string(*request.etp);
  options.pp = std::to_string(request.pp);
  options.dpReplicate = std::to_string(request.dpReplicate);
  options.schedule = request.schedule;
  options.virtualStages = request.virtualStages;
  for (int64_t layers : request.layersPerStage)
    options.layersPerStage.addValue(layers);
  options.sequenceParallel = request.sequenceParallel;
  options.rankOrder = request.rankOrder;
  options.dtype = request.dtype;
  options.paramDtype = request.paramDtype;
  options.gradDtype = request.gradDtype;
  options.optimizerDtype = request.optimizerDtype;
  options.attentionCount = request.attentionCount;
  options.gradientReduction = request.gradientReduction;
  options.fp8 = request.fp8;
  options.fp8Gather = request.fp8Gather;
  options.zero = request.zero;
  options.zeroRoot = request.zeroRoot;
  options.reshardAfterForward = request.reshardAfterForward;
  options.prefetch = request.prefetch;
  options.bucketSize = request.bucketSize;
  options.recompute = request.recompute;
  options.recomputeMethod = request.recomputeMethod;
  options.recomputeLayers = request.recomputeLayers;
  options.keepGathered = request.keepGathered;
  for (const std::string &rule : request.rules)
    options.rules.addValue(rule);
}

static std::string getBindOptions(const SymbolValues &values) {
  std::string text;
  for (auto &[name, value] : values)
    text +=
        (text.empty() ? "" : " ") + name + "=" + std::to_string(value.value);
  return text;
}

llvm::json::Object stg::getManifestEntries(const CompileRequest &request,
                                           const CompileResult &result) {
  llvm::json::Object symbols, strategy;
  for (auto &[name, value] : result.symbols)
    symbols[name] = value;
  strategy["dp"] = request.dp;
  strategy["tp"] = request.tp;
  strategy["cp"] = request.cp;
  strategy["cp_comm_type"] = request.cpCommType;
  strategy["cp_balance"] = request.cpBalance;
  strategy["ep"] = request.ep;
  strategy["etp"] = request.etp.value_or(request.tp);
  if (!request.expertHistogram.empty())
    strategy["expert_histogram"] = request.expertHistogram;
  strategy["pp"] = request.pp;
  strategy["dp_replicate"] = request.dpReplicate;
  strategy["micro_batches"] = result.microBatches;
  strategy["schedule"] = request.schedule;
  strategy["virtual_stages"] = request.virtualStages;
  if (!request.layersPerStage.empty())
    strategy["layers_per_stage"] = llvm::json::Array(request.layersPerStage);
  strategy["sequence_parallel"] = request.sequenceParallel;
  strategy["rank_order"] = request.rankOrder;
  strategy["dtype"] = result.dtype;
  if (!request.paramDtype.empty())
    strategy["param_dtype"] = request.paramDtype;
  strategy["grad_dtype"] = request.gradDtype;
  strategy["optimizer_dtype"] = request.optimizerDtype;
  strategy["attention_count"] = request.attentionCount;
  strategy["gradient_reduction"] = request.gradientReduction;
  strategy["fp8"] = request.fp8;
  if (request.fp8Gather)
    strategy["fp8_gather"] = true;
  strategy["zero"] = request.zero;
  if (request.zero == 3) {
    strategy["zero_root"] = request.zeroRoot;
    strategy["reshard_after_forward"] = request.reshardAfterForward;
    strategy["prefetch"] = request.prefetch;
  }
  if (request.bucketSize)
    strategy["bucket_size"] = request.bucketSize;
  strategy["recompute"] = request.recompute;
  if (request.recompute == "full") {
    strategy["recompute_method"] = request.recomputeMethod;
    strategy["recompute_layers"] = request.recomputeLayers;
  }
  strategy["keep_gathered"] = request.keepGathered;
  strategy["rules"] = llvm::json::Array(request.rules);
  llvm::json::Object extra;
  extra["model"] = result.model;
  extra["description"] = result.description;
  extra["mode"] = "train";
  extra["symbols"] = std::move(symbols);
  extra["strategy"] = std::move(strategy);
  extra["parameters"] = static_cast<int64_t>(result.parameters);
  return extra;
}

static LogicalResult runPasses(ModuleOp module, TimingScope &timing,
                               function_ref<void(OpPassManager &)> build) {
  PassManager pm(module->getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  pm.enableTiming(timing);
  build(pm);
  return pm.run(module);
}

FailureOr<CompileResult> stg::compile(MLIRContext &context,
                                      const CompileRequest &request,
                                      raw_ostream &errs) {
  auto fail = [&](const std::string &error) -> FailureOr<CompileResult> {
    if (!error.empty())
      errs << "stg-compile: error: " << error << "\n";
    return failure();
  };
  double start = getSeconds();
  DefaultTimingManager timingManager;
  applyDefaultTimingManagerCLOptions(timingManager);
  TimingScope timing = timingManager.getRootScope();
  CompileResult result;
  std::string error;
  if (failed(checkChoices(context, request, error)))
    return fail(error);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, errs);
  TimingScope parserTiming = timing.nest("Parser");
  FailureOr<Model> model =
      loadModel(context, request.model, request.config,
                getModelPath(request.modelPath), sources, error);
  parserTiming.stop();
  if (failed(model))
    return fail(error);
  FailureOr<SymbolValues> values = collectSymbols(*model, request, error);
  if (failed(values))
    return fail(error);
  ModuleOp module = *model->module;
  result.model = request.model;
  if (model->config && model->config.getDescription())
    result.description = model->config.getDescription()->str();
  for (auto &[name, value] : *values)
    result.symbols[name] = value.value;

  FailureOr<int64_t> microBatches = countMicroBatches(request, *values, error);
  if (failed(microBatches))
    return fail(error);
  result.microBatches = *microBatches;

  PipelineOptions options;
  setOptions(request, options);
  options.microBatches = *microBatches;
  llvm::Expected<std::vector<int64_t>> loads =
      readExpertLoads(request, *values);
  if (!loads)
    return fail(llvm::toString(loads.takeError()));
  for (int64_t load : *loads)
    options.expertLoads.addValue(load);
  options.clipExperts = hasExpertCapacity(*values);
  options.tpReplicate = std::to_string(countReplicas(request, *values));
  if (!getProgram(module) ||
      failed(runPasses(module, timing, [&](OpPassManager &pm) {
        buildModelPipeline(pm, options);
      })))
    return fail("");
  if (failed(checkRecompute(getProgram(module), request, *values, error)))
    return fail(error);
  result.dtype = getParameterTypes(module);
  if (SymExpr parameters = countParameters(module))
    // Binding reports at its op what has no value.
    result.parameters = evaluate(parameters, *values).value_or(0);
  if (failed(runPasses(module, timing, [&](OpPassManager &pm) {
        buildPlanPipeline(pm, options);
      })))
    return fail("");
  if (failed(checkDegrees(request, MeshOp::lookup(module), *values, error)) ||
      failed(checkContext(request, *values, error)))
    return fail(error);
  if (failed(runPasses(module, timing, [&](OpPassManager &pm) {
        buildLocalPipeline(pm, options);
        buildChakraPipeline(pm, getBindOptions(*values), options);
      })))
    return fail("");

  double compiled = getSeconds();
  if (failed(makeFolder(request, error)))
    return fail(error);
  chakra::ExportOptions exportOptions = request.exportOptions;
  if (request.dryRun)
    exportOptions.output = chakra::ExportOptions::Output::Nothing;
  exportOptions.consumesGraphs = true;
  exportOptions.manifestExtra = getManifestEntries(request, result);
  TimingScope exportTiming = timing.nest("Export");
  FailureOr<chakra::ExportSummary> summary =
      chakra::exportTraces(module, exportOptions);
  exportTiming.stop();
  if (failed(summary))
    return fail("");
  result.summary = std::move(*summary);
  result.compileSeconds = compiled - start;
  result.writeSeconds = getSeconds() - compiled;
  return result;
}
