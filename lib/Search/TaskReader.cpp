//===- TaskReader.cpp - Executes tasks by themselves ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskReader.h"
#include "stg/Support/Phases.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace stg;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

bool TaskReader::isInside(StringRef phase) { return isOfMicroBatch(phase); }

/// The only loop among the steps of a task.
std::optional<uint32_t>
TaskReader::findLoop(const TraceProgram::Call &call) const {
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
bool TaskReader::findTasks() {
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
  findLayers();
  return true;
}

/// Kernels one after the other, and launches one after the other.
TaskTime TaskReader::getTime(ProgramTimes &run) const {
  const Spending &spending = run.getSpending();
  Ticks kernels = std::max(spending.getCompute(), spending.launch);
  return {std::max(run.getClock().compute, kernels), kernels,
          spending.background, 0, spending.getCompute()};
}

/// No class waits for another one: all of them have come to each collective,
/// and have sent what they will send.
std::unique_ptr<ProgramTimes>
TaskReader::begin(std::vector<NodeTime> times) const {
  auto run = std::make_unique<ProgramTimes>(
      program, std::move(times), rules, 0,
      [](AxisMask, Ticks arrival) { return arrival; });
  run->setMessaging(isFromOthers, [run = run.get()](uint32_t node) {
    run->setOutputs(node, {});
  });
  return run;
}

/// Times for tasks that are executed in one run.
std::vector<NodeTime> TaskReader::getTimes(ArrayRef<Task> tasks) const {
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
void TaskReader::runSteps(ProgramTimes &run, Task task,
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

void TaskReader::runTask(ProgramTimes &run, Task task) const {
  const Ticks start = run.getClock().compute;
  const Spending before = run.getSpending();
  runSteps(run, task, std::nullopt);
  run.finishTask(start, before);
}

TaskTime TaskReader::run(Task task) {
  auto run = begin(getTimes(task));
  runTask(*run, task);
  return getTime(*run);
}

static TaskTime getLeast(const TaskTime &lhs, const TaskTime &rhs) {
  return {std::min(lhs.task, rhs.task), std::min(lhs.kernels, rhs.kernels),
          std::min(lhs.collectives, rhs.collectives),
          std::min(lhs.late, rhs.late), std::min(lhs.launched, rhs.launched)};
}

TaskTime TaskReader::runLeast(ArrayRef<const TraceProgram::Call *> calls,
                              bool skipsBefore, bool skipsAfter,
                              bool asksLate) {
  std::optional<TaskTime> least;
  for (const TraceProgram::Call *call : calls) {
    TaskTime own = run({call, skipsBefore, skipsAfter});
    if (asksLate)
      own.late = runLate({call, true, true});
    least = least ? getLeast(*least, own) : own;
  }
  return least.value_or(TaskTime{});
}

/// What the second task adds to the first one on an idle device.
Ticks TaskReader::runAfter(Task first, Task second) {
  auto run = begin(getTimes({first, second}));
  runTask(*run, first);
  const Ticks start = run->getClock().compute;
  runTask(*run, second);
  return run->getClock().compute - start;
}

/// Of a task with one loop, of which what goes round comes when all else has
/// long been there: from then on.
Ticks TaskReader::runLate(Task task) {
  const Ticks late = toTicks(1e4);
  auto run = begin(getTimes(task));
  runSteps(*run, task, late);
  return std::max<Ticks>(0, run->getClock().compute - late);
}

/// All that are of a kind: backwards differ in what they do with gradients.
SmallVector<TaskReader::Task, 2> TaskReader::listTasks(unsigned kind) const {
  const bool isLast = kind % 2;
  if (kind / 2 == TaskKind::Forward)
    return {{forward, true, !isLast}};
  SmallVector<Task, 2> tasks;
  for (const TraceProgram::Call *call :
       kind / 2 == TaskKind::Backward ? backward : weights)
    tasks.push_back({call, !isLast, true});
  return tasks;
}

Ticks TaskReader::sumKernels(bool NodeTime::*kind) const {
  Ticks sum = 0;
  for (auto [node, time] : zip_equal(program.nodes, times))
    if (node.isComp() && time.*kind)
      sum += time.time * static_cast<Ticks>(node.executions);
  return sum;
}

/// All but what is before the first forward and after the last backward.
TaskTime TaskReader::runAll() {
  std::vector<NodeTime> own = times;
  for (auto [node, time] : zip_equal(program.nodes, own))
    if (!isInside(node.phase))
      time = {};
  auto run = begin(std::move(own));
  for (TraceProgram::Step step : program.bodies.front().steps)
    if (step.kind != TraceProgram::Step::Schedule)
      run->run(step);
  return getTime(*run);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static bool isLoop(TraceProgram::Step step) {
  return step.kind == TraceProgram::Step::Repeat;
}

/// Loops over layers read the parameters of each, or make them. Others are in a
/// layer, as the ring of an attention is.
static bool isOverLayers(const TraceProgram &program, TraceProgram::Step step) {
  if (!isLoop(step))
    return false;
  const TraceProgram::Repeat &repeat = program.repeats[step.index];
  return !repeat.slices.empty() ||
         any_of(program.bodies[repeat.body].steps,
                [&](TraceProgram::Step inner) {
                  return inner.kind == TraceProgram::Step::State ||
                         isOverLayers(program, inner);
                });
}

namespace {
/// The slots that are made of what loops over layers have carried.
class MadeByLayers {
public:
  explicit MadeByLayers(const TraceProgram &program) : program(program) {}

  /// False for loops over layers that start with nothing that earlier ones have
  /// made.
  bool add(TraceProgram::Step step) {
    switch (step.kind) {
    case TraceProgram::Step::Node:
    case TraceProgram::Step::Series:
      addNode(program.wiring[program.getNode(step)]);
      return true;
    case TraceProgram::Step::Alias:
      pass(program.aliases[step.index]);
      return true;
    case TraceProgram::Step::Call:
      addCall(program.calls[step.index]);
      return true;
    case TraceProgram::Step::Repeat:
      return addLoop(program.repeats[step.index], isOverLayers(program, step));
    case TraceProgram::Step::State:
    case TraceProgram::Step::Schedule:
      return true;
    }
    llvm_unreachable("unknown step");
  }

private:
  void addNode(const TraceProgram::NodeWiring &wiring) {
    if (any_of(wiring.reads, [&](TraceProgram::Slot slot) {
          return slots.contains(slot.index);
        }))
      for (const TraceProgram::Output &output : wiring.outputs)
        slots.insert(output.slot.index);
  }
  void pass(TraceProgram::Alias alias) {
    if (slots.contains(alias.from))
      slots.insert(alias.to);
  }
  void addCall(const TraceProgram::Call &call) {
    if (any_of(call.args, [&](TraceProgram::Alias alias) {
          return slots.contains(alias.from);
        }))
      for (TraceProgram::Alias alias : call.results)
        slots.insert(alias.to);
  }
  bool addLoop(const TraceProgram::Repeat &repeat, bool isOverLayers) {
    bool goesOn = any_of(repeat.carries, [&](TraceProgram::Carry carry) {
      return slots.contains(carry.init);
    });
    // Loops that carry nothing make gradients or parameters of all layers.
    bool isOfChain = isOverLayers && !repeat.carries.empty();
    bool isFirst = !std::exchange(hasLoop, hasLoop || isOfChain);
    if (goesOn || isOfChain)
      for (TraceProgram::Carry carry : repeat.carries)
        slots.insert(carry.result);
    if (isOverLayers)
      for (TraceProgram::Stack stack : repeat.stacks)
        slots.insert(stack.outer);
    return !isOfChain || isFirst || goesOn;
  }

  const TraceProgram &program;
  DenseSet<uint32_t> slots;
  bool hasLoop = false;
};
} // namespace

bool TaskReader::areLayersOneChain() const {
  const uint32_t body = forward ? forward->body : 0;
  MadeByLayers made(program);
  return all_of(program.bodies[body].steps,
                [&](TraceProgram::Step step) { return made.add(step); });
}

/// The loops whose turns are the layers of a turn of this one: itself, if more
/// than collectives is in it outside of such loops.
static SmallVector<LayerSequence::Kind, 2>
listKinds(const TraceProgram &program, uint32_t repeat) {
  SmallVector<LayerSequence::Kind, 2> inner;
  for (TraceProgram::Step step :
       program.bodies[program.repeats[repeat].body].steps) {
    if (isOverLayers(program, step))
      inner.push_back({step.index, program.repeats[step.index].count});
    else if (step.kind != TraceProgram::Step::Alias &&
             !(step.kind == TraceProgram::Step::Node &&
               program.nodes[step.index].isColl()))
      return {{repeat, 1}};
  }
  if (inner.empty())
    return {{repeat, 1}};
  return inner;
}

void LayerSequence::addLoop(const TraceProgram &program, uint32_t repeat,
                            ArrayRef<Kind> ofTurn) {
  Loop loop = {repeat, program.repeats[repeat].count, size()};
  loop.numKinds = ofTurn.size();
  std::vector<unsigned> turn;
  for (Kind kind : ofTurn) {
    turn.insert(turn.end(), kind.count, kinds.size());
    kinds.push_back(kind);
  }
  loop.layersOfTurn = static_cast<int64_t>(turn.size());
  loops.push_back(loop);
  for (int64_t i = 0; i < loop.turns; ++i)
    append_range(layers, turn);
}

/// Where kernels are between loops over layers, a turn of what is around them
/// is no layer. That does not matter if stages have whole turns, as those of
/// one loop.
std::optional<LayerSequence> LayerSequence::get(const TraceProgram &program,
                                                uint32_t body) {
  LayerSequence result;
  for (TraceProgram::Step step : program.bodies[body].steps)
    if (isOverLayers(program, step))
      result.addLoop(program, step.index, listKinds(program, step.index));
  auto hasLoops = [&](Kind kind) {
    return any_of(
        program.bodies[program.repeats[kind.repeat].body].steps,
        [&](TraceProgram::Step step) { return isOverLayers(program, step); });
  };
  if (result.loops.empty() ||
      (result.kinds.size() > 1 && any_of(result.kinds, hasLoops)))
    return std::nullopt;
  return result;
}

std::optional<LayerSequence>
LayerSequence::getReverse(const TraceProgram &program, uint32_t body) const {
  LayerSequence result;
  for (TraceProgram::Step step : program.bodies[body].steps) {
    if (!isOverLayers(program, step))
      continue;
    if (result.loops.size() == loops.size())
      return std::nullopt;
    auto own = listKinds(program, step.index);
    const size_t numKinds =
        loops[loops.size() - 1 - result.loops.size()].numKinds;
    if (own.size() == 2 * numKinds) {
      for (size_t i = 0; i < numKinds; ++i) {
        Kind &kind = own[own.size() - 1 - i];
        if (kind.count != own[i].count)
          return std::nullopt;
        kind.replay = own[i].repeat;
      }
      own.erase(own.begin(), own.begin() + numKinds);
    }
    result.addLoop(program, step.index, own);
  }
  if (!result.isReverseOf(*this))
    return std::nullopt;
  return result;
}

bool LayerSequence::isLike(const LayerSequence &other) const {
  return equal(loops, other.loops,
               [](const Loop &lhs, const Loop &rhs) {
                 return std::tie(lhs.turns, lhs.first, lhs.layersOfTurn) ==
                        std::tie(rhs.turns, rhs.first, rhs.layersOfTurn);
               }) &&
         layers == other.layers;
}

bool LayerSequence::isReverseOf(const LayerSequence &other) const {
  if (size() != other.size() || kinds.size() != other.kinds.size() ||
      loops.size() != other.loops.size())
    return false;
  for (auto [own, theirs] : zip_equal(loops, reverse(other.loops)))
    if (own.turns != theirs.turns || own.layersOfTurn != theirs.layersOfTurn)
      return false;
  for (auto [own, theirs] : zip_equal(layers, reverse(other.layers)))
    if (own != kinds.size() - 1 - theirs)
      return false;
  return true;
}

void TaskReader::findLayers() {
  auto hasCalls = [&](const TraceProgram::Call *call) {
    return any_of(program.bodies[call->body].steps,
                  [](TraceProgram::Step step) {
                    return step.kind == TraceProgram::Step::Call;
                  });
  };
  auto layers = LayerSequence::get(program, forward->body);
  if (!layers || hasCalls(forward))
    return;
  for (const TraceProgram::Call *call :
       concat<const TraceProgram::Call *>(backward, weights)) {
    auto own = layers->getReverse(program, call->body);
    if (!own || hasCalls(call))
      return sequences.clear();
    sequences[call] = std::move(*own);
  }
  sequences[forward] = std::move(*layers);
}

/// One after the other.
Ticks TaskReader::getKernels(uint32_t body) const {
  Ticks sum = 0;
  for (TraceProgram::Step step : program.bodies[body].steps) {
    if (step.kind == TraceProgram::Step::Repeat) {
      const TraceProgram::Repeat &repeat = program.repeats[step.index];
      sum += repeat.count * getKernels(repeat.body);
    } else if (step.kind == TraceProgram::Step::Call) {
      sum += getKernels(program.calls[step.index].body);
    } else if (step.kind == TraceProgram::Step::Node &&
               program.nodes[step.index].isComp()) {
      sum += times[step.index].time;
    }
  }
  return sum;
}

/// The kernels of what a task has behind its loops, or before them.
Ticks TaskReader::getEnds(const TraceProgram::Call &call, bool isAfter) const {
  Ticks sum = 0;
  for (TraceProgram::Step step : program.bodies[call.body].steps) {
    if (step.kind == TraceProgram::Step::Repeat) {
      if (!isAfter)
        break;
      sum = 0;
    } else if (step.kind == TraceProgram::Step::Node &&
               program.nodes[step.index].isComp()) {
      sum += times[step.index].time;
    }
  }
  return sum;
}

/// From when what goes round it comes, which is long after all else, on. What
/// nothing goes round says nothing.
Ticks TaskReader::runLoop(const TraceProgram::Call &call, uint32_t number,
                          int64_t turns) {
  TraceProgram::Repeat &repeat = program.repeats[number];
  if (repeat.carries.empty())
    return 0;
  auto [it, isNew] = loopTimes.try_emplace({number, turns});
  if (!isNew)
    return it->second;
  const Ticks late = toTicks(1e4);
  const int64_t count = repeat.count;
  repeat.count = turns;
  // What loops before it would have made ahead is made before what comes late.
  program.linkRepeats(number);
  auto run = begin(times);
  for (TraceProgram::Alias alias : call.args)
    run->getValue(alias.to) = run->getValue(alias.from);
  for (TraceProgram::Carry carry : repeat.carries)
    run->getValue(carry.init).time = late;
  run->run({TraceProgram::Step::Repeat, number});
  repeat.count = count;
  program.linkRepeats();
  return it->second = std::max<Ticks>(0, run->getClock().compute - late);
}

/// Layers from `first` on until before `last`, in the order of forward. Of each
/// loop the whole turns, and of others the layers of one kind in a row, are
/// executed from an input on that comes late: no matter what is before them,
/// they take no less.
TaskTime TaskReader::runPart(const TraceProgram::Call &call, int64_t first,
                             int64_t last) {
  const LayerSequence &own = sequences[&call];
  if (&call != forward)
    std::tie(first, last) = std::pair(own.size() - last, own.size() - first);
  TaskTime time;
  Ticks needsNoInput = 0; // Of `time.task`, at most.
  auto run = [&](uint32_t repeat, int64_t turns) {
    const Ticks kernels = turns * getKernels(program.repeats[repeat].body);
    time.kernels += kernels;
    const Ticks late = runLoop(call, repeat, turns);
    time.task += std::max(late, kernels);
    needsNoInput += std::max(late, kernels) - late;
  };
  auto runLayers = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin, next; i < end; i = next) {
      const unsigned number = own.layers[i];
      for (next = i; next < end && own.layers[next] == number;)
        ++next;
      const LayerSequence::Kind &kind = own.kinds[number];
      if (kind.replay != kNone) {
        const Ticks before = time.task;
        run(kind.replay, next - i);
        needsNoInput += time.task - before;
      }
      run(kind.repeat, next - i);
    }
  };
  for (const LayerSequence::Loop &loop : own.loops) {
    const int64_t each = loop.layersOfTurn;
    const int64_t begin = std::max(first, loop.first);
    const int64_t end = std::min(last, loop.first + loop.turns * each);
    if (begin >= end)
      continue;
    const int64_t firstTurn = (begin - loop.first + each - 1) / each;
    const int64_t lastTurn = (end - loop.first) / each;
    if (firstTurn >= lastTurn) {
      runLayers(begin, end);
      continue;
    }
    runLayers(begin, loop.first + firstTurn * each);
    run(loop.repeat, lastTurn - firstTurn);
    runLayers(loop.first + lastTurn * each, end);
  }
  time.late = std::max<Ticks>(0, time.task - needsNoInput);
  return time;
}

TaskTime TaskReader::runLeastPart(ArrayRef<const TraceProgram::Call *> calls,
                                  int64_t first, int64_t last) {
  std::optional<TaskTime> least;
  for (const TraceProgram::Call *call : calls) {
    TaskTime own = runPart(*call, first, last);
    least = least ? getLeast(*least, own) : own;
  }
  return least.value_or(TaskTime{});
}

std::optional<TaskTimes::Stage> TaskReader::runStages(unsigned count) {
  auto layers = sequences.find(forward);
  if (layers == sequences.end() || layers->second.size() % count)
    return std::nullopt;
  const int64_t each = layers->second.size() / count;
  auto addEnds = [&](TaskTime time, ArrayRef<const TraceProgram::Call *> calls,
                     bool isAfter) {
    Ticks least = calls.empty() ? 0 : INT64_MAX;
    for (const TraceProgram::Call *call : calls)
      least = std::min(least, getEnds(*call, isAfter));
    for (Ticks TaskTime::*part :
         {&TaskTime::task, &TaskTime::kernels, &TaskTime::late})
      time.*part += least;
    return time;
  };
  TaskTimes::Stage result;
  for (unsigned stage = 0; stage < count; ++stage) {
    const int64_t first = stage * each, last = first + each;
    TaskTime own[] = {runLeastPart({forward}, first, last),
                      runLeastPart(backward, first, last),
                      runLeastPart(weights, first, last)};
    TaskTime *least[] = {&result.forward, &result.backward, &result.weights};
    for (auto [known, time] : zip_equal(least, own))
      *known = stage == 0 ? time : getLeast(*known, time);
    if (stage + 1 < count)
      continue;
    result.lastForward = addEnds(own[0], {forward}, /*isAfter=*/true);
    result.lastBackward = addEnds(own[1], backward, /*isAfter=*/false);
    result.lastWeights = addEnds(own[2], weights, /*isAfter=*/false);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Memory of layers
//===----------------------------------------------------------------------===//

/// What a body makes of states, with the loops in it.
double TaskReader::getStateBytes(uint32_t body, TensorCategory category) const {
  double bytes = 0;
  for (TraceProgram::Step step : program.bodies[body].steps) {
    if (step.kind == TraceProgram::Step::Repeat) {
      const TraceProgram::Repeat &repeat = program.repeats[step.index];
      bytes += double(repeat.count) * getStateBytes(repeat.body, category);
    }
    if (step.kind != TraceProgram::Step::State)
      continue;
    const TraceProgram::State &state = program.states[step.index];
    const TensorTemplate &tensor = program.tensors[state.tensorTemplate];
    if (tensor.category == category)
      bytes += double(tensor.bytes) * program.slotCounts[state.slot];
  }
  return bytes;
}

void TaskReader::readOrigins() {
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
uint32_t TaskReader::getOrigin(uint32_t slot) const {
  std::set<uint32_t> seen;
  while (seen.insert(slot).second) {
    auto it = from.find(slot);
    if (it == from.end())
      break;
    slot = it->second;
  }
  return slot;
}

/// By kind of layer; none where these cannot be told. What the loops of forward
/// stack for backward counts once, by the tensor that is stacked.
std::vector<LayerBytes> TaskReader::getLayerBytes(double least) const {
  auto tasks = sequences.find(forward);
  auto states = LayerSequence::get(program, /*body=*/0);
  if (tasks == sequences.end() || !states || !states->isLike(tasks->second))
    return {};
  std::vector<LayerBytes> result(states->kinds.size());
  for (auto [kind, own] : zip_equal(states->kinds, result)) {
    const uint32_t body = program.repeats[kind.repeat].body;
    own.parameters = getStateBytes(body, TensorCategory::Parameter);
    own.optimizer = getStateBytes(body, TensorCategory::Optimizer);
  }
  std::set<uint32_t> kept, origins;
  for (TraceProgram::Alias alias : forward->results)
    kept.insert(alias.from);
  // What a loop stacks of stacks that a loop in it makes.
  for (const LayerSequence::Loop &loop : tasks->second.loops)
    for (TraceProgram::Stack stack : program.repeats[loop.repeat].stacks)
      if (kept.count(stack.outer))
        kept.insert(getOrigin(stack.inner));
  for (auto [kind, own] : zip_equal(tasks->second.kinds, result))
    for (TraceProgram::Stack stack : program.repeats[kind.repeat].stacks) {
      if (!kept.count(stack.outer))
        continue;
      const uint32_t origin = getOrigin(stack.inner);
      auto it = bytesOf.find(origin);
      if (it != bytesOf.end() && it->second >= least &&
          origins.insert(origin).second)
        own.activations += it->second;
    }
  return result;
}

double TaskReader::getEndBytes(double least) const {
  if (!forward)
    return 0;
  std::set<uint32_t> made, origins;
  for (TraceProgram::Step step : program.bodies[forward->body].steps) {
    if (isLoop(step))
      made.clear();
    if (step.kind == TraceProgram::Step::Node)
      for (const TraceProgram::Output &output :
           program.wiring[step.index].outputs)
        made.insert(output.slot.index);
  }
  double bytes = 0;
  for (TraceProgram::Alias alias : forward->results) {
    const uint32_t origin = getOrigin(alias.from);
    auto it = bytesOf.find(origin);
    if (made.count(origin) && it != bytesOf.end() && it->second >= least &&
        origins.insert(origin).second)
      bytes += it->second;
  }
  return bytes;
}

std::map<unsigned, LayerBytes>
TaskReader::getStageBytes(ArrayRef<unsigned> stageCounts, double least) const {
  std::map<unsigned, LayerBytes> result;
  const std::vector<LayerBytes> bytesOfKind = getLayerBytes(least);
  if (bytesOfKind.empty())
    return result;
  const LayerSequence &own = sequences.at(forward);
  for (unsigned count : stageCounts) {
    if (own.size() % count)
      continue;
    const int64_t each = own.size() / count;
    LayerBytes fewest = {INFINITY, INFINITY, INFINITY};
    for (int64_t first = 0; first < own.size(); first += each) {
      LayerBytes sum;
      for (int64_t i = first; i < first + each; ++i) {
        const LayerBytes &layer = bytesOfKind[own.layers[i]];
        sum.parameters += layer.parameters;
        sum.optimizer += layer.optimizer;
        sum.activations += layer.activations;
      }
      fewest = {std::min(fewest.parameters, sum.parameters),
                std::min(fewest.optimizer, sum.optimizer),
                std::min(fewest.activations, sum.activations)};
    }
    result[count] = fewest;
  }
  return result;
}
