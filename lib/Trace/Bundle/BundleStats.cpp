//===- BundleStats.cpp - Totals of a bundle -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Bundle/BundleStats.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;
using namespace stg::trace;

BundleStats::BundleStats(const TraceBundle &bundle, StringRef file)
    : bundle(bundle), file(file) {
  for (const TraceBundle::Class &entry : bundle.getClasses()) {
    std::string trace;
    raw_string_ostream os(trace);
    int64_t rank = entry.ranks[0];
    bundle.writeRank(rank, os);
    TraceReader reader(MemoryBufferRef(trace, file));
    // What we have just written ourselves can be read.
    first.push_back(cantFail(computeRankStats(reader, rank)));
  }
}

/// The number of a group by its name.
std::optional<int64_t> BundleStats::findGroup(StringRef group) const {
  int64_t id;
  if (group.getAsInteger(10, id) || id < 1 ||
      id > bundle.getGroups().getNumGroups())
    return std::nullopt;
  return id;
}

/// What the first rank of the class does, on the groups and with the peers of
/// this one. A peer is as far from the rank as that of the model is from it.
RankStats BundleStats::getRank(int64_t rank) const {
  const RankSpace &space = bundle.getSpace();
  const RankStats &model = first[bundle.getPartition().getClass(rank)];
  RankStats stats = model;
  stats.rank = rank;
  if (rank == static_cast<int64_t>(model.rank))
    return stats;
  stats.collectives.clear();
  for (const auto &[key, traffic] : model.collectives) {
    AxisMask mask = bundle.getGroups().getGroup(*findGroup(key.group)).first;
    CollectiveKey own = key;
    own.group = std::to_string(bundle.getGroups().getId(mask, rank));
    stats.collectives.emplace(std::move(own), traffic);
  }
  auto translate = [&](const std::map<Peer, Traffic> &from) {
    std::map<Peer, Traffic> to;
    for (const auto &[modelPeer, traffic] : from) {
      Peer peer = modelPeer;
      space.translate(peer, model.rank, rank);
      to.emplace(peer, traffic);
    }
    return to;
  };
  stats.sends = translate(model.sends);
  stats.recvs = translate(model.recvs);
  return stats;
}

/// The groups of a cell over a mask have numbers that follow on one another:
/// those of one coordinate after the other on axes that no class fixes.
void BundleStats::forEachClass(
    function_ref<void(const ClassStats &)> visit) const {
  const RankSpace &space = bundle.getSpace();
  const RankPartition &partition = bundle.getPartition();
  const GroupTable &groups = bundle.getGroups();
  for (auto [index, model] : llvm::enumerate(first)) {
    ClassStats entry = {model, {}, {}};
    entry.ranks.add(bundle.getClasses()[index].ranks.getBlock());
    entry.ranks.finish();
    for (const auto &[key, traffic] : model.collectives) {
      AxisMask mask = groups.getGroup(*findGroup(key.group)).first;
      int64_t count = space.getNumPositions(space.getAllAxes() &
                                            ~(partition.getAxes() | mask));
      std::set<int64_t> ids;
      for (int64_t cell = 0, e = partition.getNumCells(); cell < e; ++cell)
        if (partition.getClassOfCell(cell) == index)
          ids.insert(groups.getId(mask, partition.getFirstRank(cell)));
      std::vector<ClassStats::Groups> &own = entry.groups[key.group];
      own.clear(); // Another collective may be on the same group.
      for (int64_t id : ids)
        own.push_back({std::to_string(id), static_cast<uint64_t>(count)});
    }
    visit(entry);
  }
}

void BundleStats::forEachRank(
    uint64_t first, uint64_t end,
    function_ref<void(const RankStats &)> visit) const {
  int64_t numRanks = bundle.getSpace().getNumRanks();
  end = std::min<uint64_t>(end, numRanks);
  for (uint64_t rank = first; rank < end; ++rank)
    visit(getRank(static_cast<int64_t>(rank)));
}

std::optional<uint64_t> BundleStats::getGroupSize(StringRef group) const {
  std::optional<int64_t> id = findGroup(group);
  if (!id)
    return std::nullopt;
  return bundle.getSpace().getGroupSize(bundle.getGroups().getGroup(*id).first);
}

std::vector<int64_t> BundleStats::getMembers(StringRef group) const {
  std::optional<int64_t> id = findGroup(group);
  if (!id)
    return {};
  auto [mask, rank] = bundle.getGroups().getGroup(*id);
  return bundle.getSpace().getMembers(mask, rank);
}
