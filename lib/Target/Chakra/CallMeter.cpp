//===- CallMeter.cpp - Memory of a program that is many calls -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallMeter.h"
#include "llvm/ADT/STLExtras.h"

using namespace stg::chakra;
using namespace stg::trace;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// What bodies do
//===----------------------------------------------------------------------===//

/// Finds what each result is; false if that is not one thing.
bool CallMeter::summarizeResults(const ProgramRunner &runner,
                                 const TraceProgram::Call &call,
                                 uint32_t numArgs, BodySummary &summary) {
  uint32_t numStates = runner.getNumStates(), firstLocal = numStates + numArgs;
  ArrayRef<TensorInstance> instances = runner.getInstances();
  std::vector<uint32_t> owner(instances.size(), kNone); ///< In `made`.
  std::map<uint32_t, uint32_t> argAt; ///< By its first tensor.
  uint32_t next = numStates;
  for (auto [number, arg] : llvm::enumerate(call.args)) {
    argAt[next] = number;
    next += program.slotCounts[arg.to];
  }
  for (TraceProgram::Alias result : call.results) {
    SmallVector<uint32_t> tensors =
        runner.getTensors({result.from, program.slotCounts[result.from]});
    Result &kind = summary.results.emplace_back();
    if (llvm::all_of(tensors,
                     [&](uint32_t t) { return t == kNone || t < numStates; }))
      continue;
    uint32_t first = tensors.front();
    auto arg = argAt.find(first);
    if (arg != argAt.end()) {
      // All of the argument, in order.
      if (tensors.size() != program.slotCounts[call.args[arg->second].to])
        return false;
      for (auto [i, tensor] : llvm::enumerate(tensors))
        if (tensor != first + i)
          return false;
      kind = {Result::Argument, arg->second};
      continue;
    }
    kind = {Result::Made, static_cast<uint32_t>(summary.made.size())};
    Returned &made = summary.made.emplace_back();
    Templates templates;
    for (uint32_t tensor : tensors) {
      if (tensor == kNone || tensor < firstLocal || owner[tensor] != kNone)
        return false;
      owner[tensor] = kind.number;
      uint32_t reader = runner.getLastReaders()[tensor];
      const TensorInstance &instance = instances[tensor];
      made.tensors.push_back({instance.tensorTemplate, instance.writer,
                              reader == kNone ? instance.writer : reader});
      templates.push_back(instance.tensorTemplate);
    }
    made.templates = intern(std::move(templates));
  }
  for (uint32_t tensor = firstLocal; tensor < instances.size(); ++tensor) {
    const TensorInstance &instance = instances[tensor];
    if (instance.writer == kNone) // A state within a body.
      return false;
    uint32_t reader = runner.getLastReaders()[tensor];
    if (owner[tensor] == kNone)
      summary.locals.push_back({instance.tensorTemplate, instance.writer,
                                reader == kNone ? instance.writer : reader});
  }
  return true;
}

/// Runs a body on tensors that stand for those of any call; null if calls of it
/// cannot be told by slots.
const CallMeter::BodySummary *
CallMeter::summarize(const TraceProgram::Call &call) {
  auto [it, isNew] = summaries.try_emplace(call.body);
  if (!isNew)
    return it->second ? &*it->second : nullptr;
  SmallVector<Slot> args;
  uint32_t numArgs = 0;
  for (TraceProgram::Alias arg : call.args) {
    args.push_back({arg.to, program.slotCounts[arg.to]});
    numArgs += args.back().count;
  }
  ProgramRunner runner(program, firstStep, call.body, args);
  BodySummary summary;
  FlatNode node;
  while (runner.next(node))
    ++summary.numNodes;
  ArrayRef<uint32_t> readers =
      runner.getLastReaders().slice(runner.getNumStates(), numArgs);
  for (Slot arg : args) {
    ArrayRef<uint32_t> own = readers.take_front(arg.count);
    readers = readers.drop_front(arg.count);
    bool isUnread = llvm::all_of(own, [](uint32_t r) { return r == kNone; });
    if (!isUnread && llvm::is_contained(own, kNone))
      return nullptr;
    summary.lastReaders.push_back(isUnread ? std::vector<uint32_t>()
                                           : own.vec());
  }
  if (!summarizeResults(runner, call, numArgs, summary))
    return nullptr;
  it->second = std::move(summary);
  return &*it->second;
}

//===----------------------------------------------------------------------===//
// What the steps read
//===----------------------------------------------------------------------===//

