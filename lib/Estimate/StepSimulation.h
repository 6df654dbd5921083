//===- StepSimulation.h - Classes of ranks side by side ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes the programs of all classes: StepTimes.cpp one step, its tasks and
// schedules; StepMessages.cpp and StepMeetings.cpp what classes wait for each
// other with; StepInterval.cpp steps that follow one another.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_ESTIMATE_STEPSIMULATION_H
#define STG_LIB_ESTIMATE_STEPSIMULATION_H

#include "stg/Estimate/StepTimes.h"
#include "stg/Trace/Program/ScheduledSlots.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace stg {

/// The messages that one class sends over a channel.
struct Mailbox {
  uint32_t sender;
  llvm::SmallVector<Ticks, 1> arrivals;
  llvm::SmallVector<uint32_t, 0> sends; ///< Among the events of the sender.
};

/// Classes that wait for each other, at a collective or, in a loop, for what
/// all of them say of their iterations.
struct Gathering {
  llvm::SmallVector<uint32_t, 4> there; ///< Who has come.
  size_t left = 0;
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
constexpr unsigned kSenderShift = 40; ///< In the first number.

/// The mask, the group of classes, and which of their gatherings it is.
using GatheringKey = std::tuple<trace::AxisMask, uint32_t, size_t>;
/// The mask of all that classes meet over in loops.
constexpr trace::AxisMask kNoAxes = 0;

/// A class, and how far it is.
struct ClassRun {
  using Program = trace::TraceProgram;

  uint32_t index;
  const trace::TraceBundle::Class *source;
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
  std::optional<trace::ScheduledSlots> slots;
  std::vector<std::vector<ProgramTimes::Value>> lanes;
  std::vector<uint32_t> entriesLeft; ///< By turn.
  bool hasStages = false;            ///< Several tasks in a turn.
  /// Steps outside of calls that make one task.
  llvm::StringRef phase;
  Ticks taskStart = 0;
  uint32_t taskEvent = 0; ///< The first one that is recorded.
  Spending taskBefore;
  /// Of a step that waits for other classes: where it has begun.
  bool isUnderWay = false;
  Ticks stepStart = 0;
  uint32_t stepEvent = 0;
  /// By channel: the classes at its other ends that are executed, once it has
  /// been asked.
  std::vector<std::optional<llvm::SmallVector<uint32_t, 1>>> peers;
  /// Messages that have been asked for: the mailbox, and which one there. Ranks
  /// of a class may have them from several others.
  std::vector<llvm::SmallVector<std::pair<uint32_t, uint32_t>, 1>> asked;
  /// What the receives of the step give, whether it is read or not.
  std::vector<ProgramTimes::Value> received;
  std::vector<uint32_t> askedEvents; ///< Of what is recorded, parallel.
  std::vector<uint32_t> numAsked;    ///< By mailbox.
  /// How often each group with other classes has met; with kNoAxes, how often
  /// it has been asked whether iterations are alike.
  std::map<trace::AxisMask, size_t> meetings;
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
  StepSimulation(const trace::TraceBundle &programs, const Machine &machine,
                 const Execution &execution, StepRecording *recording,
                 std::optional<std::pair<int64_t, int64_t>> ranks = {})
      : programs(programs), machine(machine), execution(execution),
        recording(recording), ranks(ranks) {}

  llvm::Expected<StepTimes> run();
  llvm::Expected<std::optional<Ticks>> runInterval();

private:
  using Program = trace::TraceProgram;

