//===- TraceBundle.h - A trace set without its files ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that the files of a trace set are made from, in memory, and as one
// file whose size does not depend on the number of ranks (docs/Bundle.md).
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_BUNDLE_TRACEBUNDLE_H
#define STG_TRACE_BUNDLE_TRACEBUNDLE_H

#include "stg/Trace/Program/TraceProgram.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>

namespace stg::trace {

class TraceBundle {
public:
  /// The ranks that run one program.
  struct Class {
    llvm::StringRef name;
    RankClass ranks;
    TraceProgram program;
  };
  /// The name of a bundle in a directory.
  static constexpr llvm::StringLiteral kFileName = "traces.stgb";

  /// The file of that name in a directory, if there is one.
  static std::optional<std::string> findIn(llvm::StringRef directory);

  /// Whether names of files can begin with it, here and where they are
  /// unpacked.
  static bool isPrefix(llvm::StringRef text) {
    return !text.empty() && text.find_first_of(llvm::StringRef("/\\\0", 3)) ==
                                llvm::StringRef::npos;
  }

  /// A bundle of `classes`, which are a partition of the ranks; names in
  /// programs must outlive it. `version` is what the metadata of each trace
  /// says; a file is called `<prefix>.<rank>.et`.
  TraceBundle(std::string version, std::string prefix, RankSpace space,
              std::vector<Class> classes);
  TraceBundle(const TraceBundle &) = delete;
  TraceBundle &operator=(const TraceBundle &) = delete;

  /// Reads a bundle. The error has the name of the file and says what is wrong
  /// with it; a bundle that is read can be run.
  static llvm::Expected<std::unique_ptr<TraceBundle>>
  open(llvm::StringRef path);
  static llvm::Expected<std::unique_ptr<TraceBundle>>
  parse(std::unique_ptr<llvm::MemoryBuffer> buffer);
  /// Reads what comes after the header and checks no sums: for tests of files
  /// that are damaged in other ways.
  static llvm::Expected<std::unique_ptr<TraceBundle>>
  parseUnchecked(std::unique_ptr<llvm::MemoryBuffer> buffer);
  /// True for the first bytes of a bundle of any version.
  static bool isBundle(llvm::StringRef bytes) {
    return bytes.starts_with("STGB");
  }

  /// Writes it as a file.
  void write(llvm::raw_ostream &os) const;

  llvm::StringRef getVersion() const { return version; }
  llvm::StringRef getPrefix() const { return prefix; }
  const RankSpace &getSpace() const { return space; }
  llvm::ArrayRef<Class> getClasses() const { return classes; }
  const RankPartition &getPartition() const { return *partition; }
  const GroupTable &getGroups() const { return *groups; }
  const Class &getClass(int64_t rank) const {
    return classes[partition->getClass(rank)];
  }
  /// Sets for which this is equal have the same traces and groups (but for
  /// collisions of a 64-bit hash).
  uint64_t getFingerprint() const { return fingerprint; }
  /// As 16 hexadecimal digits.
  std::string getFingerprintText() const;

  /// The text of `manifest.json` when ranks first <= rank < end are written.
  std::string getManifest(int64_t first, int64_t end) const;
  /// Sets what stands in it before and after `[first, end]`.
  void setManifest(std::string before, std::string after);

  /// The file of a rank.
  std::string getFileName(int64_t rank) const;
  /// Writes the trace of a rank. Memory does not grow with the length of the
  /// trace but for the table of its tensors.
  void writeRank(int64_t rank, llvm::raw_ostream &os) const;
  /// Writes `comm_group.json`.
  void writeGroups(llvm::raw_ostream &os) const;

private:
  TraceBundle(std::string version, std::string prefix, RankSpace space,
              std::vector<Class> classes, uint64_t fingerprint);
  std::string encodeCore() const;
  /// The version of its file, which says what programs use.
  static uint32_t getFormat(llvm::ArrayRef<Class> classes);

  /// If it was read from a file: names point here.
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::string version, prefix;
  RankSpace space;
  std::vector<Class> classes;
  std::optional<RankPartition> partition;
  std::optional<GroupTable> groups;
  std::string manifestBefore, manifestAfter;
  uint64_t fingerprint = 0;
};

} // namespace stg::trace

#endif // STG_TRACE_BUNDLE_TRACEBUNDLE_H
