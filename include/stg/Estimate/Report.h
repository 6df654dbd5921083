//===- Report.h - What an estimate says -------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_REPORT_H
#define STG_ESTIMATE_REPORT_H

#include "stg/Estimate/Job.h"
#include "stg/Estimate/PathReport.h"
#include "llvm/Support/raw_ostream.h"

namespace stg {

/// Bytes of a device without those that are set aside.
double getAvailableMemory(const Machine &machine);

struct Report {
  const Machine &machine;
  const JobFacts &job;
  const JobTimes &times;
  const Execution &execution;
  const PathReport *path = nullptr; ///< If it is asked for.
  /// How many a model is trained on, if it is asked for.
  std::optional<double> trainTokens = std::nullopt;

  struct Part {
    std::string name;
    double seconds;
  };

  void printText(llvm::raw_ostream &os) const;
  llvm::json::Object getJSON() const;

  /// Where the time of a rank goes, the mean of all: together the step.
  std::vector<Part> getParts() const;
  /// Of the model are the operations that the program counts, without those
  /// that are done again; of the hardware those that kernels execute.
  enum class UseOf { Model, Hardware };
  /// Operations of products and attention over what the device could do.
  double getUse(UseOf use) const;
  std::optional<double> getTokenRate() const;
  /// All steps that a model is trained in.
  struct Training {
    double tokens, steps; ///< The last step may have fewer tokens.
    double seconds, deviceHours;
  };
  /// Nothing if it is not asked for, or a step trains on no tokens.
  std::optional<Training> getTraining() const;
  /// The mean of absolute errors, of training or of inference; null: no such
  /// step of the machine has been compared.
  const Quantity *getError() const;
  /// The seconds that memory takes for the parameters and caches that kernels
  /// read, and products and attention for the operations that they execute, at
  /// the peaks of the machine.
  std::pair<double, double> getFloors() const;
  /// Where there are several steps, the seconds of each, on the class that is
  /// done last.
  std::vector<double> getStepSeconds() const;
  /// Of the seconds of some steps.
  struct StepRange {
    size_t count;
    double least, mean, most;
  };
  static StepRange getRange(llvm::ArrayRef<double> steps);
  /// Until the first token, where rows are prompts first; and between tokens
  /// after that.
  std::optional<double> getFirstToken() const;
  std::optional<double> getTimePerToken() const;
  /// What a request waits for in this step: "first token" or "time per token";
  /// none in training, and where requests have different numbers of tokens.
  std::optional<llvm::StringRef> getLatency() const;
  /// From one step to the next one: the step itself, but where several are
  /// under way.
  double getIntervalSeconds() const {
    return times.interval.value_or(times.step.getSeconds());
  }
  /// Prompts, or tokens, of all ranks in a second; none likewise.
  std::optional<double> getRequestRate() const;
  /// Of sides, what is neither that of prefill nor of decoding: what is sent
  /// between them, as far as somebody waits for it. 0 where decoding begins
  /// long before prefill ends.
  double getTransfer() const;
  /// Bytes that a device needs, and that it has for them.
  double getNeeded() const { return job.neededBytes; }
  double getCapacity() const { return getAvailableMemory(machine); }
  /// False if the device, or the memory of the host, has less.
  bool fits() const;
  /// Whether what lives does, so that an allocator which gives back what it has
  /// cached, and waits for that, can go on.
  bool liveFits() const;
};

/// All numbers of a machine and how a framework executes, with their sources.
void printConstants(const Machine &machine, const Execution &execution,
                    llvm::raw_ostream &os);
/// The same as an object by key: value, unit, source, and what it was fitted
/// on; those of a framework, "execution.NAME", have no unit.
llvm::json::Value getConstants(const Machine &machine,
                               const Execution &execution);

} // namespace stg

#endif // STG_ESTIMATE_REPORT_H
