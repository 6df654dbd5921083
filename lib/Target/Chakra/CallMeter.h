//===- CallMeter.h - Memory of a program that is many calls -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What MemoryMeter finds out by running all nodes, from the calls alone. A
// scheduled program is calls of a few bodies, some for each micro-batch. What a
// call does to memory depends on its body and on which tensors nobody reads
// after it: the nodes of a body are looked at once for each such kind of call.
//
// In a schedule, all turns that execute the same steps in one order do the
// same. So one of them is looked at, and what a run of the order does again and
// again is multiplied.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_CALLMETER_H
#define STG_LIB_TARGET_CHAKRA_CALLMETER_H

#include "stg/Target/Chakra/Export.h"
#include "stg/Trace/Program/ProgramRunner.h"
#include <deque>
#include <map>
#include <tuple>

namespace stg::chakra {

/// A step in the first turn of a kind of turns.
struct TurnExecution {
  uint32_t step, kind;
  int64_t place; ///< In the order of the schedule.
};

class CallMeter {
public:
  /// The program must outlive the meter. Of its first body, what is before
  /// `firstStep` makes states, and the rest are calls, schedules and nodes;
  /// from `numOwnBodies` on bodies have one call each, whose arguments are all
  /// that they read but states.
  CallMeter(const trace::TraceProgram &program, size_t firstStep,
            uint32_t numOwnBodies)
      : program(program), firstStep(firstStep), numOwnBodies(numOwnBodies) {}

  /// None where tensors are handed on in a way that is not told by slots.
  std::optional<MemoryTotals> run();

private:
  using Slot = trace::TraceProgram::Slot;
  using Step = trace::TraceProgram::Step;

  /// The templates of the tensors of one value. Of values whose tensors have
  /// the same sizes and categories there is one list, so that calls are of one
  /// kind whoever has made what they read.
  using Templates = std::vector<uint32_t>;

  /// From the node that writes it to the last that reads it, by number within
  /// the body.
  struct Tensor {
    uint32_t tensorTemplate, birth, death;
  };
  /// Tensors of one value that are made in a body and returned.
  struct Returned {
    std::vector<Tensor> tensors;
    const Templates *templates = nullptr;
  };
  /// Of a result: all of an argument, or what is made. A loop stacks the input
  /// of its first turn, which is an argument, before those of the others.
  struct Part {
    bool isArgument;
    uint32_t number; ///< Of the argument, or in `made`.
  };
  /// None: states, or no tensors.
  using Result = llvm::SmallVector<Part, 1>;
  /// A tensor is made, or nobody reads it any more.
  struct Event {
    uint32_t node;
    bool isDeath;
    uint32_t tensorTemplate;

    /// By node, births first.
    bool operator<(const Event &other) const {
      return std::tie(node, isDeath) < std::tie(other.node, other.isDeath);
    }
  };
  /// What any call of a body does.
  struct BodySummary {
    uint32_t numNodes = 0;
    /// Where it is side by side with another one: by schedule, the nodes up to
    /// each at which the other one goes on.
    std::map<const trace::TraceProgram::Schedule *, std::vector<uint32_t>>
        switches;
    /// Of all tensors that are made, but for deaths of those that are returned.
    std::vector<Event> events;
    /// By argument and tensor, the last node that reads it; empty if none does.
    std::vector<std::vector<uint32_t>> lastReaders;
    std::vector<Returned> made;
    std::vector<Result> results;
  };
  /// The memory over a call, as differences from what is live before it.
  struct Profile {
    CategoryBytes peak;    ///< Where the total is largest.
    CategoryBytes largest; ///< Of each category on its own.
    CategoryBytes change;  ///< Over the whole call.
    uint32_t peakNode = 0;
    uint32_t numNodes = 0;
    /// Where calls are side by side: what this is of.
    std::vector<Event> events;
    const BodySummary *summary = nullptr;
  };
  /// Tensors that live and die together: what one step makes of one value at
  /// the top.
  struct Group {
    const Templates *templates;
    uint32_t lastStep;
  };
  /// The groups that a slot stands for; none: what lives always.
  using Value = llvm::SmallVector<uint32_t, 1>;

  /// A schedule by kinds of turns.
  struct Scheduled {
    explicit Scheduled(const trace::TraceProgram::Schedule &schedule)
        : schedule(&schedule) {}

