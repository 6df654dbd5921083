//===- TaskBounds.h - What strategies take at least -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Least times and memory of all strategies of a task shape, from one of them
// that has no pipeline. docs/Rationale/Search.md shows that they are least.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SEARCH_TASKBOUNDS_H
#define STG_SEARCH_TASKBOUNDS_H

#include "stg/Driver/Compile.h"
#include "stg/Estimate/CollectiveCosts.h"
#include "stg/Estimate/NodeTimes.h"
#include "stg/Estimate/ProgramTimes.h"
#include "stg/Search/SearchSpace.h"
#include <array>
#include <map>
#include <memory>
#include <optional>

namespace stg {

struct ScheduleRequest;

/// What a device executes: a kind, of a stage that is the last one or not. The
/// first half of a split backward is a backward.
struct TaskKind {
  enum Kind : unsigned { Forward, Backward, Weights };
  static constexpr unsigned kCount = 6;
  static unsigned get(Kind kind, bool isLast) { return 2 * kind + isLast; }
};

/// What a schedule says of any program.
struct ScheduleFacts {
  std::string refusal; ///< Empty if there is such a schedule.
  bool splitsBackward = false;
  bool mixesBackward = false; ///< Only some of them.
  /// A forward is beside a backward, so that what one waits for is behind the
  /// other.
  bool hasPairs = false;
  /// Device d has the virtual stages d, d + p, d + 2p, ...
  bool isChain = true;
  /// Pairs of a virtual stage and a micro-batch whose forward a device has
  /// executed and whose backward it has not, virtual stages that it has
  /// gradients of, and how many of the first are of the last stage.
  struct Held {
    unsigned activations, gradients, ofLast;
  };
  /// The largest there are: none has no more of both than another one.
  llvm::SmallVector<Held, 4> held;
  /// On the device of the last stage, how often a task of the second kind comes
  /// right after one of the first.
  std::array<std::array<uint32_t, TaskKind::kCount>, TaskKind::kCount> follows =
      {};

  static ScheduleFacts get(llvm::StringRef name,
                           const ScheduleRequest &request);
};

/// Ticks of a task by itself, from an idle device on.
struct TaskTime {
  Ticks task = 0;        ///< Waiting for what is communicated within it.
  Ticks kernels = 0;     ///< Of kernels, or of their launches.
  Ticks collectives = 0; ///< Waited for or not.
  /// From when its input, or its gradient, comes on, if that is late. What
  /// needs neither may have been done by then: recomputation of the last layer,
  /// or the first gather of parameters.
  Ticks late = 0;
  /// Of kernels that have long been launched, as those of a stage that waits.
  Ticks launched = 0;
};

/// Of all tasks of a program.
struct TaskTimes {
  /// Forward and backward of a part of the layers.
  struct Stage {
    TaskTime forward, backward;         ///< Of layers only.
    TaskTime lastForward, lastBackward; ///< With what comes after all layers.
    TaskTime weights, lastWeights; ///< The second halves of split backwards.
    /// How much longer at least a task of the second kind takes right after one
    /// of the first, whose collectives it waits for; 0 if that is not known.
    std::array<std::array<Ticks, TaskKind::kCount>, TaskKind::kCount> after =
        {};
  };

  /// All of a micro-batch on one device; with one micro-batch of the whole
  /// step but for the ends of it.
  TaskTime whole;
  Ticks forward = 0; ///< With one micro-batch, kernels of it that are forward.
  std::map<unsigned, Stage> stages; ///< By number of virtual stages.
};

/// Bytes of layers that a device has.
struct LayerBytes {
  double parameters = 0, optimizer = 0;
  double activations = 0; ///< Kept for backward, of a micro-batch.
};

class TaskReader;

/// The program of a shape, or of a family of shapes, on a machine. The result
/// and the machine must outlive it.
class ShapeProgram {
public:
  /// Fails as NodeTimes does.
  static llvm::Expected<ShapeProgram> get(const CompileResult &result,
                                          const Machine &machine);

private:
  friend class TaskBounds;

  ShapeProgram(const CompileResult &result, const Machine &machine)
      : result(&result), machine(&machine) {}

