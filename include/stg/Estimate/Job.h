//===- Job.h - What an estimate is of ---------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_JOB_H
#define STG_ESTIMATE_JOB_H

#include "stg/Estimate/StepTimes.h"
#include <optional>
#include <string>

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

} // namespace stg

#endif // STG_ESTIMATE_JOB_H