    const trace::TraceProgram::Schedule *schedule;
    std::vector<TurnExecution> executions; ///< By place.
    std::vector<uint32_t> kindOf;          ///< By turn.
    uint32_t numKinds = 0;
    std::vector<const Profile *> profiles; ///< By step and kind.
    /// Of two calls side by side.
    std::map<std::pair<const Profile *, const Profile *>, Profile> pairs;

    size_t getPlace(uint32_t step, uint32_t kind) const {
      return step * size_t(numKinds) + kind;
    }
  };

  bool enterSchedule(uint32_t index);
  void findKinds(Scheduled &own) const;
  bool hasSteadyTotals(const trace::TraceProgram::Schedule &schedule) const;
  bool enterSteps();
  bool enterStep(Step step, uint32_t number);
  const Profile *runStep(Step step, uint32_t number);
  void runSchedule(Scheduled &own, uint32_t number);
  void advanceRun(Scheduled &own, const stg::ExecutionOrder::Run &run);
  const Profile *getPair(Scheduled &own, const Profile *first,
                         const Profile *second);
  /// Where the value of a slot is: a slot of a schedule has one in each kind of
  /// turn.
  Value &getValue(uint32_t slot) {
    uint32_t lane = laneOf.empty() ? trace::kNone : laneOf[slot];
    return values[lane == trace::kNone ? slot : lane + turnKind];
  }
  bool readsOnlyStates() const;
  bool stacksStates(const trace::TraceProgram::Call &call,
                    const BodySummary &summary);
  bool enterCall(const trace::TraceProgram::Call &call, uint32_t step);
  void enterNode(uint32_t node, uint32_t step);
  static void sortByNode(std::vector<Event> &events, uint32_t numNodes);
  static std::vector<Event> merge(llvm::ArrayRef<Event> lhs,
                                  llvm::ArrayRef<Event> rhs);
  const BodySummary *summarize(const trace::TraceProgram::Call &call);
  bool summarizeResults(const trace::ProgramRunner &runner,
                        const trace::TraceProgram::Call &call, uint32_t numArgs,
                        BodySummary &summary);
  bool touch(uint32_t slot, uint32_t step);
  const Templates *intern(Templates templates);
  uint32_t makeGroup(const Templates *templates, uint32_t step);

  const Profile *runCall(const trace::TraceProgram::Call &call, uint32_t step);
  void moveValues(const trace::TraceProgram::Call &call,
                  const BodySummary &summary, uint32_t step);
  void makeOutputs(const trace::TraceProgram::NodeWiring &wiring,
                   uint32_t step);
  void runAlias(trace::TraceProgram::Alias alias);
  Profile makeProfile(const BodySummary &summary, uint32_t step);
  void measure(llvm::ArrayRef<Event> events, Profile &profile) const;
  const Profile *runNode(uint32_t node, uint32_t step);
  void advance(const Profile *profile, uint32_t times = 1);
  bool dies(uint32_t group, uint32_t step) const {
    return groups[group].lastStep == step;
  }

  const trace::TraceProgram &program;
  size_t firstStep; ///< After the states.
  uint32_t numOwnBodies;
  std::map<uint32_t, std::optional<BodySummary>> summaries; ///< By body.
  /// By sizes and categories.
  std::map<std::vector<std::pair<int64_t, trace::TensorCategory>>, Templates>
      interned;
  std::vector<Group> groups;
  std::vector<Value> values;    ///< By slot at the top, then by lane and kind.
  std::vector<uint32_t> laneOf; ///< By slot, the place of its first kind.
  uint32_t turnKind = 0;        ///< Of the schedule, where there is one.
  std::map<uint32_t, Scheduled> scheduled; ///< By number of the schedule.
  std::map<std::vector<const void *>, Profile> profiles;
  std::deque<Profile> nodeProfiles;
  uint32_t nextGroup = 0;
  // Of the call at hand.
  std::vector<const void *> key;
  llvm::SmallVector<Value> argValues;
  llvm::SmallVector<uint32_t> madeGroups; ///< By number in `made`.

  bool hasPairs = false; ///< Calls side by side.
  CategoryBytes live;
  uint32_t nextNode = 0;
  MemoryTotals totals;
};

/// The memory of a program that is states, then calls, schedules, nodes, and
/// loops, which count as calls. None where that cannot be told from calls.
std::optional<MemoryTotals> measureCalls(const trace::TraceProgram &program);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_CALLMETER_H
