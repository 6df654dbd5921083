//===- CommGroups.h - Communicator groups of a trace ------------*- C++ -*-===//
//
// The JSON file beside a trace that gives each communicator group its members:
// {"<id>": [rank, ...], ...}. Keys and members are kept as they are in the
// file; whether they make sense is for the validator to say.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_COMMGROUPS_H
#define STG_TRACE_READER_COMMGROUPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace stg::trace {

/// Orders group names as numbers where they are numbers: "2" before "10", and
/// any number before any other text.
struct GroupNameLess {
  bool operator()(llvm::StringRef lhs, llvm::StringRef rhs) const;
};

/// Groups by name.
struct CommGroups {
  /// Where they were read from; empty if there is no such file.
  std::string file;
  std::map<std::string, std::vector<int64_t>, GroupNameLess> members;

  /// Members of `group`, or null if the file does not name it.
  const std::vector<int64_t> *find(llvm::StringRef group) const;

  /// Reads a group file.
  static llvm::Expected<CommGroups> load(llvm::StringRef path);

  /// Parses the text of a group file called `file`.
  static llvm::Expected<CommGroups> parse(llvm::StringRef text,
                                          llvm::StringRef file);
};

} // namespace stg::trace

#endif // STG_TRACE_READER_COMMGROUPS_H
