//===- Report.h - What an estimate says -------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_REPORT_H
#define STG_ESTIMATE_REPORT_H

#include "stg/Estimate/PathReport.h"
#include "llvm/Support/raw_ostream.h"

namespace stg {

/// What the manifest of a program says that an estimate needs.
struct JobFacts {
  int64_t ranks = 1;
  std::optional<double> tokens; ///< Of all steps; drafts make no whole number.
  std::string mode; ///< train, prefill or decode; empty if nothing says it.
  /// Of a step of inference; none where rows are packed, but for requests with
  /// as many new tokens in each step.
  std::optional<int64_t> requests;
  /// Where there are several steps: those in which prompts are computed, before
  /// the first one in which every request has one new token.
  int64_t promptSteps = 0;
  /// Of a request in a step that is no prompt; of drafts those that are
  /// expected to be accepted, with the one that is certain.
  double tokensPerStep = 1;
  /// Of the class that has most: what lives at its peak, with the copies of
  /// logits that the framework has, and what its allocator takes for it.
  double liveBytes = 0, neededBytes = 0;
  double hostBytes = 0; ///< Of the class that has most there.
  /// Of the class that has most: bytes of parameters and caches that a step of
  /// inference reads.
  double stateBytes = 0;

  /// Where prefill and decoding have ranks of their own, the first one of
  /// decoding.
  std::optional<int64_t> firstDecodeRank;

  bool isInference() const { return !mode.empty() && mode != "train"; }

  static llvm::Expected<JobFacts> get(const trace::TraceBundle &programs,
                                      const Execution &execution);
};

/// Seconds of the steps of prefill and of decoding on ranks of their own, each
/// as if the other one took no time.
struct SideSeconds {
  double prefill = 0, decode = 0;
  double fixed = 0; ///< Of each, what the host does once for a step.
};

/// What steps of a job take.
struct JobTimes {
  StepTimes step;
  std::optional<SideSeconds> sides = std::nullopt; ///< None: it is one plan.
  /// Of a step of decoding with stages, seconds from the end of a step to that
  /// of the next one, where such steps follow one another: micro-batches of
  /// several are under way. None of others.
  std::optional<double> interval = std::nullopt;

  /// Fails as getStepTimes does. A recording is one of the step.
  static llvm::Expected<JobTimes> get(const trace::TraceBundle &programs,
                                      const JobFacts &job,
                                      const Machine &machine,
                                      const Execution &execution,
                                      StepRecording *recording = nullptr);
};

/// Bytes of a device without those that are set aside.
double getAvailableMemory(const Machine &machine);

struct Report {
  const Machine &machine;
  const JobFacts &job;
  const JobTimes &times;
  const Execution &execution;
  const PathReport *path = nullptr; ///< If it is asked for.

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
