//===- TaskReader.h - Executes tasks by themselves --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_SEARCH_TASKREADER_H
#define STG_LIB_SEARCH_TASKREADER_H

#include "stg/Estimate/NodeTimes.h"
#include "stg/Search/TaskBounds.h"
#include "stg/Trace/Program/TraceProgram.h"
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace stg {

/// The layers of a task, or of what else has the same loops, one after the
/// other.
struct LayerSequence {
  /// A loop whose turns are layers.
  struct Kind {
    uint32_t repeat;
    int64_t count;
    /// In backward, a loop that computes the same layers again, or kNone; all
    /// those of a turn come before it.
    uint32_t replay = trace::kNone;
  };
  /// Turns are layers, of one kind, or consist of those of loops in it, of one
  /// kind each.
  struct Loop {
    uint32_t repeat;
    int64_t turns;
    int64_t first; ///< Its first layer.
    int64_t layersOfTurn = 0;
    size_t numKinds = 0;
  };

  llvm::SmallVector<Loop, 2> loops;
  llvm::SmallVector<Kind, 2> kinds; ///< In the order of the first layers.
  std::vector<unsigned> layers;     ///< The kind of each.

  /// Of a task forward, or of what comes before all tasks; none where it cannot
  /// be told what layers are.
  static std::optional<LayerSequence> get(const trace::TraceProgram &program,
                                          uint32_t body);
  /// Likewise of a task backward, in which they come in reverse order.
  std::optional<LayerSequence> getReverse(const trace::TraceProgram &program,
                                          uint32_t body) const;
  int64_t size() const { return static_cast<int64_t>(layers.size()); }
  /// True for other loops over the same layers.
  bool isLike(const LayerSequence &other) const;

private:
  bool isReverseOf(const LayerSequence &other) const;
  void addLoop(const trace::TraceProgram &program, uint32_t repeat,
               llvm::ArrayRef<Kind> ofTurn);
};

/// Looks at the program of a class.
class TaskReader {
public:
  /// With `dropsEnds` collectives before and after loops do not count in parts
  /// of the layers: what they are of may be divided over stages.
  TaskReader(trace::TraceProgram program, std::vector<NodeTime> times,
             ProgramTimes::Rules rules, trace::AxisMask classAxes,
             bool dropsEnds = false)
      : program(std::move(program)), times(std::move(times)), rules(rules),
        dropsEnds(dropsEnds) {
    for (const trace::NodeTemplate &node : this->program.nodes)
      isFromOthers.push_back(node.isMessage() && (classAxes >> node.axis & 1));
  }

  bool findTasks();
  /// A task of all layers, or of a part of them, which has nothing of what
  /// comes before, or after, all layers.
  struct Task {
    const trace::TraceProgram::Call *call;
    bool skipsBefore, skipsAfter;
  };
  TaskTime run(Task task);
  Ticks runAfter(Task first, Task second);
  /// The least of all backward tasks, or of the second halves of them; 0 where
  /// there are none.
  TaskTime runBackward(bool skipsBefore, bool skipsAfter) {
    return runLeast(backward, skipsBefore, skipsAfter, skipsBefore);
  }
  TaskTime runWeights(bool skipsBefore, bool skipsAfter) {
    return runLeast(weights, skipsBefore, skipsAfter, false);
  }
  /// A forward task of a part of the layers.
  TaskTime runForward(bool skipsAfter) {
    TaskTime time = run({forward, true, skipsAfter});
    time.late = runLate({forward, true, skipsAfter});
    return time;
  }
  llvm::SmallVector<Task, 2> listTasks(unsigned kind) const;
  Ticks runLate(Task task);
  TaskTime runAll();
  /// False if loops over layers start with nothing that earlier ones have made,
  /// as decoders beside their encoders do: some of their kernels run beside
  /// those of the stages before.
  bool areLayersOneChain() const;
  /// Of kernels of a kind, such as `&NodeTime::isForward`.
  Ticks sumKernels(bool NodeTime::*kind) const;
  void readOrigins();
  void setTimes(std::vector<NodeTime> other) {
    times = std::move(other);
    loopTimes.clear();
  }
  /// Layers of each loop.
  void setLayers(int64_t count) {
    for (uint32_t repeat : loops)
      program.repeats[repeat].count = count;
  }
  /// The least of all stages, of which there are so many, where it is not one
  /// loop that has as many turns in each of them; none where layers cannot be
  /// told.
  std::optional<TaskTimes::Stage> runStages(unsigned count);
  /// Likewise what all stages have at least of each. Activations of less than
  /// `least` bytes do not count.
  std::map<unsigned, LayerBytes>
  getStageBytes(llvm::ArrayRef<unsigned> stageCounts, double least) const;
  /// What is kept for backward of what comes after the loops of forward.
  double getEndBytes(double least) const;

  const trace::TraceProgram::Call *forward = nullptr;
  llvm::SmallVector<const trace::TraceProgram::Call *, 2> backward, weights;
  int64_t layers = 0; ///< Turns of the loop of each task; 0: several loops.
  bool hasReductions = false; ///< Gradients are reduced in tasks.

private:
  std::optional<uint32_t> findLoop(const trace::TraceProgram::Call &call) const;
  std::unique_ptr<ProgramTimes> begin(std::vector<NodeTime> times) const;
  std::vector<NodeTime> getTimes(llvm::ArrayRef<Task> tasks) const;
  void runSteps(ProgramTimes &run, Task task,
                std::optional<Ticks> carried) const;
  void runTask(ProgramTimes &run, Task task) const;
  TaskTime getTime(ProgramTimes &run) const;
  static bool isInside(llvm::StringRef phase);
  TaskTime runLeast(llvm::ArrayRef<const trace::TraceProgram::Call *> calls,
                    bool skipsBefore, bool skipsAfter, bool asksLate);
  uint32_t getOrigin(uint32_t slot) const;
  void findLayers();
  Ticks getKernels(uint32_t body) const;
  Ticks getEnds(const trace::TraceProgram::Call &call, bool isAfter) const;
  Ticks runLoop(const trace::TraceProgram::Call &call, uint32_t repeat,
                int64_t turns);
  TaskTime runPart(const trace::TraceProgram::Call &call, int64_t first,
                   int64_t last);
  TaskTime runLeastPart(llvm::ArrayRef<const trace::TraceProgram::Call *> calls,
                        int64_t first, int64_t last);
  double getStateBytes(uint32_t body, trace::TensorCategory category) const;
  std::vector<LayerBytes> getLayerBytes(double least) const;

  trace::TraceProgram program;
  std::vector<NodeTime> times;
  ProgramTimes::Rules rules;
  bool dropsEnds;
  std::vector<bool> isFromOthers; ///< By node: a message between classes.
  llvm::SmallVector<uint32_t, 2> loops;
  /// By task, if all have the same layers.
  std::map<const trace::TraceProgram::Call *, LayerSequence> sequences;
  /// Of a loop of a task with so many turns, from when its input is there on.
  std::map<std::tuple<uint32_t, int64_t>, Ticks> loopTimes;
  std::map<uint32_t, uint32_t> from; ///< Slots that are others.
  std::map<uint32_t, double> bytesOf;
};

} // namespace stg

#endif // STG_LIB_SEARCH_TASKREADER_H
