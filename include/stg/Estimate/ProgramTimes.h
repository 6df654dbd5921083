//===- ProgramTimes.h - Executes the program of a rank ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank executes nodes on streams: one for kernels, one for collectives, one
// for messages, one for loads from the host and one for stores to it. A node
// starts when its stream gets to it, what it reads is there, and the compute
// stream has reached its place in the program.
//
// Nothing is unrolled. Turns of a repeat are executed until two in a row take
// the same time, and the rest is multiplied; a call that finds all as an
// earlier one of its body did takes what that took.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_PROGRAMTIMES_H
#define STG_ESTIMATE_PROGRAMTIMES_H

#include "stg/Estimate/Recording.h"
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <variant>

namespace stg {

/// What the compute stream of a rank does, and waits for.
struct Spending {
  static constexpr unsigned kMaxGroups = 16;

  std::array<Ticks, 4> kernels = {}; ///< By TimeKind.
  Ticks host = 0;                    ///< Waiting for launches.
  Ticks interference = 0; ///< Kernels longer than they are by themselves.
  Ticks bubble = 0;       ///< Waiting for other stages.
  std::array<Ticks, kMaxGroups> exposed = {}; ///< Waiting for communication.
  Ticks transfer = 0;   ///< The part of `exposed` that is for transfers.
  Ticks launch = 0;     ///< What launching takes, waited for or not.
  Ticks background = 0; ///< Collectives, waited for or not.
  /// Of `launch`, and of the time, what layers have settled between execution
  /// and host.
  Ticks settledLaunch = 0, settledTime = 0;
  /// Of products and attention: as the program counts them, those of them that
  /// are done again, and what kernels execute.
  double operations = 0, recomputed = 0, executed = 0;

  void add(const Spending &other, int64_t times = 1);
  Spending operator-(const Spending &other) const;
  Ticks getExposed() const;
  Ticks getCompute() const { return kernels[0] + kernels[1] + kernels[2]; }
};

/// The state of a rank.
struct Clock {
  Ticks compute = 0, collective = 0, message = 0, load = 0, store = 0;
  /// Until then collectives occupy cores.
  Ticks occupied = 0;

  /// Moves all streams.
  void shift(Ticks by) {
    for (Ticks *stream :
         {&compute, &collective, &message, &load, &store, &occupied})
      *stream += by;
  }
};

class ProgramTimes {
public:
  /// How tasks differ from the sum of their nodes.
  struct Rules {
    double hostExposed = 0, interference = 0, dataHidden = 0;
    /// The share of a device that collectives which occupy cores take from
    /// kernels beside them.
    double occupiedShare = 0;
  };
  /// When a collective starts whose group has ranks of other classes, and which
  /// this rank has reached by that time; nothing while others are not there.
  using Meeting = std::function<std::optional<Ticks>(trace::AxisMask, Ticks)>;
  /// Whether all classes that meet in a loop leave out its next iterations, of
  /// which there are `count`; nothing while others are not there. `duration` is
  /// that of the last two of this class, if these were alike.
  using Agreement = std::function<std::optional<bool>(
      std::optional<Ticks> duration, int64_t count)>;

  ProgramTimes(const trace::TraceProgram &program, std::vector<NodeTime> times,
               Rules rules, trace::AxisMask classAxes, Meeting meeting);

  /// Executes a message to or from another class.
  using Messaging = std::function<void(uint32_t node)>;
  /// Leaves the nodes that `isBetween` has, in repeats and calls, to who
  /// executes all classes.
  void setMessaging(std::vector<bool> isBetween, Messaging value) {
    isMessageBetween = std::move(isBetween);
    messaging = std::move(value);
  }

  /// Without one no iteration of a loop is left out in which classes meet.
  void setAgreement(Agreement value) { agreement = std::move(value); }

  const trace::TraceProgram &getProgram() const { return program; }
  const NodeTime &getTime(uint32_t node) const { return times[node]; }
  const Clock &getClock() const { return clock; }
  const Spending &getSpending() const { return spending; }
  /// Of each step of inference so far, how long it took; none where the program
  /// is one step.
  llvm::ArrayRef<Ticks> getStepTimes() const { return stepTimes; }
  Clock &getClock() { return clock; }
  Spending &getSpending() { return spending; }

