//===- RankTable.h - All ranks of a trace, in short -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank is its graph, shared with all ranks that have an equal one, and what
// the graph's slots stand for: a group for each slot of groups, a rank for each
// slot of peers. That is a few numbers for each rank in flat arrays, whatever
// the length of its trace.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_VALIDATE_RANKTABLE_H
#define STG_LIB_TRACE_VALIDATE_RANKTABLE_H

#include "RankGraph.h"
#include "stg/Trace/Reader/RankSource.h"
#include <deque>
#include <mutex>
#include <unordered_map>

namespace stg::trace {

/// Graphs, equal ones once.
class GraphTable {
public:
  /// The number of a graph. May be called from several threads.
  uint32_t add(RankGraph graph);

  const RankGraph &operator[](uint32_t number) const { return graphs[number]; }
  uint32_t size() const { return static_cast<uint32_t>(graphs.size()); }

private:
  std::mutex mutex;
  std::deque<RankGraph> graphs;
  std::unordered_multimap<uint64_t, uint32_t> byHash;
};

/// The ranks of a trace by their position (RankSource).
class RankTable {
public:
  /// In place of a peer that is no rank of the trace, or of a slot.
  static constexpr uint32_t none = UINT32_MAX;

  RankTable(const RankSource &source, const GraphTable &graphs)
      : source(source), graphs(graphs) {}

  /// Adds the next rank.
  void add(uint32_t graph, const Bindings &bindings);
  /// To be called after the last one.
  void finish();

  const RankSource &getSource() const { return source; }
  const GraphTable &getGraphs() const { return graphs; }
  uint32_t size() const { return static_cast<uint32_t>(graphOf.size()); }
  uint32_t getGraphNumber(uint32_t rank) const { return graphOf[rank]; }
  const RankGraph &getGraph(uint32_t rank) const {
    return graphs[graphOf[rank]];
  }

  /// The group of each slot. After those of the graph come the groups that list
  /// the rank although it runs nothing on them, if another rank does: slots
  /// that no operation uses.
  llvm::ArrayRef<uint32_t> getGroups(uint32_t rank) const {
    return slice(groups, groupBegin, rank);
  }
  /// The position of the peer of each slot, or none.
  llvm::ArrayRef<uint32_t> getPeers(uint32_t rank) const {
    return slice(peers, peerBegin, rank);
  }
  /// For each slot of peers the peer's slot that stands for this rank, or none.
  llvm::ArrayRef<uint32_t> getBackSlots(uint32_t rank) const {
    return slice(backSlots, peerBegin, rank);
  }

private:
  static llvm::ArrayRef<uint32_t> slice(const std::vector<uint32_t> &array,
                                        const std::vector<size_t> &begin,
                                        uint32_t rank) {
    return llvm::ArrayRef<uint32_t>(array).slice(begin[rank],
                                                 begin[rank + 1] - begin[rank]);
  }
  uint32_t findPosition(uint64_t rank) const;
  void findBackSlots();
  /// A group and a member that runs nothing on it.
  using Absence = std::pair<uint32_t, uint32_t>;
  std::vector<Absence> findAbsences() const;
  void addAbsences(std::vector<Absence> absences);

  const RankSource &source;
  const GraphTable &graphs;
  std::vector<uint32_t> graphOf;
  std::vector<size_t> groupBegin = {0}, peerBegin = {0};
  std::vector<uint32_t> groups, peers, backSlots;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_VALIDATE_RANKTABLE_H
