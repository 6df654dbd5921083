//===- HTMLReport.h - A compiled step as a page -----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One page with all pictures in it, which loads nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_HTMLREPORT_H
#define STG_ESTIMATE_HTMLREPORT_H

#include "stg/Estimate/Report.h"
#include <optional>
#include <string>
#include <vector>

namespace stg {

struct HTMLReport {
  /// A step on a machine, with its events.
  struct Timed {
    const Report &report;
    const StepRecording &recording;
  };

  std::string title;
  std::string summary; ///< Text of several lines.
  const trace::TraceBundle &programs;
  std::optional<Timed> timed;

  void write(llvm::raw_ostream &os) const;
};

/// Bytes that ranks send each other in a step, by position in `ranks`, of which
/// there are few: messages, and collectives as rings (all-to-alls to each
/// member). Programs must say how often nodes are executed.
std::vector<std::vector<double>>
getPairTraffic(const trace::TraceBundle &programs,
               llvm::ArrayRef<int64_t> ranks);

} // namespace stg

#endif // STG_ESTIMATE_HTMLREPORT_H