/// Finds where the states end: what comes first and makes no nodes.
bool CallMeter::enterStates() {
  const std::vector<Step> &steps = program.bodies.front().steps;
  auto isNode = [&](Step step) {
    return step.kind == Step::Call || step.kind == Step::Schedule ||
           program.getNumNodes(step) > 0;
  };
  firstStep = llvm::find_if(steps, isNode) - steps.begin();
  size_t numCalls = 0;
  for (Step step : ArrayRef(steps).drop_front(firstStep)) {
    if (step.kind == Step::Repeat || step.kind == Step::State)
      return false;
    if (step.kind == Step::Schedule)
      enterLanes(program.schedules[step.index]);
    numCalls += step.kind == Step::Call || step.kind == Step::Schedule;
  }
  return numCalls > 1 && readsOnlyStates();
}

/// Each turn has its own groups, behind those of slots.
void CallMeter::enterLanes(const TraceProgram::Schedule &schedule) {
  groupOf.resize(std::max<size_t>(groupOf.size(), program.numSlots), kNone);
  laneOf.resize(program.numSlots, kNone);
  for (const TraceProgram::Lane &lane : schedule.lanes) {
    laneOf[lane.slot] = groupOf.size();
    groupOf.resize(groupOf.size() + schedule.count, kNone);
  }
}

/// Calls `visit(step, number)` for the steps at the top after the states, and
/// those of schedules in their order and turns, until one returns false.
template <typename Fn> bool CallMeter::forEachStep(Fn visit) {
  uint32_t number = 0;
  for (Step step :
       ArrayRef(program.bodies.front().steps).drop_front(firstStep)) {
    if (step.kind != Step::Schedule) {
      if (!visit(step, number++))
        return false;
      continue;
    }
    const TraceProgram::Schedule &schedule = program.schedules[step.index];
    ArrayRef<Step> steps = program.bodies[schedule.body].steps;
    for (const stg::ExecutionOrder::Run &run : schedule.order.runs)
      for (uint32_t i = 0; i < run.times; ++i)
        for (const stg::ExecutionOrder::Item &item : run.items) {
          turn = stg::ExecutionOrder::getEntry(item, i).turn;
          if (!visit(steps[item.step], number++))
            return false;
        }
  }
  return true;
}

/// True if no body reads what a step at the top makes but by its arguments.
bool CallMeter::readsOnlyStates() const {
  std::vector<bool> isMade(program.numSlots),
      isScheduled(program.bodies.size());
  auto addMade = [&](Step step) {
    if (step.kind == Step::Node)
      for (const TraceProgram::Output &output :
           program.wiring[step.index].outputs)
        isMade[output.slot.index] = true;
    else if (step.kind == Step::Alias)
      isMade[program.aliases[step.index].to] = true;
    else if (step.kind == Step::Call)
      for (TraceProgram::Alias result : program.calls[step.index].results)
        isMade[result.to] = true;
  };
  llvm::for_each(ArrayRef(program.bodies.front().steps).drop_front(firstStep),
                 addMade);
  for (const TraceProgram::Schedule &schedule : program.schedules) {
    isScheduled[schedule.body] = true;
    llvm::for_each(program.bodies[schedule.body].steps, addMade);
  }
  auto isRead = [&](uint32_t slot) { return bool(isMade[slot]); };
  for (const TraceProgram::Schedule &schedule : program.schedules)
    for (const TraceProgram::Lane &lane : schedule.lanes)
      if (llvm::any_of(lane.inits, isRead))
        return false;
  for (auto [number, body] : llvm::enumerate(program.bodies)) {
    if (number == 0 || isScheduled[number])
      continue;
    for (Step step : body.steps)
      if (step.kind == Step::Call || readsAny(step, isRead))
        return false;
  }
  return true;
}

/// True if a step of a body reads a slot of those.
bool CallMeter::readsAny(Step step,
                         llvm::function_ref<bool(uint32_t)> isOne) const {
  auto readsNode = [&](uint32_t node) {
    const TraceProgram::NodeWiring &wiring = program.wiring[node];
    return llvm::any_of(llvm::concat<const Slot>(wiring.reads, wiring.after),
                        [&](Slot slot) { return isOne(slot.index); });
  };
  if (step.kind == Step::Node)
    return readsNode(step.index);
  if (step.kind == Step::Alias)
    return isOne(program.aliases[step.index].from);
  if (step.kind != Step::Repeat)
    return false;
  const TraceProgram::Repeat &repeat = program.repeats[step.index];
  return llvm::any_of(repeat.carries,
                      [&](const TraceProgram::Carry &carry) {
                        return isOne(carry.init) || isOne(carry.yielded);
                      }) ||
         llvm::any_of(repeat.slices,
                      [&](const TraceProgram::Stack &slice) {
                        return isOne(slice.outer);
                      }) ||
         llvm::any_of(repeat.stacks,
                      [&](const TraceProgram::Stack &stack) {
                        return isOne(stack.inner);
                      }) ||
         llvm::any_of(repeat.ahead, [&](const TraceProgram::Ahead &entry) {
           return readsNode(entry.node);
         });
}

