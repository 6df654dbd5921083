//===- SearchReport.h - What a search says ----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SEARCH_SEARCHREPORT_H
#define STG_SEARCH_SEARCHREPORT_H

#include "stg/Search/Search.h"

namespace stg {

struct SearchReport {
  const CompileRequest &request;
  const Machine &machine;
  const SearchResult &result;
  double memoryLimit;

  /// An error if no strategy was found, which says what would work.
  llvm::Error check() const;
  void printText(llvm::raw_ostream &os) const;
  llvm::json::Object getJSON() const;
  void writeCSV(llvm::raw_ostream &os) const;
  /// The best, for --strategy.
  void writeStrategy(llvm::raw_ostream &os) const;
  /// Of a shell, that compiles the strategy.
  std::string getCommand(const Estimated &entry) const;

private:
  bool isVaried(const Field &field) const;
  bool isOfTime() const { return result.goal == SearchGoal::Time; }
  double getCost(const Estimated &entry) const;
  bool showsThroughput() const;
  void printLine(const Estimated &entry, llvm::raw_ostream &os) const;
  std::string describe(const Estimated &entry) const;
  llvm::json::Object getEntry(const Estimated &entry) const;
  void printBest(llvm::raw_ostream &os) const;
  void printFront(llvm::raw_ostream &os) const;
  void printAxes(llvm::raw_ostream &os) const;
  void printRunnerUp(llvm::raw_ostream &os) const;
  void printCounts(llvm::raw_ostream &os) const;
};

} // namespace stg

#endif // STG_SEARCH_SEARCHREPORT_H
