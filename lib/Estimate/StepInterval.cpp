//===- StepInterval.cpp - Steps that follow one another -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepSimulation.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

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
    tokens = TokenWay{number, *from, *to,
                      nodes->getMessage(number, *from, *to, double(bytes))};
    return true;
  }
  return false;
}

/// The messages of a class that returns tokens. No channel of a program has so
/// large an axis.
static MailKey getTokenKey(uint32_t sender, uint32_t turn) {
  constexpr uint64_t way = uint64_t(255) << 32;
  return {uint64_t(sender) << kSenderShift | way, turn};
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
  mail[getMailbox(getTokenKey(run.index, turn))].arrivals.push_back(
      arrival.time);
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
      {getMailbox(getTokenKey(sender, turn)),
       static_cast<uint32_t>(run.ends.size() - 1)});
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
