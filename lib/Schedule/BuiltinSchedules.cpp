//===- BuiltinSchedules.cpp - Schedules that come with STG ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function for each. In comments p is the number of devices, v of virtual
// stages on each, m of micro-batches, and i is the device.
//
//===----------------------------------------------------------------------===//

#include "ScheduleDetail.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <optional>

using namespace llvm;

namespace stg {

using Kind = PipelineAction::Kind;

/// An empty table with the virtual stages dealt to the devices in turn.
static PipelineSchedule makeTable(StringRef name,
                                  const ScheduleRequest &request) {
  PipelineSchedule schedule;
  schedule.name = name.str();
  schedule.numDevices = request.devices;
  schedule.numVirtualStages = request.devices * request.virtualStagesPerDevice;
  schedule.numMicroBatches = request.microBatches;
  for (unsigned stage = 0; stage < schedule.numVirtualStages; ++stage)
    schedule.deviceOf.push_back(stage % request.devices);
  schedule.actions.resize(request.devices);
  return schedule;
}

/// The same with two virtual stages on each device, from the first to the last
/// device and back.
static PipelineSchedule makeVShapedTable(StringRef name,
                                         const ScheduleRequest &request) {
  PipelineSchedule schedule = makeTable(name, request);
  unsigned stages = schedule.numVirtualStages;
  for (unsigned stage = request.devices; stage < stages; ++stage)
    schedule.deviceOf[stage] = stages - 1 - stage;
  return schedule;
}

/// One after the other, or side by side: then the backward begins, as its first
/// exchange can be behind what the forward begins with.
static void addBoth(std::vector<PipelineAction> &actions,
                    PipelineAction forward, PipelineAction backward,
                    bool sideBySide) {
  forward.isBeside = sideBySide;
  actions.push_back(sideBySide ? backward : forward);
  actions.push_back(sideBySide ? forward : backward);
}

static Error requireTwoStages(StringRef name, const ScheduleRequest &request) {
  if (request.virtualStagesPerDevice == 2)
    return Error::success();
  return makeError(name + " has two virtual stages on each device; " +
                   Twine(request.virtualStagesPerDevice) +
                   (request.virtualStagesPerDevice == 1 ? " was" : " were") +
                   " given: use 2, or zb-h1 with 1");
}

static Error requireOneStage(StringRef name, const ScheduleRequest &request) {
  if (request.virtualStagesPerDevice == 1)
    return Error::success();
  return makeError(name + " has one virtual stage on each device; " +
                   Twine(request.virtualStagesPerDevice) +
                   " were given: use interleaved");
}

//===----------------------------------------------------------------------===//
// One stage on each device
//===----------------------------------------------------------------------===//

/// All forwards, then all backwards, from the last micro-batch to the first.
static Expected<PipelineSchedule> makeGPipe(const ScheduleRequest &request) {
  if (Error error = requireOneStage("gpipe", request))
    return error;
  PipelineSchedule schedule = makeTable("gpipe", request);
  for (unsigned i = 0; i < request.devices; ++i) {
    for (unsigned m = 0; m < request.microBatches; ++m)
      schedule.actions[i].push_back({Kind::Forward, i, m});
    for (unsigned m = request.microBatches; m-- > 0;)
      schedule.actions[i].push_back({Kind::Backward, i, m});
  }
  return schedule;
}

/// p-i-1 forwards, then a forward and a backward in turn, then the backwards
/// that are left. Side by side a forward and a backward take one step, so that
/// a micro-batch that has left a device needs two to come back from the next
/// one: as many more forwards come before.
static Expected<PipelineSchedule> make1F1B(const ScheduleRequest &request) {
  if (Error error = requireOneStage("1f1b", request))
    return error;
  PipelineSchedule schedule = makeTable("1f1b", request);
  unsigned p = request.devices, count = request.microBatches;
  for (unsigned i = 0; i < p; ++i) {
    std::vector<PipelineAction> &actions = schedule.actions[i];
    unsigned before = p - i - 1;
    unsigned warmUp = std::min(count, request.pairs ? 2 * before + 1 : before);
    for (unsigned m = 0; m < warmUp; ++m)
      actions.push_back({Kind::Forward, i, m});
    for (unsigned m = 0; m < count; ++m) {
      PipelineAction forward = {Kind::Forward, i, warmUp + m};
      PipelineAction backward = {Kind::Backward, i, m};
      if (warmUp + m < count)
        addBoth(actions, forward, backward, request.pairs);
      else
        actions.push_back(backward);
    }
  }
  return schedule;
}

/// 1F1B in which device i does the weight gradient i micro-batches later. The
/// gradient of the input, for which the previous stage waits, leaves earlier,
/// and what is postponed fills the gaps at the end. Each device then holds p
/// micro-batches: p-i as in 1F1B, and i that wait.
static Expected<PipelineSchedule> makeZBH1(ScheduleRequest request) {
  if (Error error = requireOneStage("zb-h1", request))
    return error;
  request.pairs = false; // It has none.
  Expected<PipelineSchedule> schedule = make1F1B(request);
  schedule->name = "zb-h1";
  for (unsigned i = 0; i < request.devices; ++i) {
    std::vector<PipelineAction> split;
    for (PipelineAction action : schedule->actions[i]) {
      if (action.kind == Kind::Forward) {
        split.push_back(action);
        continue;
      }
      unsigned m = action.microBatch;
      split.push_back({Kind::BackwardInput, i, m});
      if (m >= i)
        split.push_back({Kind::BackwardWeight, i, m - i});
    }
    unsigned left = std::min(i, request.microBatches);
    for (unsigned m = request.microBatches - left; m < request.microBatches;
         ++m)
      split.push_back({Kind::BackwardWeight, i, m});
    schedule->actions[i] = std::move(split);
  }
  return schedule;
}

//===----------------------------------------------------------------------===//
// Interleaved 1F1B
//===----------------------------------------------------------------------===//

static Error requireWholeRounds(const ScheduleRequest &request) {
  unsigned p = request.devices, rest = request.microBatches % p;
  if (rest == 0)
    return Error::success();
  unsigned below = request.microBatches - rest;
  return makeError("interleaved needs a number of micro-batches that " +
                   Twine(p) + " divides; " + Twine(request.microBatches) +
                   (request.microBatches == 1 ? " was" : " were") +
                   " given: use " + (below ? Twine(below) + " or " : Twine()) +
                   Twine(uint64_t(below) + p));
}

/// Megatron-LM's interleaved 1F1B. A device takes p micro-batches through its
/// first virtual stage, then through its second, and so on, then the next p;
/// backward does the same from the last virtual stage to the first. With one
/// more forward before, what is next to each other is of two micro-batches.
static Expected<PipelineSchedule>
makeInterleaved(const ScheduleRequest &request) {
  if (request.virtualStagesPerDevice == 1) {
    // As in Megatron-LM; the longer warm-up below would gain nothing.
    Expected<PipelineSchedule> schedule = make1F1B(request);
    if (schedule)
      schedule->name = "interleaved";
    return schedule;
  }
  if (Error error = requireWholeRounds(request))
    return error;
  PipelineSchedule schedule = makeTable("interleaved", request);
  unsigned p = request.devices, v = request.virtualStagesPerDevice;
  unsigned count = v * request.microBatches;
  for (unsigned i = 0; i < p; ++i) {
    std::vector<PipelineAction> &actions = schedule.actions[i];
    auto get = [&](Kind kind, unsigned k) -> PipelineAction {
      unsigned chunk = k / p % v;
      if (kind == Kind::Backward)
        chunk = v - 1 - chunk;
      return {kind, chunk * p + i, k / (p * v) * p + k % p};
    };
    unsigned warmUp =
        std::min(count, 2 * (p - i - 1) + (v - 1) * p + request.pairs);
    for (unsigned k = 0; k < warmUp; ++k)
      actions.push_back(get(Kind::Forward, k));
    for (unsigned k = 0; k < count; ++k) {
      PipelineAction forward = get(Kind::Forward, warmUp + k);
      PipelineAction backward = get(Kind::Backward, k);
      if (warmUp + k < count)
        addBoth(actions, forward, backward, request.pairs);
      else
        actions.push_back(backward);
    }
  }
  return schedule;
}

//===----------------------------------------------------------------------===//
// ZB-V
//===----------------------------------------------------------------------===//

namespace {

/// Makes a V-shaped schedule. Time passes in steps, in which each device does
/// one action: the first in an order of preference that can be done and for
/// which there is memory.
class ZBVBuilder {
public:
  explicit ZBVBuilder(const ScheduleRequest &request);
  PipelineSchedule run();

private:
  bool canRun(const PipelineAction &action) const;
  std::optional<PipelineAction> choose(unsigned device) const;
  unsigned countDone(Kind kind, unsigned stage) const {
    return done[kind][stage];
  }

