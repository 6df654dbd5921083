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
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <algorithm>
#include <array>
#include <numeric>

using namespace stg::chakra;
using namespace stg::trace;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Loops at the top
//===----------------------------------------------------------------------===//

/// Calls `visit` with the slots that a step reads itself, not those that only
/// bodies read that it runs.
template <typename Fn>
static void forEachRead(const TraceProgram &program, TraceProgram::Step step,
                        Fn visit) {
  using Step = TraceProgram::Step;
  auto visitNode = [&](uint32_t node) {
    const TraceProgram::NodeWiring &wiring = program.wiring[node];
    for (TraceProgram::Slot slot :
         llvm::concat<const TraceProgram::Slot>(wiring.reads, wiring.after))
      visit(slot.index);
    for (const TraceProgram::Output &output : wiring.outputs)
      if (output.kind == TraceProgram::Output::InPlace)
        visit(output.source);
  };
  switch (step.kind) {
  case Step::Node:
  case Step::Series:
    return visitNode(program.getNode(step));
  case Step::Alias:
    return visit(program.aliases[step.index].from);
  case Step::Call:
    for (TraceProgram::Alias arg : program.calls[step.index].args)
      visit(arg.from);
    return;
  case Step::Schedule:
    for (const TraceProgram::Lane &lane : program.schedules[step.index].lanes)
      llvm::for_each(lane.inits, visit);
    return;
  case Step::State:
    return;
  case Step::Repeat:
    break;
  }
  const TraceProgram::Repeat &repeat = program.repeats[step.index];
  for (TraceProgram::Carry carry : repeat.carries) {
    visit(carry.init);
    visit(carry.yielded);
  }
  for (TraceProgram::Stack slice : repeat.slices)
    visit(slice.outer);
  for (TraceProgram::Stack stack : repeat.stacks)
    visit(stack.inner);
  for (const TraceProgram::Ahead &entry : repeat.ahead)
    visitNode(entry.node);
}

/// The body that a step runs; kNone if there is none.
static uint32_t getBody(const TraceProgram &program, TraceProgram::Step step) {
  if (step.kind == TraceProgram::Step::Repeat)
    return program.repeats[step.index].body;
  if (step.kind == TraceProgram::Step::Call)
    return program.calls[step.index].body;
  if (step.kind == TraceProgram::Step::Schedule)
    return program.schedules[step.index].body;
  return kNone;
}

/// Likewise with what is in these bodies.
template <typename Fn>
static void forEachReadWithin(const TraceProgram &program,
                              TraceProgram::Step step, Fn visit) {
  forEachRead(program, step, visit);
  if (uint32_t body = getBody(program, step); body != kNone)
    for (TraceProgram::Step inner : program.bodies[body].steps)
      forEachReadWithin(program, inner, visit);
}

/// Adds the slots that steps behind one, or it itself, may read of it.
static void noteMade(const TraceProgram &program, TraceProgram::Step step,
                     llvm::DenseSet<uint32_t> &made) {
  using Step = TraceProgram::Step;
  if (step.kind == Step::Node)
    for (const TraceProgram::Output &output :
         program.wiring[step.index].outputs)
      made.insert(output.slot.index);
  else if (step.kind == Step::Alias)
    made.insert(program.aliases[step.index].to);
  else if (step.kind == Step::Call)
    for (TraceProgram::Alias result : program.calls[step.index].results)
      made.insert(result.to);
  else if (step.kind == Step::Schedule)
    for (Step inner : program.bodies[program.schedules[step.index].body].steps)
      noteMade(program, inner, made);
  if (step.kind != Step::Repeat)
    return;
  const TraceProgram::Repeat &repeat = program.repeats[step.index];
  for (TraceProgram::Carry carry : repeat.carries)
    made.insert(carry.result);
  for (TraceProgram::Stack stack : repeat.stacks)
    made.insert(stack.outer);
}

/// True for the steps of a row that becomes one call. What is a call, or has
/// any, stays as it is.
static bool isOfRow(TraceProgram::Step step) {
  using Step = TraceProgram::Step;
  return step.kind == Step::Node || step.kind == Step::Alias ||
         step.kind == Step::Repeat;
}

