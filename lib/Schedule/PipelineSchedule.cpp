//===- PipelineSchedule.cpp - The table and its checks --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleDetail.h"

#include "llvm/ADT/STLExtras.h"
#include <array>
#include <limits>

using namespace llvm;

namespace stg {

raw_ostream &operator<<(raw_ostream &os, const PipelineAction &action) {
  return os << "FBIW"[action.kind] << action.stage << '.' << action.microBatch;
}

bool PipelineSchedule::splitsBackward() const {
  return llvm::any_of(actions, [](const std::vector<PipelineAction> &list) {
    return llvm::any_of(list, [](const PipelineAction &action) {
      return action.kind == PipelineAction::BackwardInput ||
             action.kind == PipelineAction::BackwardWeight;
    });
  });
}

bool PipelineSchedule::hasPairs() const {
  return llvm::any_of(actions, [](const std::vector<PipelineAction> &list) {
    return llvm::any_of(
        list, [](const PipelineAction &action) { return action.isBeside; });
  });
}

std::vector<uint64_t> PipelineSchedule::countMessages() const {
  std::vector<uint64_t> sent(numDevices);
  for (unsigned stage = 1; stage < numVirtualStages; ++stage) {
    unsigned before = deviceOf[stage - 1], after = deviceOf[stage];
    if (before == after)
      continue;
    sent[before] += numMicroBatches;
    sent[after] += numMicroBatches;
  }
  return sent;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

void PipelineSchedule::dropBackward() {
  for (std::vector<PipelineAction> &own : actions) {
    llvm::erase_if(own, [](const PipelineAction &action) {
      return action.kind != PipelineAction::Forward;
    });
    for (PipelineAction &action : own)
      action.isBeside = false;
  }
}

/// Checks the numbers that describe the table.
static Error verifySize(const PipelineSchedule &schedule) {
  if (!schedule.numDevices || !schedule.numVirtualStages ||
      !schedule.numMicroBatches)
    return makeError("a schedule needs at least one device, one virtual stage "
                     "and one micro-batch");
  uint64_t cells =
      uint64_t(schedule.numVirtualStages) * schedule.numMicroBatches;
  if (cells > maxScheduleCells)
    return makeError(Twine(schedule.numVirtualStages) + " virtual stages of " +
                     Twine(schedule.numMicroBatches) +
                     " micro-batches are too many: their product is at most " +
                     Twine(maxScheduleCells));
  if (schedule.deviceOf.size() != schedule.numVirtualStages)
    return makeError("there are " + Twine(schedule.numVirtualStages) +
                     " virtual stages, but devices for " +
                     Twine(schedule.deviceOf.size()));
  if (schedule.actions.size() != schedule.numDevices)
    return makeError("there are " + Twine(schedule.numDevices) +
                     " devices, but actions for " +
                     Twine(schedule.actions.size()));
  return Error::success();
}

/// Checks that stages are on devices that exist, and that none is without.
static Error verifyPlacement(const PipelineSchedule &schedule) {
  std::vector<bool> hasStage(schedule.numDevices);
  for (auto [stage, device] : llvm::enumerate(schedule.deviceOf)) {
    if (device >= schedule.numDevices)
      return makeError("virtual stage " + Twine(stage) + " is on device " +
                       Twine(device) + ", but devices are 0 to " +
                       Twine(schedule.numDevices - 1));
    hasStage[device] = true;
  }
  auto idle = llvm::find(hasStage, false);
  if (idle != hasStage.end())
    return makeError("device " + Twine(idle - hasStage.begin()) +
                     " has no virtual stage");
  return Error::success();
}

namespace {

/// Which actions of one virtual stage and micro-batch are in the table, by
/// kind.
using Cell = std::array<bool, 4>;

/// Checks that each micro-batch goes through each virtual stage once.
class CompletenessCheck {
public:
  explicit CompletenessCheck(const PipelineSchedule &schedule)
      : schedule(schedule),
        cells(size_t(schedule.numVirtualStages) * schedule.numMicroBatches) {}

  Error run();

private:
  Error enter(const PipelineAction &action, unsigned device);
  Error verifyCell(unsigned stage, unsigned microBatch);
  Error reportMissing(const PipelineAction &action, const Twine &alternative);
  Cell &getCell(unsigned stage, unsigned microBatch) {
    return cells[size_t(stage) * schedule.numMicroBatches + microBatch];
  }

  const PipelineSchedule &schedule;
  std::vector<Cell> cells;
};

} // namespace

Error CompletenessCheck::enter(const PipelineAction &action, unsigned device) {
  if (action.stage >= schedule.numVirtualStages)
    return makeError(toString(action) + ": virtual stages are 0 to " +
                     Twine(schedule.numVirtualStages - 1));
  if (action.microBatch >= schedule.numMicroBatches)
    return makeError(toString(action) + ": micro-batches are 0 to " +
                     Twine(schedule.numMicroBatches - 1));
  if (schedule.deviceOf[action.stage] != device)
    return makeError(toString(action) + " is an action of device " +
                     Twine(device) + ", but virtual stage " +
                     Twine(action.stage) + " is on device " +
                     Twine(schedule.deviceOf[action.stage]));
  bool &isThere = getCell(action.stage, action.microBatch)[action.kind];
  if (isThere)
    return makeError(toString(action) + " is there more than once");
  isThere = true;
  return Error::success();
}

Error CompletenessCheck::reportMissing(const PipelineAction &action,
                                       const Twine &alternative) {
  return makeError(toString(action) + alternative + " is missing on device " +
                   Twine(schedule.deviceOf[action.stage]));
}

Error CompletenessCheck::verifyCell(unsigned stage, unsigned microBatch) {
  const Cell &cell = getCell(stage, microBatch);
  auto get = [&](PipelineAction::Kind kind) {
    return PipelineAction{kind, stage, microBatch};
  };
  auto has = [&](PipelineAction::Kind kind) { return cell[kind]; };
  PipelineAction input = get(PipelineAction::BackwardInput);
  PipelineAction weight = get(PipelineAction::BackwardWeight);
  if (!has(PipelineAction::Forward))
    return reportMissing(get(PipelineAction::Forward), "");
  if (has(PipelineAction::Backward)) {
    if (!has(input.kind) && !has(weight.kind))
      return Error::success();
    return makeError("there is " + toString(get(PipelineAction::Backward)) +
                     " and also " + toString(has(input.kind) ? input : weight) +
                     ", which is a part of it");
  }
  if (!has(input.kind) && !has(weight.kind))
    return reportMissing(get(PipelineAction::Backward),
                         " (or " + toString(input) + " and " +
                             toString(weight) + ")");
  if (!has(input.kind))
    return reportMissing(input, "");
  if (!has(weight.kind))
    return reportMissing(weight, "");
  return Error::success();
}

Error CompletenessCheck::run() {
  for (unsigned device = 0; device < schedule.numDevices; ++device)
    for (const PipelineAction &action : schedule.actions[device])
      if (Error error = enter(action, device))
        return error;
  for (unsigned stage = 0; stage < schedule.numVirtualStages; ++stage)
    for (unsigned m = 0; m < schedule.numMicroBatches; ++m)
      if (Error error = verifyCell(stage, m))
        return error;
  return Error::success();
}

/// What is side by side does not wait for each other, as nothing of a
/// micro-batch waits for another one.
static Error verifyPair(const PipelineAction &first,
                        const PipelineAction &second) {
  auto isForward = [](const PipelineAction &action) {
    return action.kind == PipelineAction::Forward;
  };
  auto fail = [&](const Twine &what) {
    return makeError(toString(first) + "|" + toString(second) + ": " + what);
  };
  if (first.isBeside)
    return fail("at most two actions are side by side");
  if (isForward(first) == isForward(second))
    return fail("what is side by side is a forward and a backward");
  if (first.microBatch == second.microBatch)
    return fail("what is side by side is of two micro-batches");
  return Error::success();
}

static Error verifyPairs(const PipelineSchedule &schedule) {
  for (auto [device, list] : llvm::enumerate(schedule.actions))
    for (auto [i, action] : llvm::enumerate(list)) {
      if (!action.isBeside)
        continue;
      if (i == 0)
        return makeError(toString(action) + " is the first action of device " +
                         Twine(device) + ", and is beside none");
      if (Error error = verifyPair(list[i - 1], action))
        return error;
    }
  return Error::success();
}

static Error verifyTable(const PipelineSchedule &schedule) {
  if (Error error = verifySize(schedule))
    return error;
  if (Error error = verifyPlacement(schedule))
    return error;
  if (Error error = verifyPairs(schedule))
    return error;
  return CompletenessCheck(schedule).run();
}

Error PipelineSchedule::verify() const {
  return simulate(*this, ActionTimes()).takeError();
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

/// Checks that times are times and that no sum of them can overflow.
static Error verifyTimes(const PipelineSchedule &schedule,
                         const ActionTimes &times) {
  // All actions one after the other, each with a message.
  int64_t cells = int64_t(schedule.numVirtualStages) * schedule.numMicroBatches;
  int64_t longest = std::numeric_limits<int64_t>::max() / cells / 8;
  for (int64_t time : {times.forward, times.backwardInput, times.backwardWeight,
                       times.message}) {
    if (time < 0)
      return makeError("a time is negative: " + Twine(time));
    if (time > longest)
      return makeError("a time is too long for a schedule of this size: " +
                       Twine(time) + " is more than " + Twine(longest));
  }
  return Error::success();
}

Expected<ScheduleTimes> simulate(const PipelineSchedule &schedule,
                                 const ActionTimes &times) {
  if (Error error = verifyTable(schedule))
    return error;
  if (Error error = verifyTimes(schedule, times))
    return error;
  return execute(schedule, times);
}

Expected<ScheduleTimes> simulateStages(const PipelineSchedule &schedule,
                                       ArrayRef<ActionTimes> times) {
  if (Error error = verifyTable(schedule))
    return error;
  if (times.size() != schedule.numVirtualStages)
    return makeError("times of " + Twine(times.size()) + " stages for " +
                     Twine(schedule.numVirtualStages));
  for (const ActionTimes &ofStage : times)
    if (Error error = verifyTimes(schedule, ofStage))
      return error;
  return execute(schedule, times);
}

} // namespace stg
