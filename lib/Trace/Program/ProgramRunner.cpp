//===- ProgramRunner.cpp - Makes the nodes of a rank ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bodies that are being run are a stack of frames rather than calls of
// functions, so that a reader can take one node at a time.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/ProgramRunner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace stg::trace;

ProgramRunner::ProgramRunner(const TraceProgram &program)
    : program(program), slots(program.numSlots, nullptr),
      indices(program.series.empty() ? 0 : program.repeats.size(), 0),
      messages(program.channels.size(), 0),
      messagesOfTurns(program.channels.size()) {
  auto known = std::min<uint64_t>(program.bodies.front().numTensors, 1 << 22);
  instances.reserve(known);
  lastReader.reserve(known);
  prefixes.push_back("");
  Frame &frame = frames.emplace_back();
  frame.body = &program.bodies.front();
}

ProgramRunner::ProgramRunner(const TraceProgram &program, size_t numSteps,
                             uint32_t body, ArrayRef<TraceProgram::Slot> args)
    : program(program), isForTensors(true), slots(program.numSlots, nullptr),
      indices(program.series.empty() ? 0 : program.repeats.size(), 0),
      messages(program.channels.size(), 0),
      messagesOfTurns(program.channels.size()) {
  prefixes.push_back("");
  FlatNode node;
  for (TraceProgram::Step step :
       ArrayRef(program.bodies.front().steps).take_front(numSteps)) {
    if (step.kind == TraceProgram::Step::State)
      runState(program.states[step.index]);
    else if (step.kind == TraceProgram::Step::Alias)
      runAliases(program.aliases[step.index]);
    else
      pushRepeat(program.repeats[step.index]);
    [[maybe_unused]] bool hasNode = next(node);
    assert(!hasNode && "states are made by nodes");
  }
  numStates = instances.size();
  if (body == 0)
    return;
  for (TraceProgram::Slot arg : args) {
    Reference *references = allocate(arg.count);
    for (uint32_t i = 0; i < arg.count; ++i)
      references[i] = {addTensor(0, kNone, 0), kNone};
    slots[arg.index] = references;
  }
  frames.emplace_back().body = &program.bodies[body];
}

