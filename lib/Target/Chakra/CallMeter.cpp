//===- CallMeter.cpp - Memory of a program that is many calls -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallMeter.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <numeric>
#include <tuple>

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
    if (step.kind == Step::Schedule && !enterSchedule(step.index))
      return false;
    numCalls += step.kind == Step::Call || step.kind == Step::Schedule;
  }
  return numCalls > 1 && readsOnlyStates();
}

/// The ranges of a schedule, in each of which steps come in one order. Where
/// what is added up is not always of one kind, turns are on their own.
static stg::TurnRanges getRanges(const TraceProgram &program,
                                 const TraceProgram::Schedule &schedule,
                                 bool isSteady) {
  uint32_t numSteps = program.bodies[schedule.body].steps.size();
  stg::TurnRanges ranges(schedule.order, numSteps, schedule.count);
  for (size_t range = 0; range < ranges.size(); ++range) {
    SmallVector<uint32_t> first, last;
    for (uint32_t step = 0; step < numSteps; ++step)
      if (ranges.get(step, range).areThere())
        first.push_back(step);
    last = first;
    llvm::sort(first, [&](uint32_t lhs, uint32_t rhs) {
      return ranges.get(lhs, range).first < ranges.get(rhs, range).first;
    });
    llvm::sort(last, [&](uint32_t lhs, uint32_t rhs) {
      return ranges.get(lhs, range).last < ranges.get(rhs, range).last;
    });
    isSteady &= first == last;
  }
  if (isSteady)
    return ranges;
  std::vector<uint32_t> alone(schedule.count);
  std::iota(alone.begin(), alone.end(), 0);
  return stg::TurnRanges(schedule.order, numSteps, schedule.count, alone);
}

/// Finds what a schedule does in the first turn of each range; false if calls
/// cannot be told by slots. A slot has a group in each range, behind those of
/// slots.
bool CallMeter::enterSchedule(uint32_t index) {
  const TraceProgram::Schedule &schedule = program.schedules[index];
  ArrayRef<Step> steps = program.bodies[schedule.body].steps;
  for (Step step : steps)
    if (step.kind == Step::Call && !summarize(program.calls[step.index]))
      return false;
  Scheduled own = {&schedule,
                   getRanges(program, schedule, hasSteadyTotals(schedule)),
                   {},
                   {},
                   {}};
  size_t numRanges = own.ranges.size();
  for (uint32_t range = 0; range < numRanges; ++range) {
    own.rangeOf.resize(own.ranges.getLastTurn(range) + 1, range);
    for (uint32_t step = 0; step < steps.size(); ++step)
      if (own.ranges.get(step, range).areThere())
        own.executions.push_back({step, range});
  }
  llvm::sort(own.executions, [&](const auto &lhs, const auto &rhs) {
    return own.ranges.get(lhs.step, lhs.range).first <
           own.ranges.get(rhs.step, rhs.range).first;
  });
  own.profiles.resize(steps.size() * numRanges);
  groupOf.resize(std::max<size_t>(groupOf.size(), program.numSlots), kNone);
  laneOf.resize(program.numSlots, kNone);
  for (const TraceProgram::Lane &lane : schedule.lanes) {
    laneOf[lane.slot] = groupOf.size();
    groupOf.resize(groupOf.size() + numRanges, kNone);
  }
  scheduled.emplace(index, std::move(own));
  return true;
}

/// How often each step of a schedule is executed.
static std::vector<uint64_t>
countExecutions(const TraceProgram::Schedule &schedule, size_t numSteps) {
  std::vector<uint64_t> counts(numSteps);
  for (const stg::ExecutionOrder::Run &run : schedule.order.runs)
    for (const stg::ExecutionOrder::Item &item : run.items)
      counts[item.step] += run.times;
  return counts;
}

