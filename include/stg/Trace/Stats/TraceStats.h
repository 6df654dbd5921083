//===- TraceStats.h - Totals of a trace -------------------------*- C++ -*-===//
//
// The numbers of `stg-trace stats`: of each rank, of ranks that do the same
// work, and of all together.
//
// A node's payload is its `payload_bytes` attribute, or its `comm_size` if it
// has none: producers that pad `comm_size` to the simulator's granularity say
// with it how much the model really moves.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_STATS_TRACESTATS_H
#define STG_TRACE_STATS_TRACESTATS_H

#include "stg/Trace/Reader/CommGroups.h"
#include "stg/Trace/Reader/RankSet.h"
#include "stg/Trace/Reader/TraceReader.h"
#include "stg/Trace/Reader/TraceSet.h"
#include "stg/Trace/Stats/TensorMemory.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace stg::trace {

/// Messages of one kind.
struct Traffic {
  uint64_t count = 0;
  Int128 bytes = 0;
  Int128 payloadBytes = 0;

  void add(Int128 size, Int128 payload);
  void add(const Traffic &other);
};

/// Collectives of one type on one group, with how often each size occurs.
struct CollectiveTraffic : Traffic {
  std::map<Int128, uint64_t> sizes;
  std::map<Int128, uint64_t> payloadSizes;
};

/// A collective's type and group. A type of -1 stands for a node without
/// `comm_type`.
struct CollectiveKey {
  int64_t type = -1;
  std::string group;

  bool operator<(const CollectiveKey &other) const;
};

/// Peer rank of a message; -1 if the node does not name it.
using Peer = int64_t;

/// Totals of one rank.
struct RankStats {
  uint64_t rank = 0;
  std::string file;
  std::string version;
  uint64_t numNodes = 0;
  std::map<int64_t, uint64_t> nodesByType;
  Int128 numOps = 0;
  Int128 tensorSize = 0;
  std::map<CollectiveKey, CollectiveTraffic> collectives;
  std::map<Peer, Traffic> sends;
  std::map<Peer, Traffic> recvs;
  /// None if the nodes name no tensors.
  std::optional<MemoryStats> memory;

  /// Adds one node.
  void add(const Node &node);
};

/// Ranks that do the same work, but for the names of groups and peers.
struct ClassStats {
  /// `count` groups that are alike, and the name of one of them.
  struct Groups {
    std::string name;
    uint64_t count;
  };

  /// Of the first rank.
  const RankStats &first;
  RankSet ranks;
  /// For each group of the first rank, those of all ranks in its place.
  std::map<std::string, std::vector<Groups>> groups;
};

/// Totals of a trace, wherever its ranks come from.
class TraceStats {
public:
  virtual ~TraceStats();

  /// What the trace is called.
  virtual std::string getName() const = 0;
  virtual uint64_t getNumRanks() const = 0;
  /// Calls `visit` for classes that are a partition of the ranks. Two of them
  /// may do the same work.
  virtual void
  forEachClass(llvm::function_ref<void(const ClassStats &)> visit) const = 0;
  /// Calls `visit` for each rank with first <= rank < end, ascending.
  virtual void
  forEachRank(uint64_t first, uint64_t end,
              llvm::function_ref<void(const RankStats &)> visit) const = 0;
  /// Number of members of `group`; nothing if they are not known.
  virtual std::optional<uint64_t> getGroupSize(llvm::StringRef group) const = 0;
  /// Members of `group`, as far as they are known.
  virtual std::vector<int64_t> getMembers(llvm::StringRef group) const = 0;
};

/// Totals of files.
class FileStats : public TraceStats {
public:
  std::string prefix;
  std::vector<RankStats> ranks;
  CommGroups groups;
  /// Only one file of the trace was read.
  bool isSingleFile = false;

  std::string getName() const override { return prefix; }
  uint64_t getNumRanks() const override { return ranks.size(); }
  void forEachClass(
      llvm::function_ref<void(const ClassStats &)> visit) const override;
  void
  forEachRank(uint64_t first, uint64_t end,
              llvm::function_ref<void(const RankStats &)> visit) const override;
  std::optional<uint64_t> getGroupSize(llvm::StringRef group) const override;
  std::vector<int64_t> getMembers(llvm::StringRef group) const override;
};

/// Reads one rank to its end. The first thing wrong with the file is an error.
llvm::Expected<RankStats> computeRankStats(TraceReader &reader, uint64_t rank);

/// Reads all files of `set` with up to `threads` threads (0: one per core).
/// Errors of all files are joined. With `isQuiet` unset there is progress on a
/// terminal, here and below.
llvm::Expected<FileStats> computeStats(const TraceSet &set, CommGroups groups,
                                       unsigned threads, bool isQuiet);

/// How statistics are shown.
struct StatsView {
  /// Ranks to tell one by one: from the first on, and before the second.
  std::optional<std::pair<uint64_t, uint64_t>> expanded;
  /// Bytes of memory of a device, which peaks are compared with.
  std::optional<int64_t> memoryLimit;
  bool quiet = false; ///< No progress on a terminal.
};

/// Writes a table for humans; ranks that do the same work share an entry. With
/// `expanded` it has these ranks only, each for itself.
void printStatsTable(const TraceStats &stats, const StatsView &view,
                     llvm::raw_ostream &os);

/// Writes the JSON object that docs/Formats.md describes; `expanded` adds these
/// ranks.
void printStatsJSON(const TraceStats &stats, const StatsView &view,
                    llvm::raw_ostream &os);

} // namespace stg::trace

#endif // STG_TRACE_STATS_TRACESTATS_H
