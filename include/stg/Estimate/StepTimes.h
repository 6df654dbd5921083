//===- StepTimes.h - How long a step takes ----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes the programs of all classes of ranks side by side: each class once,
// whatever the number of its ranks.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_STEPTIMES_H
#define STG_ESTIMATE_STEPTIMES_H

#include "stg/Estimate/ProgramTimes.h"
#include "stg/Trace/Bundle/TraceBundle.h"

namespace stg {

/// Where the time of the ranks of a class goes. All parts together are the
/// step: what a class waits for others at the end is bubble, too.
struct ClassTimes {
  llvm::StringRef name;
  int64_t ranks = 0;
  Ticks end = 0; ///< When it is done.
  /// Of each step of inference, but for what the host does once for it; empty
  /// where the program is one step.
  std::vector<Ticks> steps;
  Spending spending;
};

struct StepTimes {
  Ticks total = 0;
  Ticks fixed = 0; ///< What the host does once for a step.
  std::vector<ClassTimes> classes;
  size_t slowest = 0; ///< The class that is done last.
  /// Of what is exposed, the names of the axes.
  std::vector<std::string> groups;
  double peak = 0; ///< FLOP/s of a device in products of this program.

  double getSeconds() const { return total / kTicksPerSecond; }
  /// Of one rank, the mean of all.
  Spending getMean() const;
};

/// Fails if the machine lacks something that the programs need, or programs
/// wait for each other. If there is a recording, it has the events of all
/// classes in the end.
llvm::Expected<StepTimes> getStepTimes(const trace::TraceBundle &programs,
                                       const Machine &machine,
                                       const Execution &execution,
                                       StepRecording *recording = nullptr);

/// The same of the classes whose first rank is in the range [first, end): as if
/// others sent and received at once. They must not share collectives with them.
llvm::Expected<StepTimes> getStepTimesOf(std::pair<int64_t, int64_t> ranks,
                                         const trace::TraceBundle &programs,
                                         const Machine &machine,
                                         const Execution &execution);

/// Where steps like that of the programs follow one another, and each reads the
/// tokens that the one before has sampled: the time from the end of a step to
/// that of the next one, in the long run. None if no message has to return
/// tokens, as without stages: then it is the step itself.
llvm::Expected<std::optional<Ticks>>
getStepInterval(const trace::TraceBundle &programs, const Machine &machine,
                const Execution &execution);

} // namespace stg

#endif // STG_ESTIMATE_STEPTIMES_H
