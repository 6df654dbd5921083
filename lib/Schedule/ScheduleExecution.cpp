//===- ScheduleExecution.cpp - Runs a schedule ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleDetail.h"

#include "stg/Support/ExecutionOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <deque>
#include <optional>

using namespace llvm;

namespace stg {

namespace {

/// Each device takes its actions one after the other; an action that waits for
/// one of another device is tried again when a neighbouring stage gets on.
class Execution {
public:
  Execution(const PipelineSchedule &schedule, ArrayRef<ActionTimes> times)
      : schedule(schedule), times(times), devices(schedule.numDevices),
        ends(numWaves, std::vector<int64_t>(size_t(schedule.numVirtualStages) *
                                                schedule.numMicroBatches,
                                            notDone)) {}

  Expected<ScheduleTimes> run();

private:
  /// The state of one device.
  struct Device {
    /// Its next action.
    size_t next = 0;
    /// The end of the previous one.
    int64_t time = 0;
    int64_t busy = 0;
    unsigned inFlight = 0;
    unsigned peakInFlight = 0;
    bool isQueued = false;
    std::vector<int64_t> starts;
  };

  /// What other actions wait for: outputs, gradients of inputs.
  enum Wave { ForwardWave, BackwardWave, numWaves };
  static constexpr int64_t notDone = -1;

  /// A wave passing a stage.
  struct Event {
    Wave wave;
    unsigned stage;
  };
  using Events = SmallVector<Event, 2>;

  Events getDependencies(const PipelineAction &action) const;
  int64_t getDuration(const PipelineAction &action) const;
  const ActionTimes &getTimes(unsigned stage) const {
    return times.size() == 1 ? times.front() : times[stage];
  }
  void enqueue(unsigned device);
  void advance(unsigned device);
  bool tryActions(unsigned device, ArrayRef<PipelineAction> actions);
  ArrayRef<PipelineAction> getNextActions(unsigned device) const;
  void finish(Device &device, const PipelineAction &action);
  Error reportDeadlock() const;
  PipelineAction findAction(const Event &event, unsigned microBatch) const;
  /// An event that the action waits for, if any.
  std::optional<Event> findMissing(const PipelineAction &action) const;
  /// Of what a device that is stuck does next, the action that waits.
  const PipelineAction &getWaiting(unsigned device) const {
    return *llvm::find_if(getNextActions(device),
                          [&](const PipelineAction &action) {
                            return findMissing(action).has_value();
                          });
  }

  int64_t &getEnd(const Event &event, unsigned microBatch) {
    return ends[event.wave]
               [size_t(event.stage) * schedule.numMicroBatches + microBatch];
  }
  bool isDone(const Event &event, unsigned microBatch) const {
    return const_cast<Execution *>(this)->getEnd(event, microBatch) != notDone;
  }

