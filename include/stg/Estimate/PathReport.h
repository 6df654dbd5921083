//===- PathReport.h - What a critical path is made of ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STG_ESTIMATE_PATHREPORT_H
#define STG_ESTIMATE_PATHREPORT_H

#include "stg/Estimate/CriticalPath.h"
#include "llvm/Support/JSON.h"

namespace stg {

struct PathReport {
  PathReport(const CriticalPath &path, const trace::TraceBundle &programs,
             const StepTimes &step, const StepRecording &recording);

  /// Times by what they are, and by class; the longest first.
  using Parts = std::vector<std::pair<std::string, Ticks>>;
  Parts kinds, classes;
  /// Parts in a row on one class.
  struct Leg {
    llvm::StringRef name;
    Ticks start, end;
  };
  std::vector<Leg> legs;
  Ticks total = 0;

  void printText(llvm::raw_ostream &os) const;
  llvm::json::Object getJSON() const;
};

} // namespace stg

#endif // STG_ESTIMATE_PATHREPORT_H
