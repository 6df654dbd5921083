//===- stg-estimate.cpp - How long a step takes ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EstimateFlags.h"
#include "Report.h"
#include "mlir/Pass/PassManager.h"
#include "stg/Presets/Preset.h"
#include "stg/Strategy/Strategy.h"
#include "stg/Support/Messages.h"
#include "stg/Trace/Bundle/TraceInput.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;
using namespace stg;
using trace::TraceBundle;

namespace {
/// Programs, and how they are executed.
struct Job {
  std::shared_ptr<const TraceBundle> programs;
  Execution execution;
};
} // namespace

/// The preset that a bundle was made with says how it is executed.
static Expected<Execution> findExecution(const TraceBundle &bundle) {
  Expected<json::Value> manifest =
      json::parse(bundle.getManifest(0, bundle.getSpace().getNumRanks()));
  if (!manifest)
    return manifest.takeError();
  const json::Object *object = manifest->getAsObject();
  const json::Object *strategy =
      object ? object->getObject("strategy") : nullptr;
  const json::Value *given = strategy ? strategy->get("preset") : nullptr;
  std::string name = Strategy().preset.str();
  if (given && given->getAsObject())
    name = formatv("{0}", *given).str();
  else if (given)
    name = given->getAsString().value_or(name).str();
  Expected<Preset> preset = Preset::load(name);
  if (!preset)
    return preset.takeError();
  return preset->execution;
}

static bool hasKernels(const TraceBundle &programs) {
  return any_of(programs.getClasses(), [](const TraceBundle::Class &entry) {
    return !entry.program.kernels.empty();
  });
}

static Expected<Job> readBundle(std::unique_ptr<TraceBundle> bundle,
                                const EstimateFlags &flags,
                                MessagePrinter &printer) {
  if (Error error = flags.checkBundle())
    return std::move(error);
  if (!hasKernels(*bundle))
    printer.warning("the bundle does not say what its nodes compute: products "
                    "are at the peak, and attention is one of them");
  Expected<Execution> execution = findExecution(*bundle);
  if (!execution)
    return execution.takeError();
  return Job{std::move(bundle), std::move(*execution)};
}

/// None if what is wrong has been printed.
static std::optional<Job> compileJob(mlir::MLIRContext &context,
                                     EstimateFlags &flags,
                                     MessagePrinter &printer) {
  flags.request.configurePasses = mlir::applyPassManagerCLOptions;
  flags.request.exportOptions.output = chakra::ExportOptions::Output::Nothing;
  auto result = compile(context, flags.request, printer);
  if (failed(result))
    return std::nullopt;
  return Job{result->summary.programs, result->execution};
}

/// One estimate for each point of the sweep.
static Error estimate(const EstimateFlags &flags, const Job &job) {
  Expected<std::vector<std::string>> points = flags.getPoints();
  if (!points)
    return points.takeError();
  Expected<JobFacts> facts = JobFacts::get(*job.programs, job.execution);
  if (!facts)
    return facts.takeError();
  json::Array all;
  for (const std::string &point : *points) {
    Expected<Machine> machine = flags.loadMachine();
    if (!machine)
      return machine.takeError();
    if (!point.empty())
      if (Error error = machine->set(point))
        return createStringError("--sweep-machine " + flags.sweep + ": " +
                                 toString(std::move(error)));
    if (flags.listConstants)
      printConstants(*machine, outs());
    Expected<StepTimes> step =
        getStepTimes(*job.programs, *machine, job.execution);
    if (!step)
      return step.takeError();
    Report report = {*machine, *facts, *step, job.execution};
    if (flags.json) {
      json::Object object = report.getJSON();
      if (!point.empty())
        object["machine_set"] = point;
      all.push_back(std::move(object));
      continue;
    }
    if (!point.empty())
      outs() << point << ":\n";
    report.printText(outs());
  }
  if (flags.json && flags.sweep.empty())
    outs() << formatv("{0:2}\n", all.front());
  else if (flags.json)
    outs() << formatv("{0:2}\n", json::Value(std::move(all)));
  return Error::success();
}

static int run(EstimateFlags &flags, MessagePrinter &printer) {
  auto fail = [&](Error error) {
    printer.error(std::move(error));
    return 1;
  };
  if (Error error = flags.finish())
    return fail(std::move(error));
  // What is wrong with a machine is said before a model is compiled.
  if (Expected<Machine> machine = flags.loadMachine(); !machine)
    return fail(machine.takeError());
  Expected<std::unique_ptr<TraceBundle>> bundle =
      trace::findBundle(flags.request.model);
  if (!bundle)
    return fail(bundle.takeError());
  if (*bundle) {
    Expected<Job> job = readBundle(std::move(*bundle), flags, printer);
    if (!job)
      return fail(job.takeError());
    if (Error error = estimate(flags, *job))
      return fail(std::move(error));
    return 0;
  }
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  std::optional<Job> job = compileJob(*context, flags, printer);
  if (!job)
    return 1;
  if (Error error = estimate(flags, *job))
    return fail(std::move(error));
  return 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  MessagePrinter &printer = guardStandardStreams("stg-estimate");
  EstimateFlags flags;
  mlir::registerPassManagerCLOptions();
  cl::HideUnrelatedOptions(flags.getCategories());
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (name.starts_with("mlir-"))
      option->setHiddenFlag(cl::Hidden);
  if (!parseCommandLine(argc, argv, "STG: how long a step takes\n", printer))
    return 1;
  return run(flags, printer);
}
