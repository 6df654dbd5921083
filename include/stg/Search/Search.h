//===- Search.h - Which strategy is the best --------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the strategies of a space with the shortest steps, and those of which
// no other one is as short with less memory. Times are those of
// `getStepTimes`, as stg-estimate prints them. Bounds only say which strategies
// need not be estimated.
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
  double needed = 0; ///< Bytes of the device that needs most.
  /// What bounds said of it before, of the same; not of lists.
  std::optional<double> leastSeconds, leastNeeded;
  int64_t ranks = 0;
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

struct SearchRequest {
  SpaceRequest space;
  const Machine *machine = nullptr;
  double memoryLimit = 0; ///< Bytes of a device.
  size_t most = 10;       ///< The best so many are found.
  /// Strategies that take more than so many times what the best one takes are
  /// of no interest, however little memory they need.
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
  /// All that were estimated and fit, the shortest first.
  std::vector<Estimated> estimated;
  /// Numbers in it of the best, and of the front of time and memory: nothing
  /// is as short with as little memory.
  size_t numBest = 0;
  std::vector<size_t> front;

  /// What is best with each value of an axis.
  struct ValueCost {
    std::string value;
    /// Of the best that was estimated; else no strategy takes less than
    /// `atLeast`. Neither if nothing fits.
    std::optional<double> seconds, atLeast;
  };
  struct AxisCost {
    const Field *field;
    std::vector<ValueCost> values;
  };
  std::vector<AxisCost> axes;
};

/// The error is empty if what is wrong has been printed.
llvm::Expected<SearchResult> search(const SearchRequest &request,
                                    const MessagePrinter &printer);

} // namespace stg

#endif // STG_SEARCH_SEARCH_H