/// The call of a new body, whose steps these are: its arguments are what they
/// read of `made`, its results what `rest` reads of them.
static TraceProgram::Step makeCall(TraceProgram &program,
                                   ArrayRef<TraceProgram::Step> row,
                                   const llvm::DenseSet<uint32_t> &made,
                                   ArrayRef<TraceProgram::Step> rest) {
  TraceProgram::Call call;
  call.body = program.bodies.size();
  llvm::SetVector<uint32_t> args, results;
  llvm::DenseSet<uint32_t> own;
  for (TraceProgram::Step step : row) {
    forEachReadWithin(program, step, [&](uint32_t slot) {
      if (made.contains(slot))
        args.insert(slot);
    });
    noteMade(program, step, own);
  }
  for (TraceProgram::Step step : rest)
    forEachReadWithin(program, step, [&](uint32_t slot) {
      if (own.contains(slot))
        results.insert(slot);
    });
  for (uint32_t slot : args)
    call.args.push_back({slot, slot});
  for (uint32_t slot : results)
    call.results.push_back({slot, slot});
  TraceProgram::Body body;
  body.steps = row.vec();
  for (TraceProgram::Step step : row)
    body.numNodes += program.getNumNodes(step);
  program.bodies.push_back(std::move(body));
  program.calls.push_back(std::move(call));
  return {TraceProgram::Step::Call,
          static_cast<uint32_t>(program.calls.size() - 1)};
}

/// A loop at the top, as that of an optimizer over layers, would be many steps.
/// With what is next to it, it becomes a call. What comes before `firstStep`
/// stays.
static void wrapLoops(TraceProgram &program, size_t firstStep) {
  using Step = TraceProgram::Step;
  const std::vector<Step> steps = std::move(program.bodies.front().steps);
  std::vector<Step> wrapped(steps.begin(), steps.begin() + firstStep);
  llvm::DenseSet<uint32_t> made;
  ArrayRef<Step> rest = ArrayRef(steps).drop_front(firstStep);
  while (!rest.empty()) {
    ArrayRef<Step> row = rest.take_while(isOfRow);
    const bool hasLoop =
        llvm::any_of(row, [](Step step) { return step.kind == Step::Repeat; });
    if (row.empty())
      row = rest.take_front();
    rest = rest.drop_front(row.size());
    if (hasLoop)
      wrapped.push_back(makeCall(program, row, made, rest));
    else
      wrapped.insert(wrapped.end(), row.begin(), row.end());
    for (Step step : row)
      noteMade(program, step, made);
  }
  program.bodies.front().steps = std::move(wrapped);
}

//===----------------------------------------------------------------------===//
// What bodies do
//===----------------------------------------------------------------------===//