  PipelineSchedule schedule;
  /// How many micro-batches are done, by kind and stage.
  std::array<std::vector<unsigned>, 4> done;
};

} // namespace

ZBVBuilder::ZBVBuilder(const ScheduleRequest &request)
    : schedule(makeVShapedTable("zb-v", request)) {
  done.fill(std::vector<unsigned>(schedule.numVirtualStages));
}

bool ZBVBuilder::canRun(const PipelineAction &action) const {
  unsigned stage = action.stage, m = action.microBatch;
  if (m == schedule.numMicroBatches)
    return false;
  if (action.kind == Kind::BackwardWeight)
    return m < countDone(Kind::BackwardInput, stage);
  bool isLast = stage + 1 == schedule.numVirtualStages;
  if (action.kind == Kind::BackwardInput)
    return m < countDone(Kind::Forward, stage) &&
           (isLast || m < countDone(Kind::BackwardInput, stage + 1));
  unsigned inFlight = 0;
  for (unsigned own : {stage, schedule.numVirtualStages - 1 - stage})
    inFlight +=
        countDone(Kind::Forward, own) - countDone(Kind::BackwardWeight, own);
  // The memory of 1F1B's first device: p stages of half the size.
  return inFlight < 2 * schedule.numDevices &&
         (stage == 0 || m < countDone(Kind::Forward, stage - 1));
}

std::optional<PipelineAction> ZBVBuilder::choose(unsigned device) const {
  unsigned first = device, second = schedule.numVirtualStages - 1 - device;
  // Forwards of the second stage let backwards begin; weight gradients of the
  // first one make room for forwards.
  const std::pair<Kind, unsigned> preferences[] = {
      {Kind::Forward, second},       {Kind::Forward, first},
      {Kind::BackwardInput, first},  {Kind::BackwardWeight, first},
      {Kind::BackwardInput, second}, {Kind::BackwardWeight, second}};
  for (auto [kind, stage] : preferences) {
    PipelineAction action{kind, stage, countDone(kind, stage)};
    if (canRun(action))
      return action;
  }
  return std::nullopt;
}

PipelineSchedule ZBVBuilder::run() {
  for (bool progress = true; progress;) {
    // Choices of a step do not see each other.
    std::vector<std::optional<PipelineAction>> chosen;
    for (unsigned device = 0; device < schedule.numDevices; ++device)
      chosen.push_back(choose(device));
    progress = false;
    for (auto [action, list] : llvm::zip(chosen, schedule.actions)) {
      if (!action)
        continue;
      progress = true;
      ++done[action->kind][action->stage];
      list.push_back(*action);
    }
  }
  return std::move(schedule);
}

static Expected<PipelineSchedule> makeZBV(const ScheduleRequest &request) {
  if (Error error = requireTwoStages("zb-v", request))
    return error;
  return ZBVBuilder(request).run();
}

//===----------------------------------------------------------------------===//
// DualPipeV
//===----------------------------------------------------------------------===//

namespace {

/// The list of one device in DualPipeV. Micro-batches pass each virtual stage
/// in their order, so that an action is a kind and a virtual stage: `down` on
/// the way from the first to the last device, `up` on the way back.
class DualPipeVBuilder {
public:
  DualPipeVBuilder(const PipelineSchedule &schedule, unsigned device,
                   bool pairs)
      : schedule(schedule), pairs(pairs), device(device), down(device),
        up(schedule.numVirtualStages - 1 - device),
        numForward(schedule.numVirtualStages),
        numBackward(schedule.numVirtualStages) {}

