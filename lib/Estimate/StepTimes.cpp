//===- StepTimes.cpp - How long a step takes ------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/StepTimes.h"
#include "stg/Trace/Program/ScheduledSlots.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <tuple>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

namespace {
/// The messages that one class sends over a channel.
struct Mailbox {
  SmallVector<Ticks, 2> arrivals;
  SmallVector<uint32_t, 2> sends; ///< Among the events of the sender.
};

/// Classes that wait for each other, at a collective or, in a loop, for what
/// all of them say of their iterations.
struct Gathering {
  size_t arrived = 0, left = 0;
  Ticks last = 0;
  bool isOver = false; ///< Nobody has to be waited for.
  /// Of one that somebody left before all had come: when that was.
  std::optional<Ticks> early;
  /// Of iterations: how many may be left out if they took as long as these.
  std::optional<std::pair<Ticks, int64_t>> alike;
};

/// The classes that meet in collectives over a mask are the same or have none
/// in common.
struct ClassGroups {
  std::vector<uint32_t> groups; ///< By class.
  std::vector<size_t> sizes;    ///< By group: of classes that take part.
};

/// Sender, axis and direction, and the number of the channel.
using MailKey = std::pair<uint64_t, uint64_t>;

/// The mask, the group of classes, and which of their gatherings it is.
using GatheringKey = std::tuple<AxisMask, uint32_t, size_t>;
/// The mask of all that classes meet over in loops.
constexpr AxisMask kNoAxes = 0;

/// A class, and how far it is.
struct ClassRun {
  using Program = TraceProgram;

  uint32_t index;
  const TraceBundle::Class *source;
  std::unique_ptr<ProgramTimes> times;

  size_t step = 0; ///< In the first body.
  /// Of the loop over steps at that step: the iteration, how far it is, and
  /// where it has begun.
  int64_t turn = 0;
  size_t inner = 0;
  Ticks turnStart = 0;
  uint32_t turnEvent = 0;
  /// Of the schedule at that step: its entries, the next one, and by lane and
  /// turn what its slots have.
  std::vector<OrderEntry> order;
  size_t entry = 0;
  std::optional<ScheduledSlots> slots;
  std::vector<std::vector<ProgramTimes::Value>> lanes;
  std::vector<uint32_t> entriesLeft; ///< By turn.
  bool hasStages = false;            ///< Several tasks in a turn.
  /// Steps outside of calls that make one task.
  StringRef phase;
  Ticks taskStart = 0;
  uint32_t taskEvent = 0; ///< The first one that is recorded.
  Spending taskBefore;
  /// Of a step that waits for other classes: where it has begun.
  bool isUnderWay = false;
  Ticks stepStart = 0;
  uint32_t stepEvent = 0;
  /// Messages that have been asked for: where from, and which one there. Ranks
  /// of a class may have them from several others.
  std::vector<SmallVector<std::pair<MailKey, size_t>, 1>> asked;
  std::vector<uint32_t> askedEvents; ///< Of what is recorded, parallel.
  DenseMap<MailKey, size_t> numAsked;
  /// How often each group with other classes has met; with kNoAxes, how often
  /// it has been asked whether iterations are alike.
  std::map<AxisMask, size_t> meetings;
  /// The gathering that it has come to and not left.
  std::optional<GatheringKey> waitsFor;
  bool isQueued = false;
  bool isLeftOut = false; ///< Sends and receives at once, and takes no time.
  /// Where the step is executed several times: when each of them was done.
  std::vector<Ticks> ends;

  bool isDone() const {
    return step == source->program.bodies.front().steps.size();
  }
};

class StepSimulation {
public:
  StepSimulation(const TraceBundle &programs, const Machine &machine,
                 const Execution &execution, StepRecording *recording,
                 std::optional<std::pair<int64_t, int64_t>> ranks = {})
      : programs(programs), machine(machine), execution(execution),
        recording(recording), ranks(ranks) {}

  Expected<StepTimes> run();
  Expected<std::optional<Ticks>> runInterval();

private:
  using Program = TraceProgram;

  Error makeRuns();
  void makeRun(uint32_t index, std::vector<NodeTime> times);
  Error runAll();
  bool advance(ClassRun &run);
  bool runStep(ClassRun &run, Program::Step step);
  bool runStepLoop(ClassRun &run, uint32_t repeat);
  bool hasStages(const ClassRun &run, uint32_t repeat) const;
  bool runEntry(ClassRun &run, const Program::Schedule &schedule);
  void runMessage(ClassRun &run, uint32_t node, uint32_t turn,
                  bool isQueued = false);
  MailKey getKey(const ClassRun &run, uint32_t sender, uint32_t node,
                 uint32_t turn) const;
  bool areThere(ClassRun &run, ArrayRef<uint32_t> slots);
  bool hasOnlyMessages(const Program &program, Program::Step step) const;
  void collectReceives(const ClassRun &run, Program::Step step,
                       std::vector<bool> &isBetween, DenseSet<MailKey> &keys);
  void findMessages();
  bool isThere(ClassRun &run, ProgramTimes::Value &value);
  bool areInputsThere(ClassRun &run, Program::Step step);
  bool isBetweenClasses(const ClassRun &run, Program::Step step) const;
  SmallVector<uint32_t> getPeers(uint32_t index,
                                 const NodeTemplate &node) const;
  bool goOn(ClassRun &run, Program::Step step, uint32_t turn);
  void startSchedule(ClassRun &run, const Program::Schedule &schedule);
  void joinTask(ClassRun &run, Program::Step step);
  void closeTask(ClassRun &run);
  const ClassGroups &getGroups(AxisMask mask);
  bool usesMask(const ClassRun &run, AxisMask mask) const;
  void joinCells(AxisMask mask, IntEqClasses &classes) const;
  Gathering *gather(ClassRun &run, AxisMask mask,
                    function_ref<void(Gathering &)> arrive);
  void leave(ClassRun &run, Gathering &gathering);
  void end(const GatheringKey &key);
  bool release();
  bool releaseEarly();
  bool noteLate();
  std::optional<Ticks> meet(ClassRun &run, AxisMask axes, Ticks arrival);
  std::optional<bool> agree(ClassRun &run, std::optional<Ticks> duration,
                            int64_t count);
  void enqueue(uint32_t index);
  void recordTask(ClassRun &run, uint32_t step, uint32_t turn, Ticks start,
                  uint32_t firstEvent);
  void recordArrivals(ClassRun &run);
  double getFixed() const;
  StepTimes finish();
  Error execute();
  bool findTokens();
  bool runOnce(ClassRun &run);
  void returnTokens(ClassRun &run, const Program::Schedule &schedule);
  void returnTokens(ClassRun &run, uint32_t turn);
  void receiveTokens(ClassRun &run, const Program::State &state);
  Ticks getInterval(size_t first, size_t last) const;
  bool isSteady() const;

