//===- TraceTimeline.h - Executed traces as a file for viewers --*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_TRACETIMELINE_H
#define STG_ESTIMATE_TRACETIMELINE_H

#include "stg/Estimate/TraceTimes.h"

namespace stg {

/// Writes ranks, by their positions, as Timeline.h does: compute nodes,
/// collectives and sends, receives, memory as `inputs` and `outputs` name it.
/// They were loaded to be shown.
void writeTraceTimeline(const TraceGraphs &graphs, const TraceTimes &times,
                        llvm::ArrayRef<size_t> positions,
                        llvm::raw_ostream &os);

} // namespace stg

#endif // STG_ESTIMATE_TRACETIMELINE_H