/// Few instructions for each of many.
void CallMeter::sortByNode(std::vector<Event> &events, uint32_t numNodes) {
  std::vector<uint32_t> places(numNodes + size_t(1));
  for (const Event &event : events)
    ++places[event.node + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  std::vector<Event> sorted(events.size());
  for (const Event &event : events)
    sorted[places[event.node]++] = event;
  events = std::move(sorted);
}

std::vector<CallMeter::Event> CallMeter::merge(ArrayRef<Event> lhs,
                                               ArrayRef<Event> rhs) {
  std::vector<Event> merged(lhs.size() + rhs.size());
  std::merge(lhs.begin(), lhs.end(), rhs.begin(), rhs.end(), merged.begin());
  return merged;
}

/// Finds what each result consists of; false if parts of arguments are in it.
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
  auto isLocal = [&](uint32_t tensor) {
    return tensor != kNone && tensor >= firstLocal;
  };
  /// All of an argument, in order, at the front of the tensors.
  auto findArgument = [&](ArrayRef<uint32_t> tensors) -> std::optional<Part> {
    auto arg = argAt.find(tensors.front());
    if (arg == argAt.end())
      return std::nullopt;
    uint32_t count = program.slotCounts[call.args[arg->second].to];
    if (tensors.size() < count)
      return std::nullopt;
    for (auto [i, tensor] : llvm::enumerate(tensors.take_front(count)))
      if (tensor != tensors.front() + i)
        return std::nullopt;
    return Part{true, arg->second};
  };
  for (TraceProgram::Alias result : call.results) {
    SmallVector<uint32_t> tensors =
        runner.getTensors({result.from, program.slotCounts[result.from]});
    Result &parts = summary.results.emplace_back();
    if (llvm::all_of(tensors,
                     [&](uint32_t t) { return t == kNone || t < numStates; }))
      continue;
    for (ArrayRef<uint32_t> left = tensors; !left.empty();) {
      if (std::optional<Part> argument = findArgument(left)) {
        left =
            left.drop_front(program.slotCounts[call.args[argument->number].to]);
        parts.push_back(*argument);
        continue;
      }
      ArrayRef<uint32_t> own = left.take_while(isLocal);
      if (own.empty())
        return false;
      left = left.drop_front(own.size());
      parts.push_back({false, static_cast<uint32_t>(summary.made.size())});
      Returned &made = summary.made.emplace_back();
      Templates templates;
      for (uint32_t tensor : own) {
        if (owner[tensor] != kNone)
          return false;
        owner[tensor] = parts.back().number;
        uint32_t reader = runner.getLastReaders()[tensor];
        const TensorInstance &instance = instances[tensor];
        made.tensors.push_back({instance.tensorTemplate, instance.writer,
                                reader == kNone ? instance.writer : reader});
        templates.push_back(instance.tensorTemplate);
      }
      made.templates = intern(std::move(templates));
    }
  }
  // Tensors come in the order in which they are made.
  std::vector<Event> births, deaths;
  for (uint32_t tensor = firstLocal; tensor < instances.size(); ++tensor) {
    const TensorInstance &instance = instances[tensor];
    if (instance.writer == kNone) // A state within a body.
      return false;
    births.push_back({instance.writer, false, instance.tensorTemplate});
    if (owner[tensor] != kNone)
      continue;
    uint32_t reader = runner.getLastReaders()[tensor];
    deaths.push_back({reader == kNone ? instance.writer : reader, true,
                      instance.tensorTemplate});
  }
  sortByNode(deaths, summary.numNodes);
  summary.events = merge(births, deaths);
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
  std::map<const TraceProgram::Schedule *, TraceProgram::Relay> relays;
  for (const TraceProgram::Schedule &schedule : program.schedules)
    if (schedule.order.hasPairs())
      relays.try_emplace(&schedule);
  for (FlatNode node; runner.next(node); ++summary.numNodes)
    for (auto &[schedule, relay] : relays) {
      if (relay.givesWay(*node.common))
        summary.switches[schedule].push_back(summary.numNodes);
      relay.note(*schedule, *node.common);
    }
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

static bool isBefore(const TurnExecution &lhs, const TurnExecution &rhs) {
  return lhs.place < rhs.place;
}

/// What is executed in a turn, in order.
static SmallVector<TurnExecution>
listExecutions(const stg::TurnRanges &ranges, uint32_t numSteps, size_t range,
               int64_t stg::TurnRanges::Places::*turn) {
  SmallVector<TurnExecution> executions;
  for (uint32_t step = 0; step < numSteps; ++step)
    if (stg::TurnRanges::Places places = ranges.get(step, range);
        places.areThere())
      executions.push_back({step, 0, places.*turn});
  llvm::sort(executions, isBefore);
  return executions;
}

/// The ranges of a schedule, in each of which steps come in one order.
static stg::TurnRanges getRanges(const TraceProgram::Schedule &schedule,
                                 uint32_t numSteps, bool isSteady) {
  using Places = stg::TurnRanges::Places;
  stg::TurnRanges ranges(schedule.order, numSteps, schedule.count);
  for (size_t range = 0; range < ranges.size() && isSteady; ++range)
    isSteady =
        ranges.getFirstTurn(range) == ranges.getLastTurn(range) ||
        llvm::equal(listExecutions(ranges, numSteps, range, &Places::first),
                    listExecutions(ranges, numSteps, range, &Places::last),
                    [](const auto &lhs, const auto &rhs) {
                      return lhs.step == rhs.step;
                    });
  if (isSteady)
    return ranges;
  std::vector<uint32_t> alone(schedule.count);
  std::iota(alone.begin(), alone.end(), 0);
  return stg::TurnRanges(schedule.order, numSteps, schedule.count, alone);
}

/// Finds the kinds of turns, and what is executed in the first turn of each.
/// Where what is added up is not always of one kind, each turn has its own.
void CallMeter::findKinds(Scheduled &own) const {
  const TraceProgram::Schedule &schedule = *own.schedule;
  const uint32_t numSteps = program.bodies[schedule.body].steps.size();
  const bool isSteady = hasSteadyTotals(schedule);
  const stg::TurnRanges ranges = getRanges(schedule, numSteps, isSteady);
  std::map<std::vector<uint32_t>, uint32_t> kinds; // By steps in order.
  for (size_t range = 0; range < ranges.size(); ++range) {
    SmallVector<TurnExecution> executions = listExecutions(
        ranges, numSteps, range, &stg::TurnRanges::Places::first);
    std::vector<uint32_t> key;
    for (TurnExecution &execution : executions) {
      key.push_back(execution.step);
      execution.kind = own.numKinds;
    }
    if (!isSteady)
      key.push_back(ranges.getFirstTurn(range));
    auto [it, isNew] = kinds.try_emplace(std::move(key), own.numKinds);
    own.kindOf.resize(ranges.getLastTurn(range) + size_t(1), it->second);
    if (!isNew)
      continue;
    ++own.numKinds;
    llvm::append_range(own.executions, executions);
  }
  llvm::sort(own.executions, isBefore);
}

/// Finds what a schedule does in the first turn of each kind; false if calls
/// cannot be told by slots. A slot has a value for each kind, behind those of
/// slots.
bool CallMeter::enterSchedule(uint32_t index) {
  const TraceProgram::Schedule &schedule = program.schedules[index];
  ArrayRef<Step> steps = program.bodies[schedule.body].steps;
  for (Step step : steps)
    if (step.kind == Step::Call && !summarize(program.calls[step.index]))
      return false;
  Scheduled own(schedule);
  findKinds(own);
  own.profiles.resize(steps.size() * own.numKinds);
  values.resize(std::max<size_t>(values.size(), program.numSlots));
  laneOf.resize(program.numSlots, kNone);
  for (const TraceProgram::Lane &lane : schedule.lanes) {
    laneOf[lane.slot] = values.size();
    values.resize(values.size() + own.numKinds);
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
      uint32_t to = slots.to;
      bool isTotal = !isLane.contains(to);
      auto handsOn = [&](Part part) {
        uint32_t from = part.isArgument ? call.args[part.number].from : to;
        return from != to && (isTotal || !isLane.contains(from));
      };
      if (count > 1 && llvm::any_of(result, handsOn))
        return false;
      if (!isTotal)
        continue;
      if (result.size() > 1)
        return false;
      bool isArgument = !result.empty() && result.front().isArgument;
      if (!isArgument)
        made[to].insert(result.empty()
                            ? nullptr
                            : summary.made[result.front().number].templates);
      else if (count == 1)
        made[to].insert(nullptr);
      if (count > 1 && !isArgument)
        isMadeAgain.insert(to);
    }
  }
  return llvm::all_of(isMadeAgain,
                      [&](uint32_t slot) { return made[slot].size() == 1; });
}

