//===- CompileFlags.cpp - The flags of stg-compile ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileFlags.h"
#include "stg/Estimate/AstraSim.h"
#include "stg/Support/FileFlags.h"
#include "stg/Support/Units.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace stg;

std::vector<const cl::OptionCategory *> CompileFlags::getCategories() const {
  auto categories = getRequestCategories();
  categories.push_back(&outputCategory);
  return categories;
}

Error CompileFlags::finish() {
  if (Error error = finishPlans())
    return error;
  if (listModels)
    return finishList();
  if (request.model.empty())
    return makeError("no model; give a .mlir file, a config.json or "
                     "the name of a library model, one of those that "
                     "--list-models prints");
  if (printSchedule)
    return finishSchedule();
  if (Error error = finishSummary())
    return error;
  return finishOutput();
}

/// Nothing is compiled for --list-models, and no other flag has an effect.
Error CompileFlags::finishList() {
  for (const auto &[name, option] : cl::getRegisteredOptions())
    if (option->getNumOccurrences() && option != &listModelsFlag &&
        option != &jsonFlag && option != &modelPath)
      return makeError("--list-models with " +
                       Twine(name.size() == 1 ? "-" : "--") + name +
                       ", which has no effect: nothing is compiled");
  if (!request.model.empty())
    return makeError("--list-models with '" + request.model +
                     "': it is for all models");
  return Error::success();
}

/// Nothing is compiled for --print-schedule.
Error CompileFlags::finishSchedule() {
  if (request.decodeStrategy)
    return makeError("--print-schedule with --prefill-strategy: it is "
                     "for one plan");
  for (const auto &[name, option] : cl::getRegisteredOptions())
    if (option->getNumOccurrences() && option != &printScheduleFlag &&
        option != &jsonFlag && option != &quiet && option != &dryRun &&
        is_contained(option->Categories, &outputCategory))
      return makeError("--print-schedule with " +
                       Twine(name.size() == 1 ? "-" : "--") + name +
                       ", which has no effect: nothing is compiled");
  return Error::success();
}

/// Checks what the summary shows.
Error CompileFlags::finishSummary() {
  if (json && request.verbose)
    return makeError("--verbose with --json: JSON always has all of "
                     "each class");
  if (!memoryLimitFlag.getNumOccurrences())
    return Error::success();
  Expected<int64_t> limit = getMemoryLimit(memoryLimit);
  if (!limit)
    return limit.takeError();
  request.memoryLimit = *limit;
  return Error::success();
}

/// A simulator reads files of all ranks.
Error CompileFlags::finishAstraSim() {
  if (machine.empty())
    return makeError("--astra-sim needs a machine: give --machine");
  for (auto [isGiven, flag] : {std::pair(request.dryRun, "--dry-run"),
                               {bundle, "--bundle"},
                               {!ranks.empty(), "--ranks"},
                               {!part.empty(), "--part"}})
    if (isGiven)
      return makeError(Twine("--astra-sim with ") + flag +
                       ": the simulator reads files of all ranks");
  return Error::success();
}

/// Checks what a machine is for.
Error CompileFlags::finishMachine() {
  if (Error error = checkFileFlags({{&reportFlag, report}}))
    return error;
  if (report == "-")
    return makeError("--report -: expected the name of a file");
  if (machine.empty() && !machineChanges.empty())
    return makeError("--machine-set has no effect without --machine");
  if (!machine.empty() && !astraSim && report.empty())
    return makeError("--machine has no effect without --astra-sim or --report");
  if (astraSim)
    if (Error error = finishAstraSim())
      return error;
  // What is wrong with a machine is said before a model is compiled.
  return machine.empty() ? Error::success() : loadMachine().takeError();
}

/// The name of a file or folder, however it is spelled. What is not there yet
/// is what it will be called.
static SmallString<128> getFullName(StringRef path) {
  SmallString<128> name;
  if (!sys::fs::real_path(path, name))
    return name;
  StringRef parent = sys::path::parent_path(path);
  if (sys::fs::real_path(parent.empty() ? "." : parent, name)) {
    name = path;
    sys::fs::make_absolute(name);
    sys::path::remove_dots(name, /*remove_dot_dot=*/true);
    return name;
  }
  sys::path::append(name, sys::path::filename(path));
  return name;
}

