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
// In a schedule, turns of one range do the same. So one of them is looked at,
// and what a run of the order does again and again is multiplied.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_CALLMETER_H
#define STG_LIB_TARGET_CHAKRA_CALLMETER_H

#include "stg/Target/Chakra/Export.h"
#include "stg/Trace/Program/ProgramRunner.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <deque>
#include <map>

namespace stg::chakra {

class CallMeter {
public:
  /// The program must outlive the meter.
  explicit CallMeter(const trace::TraceProgram &program) : program(program) {}

  /// None where the first body is not states, then calls and nodes, or where
  /// tensors are handed on in a way that is not told by slots.
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
  /// The tensors of one value that is made in a body and returned.
  struct Returned {
    std::vector<Tensor> tensors;
    const Templates *templates = nullptr;
  };
  struct Result {
    enum Kind { Nothing, Argument, Made } kind = Nothing;
    uint32_t number = 0; ///< Of the argument, or in `made`.
  };
  /// What any call of a body does.
  struct BodySummary {
    uint32_t numNodes = 0;
    std::vector<Tensor> locals; ///< Not returned.
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
  };
  /// Tensors that live and die together: those of one value at the top.
  struct Group {
    const Templates *templates;
    uint32_t lastStep;
  };

  /// A schedule by ranges of turns.
  struct Scheduled {
    /// A step in the first turn of a range.
    struct Execution {
      uint32_t step, range;
    };

    const trace::TraceProgram::Schedule *schedule;
    stg::TurnRanges ranges;
    std::vector<Execution> executions;     ///< In the order of the schedule.
    std::vector<uint32_t> rangeOf;         ///< By turn.
    std::vector<const Profile *> profiles; ///< By step and range.

    size_t getPlace(uint32_t step, uint32_t range) const {
      return step * ranges.size() + range;
    }
  };

  bool enterStates();
  bool enterSchedule(uint32_t index);
  bool hasSteadyTotals(const trace::TraceProgram::Schedule &schedule) const;
  bool enterSteps();
  bool enterStep(Step step, uint32_t number);
  const Profile *runStep(Step step, uint32_t number);
  void runSchedule(Scheduled &own, uint32_t number);
  void advanceRun(const Scheduled &own, const stg::ExecutionOrder::Run &run);
  /// Where the group of a slot is: a slot of a schedule has one in each range.
  uint32_t &getGroup(uint32_t slot) {
    uint32_t lane = laneOf.empty() ? trace::kNone : laneOf[slot];
    return groupOf[lane == trace::kNone ? slot : lane + range];
  }
  bool readsOnlyStates() const;
  bool readsAny(Step step, llvm::function_ref<bool(uint32_t)> isOne) const;
  bool enterCall(const trace::TraceProgram::Call &call, uint32_t step);
  void enterNode(uint32_t node, uint32_t step);
  const BodySummary *summarize(const trace::TraceProgram::Call &call);
  bool summarizeResults(const trace::ProgramRunner &runner,
                        const trace::TraceProgram::Call &call, uint32_t numArgs,
                        BodySummary &summary);
  bool touch(uint32_t slot, uint32_t step);
  const Templates *intern(Templates templates);
  void makeGroup(uint32_t slot, const Templates *templates, uint32_t step);

  const Profile *runCall(const trace::TraceProgram::Call &call, uint32_t step);
  void moveGroups(const trace::TraceProgram::Call &call,
                  const BodySummary &summary, uint32_t step);
  void makeOutputs(const trace::TraceProgram::NodeWiring &wiring,
                   uint32_t step);
  void runAlias(trace::TraceProgram::Alias alias);
  Profile makeProfile(const BodySummary &summary, uint32_t step);
  const Profile *runNode(uint32_t node, uint32_t step);
  void advance(const Profile *profile, uint32_t times = 1);
  bool dies(uint32_t group, uint32_t step) const {
    return group != trace::kNone && groups[group].lastStep == step;
  }

  const trace::TraceProgram &program;
  size_t firstStep = 0; ///< After the states.
  std::map<uint32_t, std::optional<BodySummary>> summaries; ///< By body.
  /// By sizes and categories.
  std::map<std::vector<std::pair<int64_t, trace::TensorCategory>>, Templates>
      interned;
  std::vector<Group> groups;
  /// By slot at the top, then by lane and range; kNone: lives always.
  std::vector<uint32_t> groupOf;
  std::vector<uint32_t> laneOf; ///< By slot, the place of its first range.
  uint32_t range = 0;           ///< Of the schedule, where there is one.
  std::map<uint32_t, Scheduled> scheduled; ///< By number of the schedule.
  std::map<std::vector<const void *>, Profile> profiles;
  std::deque<Profile> nodeProfiles;
  uint32_t nextGroup = 0;
  // Of the call at hand.
  std::vector<const void *> key;
  llvm::SmallVector<uint32_t> argGroups, resultGroups;

  CategoryBytes live;
  uint32_t nextNode = 0;
  MemoryTotals totals;
};

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_CALLMETER_H
