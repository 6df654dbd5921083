//===- ScheduleRegistry.cpp - Schedules by name ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleDetail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;

namespace stg {

using Registry = std::map<std::string, NamedSchedule>;

static Registry makeRegistry() {
  Registry registry;
  for (NamedSchedule &schedule : getBuiltinSchedules())
    registry[schedule.name] = std::move(schedule);
  return registry;
}

/// Filled on first use: linkers drop the static constructors of libraries.
static Registry &getRegistry() {
  static Registry registry = makeRegistry();
  return registry;
}

void registerSchedule(StringRef name, StringRef description,
                      ScheduleBuilder builder) {
  getRegistry()[name.str()] = {name.str(), description.str(),
                               std::move(builder)};
}

std::vector<std::pair<std::string, std::string>> listSchedules() {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto &[name, schedule] : getRegistry())
    result.emplace_back(name, schedule.description);
  return result;
}

//===----------------------------------------------------------------------===//
// Making a schedule
//===----------------------------------------------------------------------===//

static Error verifyRequest(const ScheduleRequest &request) {
  if (!request.devices || !request.virtualStagesPerDevice ||
      !request.microBatches)
    return makeError("a pipeline needs at least one device, one virtual stage "
                     "for each and one micro-batch");
  // One factor after the other, because the product may not fit.
  uint64_t left = maxScheduleCells;
  for (uint64_t factor :
       {request.devices, request.virtualStagesPerDevice, request.microBatches})
    left /= factor;
  if (left == 0)
    return makeError(Twine(request.devices) + " devices with " +
                     Twine(request.virtualStagesPerDevice) +
                     " virtual stages of " + Twine(request.microBatches) +
                     " micro-batches are too many: their product is at most " +
                     Twine(maxScheduleCells));
  return Error::success();
}

/// Checks that the schedule has the size that was asked for.
static Error verifyFits(const PipelineSchedule &schedule,
                        const ScheduleRequest &request) {
  auto compare = [](StringRef what, unsigned has, unsigned wanted) -> Error {
    if (has == wanted)
      return Error::success();
    return makeError("its number of " + what + " is " + Twine(has) + ", but " +
                     Twine(wanted) + " was asked for: ask for " + Twine(has) +
                     " or use another schedule");
  };
  unsigned devices = request.devices, stages = schedule.numVirtualStages;
  if (Error error = compare("devices", schedule.numDevices, devices))
    return error;
  if (Error error = compare("micro-batches", schedule.numMicroBatches,
                            request.microBatches))
    return error;
  if (stages % devices != 0)
    return makeError("its " + Twine(stages) +
                     " virtual stages are not the same number for each of " +
                     Twine(devices) + " devices: use another schedule");
  return compare("virtual stages on each device", stages / devices,
                 request.virtualStagesPerDevice);
}

/// The JSON form itself takes the place of the path of a file that has it.
static bool isScheduleText(StringRef nameOrFile) {
  return nameOrFile.starts_with("{");
}

bool isScheduleFile(StringRef nameOrFile) {
  return isScheduleText(nameOrFile) || nameOrFile.ends_with(".json");
}

static Expected<PipelineSchedule> build(StringRef nameOrFile,
                                        const ScheduleRequest &request) {
  auto named = getRegistry().find(nameOrFile.str());
  if (named != getRegistry().end())
    return named->second.builder(request);
  if (isScheduleText(nameOrFile))
    return parseSchedule(nameOrFile);
  if (nameOrFile.ends_with(".json"))
    return readSchedule(nameOrFile);
  std::string known;
  for (const auto &entry : getRegistry())
    known += entry.first + ", ";
  return makeError("is not a schedule: use " + known +
                   "or the path of a .json file");
}

static Expected<PipelineSchedule>
buildVerified(StringRef nameOrFile, const ScheduleRequest &request) {
  if (Error error = verifyRequest(request))
    return error;
  Expected<PipelineSchedule> schedule = build(nameOrFile, request);
  if (!schedule)
    return schedule;
  if (Error error = verifyFits(*schedule, request))
    return error;
  if (Error error = schedule->verify())
    return error;
  if (request.pairs && !schedule->hasPairs())
    return makeError("it executes no forward side by side with a backward of "
                     "another micro-batch: use 1f1b, interleaved or "
                     "dualpipe-v, with more micro-batches than are on the way "
                     "before the first backward, or a file that has such "
                     "actions");
  return schedule;
}

Expected<PipelineSchedule> makeSchedule(StringRef nameOrFile,
                                        const ScheduleRequest &request) {
  Expected<PipelineSchedule> schedule = buildVerified(nameOrFile, request);
  if (schedule)
    return schedule;
  return makeError("schedule '" +
                   (isScheduleText(nameOrFile) ? "{...}" : nameOrFile) +
                   "': " + llvm::toString(schedule.takeError()));
}

ScheduleRequest ScheduleRequest::getProbe() const {
  ScheduleRequest few = *this;
  few.microBatches =
      std::min(microBatches, 3 * devices + microBatches % devices);
  return few;
}

bool canHavePairs(StringRef nameOrFile, const ScheduleRequest &request) {
  ScheduleRequest probe = request.getProbe();
  probe.pairs = true;
  Error error = makeSchedule(nameOrFile, probe).takeError();
  const bool canHave = !error;
  consumeError(std::move(error));
  return canHave;
}

} // namespace stg