  void makeRuns();
  void makeRun(uint32_t index);
  llvm::Error findNodeTimes();
  llvm::Error runAll();
  bool advance(ClassRun &run);
  bool runStep(ClassRun &run, Program::Step step);
  bool runStepLoop(ClassRun &run, uint32_t repeat);
  bool hasStages(const ClassRun &run, uint32_t repeat) const;
  bool runEntry(ClassRun &run, const Program::Schedule &schedule);
  bool loadLanes(ClassRun &run, OrderEntry entry, Program::Step step);
  bool executeEntries(ClassRun &run, const Program::Schedule &schedule,
                      llvm::ArrayRef<OrderEntry> entries);
  void runMessage(ClassRun &run, uint32_t node, uint32_t turn,
                  bool isQueued = false);
  llvm::ArrayRef<uint32_t> getPresentPeers(ClassRun &run, uint32_t node);
  MailKey getKey(const ClassRun &run, uint32_t sender, uint32_t node,
                 uint32_t turn) const;
  uint32_t getMailbox(MailKey key);
  bool areThere(ClassRun &run, llvm::ArrayRef<uint32_t> slots);
  bool hasOnlyMessages(const Program &program, Program::Step step) const;
  void collectReceives(const ClassRun &run, Program::Step step,
                       std::vector<bool> &isBetween,
                       llvm::DenseSet<MailKey> &keys);
  void findMessages();
  bool isThere(ClassRun &run, ProgramTimes::Value &value);
  bool areInputsThere(ClassRun &run, Program::Step step);
  bool isBetweenClasses(const ClassRun &run, Program::Step step) const;
  llvm::SmallVector<uint32_t> getPeers(uint32_t index,
                                       const trace::NodeTemplate &node) const;
  bool goOn(ClassRun &run, Program::Step step, uint32_t turn);
  void startSchedule(ClassRun &run, const Program::Schedule &schedule);
  void joinTask(ClassRun &run, Program::Step step);
  void closeTask(ClassRun &run);
  const ClassGroups &getGroups(trace::AxisMask mask);
  bool usesMask(const ClassRun &run, trace::AxisMask mask) const;
  void joinCells(trace::AxisMask mask, llvm::IntEqClasses &classes) const;
  Gathering *gather(ClassRun &run, trace::AxisMask mask,
                    llvm::function_ref<void(Gathering &)> arrive);
  void leave(ClassRun &run, Gathering &gathering);
  void end(Gathering &gathering);
  bool release();
  bool releaseEarly();
  bool noteLate();
  std::optional<Ticks> meet(ClassRun &run, trace::AxisMask axes, Ticks arrival);
  std::optional<bool> agree(ClassRun &run, std::optional<Ticks> duration,
                            int64_t count);
  void enqueue(uint32_t index);
  void recordTask(ClassRun &run, uint32_t step, uint32_t turn, Ticks start,
                  uint32_t firstEvent, bool isBeside = false);
  void awaitMessages(ClassRun &run);
  void recordArrivals(ClassRun &run);
  double getFixed() const;
  StepTimes finish();
  llvm::Error execute();
  bool findTokens();
  bool runOnce(ClassRun &run);
  void returnTokens(ClassRun &run, const Program::Schedule &schedule);
  void returnTokens(ClassRun &run, uint32_t turn);
  void receiveTokens(ClassRun &run, const Program::State &state);
  Ticks getInterval(size_t first, size_t last) const;
  bool isSteady() const;

  const trace::TraceBundle &programs;
  const Machine &machine;
  const Execution &execution;
  StepRecording *recording;
  std::optional<std::pair<int64_t, int64_t>> ranks;
  /// Where each meeting is in the recording.
  std::map<GatheringKey, size_t> meetingNumbers;
  std::optional<NodeTimes> nodes;
  std::vector<std::vector<NodeTime>> nodeTimes; ///< By class.
  double sum = 0; ///< Of a step: of all classes, as getSum.
  std::vector<ClassRun> runs;
  std::vector<llvm::SmallVector<int64_t, 2>> cells; ///< By class, of its ranks.
  std::deque<Mailbox> mail;
  llvm::DenseMap<MailKey, uint32_t> mailNumbers; ///< Places in `mail`.
  std::deque<uint32_t> queue;
  std::map<trace::AxisMask, ClassGroups> groups;
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

} // namespace stg

#endif // STG_LIB_ESTIMATE_STEPSIMULATION_H
