//===- CriticalPath.h - What a step waits for -------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the end of the class that is done last back to the start: what a rank
// waits for is followed to the collective or message that it is, and from there
// to what made that begin when it did, on whichever rank.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_CRITICALPATH_H
#define STG_ESTIMATE_CRITICALPATH_H

#include "stg/Estimate/Recording.h"
#include "stg/Estimate/StepTimes.h"

namespace stg {

struct CriticalPath {
  struct Part {
    uint32_t classIndex;
    /// In the recording of the class; kNone for what the host does once for a
    /// step.
    uint32_t event;
    Ticks start, end;
  };
  /// In the order of time. Each begins where the one before it ends, the first
  /// at 0, and the last ends with the step.
  std::vector<Part> parts;

  CriticalPath(const StepTimes &step, const StepRecording &recording);
};

} // namespace stg

#endif // STG_ESTIMATE_CRITICALPATH_H
