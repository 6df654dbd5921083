//===- PipelineSchedule.h - Pipeline schedules as data ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline schedule is a table: for each device, what it does in which order.
// This file has the table, its checks, its JSON form, the time it takes, and
// the registry of functions that make one. docs/Schedules.md explains them.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SCHEDULE_PIPELINESCHEDULE_H
#define STG_SCHEDULE_PIPELINESCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace stg {

/// What one device does with one micro-batch in one virtual stage.
struct PipelineAction {
  /// Backward makes both gradients. A split backward is BackwardInput, which
  /// the previous stage waits for, and BackwardWeight, for which nobody waits.
  enum Kind { Forward, Backward, BackwardInput, BackwardWeight };

  Kind kind = Forward;
  /// Virtual stage, in the order of the model.
  unsigned stage = 0;
  unsigned microBatch = 0;
  /// Executed by turns with the action before it in the list of its device: one
  /// of them is Forward, the other one is not, and they are of two
  /// micro-batches.
  bool isBeside = false;

  bool operator==(const PipelineAction &other) const {
    return kind == other.kind && stage == other.stage &&
           microBatch == other.microBatch && isBeside == other.isBeside;
  }
  bool operator!=(const PipelineAction &other) const {
    return !(*this == other);
  }
};

/// Writes e.g. `F0.3`: the letter of the kind (F, B, I, W), the virtual stage,
/// the micro-batch.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const PipelineAction &action);

/// A schedule is data: for each device the ordered list of its actions.
struct PipelineSchedule {
  std::string name;
  unsigned numDevices = 1;
  unsigned numVirtualStages = 1;
  unsigned numMicroBatches = 1;
  /// The device of each virtual stage.
  std::vector<unsigned> deviceOf;
  /// What each device does, in order.
  std::vector<std::vector<PipelineAction>> actions;

  /// True if any backward is split.
  bool splitsBackward() const;
  /// True if actions are side by side.
  bool hasPairs() const;

  /// The messages that each device sends in a step: one for each micro-batch
  /// and each direction where neighbouring virtual stages are on different
  /// devices.
  std::vector<uint64_t> countMessages() const;

  /// Leaves the forward passes, in their order: what a step without a backward
  /// pass executes. It is not verified as a whole schedule then.
  void dropBackward();

  /// Checks that every virtual stage runs every micro-batch forward and
  /// backward exactly once, on its device, and that the lists can be executed
  /// without deadlock.
  llvm::Error verify() const;
};

/// Most pairs of a virtual stage and a micro-batch in a schedule.
constexpr uint64_t maxScheduleCells = uint64_t(1) << 22;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Reads the JSON form. The result is not verified.
llvm::Expected<PipelineSchedule> parseSchedule(llvm::StringRef json);

/// Writes the JSON form, one device a line.
void writeSchedule(const PipelineSchedule &schedule, llvm::raw_ostream &os);

//===----------------------------------------------------------------------===//
// Schedules by name
//===----------------------------------------------------------------------===//

/// What a schedule is wanted for.
struct ScheduleRequest {
  unsigned devices = 1;
  unsigned virtualStagesPerDevice = 1;
  unsigned microBatches = 1;
  /// A forward and a backward side by side, wherever the schedule has them next
  /// to each other and one does not wait for the other.
  bool pairs = false;

  /// The same with few micro-batches, which make a table of a moment and show
  /// most of what is wrong with the schedule.
  ScheduleRequest getProbe() const;
};

/// Makes a schedule, or says for which requests it could.
using ScheduleBuilder =
    std::function<llvm::Expected<PipelineSchedule>(const ScheduleRequest &)>;

/// Makes a schedule available under `name`; it takes the place of one that has
/// the same name. Not to be called while other threads look up schedules.
void registerSchedule(llvm::StringRef name, llvm::StringRef description,
                      ScheduleBuilder builder);

/// Names and one-line descriptions of all registered schedules, sorted.
std::vector<std::pair<std::string, std::string>> listSchedules();

/// True for the path of a .json file, and for the JSON form itself; else it is
/// a name.
bool isScheduleFile(llvm::StringRef nameOrFile);

/// The schedule of that name, or the one in that .json file or of that JSON
/// form, verified and of the size that `request` asks for.
llvm::Expected<PipelineSchedule> makeSchedule(llvm::StringRef nameOrFile,
                                              const ScheduleRequest &request);

/// True if that schedule can have a forward beside a backward, as far as few
/// micro-batches show it. A preset that asks for that does without elsewhere.
bool canHavePairs(llvm::StringRef nameOrFile, const ScheduleRequest &request);

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

/// Durations, of one micro-batch in one virtual stage. A Backward that is not
/// split takes `backwardInput + backwardWeight`. Two actions side by side take
/// as long as one after the other: both begin when what both wait for is there,
/// and both end when both are done.
struct ActionTimes {
  int64_t forward = 1;
  int64_t backwardInput = 1;
  int64_t backwardWeight = 1;
  /// From the end of an action to the start of one that waits for it on
  /// another device. Occupies neither.
  int64_t message = 0;
};

struct ScheduleTimes {
  int64_t makespan = 0;
  /// By device: the sum of its actions.
  std::vector<int64_t> busy;
  /// By device: the most forwards whose backward, if split its BackwardWeight,
  /// is not done; in pairs of a virtual stage and a micro-batch.
  std::vector<unsigned> peakInFlight;
  /// By device: when each of its actions starts, in its order.
  std::vector<std::vector<int64_t>> starts;
};

/// Executes the schedule. Nothing but dependencies and the order of its device
/// delays an action.
llvm::Expected<ScheduleTimes> simulate(const PipelineSchedule &schedule,
                                       const ActionTimes &times);

/// Likewise, with times of each virtual stage; `message` is that of what the
/// stage sends.
llvm::Expected<ScheduleTimes> simulateStages(const PipelineSchedule &schedule,
                                             llvm::ArrayRef<ActionTimes> times);

/// How many actions ahead of its use each message must be posted so that the
/// schedule does not block where a send waits for its receive: 1 if that does,
/// else a power of two, or all.
unsigned getReceiveAhead(const PipelineSchedule &schedule);

} // namespace stg

#endif // STG_SCHEDULE_PIPELINESCHEDULE_H
