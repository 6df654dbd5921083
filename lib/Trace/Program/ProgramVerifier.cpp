//===- ProgramVerifier.cpp - Checks programs that come from files ---------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that passes runs without reading anything that is not there. Every
// slot holds one number of references, all tensors or all tokens, whenever it
// is set. A slot that has been set stays set; so it is enough to look at the
// steps of each body when it is first run.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/ScheduledSlots.h"
#include "stg/Trace/Program/TraceProgram.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

/// Consumers keep ids of nodes in 31 bits.
static constexpr uint64_t kMaxUnrolled = INT32_MAX;
/// What a run does at most: steps, references that are read or copied, and
/// bytes of names, so that it ends whatever is in the file.
static constexpr uint64_t kMaxWork = uint64_t(1) << 36;
/// Bodies within bodies.
static constexpr unsigned kMaxDepth = 256;
/// Values and steps of all turns of a schedule, which takes memory for each.
static constexpr uint64_t kMaxScheduled = uint64_t(1) << 26;

namespace {
/// What runs of bodies amount to. All sums saturate.
struct Amount {
  uint64_t nodes = 0, tensors = 0, work = 0;
  unsigned depth = 0;

  void add(uint64_t moreNodes, uint64_t moreTensors, uint64_t moreWork) {
    nodes = SaturatingAdd(nodes, moreNodes);
    tensors = SaturatingAdd(tensors, moreTensors);
    work = SaturatingAdd(work, moreWork);
  }
  void add(const Amount &inner, uint64_t times) {
    nodes = SaturatingMultiplyAdd(inner.nodes, times, nodes);
    tensors = SaturatingMultiplyAdd(inner.tensors, times, tensors);
    work = SaturatingMultiplyAdd(SaturatingAdd<uint64_t>(inner.work, 1), times,
                                 work);
    depth = std::max(depth, inner.depth + 1);
  }
  /// The same without a body around it.
  void addEach(const Amount &one, uint64_t times) {
    nodes = SaturatingMultiplyAdd(one.nodes, times, nodes);
    tensors = SaturatingMultiplyAdd(one.tensors, times, tensors);
    work = SaturatingMultiplyAdd(one.work, times, work);
    depth = std::max(depth, one.depth);
  }
};

class ProgramVerifier {
public:
  ProgramVerifier(TraceProgram &program, const RankSpace &space)
      : program(program), space(space), contents(program.numSlots),
        isVisited(program.bodies.size()), repeatOfBody(program.bodies.size()),
        scheduleOfBody(program.bodies.size()),
        isStepBody(program.bodies.size()) {}

  /// True if all is well; else getError() says what is not.
  bool run();
  const char *getError() const { return error; }

private:
  using Program = TraceProgram;

  /// What a slot holds.
  struct Content {
    bool isSet = false, isToken = false;
    uint64_t count = 0;
  };

  bool fail(const char *message) {
    error = message;
    return false;
  }
  /// Checks with a message; `fail` where it does not hold.
  bool require(bool condition, const char *message) {
    return condition || fail(message);
  }

  bool checkTemplates();
  bool checkNode(const NodeTemplate &node);
  bool checkCollective(const NodeTemplate &node);
  bool checkChannels();
  bool checkTags();
  bool checkIndices();
  bool checkLinks();
  bool checkStep(Program::Step step, uint32_t body);
  bool checkSeries(const Program::Series &series);
  bool checkSeriesInRepeats();
  bool checkSchedules();
  bool checkSchedule(const Program::Schedule &schedule);
  bool checkOrder(const Program::Schedule &schedule);
  bool checkPairs(const Program::Schedule &schedule);
  bool checkChannelsOfTurns();
  Amount getStepAmount(Program::Step step, ArrayRef<Amount> amounts) const;
  bool countBodies();
  void countExecutions();

  const Content *get(uint32_t slot) const {
    return slot < contents.size() && contents[slot].isSet ? &contents[slot]
                                                          : nullptr;
  }
  bool set(uint32_t slot, uint64_t count, bool isToken);
  bool copy(uint32_t from, uint32_t to);
  bool runBody(uint32_t body);
  bool runNode(uint32_t node);
  bool runOutput(const Program::Output &output);
  bool runAliases(ArrayRef<Program::Alias> aliases);
  bool checkLinked(uint32_t repeat, DenseSet<uint32_t> own);
  bool runRepeat(const Program::Repeat &repeat);
  bool runTurn(const Program::Repeat &repeat);
  bool runSchedule(const Program::Schedule &schedule);
  bool runStep(Program::Step step);