  const PipelineSchedule &schedule;
  ArrayRef<ActionTimes> times;
  std::vector<Device> devices;
  /// By wave, stage and micro-batch.
  std::vector<std::vector<int64_t>> ends;
  /// Devices that may be able to go on.
  std::deque<unsigned> queue;
};

} // namespace

int64_t Execution::getDuration(const PipelineAction &action) const {
  const ActionTimes &times = getTimes(action.stage);
  switch (action.kind) {
  case PipelineAction::Forward:
    return times.forward;
  case PipelineAction::Backward:
    return times.backwardInput + times.backwardWeight;
  case PipelineAction::BackwardInput:
    return times.backwardInput;
  case PipelineAction::BackwardWeight:
    return times.backwardWeight;
  }
  llvm_unreachable("all kinds have a duration");
}

Execution::Events
Execution::getDependencies(const PipelineAction &action) const {
  switch (action.kind) {
  case PipelineAction::Forward:
    if (action.stage == 0)
      return {};
    return {{ForwardWave, action.stage - 1}};
  case PipelineAction::Backward:
  case PipelineAction::BackwardInput:
    if (action.stage + 1 == schedule.numVirtualStages)
      return {{ForwardWave, action.stage}};
    return {{ForwardWave, action.stage}, {BackwardWave, action.stage + 1}};
  case PipelineAction::BackwardWeight:
    return {{BackwardWave, action.stage}};
  }
  llvm_unreachable("all kinds have dependencies");
}

void Execution::enqueue(unsigned device) {
  if (devices[device].isQueued)
    return;
  devices[device].isQueued = true;
  queue.push_back(device);
}

std::optional<Execution::Event>
Execution::findMissing(const PipelineAction &action) const {
  for (const Event &event : getDependencies(action))
    if (!isDone(event, action.microBatch))
      return event;
  return std::nullopt;
}

/// What the device does next: an action, or two side by side.
ArrayRef<PipelineAction> Execution::getNextActions(unsigned device) const {
  ArrayRef<PipelineAction> actions = schedule.actions[device];
  const size_t next = devices[device].next;
  return actions.slice(next, isNextBeside(actions, next) ? 2 : 1);
}

/// Executes the actions if what they wait for is done.
bool Execution::tryActions(unsigned index, ArrayRef<PipelineAction> actions) {
  Device &device = devices[index];
  int64_t start = device.time, duration = 0;
  for (const PipelineAction &action : actions) {
    if (findMissing(action))
      return false;
    for (const Event &event : getDependencies(action)) {
      bool isLocal = schedule.deviceOf[event.stage] == index;
      start =
          std::max(start, getEnd(event, action.microBatch) +
                              (isLocal ? 0 : getTimes(event.stage).message));
    }
    duration += getDuration(action);
  }
  device.starts.insert(device.starts.end(), actions.size(), start);
  device.time = start + duration;
  device.busy += duration;
  // Both are under way at a time.
  for (bool isForward : {true, false})
    for (const PipelineAction &action : actions)
      if ((action.kind == PipelineAction::Forward) == isForward)
        finish(device, action);
  return true;
}

/// Notes what a finished action has produced and wakes who may wait for it.
void Execution::finish(Device &device, const PipelineAction &action) {
  if (action.kind == PipelineAction::Forward) {
    ++device.inFlight;
    device.peakInFlight = std::max(device.peakInFlight, device.inFlight);
    getEnd({ForwardWave, action.stage}, action.microBatch) = device.time;
    if (action.stage + 1 < schedule.numVirtualStages)
      enqueue(schedule.deviceOf[action.stage + 1]);
    return;
  }
  // A split backward reads activations until its second half is done.
  if (action.kind != PipelineAction::BackwardInput)
    --device.inFlight;
  if (action.kind == PipelineAction::BackwardWeight)
    return;
  getEnd({BackwardWave, action.stage}, action.microBatch) = device.time;
  if (action.stage > 0)
    enqueue(schedule.deviceOf[action.stage - 1]);
}

void Execution::advance(unsigned index) {
  Device &device = devices[index];
  const std::vector<PipelineAction> &actions = schedule.actions[index];
  while (device.next < actions.size()) {
    ArrayRef<PipelineAction> next = getNextActions(index);
    if (!tryActions(index, next))
      return;
    device.next += next.size();
  }
}

Expected<ScheduleTimes> Execution::run() {
  for (unsigned i = 0; i < schedule.numDevices; ++i)
    enqueue(i);
  while (!queue.empty()) {
    unsigned index = queue.front();
    queue.pop_front();
    devices[index].isQueued = false;
    advance(index);
  }
  ScheduleTimes result;
  for (auto [device, actions] : llvm::zip(devices, schedule.actions)) {
    if (device.next < actions.size())
      return reportDeadlock();
    result.makespan = std::max(result.makespan, device.time);
    result.busy.push_back(device.busy);
    result.peakInFlight.push_back(device.peakInFlight);
    result.starts.push_back(std::move(device.starts));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

/// The action of the schedule that makes `event` happen.
PipelineAction Execution::findAction(const Event &event,
                                     unsigned microBatch) const {
  return *llvm::find_if(
      schedule.actions[schedule.deviceOf[event.stage]],
      [&](const PipelineAction &action) {
        bool matches = event.wave == ForwardWave
                           ? action.kind == PipelineAction::Forward
                           : action.kind == PipelineAction::Backward ||
                                 action.kind == PipelineAction::BackwardInput;
        return matches && action.stage == event.stage &&
               action.microBatch == microBatch;
      });
}

/// Walks from a device that is stuck to the one that it waits for until the
/// circle is closed, and tells the circle.
Error Execution::reportDeadlock() const {
  auto isStuck = [&](unsigned index) {
    return devices[index].next < schedule.actions[index].size();
  };
  unsigned index = 0;
  while (!isStuck(index))
    ++index;
  std::vector<unsigned> path;
  while (!llvm::is_contained(path, index)) {
    path.push_back(index);
    index = schedule.deviceOf[findMissing(getWaiting(index))->stage];
  }
  path.erase(path.begin(), llvm::find(path, index));

  std::string text = "deadlock: ";
  constexpr size_t maxShown = 8;
  for (unsigned device : ArrayRef(path).take_front(maxShown)) {
    const PipelineAction &action = getWaiting(device);
    Event event = *findMissing(action);
    text += "device " + std::to_string(device) + " is at " + toString(action) +
            " and waits for " + toString(findAction(event, action.microBatch)) +
            " of device " + std::to_string(schedule.deviceOf[event.stage]) +
            "; ";
  }
  if (path.size() > maxShown)
    text += std::to_string(path.size() - maxShown) + " more devices wait so; ";
  text.resize(text.size() - 2);
  return makeError(text);
}

Expected<ScheduleTimes> execute(const PipelineSchedule &schedule,
                                ArrayRef<ActionTimes> times) {
  return Execution(schedule, times).run();
}

} // namespace stg
