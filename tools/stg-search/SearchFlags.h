//===- SearchFlags.h - The flags of stg-search ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_STG_SEARCH_SEARCHFLAGS_H
#define STG_TOOLS_STG_SEARCH_SEARCHFLAGS_H

#include "stg/Driver/RequestFlags.h"
#include "stg/Machine/MachineSweep.h"
#include "stg/Search/SearchOptions.h"

namespace stg {

enum class FrontCriterion { Memory, Devices, Throughput };

/// The command line: a model, a machine, what is fixed, and what is varied.
struct SearchFlags : RequestFlags {
  SearchFlags()
      : RequestFlags("MODEL (a .mlir file, a config.json or the name of a "
                     "library model)") {
    model.setNumOccurrencesFlag(llvm::cl::Required);
  }

  std::string machine, sweep, among, csv, strategyOutput;
  std::vector<std::string> changes;
  std::vector<std::string> sweeps; ///< As given: there may be one.
  SearchOptions options;
  double memoryLimit = 0; ///< GiB.
  bool json = false, quiet = false, showsWork = false;

  llvm::cl::OptionCategory searchCategory{"Search"}, outputCategory{"Output"};

  llvm::cl::opt<std::string, true> machineFlag{
      "machine", llvm::cl::location(machine), llvm::cl::value_desc("NAME|FILE"),
      llvm::cl::desc("Machine that steps are executed on"),
      llvm::cl::cat(searchCategory)};
  llvm::cl::list<std::string, std::vector<std::string>> changeFlag{
      "machine-set", llvm::cl::location(changes),
      llvm::cl::value_desc("KEY=VALUE"),
      llvm::cl::desc("Change a number of the machine"),
      llvm::cl::cat(searchCategory)};
  llvm::cl::list<std::string, std::vector<std::string>> sweepFlag{
      "sweep-machine", llvm::cl::location(sweeps),
      llvm::cl::value_desc("KEY=VALUE,VALUE,..."),
      llvm::cl::desc("Search for each value of a number of the machine"),
      llvm::cl::cat(searchCategory)};
  llvm::cl::list<int64_t, std::vector<int64_t>> ranksFlag{
      "ranks",
      llvm::cl::location(options.ranks),
      llvm::cl::CommaSeparated,
      llvm::cl::value_desc("N,N,..."),
      llvm::cl::desc("Numbers of devices, all of which a strategy uses"),
      llvm::cl::cat(searchCategory)};
  llvm::cl::opt<double, true> memoryLimitFlag{
      "memory-limit", llvm::cl::location(memoryLimit),
      llvm::cl::value_desc("GiB"),
      llvm::cl::desc("Memory of a device (default: that of the machine, "
                     "without what is set aside)"),
      llvm::cl::cat(searchCategory)};
  llvm::cl::list<std::string, std::vector<std::string>> varyFlag{
      "vary", llvm::cl::location(options.vary),
      llvm::cl::value_desc("FLAG=VALUE,VALUE,..."),
      llvm::cl::desc("Try these values of a flag of the strategy (with ; "
                     "where values have commas)"),
      llvm::cl::cat(searchCategory)};
  llvm::cl::opt<std::string, true> amongFlag{
      "among", llvm::cl::location(among), llvm::cl::value_desc("FILE"),
      llvm::cl::desc("Choose among these strategies: an array of strategy "
                     "objects, or one in each line"),
      llvm::cl::cat(searchCategory)};
  llvm::cl::opt<SearchGoal> goalFlag{
      "goal", llvm::cl::value_desc("time|throughput"),
      llvm::cl::desc("What the best have (default: the most tokens of a device "
                     "if steps have different numbers of them, else the "
                     "shortest step):"),
      llvm::cl::values(
          clEnumValN(SearchGoal::Time, "time", "the shortest step"),
          clEnumValN(SearchGoal::Throughput, "throughput",
                     "the most tokens per second and device")),
      llvm::cl::cat(searchCategory)};
  llvm::cl::bits<FrontCriterion> frontFlag{
      "front",
      llvm::cl::CommaSeparated,
      llvm::cl::value_desc("memory|devices|throughput"),
      llvm::cl::desc("What the front compares beside time (default: memory; of "
                     "several numbers of devices or tokens throughput in "
                     "inference, and memory, devices and throughput in "
                     "training):"),
      llvm::cl::values(
          clEnumValN(FrontCriterion::Memory, "memory",
                     "of the device that needs most"),
          clEnumValN(FrontCriterion::Devices, "devices", "how many there are"),
          clEnumValN(FrontCriterion::Throughput, "throughput",
                     "tokens per second and device")),
      llvm::cl::cat(searchCategory)};
  llvm::cl::opt<double, true> withinFlag{
      "within", llvm::cl::location(options.within),
      llvm::cl::value_desc("FACTOR"),
      llvm::cl::desc("Leave out of the front what takes longer than so many "
                     "times the best with as many devices and tokens (default: "
                     "1.1)"),
      llvm::cl::cat(searchCategory)};
  llvm::cl::opt<unsigned, true> jobsFlag{
      "jobs", llvm::cl::location(options.jobs), llvm::cl::value_desc("N"),
      llvm::cl::desc("Threads (default: all cores)"),
      llvm::cl::cat(searchCategory)};
  /// As C and Python call it, and other tools.
  llvm::cl::alias threadsFlag{"threads", llvm::cl::aliasopt(jobsFlag),
                              llvm::cl::desc("The same"), llvm::cl::Hidden,
                              llvm::cl::cat(searchCategory)};
  llvm::cl::opt<bool, true> exhaustiveFlag{
      "exhaustive", llvm::cl::location(options.isExhaustive), llvm::cl::Hidden,
      llvm::cl::desc("Estimate every strategy"), llvm::cl::cat(searchCategory)};

  llvm::cl::opt<size_t, true> topFlag{
      "top", llvm::cl::location(options.most), llvm::cl::value_desc("K"),
      llvm::cl::desc("Show the best K strategies (default: 10)"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> jsonFlag{"json", llvm::cl::location(json),
                                     llvm::cl::desc("Print the result as JSON"),
                                     llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> csvFlag{
      "csv", llvm::cl::location(csv), llvm::cl::value_desc("FILE"),
      llvm::cl::desc("Write all strategies that were estimated and fit, a "
                     "line each"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> strategyOutputFlag{
      "write-strategy", llvm::cl::location(strategyOutput),
      llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc("Write the best strategy as a file for --strategy"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> quietFlag{"quiet", llvm::cl::location(quiet),
                                      llvm::cl::desc("Show no progress"),
                                      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> workFlag{
      "show-work", llvm::cl::location(showsWork), llvm::cl::Hidden,
      llvm::cl::desc("Print what the search has spent time on"),
      llvm::cl::cat(outputCategory)};

  std::vector<const llvm::cl::OptionCategory *> getCategories() const;
  /// Reads the strategy and the list of --among, and checks what llvm::cl::opt
  /// cannot.
  llvm::Error finish();
  llvm::Expected<Machine> loadMachine(llvm::StringRef point = "") const {
    return stg::loadMachine(machine, changes, sweep, point);
  }
  /// The search on one machine of several, which must live as long as it.
  llvm::Expected<SearchRequest> makeRequest(const Machine &machine) const {
    return options.makeRequest(request, machine);
  }

private:
  llvm::Error readAmong();
};

} // namespace stg

#endif // STG_TOOLS_STG_SEARCH_SEARCHFLAGS_H
