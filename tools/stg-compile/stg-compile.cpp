//===- stg-compile.cpp - From a model to traces ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "mlir/Pass/PassManager.h"
#include "stg/Estimate/AstraSim.h"
#include "stg/Estimate/HTMLReport.h"
#include "stg/Support/Files.h"
#include "stg/Support/Messages.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;

/// `-h` lists ours, `--help-hidden` those of MLIR, too: of passes and timing.
static void hideOptions(ArrayRef<const cl::OptionCategory *> ours) {
  cl::HideUnrelatedOptions(ours);
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (name.starts_with("mlir-"))
      option->setHiddenFlag(cl::Hidden);
}

/// What is wrong with a machine for ASTRA-sim is said before traces are
/// written.
static Error checkAstraSim(const stg::CompileFlags &flags, int64_t numRanks) {
  Expected<stg::Machine> machine = flags.loadMachine();
  if (!machine)
    return machine.takeError();
  return stg::AstraConfiguration::get(*machine, numRanks).takeError();
}

/// Writes what ASTRA-sim reads, and says how it is called.
static Error writeAstraSim(const stg::CompileFlags &flags,
                           const stg::CompileResult &result, raw_ostream &os) {
  Expected<stg::Machine> machine = flags.loadMachine();
  if (!machine)
    return machine.takeError();
  const auto &output = flags.request.exportOptions;
  const std::string &folder = output.files.directory;
  auto configuration = stg::AstraConfiguration::get(
      *machine, result.summary.programs->getSpace().getNumRanks());
  if (!configuration)
    return configuration.takeError();
  if (Error error = configuration->write(folder))
    return error;
  os << "ASTRA-sim: AstraSim_Analytical_Congestion_Unaware";
  for (const std::string &argument :
       stg::getAstraArguments(folder, output.prefix))
    os << ' ' << argument;
  os << '\n';
  return Error::success();
}

static Error writeReport(const stg::CompileFlags &flags,
                         const stg::CompileResult &result,
                         stg::OutputFile &file) {
  std::string summary;
  raw_string_ostream os(summary);
  stg::printSummary(flags.request, result, os);
  const stg::trace::TraceBundle &programs = *result.summary.programs;
  stg::HTMLReport page = {result.model, summary, programs, std::nullopt};
  std::optional<stg::Machine> machine;
  std::optional<stg::JobFacts> facts;
  std::optional<stg::JobTimes> times;
  std::optional<stg::Report> report;
  stg::StepRecording recording;
  if (!flags.machine.empty()) {
    Expected<stg::Machine> loaded = flags.loadMachine();
    if (!loaded)
      return loaded.takeError();
    machine = std::move(*loaded);
    auto job = stg::JobFacts::get(programs, result.execution);
    if (!job)
      return job.takeError();
    facts = std::move(*job);
    auto found = stg::JobTimes::get(programs, *facts, *machine,
                                    result.execution, &recording);
    if (!found)
      return found.takeError();
    times = std::move(*found);
    report.emplace(stg::Report{*machine, *facts, *times, result.execution});
    page.timed.emplace(stg::HTMLReport::Timed{*report, recording});
  }
  if (Error error = file.start())
    return error;
  page.write(file.os());
  return file.keep();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  stg::MessagePrinter &printer = stg::guardStandardStreams("stg-compile");
  // libLLVM.so registers the options of LLVM's own tools, one of them under a
  // name of ours.
  if (cl::Option *foreign = cl::getRegisteredOptions().lookup("threads"))
    foreign->removeArgument();
  stg::CompileFlags flags;
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  hideOptions(flags.getCategories());
  if (!stg::parseCommandLine(argc, argv, "STG: from a model to traces\n",
                             printer))
    return 1;
  if (Error error = flags.finish()) {
    printer.error(std::move(error));
    return 1;
  }
  if (flags.listModels) {
    auto models = stg::listModels(flags.request.modelPath, printer);
    if (succeeded(models))
      stg::printModels(*models, flags.json, outs());
    return failed(models);
  }
  // Before a model is read and traces are written: it takes the place of
  // neither.
  std::unique_ptr<stg::OutputFile> report;
  if (!flags.report.empty())
    if (Error error = stg::OutputFile::reserve(flags.report).moveInto(report)) {
      printer.error(std::move(error));
      return 1;
    }
  std::unique_ptr<mlir::MLIRContext> context = stg::makeContext();
  flags.request.configurePasses = mlir::applyPassManagerCLOptions;
  if (flags.astraSim)
    flags.request.exportOptions.checkRanks = [&flags](int64_t numRanks) {
      return checkAstraSim(flags, numRanks);
    };
  if (flags.printSchedule)
    return failed(stg::printSchedule(*context, flags.request, outs(), printer));
  auto result = stg::compile(*context, flags.request, printer);
  if (failed(result))
    return 1;
  if (flags.json)
    stg::printJSON(flags.request, *result, outs());
  else
    stg::printSummary(flags.request, *result, outs());
  if (report)
    if (Error error = writeReport(flags, *result, *report)) {
      printer.error(std::move(error));
      return 1;
    }
  if (!flags.astraSim)
    return 0;
  if (Error error =
          writeAstraSim(flags, *result, flags.json ? nulls() : outs())) {
    printer.error(std::move(error));
    return 1;
  }
  return 0;
}