  std::vector<PipelineAction> run();

private:
  void forward(unsigned stage) {
    actions.push_back({Kind::Forward, stage, numForward[stage]++});
  }
  void backward(unsigned stage) {
    actions.push_back({Kind::Backward, stage, numBackward[stage]++});
  }
  void both(unsigned forwardStage, unsigned backwardStage, bool sideBySide) {
    addBoth(actions, {Kind::Forward, forwardStage, numForward[forwardStage]++},
            {Kind::Backward, backwardStage, numBackward[backwardStage]++},
            sideBySide);
  }
  /// Postpones the weight gradient.
  void backwardInput(unsigned stage) {
    postponed.push_back({Kind::BackwardWeight, stage, numBackward[stage]});
    actions.push_back({Kind::BackwardInput, stage, numBackward[stage]++});
  }
  /// The weight gradient that has been postponed for the longest time.
  void backwardWeight() { actions.push_back(postponed[numTaken++]); }

  const PipelineSchedule &schedule;
  bool pairs;
  unsigned device, down, up;
  std::vector<unsigned> numForward, numBackward; ///< By virtual stage.
  std::vector<PipelineAction> actions, postponed;
  size_t numTaken = 0;
};

} // namespace

std::vector<PipelineAction> DualPipeVBuilder::run() {
  auto repeat = [](unsigned times, auto step) {
    for (unsigned k = 0; k < times; ++k)
      step(k);
  };
  unsigned after = schedule.numDevices - device - 1, upTo = device + 1;
  // The way down fills, then both ways.
  repeat(2 * after, [&](unsigned) { forward(down); });
  repeat(upTo, [&](unsigned) {
    forward(down);
    forward(up);
  });
  // What the way up waits for leaves as early as it can.
  repeat(after, [&](unsigned) {
    backwardInput(up);
    backwardWeight();
    forward(up);
  });
  // Each way forward next to the other way backward. Where it would make the
  // bubble larger they are not side by side.
  repeat(schedule.numMicroBatches - 2 * schedule.numDevices + upTo,
         [&](unsigned k) {
           both(down, up, pairs && (k > 0 || after > 0));
           both(up, down, pairs);
         });
  repeat(after, [&](unsigned) {
    backward(up);
    both(up, down, pairs);
  });
  // Weight gradients wait from the middle on: they fill the gaps at the end.
  unsigned half = upTo / 2;
  repeat(upTo, [&](unsigned k) {
    bool splitsDown = k >= half, splitsUp = upTo % 2 ? k > half : k >= half;
    splitsUp ? backwardInput(up) : backward(up);
    splitsDown ? backwardInput(down) : backward(down);
  });
  repeat(after, [&](unsigned) {
    backwardWeight();
    backwardInput(down);
  });
  repeat(upTo, [&](unsigned) { backwardWeight(); });
  return std::move(actions);
}

/// DeepSeek's DualPipe with one copy of the model, which is folded (the steps
/// are those of github.com/deepseek-ai/DualPipe). What it executes at once, a
/// forward and a backward, is side by side where pairs are wanted.
static Expected<PipelineSchedule>
makeDualPipeV(const ScheduleRequest &request) {
  if (Error error = requireTwoStages("dualpipe-v", request))
    return error;
  if (request.microBatches < 2 * request.devices)
    return makeError("dualpipe-v needs at least two micro-batches for each "
                     "device; " +
                     Twine(request.microBatches) +
                     (request.microBatches == 1 ? " was" : " were") +
                     " given: use " + Twine(2 * request.devices) +
                     " or more, or zb-v");
  PipelineSchedule schedule = makeVShapedTable("dualpipe-v", request);
  for (unsigned device = 0; device < request.devices; ++device)
    schedule.actions[device] =
        DualPipeVBuilder(schedule, device, request.pairs).run();
  return schedule;
}

std::vector<NamedSchedule> getBuiltinSchedules() {
  return {
      {"gpipe", "all forwards, then all backwards", makeGPipe},
      {"1f1b", "a forward and a backward in turn; fewer activations", make1F1B},
      {"interleaved",
       "1F1B with several virtual stages on each device; a smaller bubble",
       makeInterleaved},
      {"zb-h1",
       "1F1B with weight gradients postponed into the bubble; same memory",
       makeZBH1},
      {"zb-v",
       "two virtual stages on each device, there and back, split backward; "
       "hardly any bubble",
       makeZBV},
      {"dualpipe-v",
       "two virtual stages on each device, there and back, each forward next "
       "to a backward of the other",
       makeDualPipeV},
  };
}

} // namespace stg
