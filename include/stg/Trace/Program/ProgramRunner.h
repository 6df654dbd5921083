//===- ProgramRunner.h - Makes the nodes of a rank --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_PROGRAM_PROGRAMRUNNER_H
#define STG_TRACE_PROGRAM_PROGRAMRUNNER_H

#include "stg/Trace/Program/ScheduledSlots.h"
#include "llvm/Support/Allocator.h"
#include <array>
#include <map>

namespace stg::trace {

/// One tensor of a rank.
struct TensorInstance {
  uint32_t tensorTemplate;
  uint32_t writer; ///< A node, or kNone for a state.
  uint32_t prefix; ///< See ProgramRunner::getPrefix.
  uint32_t index;  ///< Among the outputs of its writer.
};

/// One node of a rank. The arrays live until the next node is made.
struct FlatNode {
  uint32_t id; ///< 0, 1, 2, ... in program order.
  const NodeTemplate *common;
  /// The repeats and calls around the node: `layers.3.`; the path is this and
  /// the name.
  llvm::StringRef prefix;
  /// Nodes that must be complete; ascending, no duplicates.
  llvm::ArrayRef<uint32_t> dataDeps;
  /// Further nodes that must be complete, for the order of streams; ascending.
  llvm::ArrayRef<uint32_t> ctrlDeps;
  /// The tensors read or changed, in order of their first use as operand.
  llvm::ArrayRef<uint32_t> inputs;
  /// The tensors written are this one and the ones after it.
  uint32_t firstOutput;
  uint32_t numOutputs;
  uint32_t tag; ///< Messages only.
};

/// What compute nodes say in `num_ops`: simulators divide by it.
int64_t getNumOps(const NodeTemplate &node);
/// What compute nodes say in `tensor_size`: their bytes, raised where the node
/// could else end in no time, which simulators do not survive.
int64_t getTensorSize(const FlatNode &node);
/// What `Node.name` ends in.
llvm::StringRef getSuffix(NodeKind kind);

/// Runs a program once:
///
///   ProgramRunner runner(program);
///   FlatNode node;
///   while (runner.next(node))
///     ...
///
/// Memory grows by some 30 bytes for each tensor, as any later node may read
/// it; nodes are not kept.
class ProgramRunner {
public:
  /// The program must outlive the runner.
  explicit ProgramRunner(const TraceProgram &program);

  /// Runs one body, as a call would, on arguments that stand for any: tensors
  /// that no node writes, in order behind those of the first `numSteps` steps
  /// of the program, which make no nodes. Body 0: only these steps. Nodes have
  /// no dependencies then, and no prefixes: tensors are what it is for.
  ProgramRunner(const TraceProgram &program, size_t numSteps, uint32_t body,
                llvm::ArrayRef<TraceProgram::Slot> args);

  /// Makes the next node; false at the end.
  bool next(FlatNode &node);

  /// The tensors so far, states among them.
  llvm::ArrayRef<TensorInstance> getInstances() const { return instances; }
  /// The tensors that were there before the body.
  uint32_t getNumStates() const { return numStates; }
  /// The tensors that a slot stands for; kNone for a token.
  llvm::SmallVector<uint32_t> getTensors(TraceProgram::Slot slot) const;
  /// By tensor, the last node so far that reads or changes it; kNone if there
  /// is none.
  llvm::ArrayRef<uint32_t> getLastReaders() const { return lastReader; }
  /// What stands before the name of a tensor.
  llvm::StringRef getPrefix(const TensorInstance &instance) const {
    return prefixes[instance.prefix];
  }

private:
  /// What a value stands for at run time: a tensor, and the last node that has
  /// changed it in place. A token has no tensor, only a node.
  struct Reference {
    uint32_t tensor;
    uint32_t changer;
  };
  /// A body that is being run.
  struct Frame {
    const TraceProgram::Body *body;
    const TraceProgram::Call *call = nullptr;
    const TraceProgram::Repeat *repeat = nullptr;
    const TraceProgram::Schedule *schedule = nullptr;
    size_t step = 0;
    /// What to go back to in the end.
    size_t outerPrefix = 0;
    uint32_t outerNumber = 0;

    // Repeats only.
    int64_t turn = 0;
    bool isEntered = false; ///< The nodes of the turn itself have begun.
    /// Nodes that are due at the start of the turn, for a turn each.
    llvm::SmallVector<std::pair<uint32_t, TraceProgram::Place>, 0> due;
    size_t nextDue = 0;
    llvm::SmallVector<Reference *, 4> stacks;
    /// The last store of this turn, and of the one before.
    std::array<uint32_t, 2> stores = {kNone, kNone};
  };

  /// What is executed by turns with something else, and how far it is.
  struct Strand {
    std::vector<Frame> frames;
    std::string prefix;
    uint32_t prefixNumber = 0;
    OrderEntry entry = {};
    TraceProgram::Relay relay;
  };