/// True if no body of a call reads what a step at the top makes but by its
/// arguments.
bool CallMeter::readsOnlyStates() const {
  llvm::DenseSet<uint32_t> made;
  for (Step step : ArrayRef(program.bodies.front().steps).drop_front(firstStep))
    noteMade(program, step, made);
  auto isMade = [&](uint32_t slot) { return made.contains(slot); };
  for (const TraceProgram::Schedule &schedule : program.schedules)
    for (const TraceProgram::Lane &lane : schedule.lanes)
      if (llvm::any_of(lane.inits, isMade))
        return false;
  auto isOwn = [&](const TraceProgram::Call &call) {
    return call.body < numOwnBodies;
  };
  std::vector<bool> isCalled(program.bodies.size());
  for (const TraceProgram::Call &call :
       llvm::make_filter_range(program.calls, isOwn))
    isCalled[call.body] = true;
  bool readsMade = false;
  // A body runs bodies of larger numbers.
  for (auto [number, body] :
       llvm::enumerate(ArrayRef(program.bodies).take_front(numOwnBodies))) {
    if (!isCalled[number])
      continue;
    for (Step step : body.steps) {
      if (step.kind == Step::Call)
        return false;
      if (step.kind == Step::Repeat)
        isCalled[program.repeats[step.index].body] = true;
      forEachRead(program, step,
                  [&](uint32_t slot) { readsMade |= isMade(slot); });
    }
  }
  return !readsMade;
}

