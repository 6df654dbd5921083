//===- SearchSpace.h - The strategies that a search looks at ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All combinations of values of some fields of a strategy that make as many
// ranks as asked for and in which each value has an effect. A strategy is a row
// of small numbers, so that there may be millions. docs/Rationale/Search.md
// says why it looks like this.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SEARCH_SEARCHSPACE_H
#define STG_SEARCH_SEARCHSPACE_H

#include "stg/Driver/StrategySettler.h"
#include <functional>

namespace stg {

/// A field, and the values that are tried.
struct SearchAxis {
  const Field *field;
  std::vector<std::string> values;
};

/// Whether a forward is to be beside a backward: as a flag says, or, if a
/// preset asks for it, where the schedule can have that.
enum class PairRequest : uint8_t { None, WherePossible, Always };

/// What bounds ask of a strategy.
struct PointFacts {
  uint32_t shape = 0;        ///< What devices do for a micro-batch.
  uint32_t microBatches = 1; ///< Of a step.
  uint32_t stages = 1;       ///< Pipeline devices.
  uint32_t virtualStages = 1;
  uint32_t schedule = 0; ///< Index into `SearchSpace::schedules`.
  uint32_t shards = 1;   ///< Ranks that ZeRO divides over, at most.
  uint32_t data = 1;     ///< Ranks along the axis of data parallelism.
  uint32_t job = 0;      ///< Index into `SearchSpace::jobs`.
  uint32_t ranks = 1;    ///< Of all axes.
  /// Indices into `SearchSpace::insides`, or `kNoInside`: with the collectives
  /// of data parallelism in tasks, and with backward in two halves.
  uint32_t inside = UINT32_MAX, split = UINT32_MAX;
  uint8_t zero = 0;
  /// Gradients are reduced in each micro-batch, before they are added up.
  bool reducesInside = false;
  bool listsLayers = false; ///< Stages have other numbers of layers.
  bool isDecode = false;    ///< A step of decoding follows the step.
  PairRequest pairs = PairRequest::None;

  /// Micro-batches or stages are in an order.
  bool hasSchedule() const { return stages > 1 || microBatches > 1; }
};

/// Strategies whose tasks, a micro-batch forward or backward through layers,
/// execute the same kernels on a device: they differ in the pipeline, in ZeRO,
/// and in the number of micro-batches. Shapes that differ in the size of
/// micro-batches only are of one family.
struct TaskShape {
  /// One of them without a pipeline and ZeRO, with two micro-batches, or one.
  StrategyInput strategy;
  bool hasMicroBatches = true; ///< Two, not one.
  size_t firstPoint = 0;       ///< That strategy, in the space.
  int64_t sequences = 1;       ///< Of a micro-batch, on a rank.
  uint32_t data = 0;           ///< Ranks of data parallelism of the strategy.
};

/// What flags of a field make it what it is in the strategy, one after the
/// other: one for each symbol, whose values may have commas; else one, or none
/// where there is nothing to say.
std::vector<std::string> listFlagValues(const Field &field,
                                        const Strategy &strategy);

/// What a step does, and on how many devices. Times of strategies of one job
/// say all about them.
struct SearchJob {
  int64_t ranks = 1;
  double tokens = 0; ///< Of a step; 0: that is not known.

  bool operator==(const SearchJob &other) const {
    return ranks == other.ranks && tokens == other.tokens;
  }
  bool operator<(const SearchJob &other) const {
    return std::tie(ranks, tokens) < std::tie(other.ranks, other.tokens);
  }
};

/// The numbers of ranks, in order.
std::vector<int64_t> listRanks(llvm::ArrayRef<SearchJob> jobs);
/// True if not all jobs have the same of that.
template <typename Number>
bool differIn(llvm::ArrayRef<SearchJob> jobs, Number SearchJob::*number) {
  return llvm::any_of(jobs, [&](const SearchJob &job) {
    return job.*number != jobs.front().*number;
  });
}

/// Where strategies that were tried have gone.
struct RefusedPoints {
  uint64_t count = 0;
  std::string example; ///< The message about the first of them.
};

class SearchSpace {
public:
  static constexpr uint8_t kUnset = 255;
  static constexpr uint32_t kNoInside = UINT32_MAX;

  std::vector<SearchAxis> axes; ///< In the order of fields.
  std::vector<PointFacts> points;
  std::vector<TaskShape> shapes;
  /// Strategies of a shape whose tasks also gather parameters, or reduce
  /// gradients, over the same ranks of data parallelism, or have backward in
  /// two halves: one of each with these.
  std::vector<TaskShape> insides;
  /// The shapes of each family, those with the fewest sequences first.
  std::vector<std::vector<uint32_t>> families;
  std::vector<std::string> schedules;
  std::vector<SearchJob> jobs;
  bool isTraining = true;
  /// Meshes that the model or the preset refuses.
  RefusedPoints refused;

  size_t size() const { return points.size(); }
  /// By axis the number of its value, or kUnset where none has an effect.
  llvm::ArrayRef<uint8_t> getChoices(size_t point) const {
    return llvm::ArrayRef(choices).slice(point * axes.size(), axes.size());
  }
  /// The strategy of a point: what is fixed, and the choices.
  StrategyInput getStrategy(size_t point, const StrategyInput &fixed) const;

private:
  friend class SpaceBuilder;
  std::vector<uint8_t> choices;
};

/// What spans a space.
struct SpaceRequest {
  const CompileRequest *request = nullptr; ///< Its strategy is fixed.
  std::vector<int64_t> ranks; ///< One of these is what a strategy uses.
  /// `FLAG=VALUE,VALUE`, or with `;` where values have commas.
  std::vector<std::string> vary;
  /// Asked now and then; true: stop. May be empty.
  std::function<bool()> isInterrupted;
};

/// Enumerates; gives nothing if it is stopped by then. The error says what is
/// wrong with the request; it is empty if that has been printed.
llvm::Expected<SearchSpace> makeSearchSpace(const SpaceRequest &request,
                                            StrategySettler &settler);

} // namespace stg

#endif // STG_SEARCH_SEARCHSPACE_H
