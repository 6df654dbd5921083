//===- Search.h - Which strategy is the best --------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the strategies of a space with the shortest steps, or with the most
// tokens per second and device, and those than which no other one is better in
// all that is compared. Times are those of `getStepTimes`, as stg-estimate
// prints them. Bounds only say which strategies need not be estimated.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SEARCH_SEARCH_H
#define STG_SEARCH_SEARCH_H

#include "stg/Estimate/Report.h"
#include "stg/Search/SearchSpace.h"

namespace stg {

/// A strategy that was compiled and executed.
struct Estimated {
  size_t number = 0;      ///< In the space, or in the list.
  StrategyInput strategy; ///< As it was asked for.
  std::string refusal;    ///< Not empty: why there is no such program.
  Ticks total = 0;
  double seconds = 0;
  /// From one such step to the next, where several are under way; else the
  /// step.
  Ticks interval = 0;
  bool overlapsSteps = false; ///< Several are.
  double needed = 0;          ///< Bytes of the device that needs most.
  /// What bounds said of it before, of the same; not of lists.
  std::optional<double> leastSeconds, leastNeeded, leastInterval;
  SearchJob job;
  bool isTraining = true;
  double mfu = 0, hfu = 0;
  std::optional<double> tokenRate; ///< Each second, of each device.
  std::vector<Report::Part> parts; ///< Means over ranks.
  llvm::json::Object settled; ///< The strategy with all that follows from it.
};

/// Compiles a strategy and executes it: what stg-estimate does. Each thread has
/// a compiler of its own.
Estimated estimateStrategy(Compiler &compiler, const CompileRequest &request,
                           const StrategyInput &strategy,
                           const Machine &machine);

/// What the best strategies have most, or least, of.
enum class SearchGoal {
  Time,       ///< Seconds of a step.
  Throughput, ///< Tokens per second and device.
};

/// What a front compares beside the time of a step: its strategies are those
/// than which no other one is as good in all of this.
struct FrontCriteria {
  bool memory = false;     ///< Bytes of the device that needs most.
  bool devices = false;    ///< How many there are.
  bool throughput = false; ///< Tokens per second and device.
};

/// What a strategy takes. The less, the better.
struct SearchCosts {
  Ticks time = 0;
  double memory = 0;
  SearchJob job;
  Ticks interval = 0; ///< From one step to the next.

  /// Of time: ticks; of throughput: ticks of a device for each token, 0 if
  /// tokens are not known.
  double get(SearchGoal goal) const;
  /// True if nothing that is compared is worse than that of the other one.
  bool isAsGoodAs(const SearchCosts &other,
                  const FrontCriteria &criteria) const;
};

struct SearchRequest {
  SpaceRequest space;
  const Machine *machine = nullptr;
  double memoryLimit = 0; ///< Bytes of a device.
  size_t most = 10;       ///< The best so many are found.
  /// None: throughput if strategies have other tokens, else time.
  std::optional<SearchGoal> goal;
  /// None: memory if all strategies have one job; of several jobs throughput in
  /// inference, and memory, devices and, if it is the goal, throughput in
  /// training.
  std::optional<FrontCriteria> front;
  /// Strategies that take more than so many times what the best one of their
  /// job takes are of no interest, however little memory they need.
  double within = 1.1;
  unsigned jobs = 1;
  /// Estimate all, for tests of bounds.
  bool isExhaustive = false;
  /// Strategies to choose from, instead of a space.
  std::vector<StrategyInput> among;
  /// Called now and then, from one thread at a time.
  std::function<void(llvm::StringRef step, uint64_t done, uint64_t total,
                     double bestSeconds)>
      progress;
};

struct SearchResult {
  SearchSpace space;          ///< Empty with a list.
  uint64_t numStrategies = 0; ///< All that were looked at.
  uint64_t refused = 0;       ///< No such program.
  std::string refusalExample;
  uint64_t cutByMemory = 0, cutByTime = 0; ///< By bounds.
  uint64_t tooLarge = 0; ///< Estimated, and need more than the limit.
  uint64_t numEstimated = 0;
  uint64_t numShapes = 0; ///< Kinds of tasks, and of them those compiled.
  uint64_t numMeasured = 0;
  bool isComplete = true; ///< Not interrupted.
  /// Of an interrupted search: what has not been looked at takes no less; none
  /// where too little is known of it.
  std::optional<double> leastLeft;
  double seconds = 0;
  /// What it has spent time on: `seconds` are the sum over threads.
  struct Work {
    llvm::StringLiteral name;
    uint64_t count = 0;
    double seconds = 0;
  };
  std::vector<Work> work;
  double leastNeeded = 0; ///< Bytes, of what does not fit; 0: all fits.
  /// What was asked for, or follows from the strategies.
  SearchGoal goal = SearchGoal::Time;
  FrontCriteria criteria;
  /// All that were estimated and fit, the best first.
  std::vector<Estimated> estimated;
  /// How many of them are the best; and those of the front, the shortest step
  /// first.
  size_t numBest = 0;
  std::vector<size_t> front;
  /// Of strategies that fit, or of all of a space, in order.
  std::vector<SearchJob> jobs;

  /// What is best with each value of an axis.
  struct ValueCost {
    std::string value;
    /// Of the best that was estimated; else no strategy takes less than
    /// `atLeast`. Neither if nothing fits. Seconds, or those of a device for
    /// each token where the goal is throughput.
    std::optional<double> cost, atLeast;
  };
  struct AxisCost {
    const Field *field; ///< Null: the number of ranks.
    std::vector<ValueCost> values;

    llvm::StringRef getName() const { return field ? field->name : "ranks"; }
  };
  std::vector<AxisCost> axes;
};

/// The error is empty if what is wrong has been printed.
llvm::Expected<SearchResult> search(const SearchRequest &request,
                                    const MessagePrinter &printer);

} // namespace stg

#endif // STG_SEARCH_SEARCH_H
