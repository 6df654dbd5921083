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
#include <cmath>
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

static void noteFollowers(ArrayRef<PipelineAction> actions, unsigned lastStage,
                          ScheduleFacts &facts) {
  std::optional<unsigned> last;
  for (const PipelineAction &action : actions) {
    TaskKind::Kind kind =
        action.kind == PipelineAction::Forward          ? TaskKind::Forward
        : action.kind == PipelineAction::BackwardWeight ? TaskKind::Weights
                                                        : TaskKind::Backward;
    unsigned own = TaskKind::get(kind, action.stage == lastStage);
    if (last)
      ++facts.follows[*last][own];
    last = own;
  }
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
  facts.mixesBackward =
      facts.splitsBackward &&
      any_of(schedule->actions, [](ArrayRef<PipelineAction> actions) {
        return any_of(actions, [](const PipelineAction &action) {
          return action.kind == PipelineAction::Backward;
        });
      });
  for (auto [stage, device] : enumerate(schedule->deviceOf))
    facts.isChain &= device == stage % devices;
  for (ArrayRef<PipelineAction> actions : schedule->actions)
    noteHeld(actions, facts);
  const unsigned lastStage = schedule->deviceOf.size() - 1;
  noteFollowers(schedule->actions[schedule->deviceOf[lastStage]], lastStage,
                facts);
  return facts;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Looks at the program of a class.
class TaskBounds::Reader {
public:
  /// With `dropsEnds` collectives before and after loops do not count in parts
  /// of the layers: what they are of may be divided over stages.
  Reader(TraceProgram program, std::vector<NodeTime> times,
         ProgramTimes::Rules rules, bool dropsEnds = false)
      : program(std::move(program)), times(std::move(times)), rules(rules),
        dropsEnds(dropsEnds) {}

  bool findTasks();
  /// A task of all layers, or of a part of them, which has nothing of what
  /// comes before, or after, all layers.
  struct Task {
    const TraceProgram::Call *call;
    bool skipsBefore, skipsAfter;
  };
  TaskTime run(Task task);
  Ticks runAfter(Task first, Task second);
  /// The least of all backward tasks, or of the second halves of them; 0 where
  /// there are none.
  TaskTime runBackward(bool skipsBefore, bool skipsAfter) {
    return runLeast(backward, skipsBefore, skipsAfter, skipsBefore);
  }
  TaskTime runWeights(bool skipsBefore, bool skipsAfter) {
    return runLeast(weights, skipsBefore, skipsAfter, false);
  }
  TaskTime runLeast(ArrayRef<const TraceProgram::Call *> calls,
                    bool skipsBefore, bool skipsAfter, bool asksLate) {
    if (calls.empty())
      return {};
    TaskTime least = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    for (const TraceProgram::Call *call : calls) {
      TaskTime time = run({call, skipsBefore, skipsAfter});
      if (asksLate)
        time.late = runLate({call, true, true});
      least = {std::min(least.task, time.task),
               std::min(least.kernels, time.kernels),
               std::min(least.collectives, time.collectives),
               std::min(least.late, time.late)};
    }
    return least;
  }
  /// A forward task of a part of the layers.
  TaskTime runForward(bool skipsAfter) {
    TaskTime time = run({forward, true, skipsAfter});
    time.late = runLate({forward, true, skipsAfter});
    return time;
  }
  SmallVector<Task, 2> listTasks(unsigned kind) const;
  Ticks runLate(Task task);
  TaskTime runAll();
  void readOrigins();
  void setTimes(std::vector<NodeTime> other) { times = std::move(other); }
  /// Layers of each loop.
  void setLayers(int64_t count) {
    for (uint32_t repeat : loops)
      program.repeats[repeat].count = count;
  }
  double getLayerBytes(TensorCategory category) const;
  double getKeptBytes(double least) const;

  const TraceProgram::Call *forward = nullptr;
  SmallVector<const TraceProgram::Call *, 2> backward, weights;
  int64_t layers = 0; ///< Turns of the loop of each task; 0: several loops.
  bool hasReductions = false; ///< Gradients are reduced in tasks.

private:
  std::optional<uint32_t> findLoop(const TraceProgram::Call &call) const;
  std::vector<NodeTime> getTimes(ArrayRef<Task> tasks) const;
  void runSteps(ProgramTimes &run, Task task,
                std::optional<Ticks> carried) const;
  void runTask(ProgramTimes &run, Task task) const;
  TaskTime getTime(ProgramTimes &run) const;
  static bool isInside(StringRef phase);
  uint32_t getOrigin(uint32_t slot) const;

  TraceProgram program;
  std::vector<NodeTime> times;
  ProgramTimes::Rules rules;
  bool dropsEnds;
  SmallVector<uint32_t, 2> loops;
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

/// A schedule of one device executes, of each micro-batch, a task forward and,
/// in training, one backward and, where that is in halves, another one; the
/// first and the last backward tasks differ from others in what they do with
/// gradients.
bool TaskBounds::Reader::findTasks() {
  if (program.schedules.size() != 1)
    return false;
  const TraceProgram::Schedule &schedule = program.schedules[0];
  ArrayRef<TraceProgram::Step> steps = program.bodies[schedule.body].steps;
  std::map<uint32_t, unsigned> numDone;    // By micro-batch.
  std::map<uint32_t, unsigned> positionOf; // By step.
  for (OrderEntry entry : schedule.order.expand())
    if (steps[entry.step].kind == TraceProgram::Step::Call)
      positionOf[entry.step] = numDone[entry.turn]++;
  std::set<int64_t> counts;
  for (auto [number, step] : enumerate(steps)) {
    if (step.kind == TraceProgram::Step::Node && times[step.index].time)
      return false;
    if (step.kind != TraceProgram::Step::Call)
      continue;
    const TraceProgram::Call &call = program.calls[step.index];
    const unsigned position = positionOf[number];
    if (position > 2 || (position == 0 && forward))
      return false;
    if (position == 0)
      forward = &call;
    else
      (position == 1 ? backward : weights).push_back(&call);
    std::optional<uint32_t> loop = findLoop(call);
    if (loop)
      loops.push_back(*loop);
    counts.insert(loop ? program.repeats[*loop].count : 0);
  }
  if (!forward)
    return false;
  if (counts.size() == 1)
    layers = *counts.begin();
  return true;
}

/// Kernels one after the other, and launches one after the other.
TaskTime TaskBounds::Reader::getTime(ProgramTimes &run) const {
  const Spending &spending = run.getSpending();
  Ticks kernels = std::max(spending.getCompute(), spending.launch);
  return {std::max(run.getClock().compute, kernels), kernels,
          spending.background, 0};
}

static auto makeMeeting() {
  return [](AxisMask, Ticks arrival) { return arrival; };
}

/// Times for tasks that are executed in one run.
std::vector<NodeTime> TaskBounds::Reader::getTimes(ArrayRef<Task> tasks) const {
  std::vector<NodeTime> own = times;
  for (Task task : tasks)
    if (dropsEnds && (task.skipsBefore || task.skipsAfter))
      for (TraceProgram::Step step : program.bodies[task.call->body].steps)
        if (step.kind == TraceProgram::Step::Node &&
            program.nodes[step.index].isColl())
          own[step.index] = {};
  return own;
}

/// What is skipped is not executed at all: to execute it in no time would be to
/// wait for what comes before it. With `carried`, what goes round the loop
/// comes at that time.
void TaskBounds::Reader::runSteps(ProgramTimes &run, Task task,
                                  std::optional<Ticks> carried) const {
  for (TraceProgram::Alias alias : task.call->args)
    run.getValue(alias.to) = run.getValue(alias.from);
  bool isAfter = false;
  for (TraceProgram::Step step : program.bodies[task.call->body].steps) {
    if (step.kind == TraceProgram::Step::Node &&
        (isAfter ? task.skipsAfter : task.skipsBefore))
      continue;
    if (step.kind == TraceProgram::Step::Repeat) {
      isAfter = true;
      if (carried)
        for (TraceProgram::Carry carry : program.repeats[step.index].carries)
          run.getValue(carry.init).time = *carried;
    }
    run.run(step);
  }
}

void TaskBounds::Reader::runTask(ProgramTimes &run, Task task) const {
  const Ticks start = run.getClock().compute;
  const Spending before = run.getSpending();
  runSteps(run, task, std::nullopt);
  run.finishTask(start, before);
}

TaskTime TaskBounds::Reader::run(Task task) {
  ProgramTimes run(program, getTimes(task), rules, 0, makeMeeting());
  runTask(run, task);
  return getTime(run);
}

/// What the second task adds to the first one on an idle device.
Ticks TaskBounds::Reader::runAfter(Task first, Task second) {
  ProgramTimes run(program, getTimes({first, second}), rules, 0, makeMeeting());
  runTask(run, first);
  const Ticks start = run.getClock().compute;
  runTask(run, second);
  return run.getClock().compute - start;
}

/// Of a task with one loop, of which what goes round comes when all else has
/// long been there: from then on.
Ticks TaskBounds::Reader::runLate(Task task) {
  const Ticks late = toTicks(1e4);
  ProgramTimes run(program, getTimes(task), rules, 0, makeMeeting());
  runSteps(run, task, late);
  return std::max<Ticks>(0, run.getClock().compute - late);
}

/// All that are of a kind: backwards differ in what they do with gradients.
SmallVector<TaskBounds::Reader::Task, 2>
TaskBounds::Reader::listTasks(unsigned kind) const {
  const bool isLast = kind % 2;
  if (kind / 2 == TaskKind::Forward)
    return {{forward, true, !isLast}};
  SmallVector<Task, 2> tasks;
  for (const TraceProgram::Call *call :
       kind / 2 == TaskKind::Backward ? backward : weights)
    tasks.push_back({call, !isLast, true});
  return tasks;
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

/// Of states: those that a loop makes, once for each of its turns.
double TaskBounds::Reader::getLayerBytes(TensorCategory category) const {
  double bytes = 0;
  for (const TraceProgram::Repeat &repeat : program.repeats)
    for (TraceProgram::Step step : program.bodies[repeat.body].steps) {
      if (step.kind != TraceProgram::Step::State)
        continue;
      const TraceProgram::State &state = program.states[step.index];
      const TensorTemplate &tensor = program.tensors[state.tensorTemplate];
      if (tensor.category == category)
        bytes += double(tensor.bytes) * program.slotCounts[state.slot] *
                 double(repeat.count);
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
/// of at least so many bytes once.
double TaskBounds::Reader::getKeptBytes(double least) const {
  std::set<uint32_t> returned, origins;
  for (TraceProgram::Alias alias : forward->results)
    returned.insert(alias.from);
  double bytes = 0;
  for (TraceProgram::Stack stack : program.repeats[loops[0]].stacks) {
    if (!returned.count(stack.outer))
      continue;
    uint32_t origin = getOrigin(stack.inner);
    auto it = bytesOf.find(origin);
    if (it != bytesOf.end() && it->second >= least &&
        origins.insert(origin).second)
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
                              bool hasMicroBatches,
                              ArrayRef<unsigned> stageCounts,
                              TaskTimes &times) {
  // Ranks of other classes may be faster, and send earlier.
  auto getSafe = [&](TaskTime time) {
    return isAlone ? time : TaskTime{time.kernels, time.kernels, 0, 0};
  };
  if (!hasMicroBatches) {
    times.whole = getSafe(reader.runAll());
    return;
  }
  if (!reader.forward)
    return;
  TaskTime forward = getSafe(reader.run({reader.forward, false, false})),
           backward = getSafe(reader.runBackward(false, false)),
           weights = getSafe(reader.runWeights(false, false));
  times.whole = {
      forward.task + backward.task + weights.task,
      forward.kernels + backward.kernels + weights.kernels,
      forward.collectives + backward.collectives + weights.collectives, 0};
  const int64_t layers = reader.layers;
  for (unsigned count : stageCounts) {
    if (!layers || layers % count)
      continue;
    reader.setLayers(layers / count);
    times.stages[count] = {getSafe(reader.runForward(/*skipsAfter=*/true)),
                           getSafe(reader.runBackward(true, true)),
                           getSafe(reader.runForward(/*skipsAfter=*/false)),
                           getSafe(reader.runBackward(false, true)),
                           getSafe(reader.runWeights(true, true)),
                           getSafe(reader.runWeights(false, true)),
                           {}};
    if (isAlone && reader.hasReductions)
      measurePairs(reader, times.stages[count]);
  }
  if (layers)
    reader.setLayers(layers);
}

/// Reductions of a task are on their way when the next one starts, and hold up
/// its collectives.
void TaskBounds::measurePairs(Reader &reader, TaskTimes::Stage &stage) {
  const TaskTime *alone[] = {&stage.forward,  &stage.lastForward,
                             &stage.backward, &stage.lastBackward,
                             &stage.weights,  &stage.lastWeights};
  for (unsigned first = 0; first < TaskKind::kCount; ++first)
    for (unsigned second = 0; second < TaskKind::kCount; ++second) {
      Ticks least = INT64_MAX;
      for (Reader::Task before : reader.listTasks(first))
        for (Reader::Task task : reader.listTasks(second))
          least = std::min(least, reader.runAfter(before, task));
      if (least < INT64_MAX)
        stage.after[first][second] =
            std::max<Ticks>(0, least - alone[second]->task);
    }
}

/// Small tensors need not grow with sequences: counts and sums. What is rounded
/// up, such as the places of tokens at experts, grows by less, though by much
/// less than this.
static constexpr double kLeastGrowing = 1 << 20, kGrowingPart = 0.99;

void TaskBounds::measure(const CompileResult &result, const Machine &machine,
                         bool hasMicroBatches, ArrayRef<unsigned> stageCounts,
                         int64_t growth) {
  const TraceBundle &programs = *result.summary.programs;
  // What adds up gradients adds less where they have been reduced.
  Execution withoutAdding = result.execution;
  withoutAdding.gradientBytes = 0;
  withoutAdding.fused.push_back("accumulate");
  Expected<NodeTimes> nodes =
      NodeTimes::get(machine, result.execution, programs);
  Expected<NodeTimes> others = NodeTimes::get(machine, withoutAdding, programs);
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
  const double more = growth == 1 ? 1 : 1 + (growth - 1) * kGrowingPart;
  peakActivations = getBytes(memory.peak, TensorCategory::Activation) * more;
  peakGradients = getBytes(memory.peak, TensorCategory::Gradient);

  const TraceProgram &program = programs.getClasses().front().program;
  usesHost = program.usesHost();
  if (usesHost)
    return;
  bool isAlone = programs.getClasses().size() == 1;
  std::vector<NodeTime> least = nodes->getLeastTimes(program, growth);
  if (Error error = checkSum(getSum(program, least))) {
    refusal = toString(std::move(error));
    return;
  }
  Reader reader(program, std::move(least),
                {result.execution.hostExposed, 0, 0});
  reader.readOrigins();
  if (isAlone && result.strategy.values.training)
    measureUpdate(programs, machine, nodes->getTimes(program));
  if (hasMicroBatches && !reader.findTasks())
    return;
  measureTimes(reader, isAlone, hasMicroBatches, stageCounts, adding);
  reader.setTimes(others->getLeastTimes(program, growth));
  measureTimes(reader, isAlone, hasMicroBatches, stageCounts, reducing);
  if (!reader.layers)
    return;
  hasLayers = true;
  layerActivations = reader.getKeptBytes(growth == 1 ? 0 : kLeastGrowing) *
                     reader.layers * more;
  layerParameters = reader.getLayerBytes(TensorCategory::Parameter);
  layerOptimizer = reader.getLayerBytes(TensorCategory::Optimizer);
  if (optimizer > 0)
    trainedLayers = layerOptimizer / optimizer;
  // What is trained has states.
  if (optimizer > 0)
    layerGradients = peakGradients * layerOptimizer / optimizer;
}

std::optional<TaskTimes>
TaskBounds::measureInside(const CompileResult &result, const Machine &machine,
                          bool hasMicroBatches,
                          ArrayRef<unsigned> stageCounts) {
  const TraceBundle &programs = *result.summary.programs;
  Expected<NodeTimes> nodes =
      NodeTimes::get(machine, result.execution, programs);
  if (!nodes) {
    consumeError(nodes.takeError());
    return std::nullopt;
  }
  const TraceProgram &program = programs.getClasses().front().program;
  if (program.usesHost())
    return std::nullopt;
  std::vector<NodeTime> own = nodes->getTimes(program);
  if (getSum(program, own) >= double(kMostTicks))
    return std::nullopt;
  Reader reader(program, std::move(own), {result.execution.hostExposed, 0, 0},
                /*dropsEnds=*/true);
  reader.hasReductions = true;
  if (hasMicroBatches && !reader.findTasks())
    return std::nullopt;
  TaskTimes times;
  measureTimes(reader, programs.getClasses().size() == 1, hasMicroBatches,
               stageCounts, times);
  return times;
}

/// Gradients are reduced over the same ranks where no expert has ranks of its
/// own: along the axes of data and of context parallelism.
void TaskBounds::measureUpdate(const TraceBundle &programs,
                               const Machine &machine,
                               ArrayRef<NodeTime> times) {
  const TraceProgram &program = programs.getClasses().front().program;
  const RankSpace &space = programs.getSpace();
  std::optional<AxisMask> mask;
  auto get = [&](StringRef key, double missing) {
    return machine.get(key).value_or(missing);
  };
  const Ticks fixed = toTicks(get("device.kernel.fixed", 0));
  for (auto [node, time] : zip_equal(program.nodes, times)) {
    if (node.isComp() && node.kernel != kNone &&
        program.kernels[node.kernel].op == "adam")
      update += std::max<Ticks>(0, time.time - fixed) * node.executions;
    if (!time.isTail || node.collective != CollectiveType::AllReduce)
      continue;
    // Of norms that sequence parallelism divides: these come on top.
    if (auto names = space.getNames(node.axes);
        names.size() == 1 && names.front() == "tp")
      continue;
    if (mask && *mask != node.axes)
      return;
    mask = node.axes;
    gradients += double(node.bytes) * double(node.executions);
  }
  if (!mask || *mask >> kMaxAxes)
    return;
  for (auto [i, axis] : enumerate(space.getAxes())) {
    if (!(*mask >> i & 1))
      continue;
    if (axis.name != "dp" && axis.name != "cp")
      return reducedOver.clear();
    reducedOver.push_back(axis);
  }
  costs.emplace(machine);
  slowdown = get("overlap.collective_slowdown", 1);
  dataHidden = get("overlap.data_hidden", 0);
}

/// A byte of a large buffer takes less than one of a small buffer; that of the
/// size that is best counts. Stages between the ranks only part them further.
Ticks TaskBounds::getReduction(StringRef collective, unsigned data,
                               double bytes) const {
  if (reducedOver.empty())
    return 0;
  auto [it, isNew] = rates.try_emplace({collective == "all_reduce", data});
  if (isNew) {
    GroupPlace place;
    int64_t was = 1, dataStride = INT64_MAX;
    for (const RankSpace::Axis &axis : reducedOver)
      if (axis.name == "dp") {
        was = axis.size;
        dataStride = axis.stride;
      }
    // Where the program has no such ranks it does not say where they are.
    if (was == 1 && data > 1)
      return 0;
    for (const RankSpace::Axis &axis : reducedOver) {
      bool isOutside = axis.stride > dataStride;
      place.add(axis.name == "dp" ? data : axis.size,
                isOutside ? std::max<int64_t>(1, axis.stride / was * data)
                          : axis.stride);
    }
    constexpr unsigned first = 10, last = 42;
    double least = INFINITY;
    for (unsigned power = first; power <= last; ++power) {
      double size = std::ldexp(1., power);
      least =
          std::min(least, costs->getCollective(collective, place, size) / size);
    }
    it->second = least * slowdown * kTicksPerSecond;
  }
  return static_cast<Ticks>(std::min(it->second * bytes, double(kMostTicks)));
}

/// The first device has an equal part of the layers, and is the last to end.
/// Reductions are behind the optimizer where there are several.
Ticks TaskBounds::getUpdate(const PointFacts &point, Ticks window) const {
  if (point.listsLayers || (point.stages > 1 && !hasLayers))
    return 0;
  double part = point.stages == 1 ? 1 : trainedLayers / point.stages;
  double own = update * part / (point.zero >= 1 ? point.shards : 1);
  Ticks tail = 0;
  if (!point.reducesInside)
    tail = getReduction(point.zero >= 1 ? "reduce_scatter" : "all_reduce",
                        point.data, gradients * part) -
           window;
  return std::max({static_cast<Ticks>(own), tail, Ticks(0)});
}

/// Of what takes longer there are no estimates, and bounds say nothing.
static bool isCountable(int64_t count, Ticks each) {
  return double(count) * double(each) < double(kMostTicks);
}

Ticks TaskBounds::getTime(const PointFacts &point,
                          const ScheduleFacts &schedule,
                          const TaskTimes *inside,
                          const TaskTimes *split) const {
  if (usesHost)
    return 0;
  Ticks time = 0;
  auto raise = [&](const TaskTimes &times, const TaskTimes *halves) {
    Ticks window = 0;
    Ticks tasks = getTasks(point, schedule, times, halves, window);
    // What has been done between the tasks that reductions are behind cannot be
    // told from waiting within them.
    tasks +=
        getUpdate(point, static_cast<Ticks>(std::ceil(dataHidden * window)));
    time = std::max(time, tasks);
  };
  const TaskTimes &own = point.reducesInside ? reducing : adding;
  raise(own, nullptr);
  if (inside || split)
    raise(inside ? *inside : own, split);
  // Collectives are one after the other, those of gradients among them.
  auto raiseByCollectives = [&](Ticks collectives) {
    if (isCountable(point.microBatches, collectives))
      time = std::max<Ticks>(time,
                             point.microBatches * collectives / point.stages);
  };
  if (!hasMicroBatches)
    return fixed + time;
  if (point.zero >= 2)
    raiseByCollectives(reducing.whole.collectives +
                       getReduction("reduce_scatter", point.data, gradients));
  if (inside)
    raiseByCollectives(inside->whole.collectives);
  if (split && !schedule.mixesBackward)
    raiseByCollectives(split->whole.collectives);
  return fixed + time;
}

/// A device executes its tasks of all micro-batches in each step. A micro-batch
/// goes through all stages before it begins the next step.
Ticks TaskBounds::getInterval(const PointFacts &point) const {
  if (usesHost)
    return 0;
  const Ticks whole = adding.whole.kernels;
  const int64_t count = point.microBatches;
  if (!hasMicroBatches || point.stages == 1)
    return fixed + count * whole;
  Ticks time = std::max<Ticks>(whole, count * whole / point.stages);
  const unsigned stages = point.stages * point.virtualStages;
  auto it = adding.stages.find(stages);
  if (it == adding.stages.end() || point.listsLayers)
    return fixed + time;
  const TaskTime &forward = it->second.forward, &last = it->second.lastForward;
  const Ticks work =
      count * ((point.virtualStages - 1) * forward.task + last.task);
  const Ticks way = (stages - 1) * forward.late + last.late;
  return fixed + std::max({time, work, way});
}

/// All but the ends of a step. No less than `window` of it are the last tasks
/// of the device that ends last, and what it waits for in them.
Ticks TaskBounds::getTasks(const PointFacts &point,
                           const ScheduleFacts &schedule,
                           const TaskTimes &times, const TaskTimes *split,
                           Ticks &window) const {
  const TaskTime &whole = times.whole;
  const int64_t count = point.microBatches;
  if (!isCountable(count, whole.task))
    return window = 0;
  // The only micro-batch goes through all stages, one after the other.
  if (!hasMicroBatches)
    return window = point.stages == 1 ? whole.task : whole.kernels;
  if (point.stages == 1) {
    Ticks one = schedule.splitsBackward || point.virtualStages > 1
                    ? whole.kernels
                    : whole.task;
    window = one;
    return count * one;
  }
  const unsigned stages = point.stages * point.virtualStages;
  auto it = times.stages.find(stages);
  if (it == times.stages.end() || point.listsLayers)
    return window = count * whole.kernels / point.stages;
  const TaskTimes::Stage &stage = it->second;
  const TaskTimes::Stage *halves = nullptr;
  if (split)
    if (auto half = split->stages.find(stages); half != split->stages.end())
      halves = &half->second;
  // Of backward in halves that nothing is known of only kernels count.
  Ticks one, last;
  TaskTime forward = stage.forward, lastForward = stage.lastForward;
  if (!schedule.splitsBackward) {
    one = stage.forward.task + stage.backward.task;
    last = stage.lastForward.task + stage.lastBackward.task;
  } else if (!halves) {
    one = stage.forward.task + stage.backward.kernels;
    last = stage.lastForward.task + stage.lastBackward.kernels;
  } else {
    forward = halves->forward;
    lastForward = halves->lastForward;
    one = forward.task + halves->backward.task + halves->weights.task;
    last =
        lastForward.task + halves->lastBackward.task + halves->lastWeights.task;
    if (schedule.mixesBackward) {
      one = std::min(one, stage.forward.task + stage.backward.task);
      last = std::min(last, stage.lastForward.task + stage.lastBackward.task);
    }
  }
  // The device of the last stage has others, too.
  Ticks work = count * ((point.virtualStages - 1) * one + last);
  // Before its first task and after its last one a micro-batch is in the first
  // stage of each of the other devices. What a task need not have its input for
  // may be done by then, but on the first device.
  if (schedule.isChain) {
    const TaskTime &first = point.virtualStages == 1 ? lastForward : forward;
    const int64_t others = point.stages - 1;
    work += std::max<Ticks>(0, forward.task + (others - 1) * forward.late -
                                   (first.task - first.late));
    if (!schedule.splitsBackward)
      work += others * stage.backward.late;
  }
  window = work - (count * point.virtualStages - 1) * one;
  // Where only some backwards are split, tasks are of more kinds than are told.
  const TaskTimes::Stage &tasks = halves ? *halves : stage;
  if (schedule.splitsBackward == (halves != nullptr) && !schedule.mixesBackward)
    for (auto [counts, more] : zip_equal(schedule.follows, tasks.after))
      for (auto [times, each] : zip_equal(counts, more))
        work += times * each;
  return work;
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
