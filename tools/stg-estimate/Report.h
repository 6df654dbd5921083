//===- Report.h - What an estimate says -------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_STG_ESTIMATE_REPORT_H
#define STG_TOOLS_STG_ESTIMATE_REPORT_H

#include "stg/Estimate/StepTimes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace stg {

/// What the manifest of a program says that an estimate needs.
struct JobFacts {
  int64_t ranks = 1;
  std::optional<int64_t> tokens; ///< Of a step.
  /// What lives at the peak of the class that needs most, with the copies of
  /// logits that the framework has.
  double peakBytes = 0;

  static llvm::Expected<JobFacts> get(const trace::TraceBundle &programs,
                                      const Execution &execution);
};

struct Report {
  const Machine &machine;
  const JobFacts &job;
  const StepTimes &step;
  const Execution &execution;

  void printText(llvm::raw_ostream &os) const;
  llvm::json::Object getJSON() const;

private:
  struct Part {
    std::string name;
    double seconds;
  };
  std::vector<Part> getParts() const;
  double getUse(bool withRecompute) const;
  std::optional<double> getTokenRate() const;
  double getNeeded() const {
    return job.peakBytes * execution.reservedOverLive;
  }
  double getCapacity() const;
};

/// All numbers of a machine, with their sources.
void printConstants(const Machine &machine, llvm::raw_ostream &os);

} // namespace stg

#endif // STG_TOOLS_STG_ESTIMATE_REPORT_H