/// Notes that a step reads a value; false if it has read it before, as what
/// reads it last is then not told by one argument.
bool CallMeter::touch(uint32_t slot, uint32_t step) {
  uint32_t group = getGroup(slot);
  if (group == kNone)
    return true;
  bool isFirst = groups[group].lastStep != step;
  groups[group].lastStep = step;
  return isFirst;
}

const CallMeter::Templates *CallMeter::intern(Templates templates) {
  std::vector<std::pair<int64_t, TensorCategory>> key;
  for (uint32_t tensor : templates)
    key.emplace_back(program.tensors[tensor].bytes,
                     program.tensors[tensor].category);
  return &interned.try_emplace(std::move(key), std::move(templates))
              .first->second;
}

/// A value is made: in the first walk, a further group; in the second, the next
/// of those that are known.
void CallMeter::makeGroup(uint32_t slot, const Templates *templates,
                          uint32_t step) {
  if (nextGroup == groups.size())
    groups.push_back({templates, step});
  getGroup(slot) = nextGroup++;
}

/// The groups of what a call reads and makes. A slot can be both, where
/// something is handed from turn to turn.
void CallMeter::moveGroups(const TraceProgram::Call &call,
                           const BodySummary &summary, uint32_t step) {
  argGroups.clear();
  for (TraceProgram::Alias arg : call.args)
    argGroups.push_back(getGroup(arg.from));
  resultGroups.clear();
  for (auto [slots, result] : llvm::zip_equal(call.results, summary.results)) {
    if (result.kind == Result::Made)
      makeGroup(slots.to, summary.made[result.number].templates, step);
    else if (result.kind == Result::Argument)
      getGroup(slots.to) = argGroups[result.number];
    else
      getGroup(slots.to) = kNone;
    resultGroups.push_back(getGroup(slots.to));
  }
}

bool CallMeter::enterCall(const TraceProgram::Call &call, uint32_t step) {
  const BodySummary *summary = summarize(call);
  if (!summary)
    return false;
  for (auto [arg, readers] : llvm::zip_equal(call.args, summary->lastReaders))
    if (!readers.empty() && !touch(arg.from, step))
      return false;
  moveGroups(call, *summary, step);
  return true;
}

void CallMeter::enterNode(uint32_t node, uint32_t step) {
  for (Slot slot : program.wiring[node].reads)
    touch(slot.index, step);
  makeOutputs(program.wiring[node], step);
}

void CallMeter::makeOutputs(const TraceProgram::NodeWiring &wiring,
                            uint32_t step) {
  for (const TraceProgram::Output &output : wiring.outputs) {
    if (output.kind == TraceProgram::Output::InPlace)
      getGroup(output.slot.index) = getGroup(output.source);
    else if (output.kind == TraceProgram::Output::New)
      makeGroup(output.slot.index,
                intern(Templates(output.slot.count, output.tensorTemplate)),
                step);
    else
      getGroup(output.slot.index) = kNone;
  }
}

//===----------------------------------------------------------------------===//
// What is live
//===----------------------------------------------------------------------===//

static void add(CategoryBytes &bytes, const TraceProgram &program,
                uint32_t tensorTemplate, int sign) {
  const TensorTemplate &common = program.tensors[tensorTemplate];
  bytes[common.category] += sign * __int128(common.bytes);
}

static CategoryBytes plus(CategoryBytes lhs, const CategoryBytes &rhs) {
  for (auto [to, from] : llvm::zip_equal(lhs.bytes, rhs.bytes))
    to += from;
  return lhs;
}

/// Each to at least what is in the other.
static void raiseTo(CategoryBytes &bytes, const CategoryBytes &least) {
  for (auto [to, from] : llvm::zip_equal(bytes.bytes, least.bytes))
    to = std::max(to, from);
}

CallMeter::Profile CallMeter::makeProfile(const BodySummary &summary,
                                          uint32_t step) {
  std::vector<CategoryBytes> born(summary.numNodes), freed(summary.numNodes);
  for (const Tensor &tensor : summary.locals) {
    add(born[tensor.birth], program, tensor.tensorTemplate, 1);
    add(freed[tensor.death], program, tensor.tensorTemplate, -1);
  }
  for (auto [group, result] : llvm::zip_equal(resultGroups, summary.results)) {
    if (result.kind != Result::Made)
      continue;
    for (const Tensor &tensor : summary.made[result.number].tensors) {
      add(born[tensor.birth], program, tensor.tensorTemplate, 1);
      if (dies(group, step))
        add(freed[tensor.death], program, tensor.tensorTemplate, -1);
    }
  }
  for (auto [group, readers] :
       llvm::zip_equal(argGroups, summary.lastReaders)) {
    if (readers.empty() || !dies(group, step))
      continue;
    for (auto [reader, tensor] :
         llvm::zip_equal(readers, *groups[group].templates))
      add(freed[reader], program, tensor, -1);
  }
  Profile profile;
  for (uint32_t node = 0; node < summary.numNodes; ++node) {
    CategoryBytes now = plus(profile.change, born[node]);
    if (node == 0)
      profile.peak = profile.largest = now;
    raiseTo(profile.largest, now);
    if (now.getTotal() > profile.peak.getTotal()) {
      profile.peak = now;
      profile.peakNode = node;
    }
    profile.change = plus(now, freed[node]);
  }
  return profile;
}

