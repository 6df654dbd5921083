//===- TraceInput.h - A trace of several ranks, by its name -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_BUNDLE_TRACEINPUT_H
#define STG_TRACE_BUNDLE_TRACEINPUT_H

#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Reader/CommGroups.h"
#include "stg/Trace/Reader/TraceSet.h"
#include "stg/Trace/Validate/TraceValidator.h"

namespace stg::trace {

/// The bundle that `input` names: the file, or the one in a directory. Null if
/// it names something else, or a directory with trace files; where
/// `besideFiles` those are not what is looked for.
llvm::Expected<std::unique_ptr<TraceBundle>>
findBundle(llvm::StringRef input, bool besideFiles = false);

/// A trace of several ranks: a bundle, or else files and their groups.
struct TraceInput {
  std::unique_ptr<TraceBundle> bundle;
  TraceSet files;
  CommGroups groups;
};

/// Finds the trace that `input` names. Groups of files are read from
/// `groupFile`, or if that is empty from the file that stands beside the trace;
/// none is fine. A bundle has its own.
llvm::Expected<TraceInput> openTrace(llvm::StringRef input,
                                     llvm::StringRef groupFile);

/// Validates the trace, which messages call `name` if it is a bundle.
ValidationReport validateTrace(const TraceInput &trace, llvm::StringRef name,
                               const ValidatorOptions &options);

} // namespace stg::trace

#endif // STG_TRACE_BUNDLE_TRACEINPUT_H