  /// When a value is there, and what for who waits for it waits.
  struct Value {
    Ticks time = 0;
    uint8_t cause = 0; ///< 0: a kernel; 1 + group; kMessage + group; kOthers.
    /// Not 0: a message that may not have been sent yet, as a number of who
    /// executes the classes.
    uint32_t pending = 0;
    /// What the communication took itself; less than 0: all of the time. Before
    /// that it waited for `before`, a cause.
    Ticks own = -1;
    uint8_t before = 0;
  };
  /// Causes: a message of another class; ranks of other classes.
  static constexpr uint8_t kMessage = 64, kOthers = 127;
  Value &getValue(uint32_t slot) { return values[slot]; }
  /// The end of the collectives so far.
  Value getLastCollective() const {
    Value last = lastCollective;
    last.time = clock.collective;
    return last;
  }

  /// The same of loads, and of stores.
  Value getLastLoad() const {
    Value last = lastLoad;
    last.time = clock.load;
    return last;
  }
  Value getLastStore() const {
    Value last = lastStore;
    last.time = clock.store;
    return last;
  }

  /// What is executed from now on is added to `recording`, which must outlive
  /// this.
  void setRecording(Recording *value) { recording = value; }
  Recording *getRecording() const { return recording; }

  /// Executes a step that is neither a schedule nor, between classes, a
  /// message. False if it waits for other classes: then `resume` goes on with
  /// it, and nothing else may be executed before that is true.
  bool run(trace::TraceProgram::Step step);
  bool resume();
  /// Two calls of a schedule are executed by turns: `beginPair`, then for each
  /// `addToPair` when the values of its turn are set, then `runPair`, which is
  /// as `run`. No turn of their loops is left out.
  void beginPair(const trace::TraceProgram::Schedule &schedule);
  void addToPair(trace::TraceProgram::Step call);
  bool runPair();
  /// What collectives with other classes in loops are over.
  llvm::ArrayRef<trace::AxisMask> getMasksOfLoops() const {
    return masksOfLoops;
  }
  /// What a body reads of what was made before it.
  llvm::ArrayRef<uint32_t> getExternals(uint32_t body) {
    return getFacts(body).externals;
  }
  /// Sets what a node makes.
  void setOutputs(uint32_t node, Value value);
  /// The latest of what a node reads.
  Value getInput(uint32_t node) const;
  /// Moves the compute stream on to that value, and accounts for it.
  void waitFor(Value value);

  /// The host and what runs side by side make a task longer than its nodes.
  void finishTask(Ticks start, const Spending &before);
  /// Launches and execution since `start` but for what layers have settled.
  void settleHost(Ticks start, const Spending &before);
  /// A step of a loop whose body somebody else executes begins, and has been
  /// executed since `start`.
  void beginStep(uint32_t repeat, int64_t turn) {
    indices[repeat] = program.repeats[repeat].getIndex(turn);
  }
  void noteStep(uint32_t repeat, int64_t turn, Ticks start,
                uint32_t firstEvent);
  /// The node of a step, or of a series in the iteration that is executed.
  uint32_t getNode(trace::TraceProgram::Step step) const {
    return step.kind == trace::TraceProgram::Step::Series
               ? program.getNode(step,
                                 indices[program.series[step.index].repeat])
               : step.index;
  }
  /// The phase that the first node of a step has.
  llvm::StringRef getPhase(trace::TraceProgram::Step step) const;
  /// Where a task of that phase has begun and ended.
  void noteTask(llvm::StringRef phase, Ticks duration);

private:
  using Program = trace::TraceProgram;