void CallMeter::advance(const Profile &profile, uint32_t numNodes) {
  CategoryBytes peak = plus(live, profile.peak);
  raiseTo(totals.largest, plus(live, profile.largest));
  if (peak.getTotal() > totals.peak.getTotal()) {
    totals.peak = peak;
    totals.peakNode = nextNode + profile.peakNode;
  }
  live = plus(live, profile.change);
  nextNode += numNodes;
}

void CallMeter::runCall(const TraceProgram::Call &call, uint32_t step) {
  const BodySummary &summary = *summaries[call.body];
  moveGroups(call, summary, step);
  if (summary.numNodes == 0)
    return;
  key.assign(1, &summary);
  for (auto [group, readers] :
       llvm::zip_equal(argGroups, summary.lastReaders)) {
    bool isLast = !readers.empty() && dies(group, step);
    key.push_back(isLast ? groups[group].templates : nullptr);
  }
  for (auto [group, result] : llvm::zip_equal(resultGroups, summary.results))
    key.push_back(result.kind == Result::Made && dies(group, step) ? &summary
                                                                   : nullptr);
  LastProfile &last = lastProfiles[&call - program.calls.data()];
  if (!last.profile || last.key != key) {
    auto it = profiles.find(key);
    if (it == profiles.end())
      it = profiles.try_emplace(key, makeProfile(summary, step)).first;
    last = {key, &it->second};
  }
  advance(*last.profile, summary.numNodes);
}

void CallMeter::runNode(uint32_t node, uint32_t step) {
  const TraceProgram::NodeWiring &wiring = program.wiring[node];
  Profile profile;
  SmallVector<uint32_t> freed;
  for (Slot slot : wiring.reads)
    if (dies(getGroup(slot.index), step) &&
        !llvm::is_contained(freed, getGroup(slot.index)))
      freed.push_back(getGroup(slot.index));
  makeOutputs(wiring, step);
  for (const TraceProgram::Output &output : wiring.outputs) {
    if (output.kind != TraceProgram::Output::New)
      continue;
    uint32_t group = getGroup(output.slot.index);
    for (uint32_t tensor : *groups[group].templates)
      add(profile.peak, program, tensor, 1);
    if (dies(group, step))
      freed.push_back(group);
  }
  profile.largest = profile.change = profile.peak;
  for (uint32_t group : freed)
    for (uint32_t tensor : *groups[group].templates)
      add(profile.change, program, tensor, -1);
  advance(profile, 1);
}

void CallMeter::runAlias(TraceProgram::Alias alias) {
  getGroup(alias.to) = getGroup(alias.from);
}

/// Finds what is made and read last in a step.
bool CallMeter::enterStep(Step step, uint32_t number) {
  if (step.kind == Step::Call)
    return enterCall(program.calls[step.index], number);
  if (step.kind == Step::Node)
    enterNode(step.index, number);
  else
    runAlias(program.aliases[step.index]);
  return true;
}

void CallMeter::runStep(Step step, uint32_t number) {
  if (step.kind == Step::Call)
    runCall(program.calls[step.index], number);
  else if (step.kind == Step::Node)
    runNode(step.index, number);
  else
    runAlias(program.aliases[step.index]);
}

std::optional<MemoryTotals> CallMeter::run() {
  if (!enterStates())
    return std::nullopt;
  groupOf.resize(std::max<size_t>(groupOf.size(), program.numSlots), kNone);
  lastProfiles.resize(program.calls.size());
  if (!forEachStep(
          [&](Step step, uint32_t number) { return enterStep(step, number); }))
    return std::nullopt;
  ProgramRunner states(program, firstStep, /*body=*/0, {});
  for (const TensorInstance &state : states.getInstances())
    add(totals.persistent, program, state.tensorTemplate, 1);
  live = totals.peak = totals.largest = totals.persistent;
  llvm::fill(groupOf, kNone);
  nextGroup = 0;
  forEachStep([&](Step step, uint32_t number) {
    runStep(step, number);
    return true;
  });
  return totals;
}