  TraceProgram &program;
  const RankSpace &space;
  std::vector<Content> contents;
  std::vector<bool> isVisited;
  /// Nodes that are made ahead count for the body of their repeat.
  std::vector<const Program::Repeat *> repeatOfBody;
  std::vector<const Program::Schedule *> scheduleOfBody;
  std::vector<bool> isStepBody; ///< Of loops over steps.
  const char *error = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Templates
//===----------------------------------------------------------------------===//

static bool isKnown(CollectiveType type) {
  switch (type) {
  case CollectiveType::AllReduce:
  case CollectiveType::AllGather:
  case CollectiveType::Broadcast:
  case CollectiveType::AllToAll:
  case CollectiveType::ReduceScatter:
    return true;
  }
  return false;
}

bool ProgramVerifier::checkCollective(const NodeTemplate &node) {
  AxisMask axes = node.axes & kAxesOfMask, subset = node.axes >> kMaxAxes;
  if (!isKnown(node.collective))
    return fail("a collective is of no known type");
  if (!axes || axes & ~space.getAllAxes())
    return fail("a collective is over axes that do not exist");
  if (subset == 0)
    return true;
  if (subset > space.getSubsets().size() || !llvm::isPowerOf2_64(axes))
    return fail("a collective is over a subset that does not exist");
  return require(space.getSubsets()[subset - 1].back() <
                     space.getNumPositions(axes),
                 "a subset has a coordinate that does not exist");
}

bool ProgramVerifier::checkNode(const NodeTemplate &node) {
  if (node.operations < 0 || node.bytes < 0 || node.commSize < 0)
    return fail("a number of a node does not fit in 63 bits");
  if (node.isTransfer())
    return require(node.bytes > 0, "a transfer moves nothing");
  if (node.isColl())
    return checkCollective(node);
  if (!node.isMessage())
    return true;
  return require(node.channel < program.channels.size() &&
                     program.channels[node.channel].isSend ==
                         (node.kind == NodeKind::Send),
                 "a message has no such channel");
}

bool ProgramVerifier::checkChannels() {
  for (const Channel &channel : program.channels) {
    uint32_t axis = channel.key.axis;
    if (axis >= space.getAxes().size() || channel.key.direction < 1 ||
        channel.key.direction >= space.getAxes()[axis].size)
      return fail("a channel leads nowhere");
  }
  return true;
}

bool ProgramVerifier::checkTemplates() {
  for (const NodeTemplate &node : program.nodes)
    if (!checkNode(node))
      return false;
  // Also of nodes that no step makes: names are made for all.
  for (const Program::NodeWiring &wiring : program.wiring)
    for (const Program::Output &output : wiring.outputs)
      if (output.kind == Program::Output::New &&
          output.tensorTemplate >= program.tensors.size())
        return fail("a tensor does not exist");
  for (const TensorTemplate &tensor : program.tensors)
    if (tensor.bytes < 0)
      return fail("the size of a tensor does not fit in 63 bits");
  for (const Kernel &kernel : program.kernels)
    if (kernel.sizes.empty())
      return fail("a kernel has no sizes");
  return checkChannels() &&
         require(!program.bodies.empty(), "a program has no body");
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

bool ProgramVerifier::checkStep(Program::Step step, uint32_t body) {
  auto isBody = [&](uint32_t inner) {
    return inner > body && inner < program.bodies.size();
  };
  size_t size = 0;
  switch (step.kind) {
  case Program::Step::State:
    size = program.states.size();
    break;
  case Program::Step::Node:
    size = program.nodes.size();
    break;
  case Program::Step::Alias:
    size = program.aliases.size();
    break;
  case Program::Step::Repeat:
    size = program.repeats.size();
    break;
  case Program::Step::Call:
    size = program.calls.size();
    break;
  case Program::Step::Schedule:
    size = program.schedules.size();
    break;
  case Program::Step::Series:
    size = program.series.size();
    break;
  }
  if (step.index >= size)
    return fail("a step refers to something that does not exist");
  if (scheduleOfBody[body] && step.kind != Program::Step::Node &&
      step.kind != Program::Step::Series && step.kind != Program::Step::Alias &&
      step.kind != Program::Step::Call)
    return fail("a schedule has a step other than a node, an alias or a call");
  if (step.kind == Program::Step::Schedule)
    return require((body == 0 || isStepBody[body]) &&
                       isBody(program.schedules[step.index].body),
                   "a schedule is neither in the first body nor in that of a "
                   "loop over steps");
  if (step.kind == Program::Step::Repeat && body > 0 &&
      program.repeats[step.index].isStep)
    return fail("a loop over steps is not in the first body");
  if (step.kind == Program::Step::Repeat)
    return require(isBody(program.repeats[step.index].body),
                   "a repeat has no such body");
  if (step.kind == Program::Step::Call) {
    uint32_t callee = program.calls[step.index].body;
    return require(isBody(callee) && !repeatOfBody[callee] &&
                       !scheduleOfBody[callee],
                   "a call has no such body");
  }
  return true;
}

namespace {
/// The slots that calls use.
class SlotCollector {
public:
  SlotCollector(const TraceProgram &program,
                const TraceProgram::Schedule &schedule)
      : program(program), isVisited(program.bodies.size()) {
    for (const TraceProgram::Lane &lane : schedule.lanes)
      lanes.insert(lane.slot);
  }

  /// Those in lanes are of a turn, and not among them.
  void add(const TraceProgram::Call &call) {
    addCall(call, [&](uint32_t slot) { return !lanes.contains(slot); });
  }
  bool isDisjoint(const SlotCollector &other) const {
    auto isIn = [](const DenseSet<uint32_t> &slots) {
      return [&slots](uint32_t slot) { return slots.contains(slot); };
    };
    return llvm::none_of(set, isIn(other.read)) &&
           llvm::none_of(set, isIn(other.set)) &&
           llvm::none_of(read, isIn(other.set));
  }

private:
  template <typename Fn> void addCall(const TraceProgram::Call &call, Fn has) {
    for (TraceProgram::Alias arg : call.args) {
      if (has(arg.from))
        read.insert(arg.from);
      set.insert(arg.to);
    }
    for (TraceProgram::Alias result : call.results) {
      read.insert(result.from);
      if (has(result.to))
        set.insert(result.to);
    }
    addBody(call.body);
  }

  void addBody(uint32_t body) {
    if (isVisited[body])
      return;
    isVisited[body] = true;
    for (TraceProgram::Step step : program.bodies[body].steps)
      addStep(step);
  }

  void addNode(uint32_t node) {
    const TraceProgram::NodeWiring &wiring = program.wiring[node];
    for (TraceProgram::Slot slot :
         llvm::concat<const TraceProgram::Slot>(wiring.reads, wiring.after))
      read.insert(slot.index);
    for (const TraceProgram::Output &output : wiring.outputs) {
      set.insert(output.slot.index);
      if (output.kind == TraceProgram::Output::InPlace)
        read.insert(output.source);
    }
  }

  void addRepeat(const TraceProgram::Repeat &repeat) {
    for (TraceProgram::Carry carry : repeat.carries) {
      set.insert_range(ArrayRef({carry.arg, carry.result}));
      read.insert_range(ArrayRef({carry.init, carry.yielded}));
    }
    for (TraceProgram::Stack slice : repeat.slices) {
      set.insert(slice.inner);
      read.insert(slice.outer);
    }
    for (TraceProgram::Stack stack : repeat.stacks) {
      set.insert(stack.outer);
      read.insert(stack.inner);
    }
    for (TraceProgram::Ahead entry : repeat.ahead)
      addNode(entry.node);
    addBody(repeat.body);
  }

  void addStep(TraceProgram::Step step) {
    switch (step.kind) {
    case TraceProgram::Step::State:
      set.insert(program.states[step.index].slot);
      return;
    case TraceProgram::Step::Node:
    case TraceProgram::Step::Series:
      return addNode(program.getNode(step));
    case TraceProgram::Step::Alias:
      read.insert(program.aliases[step.index].from);
      set.insert(program.aliases[step.index].to);
      return;
    case TraceProgram::Step::Repeat:
      return addRepeat(program.repeats[step.index]);
    case TraceProgram::Step::Call:
      return addCall(program.calls[step.index], [](uint32_t) { return true; });
    case TraceProgram::Step::Schedule:
      return;
    }
  }

  const TraceProgram &program;
  std::vector<bool> isVisited; ///< By body.
  DenseSet<uint32_t> lanes, read, set;
};
} // namespace

/// What is executed by turns sets nothing that the other one uses.
bool ProgramVerifier::checkPairs(const Program::Schedule &schedule) {
  const std::vector<Program::Step> &steps = program.bodies[schedule.body].steps;
  std::map<uint32_t, SlotCollector> collectors;
  auto collect = [&](uint32_t step) -> const SlotCollector & {
    auto [it, isNew] = collectors.try_emplace(step, program, schedule);
    if (isNew)
      it->second.add(program.calls[steps[step].index]);
    return it->second;
  };
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const ExecutionOrder::Run &run : schedule.order.runs)
    for (const auto &[number, item] : llvm::enumerate(run.items)) {
      if (!item.isBeside)
        continue;
      uint32_t before = run.items[number - 1].step;
      if (seen.insert({before, item.step}).second &&
          !collect(before).isDisjoint(collect(item.step)))
        return fail("what a schedule executes side by side uses one slot");
    }
  return true;
}

/// Steps and turns of the order exist.
bool ProgramVerifier::checkOrder(const Program::Schedule &schedule) {
  size_t numSteps = program.bodies[schedule.body].steps.size();
  if (SaturatingMultiply<uint64_t>(numSteps, schedule.count) > kMaxScheduled)
    return fail("a schedule has too many steps and turns");
  const std::vector<Program::Step> &steps = program.bodies[schedule.body].steps;
  for (const ExecutionOrder::Run &run : schedule.order.runs)
    for (const auto &[number, item] : llvm::enumerate(run.items)) {
      if (run.times < 1 || item.step >= numSteps)
        return fail("a schedule has no such step");
      if (item.isBeside &&
          (number == 0 || run.items[number - 1].isBeside ||
           steps[item.step].kind != Program::Step::Call ||
           steps[run.items[number - 1].step].kind != Program::Step::Call))
        return fail("what a schedule executes side by side are no two calls");
      int64_t last =
          item.turn + int64_t(item.stride) * (int64_t(run.times) - 1);
      if (item.turn >= schedule.count || last < 0 || last >= schedule.count)
        return fail("a schedule has no such turn");
    }
  return true;
}

bool ProgramVerifier::checkSchedule(const Program::Schedule &schedule) {
  if (schedule.body == 0 || schedule.body >= program.bodies.size() ||
      repeatOfBody[schedule.body] || scheduleOfBody[schedule.body])
    return fail("a body is not that of one schedule");
  scheduleOfBody[schedule.body] = &schedule;
  if (SaturatingMultiply<uint64_t>(schedule.lanes.size(), schedule.count) >
      kMaxScheduled)
    return fail("a schedule has too many values and turns");
  DenseSet<uint32_t> isLane;
  for (const Program::Lane &lane : schedule.lanes) {
    if (lane.slot >= program.numSlots || !isLane.insert(lane.slot).second)
      return fail("a slot of a schedule does not exist, or is there twice");
    if (!lane.inits.empty() && lane.inits.size() != schedule.count)
      return fail("a slot of a schedule does not begin in each turn");
  }
  return checkOrder(schedule);
}

/// The tag of a message of a turn is told by the turn.
bool ProgramVerifier::checkChannelsOfTurns() {
  for (uint32_t body = 0; body < program.bodies.size(); ++body)
    for (Program::Step step : program.bodies[body].steps) {
      bool isNode =
          step.kind == Program::Step::Node && step.index < program.nodes.size();
      bool isSeries = step.kind == Program::Step::Series &&
                      step.index < program.series.size();
      if (!isNode && !isSeries)
        continue;
      const NodeTemplate &node = program.nodes[program.getNode(step)];
      uint32_t turns =
          node.isMessage() ? program.channels[node.channel].turns : 0;
      if (turns &&
          (!scheduleOfBody[body] || scheduleOfBody[body]->count > turns))
        return fail("a message has no turn of its channel");
    }
  for (const Program::Repeat &repeat : program.repeats)
    for (const Program::Ahead &ahead : repeat.ahead)
      if (program.nodes[ahead.node].isMessage() &&
          program.channels[program.nodes[ahead.node].channel].turns)
        return fail("a message has no turn of its channel");
  return true;
}

bool ProgramVerifier::checkSchedules() {
  return llvm::all_of(program.schedules,
                      [&](const Program::Schedule &schedule) {
                        return checkSchedule(schedule);
                      }) &&
         checkChannelsOfTurns();
}

/// A series has a template for each iteration of its repeat. What they read and
/// set is the same, which the decoder makes so.
bool ProgramVerifier::checkSeries(const Program::Series &series) {
  if (series.repeat >= program.repeats.size() ||
      series.node >= program.nodes.size())
    return fail("a series has no repeat or no node");
  int64_t count = program.repeats[series.repeat].count;
  return require(count >= 1 &&
                     series.rest + uint64_t(count) - 1 <= program.nodes.size(),
                 "a series has no node for each iteration");
}

/// What is executed outside of its repeat has no iteration.
bool ProgramVerifier::checkSeriesInRepeats() {
  BitVector hasSeries(program.repeats.size());
  for (const Program::Series &series : program.series)
    hasSeries.set(series.repeat);
  for (unsigned repeat : hasSeries.set_bits()) {
    // A body runs only bodies of larger numbers.
    BitVector isOutside(program.bodies.size());
    isOutside.set(0);
    for (uint32_t body = 0; body < program.bodies.size(); ++body) {
      if (!isOutside[body])
        continue;
      for (Program::Step step : program.bodies[body].steps) {
        if (step.kind == Program::Step::Series &&
            program.series[step.index].repeat == repeat)
          return fail("a series is executed outside of its repeat");
        if (step.kind == Program::Step::Repeat && step.index != repeat)
          isOutside.set(program.repeats[step.index].body);
        else if (step.kind == Program::Step::Call)
          isOutside.set(program.calls[step.index].body);
        else if (step.kind == Program::Step::Schedule)
          isOutside.set(program.schedules[step.index].body);
      }
    }
  }
  return true;
}

/// What is linked makes nodes ahead, or has repeats that are linked and do.
/// Each is a step of one body, which is none of a schedule.
bool ProgramVerifier::checkLinks() {
  std::vector<uint32_t> bodyOf(program.repeats.size(), kNone);
  std::vector<uint32_t> groupIn(program.bodies.size()); ///< 0: none.
  std::vector<bool> isMixed(program.bodies.size());
  for (auto [body, entry] : llvm::enumerate(program.bodies))
    for (Program::Step step : entry.steps) {
      if (step.kind != Program::Step::Repeat ||
          program.repeats[step.index].group == 0)
        continue;
      if (bodyOf[step.index] != kNone || scheduleOfBody[body])
        return fail("a repeat that is linked is executed in several places, or "
                    "in a schedule");
      bodyOf[step.index] = static_cast<uint32_t>(body);
      uint32_t group = program.repeats[step.index].group;
      isMixed[body] =
          isMixed[body] || (groupIn[body] && groupIn[body] != group);
      groupIn[body] = group;
    }
  for (auto [i, repeat] : llvm::enumerate(program.repeats)) {
    if (repeat.group == 0)
      continue;
    if (bodyOf[i] == kNone || repeat.count == 0 ||
        repeat.ahead.empty() != (groupIn[repeat.body] != 0) ||
        isMixed[repeat.body])
      return fail("a repeat is linked that makes nothing ahead, or whose body "
                  "has several groups");
  }
  program.linkRepeats();
  return true;
}

bool ProgramVerifier::checkIndices() {
  DenseSet<uint32_t> isAhead;
  for (const Program::Repeat &repeat : program.repeats) {
    if (repeat.body >= program.bodies.size() || repeatOfBody[repeat.body])
      return fail("a body is not that of one repeat");
    repeatOfBody[repeat.body] = &repeat;
    isStepBody[repeat.body] = repeat.isStep;
    for (const Program::Ahead &ahead : repeat.ahead)
      if (ahead.node >= program.nodes.size() || ahead.distance < 0 ||
          !isAhead.insert(ahead.node).second)
        return fail("a repeat makes a node ahead that does not exist, or "
                    "twice");
    if (repeat.isStep && (!repeat.carries.empty() || !repeat.slices.empty() ||
                          !repeat.stacks.empty() || !repeat.ahead.empty()))
      return fail("a loop over steps carries something");
    if (repeat.count < 0 || repeat.count > static_cast<int64_t>(kMaxUnrolled) ||
        repeat.first < 0 || repeat.first > INT64_MAX - repeat.count)
      return fail("a repeat has too many iterations");
  }
  for (const Program::Series &series : program.series)
    if (!checkSeries(series))
      return false;
  if (!checkSchedules())
    return false;
  for (uint32_t body = 0; body < program.bodies.size(); ++body)
    for (Program::Step step : program.bodies[body].steps)
      if (!checkStep(step, body))
        return false;
  return checkLinks() && checkSeriesInRepeats();
}

static Amount getAmount(const TraceProgram::NodeWiring &wiring) {
  Amount amount;
  amount.add(1, 0, 1);
  for (const TraceProgram::Output &output : wiring.outputs)
    amount.add(0, output.slot.count, output.slot.count);
  for (TraceProgram::Slot slot : wiring.reads)
    amount.add(0, 0, slot.count);
  for (TraceProgram::Slot slot : wiring.after)
    amount.add(0, 0, slot.count);
  return amount;
}

/// What all turns of a repeat do beside their bodies.
static Amount getOverhead(const TraceProgram::Repeat &repeat, int64_t reach) {
  uint64_t distance = 1;
  for (const TraceProgram::Ahead &ahead : repeat.ahead)
    distance = std::max<uint64_t>(
        distance, std::min<int64_t>(ahead.distance, repeat.count));
  // Turns of others are looked at, too.
  if (repeat.group != 0)
    distance = std::max<uint64_t>(distance, reach);
  Amount turn;
  turn.work = SaturatingMultiply<uint64_t>(distance, repeat.ahead.size());
  turn.add(0, 0, repeat.name.size() + repeat.carries.size());
  for (const TraceProgram::Stack &stack : repeat.stacks)
    turn.add(0, stack.count, stack.count);
  turn.add(0, 0, repeat.slices.size());
  Amount all;
  all.add(turn, repeat.count);
  return all;
}

/// Of each step, how often it is executed in a schedule.
static std::vector<uint64_t>
countScheduled(const TraceProgram::Schedule &schedule, size_t numSteps) {
  std::vector<uint64_t> counts(numSteps);
  for (const ExecutionOrder::Run &run : schedule.order.runs)
    for (const ExecutionOrder::Item &item : run.items)
      counts[item.step] += run.times;
  return counts;
}

/// How often each step of a body is executed when the body is run once.
static std::vector<uint64_t>
countSteps(const TraceProgram::Body &body,
           const TraceProgram::Schedule *schedule) {
  if (schedule)
    return countScheduled(*schedule, body.steps.size());
  return std::vector<uint64_t>(body.steps.size(), 1);
}

/// Bodies run only bodies after them, so that the last ones are known first.
Amount ProgramVerifier::getStepAmount(Program::Step step,
                                      ArrayRef<Amount> amounts) const {
  Amount amount;
  amount.add(0, step.kind == Program::Step::State, 1);
  if (step.kind == Program::Step::Node || step.kind == Program::Step::Series) {
    amount.add(getAmount(program.wiring[program.getNode(step)]), 1);
  } else if (step.kind == Program::Step::Call) {
    const Program::Call &call = program.calls[step.index];
    amount.add(amounts[call.body], 1);
    amount.add(0, 0,
               call.scope.size() + call.args.size() + call.results.size());
  } else if (step.kind == Program::Step::Repeat) {
    const Program::Repeat &repeat = program.repeats[step.index];
    amount.add(amounts[repeat.body], repeat.count);
    amount.add(getOverhead(repeat, program.getLink(step.index).reach), 1);
  } else if (step.kind == Program::Step::Schedule) {
    const Program::Schedule &schedule = program.schedules[step.index];
    amount.add(amounts[schedule.body], 1);
    amount.add(0, 0, schedule.lanes.size() * uint64_t(schedule.count));
    amount.add(0, 0,
               SaturatingMultiply<uint64_t>(schedule.order.size(),
                                            schedule.name.size()));
  }
  return amount;
}

bool ProgramVerifier::countBodies() {
  std::vector<Amount> amounts(program.bodies.size());
  for (size_t i = program.bodies.size(); i-- > 0;) {
    Amount &amount = amounts[i];
    if (repeatOfBody[i])
      for (const Program::Ahead &ahead : repeatOfBody[i]->ahead)
        amount.add(getAmount(program.wiring[ahead.node]), 1);
    std::vector<uint64_t> times =
        countSteps(program.bodies[i], scheduleOfBody[i]);
    for (auto [step, count] : llvm::zip_equal(program.bodies[i].steps, times))
      amount.addEach(getStepAmount(step, amounts), count);
    if (amount.nodes > kMaxUnrolled || amount.tensors > kMaxUnrolled ||
        amount.work > kMaxWork)
      return fail("a program makes more than consumers can address");
    if (amount.depth > kMaxDepth)
      return fail("bodies are nested too deep");
    program.bodies[i].numNodes = amount.nodes;
    program.bodies[i].numTensors = amount.tensors;
  }
  return require(program.bodies.front().numNodes > 0,
                 "a program makes no nodes");
}

/// How often each node is executed.
void ProgramVerifier::countExecutions() {
  std::vector<uint64_t> runs(program.bodies.size());
  runs[0] = 1;
  for (NodeTemplate &node : program.nodes)
    node.executions = 0;
  for (Channel &channel : program.channels)
    channel.rounds = 0;
  auto countRounds = [&](uint32_t node, uint64_t rounds) {
    if (program.nodes[node].isMessage())
      program.channels[program.nodes[node].channel].rounds += rounds;
  };
  for (size_t i = 0; i < program.bodies.size(); ++i) {
    if (repeatOfBody[i])
      for (const Program::Ahead &ahead : repeatOfBody[i]->ahead)
        program.nodes[ahead.node].executions += runs[i];
    std::vector<uint64_t> times =
        countSteps(program.bodies[i], scheduleOfBody[i]);
    for (auto [step, count] : llvm::zip_equal(program.bodies[i].steps, times)) {
      uint64_t all = runs[i] * count;
      if (scheduleOfBody[i] && (step.kind == Program::Step::Node ||
                                step.kind == Program::Step::Series))
        countRounds(program.getNode(step), runs[i]);
      if (step.kind == Program::Step::Node) {
        program.nodes[step.index].executions += all;
      } else if (step.kind == Program::Step::Series) {
        const Program::Series &series = program.series[step.index];
        int64_t turns = program.repeats[series.repeat].count;
        for (int64_t index = 0; index < turns; ++index)
          program.nodes[series.getNode(index)].executions += all / turns;
      } else if (step.kind == Program::Step::Call) {
        runs[program.calls[step.index].body] += all;
      } else if (step.kind == Program::Step::Repeat) {
        const Program::Repeat &repeat = program.repeats[step.index];
        runs[repeat.body] += all * repeat.count;
      } else if (step.kind == Program::Step::Schedule) {
        runs[program.schedules[step.index].body] += all;
      }
    }
  }
}

/// Tags are those of the messages of a rank.
bool ProgramVerifier::checkTags() {
  for (Channel &channel : program.channels)
    channel.executions = 0;
  for (const NodeTemplate &node : program.nodes)
    if (node.isMessage())
      program.channels[node.channel].executions += node.executions;
  for (const Channel &channel : program.channels) {
    uint64_t last = channel.executions;
    if (channel.turns)
      last = uint64_t(channel.turns - 1) * channel.tagStride + channel.rounds;
    if (channel.firstTag + last > uint64_t(kNumTags))
      return fail("a tag is too large");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

bool ProgramVerifier::set(uint32_t slot, uint64_t count, bool isToken) {
  if (slot >= contents.size())
    return fail("a slot does not exist");
  Content &content = contents[slot];
  if (content.isSet)
    return require(content.count == count && content.isToken == isToken,
                   "a slot is set to different kinds or numbers of things");
  content = {true, isToken, count};
  return true;
}

bool ProgramVerifier::copy(uint32_t from, uint32_t to) {
  const Content *source = get(from);
  if (!source)
    return fail("a slot is read before it is set");
  return set(to, source->count, source->isToken);
}

bool ProgramVerifier::runAliases(ArrayRef<Program::Alias> aliases) {
  return llvm::all_of(aliases, [&](Program::Alias alias) {
    return copy(alias.from, alias.to);
  });
}

bool ProgramVerifier::runOutput(const Program::Output &output) {
  if (output.kind == Program::Output::Token)
    return set(output.slot.index, output.slot.count, /*isToken=*/true);
  if (output.kind == Program::Output::InPlace) {
    const Content *source = get(output.source);
    if (!source || source->isToken || source->count < output.slot.count)
      return fail("a node changes tensors that do not exist");
  }
  return set(output.slot.index, output.slot.count, /*isToken=*/false);
}

bool ProgramVerifier::runNode(uint32_t node) {
  const Program::NodeWiring &wiring = program.wiring[node];
  for (Program::Slot slot : wiring.reads) {
    const Content *content = get(slot.index);
    if (!content || content->isToken || content->count < slot.count)
      return fail("a node reads tensors that do not exist");
  }
  for (Program::Slot slot : wiring.after) {
    const Content *content = get(slot.index);
    if (!content || content->count < slot.count)
      return fail("a node waits for nodes that do not exist");
  }
  return llvm::all_of(wiring.outputs, [&](const Program::Output &output) {
    return runOutput(output);
  });
}

/// What nodes of linked repeats read in turns of others is there when the first
/// of these repeats begins, or slices of that.
bool ProgramVerifier::checkLinked(uint32_t repeat, DenseSet<uint32_t> own) {
  for (const Program::Stack &slice : program.repeats[repeat].slices)
    if (own.contains(slice.outer) || get(slice.outer))
      own.insert(slice.inner);
  for (const Program::Ahead &ahead : program.repeats[repeat].ahead) {
    const Program::NodeWiring &wiring = program.wiring[ahead.node];
    for (Program::Slot slot :
         llvm::concat<const Program::Slot>(wiring.reads, wiring.after))
      if (!own.contains(slot.index) && !get(slot.index))
        return fail("a node is made ahead of what it reads");
    for (const Program::Output &output : wiring.outputs)
      own.insert(output.slot.index);
  }
  for (uint32_t inner = program.getLink(repeat).firstInner; inner != kNone;
       inner = program.getLink(inner).next)
    if (!checkLinked(inner, own))
      return false;
  return true;
}

bool ProgramVerifier::runRepeat(const Program::Repeat &repeat) {
  uint32_t number = program.getIndex(repeat);
  const Program::Link &link = program.getLink(number);
  if (repeat.group != 0 && link.isFirst && link.around.empty())
    for (; number != kNone; number = program.getLink(number).next)
      if (!checkLinked(number, {}))
        return false;
  uint64_t count = repeat.count;
  for (const Program::Carry &carry : repeat.carries)
    if (!copy(carry.init, carry.arg))
      return false;
  for (const Program::Stack &slice : repeat.slices) {
    if (count == 0)
      break; // They are set in turns.
    const Content *outer = get(slice.outer);
    if (!outer || outer->count < count * slice.count)
      return fail("a repeat has more iterations than it has slices");
    if (!set(slice.inner, slice.count, outer->isToken))
      return false;
  }
  if (count > 0 && !runTurn(repeat))
    return false;
  for (const Program::Carry &carry : repeat.carries)
    if (!copy(carry.arg, carry.result))
      return false;
  for (const Program::Stack &stack : repeat.stacks) {
    const Content *inner = get(stack.inner);
    if (!set(stack.outer, count * stack.count, inner && inner->isToken))
      return false;
  }
  return true;
}

/// What a turn reads is there before what comes after it is set.
bool ProgramVerifier::runTurn(const Program::Repeat &repeat) {
  for (const Program::Ahead &ahead : repeat.ahead)
    if (!runNode(ahead.node))
      return false;
  if (!runBody(repeat.body))
    return false;
  for (const Program::Stack &stack : repeat.stacks) {
    const Content *inner = get(stack.inner);
    if (!inner || inner->count < stack.count)
      return fail("a repeat makes a stack of what its body does not make");
  }
  for (const Program::Carry &carry : repeat.carries)
    if (!get(carry.yielded))
      return fail("a slot is read before it is set");
  for (const Program::Carry &carry : repeat.carries)
    if (!copy(carry.yielded, carry.arg))
      return false;
  return true;
}

bool ProgramVerifier::runStep(Program::Step step) {
  switch (step.kind) {
  case Program::Step::State: {
    Program::State state = program.states[step.index];
    return require(state.tensorTemplate < program.tensors.size(),
                   "a tensor does not exist") &&
           set(state.slot, 1, /*isToken=*/false);
  }
  case Program::Step::Node:
  case Program::Step::Series:
    return runNode(program.getNode(step));
  case Program::Step::Alias:
    return runAliases(program.aliases[step.index]);
  case Program::Step::Repeat:
    return runRepeat(program.repeats[step.index]);
  case Program::Step::Call: {
    const Program::Call &call = program.calls[step.index];
    return runAliases(call.args) && runBody(call.body) &&
           runAliases(call.results);
  }
  case Program::Step::Schedule:
    return runSchedule(program.schedules[step.index]);
  }
  llvm_unreachable("a step of no known kind");
}

namespace {
/// Which steps of a schedule have been executed, and which lanes are set, in
/// which turns.
class Turns {
public:
  Turns(size_t number, uint32_t count)
      : count(count), bits(number * size_t(count)) {}

  bool get(uint32_t number, uint32_t turn) const {
    return bits[size_t(number) * count + turn];
  }
  /// False if it has been set before.
  bool set(uint32_t number, uint32_t turn) {
    size_t place = size_t(number) * count + turn;
    bool wasSet = bits[place];
    bits[place] = true;
    return !wasSet;
  }

private:
  uint32_t count;
  std::vector<bool> bits;
};
} // namespace

/// What slots hold is the same in all turns, so that a step is looked at when
/// it is first executed; whether the slots of a turn are set, whenever it is.
bool ProgramVerifier::runSchedule(const Program::Schedule &schedule) {
  const std::vector<Program::Step> &steps = program.bodies[schedule.body].steps;
  ScheduledSlots slots(program, schedule);
  Turns executed(steps.size(), schedule.count);
  Turns isSet(schedule.lanes.size(), schedule.count);
  for (auto [number, lane] : llvm::enumerate(schedule.lanes))
    for (auto [turn, slot] : llvm::enumerate(lane.inits)) {
      if (!copy(slot, lane.slot))
        return false;
      isSet.set(number, turn);
    }
  std::vector<bool> isKnown(steps.size());
  SmallVector<OrderEntry, 2> together; // What they set is there behind all.
  for (const ExecutionOrder::Run &run : schedule.order.runs)
    for (uint32_t i = 0; i < run.times; ++i)
      for (const auto &[number, item] : llvm::enumerate(run.items)) {
        OrderEntry entry = ExecutionOrder::getEntry(item, i);
        if (!executed.set(entry.step, entry.turn))
          return fail("a schedule executes a step twice in a turn");
        for (auto [slot, lane] : slots.reads[entry.step])
          if (!isSet.get(lane, entry.turn))
            return fail("a slot is read before it is set in its turn");
        if (!isKnown[entry.step] && !runStep(steps[entry.step]))
          return false;
        isKnown[entry.step] = true;
        together.push_back(entry);
        if (isNextBeside(run.items, number))
          continue;
        for (OrderEntry done : together)
          for (auto [slot, lane] : slots.sets[done.step])
            isSet.set(lane, done.turn);
        together.clear();
      }
  return true;
}

bool ProgramVerifier::runBody(uint32_t body) {
  if (isVisited[body])
    return true;
  isVisited[body] = true;
  return llvm::all_of(program.bodies[body].steps,
                      [&](Program::Step step) { return runStep(step); });
}

bool ProgramVerifier::run() {
  if (!checkTemplates() || !checkIndices() || !countBodies() ||
      !llvm::all_of(program.schedules,
                    [&](const Program::Schedule &schedule) {
                      return checkPairs(schedule);
                    }) ||
      !runBody(0))
    return false;
  countExecutions();
  return checkTags();
}

Error TraceProgram::verify(const RankSpace &space) {
  ProgramVerifier verifier(*this, space);
  if (verifier.run())
    return Error::success();
  return createStringError(inconvertibleErrorCode(), verifier.getError());
}
