//===- EstimateFlags.h - The flags of stg-estimate --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_STG_ESTIMATE_ESTIMATEFLAGS_H
#define STG_TOOLS_STG_ESTIMATE_ESTIMATEFLAGS_H

#include "stg/Driver/RequestFlags.h"
#include "stg/Estimate/Job.h"
#include "stg/Machine/MachineSweep.h"

namespace stg {

/// The command line: a model with a strategy, or a bundle, and a machine.
struct EstimateFlags : TwoPlanFlags {
  EstimateFlags()
      : TwoPlanFlags(
            "MODEL (a .mlir file, a config.json or the name of a library "
            "model) or BUNDLE (a file, or a folder with one)") {
    model.setNumOccurrencesFlag(llvm::cl::Required);
  }

  std::string machine;
  std::vector<std::string> changes;
  std::vector<std::string> sweeps; ///< As given: there may be one.
  std::string sweep;
  std::string timeline, timelineRanks, picture;
  bool json = false, listConstants = false, criticalPath = false;
  std::string simai, trainTokens;

  llvm::cl::OptionCategory machineCategory{"Machine"}, outputCategory{"Output"};

  llvm::cl::opt<std::string, true> machineFlag{
      "machine", llvm::cl::location(machine), llvm::cl::value_desc("NAME|FILE"),
      llvm::cl::desc("Machine that the step is executed on"),
      llvm::cl::cat(machineCategory)};
  llvm::cl::list<std::string, std::vector<std::string>> changeFlag{
      "machine-set", llvm::cl::location(changes),
      llvm::cl::value_desc("KEY=VALUE"),
      llvm::cl::desc("Change a number of the machine"),
      llvm::cl::cat(machineCategory)};
  llvm::cl::list<std::string, std::vector<std::string>> sweepFlag{
      "sweep-machine", llvm::cl::location(sweeps),
      llvm::cl::value_desc("KEY=VALUE,VALUE,..."),
      llvm::cl::desc("Estimate for each value of a number of the machine"),
      llvm::cl::cat(machineCategory)};
  llvm::cl::opt<bool, true> jsonFlag{
      "json", llvm::cl::location(json),
      llvm::cl::desc("Print the estimate as JSON"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> constantsFlag{
      "list-constants", llvm::cl::location(listConstants),
      llvm::cl::desc("Print each number of the machine with its source"),
      llvm::cl::cat(outputCategory)};

  llvm::cl::opt<bool, true> pathFlag{
      "critical-path", llvm::cl::location(criticalPath),
      llvm::cl::desc("Say what the step waits for, from its end to its start"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> timelineFlag{
      "timeline", llvm::cl::location(timeline),
      llvm::cl::value_desc("FILE|FOLDER/"),
      llvm::cl::desc("Write what ranks do when, for Perfetto; to a folder, a "
                     "file for each rank"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> timelineRanksFlag{
      "timeline-ranks", llvm::cl::location(timelineRanks),
      llvm::cl::value_desc("R,LO:HI,..."),
      llvm::cl::desc("The ranks of the timeline (default: the first of each "
                     "class)"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> simaiFlag{
      "simai", llvm::cl::location(simai), llvm::cl::value_desc("FILE"),
      llvm::cl::desc("Write the step as a workload of SimAI, with these times"),
      llvm::cl::cat(outputCategory)};

  llvm::cl::opt<std::string, true> trainTokensFlag{
      "train-tokens", llvm::cl::location(trainTokens),
      llvm::cl::value_desc("N"),
      llvm::cl::desc("Say what training on so many tokens takes, such as 15T"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> pictureFlag{
      "pipeline-svg", llvm::cl::location(picture), llvm::cl::value_desc("FILE"),
      llvm::cl::desc("Draw what each stage does when, with memory of "
                     "activations and exposed communication"),
      llvm::cl::cat(outputCategory)};

  std::vector<const llvm::cl::OptionCategory *> getCategories() const;
  /// Reads the strategy.
  llvm::Error finish();
  /// True if anything was said that is for a model and not for a bundle.
  llvm::Error checkBundle() const;
  llvm::Expected<Machine> loadMachine(llvm::StringRef point = "") const {
    return stg::loadMachine(machine, changes, sweep, point);
  }
  /// True if the events of the step are needed.
  bool wantsRecording() const {
    return criticalPath || !timeline.empty() || !picture.empty();
  }
  /// What --train-tokens says of a step.
  llvm::Expected<std::optional<double>>
  getTrainTokens(const JobFacts &job) const;
  /// The ranks that --timeline-ranks names, ascending; none without.
  llvm::Expected<std::vector<int64_t>> getTimelineRanks(int64_t ranks) const;
};

} // namespace stg

#endif // STG_TOOLS_STG_ESTIMATE_ESTIMATEFLAGS_H