  /// What a body does from a state on, relative to the compute stream.
  struct Effect {
    Clock clock;
    Value lastCollective, lastLoad, lastStore;
    llvm::SmallVector<Value, 4> results;
    Spending spending;
    /// Where it began, and what was recorded from there on.
    Ticks start = 0;
    uint32_t firstEvent = 0, lastEvent = 0;
  };
  struct BodyFacts {
    bool isKnown = false;
    /// Other classes take part in its collectives, or in its messages.
    bool isShared = false;
    bool hasMessages = false; ///< Between classes.
    bool hasCalls = false;
    bool hasLayers = false; ///< Loops that read what each layer has.
    /// The loop over steps in whose iterations it differs, or kNone.
    uint32_t stepLoop = trace::kNone;
    llvm::SmallVector<uint32_t> externals; ///< Slots of others that it reads.
  };
  using Key = llvm::SmallVector<Ticks, 32>;
  /// Since when something is executed.
  struct Mark {
    Ticks start;
    Spending spending;
    uint32_t firstEvent;
  };
  /// Steps of a body that are executed one after the other.
  struct StepFrame {
    llvm::ArrayRef<Program::Step> steps;
    size_t next = 0;
  };
  /// What turns of a loop execute ahead.
  struct AheadFacts {
    /// The repeats of whose later turns they execute nodes: itself, and those
    /// that it is linked with.
    llvm::SmallVector<uint32_t, 2> repeats;
    int64_t distance = 0; ///< So many turns at the end execute less.
    /// Other classes take part in what is executed ahead.
    bool isShared = false;
  };
  /// A loop, and how far it is.
  struct LoopFrame {
    enum Place { Begin, Ahead, Body, End };
    const Program::Repeat *repeat;
    bool mayBeAlike; ///< Iterations that do the same may be left out.
    bool isLayer;
    Place place = Begin;
    int64_t turn = 0;
    Mark mark = {};
    /// Of this turn, what is executed ahead, and which is next.
    llvm::SmallVector<std::pair<uint32_t, uint32_t>> nodes; ///< Repeat, node.
    size_t next = 0;
    /// Of the turn before.
    Key last;
    Ticks lastDuration = -1;
    bool isAlike = false; ///< This turn and the one before.
  };
  struct CallFrame {
    const Program::Call *call;
    Key key; ///< Empty if it is not kept what the call does.
    Mark mark;
  };
  using Frame = std::variant<StepFrame, LoopFrame, CallFrame>;
  using Frames = std::vector<std::unique_ptr<Frame>>;
  /// Two calls that are executed by turns. `frames` are those of one of them.
  struct Pair {
    const Program::Schedule *schedule;
    llvm::SmallVector<const Program::Call *, 2> calls;
    bool isKept = true; ///< What they do together.
    Key key;
    Mark mark;
    Program::Relay own, other;
    Frames otherFrames;
    bool isOtherOver = false;
    bool isSecond = false; ///< `frames` are those of the second call.
  };

