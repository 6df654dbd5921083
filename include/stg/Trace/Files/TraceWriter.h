//===- TraceWriter.h - The files of a trace set -----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the trace of every rank (`<prefix>.<rank>.et`), the communication
// groups (`comm_group.json`) and, last, `manifest.json`. A file appears under
// its name only when it is complete, and the manifest only when all files are.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_FILES_TRACEWRITER_H
#define STG_TRACE_FILES_TRACEWRITER_H

#include "stg/Trace/Bundle/TraceBundle.h"
#include <functional>

namespace stg::trace {

/// Ranks from the first on, and before the second.
using RankRange = std::pair<int64_t, int64_t>;

struct WriteOptions {
  /// Created if it does not exist.
  std::string directory;
  /// Number of threads; 0: as many as the machine has. The files do not depend
  /// on it.
  unsigned threads = 0;
  /// Write only the files of these ranks. Several processes, also on different
  /// machines, may write parts of one set to one directory: each leaves
  /// `manifest.<first>-<end>.json`, and the one that completes the set puts
  /// `manifest.json` in place of these.
  std::optional<RankRange> ranks;
  /// Keep files of the same set that are complete.
  bool resume = false;
  /// No progress on a terminal.
  bool quiet = false;
  /// Asked before each file of a rank, from several threads; false: stop, which
  /// is an error. May be empty.
  std::function<bool()> goOn;
};

struct WriteResult {
  RankRange ranks = {0, 0};
  uint64_t filesKept = 0;
  uint64_t bytesWritten = 0; ///< In files of ranks.
};

/// Writes the files of a set. A whole set replaces the one that was in the
/// directory. Ranges and what is resumed need a directory without traces, or
/// with traces of the same set.
llvm::Expected<WriteResult> writeTraces(const TraceBundle &bundle,
                                        const WriteOptions &options);

/// Writes `<directory>/traces.stgb`; the result is its size.
llvm::Expected<uint64_t> writeBundle(const TraceBundle &bundle,
                                     llvm::StringRef directory);

/// The ranks of part 1 to `count`: ranges of equal length, but for one rank.
RankRange getPart(int64_t numRanks, int64_t part, int64_t count);

/// The ranks of a part (its number, of how many), if one is given, else
/// `ranks`; none: all. Fails if there are no such ranks.
llvm::Expected<std::optional<RankRange>>
chooseRanks(int64_t numRanks, std::optional<RankRange> ranks,
            std::optional<std::pair<int64_t, int64_t>> part);

} // namespace stg::trace

#endif // STG_TRACE_FILES_TRACEWRITER_H
