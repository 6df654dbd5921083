//===- RankTable.cpp - All ranks of a trace, in short ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here is linear in the number of ranks and their slots.
//
//===----------------------------------------------------------------------===//

#include "RankTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace stg::trace {

//===----------------------------------------------------------------------===//
// GraphTable
//===----------------------------------------------------------------------===//

uint32_t GraphTable::add(RankGraph graph) {
  uint64_t hash = graph.getHash();
  std::lock_guard<std::mutex> lock(mutex);
  auto [first, last] = byHash.equal_range(hash);
  for (const auto &[key, number] : make_range(first, last))
    if (graphs[number] == graph)
      return number;
  graph.shrinkToFit();
  graphs.push_back(std::move(graph));
  byHash.emplace(hash, size() - 1);
  return size() - 1;
}

//===----------------------------------------------------------------------===//
// RankTable
//===----------------------------------------------------------------------===//

/// The position of a rank among those that there are, or none.
uint32_t RankTable::findPosition(uint64_t rank) const {
  uint32_t numRanks = source.getNumRanks();
  // Without gaps the two are the same.
  if (rank < numRanks && source.getRank(static_cast<uint32_t>(rank)) == rank)
    return static_cast<uint32_t>(rank);
  uint32_t begin = 0, end = numRanks;
  while (begin < end) {
    uint32_t middle = begin + (end - begin) / 2;
    if (source.getRank(middle) < rank)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin < numRanks && source.getRank(begin) == rank ? begin : none;
}

void RankTable::add(uint32_t graph, const Bindings &bindings) {
  graphOf.push_back(graph);
  llvm::append_range(groups, bindings.groups);
  groupBegin.push_back(groups.size());
  for (int64_t peer : bindings.peers)
    peers.push_back(findPosition(static_cast<uint64_t>(peer)));
  peerBegin.push_back(peers.size());
}

void RankTable::finish() {
  findBackSlots();
  addAbsences(findAbsences());
}

void RankTable::findBackSlots() {
  // The slots that stand for each rank, by rank.
  struct Incoming {
    uint32_t from;
    size_t slot; ///< In `peers`.
  };
  std::vector<size_t> begin(size() + 1, 0);
  for (uint32_t peer : peers)
    if (peer != none)
      ++begin[peer + 1];
  for (uint32_t rank = 0; rank < size(); ++rank)
    begin[rank + 1] += begin[rank];
  std::vector<Incoming> incoming(begin.back());
  std::vector<size_t> next(begin.begin(), begin.end() - 1);
  for (uint32_t rank = 0; rank < size(); ++rank)
    for (size_t slot = peerBegin[rank]; slot < peerBegin[rank + 1]; ++slot)
      if (peers[slot] != none)
        incoming[next[peers[slot]]++] = {rank, slot};

  backSlots.assign(peers.size(), none);
  std::vector<uint32_t> ownSlot(size(), none);
  for (uint32_t rank = 0; rank < size(); ++rank) {
    ArrayRef<uint32_t> own = getPeers(rank);
    for (uint32_t slot = 0; slot < own.size(); ++slot)
      if (own[slot] != none)
        ownSlot[own[slot]] = slot;
    for (size_t i = begin[rank]; i < begin[rank + 1]; ++i)
      backSlots[incoming[i].slot] = ownSlot[incoming[i].from];
    for (uint32_t peer : own)
      if (peer != none)
        ownSlot[peer] = none;
  }
}

std::vector<RankTable::Absence> RankTable::findAbsences() const {
  uint32_t numGroups = source.getNumGroups();
  std::vector<uint32_t> numUsers(numGroups);
  for (uint32_t group : groups)
    ++numUsers[group];
  // Members are asked for only where they are more than the users: users that
  // are no members are told already.
  DenseMap<uint32_t, DenseSet<uint32_t>> users;
  for (uint32_t group = 0; group < numGroups; ++group) {
    std::optional<uint64_t> size =
        numUsers[group] ? source.getGroupSize(group) : std::nullopt;
    if (size && *size != numUsers[group])
      users.try_emplace(group);
  }
  std::vector<Absence> absences;
  if (users.empty())
    return absences;
  for (uint32_t rank = 0; rank < size(); ++rank)
    for (uint32_t group : getGroups(rank))
      if (auto it = users.find(group); it != users.end())
        it->second.insert(rank);
  for (auto &[group, known] : users) {
    for (int64_t member : source.getMembers(group)) {
      uint32_t rank =
          member < 0 ? none : findPosition(static_cast<uint64_t>(member));
      // What could not be read is not absent.
      if (rank != none && getGraph(rank).isComplete &&
          known.insert(rank).second)
        absences.push_back({group, rank});
    }
  }
  return absences;
}

void RankTable::addAbsences(std::vector<Absence> absences) {
  if (absences.empty())
    return;
  // The numbers of groups may depend on the timing of threads, their first
  // users do not.
  std::vector<size_t> firstUse(source.getNumGroups());
  for (size_t i = groups.size(); i-- > 0;)
    firstUse[groups[i]] = i;
  llvm::sort(absences, [&](const Absence &lhs, const Absence &rhs) {
    return std::tie(lhs.second, firstUse[lhs.first]) <
           std::tie(rhs.second, firstUse[rhs.first]);
  });
  std::vector<uint32_t> all;
  std::vector<size_t> begin = {0};
  auto next = absences.begin();
  for (uint32_t rank = 0; rank < size(); ++rank) {
    llvm::append_range(all, getGroups(rank));
    for (; next != absences.end() && next->second == rank; ++next)
      all.push_back(next->first);
    begin.push_back(all.size());
  }
  groups = std::move(all);
  groupBegin = std::move(begin);
}

} // namespace stg::trace