  void pushCall(const TraceProgram::Call &call);
  void pushRepeat(const TraceProgram::Repeat &repeat);
  void pushSchedule(const TraceProgram::Schedule &schedule);
  bool runScheduled(const TraceProgram::Schedule &schedule, FlatNode &node);
  TraceProgram::Step takeEntry(const TraceProgram::Schedule &schedule,
                               size_t outerPrefix);
  bool isNextBeside(const TraceProgram::Schedule &schedule) const;
  void storeLanes(const TraceProgram::Schedule &schedule);
  void switchStrand();
  void endStrand();
  bool givesWay(uint32_t node) {
    return isPaired && !isOtherOver && own.givesWay(program.nodes[node]);
  }
  void beginTurn(Frame &frame);
  void endTurn(Frame &frame);
  void endRepeat(const Frame &frame);
  void popFrame();
  void runDueNode(Frame &frame, FlatNode &node);
  void setAheadOutputs(uint32_t node, llvm::ArrayRef<const Reference *> made);
  void takeDueNodes(const Frame &frame);
  TraceProgram::Place getPlace() const;
  void enterIteration(const TraceProgram::Repeat &repeat, size_t outerPrefix,
                      int64_t turn);
  void enterPlace(const TraceProgram::Place &place);
  void reenterTurn();
  void notePrefix();

  bool runStep(TraceProgram::Step step, FlatNode &node);
  void runState(const TraceProgram::State &state);
  void runNode(uint32_t index, FlatNode &node);
  void runAliases(llvm::ArrayRef<TraceProgram::Alias> aliases);
  void read(TraceProgram::Slot slot, uint32_t id);
  void depend(const Reference &reference);
  void makeOutput(const TraceProgram::Output &output, uint32_t firstOutput);
  void addControl(const NodeTemplate &node);
  uint32_t takeTag(uint32_t channel);

  /// References are made once and never changed, so that values can share them;
  /// they are freed with the run.
  Reference *allocate(size_t count) {
    return allocator.Allocate<Reference>(count);
  }
  uint32_t addTensor(uint32_t tensorTemplate, uint32_t writer, uint32_t index);

  /// Where the schedule that is being run has come to. There is one at a time.
  struct Progress {
    size_t run = 0, item = 0;
    uint32_t times = 0;
    OrderEntry entry = {}; ///< Being executed.
    bool isExecuting = false;
    /// By lane and turn.
    std::vector<const Reference *> values;
    ScheduledSlots slots;
  };

  const TraceProgram &program;
  bool isForTensors = false; ///< Nobody asks for dependencies and prefixes.
  Progress progress;
  std::vector<Frame> frames;
  /// Two steps of the schedule are executed by turns: `frames` are those of
  /// one, behind `outer`.
  bool isPaired = false, isOtherOver = false;
  TraceProgram::Relay own;
  Strand other;
  std::vector<Frame> outer;
  std::vector<TensorInstance> instances;
  std::vector<const Reference *> slots;
  llvm::BumpPtrAllocator allocator;
  std::string prefix;
  uint32_t prefixNumber = 0;
  std::vector<llvm::StringRef> prefixes;

  uint32_t numStates = 0;
  uint32_t nextId = 0;
  /// The last node of each stream: compute nodes, those that occupy the
  /// network, loads, and stores.
  uint32_t lastComp = kNone, lastComm = kNone, lastLoad = kNone,
           lastStore = kNone;
  uint32_t awaitedStore = kNone; ///< By the next compute node.
  /// By repeat, the index of its iteration; empty where nobody asks.
  std::vector<int64_t> indices;
  std::vector<uint32_t> messages; ///< Of each channel so far.
  /// Likewise by turn, of channels of schedules.
  std::vector<std::vector<uint32_t>> messagesOfTurns;
  /// What nodes that run ahead have made, by node and the turns around it.
  std::map<std::pair<uint32_t, llvm::SmallVector<int64_t, 4>>,
           llvm::SmallVector<const Reference *>>
      aheadOutputs;
  std::vector<uint32_t> lastReader; ///< Finds repeated operands, too.

  // Of the node that was made last, and scratch.
  std::vector<uint32_t> deps, ctrlDeps, inputs;
  llvm::SmallVector<const Reference *> carried;
};

/// The names of tensors: `parameter/layers.3.wq` for a state, and
/// `layers.3.attn:0` for the first output of a node.
class TensorNames {
public:
  /// Both must outlive the object.
  TensorNames(const TraceProgram &program, const ProgramRunner &runner);

  /// The number of bytes of a name.
  size_t getSize(const TensorInstance &tensor) const;
  /// Calls `append` with the parts of a name one after the other.
  template <typename Fn>
  void forEachPart(const TensorInstance &tensor, Fn append) const {
    const Parts &common = parts[tensor.tensorTemplate];
    append(common.head);
    append(runner.getPrefix(tensor));
    append(common.tail);
    if (!common.isOutput)
      return;
    char digits[10];
    char *begin = std::end(digits);
    uint32_t rest = tensor.index;
    do
      *--begin = static_cast<char>('0' + rest % 10);
    while (rest /= 10);
    append(llvm::StringRef(begin, std::end(digits) - begin));
  }

private:
  /// What all tensors after one template share.
  struct Parts {
    std::string head, tail;
    bool isOutput = false; ///< The number among the outputs comes last.
  };
  const ProgramRunner &runner;
  std::vector<Parts> parts; ///< Parallel to the tensors of the program.
};

} // namespace stg::trace

#endif // STG_TRACE_PROGRAM_PROGRAMRUNNER_H
