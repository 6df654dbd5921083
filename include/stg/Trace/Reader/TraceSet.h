//===- TraceSet.h - Finding the files of a trace ----------------*- C++ -*-===//
//
// Turns what a user names on the command line into the list of files to read:
// a prefix (`out/llama` for out/llama.0.et, out/llama.1.et, ...), a directory
// with one prefix in it, a single file, or "-" for standard input.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_TRACESET_H
#define STG_TRACE_READER_TRACESET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace stg::trace {

/// One rank's file.
struct RankFile {
  uint64_t rank = 0;
  std::string path;
};

/// The files of one trace, by ascending rank.
struct TraceSet {
  /// Everything before ".<rank>.et".
  std::string prefix;
  std::vector<RankFile> files;
  /// Files whose rank is not written the way consumers look for it, such as
  /// w.01.et.
  std::vector<std::string> misnamed;
  /// The user named one file rather than all of a trace.
  bool isSingleFile = false;

  /// The file of `rank`, or null.
  const RankFile *find(uint64_t rank) const;
};

/// Finds the files that `input` names. Finding none is an error.
llvm::Expected<TraceSet> findTraces(llvm::StringRef input);

/// The communicator group file of a trace: `<prefix>.comm_group.json`,
/// `comm_group.json` in the same directory, or `<prefix>.json`, whichever
/// exists first.
std::optional<std::string> findCommGroupFile(const TraceSet &set);

} // namespace stg::trace

#endif // STG_TRACE_READER_TRACESET_H
