//===- RankSource.h - Where the ranks of a trace come from ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the validator asks of a trace: bytes of ranks, and the members of
// groups. Files are one source. A source that knows which ranks do the same
// work on other groups and with other peers says so: then one of them, their
// *model*, is read, and for the others only the groups and peers are asked for.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_RANKSOURCE_H
#define STG_TRACE_READER_RANKSOURCE_H

#include "stg/Trace/Reader/CommGroups.h"
#include "stg/Trace/Reader/TraceReader.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>
#include <optional>

namespace stg::trace {

/// The groups that a rank communicates on and its peers, each once in the order
/// of its first use in the trace: entry i is what slot i stands for.
struct Bindings {
  /// As RankSource::getGroup() gives them.
  std::vector<uint32_t> groups;
  /// Numbers of ranks.
  std::vector<int64_t> peers;
};

/// The ranks of a trace. They are known by their position among those that
/// there are, which for a trace without gaps is the number of the rank.
class RankSource {
public:
  /// The group of all ranks, which has no name.
  static constexpr uint32_t allRanks = 0;

  virtual ~RankSource();

  virtual uint32_t getNumRanks() const = 0;
  /// The number of a rank; ascends with the position.
  virtual uint64_t getRank(uint32_t position) const = 0;
  /// What messages call the rank's trace.
  virtual std::string getFile(uint32_t position) const = 0;
  /// The file that consumers of this trace will open, if there is one.
  virtual std::optional<std::string> getPath(uint32_t position) const = 0;
  /// The trace of a rank. Called for models, and for ranks with violations;
  /// from several threads.
  virtual llvm::Expected<TraceReader> open(uint32_t position) const = 0;

  /// The number of a group by its name, the same for the same name; called from
  /// several threads. Names that the trace does not define have numbers, too.
  virtual uint32_t getGroup(llvm::StringRef name) = 0;
  /// Greater than the number of any group.
  virtual uint32_t getNumGroups() const = 0;
  virtual std::string getGroupName(uint32_t group) const = 0;
  /// How many ranks the definition of a group lists; nothing if it has none.
  virtual std::optional<uint64_t> getGroupSize(uint32_t group) const = 0;
  virtual std::vector<int64_t> getMembers(uint32_t group) const = 0;
  /// The definitions by name of all groups that models use. Others may be
  /// missing.
  virtual const CommGroups &getDefinitions() const = 0;

  /// The first rank that does the same as this one but for groups and peers:
  /// if that is another one, it stands in for this one.
  virtual uint32_t getModel(uint32_t position) const { return position; }
  /// The bindings of a rank that has another one as model, whose bindings are
  /// `ofModel`. `bindings` is as large as that.
  virtual void bind(uint32_t position, const Bindings &ofModel,
                    Bindings &bindings) const;
};

/// One rank to validate, from a file or, for tests, from memory.
struct RankInput {
  uint64_t rank = 0;
  std::string path;
  /// If set, read instead of the file.
  std::optional<llvm::MemoryBufferRef> buffer;
};

/// Ranks that have a file each.
class FileRanks : public RankSource {
public:
  /// `inputs` are by ascending rank. Both must outlive the object.
  FileRanks(llvm::ArrayRef<RankInput> inputs, const CommGroups &definitions);

  uint32_t getNumRanks() const override {
    return static_cast<uint32_t>(inputs.size());
  }
  uint64_t getRank(uint32_t position) const override {
    return inputs[position].rank;
  }
  std::string getFile(uint32_t position) const override {
    return inputs[position].path;
  }
  std::optional<std::string> getPath(uint32_t position) const override;
  llvm::Expected<TraceReader> open(uint32_t position) const override;
  uint32_t getGroup(llvm::StringRef name) override;
  uint32_t getNumGroups() const override {
    return static_cast<uint32_t>(names.size());
  }
  std::string getGroupName(uint32_t group) const override {
    return names[group].str();
  }
  std::optional<uint64_t> getGroupSize(uint32_t group) const override;
  std::vector<int64_t> getMembers(uint32_t group) const override;
  const CommGroups &getDefinitions() const override { return definitions; }

private:
  llvm::ArrayRef<RankInput> inputs;
  const CommGroups &definitions;
  std::mutex mutex;
  llvm::StringMap<uint32_t> numbers;
  /// By number; they are the keys of `numbers`.
  std::vector<llvm::StringRef> names;
};

} // namespace stg::trace

#endif // STG_TRACE_READER_RANKSOURCE_H
