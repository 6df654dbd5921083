//===- SearchOptions.h - What a search is asked for -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search as flags and other languages ask for it, with all checks of it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SEARCH_SEARCHOPTIONS_H
#define STG_SEARCH_SEARCHOPTIONS_H

#include "stg/Search/Search.h"

namespace stg {

struct SearchOptions {
  std::vector<int64_t> ranks; ///< Empty: not given.
  std::vector<std::string> vary;
  /// Strategies to choose from, with what is fixed.
  std::vector<StrategyInput> among;
  /// Bytes of a device; those of the machine if it is not given.
  std::optional<double> memoryLimit;
  size_t most = 10;
  /// As of a `SearchRequest`.
  std::optional<SearchGoal> goal;
  std::optional<FrontCriteria> front;
  double within = 1.1;
  unsigned jobs = 0; ///< 0: all cores.
  bool isExhaustive = false;

  /// What is wrong with it. `isList`: strategies are chosen from a list.
  llvm::Error check(bool isList) const;

  /// The search. `request` and `machine` must live as long as it.
  llvm::Expected<SearchRequest> makeRequest(const CompileRequest &request,
                                            const Machine &machine) const;
};

/// The strategies of a list: an array of objects, or one in each line. What is
/// given in `fixed` takes the place of their members. `name` is what messages
/// call the text.
llvm::Expected<std::vector<StrategyInput>>
readStrategyList(llvm::StringRef text, llvm::StringRef name,
                 const StrategyInput &fixed);

} // namespace stg

#endif // STG_SEARCH_SEARCHOPTIONS_H
