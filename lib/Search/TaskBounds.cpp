//===- TaskBounds.cpp - What strategies take at least ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Search/TaskBounds.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <set>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Notes the states of one device that no other state has more than.
static void noteHeld(ArrayRef<PipelineAction> actions, ScheduleFacts &facts) {
  std::set<unsigned> begun;
  unsigned held = 0;
  std::map<unsigned, unsigned> most; ///< Activations by gradients.
  for (const PipelineAction &action : actions) {
    bool ends = action.kind == PipelineAction::BackwardWeight ||
                action.kind == PipelineAction::Backward;
    if (action.kind == PipelineAction::Forward) {
      unsigned &place = most[begun.size()];
      place = std::max(place, ++held);
    } else if (ends) {
      --held;
      begun.insert(action.stage);
    }
  }
  for (auto [gradients, activations] : most)
    if (none_of(facts.held, [&, g = gradients, a = activations](auto &other) {
          return other.gradients >= g && other.activations >= a;
        }))
      facts.held.push_back({activations, gradients});
}

ScheduleFacts ScheduleFacts::get(StringRef name, unsigned devices,
                                 unsigned virtualStages,
                                 unsigned microBatches) {
  ScheduleFacts facts;
  Expected<PipelineSchedule> schedule =
      makeSchedule(name, {devices, virtualStages, microBatches});
  if (!schedule) {
    facts.refusal = toString(schedule.takeError());
    return facts;
  }
  facts.splitsBackward = schedule->splitsBackward();
  for (auto [stage, device] : enumerate(schedule->deviceOf))
    facts.isChain &= device == stage % devices;
  for (ArrayRef<PipelineAction> actions : schedule->actions)
    noteHeld(actions, facts);
  return facts;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Looks at the program of a class.
class TaskBounds::Reader {
public:
  Reader(TraceProgram program, std::vector<NodeTime> times,
         ProgramTimes::Rules rules)
      : program(std::move(program)), times(std::move(times)), rules(rules) {}

  void prepare() {
    markLayerSlots();
    readOrigins();
  }
  bool findTasks();
  TaskTime run(const TraceProgram::Call &call, bool skipsBefore,
               bool skipsAfter);
  /// The least of all backward tasks.
  TaskTime runBackward(bool skipsBefore, bool skipsAfter) {
    TaskTime least = {INT64_MAX, INT64_MAX};
    for (const TraceProgram::Call *call : backward) {
      TaskTime time = run(*call, skipsBefore, skipsAfter);
      least = {std::min(least.task, time.task),
               std::min(least.kernels, time.kernels)};
    }
    return least;
  }
  TaskTime runAll();
  void setTimes(std::vector<NodeTime> other) { times = std::move(other); }
  /// Layers of each loop.
  void setLayers(int64_t count) {
    for (uint32_t repeat : loops)
      program.repeats[repeat].count = count;
  }
  double getLayerBytes(TensorCategory category) const;
  double getKeptBytes() const;

  const TraceProgram::Call *forward = nullptr;
  SmallVector<const TraceProgram::Call *, 2> backward;
  int64_t layers = 0; ///< Turns of the loop of each task; 0: several loops.

private:
  std::optional<uint32_t> findLoop(const TraceProgram::Call &call) const;
  TaskTime getTime(ProgramTimes &run) const;
  static bool isInside(StringRef phase);
  void markLayerSlots();
  uint32_t getOrigin(uint32_t slot) const;
  void readOrigins();

  TraceProgram program;
  std::vector<NodeTime> times;
  ProgramTimes::Rules rules;
  SmallVector<uint32_t, 2> loops;
  std::vector<bool> isOfLayers;      ///< By slot.
  std::map<uint32_t, uint32_t> from; ///< Slots that are others.
  std::map<uint32_t, double> bytesOf;
};

bool TaskBounds::Reader::isInside(StringRef phase) {
  return StringSwitch<bool>(phase)
      .Cases({"fwd", "bwd", "recompute", "wgrad"}, true)
      .Default(false);
}

/// The only loop among the steps of a task.
std::optional<uint32_t>
TaskBounds::Reader::findLoop(const TraceProgram::Call &call) const {
  std::optional<uint32_t> loop;
  for (TraceProgram::Step step : program.bodies[call.body].steps) {
    if (step.kind == TraceProgram::Step::Call)
      return std::nullopt;
    if (step.kind != TraceProgram::Step::Repeat)
      continue;
    if (loop)
      return std::nullopt;
    loop = step.index;
  }
  return loop;
}

/// A schedule of one device has one task forward; the first and the last
/// backward task differ from others in what they do with gradients.
bool TaskBounds::Reader::findTasks() {
  if (program.schedules.size() != 1)
    return false;
  std::set<int64_t> counts;
  for (TraceProgram::Step step :
       program.bodies[program.schedules[0].body].steps) {
    if (step.kind == TraceProgram::Step::Node && times[step.index].time)
      return false;
    if (step.kind != TraceProgram::Step::Call)
      continue;
    const TraceProgram::Call &call = program.calls[step.index];
    if (forward)
      backward.push_back(&call);
    else
      forward = &call;
    std::optional<uint32_t> loop = findLoop(call);
    if (loop)
      loops.push_back(*loop);
    counts.insert(loop ? program.repeats[*loop].count : 0);
  }
  if (!forward || backward.empty())
    return false;
  if (counts.size() == 1)
    layers = *counts.begin();
  return true;
}

/// Kernels one after the other, and launches one after the other.
TaskTime TaskBounds::Reader::getTime(ProgramTimes &run) const {
  const Spending &spending = run.getSpending();
  Ticks kernels = std::max(spending.getCompute(), spending.launch);
  return {std::max(run.getClock().compute, kernels), kernels};
}

static auto makeMeeting() {
  return [](AxisMask, Ticks arrival) { return arrival; };
}

TaskTime TaskBounds::Reader::run(const TraceProgram::Call &call,
                                 bool skipsBefore, bool skipsAfter) {
  std::vector<NodeTime> own = times;
  bool isAfter = false;
  for (TraceProgram::Step step : program.bodies[call.body].steps) {
    isAfter |= step.kind == TraceProgram::Step::Repeat;
    if (step.kind == TraceProgram::Step::Node &&
        (isAfter ? skipsAfter : skipsBefore))
      own[step.index] = {};
  }
  ProgramTimes run(program, std::move(own), rules, 0, makeMeeting());
  run.run({TraceProgram::Step::Call,
           static_cast<uint32_t>(&call - program.calls.data())});
  return getTime(run);
}

/// All but what is before the first forward and after the last backward.
TaskTime TaskBounds::Reader::runAll() {
  std::vector<NodeTime> own = times;
  for (auto [node, time] : zip_equal(program.nodes, own))
    if (!isInside(node.phase))
      time = {};
  ProgramTimes run(program, std::move(own), rules, 0, makeMeeting());
  for (TraceProgram::Step step : program.bodies.front().steps)
    if (step.kind != TraceProgram::Step::Schedule)
      run.run(step);
  return getTime(run);
}

//===----------------------------------------------------------------------===//
// Memory of layers
//===----------------------------------------------------------------------===//

void TaskBounds::Reader::markLayerSlots() {
  isOfLayers.assign(program.numSlots, false);
  for (const TraceProgram::Repeat &repeat : program.repeats)
    for (TraceProgram::Stack slice : repeat.slices)
      isOfLayers[slice.outer] = true;
  for (const TraceProgram::Call &call : program.calls)
    for (TraceProgram::Alias alias : call.args)
      if (isOfLayers[alias.to])
        isOfLayers[alias.from] = true;
}

/// Of states.
double TaskBounds::Reader::getLayerBytes(TensorCategory category) const {
  double bytes = 0;
  for (const TraceProgram::State &state : program.states) {
    const TensorTemplate &tensor = program.tensors[state.tensorTemplate];
    if (tensor.category == category && isOfLayers[state.slot])
      bytes += double(tensor.bytes) * program.slotCounts[state.slot];
  }
  return bytes;
}

void TaskBounds::Reader::readOrigins() {
  for (const TraceProgram::NodeWiring &wiring : program.wiring)
    for (const TraceProgram::Output &output : wiring.outputs) {
      if (output.kind == TraceProgram::Output::New)
        bytesOf[output.slot.index] =
            double(program.tensors[output.tensorTemplate].bytes) *
            output.slot.count;
      else if (output.kind == TraceProgram::Output::InPlace)
        from[output.slot.index] = output.source;
    }
  for (TraceProgram::Alias alias : program.aliases)
    from[alias.to] = alias.from;
  for (const TraceProgram::Call &call : program.calls)
    for (TraceProgram::Alias alias : call.args)
      from[alias.to] = alias.from;
  for (const TraceProgram::Repeat &repeat : program.repeats)
    for (TraceProgram::Carry carry : repeat.carries) {
      from[carry.arg] = carry.yielded;
      from[carry.result] = carry.yielded;
    }
}

/// Where the tensor of a slot is made; a value that goes round a loop without
/// being made anywhere comes to an end, too.
uint32_t TaskBounds::Reader::getOrigin(uint32_t slot) const {
  std::set<uint32_t> seen;
  while (seen.insert(slot).second) {
    auto it = from.find(slot);
    if (it == from.end())
      break;
    slot = it->second;
  }
  return slot;
}

/// Of one turn of the loop forward, what it stacks for backward: each tensor
/// once.
double TaskBounds::Reader::getKeptBytes() const {
  std::set<uint32_t> returned, origins;
  for (TraceProgram::Alias alias : forward->results)
    returned.insert(alias.from);
  double bytes = 0;
  for (TraceProgram::Stack stack : program.repeats[loops[0]].stacks) {
    if (!returned.count(stack.outer))
      continue;
    uint32_t origin = getOrigin(stack.inner);
    auto it = bytesOf.find(origin);
    if (it != bytesOf.end() && origins.insert(origin).second)
      bytes += it->second;
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static double getBytes(const chakra::CategoryBytes &all,
                       TensorCategory category) {
  return static_cast<double>(all.bytes[static_cast<unsigned>(category)]);
}

void TaskBounds::measureTimes(Reader &reader, bool isAlone,
                              ArrayRef<unsigned> stageCounts, Times &times) {
  // Ranks of other classes may be faster, and send earlier.
  auto getSafe = [&](TaskTime time) {
    return isAlone ? time : TaskTime{time.kernels, time.kernels};
  };
  if (!hasMicroBatches) {
    times.whole = getSafe(reader.runAll());
    return;
  }
  if (!reader.forward)
    return;
  TaskTime forward = getSafe(reader.run(*reader.forward, false, false)),
           backward = getSafe(reader.runBackward(false, false));
  times.whole = {forward.task + backward.task,
                 forward.kernels + backward.kernels};
  const int64_t layers = reader.layers;
  for (unsigned count : stageCounts) {
    if (!layers || layers % count)
      continue;
    reader.setLayers(layers / count);
    times.stages[count] = {getSafe(reader.run(*reader.forward, true, true)),
                           getSafe(reader.runBackward(true, true)),
                           getSafe(reader.run(*reader.forward, true, false)),
                           getSafe(reader.runBackward(false, true))};
  }
  if (layers)
    reader.setLayers(layers);
}

void TaskBounds::measure(const CompileResult &result, const Machine &machine,
                         bool hasMicroBatches, ArrayRef<unsigned> stageCounts) {
  const TraceBundle &programs = *result.summary.programs;
  // What adds up gradients adds less where they have been reduced.
  Execution withoutAdding = result.execution;
  withoutAdding.gradientBytes = 0;
  withoutAdding.fused.push_back("accumulate");
  Expected<NodeTimes> nodes =
      NodeTimes::get(machine, result.execution, programs.getSpace());
  Expected<NodeTimes> others =
      NodeTimes::get(machine, withoutAdding, programs.getSpace());
  if (!nodes || !others) {
    refusal = toString(joinErrors(nodes.takeError(), others.takeError()));
    return;
  }
  this->hasMicroBatches = hasMicroBatches;
  auto get = [&](StringRef key) { return machine.get(key).value_or(0); };
  fixed = toTicks(get("host.step"));
  reservedOverLive = result.execution.reservedOverLive;

  // Any class is as good as another one.
  const chakra::MemoryTotals &memory =
      result.summary.classes.front().totals.memory;
  parameters = getBytes(memory.persistent, TensorCategory::Parameter);
  optimizer = getBytes(memory.persistent, TensorCategory::Optimizer);
  other = static_cast<double>(memory.persistent.getTotal()) - parameters -
          optimizer;
  peakActivations = getBytes(memory.peak, TensorCategory::Activation);
  peakGradients = getBytes(memory.peak, TensorCategory::Gradient);

  const TraceProgram &program = programs.getClasses().front().program;
  usesHost = program.usesHost();
  if (usesHost)
    return;
  bool isAlone = programs.getClasses().size() == 1;
  Reader reader(program, nodes->getTimes(program), {get("host.exposed"), 0, 0});
  reader.prepare();
  if (hasMicroBatches && !reader.findTasks())
    return;
  measureTimes(reader, isAlone, stageCounts, adding);
  reader.setTimes(others->getTimes(program));
  measureTimes(reader, isAlone, stageCounts, reducing);
  if (!reader.layers)
    return;
  hasLayers = true;
  layerActivations = reader.getKeptBytes() * reader.layers;
  layerParameters = reader.getLayerBytes(TensorCategory::Parameter);
  layerOptimizer = reader.getLayerBytes(TensorCategory::Optimizer);
  if (parameters > 0)
    layerGradients = peakGradients * layerParameters / parameters;
}

Ticks TaskBounds::getTime(const PointFacts &point,
                          const ScheduleFacts &schedule) const {
  if (usesHost)
    return 0;
  const Times &times = point.reducesInside ? reducing : adding;
  const TaskTime &whole = times.whole;
  const int64_t count = point.microBatches;
  // The only micro-batch goes through all stages, one after the other.
  if (!hasMicroBatches)
    return fixed + (point.stages == 1 ? whole.task : whole.kernels);
  if (point.stages == 1)
    return fixed + count * (schedule.splitsBackward || point.virtualStages > 1
                                ? whole.kernels
                                : whole.task);
  auto it = times.stages.find(point.stages * point.virtualStages);
  if (it == times.stages.end() || point.listsLayers)
    return fixed + count * whole.kernels / point.stages;
  const Stage &stage = it->second;
  auto getBoth = [&](TaskTime forward, TaskTime backward) {
    return forward.task +
           (schedule.splitsBackward ? backward.kernels : backward.task);
  };
  Ticks one = getBoth(stage.forward, stage.backward);
  // The device of the last stage has others, too.
  Ticks work = count * ((point.virtualStages - 1) * one +
                        getBoth(stage.lastForward, stage.lastBackward));
  if (!schedule.isChain)
    return fixed + work;
  // Before its first task and after its last one a micro-batch is in the first
  // stage of each of the other devices.
  Ticks through = schedule.splitsBackward ? stage.forward.task : one;
  return fixed + work + (point.stages - 1) * through;
}

double TaskBounds::getMemory(const PointFacts &point,
                             const ScheduleFacts &schedule) const {
  if (usesHost)
    return 0;
  auto divide = [&](double bytes, unsigned zero) {
    return point.zero >= zero ? bytes / point.shards : bytes;
  };
  double bytes = 0;
  if (point.stages == 1) {
    bytes = divide(parameters, 3) + divide(optimizer, 1) + other;
    if (!hasMicroBatches)
      bytes += peakActivations;
    else if (!schedule.splitsBackward && point.virtualStages == 1)
      bytes += peakActivations + divide(peakGradients, 2);
    return bytes * reservedOverLive;
  }
  // Some device has at least the mean.
  double mean = (divide(parameters, 3) + divide(optimizer, 1)) / point.stages;
  bytes = mean;
  unsigned count = point.stages * point.virtualStages;
  if (hasLayers && !point.listsLayers && adding.stages.count(count)) {
    double own =
        (divide(layerParameters, 3) + divide(layerOptimizer, 1)) / point.stages;
    for (ScheduleFacts::Held held : schedule.held)
      bytes = std::max(bytes,
                       own + held.activations * layerActivations / count +
                           held.gradients * divide(layerGradients, 2) / count);
  }
  return bytes * reservedOverLive;
}