/// True for a name that is given to files of the folder of traces, or to what
/// is removed there.
static bool isTraceName(StringRef name, const CompileFlags &flags) {
  StringRef rest = name;
  if (rest.consume_front(flags.request.exportOptions.prefix) &&
      rest.starts_with(".") && rest.ends_with(".et"))
    return true;
  bool isManifest = name == "manifest.json" ||
                    (name.starts_with("manifest.") && name.ends_with(".json"));
  bool isOfSimulator = name == AstraConfiguration::kNetworkFile ||
                       name == AstraConfiguration::kSystemFile ||
                       name == AstraConfiguration::kMemoryFile;
  return isManifest || name == "comm_group.json" ||
         name == trace::TraceBundle::kFileName || name.starts_with(".stg-") ||
         (isOfSimulator && flags.astraSim);
}

/// A page in the place of a trace would be the trace of no rank.
Error CompileFlags::checkReport() {
  if (report.empty() || request.dryRun)
    return Error::success();
  const std::string &directory = request.exportOptions.files.directory;
  SmallString<128> folder = getFullName(directory), file = getFullName(report);
  if (file == folder)
    return makeError("--report " + report +
                     ": that is the folder for the traces, expected the name "
                     "of a file");
  if (sys::path::parent_path(file) == folder &&
      isTraceName(sys::path::filename(file), *this))
    return makeError("--report " + report + ": a file of the traces in '" +
                     directory + "' has this name; give it another one");
  return Error::success();
}

/// Checks what is written, and where.
Error CompileFlags::finishOutput() {
  if (Error error = finishMachine())
    return error;
  chakra::ExportOptions &options = request.exportOptions;
  if (!request.dryRun && options.files.directory.empty())
    return makeError(
        "no folder for the traces; give one with -o DIR, or --dry-run");
  if (Error error = checkReport())
    return error;
  if (request.dryRun && !options.memoryTimeline.empty())
    return makeError("--memory-timeline " + options.memoryTimeline +
                     " with --dry-run, which writes nothing; give a "
                     "folder for the traces with -o DIR instead");
  if (bundle) {
    options.output = chakra::ExportOptions::Output::Bundle;
    for (auto [isGiven, flag] : {std::pair(!ranks.empty(), "--ranks"),
                                 {!part.empty(), "--part"},
                                 {options.files.resume, "--resume"}})
      if (isGiven)
        return makeError(
            Twine("--bundle with ") + flag +
            ": a bundle is always of all ranks; make files of some with "
            "stg-translate --unbundle");
  }
  if (!ranks.empty() && !part.empty())
    return makeError("--ranks with --part: give one of them");
  if (!part.empty())
    return finishPart();
  return ranks.empty() ? Error::success() : finishRanks();
}

Error CompileFlags::finishPart() {
  auto [number, count] = StringRef(part).split('/');
  std::pair<int64_t, int64_t> parts = {0, 0};
  if (number.getAsInteger(10, parts.first) ||
      count.getAsInteger(10, parts.second) || parts.first < 1 ||
      parts.first > parts.second)
    return makeError("--part " + part + ": expected I/N with 1 <= I <= N");
  request.exportOptions.part = parts;
  return Error::success();
}

/// How many ranks there are follows from the model and the preset.
Error CompileFlags::finishRanks() {
  auto [low, high] = StringRef(ranks).split(':');
  std::pair<int64_t, int64_t> range = {0, 0};
  if (low.getAsInteger(10, range.first) ||
      high.getAsInteger(10, range.second) || range.first < 0 ||
      range.first >= range.second)
    return makeError("--ranks " + ranks + ": expected LO:HI with 0 <= LO < HI");
  request.exportOptions.files.ranks = range;
  return Error::success();
}
