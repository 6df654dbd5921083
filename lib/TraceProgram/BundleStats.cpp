//===- BundleStats.cpp - Totals of a bundle -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/TraceProgram/BundleStats.h"

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
    first.back().shape = first.size();
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

void BundleStats::forEachRank(
    function_ref<void(const RankStats &)> visit) const {
  for (int64_t rank = 0, e = bundle.getSpace().getNumRanks(); rank < e; ++rank)
    visit(getRank(rank));
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
