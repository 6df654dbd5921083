//===- stg-estimate.cpp - How long a step takes ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EstimateFlags.h"
#include "mlir/Pass/PassManager.h"
#include "stg/Estimate/PipelinePicture.h"
#include "stg/Estimate/Report.h"
#include "stg/Estimate/SimAIWorkload.h"
#include "stg/Estimate/Timeline.h"
#include "stg/Support/Files.h"
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

namespace {
/// The files that are written. Their names are taken before anything is read or
/// computed: none is an input, nor another output.
struct ResultFiles {
  std::unique_ptr<OutputFile> timeline, picture, simai;

  static Expected<ResultFiles> reserve(const EstimateFlags &flags);
};
} // namespace

Expected<ResultFiles> ResultFiles::reserve(const EstimateFlags &flags) {
  ResultFiles files;
  // Files of a folder have names when it is known which ranks there are.
  bool isFolder = StringRef(flags.timeline).ends_with("/");
  for (auto [path, file] :
       {std::pair(isFolder ? "" : flags.timeline, &files.timeline),
        {flags.picture, &files.picture},
        {flags.simai, &files.simai}})
    if (!path.empty())
      if (Error error = OutputFile::reserve(path).moveInto(*file))
        return std::move(error);
  return files;
}

static Error writeFile(OutputFile &file,
                       function_ref<void(raw_ostream &)> fill) {
  if (Error error = file.start())
    return error;
  fill(file.os());
  return file.keep();
}

/// Writes the files of a timeline.
static Error writeTimeline(const EstimateFlags &flags, ResultFiles &files,
                           const Timeline &timeline) {
  Expected<std::vector<int64_t>> ranks =
      flags.getTimelineRanks(timeline.programs.getSpace().getNumRanks());
  if (!ranks)
    return ranks.takeError();
  if (ranks->empty())
    ranks = timeline.getFirstRanks();
  if (files.timeline)
    return writeFile(*files.timeline,
                     [&](raw_ostream &os) { timeline.write(*ranks, os); });
  if (std::error_code code = sys::fs::create_directories(
          flags.timeline, /*IgnoreExisting=*/true, sys::fs::all_all))
    return createStringError("cannot make the folder " + flags.timeline + ": " +
                             code.message());
  for (int64_t rank : *ranks) {
    auto file = OutputFile::reserve(flags.timeline + "rank" +
                                    std::to_string(rank) + ".json");
    if (!file)
      return file.takeError();
    if (Error error = writeFile(**file, [&, rank](raw_ostream &os) {
          timeline.writeAlone(rank, os);
        }))
      return error;
  }
  return Error::success();
}

static Error writePicture(ResultFiles &files, const PipelinePicture &picture) {
  if (!files.picture)
    return Error::success();
  return writeFile(*files.picture, [&](raw_ostream &os) { picture.write(os); });
}

static Error writeSimAI(ResultFiles &files, const Job &job,
                        const Machine &machine) {
  if (!files.simai)
    return Error::success();
  if (Error error = files.simai->start())
    return error;
  if (Error error = writeSimAIWorkload(*job.programs, machine, job.execution,
                                       files.simai->os()))
    return error;
  return files.simai->keep();
}

/// One estimate for each point of the sweep.
static Error estimate(const EstimateFlags &flags, ResultFiles &files,
                      const Job &job) {
  Expected<std::vector<std::string>> points = listSweepPoints(flags.sweep);
  if (!points)
    return points.takeError();
  Expected<JobFacts> facts = JobFacts::get(*job.programs, job.execution);
  if (!facts)
    return facts.takeError();
  Expected<std::optional<double>> trainTokens = flags.getTrainTokens(*facts);
  if (!trainTokens)
    return trainTokens.takeError();
  json::Array all;
  for (const std::string &point : *points) {
    Expected<Machine> machine = flags.loadMachine(point);
    if (!machine)
      return machine.takeError();
    if (flags.listConstants && !flags.json)
      printConstants(*machine, job.execution, outs());
    StepRecording recording;
    if (Error error = writeSimAI(files, job, *machine))
      return error;
    auto times = JobTimes::get(*job.programs, *facts, *machine, job.execution,
                               flags.wantsRecording() ? &recording : nullptr);
    if (!times)
      return times.takeError();
    const StepTimes &step = times->step;
    std::optional<CriticalPath> path;
    if (flags.wantsRecording())
      path.emplace(step, recording);
    if (!flags.timeline.empty())
      if (Error error = writeTimeline(flags, files,
                                      {*job.programs, step, recording, *path}))
        return error;
    if (Error error = writePicture(files, {*job.programs, step, recording}))
      return error;
    std::optional<PathReport> pathReport;
    if (flags.criticalPath)
      pathReport.emplace(*path, *job.programs, step, recording);
    Report report = {*machine,
                     *facts,
                     *times,
                     job.execution,
                     pathReport ? &*pathReport : nullptr,
                     *trainTokens};
    if (flags.json) {
      json::Object object = report.getJSON();
      if (!point.empty())
        object["machine_set"] = point;
      if (flags.listConstants)
        object["constants"] = getConstants(*machine, job.execution);
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
  Expected<std::vector<std::string>> points = listSweepPoints(flags.sweep);
  if (!points)
    return fail(points.takeError());
  for (const std::string &point : *points)
    if (Expected<Machine> machine = flags.loadMachine(point); !machine)
      return fail(machine.takeError());
  Expected<ResultFiles> files = ResultFiles::reserve(flags);
  if (!files)
    return fail(files.takeError());
  Expected<std::unique_ptr<TraceBundle>> bundle =
      trace::findBundle(flags.request.model, /*besideFiles=*/true);
  if (!bundle)
    return fail(bundle.takeError());
  if (*bundle) {
    Expected<Job> job = readBundle(std::move(*bundle), flags, printer);
    if (!job)
      return fail(job.takeError());
    if (Error error = estimate(flags, *files, *job))
      return fail(std::move(error));
    return 0;
  }
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  std::optional<Job> job = compileJob(*context, flags, printer);
  if (!job)
    return 1;
  if (Error error = estimate(flags, *files, *job))
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