  const CompileResult *result;
  const Machine *machine;
  /// Of what adds up gradients only what is left where they have been reduced.
  std::unique_ptr<Execution> withoutAdding;
  std::optional<NodeTimes> adding, reducing;
  size_t slowest = 0; ///< The class whose kernels take the most.
};

class TaskBounds {
public:
  /// Empty if there is such a program.
  std::string refusal;

  /// Runs the program of a shape. `stageCounts` are the numbers of virtual
  /// stages that will be asked for. With a `growth` of more than 1 bounds are
  /// those of a shape with so many times as many sequences in a micro-batch,
  /// not as close as if its own program is run.
  void measure(ShapeProgram &shape, bool hasMicroBatches,
               llvm::ArrayRef<unsigned> stageCounts, int64_t growth = 1);

  /// Times of a program of `SearchSpace::insides`; none where it has no tasks
  /// that can be told.
  static std::optional<TaskTimes>
  measureInside(const CompileResult &result, const Machine &machine,
                bool hasMicroBatches, llvm::ArrayRef<unsigned> stageCounts);

  /// No step of the strategy is shorter. `inside` has the times of its tasks
  /// with the collectives of data parallelism in them, `split` those with
  /// backward in two halves, if they are known.
  Ticks getTime(const PointFacts &point, const ScheduleFacts &schedule,
                const TaskTimes *inside = nullptr,
                const TaskTimes *split = nullptr) const;
  /// Of decoding, from one step to the next one where such steps follow one
  /// another: with stages several of them are under way.
  Ticks getInterval(const PointFacts &point) const;
  /// No step needs fewer bytes on its largest device.
  double getMemory(const PointFacts &point,
                   const ScheduleFacts &schedule) const;

private:
  /// How gradients are reduced, and the optimizer applies them.
  void measureUpdate(const trace::TraceBundle &programs,
                     const trace::TraceProgram &program, const Machine &machine,
                     llvm::ArrayRef<NodeTime> times);
  /// What takes no less than reducing so many bytes over the ranks of data
  /// parallelism.
  Ticks getReduction(llvm::StringRef collective, const PointFacts &point,
                     double bytes) const;
  const LayerBytes *findStage(const PointFacts &point) const;
  /// From the last backward on.
  Ticks getUpdate(const PointFacts &point, Ticks window) const;
  Ticks getTasks(const PointFacts &point, const ScheduleFacts &schedule,
                 const TaskTimes &times, const TaskTimes *split,
                 Ticks &window) const;

  static void measureTimes(TaskReader &reader, bool hasMicroBatches,
                           llvm::ArrayRef<unsigned> stageCounts,
                           TaskTimes &times);
  static void measurePairs(TaskReader &reader, TaskTimes::Stage &stage);

  bool hasMicroBatches = true;
  /// It moves buffers to the host, of which nothing is known here: bounds are
  /// 0.
  bool usesHost = false;
  /// Where gradients are added up as they are made, and where only what is left
  /// of them after they are reduced.
  TaskTimes adding, reducing;
  Ticks fixed = 0; ///< Of the host, once.

  // Bytes.
  double parameters = 0, optimizer = 0, other = 0;
  double peakActivations = 0, peakGradients = 0;
  /// The peak is in the optimizer, which has less of a shard.
  bool peaksInUpdate = false;
  double endActivations = 0; ///< Kept of what comes after all layers.
  /// Of these, by number of virtual stages, what each stage has at least.
  std::map<unsigned, LayerBytes> stageBytes;
  double reservedOverLive = 1;

  /// The ranks that reduce gradients of all parameters; none where these are
  /// not the same for all.
  std::vector<trace::RankSpace::Axis> reducedOver;
  const Machine *machine = nullptr; ///< Of their collectives.
  double slowdown = 1, dataHidden = 0;
  double gradients = 0; ///< Bytes that are reduced.
  Ticks update = 0;     ///< Of the optimizer, without ZeRO.
  int64_t steps = 0;    ///< So many steps of parameters.
  /// Ticks a byte takes at least, by collective, ranks that reduce, and ranks
  /// of the job, on which a torus depends.
  mutable std::map<std::tuple<bool, uint32_t, uint32_t>, double> rates;
};

} // namespace stg

#endif // STG_SEARCH_TASKBOUNDS_H