/// True if steps that are executed several times hand on what has been added up
/// as the same value, or all of them as new values of one kind. Then it does
/// not matter how often. What is executed once is looked at as it is.
bool CallMeter::hasSteadyTotals(const TraceProgram::Schedule &schedule) const {
  llvm::DenseSet<uint32_t> isLane;
  for (const TraceProgram::Lane &lane : schedule.lanes)
    isLane.insert(lane.slot);
  ArrayRef<Step> steps = program.bodies[schedule.body].steps;
  std::vector<uint64_t> counts = countExecutions(schedule, steps.size());
  // By slot, the templates of new values; null for others.
  std::map<uint32_t, llvm::SmallPtrSet<const Templates *, 2>> made;
  llvm::DenseSet<uint32_t> isMadeAgain;
  for (auto [step, count] : llvm::zip_equal(steps, counts)) {
    if (step.kind == Step::Alias)
      return false;
    if (step.kind == Step::Node)
      for (const TraceProgram::Output &output :
           program.wiring[step.index].outputs)
        if (!isLane.contains(output.slot.index))
          return false;
    if (step.kind != Step::Call)
      continue;
    const TraceProgram::Call &call = program.calls[step.index];
    const BodySummary &summary = *summaries.at(call.body);
    for (auto [slots, result] :
         llvm::zip_equal(call.results, summary.results)) {
      bool isTotal = !isLane.contains(slots.to);
      bool isMade = result.kind == Result::Made;
      uint32_t from = result.kind == Result::Argument
                          ? call.args[result.number].from
                          : slots.to;
      if (count > 1 && from != slots.to && (isTotal || !isLane.contains(from)))
        return false;
      if (isTotal && result.kind != Result::Argument)
        made[slots.to].insert(isMade ? summary.made[result.number].templates
                                     : nullptr);
      else if (isTotal && count == 1)
        made[slots.to].insert(nullptr);
      if (isTotal && count > 1 && result.kind != Result::Argument)
        isMadeAgain.insert(slots.to);
    }
  }
  return llvm::all_of(isMadeAgain,
                      [&](uint32_t slot) { return made[slot].size() == 1; });
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

static CategoryBytes plus(CategoryBytes lhs, const CategoryBytes &rhs,
                          uint32_t times = 1) {
  for (auto [to, from] : llvm::zip_equal(lhs.bytes, rhs.bytes))
    to += from * times;
  return lhs;
}

/// Each to at least what is in the other.
static void raiseTo(CategoryBytes &bytes, const CategoryBytes &least) {
  for (auto [to, from] : llvm::zip_equal(bytes.bytes, least.bytes))
    to = std::max(to, from);
}

CallMeter::Profile CallMeter::makeProfile(const BodySummary &summary,
                                          uint32_t step) {
  // By node, births first. A ring has many more nodes than tensors of its own.
  struct Event {
    uint32_t node;
    bool isDeath;
    uint32_t tensor;
  };
  std::vector<Event> events;
  for (const Tensor &tensor : summary.locals) {
    events.push_back({tensor.birth, false, tensor.tensorTemplate});
    events.push_back({tensor.death, true, tensor.tensorTemplate});
  }
  for (auto [group, result] : llvm::zip_equal(resultGroups, summary.results)) {
    if (result.kind != Result::Made)
      continue;
    for (const Tensor &tensor : summary.made[result.number].tensors) {
      events.push_back({tensor.birth, false, tensor.tensorTemplate});
      if (dies(group, step))
        events.push_back({tensor.death, true, tensor.tensorTemplate});
    }
  }
  for (auto [group, readers] :
       llvm::zip_equal(argGroups, summary.lastReaders)) {
    if (readers.empty() || !dies(group, step))
      continue;
    for (auto [reader, tensor] :
         llvm::zip_equal(readers, *groups[group].templates))
      events.push_back({reader, true, tensor});
  }
  llvm::sort(events, [](const Event &a, const Event &b) {
    return std::tie(a.node, a.isDeath) < std::tie(b.node, b.isDeath);
  });
  Profile profile;
  profile.numNodes = summary.numNodes;
  for (auto [number, event] : llvm::enumerate(events)) {
    add(profile.change, program, event.tensor, event.isDeath ? -1 : 1);
    bool isLastBirth =
        !event.isDeath &&
        (number + 1 == events.size() || events[number + 1].isDeath ||
         events[number + 1].node != event.node);
    if (!isLastBirth)
      continue;
    raiseTo(profile.largest, profile.change);
    if (profile.change.getTotal() > profile.peak.getTotal()) {
      profile.peak = profile.change;
      profile.peakNode = event.node;
    }
  }
  return profile;
}

/// Goes over what is executed so many times, one after the other. From time to
/// time bytes change evenly, so that they are largest at one of the ends.
void CallMeter::advance(const Profile *profile, uint32_t times) {
  if (!profile)
    return;
  CategoryBytes last = plus(live, profile->change, times - 1);
  raiseTo(totals.largest, plus(live, profile->largest));
  raiseTo(totals.largest, plus(last, profile->largest));
  bool grows = profile->change.getTotal() > 0;
  CategoryBytes peak = plus(grows ? last : live, profile->peak);
  if (peak.getTotal() > totals.peak.getTotal()) {
    totals.peak = peak;
    totals.peakNode = nextNode + profile->peakNode +
                      (grows ? (times - 1) * profile->numNodes : 0);
  }
  live = plus(last, profile->change);
  nextNode += times * profile->numNodes;
}

const CallMeter::Profile *CallMeter::runCall(const TraceProgram::Call &call,
                                             uint32_t step) {
  const BodySummary &summary = *summaries[call.body];
  moveGroups(call, summary, step);
  if (summary.numNodes == 0)
    return nullptr;
  key.assign(1, &summary);
  for (auto [group, readers] :
       llvm::zip_equal(argGroups, summary.lastReaders)) {
    bool isLast = !readers.empty() && dies(group, step);
    key.push_back(isLast ? groups[group].templates : nullptr);
  }
  for (auto [group, result] : llvm::zip_equal(resultGroups, summary.results))
    key.push_back(result.kind == Result::Made && dies(group, step) ? &summary
                                                                   : nullptr);
  auto it = profiles.find(key);
  if (it == profiles.end())
    it = profiles.try_emplace(key, makeProfile(summary, step)).first;
  return &it->second;
}

const CallMeter::Profile *CallMeter::runNode(uint32_t node, uint32_t step) {
  const TraceProgram::NodeWiring &wiring = program.wiring[node];
  Profile &profile = nodeProfiles.emplace_back();
  profile.numNodes = 1;
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
  return &profile;
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

/// What a step does to memory; null if nothing.
const CallMeter::Profile *CallMeter::runStep(Step step, uint32_t number) {
  if (step.kind == Step::Call)
    return runCall(program.calls[step.index], number);
  if (step.kind == Step::Node)
    return runNode(step.index, number);
  runAlias(program.aliases[step.index]);
  return nullptr;
}

/// Steps are numbered in the order of execution, those of schedules in the
/// first turns of ranges only.
bool CallMeter::enterSteps() {
  uint32_t number = 0;
  for (Step step :
       ArrayRef(program.bodies.front().steps).drop_front(firstStep)) {
    if (step.kind != Step::Schedule) {
      if (!enterStep(step, number++))
        return false;
      continue;
    }
    const Scheduled &own = scheduled.at(step.index);
    ArrayRef<Step> steps = program.bodies[own.schedule->body].steps;
    for (const Scheduled::Execution &execution : own.executions) {
      range = execution.range;
      if (!enterStep(steps[execution.step], number++))
        return false;
    }
  }
  return true;
}

void CallMeter::runSchedule(Scheduled &own, uint32_t number) {
  ArrayRef<Step> steps = program.bodies[own.schedule->body].steps;
  for (const Scheduled::Execution &execution : own.executions) {
    range = execution.range;
    own.profiles[own.getPlace(execution.step, range)] =
        runStep(steps[execution.step], number++);
  }
  for (const stg::ExecutionOrder::Run &run : own.schedule->order.runs)
    advanceRun(own, run);
}

/// Goes over a run, as far at a time as all turns stay in their ranges.
void CallMeter::advanceRun(const Scheduled &own,
                           const stg::ExecutionOrder::Run &run) {
  uint32_t times;
  for (uint32_t done = 0; done < run.times; done += times) {
    times = run.times - done;
    Profile all;
    bool isFirst = true;
    for (const stg::ExecutionOrder::Item &item : run.items) {
      uint32_t turn = stg::ExecutionOrder::getEntry(item, done).turn;
      uint32_t in = own.rangeOf[turn];
      uint32_t left = item.stride < 0 ? turn - own.ranges.getFirstTurn(in)
                                      : own.ranges.getLastTurn(in) - turn;
      if (item.stride != 0)
        times = std::min(times, 1 + left / std::abs(item.stride));
      const Profile *profile = own.profiles[own.getPlace(item.step, in)];
      if (!profile)
        continue;
      CategoryBytes peak = plus(all.change, profile->peak);
      CategoryBytes largest = plus(all.change, profile->largest);
      if (isFirst || peak.getTotal() > all.peak.getTotal()) {
        all.peak = peak;
        all.peakNode = all.numNodes + profile->peakNode;
      }
      if (std::exchange(isFirst, false))
        all.largest = largest;
      raiseTo(all.largest, largest);
      all.change = plus(all.change, profile->change);
      all.numNodes += profile->numNodes;
    }
    advance(isFirst ? nullptr : &all, times);
  }
}

std::optional<MemoryTotals> CallMeter::run() {
  if (!enterStates())
    return std::nullopt;
  groupOf.resize(std::max<size_t>(groupOf.size(), program.numSlots), kNone);
  if (!enterSteps())
    return std::nullopt;
  ProgramRunner states(program, firstStep, /*body=*/0, {});
  for (const TensorInstance &state : states.getInstances())
    add(totals.persistent, program, state.tensorTemplate, 1);
  live = totals.peak = totals.largest = totals.persistent;
  llvm::fill(groupOf, kNone);
  nextGroup = 0;
  uint32_t number = 0;
  for (Step step :
       ArrayRef(program.bodies.front().steps).drop_front(firstStep)) {
    if (step.kind != Step::Schedule) {
      advance(runStep(step, number++));
      continue;
    }
    Scheduled &own = scheduled.at(step.index);
    runSchedule(own, number);
    number += own.executions.size();
  }
  return totals;
}