SmallVector<uint32_t> ProgramRunner::getTensors(TraceProgram::Slot slot) const {
  SmallVector<uint32_t> tensors;
  for (const Reference &reference : ArrayRef(slots[slot.index], slot.count))
    tensors.push_back(reference.tensor);
  return tensors;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

uint32_t ProgramRunner::addTensor(uint32_t tensorTemplate, uint32_t writer,
                                  uint32_t index) {
  instances.push_back({tensorTemplate, writer, prefixNumber, index});
  lastReader.push_back(kNone);
  return instances.size() - 1;
}

void ProgramRunner::runState(const TraceProgram::State &state) {
  Reference *reference = allocate(1);
  *reference = {addTensor(state.tensorTemplate, kNone, 0), kNone};
  slots[state.slot] = reference;
}

/// A tensor that was changed in place is ready after both, the node that wrote
/// it and the one that changed it last.
void ProgramRunner::depend(const Reference &reference) {
  if (reference.changer != kNone)
    deps.push_back(reference.changer);
  if (reference.tensor == kNone)
    return;
  uint32_t writer = instances[reference.tensor].writer;
  if (writer != kNone)
    deps.push_back(writer);
}

void ProgramRunner::read(TraceProgram::Slot slot, uint32_t id) {
  for (const Reference &reference : ArrayRef(slots[slot.index], slot.count)) {
    if (!isForTensors)
      depend(reference);
    uint32_t &reader = lastReader[reference.tensor];
    if (reader != id)
      inputs.push_back(reference.tensor);
    reader = id;
  }
}

void ProgramRunner::makeOutput(const TraceProgram::Output &output,
                               uint32_t firstOutput) {
  Reference *references = allocate(output.slot.count);
  for (uint32_t i = 0; i < output.slot.count; ++i) {
    switch (output.kind) {
    case TraceProgram::Output::New: {
      uint32_t index = instances.size() - firstOutput;
      references[i] = {addTensor(output.tensorTemplate, nextId, index), kNone};
      break;
    }
    case TraceProgram::Output::InPlace:
      references[i] = {slots[output.source][i].tensor, nextId};
      break;
    case TraceProgram::Output::Token:
      references[i] = {kNone, nextId};
      break;
    }
  }
  slots[output.slot.index] = references;
}

/// The k-th message of a channel has the k-th of its tags; in a schedule each
/// turn has a channel, and one message each time that it is executed.
uint32_t ProgramRunner::takeTag(uint32_t number) {
  const Channel &channel = program.channels[number];
  if (channel.turns == 0)
    return channel.firstTag + messages[number]++;
  std::vector<uint32_t> &ofTurns = messagesOfTurns[number];
  uint32_t turn = progress.entry.turn;
  if (turn >= ofTurns.size())
    ofTurns.resize(turn + 1);
  return channel.firstTag + turn * channel.tagStride + ofTurns[turn]++;
}

void ProgramRunner::runNode(uint32_t index, FlatNode &node) {
  const NodeTemplate &common = program.nodes[index];
  const TraceProgram::NodeWiring &wiring = program.wiring[index];
  deps.clear();
  inputs.clear();
  for (TraceProgram::Slot slot : wiring.reads)
    read(slot, nextId);
  if (!isForTensors) {
    for (TraceProgram::Slot slot : wiring.after)
      for (const Reference &reference : ArrayRef(slots[slot.index], slot.count))
        depend(reference);
    llvm::sort(deps);
    deps.erase(llvm::unique(deps), deps.end());
  }
  uint32_t firstOutput = instances.size();
  for (const TraceProgram::Output &output : wiring.outputs)
    makeOutput(output, firstOutput);
  if (!isForTensors)
    addControl(common);
  uint32_t tag = common.isMessage() ? takeTag(common.channel) : 0;
  node = {nextId,      &common,
          prefix,      deps,
          ctrlDeps,    inputs,
          firstOutput, static_cast<uint32_t>(instances.size()) - firstOutput,
          tag};
  if (common.isComp())
    lastComp = nextId;
  else if (common.kind == NodeKind::Load)
    lastLoad = nextId;
  else if (common.kind == NodeKind::Store)
    lastStore = nextId;
  else if (common.kind != NodeKind::Recv)
    lastComm = nextId;
  if (common.kind == NodeKind::Store && !frames.empty())
    frames.back().stores.front() = nextId;
  if (isPaired)
    own.note(*outer.back().schedule, common);
  ++nextId;
}

/// Compute nodes are a stream, and so are collectives and sends together,
/// loads, and stores: a link has both directions at a time. A receive, a load,
/// and a collective that waits for no node, is issued when the compute stream
/// has come to its place: what it makes takes memory from then on. At the start
/// of a turn the compute stream waits for the stores of the turn before the
/// last, so that few buffers wait for theirs.
void ProgramRunner::addControl(const NodeTemplate &node) {
  ctrlDeps.clear();
  auto add = [&](uint32_t id) {
    if (id != kNone)
      ctrlDeps.push_back(id);
  };
  if (node.isComp()) {
    add(lastComp);
    add(std::exchange(awaitedStore, kNone));
  } else if (node.kind == NodeKind::Load) {
    add(lastLoad);
    add(lastComp);
  } else if (node.kind == NodeKind::Store) {
    add(lastStore);
  } else {
    if (node.kind != NodeKind::Recv)
      add(lastComm);
    if (deps.empty() && node.kind != NodeKind::Send)
      add(lastComp);
  }
  llvm::sort(ctrlDeps);
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

/// Names of tensors refer to the prefix they were made under.
void ProgramRunner::notePrefix() {
  prefixNumber = prefixes.size();
  prefixes.push_back(StringRef(prefix).copy(allocator));
}

void ProgramRunner::runAliases(ArrayRef<TraceProgram::Alias> aliases) {
  for (TraceProgram::Alias alias : aliases)
    slots[alias.to] = slots[alias.from];
}

void ProgramRunner::pushCall(const TraceProgram::Call &call) {
  runAliases(call.args);
  Frame &frame = frames.emplace_back();
  frame.body = &program.bodies[call.body];
  frame.call = &call;
  frame.outerPrefix = prefix.size();
  frame.outerNumber = prefixNumber;
  if (call.scope.empty())
    return;
  prefix.append(call.scope);
  prefix.push_back('.');
  notePrefix();
}

void ProgramRunner::pushRepeat(const TraceProgram::Repeat &repeat) {
  Frame &frame = frames.emplace_back();
  frame.body = &program.bodies[repeat.body];
  frame.repeat = &repeat;
  frame.outerPrefix = prefix.size();
  frame.outerNumber = prefixNumber;
  for (const TraceProgram::Stack &stack : repeat.stacks)
    frame.stacks.push_back(allocate(repeat.count * stack.count));
  for (const TraceProgram::Carry &carry : repeat.carries)
    slots[carry.arg] = slots[carry.init];
  if (repeat.count > 0)
    return beginTurn(frame);
  endRepeat(frame);
  frames.pop_back();
}

/// Sets names and slices for a turn.
void ProgramRunner::enterIteration(const TraceProgram::Repeat &repeat,
                                   size_t outerPrefix, int64_t turn) {
  if (!isForTensors) {
    prefix.resize(outerPrefix);
    prefix.append(repeat.name);
    prefix.push_back('.');
    prefix.append(llvm::utostr(repeat.getNumber(turn)));
    prefix.push_back('.');
    notePrefix();
  }
  int64_t index = repeat.getIndex(turn);
  if (!indices.empty())
    indices[program.getIndex(repeat)] = index;
  // Of what nothing has made yet nothing is read.
  for (const TraceProgram::Stack &slice : repeat.slices)
    slots[slice.inner] =
        slots[slice.outer] ? slots[slice.outer] + index * slice.count : nullptr;
}

/// The turn that the last frame is in, which is that of a repeat.
TraceProgram::Place ProgramRunner::getPlace() const {
  TraceProgram::Place place = {program.getIndex(*frames.back().repeat), {}};
  size_t around = program.getLink(place.repeat).around.size();
  for (const Frame &frame : ArrayRef(frames).take_back(around + 1))
    place.turns.push_back(frame.turn);
  return place;
}

/// Sets names and slices for a turn of the repeat of the last frame, or of one
/// that is linked with it.
void ProgramRunner::enterPlace(const TraceProgram::Place &place) {
  uint32_t own = program.getIndex(*frames.back().repeat);
  size_t around = program.getLink(own).around.size();
  size_t base = frames[frames.size() - 1 - around].outerPrefix;
  for (auto [repeat, turn] :
       llvm::zip_first(program.getLink(place.repeat).around, place.turns)) {
    enterIteration(program.repeats[repeat], base, turn);
    base = prefix.size();
  }
  enterIteration(program.repeats[place.repeat], base, place.turns.back());
}

/// Goes back to the turn that the last frame is in: names and slices may be
/// those of another one.
void ProgramRunner::reenterTurn() {
  uint32_t own = program.getIndex(*frames.back().repeat);
  size_t first = frames.size() - 1 - program.getLink(own).around.size();
  for (size_t i = first; i < frames.size(); ++i) {
    if (i > first) {
      frames[i].outerPrefix = prefix.size();
      frames[i].outerNumber = prefixNumber;
    }
    enterIteration(*frames[i].repeat, frames[i].outerPrefix, frames[i].turn);
  }
}

void ProgramRunner::beginTurn(Frame &frame) {
  const TraceProgram::Repeat &repeat = *frame.repeat;
  frame.step = 0;
  frame.due.clear();
  frame.nextDue = 0;
  frame.isEntered = repeat.ahead.empty();
  if (frame.isEntered)
    return enterIteration(repeat, frame.outerPrefix, frame.turn);
  program.forEachAhead(getPlace(),
                       [&](uint32_t node, const TraceProgram::Place &place) {
                         frame.due.push_back({node, place});
                       });
}

/// Runs a node of this or a later turn that is due at the start of this one.
void ProgramRunner::runDueNode(Frame &frame, FlatNode &node) {
  const auto &[index, place] = frame.due[frame.nextDue++];
  enterPlace(place);
  // What it reads may have been made even further ahead.
  for (const TraceProgram::Ahead &entry : program.repeats[place.repeat].ahead)
    if (auto it = aheadOutputs.find({entry.node, place.turns});
        it != aheadOutputs.end())
      setAheadOutputs(entry.node, it->second);
  runNode(index, node);
  auto &made = aheadOutputs[{index, place.turns}];
  made.clear();
  for (const TraceProgram::Output &output : program.wiring[index].outputs)
    made.push_back(slots[output.slot.index]);
}

void ProgramRunner::setAheadOutputs(uint32_t node,
                                    ArrayRef<const Reference *> made) {
  for (auto [output, reference] :
       llvm::zip_equal(program.wiring[node].outputs, made))
    slots[output.slot.index] = reference;
}

/// Makes their results visible in the turn that they belong to.
void ProgramRunner::takeDueNodes(const Frame &frame) {
  TraceProgram::Place place = getPlace();
  for (const TraceProgram::Ahead &entry : frame.repeat->ahead) {
    auto it = aheadOutputs.find({entry.node, place.turns});
    setAheadOutputs(entry.node, it->second);
    aheadOutputs.erase(it);
  }
}

void ProgramRunner::endTurn(Frame &frame) {
  const TraceProgram::Repeat &repeat = *frame.repeat;
  int64_t index = repeat.getIndex(frame.turn);
  for (auto [stack, references] : llvm::zip_equal(repeat.stacks, frame.stacks))
    llvm::copy(ArrayRef(slots[stack.inner], stack.count),
               references + index * stack.count);
  // All are read before any is set: a body may yield its arguments swapped.
  carried.clear();
  for (const TraceProgram::Carry &carry : repeat.carries)
    carried.push_back(slots[carry.yielded]);
  for (auto [carry, reference] : llvm::zip_equal(repeat.carries, carried))
    slots[carry.arg] = reference;
  awaitedStore = frame.stores[1];
  frame.stores = {kNone, frame.stores[0]};
  ++frame.turn;
}

void ProgramRunner::endRepeat(const Frame &frame) {
  for (const TraceProgram::Carry &carry : frame.repeat->carries)
    slots[carry.result] = slots[carry.arg];
  for (auto [stack, references] :
       llvm::zip_equal(frame.repeat->stacks, frame.stacks))
    slots[stack.outer] = references;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

void ProgramRunner::pushSchedule(const TraceProgram::Schedule &schedule) {
  Frame &frame = frames.emplace_back();
  frame.body = &program.bodies[schedule.body];
  frame.schedule = &schedule;
  frame.outerPrefix = prefix.size();
  frame.outerNumber = prefixNumber;
  progress = Progress();
  progress.values.assign(schedule.lanes.size() * size_t(schedule.count),
                         nullptr);
  for (auto [number, lane] : llvm::enumerate(schedule.lanes))
    for (auto [turn, slot] : llvm::enumerate(lane.inits)) {
      progress.values[number * schedule.count + turn] = slots[slot];
      slots[lane.slot] = slots[slot]; // For who reads it past the lanes.
    }
  progress.slots = ScheduledSlots(program, schedule);
}

/// Keeps what the last step has set for its turn.
void ProgramRunner::storeLanes(const TraceProgram::Schedule &schedule) {
  for (auto [slot, lane] : progress.slots.sets[progress.entry.step])
    progress.values[size_t(lane) * schedule.count + progress.entry.turn] =
        slots[slot];
  progress.isExecuting = false;
}

/// Goes on to the next entry of the order: sets names and slots for its turn.
TraceProgram::Step
ProgramRunner::takeEntry(const TraceProgram::Schedule &schedule,
                         size_t outerPrefix) {
  const ExecutionOrder::Run &run = schedule.order.runs[progress.run];
  progress.entry =
      ExecutionOrder::getEntry(run.items[progress.item], progress.times);
  if (++progress.item == run.items.size()) {
    progress.item = 0;
    if (++progress.times == run.times) {
      progress.times = 0;
      ++progress.run;
    }
  }
  prefix.resize(outerPrefix);
  prefix.append(schedule.name);
  prefix.append(llvm::utostr(progress.entry.turn));
  prefix.push_back('.');
  notePrefix();
  for (auto [slot, lane] : progress.slots.reads[progress.entry.step])
    slots[slot] =
        progress.values[size_t(lane) * schedule.count + progress.entry.turn];
  return program.bodies[schedule.body].steps[progress.entry.step];
}

/// What is side by side is of one run.
bool ProgramRunner::isNextBeside(const TraceProgram::Schedule &schedule) const {
  return progress.item > 0 &&
         schedule.order.runs[progress.run].items[progress.item].isBeside;
}

/// Goes on to the next entry, and to one beside it, and begins to execute them;
/// true if that is a node.
bool ProgramRunner::runScheduled(const TraceProgram::Schedule &schedule,
                                 FlatNode &node) {
  if (progress.isExecuting)
    storeLanes(schedule);
  if (progress.run == schedule.order.runs.size()) {
    popFrame();
    return false;
  }
  const size_t outerPrefix = frames.back().outerPrefix;
  TraceProgram::Step step = takeEntry(schedule, outerPrefix);
  if (!isNextBeside(schedule)) {
    progress.isExecuting = true;
    return runStep(step, node);
  }
  outer = std::exchange(frames, {});
  runStep(step, node); // Both are calls, which make no node yet.
  other = {std::exchange(frames, {}), prefix, prefixNumber, progress.entry, {}};
  runStep(takeEntry(schedule, outerPrefix), node);
  own = TraceProgram::Relay();
  isPaired = true;
  isOtherOver = false;
  switchStrand(); // The first one begins.
  return false;
}

/// Goes on with the other one of two steps.
void ProgramRunner::switchStrand() {
  std::swap(frames, other.frames);
  std::swap(prefix, other.prefix);
  std::swap(prefixNumber, other.prefixNumber);
  std::swap(progress.entry, other.entry);
  std::swap(own, other.relay);
}

/// One of two steps has been executed.
void ProgramRunner::endStrand() {
  storeLanes(*outer.back().schedule);
  if (!std::exchange(isOtherOver, true))
    return switchStrand();
  isPaired = false;
  frames = std::exchange(outer, {});
}

/// Ends a body, or one turn of it.
void ProgramRunner::popFrame() {
  Frame &frame = frames.back();
  if (frame.repeat) {
    endTurn(frame);
    if (frame.turn < frame.repeat->count)
      return beginTurn(frame);
    endRepeat(frame);
  } else if (frame.call) {
    runAliases(frame.call->results);
  }
  prefix.resize(frame.outerPrefix);
  prefixNumber = frame.outerNumber;
  frames.pop_back();
}

/// Executes a step, or begins to; true if that is a node.
bool ProgramRunner::runStep(TraceProgram::Step step, FlatNode &node) {
  switch (step.kind) {
  case TraceProgram::Step::State:
    runState(program.states[step.index]);
    return false;
  case TraceProgram::Step::Node:
    runNode(step.index, node);
    return true;
  case TraceProgram::Step::Series: {
    const TraceProgram::Series &series = program.series[step.index];
    runNode(series.getNode(indices[series.repeat]), node);
    return true;
  }
  case TraceProgram::Step::Alias:
    runAliases(program.aliases[step.index]);
    return false;
  case TraceProgram::Step::Repeat:
    pushRepeat(program.repeats[step.index]);
    return false;
  case TraceProgram::Step::Call:
    pushCall(program.calls[step.index]);
    return false;
  case TraceProgram::Step::Schedule:
    pushSchedule(program.schedules[step.index]);
    return false;
  }
  llvm_unreachable("a step of no known kind");
}

bool ProgramRunner::next(FlatNode &node) {
  while (isPaired || !frames.empty()) {
    if (frames.empty()) {
      endStrand();
      continue;
    }
    Frame &frame = frames.back();
    if (!frame.isEntered && frame.repeat) {
      if (frame.nextDue < frame.due.size()) {
        if (givesWay(frame.due[frame.nextDue].first)) {
          switchStrand();
          continue;
        }
        runDueNode(frame, node);
        return true;
      }
      reenterTurn();
      takeDueNodes(frame);
      frame.isEntered = true;
    }
    if (frame.schedule) {
      if (runScheduled(*frame.schedule, node))
        return true;
      continue;
    }
    if (frame.step == frame.body->steps.size()) {
      popFrame();
      continue;
    }
    TraceProgram::Step step = frame.body->steps[frame.step];
    if ((step.kind == TraceProgram::Step::Node ||
         step.kind == TraceProgram::Step::Series) &&
        givesWay(program.getNode(step))) {
      switchStrand();
      continue;
    }
    ++frame.step;
    if (runStep(step, node))
      return true;
  }
  return false;
}
