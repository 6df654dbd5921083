//===- Timeline.h - A step as a file for viewers ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recorded step, each rank a process: its kernels, collectives by group and
// messages are streams, its tasks and layers a thread, what the compute stream
// waits for another one, its memory a counter. docs/Pictures.md describes it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_TIMELINE_H
#define STG_ESTIMATE_TIMELINE_H

#include "stg/Estimate/CriticalPath.h"

namespace stg {

struct Timeline {
  const trace::TraceBundle &programs;
  const StepTimes &step;
  const StepRecording &recording;
  const CriticalPath &path;

  /// Writes the ranks, with arrows from sends to receives among them, and the
  /// critical path as a process of its own.
  void write(llvm::ArrayRef<int64_t> ranks, llvm::raw_ostream &os) const;
  /// Writes one rank and nothing else, for tools that want a file for each.
  void writeAlone(int64_t rank, llvm::raw_ostream &os) const;
  /// The first rank of each class.
  std::vector<int64_t> getFirstRanks() const;
};

/// What a part of a critical path is: "products", "collectives tp".
std::string describePart(const CriticalPath::Part &part,
                         const trace::TraceBundle &programs,
                         const StepTimes &step, const StepRecording &recording);

} // namespace stg

#endif // STG_ESTIMATE_TIMELINE_H
