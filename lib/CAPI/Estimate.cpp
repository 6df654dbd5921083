//===- Estimate.cpp - Estimates from C ------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg-c/Estimate.h"
#include "CompileCall.h"
#include "mlir/IR/MLIRContext.h"
#include "stg/Estimate/Report.h"
#include "stg/Presets/Preset.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace stg;
using namespace stg::capi;
using trace::TraceBundle;

/// Names of classes point into programs, which may end before the estimate.
struct StgEstimate {
  std::vector<std::string> names;
  std::vector<StgTimePart> parts;
  std::vector<StgClassTime> classes;
  std::string machine, json;
  StgEstimateTotals totals = {};
  MessageList messages;
};

Expected<Machine> stg::capi::loadMachine(const StgMachine &from) {
  std::vector<std::string> changes(from.changes,
                                   from.changes + from.numChanges);
  return Machine::load(toStringRef(from.name), changes);
}

/// Makes what C sees of a report.
static std::unique_ptr<StgEstimate> takeReport(const Report &report) {
  auto estimate = std::make_unique<StgEstimate>();
  std::vector<Report::Part> parts = report.getParts();
  size_t numNames = parts.size() + report.times.step.classes.size();
  estimate->names.reserve(numNames); // Views point to them.
  auto keep = [&](StringRef name) {
    estimate->names.push_back(name.str());
    return toText(estimate->names.back());
  };
  for (const Report::Part &part : parts)
    estimate->parts.push_back({keep(part.name), part.seconds});
  for (const ClassTimes &entry : report.times.step.classes)
    estimate->classes.push_back(
        {keep(entry.name), entry.ranks, entry.end / kTicksPerSecond});
  estimate->machine = report.machine.getName().str();
  estimate->json = formatv("{0:2}\n", json::Value(report.getJSON())).str();
  StgEstimateTotals &totals = estimate->totals;
  totals.stepSeconds = report.times.step.getSeconds();
  totals.machine = toText(estimate->machine);
  totals.numRanks = report.job.ranks;
  totals.modelUse = report.getUse(Report::UseOf::Model);
  totals.hardwareUse = report.getUse(Report::UseOf::Hardware);
  totals.intervalSeconds = report.times.interval.value_or(0);
  totals.tokenRate = report.getTokenRate().value_or(0);
  totals.neededBytes = report.getNeeded();
  totals.availableBytes = report.getCapacity();
  const Quantity *error = report.getError();
  totals.meanError = error ? error->value : -1;
  totals.parts = estimate->parts.data();
  totals.numParts = estimate->parts.size();
  totals.classes = estimate->classes.data();
  totals.numClasses = estimate->classes.size();
  totals.lastClass = estimate->classes[report.times.step.slowest].name;
  return estimate;
}

static Expected<std::unique_ptr<StgEstimate>>
estimatePrograms(const TraceBundle &programs, const Machine &machine,
                 const Execution &execution) {
  Expected<JobFacts> facts = JobFacts::get(programs, execution);
  if (!facts)
    return facts.takeError();
  auto times = JobTimes::get(programs, *facts, machine, execution);
  if (!times)
    return times.takeError();
  return takeReport({machine, *facts, *times, execution});
}

static StgError *finish(Expected<std::unique_ptr<StgEstimate>> made,
                        StgEstimate **result) {
  if (!made)
    return toStgError(made.takeError());
  *result = made->release();
  return nullptr;
}

StgError *stgEstimate(const StgCompileRequest *from, const StgMachine *where,
                      StgEstimate **result) {
  *result = nullptr;
  // What is wrong with a machine is said before a model is compiled.
  Expected<Machine> machine = loadMachine(*where);
  if (!machine)
    return toStgError(machine.takeError());
  Expected<CompileRequest> request = toRequest(*from);
  if (!request)
    return toStgError(request.takeError());
  if (!request->dryRun)
    return toStgError(createStringError("an estimate writes no traces"));
  CompileCall call(*from);
  request->goOn = call.goOn;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::FailureOr<CompileResult> compiled =
      compile(*context, *request, call.printer);
  if (failed(compiled))
    return call.fail();
  auto made = estimatePrograms(*compiled->summary.programs, *machine,
                               compiled->execution);
  if (made)
    (*made)->messages = std::move(call.messages);
  return finish(std::move(made), result);
}

StgError *stgEstimateBundle(const StgTraceBundle *bundle,
                            const StgMachine *where, StgEstimate **result) {
  *result = nullptr;
  Expected<Machine> machine = loadMachine(*where);
  if (!machine)
    return toStgError(machine.takeError());
  const TraceBundle &programs = *bundle->bundle;
  Expected<Execution> execution = findExecution(programs);
  if (!execution)
    return toStgError(execution.takeError());
  return finish(estimatePrograms(programs, *machine, *execution), result);
}

void stgEstimateDestroy(StgEstimate *estimate) { delete estimate; }

const StgEstimateTotals *stgEstimateGetTotals(const StgEstimate *estimate) {
  return &estimate->totals;
}

StgText stgEstimateGetJSON(const StgEstimate *estimate) {
  return toText(estimate->json);
}

size_t stgEstimateGetNumMessages(const StgEstimate *estimate) {
  return estimate->messages.size();
}

StgMessage stgEstimateGetMessage(const StgEstimate *estimate, size_t index) {
  return estimate->messages.get(index);
}