/// Notes that a step reads a value; false if it has read it before, as what
/// reads it last is then not told by one argument.
bool CallMeter::touch(uint32_t slot, uint32_t step) {
  bool isFirst = true;
  for (uint32_t group : getValue(slot)) {
    isFirst &= groups[group].lastStep != step;
    groups[group].lastStep = step;
  }
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

/// Something is made: in the first walk, a further group; in the second, the
/// next of those that are known.
uint32_t CallMeter::makeGroup(const Templates *templates, uint32_t step) {
  if (nextGroup == groups.size())
    groups.push_back({templates, step});
  return nextGroup++;
}

/// The values of what a call reads and makes. A slot can be both, where
/// something is handed from turn to turn.
void CallMeter::moveValues(const TraceProgram::Call &call,
                           const BodySummary &summary, uint32_t step) {
  argValues.clear();
  for (TraceProgram::Alias arg : call.args)
    argValues.push_back(getValue(arg.from));
  madeGroups.clear();
  for (const Returned &made : summary.made)
    madeGroups.push_back(makeGroup(made.templates, step));
  for (auto [slots, result] : llvm::zip_equal(call.results, summary.results)) {
    Value &value = getValue(slots.to);
    value.clear();
    for (Part part : result)
      if (part.isArgument)
        llvm::append_range(value, argValues[part.number]);
      else
        value.push_back(madeGroups[part.number]);
  }
}

/// True where a call stacks a state, such as an input of the program that the
/// first layer reads, before what it makes. A value has no place for a state,
/// so that the last readers of what comes behind it would be those of others.
bool CallMeter::stacksStates(const TraceProgram::Call &call,
                             const BodySummary &summary) {
  auto isState = [&](Part part) {
    if (!part.isArgument)
      return false;
    TraceProgram::Alias arg = call.args[part.number];
    return program.slotCounts[arg.to] > 0 && getValue(arg.from).empty();
  };
  return llvm::any_of(summary.results, [&](const Result &result) {
    return result.size() > 1 && llvm::any_of(result, isState);
  });
}

bool CallMeter::enterCall(const TraceProgram::Call &call, uint32_t step) {
  const BodySummary *summary = summarize(call);
  if (!summary || stacksStates(call, *summary))
    return false;
  for (auto [arg, readers] : llvm::zip_equal(call.args, summary->lastReaders))
    if (!readers.empty() && !touch(arg.from, step))
      return false;
  moveValues(call, *summary, step);
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
    if (output.kind == TraceProgram::Output::InPlace) {
      Value changed = getValue(output.source);
      getValue(output.slot.index) = std::move(changed);
      continue;
    }
    Value &value = getValue(output.slot.index);
    value.clear();
    if (output.kind == TraceProgram::Output::New)
      value.push_back(makeGroup(
          intern(Templates(output.slot.count, output.tensorTemplate)), step));
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
  std::vector<Event> deaths;
  for (auto [group, made] : llvm::zip_equal(madeGroups, summary.made))
    if (dies(group, step))
      for (const Tensor &tensor : made.tensors)
        deaths.push_back({tensor.death, true, tensor.tensorTemplate});
  for (auto [value, lastReaders] :
       llvm::zip_equal(argValues, summary.lastReaders)) {
    ArrayRef<uint32_t> readers = lastReaders;
    if (readers.empty())
      continue;
    for (uint32_t group : value) {
      const Templates &templates = *groups[group].templates;
      if (dies(group, step))
        for (auto [tensor, reader] : llvm::zip_first(templates, readers))
          deaths.push_back({reader, true, tensor});
      readers = readers.drop_front(templates.size());
    }
  }
  sortByNode(deaths, summary.numNodes);
  std::vector<Event> events = merge(summary.events, deaths);
  Profile profile;
  profile.numNodes = summary.numNodes;
  measure(events, profile);
  if (hasPairs) {
    profile.events = std::move(events);
    profile.summary = &summary;
  }
  return profile;
}

/// Goes over what is made and freed, in order.
void CallMeter::measure(ArrayRef<Event> events, Profile &profile) const {
  for (auto [number, event] : llvm::enumerate(events)) {
    add(profile.change, program, event.tensorTemplate, event.isDeath ? -1 : 1);
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
  moveValues(call, summary, step);
  if (summary.numNodes == 0)
    return nullptr;
  key.assign(1, &summary);
  for (auto [value, readers] : llvm::zip_equal(argValues, summary.lastReaders))
    for (uint32_t group : value) {
      if (readers.empty())
        continue;
      // Templates say which of the argument's tensors these are.
      key.push_back(groups[group].templates);
      key.push_back(dies(group, step) ? &summary : nullptr);
    }
  for (uint32_t group : madeGroups)
    key.push_back(dies(group, step) ? &summary : nullptr);
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
    for (uint32_t group : getValue(slot.index))
      if (dies(group, step) && !llvm::is_contained(freed, group))
        freed.push_back(group);
  makeOutputs(wiring, step);
  for (const TraceProgram::Output &output : wiring.outputs) {
    if (output.kind != TraceProgram::Output::New)
      continue;
    uint32_t group = getValue(output.slot.index).front();
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
  Value value = getValue(alias.from);
  getValue(alias.to) = std::move(value);
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
/// first turns of kinds only.
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
    for (const TurnExecution &execution : own.executions) {
      turnKind = execution.kind;
      if (!enterStep(steps[execution.step], number++))
        return false;
    }
  }
  return true;
}

void CallMeter::runSchedule(Scheduled &own, uint32_t number) {
  ArrayRef<Step> steps = program.bodies[own.schedule->body].steps;
  for (const TurnExecution &execution : own.executions) {
    turnKind = execution.kind;
    own.profiles[own.getPlace(execution.step, turnKind)] =
        runStep(steps[execution.step], number++);
  }
  for (const stg::ExecutionOrder::Run &run : own.schedule->order.runs)
    advanceRun(own, run);
}

/// How often from `done` on, at most `times`, an item is executed in turns of
/// one kind.
static uint32_t countAlike(ArrayRef<uint32_t> kindOf,
                           const stg::ExecutionOrder::Item &item, uint32_t done,
                           uint32_t times) {
  if (item.stride == 0)
    return times;
  auto getKind = [&](uint32_t i) {
    return kindOf[stg::ExecutionOrder::getEntry(item, done + i).turn];
  };
  uint32_t alike = 1;
  while (alike < times && getKind(alike) == getKind(0))
    ++alike;
  return alike;
}

/// Where the nodes of two bodies are that are executed by turns. `switches` has
/// the nodes of each before which the other one goes on.
static std::array<std::vector<uint32_t>, 2>
interleave(std::array<uint32_t, 2> numNodes,
           std::array<ArrayRef<uint32_t>, 2> switches) {
  std::array<std::vector<uint32_t>, 2> places;
  const uint32_t all = numNodes[0] + numNodes[1];
  uint32_t next = 0;
  for (unsigned own = 0; next < all; own = 1 - own) {
    const bool isOtherOver = places[1 - own].size() == numNodes[1 - own];
    uint32_t end = numNodes[own];
    if (!switches[own].empty() && !isOtherOver) {
      end = switches[own].front();
      switches[own] = switches[own].drop_front();
    }
    while (places[own].size() < end)
      places[own].push_back(next++);
  }
  return places;
}

/// What two calls do that are executed by turns.
const CallMeter::Profile *CallMeter::getPair(Scheduled &own,
                                             const Profile *first,
                                             const Profile *second) {
  if (!first || !second)
    return first ? first : second;
  auto [it, isNew] = own.pairs.try_emplace({first, second});
  Profile &pair = it->second;
  if (!isNew)
    return &pair;
  auto getSwitches = [&](const Profile *one) -> ArrayRef<uint32_t> {
    auto found = one->summary->switches.find(own.schedule);
    if (found == one->summary->switches.end())
      return {};
    return found->second;
  };
  auto places = interleave({first->numNodes, second->numNodes},
                           {getSwitches(first), getSwitches(second)});
  auto move = [&](const Profile *one, ArrayRef<uint32_t> places) {
    std::vector<Event> events = one->events;
    for (Event &event : events)
      event.node = places[event.node];
    return events;
  };
  pair.numNodes = first->numNodes + second->numNodes;
  measure(merge(move(first, places[0]), move(second, places[1])), pair);
  return &pair;
}

/// Goes over a run, as far at a time as all turns stay of their kinds.
void CallMeter::advanceRun(Scheduled &own,
                           const stg::ExecutionOrder::Run &run) {
  uint32_t times;
  for (uint32_t done = 0; done < run.times; done += times) {
    times = run.times - done;
    Profile all;
    bool isFirst = true;
    const Profile *before = nullptr; // Side by side with the next one.
    for (const auto &[number, item] : llvm::enumerate(run.items)) {
      times = countAlike(own.kindOf, item, done, times);
      uint32_t kind =
          own.kindOf[stg::ExecutionOrder::getEntry(item, done).turn];
      const Profile *profile = own.profiles[own.getPlace(item.step, kind)];
      if (item.isBeside)
        profile = getPair(own, std::exchange(before, nullptr), profile);
      if (stg::isNextBeside(run.items, number)) {
        before = profile;
        continue;
      }
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
  hasPairs = program.hasPairs();
  for (Step step : ArrayRef(program.bodies.front().steps).drop_front(firstStep))
    if (step.kind == Step::Schedule && !enterSchedule(step.index))
      return std::nullopt;
  if (!readsOnlyStates())
    return std::nullopt;
  values.resize(std::max<size_t>(values.size(), program.numSlots));
  if (!enterSteps())
    return std::nullopt;
  ProgramRunner states(program, firstStep, /*body=*/0, {});
  for (const TensorInstance &state : states.getInstances())
    add(totals.persistent, program, state.tensorTemplate, 1);
  live = totals.peak = totals.largest = totals.persistent;
  for (Value &value : values)
    value.clear();
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

std::optional<MemoryTotals>
stg::chakra::measureCalls(const TraceProgram &program) {
  using Step = TraceProgram::Step;
  ArrayRef<Step> steps = program.bodies.front().steps;
  auto isNode = [&](Step step) {
    return step.kind == Step::Call || step.kind == Step::Schedule ||
           program.getNumNodes(step) > 0;
  };
  // States come first and make no nodes.
  const size_t firstStep = llvm::find_if(steps, isNode) - steps.begin();
  size_t numCalls = 0;
  bool hasLoops = false;
  for (Step step : steps.drop_front(firstStep)) {
    const bool isLoop = step.kind == Step::Repeat;
    if (step.kind == Step::State || step.kind == Step::Series ||
        (isLoop && program.repeats[step.index].isStep))
      return std::nullopt;
    hasLoops |= isLoop;
    numCalls += step.kind == Step::Call || step.kind == Step::Schedule;
  }
  // All nodes of what is called once are as many as there are.
  if (numCalls == 0 || (numCalls == 1 && !hasLoops))
    return std::nullopt;
  const auto numBodies = static_cast<uint32_t>(program.bodies.size());
  if (!hasLoops)
    return CallMeter(program, firstStep, numBodies).run();
  TraceProgram wrapped = program;
  wrapLoops(wrapped, firstStep);
  return CallMeter(wrapped, firstStep, numBodies).run();
}
