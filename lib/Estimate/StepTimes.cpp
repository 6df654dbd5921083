//===- StepTimes.cpp - How long a step takes ------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepSimulation.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

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
                                Ticks start, uint32_t firstEvent,
                                bool isBeside) {
  if (!recording)
    return;
  Ticks end = run.times->getClock().compute;
  run.times->getRecording()->add({RecordedEvent::Task, 0, step, turn,
                                  firstEvent, kNone, start, start, end,
                                  isBeside});
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

/// Sets what a step reads to its values in a turn; false if it waits for
/// another class.
bool StepSimulation::loadLanes(ClassRun &run, OrderEntry entry,
                               Program::Step step) {
  for (ScheduledSlots::Use use : run.slots->reads[entry.step]) {
    ProgramTimes::Value &value = run.lanes[use.lane][entry.turn];
    if (!isThere(run, value))
      return false;
    run.times->getValue(use.slot) = value;
  }
  return step.kind != Program::Step::Call ||
         areThere(run, run.times->getExternals(
                           run.source->program.calls[step.index].body));
}

/// Executes an entry, or two side by side; false if they wait for another
/// class. What both read is there when the first one begins.
bool StepSimulation::executeEntries(ClassRun &run,
                                    const Program::Schedule &schedule,
                                    ArrayRef<OrderEntry> entries) {
  ArrayRef<Program::Step> steps =
      run.source->program.bodies[schedule.body].steps;
  if (!run.isUnderWay)
    for (OrderEntry entry : llvm::reverse(entries))
      if (!loadLanes(run, entry, steps[entry.step]))
        return false;
  if (entries.size() == 1)
    return !(run.isUnderWay =
                 !goOn(run, steps[entries[0].step], entries[0].turn));
  if (run.isUnderWay)
    return !(run.isUnderWay = !run.times->resume());
  run.stepStart = run.times->getClock().compute;
  run.stepEvent = recording ? run.times->getRecording()->size() : 0;
  run.times->beginPair(schedule);
  run.times->addToPair(steps[entries[0].step]);
  loadLanes(run, entries[1], steps[entries[1].step]); // They may share slots.
  run.times->addToPair(steps[entries[1].step]);
  return !(run.isUnderWay = !run.times->runPair());
}

bool StepSimulation::runEntry(ClassRun &run,
                              const Program::Schedule &schedule) {
  auto entries = ArrayRef(run.order).slice(
      run.entry, isNextBeside(run.order, run.entry) ? 2 : 1);
  if (!executeEntries(run, schedule, entries))
    return false;
  for (OrderEntry entry : entries) {
    Program::Step step =
        run.source->program.bodies[schedule.body].steps[entry.step];
    if (step.kind == Program::Step::Call)
      recordTask(run, entry.step, entry.turn, run.stepStart, run.stepEvent,
                 entry.isBeside);
    for (ScheduledSlots::Use use : run.slots->sets[entry.step])
      run.lanes[use.lane][entry.turn] = run.times->getValue(use.slot);
  }
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
      if (!run.order[run.entry].isBeside && !runEntry(run, schedule))
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

void StepSimulation::makeRun(uint32_t index) {
  auto get = [&](StringRef key, double missing) {
    return machine.get(key).value_or(missing);
  };
  ProgramTimes::Rules rules = {
      execution.hostExposed, get("overlap.interference", 0),
      get("overlap.data_hidden", 0),
      double(execution.exchangeCores) / get("device.cores", 1)};
  ClassRun &run = runs[index];
  run.index = index;
  run.source = &programs.getClasses()[index];
  run.peers.resize(run.source->program.channels.size());
  int64_t rank = run.source->ranks[0];
  run.isLeftOut = ranks && (rank < ranks->first || rank >= ranks->second);
  run.times = std::make_unique<ProgramTimes>(
      run.source->program, nodeTimes[index], rules,
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

void StepSimulation::makeRuns() {
  runs.clear();
  runs.resize(programs.getClasses().size());
  mail.clear();
  mailNumbers.clear();
  groups.clear();
  gatherings.clear();
  if (recording) {
    recording->classes.assign(runs.size(), {});
    recording->meetings.clear();
    meetingNumbers.clear();
  }
  for (uint32_t i = 0; i < runs.size(); ++i)
    makeRun(i);
  findMessages();
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

/// A rank is done when the last message is there that it has asked for, also if
/// it is one that nothing reads.
void StepSimulation::awaitMessages(ClassRun &run) {
  ProgramTimes::Value last;
  for (ProgramTimes::Value value : run.received)
    if (isThere(run, value) && last.time < value.time)
      last = value;
  run.times->waitFor(last);
}

/// When messages were sent and arrived is known when all classes are done.
void StepSimulation::recordArrivals(ClassRun &run) {
  for (auto [event, asked] : llvm::zip(run.askedEvents, run.asked))
    for (auto [place, number] : asked) {
      const Mailbox &box = mail[place];
      if (number >= box.sends.size())
        continue; // The step had not ended.
      RecordedEvent &receive = recording->classes[run.index].events[event];
      if (receive.link != kNone && box.arrivals[number] <= receive.end)
        continue;
      receive.peer = box.sender;
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
    times.waitFor(times.getLastLoad());
    times.waitFor(times.getLastStore());
    awaitMessages(run);
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

Error StepSimulation::findNodeTimes() {
  for (const TraceBundle::Class &entry : programs.getClasses())
    if (entry.program.usesHost())
      if (Error error = checkHostLink(machine))
        return error;
  Expected<NodeTimes> made = NodeTimes::get(machine, execution, programs);
  if (!made)
    return made.takeError();
  nodes.emplace(std::move(*made));
  sum = getFixed() * kTicksPerSecond;
  for (const TraceBundle::Class &entry : programs.getClasses()) {
    nodeTimes.push_back(nodes->getTimes(entry.program));
    sum += getSum(entry.program, nodeTimes.back());
  }
  return Error::success();
}

Error StepSimulation::execute() {
  if (!nodes)
    if (Error error = findNodeTimes())
      return error;
  if (numSteps > 1 && !findTokens())
    return Error::success();
  if (Error error = checkSum(sum * double(numSteps)))
    return error;
  const RankPartition &partition = programs.getPartition();
  cells.assign(programs.getClasses().size(), {});
  for (int64_t cell = 0; cell < partition.getNumCells(); ++cell)
    cells[partition.getClassOfCell(cell)].push_back(cell);
  late.clear();
  // Few classes cannot wait where they are: they are executed again.
  constexpr unsigned kMostPasses = 16;
  for (unsigned pass = 0; pass < kMostPasses; ++pass) {
    makeRuns();
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
