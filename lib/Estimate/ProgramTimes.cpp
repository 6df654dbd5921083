//===- ProgramTimes.cpp - Executes the program of a rank ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/ProgramTimes.h"
#include "stg/Support/Phases.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Spending
//===----------------------------------------------------------------------===//

void Spending::add(const Spending &other, int64_t times) {
  for (auto [own, more] : llvm::zip_equal(kernels, other.kernels))
    own += more * times;
  for (auto [own, more] : llvm::zip_equal(exposed, other.exposed))
    own += more * times;
  host += other.host * times;
  interference += other.interference * times;
  bubble += other.bubble * times;
  launch += other.launch * times;
  settledLaunch += other.settledLaunch * times;
  settledTime += other.settledTime * times;
  background += other.background * times;
  transfer += other.transfer * times;
  operations += other.operations * times;
  recomputed += other.recomputed * times;
  executed += other.executed * times;
}

Spending Spending::operator-(const Spending &other) const {
  Spending result = *this;
  result.add(other, -1);
  return result;
}

Ticks Spending::getExposed() const {
  Ticks sum = 0;
  for (Ticks part : exposed)
    sum += part;
  return sum;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

namespace {
/// Looks, from the end of a program, for reductions of gradients with backward
/// behind them: such a program says itself what hides its reductions.
class ReductionFinder {
public:
  ReductionFinder(const TraceProgram &program, ArrayRef<NodeTime> times)
      : program(program), times(times), seen(program.bodies.size()) {}

  bool find() { return visit(0, false), isFound; }

private:
  /// Whether a body has nodes of backward; `isFollowed` if some come after it.
  bool visit(uint32_t body, bool isFollowed) {
    std::optional<bool> &known = seen[body][isFollowed];
    if (known)
      return *known;
    bool hasBackward = false;
    for (TraceProgram::Step step : llvm::reverse(program.bodies[body].steps))
      hasBackward |= visit(step, isFollowed || hasBackward);
    known = hasBackward;
    return hasBackward;
  }

  bool visit(TraceProgram::Step step, bool isFollowed) {
    switch (step.kind) {
    case TraceProgram::Step::Node: {
      const NodeTemplate &node = program.nodes[step.index];
      isFound |= isFollowed && times[step.index].isTail &&
                 node.phase == kGradSyncPhase;
      return node.isComp() && node.phase == kBackwardPhase;
    }
    case TraceProgram::Step::Call:
      return visit(program.calls[step.index].body, isFollowed);
    case TraceProgram::Step::Repeat: {
      const TraceProgram::Repeat &repeat = program.repeats[step.index];
      bool hasBackward = visit(repeat.body, isFollowed);
      if (hasBackward && repeat.count > 1)
        visit(repeat.body, true);
      return hasBackward;
    }
    case TraceProgram::Step::Schedule:
      return visit(program.schedules[step.index].body, isFollowed);
    default:
      return false;
    }
  }

  const TraceProgram &program;
  ArrayRef<NodeTime> times;
  /// By body, without and with backward after it.
  std::vector<std::array<std::optional<bool>, 2>> seen;
  bool isFound = false;
};
} // namespace

ProgramTimes::ProgramTimes(const TraceProgram &program,
                           std::vector<NodeTime> times, Rules rules,
                           AxisMask classAxes, Meeting meeting)
    : program(program), times(std::move(times)), rules(rules),
      classAxes(classAxes), meeting(std::move(meeting)),
      values(program.numSlots), arrivals(program.channels.size()),
      sendChannels(program.channels.size(), kNone),
      facts(program.bodies.size()), lastSends(program.channels.size(), kNone),
      indices(program.repeats.size()), hasSeries(program.repeats.size()) {
  for (const Program::Series &series : program.series)
    hasSeries[series.repeat] = true;
  std::map<ChannelKey, uint32_t> sends;
  for (auto [i, channel] : llvm::enumerate(program.channels))
    if (channel.isSend)
      sends.emplace(channel.key, i);
  for (auto [i, channel] : llvm::enumerate(program.channels))
    if (auto it = sends.find(channel.key); it != sends.end())
      sendChannels[i] = it->second;
  for (auto [i, node] : llvm::enumerate(program.nodes))
    if (node.isMessage())
      messageTime = std::max(messageTime, this->times[i].time);
    else if (node.isTransfer())
      hostGroup = this->times[i].group;
  collectAheadFacts();
  for (const Program::Repeat &repeat : program.repeats) {
    collectMasks(repeat.body);
    for (Program::Ahead entry : repeat.ahead)
      addMask(entry.node);
  }
  if (ReductionFinder(program, this->times).find())
    for (auto [node, time] : llvm::zip_equal(program.nodes, this->times))
      time.isTail &= node.phase != kGradSyncPhase;
}

void ProgramTimes::collectAheadFacts() {
  aheadFacts.resize(program.repeats.size());
  waiting.resize(program.repeats.size());
  SmallVector<uint32_t> all; // Of the repeats that are linked with each other.
  auto visit = [&](auto &self, uint32_t repeat) -> int64_t {
    const Program::Link &link = program.getLink(repeat);
    int64_t places = 0;
    for (uint32_t inner = link.firstInner; inner != kNone;
         inner = program.getLink(inner).next)
      places += self(self, inner);
    if (link.firstInner == kNone)
      places = 1;
    all.push_back(repeat);
    // So many turns at the end emit less.
    aheadFacts[repeat].distance = (link.reach + places - 1) / places;
    return places * program.repeats[repeat].count;
  };
  for (auto [i, repeat] : llvm::enumerate(program.repeats)) {
    waiting[i].resize(repeat.ahead.size());
    const Program::Link &link = program.getLink(i);
    bool isLinked = repeat.group != 0;
    if (isLinked ? !link.isFirst || !link.around.empty() : repeat.ahead.empty())
      continue;
    all.clear();
    for (uint32_t first = i; first != kNone;
         first = program.getLink(first).next)
      visit(visit, first);
    const bool isShared = any_of(all, [&](uint32_t repeat) {
      return any_of(program.repeats[repeat].ahead, [&](Program::Ahead entry) {
        return this->isShared(entry.node);
      });
    });
    for (uint32_t repeat : all) {
      aheadFacts[repeat].repeats.assign(all.begin(), all.end());
      aheadFacts[repeat].isShared = isShared;
    }
  }
}

void ProgramTimes::addMask(uint32_t node) {
  if (isShared(node) && !is_contained(masksOfLoops, program.nodes[node].axes))
    masksOfLoops.push_back(program.nodes[node].axes);
}

/// What a body calls is in the loop, too; a repeat in it is one of the program.
void ProgramTimes::collectMasks(uint32_t body) {
  for (Program::Step step : program.bodies[body].steps)
    if (step.kind == Program::Step::Call)
      collectMasks(program.calls[step.index].body);
    else if (step.kind == Program::Step::Node ||
             step.kind == Program::Step::Series)
      addMask(program.getNode(step));
}

ProgramTimes::Value ProgramTimes::getInput(uint32_t node) const {
  Value latest;
  const Program::NodeWiring &wiring = program.wiring[node];
  for (Program::Slot slot : wiring.reads)
    if (values[slot.index].time > latest.time)
      latest = values[slot.index];
  for (Program::Slot slot : wiring.after)
    if (values[slot.index].time > latest.time)
      latest = values[slot.index];
  return latest;
}

void ProgramTimes::setOutputs(uint32_t node, Value value) {
  for (const Program::Output &output : program.wiring[node].outputs)
    values[output.slot.index] = value;
}

/// What the compute stream waits for from `start` to `end`. Of a message, the
/// time that it takes itself is communication; the rest is waiting for who
/// sends it.
void ProgramTimes::account(uint8_t cause, Ticks start, Ticks end) {
  if (cause == 0 || start >= end)
    return;
  if (cause == kOthers) {
    spending.bubble += end - start;
    return record(RecordedEvent::Bubble, kNone, 0, start, end);
  }
  bool isMessage = cause >= kMessage;
  auto group = static_cast<uint8_t>(cause - (isMessage ? kMessage : 1));
  Ticks sent = isMessage ? std::min(end - start, messageTime) : end - start;
  spending.bubble += end - start - sent;
  spending.exposed[group] += sent;
  if (group == hostGroup)
    spending.transfer += sent;
  if (end - start > sent)
    record(RecordedEvent::Bubble, kNone, group, start, end - sent);
  if (sent > 0)
    record(RecordedEvent::Exposed, kNone, group, end - sent, end);
}

void ProgramTimes::waitFor(Value value) {
  const Ticks start = clock.compute;
  if (value.time <= start)
    return;
  clock.compute = value.time;
  Ticks begun =
      value.own >= 0 ? std::max(start, value.time - value.own) : start;
  account(value.before, start, begun);
  account(value.cause, begun, value.time);
}

/// A kernel that takes so long by itself has a part of the cores while
/// collectives have the others.
void ProgramTimes::slowDown(Ticks kernel) {
  const Ticks beside = clock.occupied - clock.compute;
  if (rules.occupiedShare <= 0 || beside <= 0)
    return;
  const double share = rules.occupiedShare;
  auto slowed = static_cast<Ticks>(std::llround(
      std::min(double(kernel) * share / (1 - share), double(beside) * share)));
  if (slowed == 0)
    return;
  spending.interference += slowed;
  record(RecordedEvent::Slowed, kNone, 0, clock.compute,
         clock.compute + slowed);
  clock.compute += slowed;
}

void ProgramTimes::runCompute(uint32_t node) {
  const NodeTime &time = times[node];
  Value input = getInput(node);
  if (!time.isBehind)
    waitFor(input);
  slowDown(time.time);
  clock.compute += time.time;
  spending.kernels[static_cast<unsigned>(time.kind)] += time.time;
  spending.launch += time.launch;
  spending.operations += time.operations;
  spending.executed += time.executed;
  if (time.isRecompute)
    spending.recomputed += time.operations;
  record(RecordedEvent::Kernel, node, 0, clock.compute - time.time,
         clock.compute);
  setOutputs(node, time.isBehind && input.time > clock.compute
                       ? input
                       : Value{clock.compute, 0});
}

/// When a node begins on a stream that is free at that time, behind `last`, and
/// the cause of what it waits for: who waits for the node waits for that, too.
std::pair<Ticks, uint8_t> ProgramTimes::getStart(uint32_t node, Ticks free,
                                                 const Value &last) const {
  Ticks start = std::max(clock.compute, free);
  Value input = getInput(node);
  if (input.time > start)
    return {input.time, input.cause};
  return {start, last.cause};
}

/// What reduces gradients after the last backward could have begun earlier, and
/// what gathers parameters after the step could have been done later: so much
/// of it is hidden. False if it waits for other classes.
bool ProgramTimes::runCollective(uint32_t node) {
  const NodeTime &time = times[node];
  auto [start, before] = getStart(node, clock.collective, lastCollective);
  auto cause = static_cast<uint8_t>(1 + time.group);
  Ticks own = 0; // Of what it follows without a break, for the same reason.
  if (lastCollective.own >= 0 && start == clock.collective && before == cause) {
    own = lastCollective.own;
    before = lastCollective.before;
  }
  if (isShared(node)) {
    std::optional<Ticks> met = meeting(program.nodes[node].axes, start);
    if (!met)
      return false;
    if (*met > start) {
      before = kOthers;
      own = 0;
    }
    start = std::max(start, *met);
  }
  Ticks duration = time.time;
  if (time.isTail) {
    Ticks hidden = std::min(duration, window);
    window -= hidden;
    duration -= hidden;
    duration += static_cast<Ticks>(std::llround(rules.interference * hidden));
  } else if (!time.occupiesCores) {
    spending.background += duration;
  }
  spending.launch += time.launch;
  clock.collective = start + duration;
  if (time.occupiesCores)
    clock.occupied = clock.collective;
  // Who waits for it has waited for no longer than the kernels took.
  own = std::min(own + duration, clock.collective - clock.compute);
  lastCollective = {clock.collective, cause, 0, own, before ? before : cause};
  record(RecordedEvent::Collective, node, time.group, start, clock.collective);
  setOutputs(node, lastCollective);
  if (time.isBlocking)
    waitFor(lastCollective);
  return true;
}

/// Those of one direction follow each other in the order of the program.
void ProgramTimes::runTransfer(uint32_t node) {
  const NodeTime &time = times[node];
  const bool isLoad = program.nodes[node].kind == NodeKind::Load;
  Ticks &stream = isLoad ? clock.load : clock.store;
  Value &last = isLoad ? lastLoad : lastStore;
  auto [start, before] = getStart(node, stream, last);
  auto cause = static_cast<uint8_t>(1 + time.group);
  spending.launch += time.launch;
  stream = start + time.time;
  last = {stream, cause, 0, time.time, before ? before : cause};
  record(RecordedEvent::Transfer, node, time.group, start, stream);
  setOutputs(node, last);
}

/// To or from a rank of the same class, which is at the same place.
void ProgramTimes::runMessage(uint32_t node) {
  if (isBetween(node))
    return messaging(node);
  const NodeTime &time = times[node];
  const NodeTemplate &common = program.nodes[node];
  auto cause = static_cast<uint8_t>(1 + time.group);
  if (common.kind == NodeKind::Send) {
    clock.message =
        std::max({clock.compute, clock.message, getInput(node).time}) +
        time.time;
    arrivals[common.channel] = clock.message;
    spending.background += time.time;
    lastSends[common.channel] = getNumEvents();
    record(RecordedEvent::Send, node, time.group, clock.message - time.time,
           clock.message);
    return setOutputs(node, {clock.message, cause});
  }
  uint32_t other = sendChannels[common.channel];
  Ticks arrival = other == kNone ? clock.compute + time.time : arrivals[other];
  record(RecordedEvent::Receive, node, time.group, arrival - time.time, arrival,
         other == kNone ? kNone : lastSends[other]);
  setOutputs(node, {arrival, cause});
}

/// False if it waits for other classes.
bool ProgramTimes::runNode(uint32_t node) {
  const NodeTemplate &common = program.nodes[node];
  if (common.isColl() && !runCollective(node))
    return false;
  if (common.isComp())
    runCompute(node);
  else if (common.isTransfer())
    runTransfer(node);
  else if (common.isMessage())
    runMessage(node);
  if (pair)
    pair->own.note(*pair->schedule, common);
  return true;
}

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

/// How much later than the compute stream something is there, and why.
Ticks ProgramTimes::getRelative(Value value) const {
  Ticks late = value.time - clock.compute;
  // Of 40 hours or more upper bits are lost, by which few are told apart.
  return late > 0 ? static_cast<Ticks>(static_cast<uint64_t>(late) * 128 +
                                       value.cause)
                  : 0;
}

/// All of a value that has an effect on who waits for it.
void ProgramTimes::addRelative(Value value, Key &key) const {
  key.push_back(getRelative(value));
  if (key.back() == 0)
    return;
  key.push_back(value.own);
  key.push_back(value.before);
}

ProgramTimes::Key ProgramTimes::getSignature(const LoopFrame &frame) const {
  Key key = {getRelative({clock.message, 0}), getRelative({clock.occupied, 0})};
  addRelative(getLastCollective(), key);
  addRelative(getLastLoad(), key);
  addRelative(getLastStore(), key);
  for (Program::Carry carry : frame.repeat->carries)
    addRelative(values[carry.yielded], key);
  for (uint32_t repeat : aheadFacts[getIndex(*frame.repeat)].repeats)
    for (ArrayRef<Value> pending : waiting[repeat])
      for (Value value : pending)
        addRelative(value, key);
  return key;
}

/// As if so many more turns had been executed, each like the last.
void ProgramTimes::skipTurns(const LoopFrame &frame, int64_t count,
                             const Spending &turn) {
  const Program::Repeat &repeat = *frame.repeat;
  Ticks shift = frame.lastDuration * count;
  clock.shift(shift);
  for (Program::Carry carry : repeat.carries)
    values[carry.arg].time += shift;
  for (Program::Stack stack : repeat.stacks)
    values[stack.outer].time += shift;
  for (uint32_t other : aheadFacts[getIndex(repeat)].repeats)
    for (std::vector<Value> &pending : waiting[other])
      for (Value &value : pending)
        value.time += shift;
  spending.add(turn, count);
}

/// The events of a turn, from `firstEvent` on, so many times more.
void ProgramTimes::recordTurns(uint32_t firstEvent, int64_t turn, int64_t count,
                               Ticks duration) {
  if (!recording)
    return;
  const uint32_t last = recording->size();
  for (int64_t i = 1; i <= count; ++i) {
    recording->repeat(firstEvent, last, duration * i);
    recording->events.back().turn = static_cast<uint32_t>(turn + i);
  }
}

/// A step is a task by itself, and ends with all that it has begun.
void ProgramTimes::endStep(const LoopFrame &frame) {
  const Mark &mark = frame.mark;
  waitFor(getLastCollective());
  finishTask(mark.start, mark.spending);
  stepTimes.push_back(clock.compute - mark.start);
  if (recording)
    recording->add({RecordedEvent::Task, 0, kNone,
                    static_cast<uint32_t>(frame.turn), mark.firstEvent, kNone,
                    mark.start, mark.start, clock.compute});
}

void ProgramTimes::noteStep(uint32_t repeat, int64_t turn, Ticks start,
                            uint32_t firstEvent) {
  stepTimes.push_back(clock.compute - start);
  record(RecordedEvent::Turn, repeat, 0, start, clock.compute, firstEvent);
  if (recording)
    recording->events.back().turn = static_cast<uint32_t>(turn);
}

void ProgramTimes::beginRepeat(const Program::Repeat &repeat) {
  const BodyFacts &inside = getFacts(repeat.body);
  LoopFrame frame;
  frame.repeat = &repeat;
  frame.mayBeAlike = !pair && !hasSeries[getIndex(repeat)] &&
                     !inside.hasMessages && (!isShared(repeat) || agreement);
  // Loops in a layer, and around layers and tasks, settle nothing of their own;
  // neither do two of them side by side.
  frame.isLayer = !pair && !isInLayer && !repeat.isStep && !inside.hasCalls &&
                  !inside.hasLayers;
  isInLayer |= frame.isLayer;
  for (Program::Carry carry : repeat.carries)
    values[carry.arg] = values[carry.init];
  push(std::move(frame));
}

void ProgramTimes::beginTurn(LoopFrame &frame) {
  const Program::Repeat &repeat = *frame.repeat;
  frame.mark = getMark();
  indices[getIndex(repeat)] = repeat.getIndex(frame.turn);
  for (Program::Stack slice : repeat.slices)
    values[slice.inner] = values[slice.outer];
  frame.nodes.clear();
  frame.next = 0;
  if (repeat.ahead.empty())
    return;
  // Bodies are between repeats.
  Program::Place place = {getIndex(repeat), {}};
  size_t around = program.getLink(place.repeat).around.size();
  for (size_t i = 0; i <= around; ++i)
    place.turns.push_back(
        std::get<LoopFrame>(*frames[frames.size() - 1 - 2 * (around - i)])
            .turn);
  program.forEachAhead(place, [&](uint32_t node, const Program::Place &other) {
    frame.nodes.emplace_back(other.repeat, node);
  });
}

/// What is made ahead for a later turn waits for it. False if it waits for
/// other classes.
bool ProgramTimes::runAhead(const LoopFrame &frame) {
  auto [target, node] = frame.nodes[frame.next];
  if (!runNode(node))
    return false;
  for (auto [entry, pending] :
       llvm::zip_equal(program.repeats[target].ahead, waiting[target]))
    if (entry.node == node)
      pending.push_back(
          values[program.wiring[node].outputs.front().slot.index]);
  return true;
}

/// Makes what was made ahead for a turn visible in it.
void ProgramTimes::takeAhead(const LoopFrame &frame) {
  const Program::Repeat &repeat = *frame.repeat;
  for (auto [entry, pending] :
       llvm::zip_equal(repeat.ahead, waiting[getIndex(repeat)])) {
    setOutputs(entry.node, pending.front());
    pending.erase(pending.begin());
  }
}

void ProgramTimes::endTurn(LoopFrame &frame) {
  const Program::Repeat &repeat = *frame.repeat;
  const int64_t turn = frame.turn;
  const Mark &mark = frame.mark;
  for (Program::Stack stack : repeat.stacks)
    // Of messages that may not have been sent, the last one comes last.
    if (turn == 0 || values[stack.inner].time > values[stack.outer].time ||
        values[stack.inner].pending > values[stack.outer].pending)
      values[stack.outer] = values[stack.inner];
  if (repeat.isStep)
    endStep(frame);
  else if (frame.isLayer)
    settleHost(mark.start, mark.spending);
  record(RecordedEvent::Turn, getIndex(repeat), 0, mark.start, clock.compute,
         mark.firstEvent);
  if (recording)
    recording->events.back().turn = static_cast<uint32_t>(turn);
  SmallVector<Value, 4> yielded;
  for (Program::Carry carry : repeat.carries)
    yielded.push_back(values[carry.yielded]);
  for (auto [carry, value] : llvm::zip_equal(repeat.carries, yielded))
    values[carry.arg] = value;
  Key signature = getSignature(frame);
  Ticks duration = clock.compute - mark.start;
  frame.isAlike = duration == frame.lastDuration && signature == frame.last;
  frame.last = std::move(signature);
  frame.lastDuration = duration;
}

/// Whether the turns that are left, but for those at the end, which make
/// nothing ahead, do what this one has done; nothing while other classes that
/// meet in the loop have not ended it.
std::optional<bool> ProgramTimes::isAlike(LoopFrame &frame) {
  const Program::Repeat &repeat = *frame.repeat;
  int64_t distance = aheadFacts[getIndex(repeat)].distance;
  if (!frame.mayBeAlike || frame.turn + 1 + distance >= repeat.count)
    return false;
  if (!isShared(repeat))
    return frame.isAlike;
  return agreement(frame.isAlike ? std::optional(frame.lastDuration)
                                 : std::nullopt,
                   repeat.count - 1 - distance - frame.turn);
}

void ProgramTimes::endRepeat(const LoopFrame &frame) {
  for (Program::Carry carry : frame.repeat->carries)
    values[carry.result] = values[carry.arg];
  if (frame.isLayer)
    isInLayer = false;
}

/// False if the loop waits for other classes. What a turn executes is on top of
/// the loop until it has been executed.
bool ProgramTimes::goOn(LoopFrame &frame) {
  const Program::Repeat &repeat = *frame.repeat;
  switch (frame.place) {
  case LoopFrame::Begin:
    if (frame.turn >= repeat.count) {
      endRepeat(frame);
      frames.pop_back();
      return true;
    }
    beginTurn(frame);
    frame.place = LoopFrame::Ahead;
    [[fallthrough]];
  case LoopFrame::Ahead:
    for (; frame.next < frame.nodes.size(); ++frame.next) {
      if (givesWay(frame.nodes[frame.next].second))
        return true;
      if (!runAhead(frame))
        return false;
    }
    takeAhead(frame);
    frame.place = LoopFrame::Body;
    pushBody(repeat.body);
    return true;
  case LoopFrame::Body:
    endTurn(frame);
    frame.place = LoopFrame::End;
    [[fallthrough]];
  case LoopFrame::End:
    break;
  }
  std::optional<bool> alike = isAlike(frame);
  if (!alike)
    return false;
  if (*alike) {
    int64_t count =
        repeat.count - 1 - aheadFacts[getIndex(repeat)].distance - frame.turn;
    skipTurns(frame, count, spending - frame.mark.spending);
    recordTurns(frame.mark.firstEvent, frame.turn, count, frame.lastDuration);
    if (repeat.isStep)
      stepTimes.insert(stepTimes.end(), count, frame.lastDuration);
    frame.turn += count;
  }
  ++frame.turn;
  frame.place = LoopFrame::Begin;
  return true;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

bool ProgramTimes::run(Program::Step step) {
  outermost = step;
  push(StepFrame{outermost});
  return resume();
}

bool ProgramTimes::resume() {
  while (pair || !frames.empty()) {
    if (frames.empty()) {
      endStrand();
      continue;
    }
    Frame &frame = *frames.back();
    if (!std::visit([&](auto &own) { return goOn(own); }, frame))
      return false;
  }
  return true;
}

/// Executes steps until one has steps of its own, which are on top then. False
/// if one waits for other classes.
bool ProgramTimes::goOn(StepFrame &frame) {
  while (frame.next < frame.steps.size()) {
    Program::Step step = frame.steps[frame.next];
    switch (step.kind) {
    case Program::Step::State:
      values[program.states[step.index].slot] = {};
      break;
    case Program::Step::Node:
    case Program::Step::Series:
      if (givesWay(getNode(step)))
        return true;
      if (!runNode(getNode(step)))
        return false;
      break;
    case Program::Step::Alias:
      values[program.aliases[step.index].to] =
          values[program.aliases[step.index].from];
      break;
    case Program::Step::Repeat:
      ++frame.next;
      beginRepeat(program.repeats[step.index]);
      return true;
    case Program::Step::Call:
      ++frame.next;
      beginCall(program.calls[step.index]);
      return true;
    case Program::Step::Schedule:
      llvm_unreachable("schedules are for who knows all classes");
    }
    ++frame.next;
  }
  frames.pop_back();
  return true;
}

/// Notes what a step reads that was set outside of the body.
void ProgramTimes::collectFacts(Program::Step step, BodyFacts &facts,
                                SmallVectorImpl<bool> &isSet) {
  auto read = [&](uint32_t slot) {
    if (isSet[slot])
      return;
    isSet[slot] = true; // Once is enough.
    facts.externals.push_back(slot);
  };
  auto node = [&](uint32_t number) {
    const Program::NodeWiring &wiring = program.wiring[number];
    for (Program::Slot slot : wiring.reads)
      read(slot.index);
    for (Program::Slot slot : wiring.after)
      read(slot.index);
    for (const Program::Output &output : wiring.outputs)
      isSet[output.slot.index] = true;
    facts.hasMessages |= isBetween(number);
    facts.isShared |= isShared(number) || isBetween(number);
  };
  if (step.kind == Program::Step::State)
    isSet[program.states[step.index].slot] = true;
  if (step.kind == Program::Step::Node || step.kind == Program::Step::Series)
    node(program.getNode(step));
  if (step.kind == Program::Step::Series)
    facts.stepLoop = program.series[step.index].repeat;
  if (step.kind == Program::Step::Alias) {
    read(program.aliases[step.index].from);
    isSet[program.aliases[step.index].to] = true;
  }
  if (step.kind == Program::Step::Call) {
    const BodyFacts &callee = getFacts(program.calls[step.index].body);
    facts.hasCalls = true;
    facts.hasMessages |= callee.hasMessages;
    facts.isShared |= callee.isShared;
  }
  if (step.kind != Program::Step::Repeat)
    return;
  const Program::Repeat &repeat = program.repeats[step.index];
  facts.hasLayers |= !repeat.slices.empty();
  for (Program::Carry carry : repeat.carries) {
    read(carry.init);
    isSet[carry.arg] = true;
  }
  for (Program::Stack slice : repeat.slices) {
    read(slice.outer);
    isSet[slice.inner] = true;
  }
  for (Program::Ahead entry : repeat.ahead)
    node(entry.node);
  for (Program::Step inner : program.bodies[repeat.body].steps)
    collectFacts(inner, facts, isSet);
  for (Program::Stack stack : repeat.stacks)
    isSet[stack.outer] = true;
  for (Program::Carry carry : repeat.carries)
    isSet[carry.result] = true;
}

const ProgramTimes::BodyFacts &ProgramTimes::getFacts(uint32_t body) {
  BodyFacts &own = facts[body];
  if (own.isKnown)
    return own;
  own.isKnown = true;
  SmallVector<bool> isSet(program.numSlots, false);
  for (Program::Step step : program.bodies[body].steps)
    collectFacts(step, own, isSet);
  return own;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// All that what a call does depends on. Arguments are among the slots that the
/// body reads.
ProgramTimes::Key ProgramTimes::getKey(const Program::Call &call,
                                       const BodyFacts &facts) const {
  Key key = {static_cast<Ticks>(call.body), window,
             getRelative({clock.message, 0}), getRelative({clock.occupied, 0})};
  if (facts.stepLoop != kNone)
    key.push_back(indices[facts.stepLoop]);
  addRelative(getLastCollective(), key);
  addRelative(getLastLoad(), key);
  addRelative(getLastStore(), key);
  for (uint32_t slot : facts.externals)
    addRelative(values[slot], key);
  return key;
}

void ProgramTimes::apply(ArrayRef<const Program::Call *> calls,
                         const Effect &effect) {
  Ticks start = clock.compute;
  clock = effect.clock;
  clock.shift(start);
  lastCollective = effect.lastCollective;
  lastLoad = effect.lastLoad;
  lastStore = effect.lastStore;
  spending.add(effect.spending);
  if (recording) {
    recording->repeat(effect.firstEvent, effect.lastEvent,
                      start - effect.start);
    // They end with the calls.
    for (auto [number, call] : llvm::enumerate(calls))
      recording->events[recording->size() - calls.size() + number].index =
          getIndex(*call);
  }
  const Value *next = effect.results.begin();
  for (const Program::Call *call : calls)
    for (Program::Alias alias : call->results) {
      const Value &value = *next++;
      values[alias.to] = {start + value.time, value.cause, 0, value.own,
                          value.before};
    }
}

void ProgramTimes::beginCall(const Program::Call &call) {
  for (Program::Alias alias : call.args)
    values[alias.to] = values[alias.from];
  const BodyFacts &inside = getFacts(call.body);
  CallFrame frame = {&call, {}, getMark()};
  if (!inside.isShared) {
    frame.key = getKey(call, inside);
    if (auto it = effects.find(frame.key); it != effects.end()) {
      apply(&call, it->second);
      return noteCalls(&call, clock.compute - frame.mark.start);
    }
  }
  push(std::move(frame));
  pushBody(call.body);
}

/// Of several calls together, each takes a part of the time.
void ProgramTimes::noteCalls(ArrayRef<const Program::Call *> calls,
                             Ticks duration) {
  auto left = static_cast<int64_t>(calls.size());
  for (const Program::Call *call : calls) {
    Ticks own = duration / left--;
    noteTask(getPhase({Program::Step::Call, getIndex(*call)}), own);
    duration -= own;
  }
}

/// What the calls do has been executed.
ProgramTimes::Effect
ProgramTimes::makeEffect(const Mark &mark,
                         ArrayRef<const Program::Call *> calls) {
  const auto [start, before, firstEvent] = mark;
  finishTask(start, before);
  for (auto [number, call] : llvm::enumerate(calls)) {
    record(RecordedEvent::Body, getIndex(*call), 0, start, clock.compute,
           firstEvent);
    if (recording)
      recording->events.back().isBeside = number > 0;
  }
  Effect effect;
  effect.start = start;
  effect.firstEvent = firstEvent;
  effect.lastEvent = getNumEvents();
  effect.clock = clock;
  effect.clock.shift(-start);
  effect.lastCollective = lastCollective;
  effect.lastLoad = lastLoad;
  effect.lastStore = lastStore;
  effect.spending = spending - before;
  for (const Program::Call *call : calls)
    for (Program::Alias alias : call->results) {
      Value value = values[alias.from];
      effect.results.push_back(
          {value.time - start, value.cause, 0, value.own, value.before});
      values[alias.to] = value;
    }
  noteCalls(calls, clock.compute - start);
  return effect;
}

void ProgramTimes::endCall(CallFrame &frame) {
  Effect effect = makeEffect(frame.mark, frame.call);
  if (!frame.key.empty())
    effects.emplace(std::move(frame.key), std::move(effect));
}

bool ProgramTimes::goOn(CallFrame &frame) {
  endCall(frame);
  frames.pop_back();
  return true;
}

//===----------------------------------------------------------------------===//
// Calls side by side
//===----------------------------------------------------------------------===//

void ProgramTimes::beginPair(const Program::Schedule &schedule) {
  pair.emplace();
  pair->schedule = &schedule;
  pair->mark = getMark();
  // No body has that number.
  pair->key = {-1, schedule.switchAxes
                       ? static_cast<Ticks>(*schedule.switchAxes + 1)
                       : 0};
}

void ProgramTimes::addToPair(Program::Step step) {
  const Program::Call &call = program.calls[step.index];
  for (Program::Alias alias : call.args)
    values[alias.to] = values[alias.from];
  const BodyFacts &inside = getFacts(call.body);
  pair->isKept &= !inside.isShared;
  if (!inside.isShared)
    llvm::append_range(pair->key, getKey(call, inside));
  pair->calls.push_back(&call);
}

bool ProgramTimes::runPair() {
  if (pair->isKept)
    if (auto it = effects.find(pair->key); it != effects.end()) {
      apply(pair->calls, it->second);
      noteCalls(pair->calls, clock.compute - pair->mark.start);
      pair.reset();
      return true;
    }
  pushBody(pair->calls[1]->body);
  pair->otherFrames = std::exchange(frames, {});
  pushBody(pair->calls[0]->body);
  return resume();
}

/// True if the other one of two calls goes on before that node.
bool ProgramTimes::givesWay(uint32_t node) {
  if (!pair || pair->isOtherOver || !pair->own.givesWay(program.nodes[node]))
    return false;
  switchStrand();
  return true;
}

void ProgramTimes::switchStrand() {
  std::swap(frames, pair->otherFrames);
  std::swap(pair->own, pair->other);
  pair->isSecond = !pair->isSecond;
}

/// One of two calls has been executed.
void ProgramTimes::endStrand() {
  if (!std::exchange(pair->isOtherOver, true))
    return switchStrand();
  // What the calls settle, they settle as one, which is none of a pair.
  Pair done = std::move(*pair);
  pair.reset();
  Effect effect = makeEffect(done.mark, done.calls);
  if (done.isKept)
    effects.emplace(std::move(done.key), std::move(effect));
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

StringRef ProgramTimes::getPhase(Program::Step step) const {
  return program.findPhase(step, [](const NodeTemplate &) { return true; });
}

/// Reductions can be behind the last backward, gathers behind the next forward.
void ProgramTimes::noteTask(StringRef phase, Ticks duration) {
  if (phase == kForwardPhase)
    lastForward = duration;
  else if (phase == kBackwardPhase || phase == kRecomputePhase)
    lastBackward = duration;
  else
    return;
  window = static_cast<Ticks>(
      std::llround(rules.dataHidden * (lastForward + lastBackward)));
}

/// Kernels that run beside collectives take longer, unless the host makes the
/// task as long.
void ProgramTimes::finishTask(Ticks start, const Spending &before) {
  Spending task = spending - before;
  Ticks execution = clock.compute - start;
  Ticks hidden =
      std::max<Ticks>(0, task.background + task.transfer - task.getExposed());
  Ticks beside = static_cast<Ticks>(std::llround(rules.interference * hidden));
  Ticks slowed = std::max<Ticks>(0, task.getCompute() + beside - execution);
  if (slowed > 0) {
    spending.interference += slowed;
    clock.compute += slowed;
    record(RecordedEvent::Slowed, kNone, 0, clock.compute - slowed,
           clock.compute);
  }
  settleHost(start, before);
}

/// What has been executed since takes what is longer of its execution and its
/// launches, and a part of the other.
void ProgramTimes::settleHost(Ticks start, const Spending &before) {
  Spending since = spending - before;
  Ticks execution = clock.compute - start - since.settledTime;
  Ticks launch = since.launch - since.settledLaunch;
  Ticks host = std::max<Ticks>(0, launch - execution) +
               static_cast<Ticks>(std::llround(rules.hostExposed *
                                               std::min(launch, execution)));
  spending.settledLaunch += launch;
  spending.settledTime += execution + host;
  if (host <= 0)
    return;
  spending.host += host;
  clock.compute += host;
  record(RecordedEvent::Host, kNone, 0, clock.compute - host, clock.compute);
}