  const TraceBundle &programs;
  const Machine &machine;
  const Execution &execution;
  StepRecording *recording;
  std::optional<std::pair<int64_t, int64_t>> ranks;
  /// Where each meeting is in the recording.
  std::map<GatheringKey, size_t> meetingNumbers;
  std::optional<NodeTimes> nodes;
  std::vector<ClassRun> runs;
  std::vector<SmallVector<int64_t, 2>> cells; ///< By class, of its ranks.
  DenseMap<MailKey, Mailbox> mail;
  std::deque<uint32_t> queue;
  std::map<AxisMask, ClassGroups> groups;
  std::map<GatheringKey, Gathering> gatherings;
  /// Of gatherings that somebody had to leave before all had come: when the
  /// last came, as the pass before has found.
  std::map<GatheringKey, Ticks> late;

  /// How often the step is executed, and how tokens get from those who sample
  /// them to those who read them.
  size_t numSteps = 1;
  struct TokenWay {
    uint32_t axis = 0;
    int64_t from = 0, to = 0; ///< Coordinates.
    NodeTime time;            ///< Of the message.
  };
  std::optional<TokenWay> tokens;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void StepSimulation::closeTask(ClassRun &run) {
  if (run.phase.empty())
    return;
  run.times->finishTask(run.taskStart, run.taskBefore);
  run.times->noteTask(run.phase, run.times->getClock().compute - run.taskStart);
  recordTask(run, kNone, 0, run.taskStart, run.taskEvent);
  run.phase = "";
}

void StepSimulation::recordTask(ClassRun &run, uint32_t step, uint32_t turn,
                                Ticks start, uint32_t firstEvent) {
  if (!recording)
    return;
  Ticks end = run.times->getClock().compute;
  run.times->getRecording()->add({RecordedEvent::Task, 0, step, turn,
                                  firstEvent, kNone, start, start, end});
}

/// Steps of one phase that stand in a row are one task.
void StepSimulation::joinTask(ClassRun &run, Program::Step step) {
  StringRef phase = run.times->getPhase(step);
  if (phase.empty() || phase == run.phase)
    return;
  closeTask(run);
  run.phase = phase;
  run.taskStart = run.times->getClock().compute;
  if (recording)
    run.taskEvent = run.times->getRecording()->size();
  run.taskBefore = run.times->getSpending();
}

//===----------------------------------------------------------------------===//
// Between classes
//===----------------------------------------------------------------------===//

/// The classes that have the other ends of the messages of a class.
SmallVector<uint32_t> StepSimulation::getPeers(uint32_t index,
                                               const NodeTemplate &node) const {
  const RankPartition &partition = programs.getPartition();
  SmallVector<uint32_t> peers;
  for (int64_t cell : cells[index]) {
    uint32_t peer = partition.getClass(programs.getSpace().getNeighbour(
        partition.getFirstRank(cell), node.axis, node.shift));
    if (!is_contained(peers, peer))
      peers.push_back(peer);
  }
  return peers;
}

bool StepSimulation::isBetweenClasses(const ClassRun &run,
                                      Program::Step step) const {
  if (step.kind != Program::Step::Node && step.kind != Program::Step::Series)
    return false;
  const NodeTemplate &node =
      run.source->program.nodes[run.source->program.getNode(step)];
  return node.isMessage() &&
         (programs.getPartition().getAxes() >> node.axis & 1);
}

void StepSimulation::enqueue(uint32_t index) {
  if (runs[index].isQueued)
    return;
  runs[index].isQueued = true;
  queue.push_back(index);
}

MailKey StepSimulation::getKey(const ClassRun &run, uint32_t sender,
                               uint32_t number, uint32_t turn) const {
  const NodeTemplate &node = run.source->program.nodes[number];
  const Channel &channel = run.source->program.channels[node.channel];
  uint64_t way = (uint64_t(channel.key.axis) << 32) | channel.key.direction;
  return {uint64_t(sender) << 40 | way,
          channel.key.channel + int64_t(turn) * channel.stride};
}

/// A receive only asks for its message: it is posted before it is needed, and
/// who reads it waits. What is queued is sent behind what was sent before.
void StepSimulation::runMessage(ClassRun &run, uint32_t number, uint32_t turn,
                                bool isQueued) {
  const NodeTemplate &node = run.source->program.nodes[number];
  SmallVector<uint32_t> peers = getPeers(run.index, node);
  llvm::erase_if(peers, [&](uint32_t peer) { return runs[peer].isLeftOut; });
  if (peers.empty())
    return run.times->setOutputs(number, {});
  ProgramTimes &times = *run.times;
  const NodeTime &time = times.getTime(number);
  auto cause = static_cast<uint8_t>(ProgramTimes::kMessage + time.group);
  Ticks issue = times.getClock().compute;
  if (node.kind != NodeKind::Send) {
    auto &asked = run.asked.emplace_back();
    for (uint32_t peer : peers) {
      MailKey key = getKey(run, peer, number, turn);
      asked.push_back({key, run.numAsked[key]++});
    }
    if (recording) {
      run.askedEvents.push_back(times.getRecording()->size());
      times.getRecording()->add({RecordedEvent::Receive, time.group, number,
                                 turn, kNone, peers.front(), issue, issue,
                                 issue});
    }
    times.setOutputs(number,
                     {0, cause, static_cast<uint32_t>(run.asked.size())});
    return;
  }
  Mailbox &box = mail[getKey(run, run.index, number, turn)];
  Ticks start = std::max(times.getClock().compute, times.getInput(number).time);
  if (isQueued) {
    start = std::max(start, times.getClock().message);
    times.getClock().message = start + time.time;
  }
  box.arrivals.push_back(start + time.time);
  if (recording) {
    box.sends.push_back(times.getRecording()->size());
    times.getRecording()->add({RecordedEvent::Send, time.group, number, turn,
                               kNone, peers.front(), issue, start,
                               start + time.time});
  }
  times.setOutputs(number, {start + time.time, cause});
  if (execution.blockingMessages)
    times.waitFor({start + time.time, cause});
  llvm::for_each(peers, [&](uint32_t peer) { enqueue(peer); });
}

/// False if it is a message that has not been sent.
bool StepSimulation::isThere(ClassRun &run, ProgramTimes::Value &value) {
  if (!value.pending)
    return true;
  Ticks last = 0;
  for (const auto &[key, number] : run.asked[value.pending - 1]) {
    const Mailbox &box = mail[key];
    if (number >= box.arrivals.size())
      return false;
    last = std::max(last, box.arrivals[number]);
  }
  value = {last, value.cause};
  return true;
}

/// The same of all that a step of the first body reads.
bool StepSimulation::areInputsThere(ClassRun &run, Program::Step step) {
  const Program &program = run.source->program;
  SmallVector<uint32_t> slots;
  if (step.kind == Program::Step::Node) {
    for (Program::Slot slot : program.wiring[step.index].reads)
      slots.push_back(slot.index);
    for (Program::Slot slot : program.wiring[step.index].after)
      slots.push_back(slot.index);
  } else if (step.kind == Program::Step::Series) {
    const Program::NodeWiring &wiring = program.wiring[program.getNode(step)];
    for (Program::Slot slot :
         llvm::concat<const Program::Slot>(wiring.reads, wiring.after))
      slots.push_back(slot.index);
  } else if (step.kind == Program::Step::Call) {
    for (Program::Alias alias : program.calls[step.index].args)
      slots.push_back(alias.from);
    append_range(slots,
                 run.times->getExternals(program.calls[step.index].body));
  } else if (step.kind == Program::Step::Repeat) {
    for (Program::Carry carry : program.repeats[step.index].carries)
      slots.push_back(carry.init);
    append_range(slots,
                 run.times->getExternals(program.repeats[step.index].body));
  }
  return areThere(run, slots);
}

bool StepSimulation::areThere(ClassRun &run, ArrayRef<uint32_t> slots) {
  return llvm::all_of(slots, [&](uint32_t slot) {
    return isThere(run, run.times->getValue(slot));
  });
}

/// True for a repeat in which nothing waits for what is received.
bool StepSimulation::hasOnlyMessages(const Program &program,
                                     Program::Step step) const {
  if (step.kind == Program::Step::Node)
    return program.nodes[step.index].isMessage() &&
           (programs.getPartition().getAxes() >>
                program.nodes[step.index].axis &
            1);
  return step.kind == Program::Step::Repeat &&
         llvm::all_of(program.bodies[program.repeats[step.index].body].steps,
                      [&](Program::Step inner) {
                        return hasOnlyMessages(program, inner);
                      });
}

/// The receives of such a repeat, and the senders that they wait for.
void StepSimulation::collectReceives(const ClassRun &run, Program::Step step,
                                     std::vector<bool> &isBetween,
                                     DenseSet<MailKey> &keys) {
  const Program &program = run.source->program;
  if (step.kind == Program::Step::Repeat) {
    for (Program::Step inner :
         program.bodies[program.repeats[step.index].body].steps)
      collectReceives(run, inner, isBetween, keys);
  } else if (program.nodes[step.index].kind == NodeKind::Recv) {
    isBetween[step.index] = true;
    for (uint32_t peer : getPeers(run.index, program.nodes[step.index]))
      keys.insert(getKey(run, peer, step.index, 0));
  }
}

/// Messages in repeats and calls of which the other class has to know: those
/// that are received before anything else is executed.
void StepSimulation::findMessages() {
  std::vector<std::vector<bool>> isBetween;
  DenseSet<MailKey> keys;
  for (ClassRun &run : runs) {
    const Program &program = run.source->program;
    auto &own = isBetween.emplace_back(program.nodes.size(), false);
    for (Program::Step step : program.bodies.front().steps)
      if (hasOnlyMessages(program, step))
        collectReceives(run, step, own, keys);
  }
  if (keys.empty())
    return;
  for (auto [run, own] : llvm::zip_equal(runs, isBetween)) {
    const Program &program = run.source->program;
    for (auto [number, node] : llvm::enumerate(program.nodes))
      if (node.kind == NodeKind::Send &&
          keys.contains(getKey(run, run.index, number, 0)))
        own[number] = true;
    run.times->setMessaging(std::move(own), [this, &run = run](uint32_t node) {
      runMessage(run, node, 0, /*isQueued=*/true);
    });
  }
}

//===----------------------------------------------------------------------===//
// Meetings
//===----------------------------------------------------------------------===//

/// True if the class has a collective over the mask; with kNoAxes, one with
/// other classes in a loop.
bool StepSimulation::usesMask(const ClassRun &run, AxisMask mask) const {
  if (run.isLeftOut)
    return false;
  return mask == kNoAxes
             ? run.times->meetsInLoops()
             : llvm::any_of(run.source->program.nodes,
                            [&](const NodeTemplate &node) {
                              return node.isColl() && node.axes == mask;
                            });
}

/// Joins classes that have ranks in a group over the mask.
void StepSimulation::joinCells(AxisMask mask, IntEqClasses &classes) const {
  const RankPartition &partition = programs.getPartition();
  const RankSpace &space = programs.getSpace();
  const AxisMask others = partition.getAxes() & ~mask;
  DenseMap<int64_t, uint32_t> first;
  for (int64_t cell = 0; cell < partition.getNumCells(); ++cell) {
    int64_t rank = partition.getFirstRank(cell);
    uint32_t index = partition.getClassOfCell(cell);
    if (space.isMember(mask, rank))
      classes.join(first.try_emplace(space.getPosition(others, rank), index)
                       .first->second,
                   index);
  }
}

const ClassGroups &StepSimulation::getGroups(AxisMask mask) {
  auto [it, isNew] = groups.try_emplace(mask);
  ClassGroups &result = it->second;
  if (!isNew)
    return result;
  IntEqClasses classes(runs.size());
  if (mask != kNoAxes)
    joinCells(mask, classes);
  else
    for (ClassRun &run : runs)
      for (AxisMask met : run.times->getMasksOfLoops())
        joinCells(met, classes);
  classes.compress();
  result.sizes.resize(classes.getNumClasses());
  for (ClassRun &run : runs) {
    result.groups.push_back(classes[run.index]);
    result.sizes[result.groups.back()] += usesMask(run, mask);
  }
  return result;
}

/// The next gathering of the group of a class over the mask, to which `arrive`
/// adds what it says, once; null until all others are there.
Gathering *StepSimulation::gather(ClassRun &run, AxisMask mask,
                                  function_ref<void(Gathering &)> arrive) {
  const ClassGroups &all = getGroups(mask);
  uint32_t group = all.groups[run.index];
  GatheringKey key = {mask, group, run.meetings[mask]};
  Gathering &gathering = gatherings[key];
  if (!run.waitsFor) {
    arrive(gathering);
    run.waitsFor = key;
    if (++gathering.arrived >= all.sizes[group])
      end(key);
  }
  return gathering.isOver ? &gathering : nullptr;
}

/// Who waits goes on.
void StepSimulation::end(const GatheringKey &key) {
  gatherings[key].isOver = true;
  for (ClassRun &other : runs)
    if (other.waitsFor == key)
      enqueue(other.index);
}

void StepSimulation::leave(ClassRun &run, Gathering &gathering) {
  ++run.meetings[std::get<0>(*run.waitsFor)];
  if (++gathering.left == gathering.arrived && !gathering.early)
    gatherings.erase(*run.waitsFor);
  run.waitsFor.reset();
}

/// A group with ranks of several classes meets when the last of them comes.
std::optional<Ticks> StepSimulation::meet(ClassRun &run, AxisMask axes,
                                          Ticks arrival) {
  Gathering *gathering = gather(run, axes, [&](Gathering &own) {
    own.last = std::max(own.last, arrival);
    if (!recording)
      return;
    GatheringKey key = {axes, getGroups(axes).groups[run.index],
                        run.meetings[axes]};
    auto [it, isNew] =
        meetingNumbers.try_emplace(key, recording->meetings.size());
    if (isNew)
      recording->meetings.emplace_back();
    // The collective is recorded next.
    recording->meetings[it->second].push_back(
        {run.index, run.times->getRecording()->size(), arrival});
  });
  if (!gathering)
    return std::nullopt;
  Ticks last = gathering->last;
  leave(run, *gathering);
  return last;
}

/// Iterations are left out if all classes that meet in them leave out as many,
/// and they took all of them as long: then all are as far apart afterwards.
std::optional<bool> StepSimulation::agree(ClassRun &run,
                                          std::optional<Ticks> duration,
                                          int64_t count) {
  Gathering *gathering = gather(run, kNoAxes, [&](Gathering &own) {
    std::optional<std::pair<Ticks, int64_t>> alike;
    if (duration)
      alike = {*duration, count};
    if (own.arrived == 0)
      own.alike = alike;
    else if (own.alike != alike)
      own.alike.reset();
  });
  if (!gathering)
    return std::nullopt;
  bool isAlike = gathering->alike.has_value();
  leave(run, *gathering);
  return isAlike;
}

/// Ends gatherings to which nobody else comes; false if there are none. Classes
/// that wait for others in loops are not asked again.
bool StepSimulation::release() {
  SmallVector<GatheringKey> over;
  auto find = [&](bool isOfLoops) {
    for (const auto &[key, gathering] : gatherings) {
      const auto &[mask, group, number] = key;
      bool hasRunning = llvm::any_of(runs, [&](const ClassRun &run) {
        return usesMask(run, mask) && !run.isDone() &&
               getGroups(mask).groups[run.index] == group &&
               run.waitsFor != key;
      });
      if (!gathering.isOver && (mask == kNoAxes) == isOfLoops &&
          (isOfLoops || !hasRunning))
        over.push_back(key);
    }
  };
  find(/*isOfLoops=*/true);
  for (const GatheringKey &key : over)
    gatherings[key].alike.reset();
  if (over.empty())
    find(/*isOfLoops=*/false);
  llvm::for_each(over, [&](const GatheringKey &key) { end(key); });
  return !over.empty() || releaseEarly();
}

/// A collective that runs beside kernels does not hold up what a class does
/// next, as a message that another class waits for before it comes. Ends the
/// gathering that the first have come to, as if its others came when the pass
/// before has found; false if there is none.
bool StepSimulation::releaseEarly() {
  auto first = gatherings.end();
  for (auto it = gatherings.begin(); it != gatherings.end(); ++it)
    if (!it->second.isOver && std::get<0>(it->first) != kNoAxes &&
        (first == gatherings.end() || it->second.last < first->second.last))
      first = it;
  if (first == gatherings.end())
    return false;
  auto &[key, gathering] = *first;
  if (auto it = late.find(key); it != late.end())
    gathering.last = std::max(gathering.last, it->second);
  gathering.early = gathering.last;
  end(key);
  return true;
}

/// True if somebody came to a gathering later than others had taken it for.
bool StepSimulation::noteLate() {
  bool isLater = false;
  for (const auto &[key, gathering] : gatherings) {
    if (!gathering.early)
      continue;
    late[key] = gathering.last;
    isLater |= gathering.last > *gathering.early;
  }
  return isLater;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

void StepSimulation::startSchedule(ClassRun &run,
                                   const Program::Schedule &schedule) {
  run.order = schedule.order.expand();
  run.entry = 0;
  run.slots.emplace(run.source->program, schedule);
  run.entriesLeft.assign(schedule.count, 0);
  size_t numTasks = 0;
  for (OrderEntry entry : run.order) {
    ++run.entriesLeft[entry.turn];
    numTasks +=
        run.source->program.bodies[schedule.body].steps[entry.step].kind ==
        Program::Step::Call;
  }
  run.hasStages = numTasks > schedule.count;
  run.lanes.clear();
  for (const Program::Lane &lane : schedule.lanes) {
    auto &values = run.lanes.emplace_back(schedule.count);
    for (auto [turn, slot] : llvm::enumerate(lane.inits))
      values[turn] = run.times->getValue(slot);
  }
}

/// Begins or goes on with what a step executes; false if it waits for another
/// class.
bool StepSimulation::goOn(ClassRun &run, Program::Step step, uint32_t turn) {
  if (run.isUnderWay)
    return run.times->resume();
  run.stepStart = run.times->getClock().compute;
  run.stepEvent = recording ? run.times->getRecording()->size() : 0;
  if (!isBetweenClasses(run, step))
    return run.times->run(step);
  runMessage(run, run.times->getNode(step), turn);
  return true;
}

bool StepSimulation::runEntry(ClassRun &run,
                              const Program::Schedule &schedule) {
  OrderEntry entry = run.order[run.entry];
  Program::Step step =
      run.source->program.bodies[schedule.body].steps[entry.step];
  if (!run.isUnderWay) {
    for (ScheduledSlots::Use use : run.slots->reads[entry.step]) {
      ProgramTimes::Value &value = run.lanes[use.lane][entry.turn];
      if (!isThere(run, value))
        return false;
      run.times->getValue(use.slot) = value;
    }
    if (step.kind == Program::Step::Call &&
        !areThere(run, run.times->getExternals(
                           run.source->program.calls[step.index].body)))
      return false;
  }
  run.isUnderWay = !goOn(run, step, entry.turn);
  if (run.isUnderWay)
    return false;
  if (step.kind == Program::Step::Call)
    recordTask(run, entry.step, entry.turn, run.stepStart, run.stepEvent);
  for (ScheduledSlots::Use use : run.slots->sets[entry.step])
    run.lanes[use.lane][entry.turn] = run.times->getValue(use.slot);
  return true;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// True for a loop over steps of inference, each of which is a task.
static bool isStepLoop(const ClassRun &run, TraceProgram::Step step) {
  return step.kind == TraceProgram::Step::Repeat &&
         run.source->program.repeats[step.index].isStep;
}

/// True for a loop in whose body classes wait for each other.
bool StepSimulation::hasStages(const ClassRun &run, uint32_t repeat) const {
  const Program &program = run.source->program;
  return llvm::any_of(program.bodies[program.repeats[repeat].body].steps,
                      [](Program::Step step) {
                        return step.kind == Program::Step::Schedule ||
                               step.kind == Program::Step::Call;
                      });
}

/// Goes on with a step of inference; false if the class waits for another one.
/// As no class waits for others at the end of a step, several are under way.
bool StepSimulation::runStepLoop(ClassRun &run, uint32_t repeat) {
  const Program &program = run.source->program;
  const auto &steps = program.bodies[program.repeats[repeat].body].steps;
  ProgramTimes &times = *run.times;
  for (; run.turn < program.repeats[repeat].count; ++run.turn) {
    if (run.inner == 0 && run.order.empty()) {
      run.turnStart = times.getClock().compute;
      run.turnEvent = recording ? times.getRecording()->size() : 0;
    }
    times.beginStep(repeat, run.turn);
    for (; run.inner < steps.size(); ++run.inner)
      if (!runStep(run, steps[run.inner]))
        return false;
    closeTask(run);
    run.inner = 0;
    times.noteStep(repeat, run.turn, run.turnStart, run.turnEvent);
  }
  run.turn = 0;
  return true;
}

/// False if the class waits for another one.
bool StepSimulation::runStep(ClassRun &run, Program::Step step) {
  if (isStepLoop(run, step) && hasStages(run, step.index)) {
    if (run.turn == 0 && run.inner == 0)
      closeTask(run);
    return runStepLoop(run, step.index);
  }
  if (step.kind == Program::Step::Schedule) {
    const Program::Schedule &schedule =
        run.source->program.schedules[step.index];
    closeTask(run);
    if (run.order.empty())
      startSchedule(run, schedule);
    for (; run.entry < run.order.size(); ++run.entry) {
      if (!runEntry(run, schedule))
        return false;
      returnTokens(run, schedule);
    }
    run.order.clear();
    return true;
  }
  if (!run.isUnderWay) {
    if (!areInputsThere(run, step))
      return false;
    if (step.kind == Program::Step::Call || isStepLoop(run, step))
      closeTask(run);
    else
      joinTask(run, step);
  }
  run.isUnderWay = !goOn(run, step, 0);
  if (run.isUnderWay)
    return false;
  if (step.kind == Program::Step::State)
    receiveTokens(run, run.source->program.states[step.index]);
  if (step.kind == Program::Step::Call)
    recordTask(run, kNone, 0, run.stepStart, run.stepEvent);
  return true;
}

/// False if the class waits for another one.
bool StepSimulation::runOnce(ClassRun &run) {
  const auto &steps = run.source->program.bodies.front().steps;
  for (; run.step < steps.size(); ++run.step)
    if (!runStep(run, steps[run.step]))
      return false;
  closeTask(run);
  return true;
}

/// Likewise. Like engines, and programs of several steps, no class waits for
/// the others before it begins the next one.
bool StepSimulation::advance(ClassRun &run) {
  while (run.ends.size() < numSteps && runOnce(run)) {
    const ProgramTimes &times = *run.times;
    run.ends.push_back(
        std::max(times.getClock().compute, times.getLastCollective().time));
    if (run.source->program.schedules.empty())
      returnTokens(run, 0u);
    if (run.ends.size() < numSteps)
      run.step = 0;
  }
  return run.ends.size() == numSteps;
}

void StepSimulation::makeRun(uint32_t index, std::vector<NodeTime> times) {
  auto get = [&](StringRef key, double missing) {
    return machine.get(key).value_or(missing);
  };
  ProgramTimes::Rules rules = {execution.hostExposed,
                               get("overlap.interference", 0),
                               get("overlap.data_hidden", 0)};
  ClassRun &run = runs[index];
  run.index = index;
  run.source = &programs.getClasses()[index];
  int64_t rank = run.source->ranks[0];
  run.isLeftOut = ranks && (rank < ranks->first || rank >= ranks->second);
  run.times = std::make_unique<ProgramTimes>(
      run.source->program, std::move(times), rules,
      programs.getPartition().getAxes(), [this, index](AxisMask axes, Ticks t) {
        return meet(runs[index], axes, t);
      });
  if (recording)
    run.times->setRecording(&recording->classes[index]);
  else
    run.times->setAgreement(
        [this, index](std::optional<Ticks> duration, int64_t count) {
          return agree(runs[index], duration, count);
        });
}

Error StepSimulation::makeRuns() {
  runs.clear();
  runs.resize(programs.getClasses().size());
  mail.clear();
  groups.clear();
  gatherings.clear();
  const RankPartition &partition = programs.getPartition();
  cells.assign(runs.size(), {});
  for (int64_t cell = 0; cell < partition.getNumCells(); ++cell)
    cells[partition.getClassOfCell(cell)].push_back(cell);
  if (recording) {
    recording->classes.assign(runs.size(), {});
    recording->meetings.clear();
    meetingNumbers.clear();
  }
  double sum = getFixed() * kTicksPerSecond;
  for (auto [i, source] : llvm::enumerate(programs.getClasses())) {
    std::vector<NodeTime> times = nodes->getTimes(source.program);
    sum += getSum(source.program, times);
    makeRun(i, std::move(times));
  }
  findMessages();
  return checkSum(sum * double(numSteps));
}

Error StepSimulation::runAll() {
  for (ClassRun &run : runs)
    if (!run.isLeftOut)
      enqueue(run.index);
  do {
    while (!queue.empty()) {
      ClassRun &run = runs[queue.front()];
      queue.pop_front();
      run.isQueued = false;
      advance(run);
    }
  } while (release());
  for (ClassRun &run : runs)
    if (!run.isLeftOut && !run.isDone())
      return createStringError(
          "the ranks of '" + run.source->name + "' wait for a " +
          (run.waitsFor ? "collective that others do not come to"
                        : "message that nobody sends"));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

Spending StepTimes::getMean() const {
  double ranks = 0;
  for (const ClassTimes &entry : classes)
    ranks += entry.ranks;
  // What all ranks take together is more than ticks can count.
  auto getTicks = [&](auto getPart) {
    long double sum = 0;
    for (const ClassTimes &entry : classes)
      sum += static_cast<long double>(getPart(entry.spending)) * entry.ranks;
    return static_cast<Ticks>(std::llround(sum / ranks));
  };
  Spending mean;
  for (auto [i, part] : llvm::enumerate(mean.kernels))
    part = getTicks([i = i](const Spending &own) { return own.kernels[i]; });
  for (auto [i, part] : llvm::enumerate(mean.exposed))
    part = getTicks([i = i](const Spending &own) { return own.exposed[i]; });
  for (Ticks Spending::*part :
       {&Spending::host, &Spending::interference, &Spending::bubble,
        &Spending::launch, &Spending::background, &Spending::transfer})
    mean.*part = getTicks([&](const Spending &own) { return own.*part; });
  for (const ClassTimes &entry : classes) {
    mean.operations += entry.spending.operations * entry.ranks;
    mean.recomputed += entry.spending.recomputed * entry.ranks;
    mean.executed += entry.spending.executed * entry.ranks;
  }
  mean.operations /= ranks;
  mean.recomputed /= ranks;
  mean.executed /= ranks;
  return mean;
}

/// When messages were sent and arrived is known when all classes are done.
void StepSimulation::recordArrivals(ClassRun &run) {
  for (auto [event, asked] : llvm::zip(run.askedEvents, run.asked))
    for (const auto &[key, number] : asked) {
      const Mailbox &box = mail[key];
      if (number >= box.sends.size())
        continue; // Nobody reads it, or the step had not ended.
      RecordedEvent &receive = recording->classes[run.index].events[event];
      if (receive.link != kNone && box.arrivals[number] <= receive.end)
        continue;
      receive.peer = static_cast<uint32_t>(key.first >> 40);
      receive.link = box.sends[number];
      receive.start =
          recording->classes[receive.peer].events[receive.link].start;
      receive.end = box.arrivals[number];
    }
}

/// Steps of inference that a program executes in loops.
static int64_t countSteps(const TraceProgram &program) {
  int64_t count = 0;
  for (const TraceProgram::Repeat &repeat : program.repeats)
    if (repeat.isStep)
      count += repeat.count;
  return count;
}

double StepSimulation::getFixed() const {
  const TraceProgram &program = programs.getClasses().front().program;
  return machine.get("host.step").value_or(0) *
         double(std::max<int64_t>(1, countSteps(program)));
}

/// What the last collectives and transfers take beyond the last kernel is
/// exposed.
StepTimes StepSimulation::finish() {
  StepTimes result;
  result.fixed = toTicks(getFixed());
  for (ClassRun &run : runs) {
    if (run.isLeftOut)
      continue;
    ProgramTimes &times = *run.times;
    times.waitFor(times.getLastCollective());
    times.waitFor(times.getLastTransfer());
    recordArrivals(run);
    ClassTimes entry;
    entry.name = run.source->name;
    entry.ranks = run.source->ranks.size();
    entry.end = times.getClock().compute;
    entry.spending = times.getSpending();
    entry.steps = times.getStepTimes().vec();
    if (result.classes.empty() ||
        entry.end > result.classes[result.slowest].end)
      result.slowest = result.classes.size();
    result.classes.push_back(entry);
  }
  Ticks last = result.classes[result.slowest].end;
  result.total = last + result.fixed;
  for (ClassTimes &entry : result.classes) {
    entry.spending.bubble += last - entry.end;
    entry.spending.host += result.fixed;
  }
  result.groups = nodes->getGroups().vec();
  result.peak = nodes->getProductPeak();
  return result;
}

Error StepSimulation::execute() {
  for (const TraceBundle::Class &entry : programs.getClasses())
    if (entry.program.usesHost())
      if (Error error = checkHostLink(machine))
        return error;
  Expected<NodeTimes> made = NodeTimes::get(machine, execution, programs);
  if (!made)
    return made.takeError();
  nodes.emplace(std::move(*made));
  if (numSteps > 1 && !findTokens())
    return Error::success();
  late.clear();
  // Few classes cannot wait where they are: they are executed again.
  constexpr unsigned kMostPasses = 16;
  for (unsigned pass = 0; pass < kMostPasses; ++pass) {
    if (Error error = makeRuns())
      return error;
    if (Error error = runAll())
      return error;
    if (!noteLate())
      break;
  }
  return Error::success();
}

Expected<StepTimes> StepSimulation::run() {
  if (Error error = execute())
    return std::move(error);
  return finish();
}

//===----------------------------------------------------------------------===//
// Steps that follow one another
//===----------------------------------------------------------------------===//

static bool isInput(const TraceProgram &program,
                    const TraceProgram::State &state) {
  return program.tensors[state.tensorTemplate].category ==
         TensorCategory::Input;
}

/// The bytes of what the steps of the first body begin with as inputs.
static int64_t getInputBytes(const TraceProgram &program) {
  for (TraceProgram::Step step : program.bodies.front().steps)
    if (step.kind == TraceProgram::Step::State)
      if (const TraceProgram::State &state = program.states[step.index];
          isInput(program, state))
        return program.tensors[state.tensorTemplate].bytes;
  return 0;
}

static bool samples(const TraceProgram &program) {
  return llvm::any_of(program.kernels, [](const Kernel &kernel) {
    return kernel.op.starts_with("sample");
  });
}

/// Tokens return along the axis on which all classes that read them have
/// another coordinate than all that sample them: that of stages. False if there
/// is none.
bool StepSimulation::findTokens() {
  const RankSpace &space = programs.getSpace();
  tokens.reset();
  for (auto [axis, entry] : llvm::enumerate(space.getAxes())) {
    if (!(programs.getPartition().getAxes() >> axis & 1))
      continue;
    std::optional<int64_t> from, to;
    int64_t bytes = 0;
    bool isOne = true;
    auto note = [&](std::optional<int64_t> &coordinate, int64_t own) {
      isOne &= own == coordinate.value_or(own);
      coordinate = own;
    };
    for (const TraceBundle::Class &source : programs.getClasses()) {
      const int64_t rank = source.ranks[0];
      const int64_t own =
          space.getCoordinate(rank, static_cast<unsigned>(axis));
      if (int64_t read = getInputBytes(source.program)) {
        note(to, own);
        bytes = std::max(bytes, read);
      }
      if (samples(source.program))
        note(from, own);
    }
    if (!isOne || !from || !to || *from == *to)
      continue;
    const auto number = static_cast<uint32_t>(axis);
    tokens =
        TokenWay{number, *from, *to, nodes->getMessage(number, double(bytes))};
    return true;
  }
  return false;
}

/// The messages of a class that returns tokens. No channel of a program has so
/// large an axis.
static MailKey getTokenKey(uint32_t sender, uint32_t turn) {
  constexpr uint64_t way = uint64_t(255) << 32;
  return {uint64_t(sender) << 40 | way, turn};
}

/// What a class has sampled for a micro-batch is there: its stream of kernels
/// is behind it.
void StepSimulation::returnTokens(ClassRun &run, uint32_t turn) {
  const RankSpace &space = programs.getSpace();
  const int64_t rank = run.source->ranks[0];
  if (!tokens || space.getCoordinate(rank, tokens->axis) != tokens->from)
    return;
  ProgramTimes::Value arrival = {
      run.times->getClock().compute + tokens->time.time,
      static_cast<uint8_t>(ProgramTimes::kMessage + tokens->time.group)};
  mail[getTokenKey(run.index, turn)].arrivals.push_back(arrival.time);
  if (execution.blockingMessages)
    run.times->waitFor(arrival);
  enqueue(programs.getPartition().getClass(
      space.getNeighbour(rank, tokens->axis, tokens->to - tokens->from)));
}

/// After an entry of a schedule: once the stage is through with a micro-batch.
/// Devices with several stages return those of all at the end.
void StepSimulation::returnTokens(ClassRun &run,
                                  const Program::Schedule &schedule) {
  const uint32_t turn = run.order[run.entry].turn;
  const bool isDone = --run.entriesLeft[turn] == 0;
  if (isDone && !run.hasStages)
    returnTokens(run, turn);
  if (run.hasStages && run.entry + 1 == run.order.size())
    for (uint32_t i = 0; i < schedule.count; ++i)
      returnTokens(run, i);
}

/// Tokens of a micro-batch are those that the step before has sampled for it.
void StepSimulation::receiveTokens(ClassRun &run, const Program::State &state) {
  const RankSpace &space = programs.getSpace();
  const int64_t rank = run.source->ranks[0];
  if (!tokens || run.ends.empty() || !isInput(run.source->program, state) ||
      space.getCoordinate(rank, tokens->axis) != tokens->to)
    return;
  // What all micro-batches have waits for the first of them.
  uint32_t turn = 0;
  for (const Program::Schedule &schedule : run.source->program.schedules)
    for (const Program::Lane &lane : schedule.lanes)
      if (auto it = llvm::find(lane.inits, state.slot); it != lane.inits.end())
        turn = static_cast<uint32_t>(it - lane.inits.begin());
  const uint32_t sender = programs.getPartition().getClass(
      space.getNeighbour(rank, tokens->axis, tokens->from - tokens->to));
  run.asked.emplace_back().push_back(
      {getTokenKey(sender, turn), run.ends.size() - 1});
  run.times->getValue(state.slot) = {
      0, static_cast<uint8_t>(ProgramTimes::kMessage + tokens->time.group),
      static_cast<uint32_t>(run.asked.size())};
}

/// The mean time of a step after the first of these until the last one.
Ticks StepSimulation::getInterval(size_t first, size_t last) const {
  auto getEnd = [&](size_t step) {
    Ticks end = 0;
    for (const ClassRun &run : runs)
      if (!run.isLeftOut)
        end = std::max(end, run.ends[step]);
    return end;
  };
  return (getEnd(last) - getEnd(first)) / static_cast<Ticks>(last - first);
}

/// The last two steps were as long in all classes.
bool StepSimulation::isSteady() const {
  std::optional<Ticks> interval;
  for (const ClassRun &run : runs) {
    if (run.isLeftOut)
      continue;
    ArrayRef<Ticks> ends = ArrayRef(run.ends).take_back(3);
    for (size_t i = 1; i < ends.size(); ++i) {
      const Ticks own = ends[i] - ends[i - 1];
      if (interval && own != *interval)
        return false;
      interval = own;
    }
  }
  return true;
}

/// Few steps are enough where the slowest stage, or the way of a micro-batch,
/// holds up all classes. Else devices run ahead for some time, or steps differ
/// in turn.
Expected<std::optional<Ticks>> StepSimulation::runInterval() {
  constexpr size_t kFew = 5, kMany = 64;
  for (size_t steps : {kFew, kMany}) {
    numSteps = steps;
    if (Error error = execute())
      return std::move(error);
    if (!tokens)
      return std::nullopt;
    if (isSteady())
      break;
  }
  Ticks interval = isSteady() ? getInterval(numSteps - 2, numSteps - 1)
                              : getInterval(numSteps / 2 - 1, numSteps - 1);
  return interval + toTicks(machine.get("host.step").value_or(0));
}

Expected<std::optional<Ticks>>
stg::getStepInterval(const TraceBundle &programs, const Machine &machine,
                     const Execution &execution) {
  return StepSimulation(programs, machine, execution, nullptr).runInterval();
}

Expected<StepTimes> stg::getStepTimes(const TraceBundle &programs,
                                      const Machine &machine,
                                      const Execution &execution,
                                      StepRecording *recording) {
  return StepSimulation(programs, machine, execution, recording).run();
}

Expected<StepTimes> stg::getStepTimesOf(std::pair<int64_t, int64_t> ranks,
                                        const TraceBundle &programs,
                                        const Machine &machine,
                                        const Execution &execution) {
  return StepSimulation(programs, machine, execution, nullptr, ranks).run();
}
