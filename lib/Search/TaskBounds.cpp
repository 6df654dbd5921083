//===- TaskBounds.cpp - What strategies take at least ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskReader.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "stg/Support/Phases.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <set>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Notes the states of one device that no other state has more than.
static void noteHeld(ArrayRef<PipelineAction> actions, unsigned lastStage,
                     ScheduleFacts &facts) {
  using Held = ScheduleFacts::Held;
  std::set<unsigned> begun;
  Held now = {0, 0, 0};
  std::map<std::pair<unsigned, unsigned>, unsigned> most; ///< Activations.
  for (const PipelineAction &action : actions) {
    bool ends = action.kind == PipelineAction::BackwardWeight ||
                action.kind == PipelineAction::Backward;
    const unsigned isLast = action.stage == lastStage;
    if (action.kind == PipelineAction::Forward) {
      now.ofLast += isLast;
      unsigned &place = most[{begun.size(), now.ofLast}];
      place = std::max(place, ++now.activations);
    } else if (ends) {
      --now.activations;
      begun.insert(action.stage);
    }
    // The first half of a backward makes the gradients of the loss.
    if (action.kind == PipelineAction::Backward ||
        action.kind == PipelineAction::BackwardInput)
      now.ofLast -= isLast;
  }
  for (auto [others, activations] : most) {
    Held own = {activations, others.first, others.second};
    if (none_of(facts.held, [&](const Held &other) {
          return other.gradients >= own.gradients &&
                 other.activations >= own.activations &&
                 other.ofLast >= own.ofLast;
        }))
      facts.held.push_back(own);
  }
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

ScheduleFacts ScheduleFacts::get(StringRef name,
                                 const ScheduleRequest &request) {
  ScheduleFacts facts;
  Expected<PipelineSchedule> schedule = makeSchedule(name, request);
  if (!schedule) {
    facts.refusal = toString(schedule.takeError());
    return facts;
  }
  facts.splitsBackward = schedule->splitsBackward();
  facts.hasPairs = schedule->hasPairs();
  facts.mixesBackward =
      facts.splitsBackward &&
      any_of(schedule->actions, [](ArrayRef<PipelineAction> actions) {
        return any_of(actions, [](const PipelineAction &action) {
          return action.kind == PipelineAction::Backward;
        });
      });
  for (auto [stage, device] : enumerate(schedule->deviceOf))
    facts.isChain &= device == stage % request.devices;
  const unsigned lastStage = schedule->deviceOf.size() - 1;
  for (ArrayRef<PipelineAction> actions : schedule->actions)
    noteHeld(actions, lastStage, facts);
  noteFollowers(schedule->actions[schedule->deviceOf[lastStage]], lastStage,
                facts);
  return facts;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static double getBytes(const chakra::CategoryBytes &all,
                       TensorCategory category) {
  return static_cast<double>(all.bytes[static_cast<unsigned>(category)]);
}

void TaskBounds::measureTimes(TaskReader &reader, bool hasMicroBatches,
                              ArrayRef<unsigned> stageCounts,
                              TaskTimes &times) {
  if (!hasMicroBatches) {
    times.whole = reader.runAll();
    // A stage replays while it waits for its gradient.
    times.whole.launched -= std::min(reader.sumKernels(&NodeTime::isRecompute),
                                     times.whole.launched);
    if (!reader.areLayersOneChain())
      times.whole.launched = 0;
    times.forward =
        std::min(reader.sumKernels(&NodeTime::isForward), times.whole.launched);
    return;
  }
  if (!reader.forward)
    return;
  TaskTime forward = reader.run({reader.forward, false, false}),
           backward = reader.runBackward(false, false),
           weights = reader.runWeights(false, false);
  times.whole = {forward.task + backward.task + weights.task,
                 forward.kernels + backward.kernels + weights.kernels,
                 forward.collectives + backward.collectives +
                     weights.collectives,
                 0, forward.launched + backward.launched + weights.launched};
  const int64_t layers = reader.layers;
  for (unsigned count : stageCounts) {
    if (!layers || layers % count) {
      if (auto stage = reader.runStages(count))
        times.stages[count] = *stage;
      continue;
    }
    reader.setLayers(layers / count);
    times.stages[count] = {reader.runForward(/*skipsAfter=*/true),
                           reader.runBackward(true, true),
                           reader.runForward(/*skipsAfter=*/false),
                           reader.runBackward(false, true),
                           reader.runWeights(true, true),
                           reader.runWeights(false, true),
                           {}};
    if (reader.hasReductions)
      measurePairs(reader, times.stages[count]);
  }
  if (layers)
    reader.setLayers(layers);
  if (reader.areLayersOneChain())
    return;
  times.whole.launched = 0;
  for (auto &entry : times.stages)
    for (TaskTime *task : {&entry.second.forward, &entry.second.lastForward,
                           &entry.second.backward, &entry.second.lastBackward})
      task->late = 0;
}

/// The class whose kernels take the most: no step ends before its ranks.
static size_t findSlowest(const TraceBundle &programs, NodeTimes &nodes) {
  ArrayRef<TraceBundle::Class> classes = programs.getClasses();
  if (classes.size() == 1)
    return 0;
  size_t slowest = 0;
  double most = -1;
  for (auto [number, own] : enumerate(classes)) {
    double kernels = 0;
    for (auto [node, time] :
         zip_equal(own.program.nodes, nodes.getTimes(own.program)))
      if (node.isComp())
        kernels += double(time.time) * double(node.executions);
    if (kernels > most) {
      most = kernels;
      slowest = number;
    }
  }
  return slowest;
}

/// Reductions of a task are on their way when the next one starts, and hold up
/// its collectives.
void TaskBounds::measurePairs(TaskReader &reader, TaskTimes::Stage &stage) {
  const TaskTime *alone[] = {&stage.forward,  &stage.lastForward,
                             &stage.backward, &stage.lastBackward,
                             &stage.weights,  &stage.lastWeights};
  for (unsigned first = 0; first < TaskKind::kCount; ++first)
    for (unsigned second = 0; second < TaskKind::kCount; ++second) {
      Ticks least = INT64_MAX;
      for (TaskReader::Task before : reader.listTasks(first))
        for (TaskReader::Task task : reader.listTasks(second))
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

Expected<ShapeProgram> ShapeProgram::get(const CompileResult &result,
                                         const Machine &machine) {
  const TraceBundle &programs = *result.summary.programs;
  ShapeProgram shape(result, machine);
  shape.withoutAdding = std::make_unique<Execution>(result.execution);
  shape.withoutAdding->gradientBytes = 0;
  shape.withoutAdding->fused.push_back("accumulate");
  Expected<NodeTimes> adding =
      NodeTimes::get(machine, result.execution, programs);
  if (!adding)
    return adding.takeError();
  Expected<NodeTimes> reducing =
      NodeTimes::get(machine, *shape.withoutAdding, programs);
  if (!reducing)
    return reducing.takeError();
  shape.adding.emplace(std::move(*adding));
  shape.reducing.emplace(std::move(*reducing));
  shape.slowest = findSlowest(programs, *shape.adding);
  return std::move(shape);
}

void TaskBounds::measure(ShapeProgram &shape, bool hasMicroBatches,
                         ArrayRef<unsigned> stageCounts, int64_t growth) {
  const CompileResult &result = *shape.result;
  const Machine &machine = *shape.machine;
  const TraceBundle &programs = *result.summary.programs;
  this->hasMicroBatches = hasMicroBatches;
  auto get = [&](StringRef key) { return machine.get(key).value_or(0); };
  fixed = toTicks(get("host.step"));
  reservedOverLive = result.execution.reservedOverLive;

  const chakra::MemoryTotals &memory =
      result.summary.classes[shape.slowest].totals.memory;
  parameters = getBytes(memory.persistent, TensorCategory::Parameter);
  optimizer = getBytes(memory.persistent, TensorCategory::Optimizer);
  other = static_cast<double>(memory.persistent.getTotal()) - parameters -
          optimizer;
  const double more = growth == 1 ? 1 : 1 + (growth - 1) * kGrowingPart;
  peakActivations = getBytes(memory.peak, TensorCategory::Activation) * more;
  peakGradients = getBytes(memory.peak, TensorCategory::Gradient);

  const TraceProgram &program = programs.getClasses()[shape.slowest].program;
  StringRef peakNode = result.summary.classes[shape.slowest].totals.peakNode;
  peaksInUpdate = any_of(program.nodes, [&](const NodeTemplate &node) {
    return node.phase == kOptimizerPhase && peakNode.ends_with(node.name);
  });
  usesHost = program.usesHost();
  if (usesHost)
    return;
  std::vector<NodeTime> least = shape.adding->getLeastTimes(program, growth);
  if (Error error = checkSum(getSum(program, least))) {
    refusal = toString(std::move(error));
    return;
  }
  TaskReader reader(program, std::move(least),
                    {result.execution.hostExposed, 0, 0},
                    programs.getPartition().getAxes());
  reader.readOrigins();
  if (result.strategy.values.training)
    measureUpdate(programs, program, machine, shape.adding->getTimes(program));
  if (hasMicroBatches && !reader.findTasks())
    return;
  measureTimes(reader, hasMicroBatches, stageCounts, adding);
  reader.setTimes(shape.reducing->getLeastTimes(program, growth));
  measureTimes(reader, hasMicroBatches, stageCounts, reducing);
  const double smallest = growth == 1 ? 0 : kLeastGrowing;
  stageBytes = reader.getStageBytes(stageCounts, smallest);
  endActivations = reader.getEndBytes(smallest) * more;
  for (auto &[count, bytes] : stageBytes)
    bytes.activations *= more;
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
  const TraceProgram &program =
      programs.getClasses()[findSlowest(programs, *nodes)].program;
  if (program.usesHost())
    return std::nullopt;
  std::vector<NodeTime> own = nodes->getTimes(program);
  if (getSum(program, own) >= double(kMostTicks))
    return std::nullopt;
  TaskReader reader(program, std::move(own),
                    {result.execution.hostExposed, 0, 0},
                    programs.getPartition().getAxes(), /*dropsEnds=*/true);
  reader.hasReductions = true;
  if (hasMicroBatches && !reader.findTasks())
    return std::nullopt;
  TaskTimes times;
  measureTimes(reader, hasMicroBatches, stageCounts, times);
  return times;
}

/// Gradients are reduced over the same ranks where no expert has ranks of its
/// own: along the axes of data and of context parallelism.
void TaskBounds::measureUpdate(const TraceBundle &programs,
                               const TraceProgram &program,
                               const Machine &machine,
                               ArrayRef<NodeTime> times) {
  const RankSpace &space = programs.getSpace();
  std::optional<AxisMask> mask;
  auto get = [&](StringRef key, double missing) {
    return machine.get(key).value_or(missing);
  };
  const Ticks fixed = toTicks(get("device.kernel.fixed", 0));
  for (auto [node, time] : zip_equal(program.nodes, times)) {
    if (node.isComp() && node.kernel != kNone &&
        isOptimizerStep(program.kernels[node.kernel].op)) {
      update += std::max<Ticks>(0, time.time - fixed) * node.executions;
      steps += node.executions;
    }
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
  this->machine = &machine;
  slowdown = get("overlap.collective_slowdown", 1);
  dataHidden = get("overlap.data_hidden", 0);
}

/// A byte of a large buffer takes less than one of a small buffer; that of the
/// size that is best counts. Stages between the ranks only part them further.
Ticks TaskBounds::getReduction(StringRef collective, const PointFacts &point,
                               double bytes) const {
  if (reducedOver.empty())
    return 0;
  const uint32_t data = point.data;
  auto [it, isNew] =
      rates.try_emplace({collective == "all_reduce", data, point.ranks});
  if (isNew) {
    CollectiveCosts costs(*machine, /*hasDirect=*/false, point.ranks);
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
          std::min(least, costs.getCollective(collective, place, size) / size);
    }
    it->second = least * slowdown * kTicksPerSecond;
  }
  return static_cast<Ticks>(std::min(it->second * bytes, double(kMostTicks)));
}

/// What each virtual stage has at least; null: stages have other layers than is
/// known.
const LayerBytes *TaskBounds::findStage(const PointFacts &point) const {
  auto it = stageBytes.find(point.stages * point.virtualStages);
  return it == stageBytes.end() || point.listsLayers ? nullptr : &it->second;
}

/// The first device has its part of the layers, and is the last to end.
/// Reductions are behind the optimizer where there are several.
Ticks TaskBounds::getUpdate(const PointFacts &point, Ticks window) const {
  double part = 1;
  if (point.stages > 1) {
    const LayerBytes *stage = findStage(point);
    if (!stage || optimizer <= 0)
      return 0;
    part = point.virtualStages * stage->optimizer / optimizer;
  }
  double own = update * part;
  // Each step of a shard is rounded by itself.
  if (point.zero >= 1)
    own = own / point.shards - double(steps) * part;
  Ticks tail = 0;
  if (!point.reducesInside)
    tail = getReduction(point.zero >= 1 ? "reduce_scatter" : "all_reduce",
                        point, gradients * part) -
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
                       getReduction("reduce_scatter", point, gradients));
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
  Ticks time =
      std::max<Ticks>(adding.whole.launched, count * whole / point.stages);
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
  if (!hasMicroBatches && point.stages == 1)
    return window = whole.task;
  // The only micro-batch goes through all stages, one after the other, each of
  // which has launched its part; second halves of backwards are beside the
  // first halves of other stages.
  if (!hasMicroBatches) {
    Ticks way = whole.launched;
    if (schedule.splitsBackward)
      way = times.forward + (way - times.forward) / point.stages;
    return window = std::max<Ticks>(way, whole.kernels / point.stages);
  }
  // Of two streams each is executed in order, whatever it is beside.
  if (schedule.hasPairs)
    return window = count * std::max(whole.kernels, whole.collectives) /
                    point.stages;
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
  const bool hasPeak = !peaksInUpdate || point.zero == 0;
  const double peakActivations = hasPeak ? this->peakActivations : 0,
               peakGradients = hasPeak ? this->peakGradients : 0;
  double bytes = 0;
  if (point.stages == 1) {
    bytes = divide(parameters, 3) + divide(optimizer, 1) + other;
    if (!hasMicroBatches)
      bytes += peakActivations;
    else if (!schedule.splitsBackward && point.virtualStages == 1)
      bytes += peakActivations + divide(peakGradients, 2);
    return bytes * reservedOverLive;
  }
  // Some device has at least the mean, of the only micro-batch at its peak,
  // too.
  bytes = (divide(parameters, 3) + divide(optimizer, 1) +
           (hasMicroBatches ? 0 : peakActivations)) /
          point.stages;
  if (const LayerBytes *stage = findStage(point)) {
    double own = (divide(stage->parameters, 3) + divide(stage->optimizer, 1)) *
                 point.virtualStages;
    // What is trained has states.
    double gradients =
        optimizer > 0 ? peakGradients * stage->optimizer / optimizer : 0;
    for (ScheduleFacts::Held held : schedule.held)
      bytes = std::max(bytes, own + held.activations * stage->activations +
                                  held.ofLast * endActivations +
                                  held.gradients * divide(gradients, 2));
  }
  return bytes * reservedOverLive;
}