  std::pair<Ticks, uint8_t> getStart(uint32_t node, Ticks free,
                                     const Value &last) const;
  bool runNode(uint32_t node);
  void runCompute(uint32_t node);
  void slowDown(Ticks kernel);
  bool runCollective(uint32_t node);
  void runMessage(uint32_t node);
  void runTransfer(uint32_t node);
  Mark getMark() const { return {clock.compute, spending, getNumEvents()}; }
  bool goOn(StepFrame &frame);
  bool goOn(LoopFrame &frame);
  bool goOn(CallFrame &frame);
  void push(Frame frame) {
    frames.push_back(std::make_unique<Frame>(std::move(frame)));
  }
  void pushBody(uint32_t body) { push(StepFrame{program.bodies[body].steps}); }
  void collectAheadFacts();
  void beginRepeat(const Program::Repeat &repeat);
  void beginTurn(LoopFrame &frame);
  bool runAhead(const LoopFrame &frame);
  void takeAhead(const LoopFrame &frame);
  void endTurn(LoopFrame &frame);
  std::optional<bool> isAlike(LoopFrame &frame);
  void endRepeat(const LoopFrame &frame);
  void endStep(const LoopFrame &frame);
  void beginCall(const Program::Call &call);
  void endCall(CallFrame &frame);
  Effect makeEffect(const Mark &mark,
                    llvm::ArrayRef<const Program::Call *> calls);
  void noteCalls(llvm::ArrayRef<const Program::Call *> calls, Ticks duration);
  bool givesWay(uint32_t node);
  void switchStrand();
  void endStrand();
  Key getSignature(const LoopFrame &frame) const;
  void skipTurns(const LoopFrame &frame, int64_t count, const Spending &turn);
  void recordTurns(uint32_t firstEvent, int64_t turn, int64_t count,
                   Ticks duration);
  uint32_t getIndex(const Program::Call &call) const {
    return static_cast<uint32_t>(&call - program.calls.data());
  }
  uint32_t getIndex(const Program::Repeat &repeat) const {
    return program.getIndex(repeat);
  }
  Key getKey(const Program::Call &call, const BodyFacts &facts) const;
  void apply(llvm::ArrayRef<const Program::Call *> calls, const Effect &effect);
  const BodyFacts &getFacts(uint32_t body);
  void collectFacts(Program::Step step, BodyFacts &facts,
                    llvm::SmallVectorImpl<bool> &isSet);
  bool isShared(uint32_t node) const {
    return program.nodes[node].isColl() &&
           (program.nodes[node].axes & classAxes);
  }
  /// True if classes meet in its turns, or in what these execute ahead.
  bool isShared(const Program::Repeat &repeat) {
    return getFacts(repeat.body).isShared ||
           aheadFacts[getIndex(repeat)].isShared;
  }
  bool isBetween(uint32_t node) const {
    return !isMessageBetween.empty() && isMessageBetween[node];
  }
  Ticks getRelative(Value value) const;
  void addRelative(Value value, Key &key) const;
  void addMask(uint32_t node);
  void collectMasks(uint32_t body);
  void account(uint8_t cause, Ticks start, Ticks end);
  void record(RecordedEvent::Kind kind, uint32_t index, uint8_t group,
              Ticks start, Ticks end, uint32_t link = trace::kNone) {
    if (recording)
      recording->add({kind, group, index, 0, link, trace::kNone, clock.compute,
                      start, end, pair && pair->isSecond});
  }
  uint32_t getNumEvents() const { return recording ? recording->size() : 0; }

  const Program &program;
  std::vector<NodeTime> times;
  Rules rules;
  trace::AxisMask classAxes;
  Meeting meeting;
  Agreement agreement;                ///< May be empty.
  std::vector<bool> isMessageBetween; ///< By node; may be empty.
  Messaging messaging;

  Clock clock;
  Spending spending;
  Program::Step outermost = {};       ///< What `run` executes.
  Frames frames;                      ///< What is under way.
  std::optional<Pair> pair;           ///< Of calls under way.
  std::vector<Value> values;          ///< By slot.
  std::vector<Ticks> arrivals;        ///< Of messages within the class.
  std::vector<uint32_t> sendChannels; ///< By channel, its other end or kNone.
  /// But for their times, which the clock has.
  Value lastCollective, lastLoad, lastStore;
  std::vector<AheadFacts> aheadFacts; ///< By repeat.
  /// What was made ahead for later turns, by repeat and by its entries, in the
  /// order of turns.
  std::vector<std::vector<std::vector<Value>>> waiting;
  uint8_t hostGroup = kMessage; ///< Of transfers; kMessage: there are none.
  Ticks messageTime = 0;        ///< Of the largest message.
  bool isInLayer = false;       ///< In a turn of a loop over layers.
  Ticks window = 0; ///< Of kernels that reductions can still be behind.
  Ticks lastForward = 0, lastBackward = 0;
  llvm::SmallVector<trace::AxisMask, 2> masksOfLoops;
  std::vector<BodyFacts> facts; ///< By body.
  std::map<Key, Effect> effects;
  Recording *recording = nullptr;
  std::vector<uint32_t> lastSends; ///< By channel, among recorded events.
  std::vector<int64_t> indices;    ///< By repeat, of its iteration.
  std::vector<bool> hasSeries;     ///< By repeat: its iterations differ.
  std::vector<Ticks> stepTimes;
};

} // namespace stg

#endif // STG_ESTIMATE_PROGRAMTIMES_H
