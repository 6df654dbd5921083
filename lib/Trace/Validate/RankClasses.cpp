//===- RankClasses.cpp - Ranks that cannot be told apart ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A round of the refinement is linear in ranks and slots: the users of a group
// are a sum of hashes, which does not depend on their order. Sets that differ
// have the same sum with the probability of a collision of 64-bit hashes.
//
//===----------------------------------------------------------------------===//

#include "RankClasses.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace stg::trace {

/// Spreads the bits of a number over all of the result; a bijection.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

static uint64_t mix(uint32_t rankClass, uint32_t slot) {
  return mix(uint64_t(rankClass) << 32 | slot);
}

//===----------------------------------------------------------------------===//
// RankClasses
//===----------------------------------------------------------------------===//

RankClasses::RankClasses(const RankTable &ranks, bool merge) : ranks(ranks) {
  std::vector<uint64_t> keys;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank)
    keys.push_back(merge ? ranks.getGraphNumber(rank) : rank);
  renumber(keys);
  while (refine())
    ;
}

/// Ranks with the same key become a class.
void RankClasses::renumber(ArrayRef<uint64_t> keys) {
  classOf.clear();
  first.clear();
  numRanks.clear();
  // Any 64-bit number may be a key, unlike those of a DenseMap.
  std::unordered_map<uint64_t, uint32_t> numbers;
  for (uint32_t rank = 0; rank < keys.size(); ++rank) {
    auto [it, isNew] = numbers.try_emplace(keys[rank], size());
    if (isNew) {
      first.push_back(rank);
      numRanks.push_back(0);
    }
    classOf.push_back(it->second);
    ++numRanks[it->second];
  }
}

/// Splits classes whose ranks differ in the users of a group or in a peer.
/// Returns false if there is none.
bool RankClasses::refine() {
  std::vector<uint64_t> users(ranks.getSource().getNumGroups());
  for (uint32_t rank = 0; rank < ranks.size(); ++rank)
    for (auto [slot, group] : llvm::enumerate(ranks.getGroups(rank)))
      users[group] += mix(classOf[rank], static_cast<uint32_t>(slot));

  std::vector<uint64_t> keys;
  keys.reserve(ranks.size());
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    uint64_t key = classOf[rank];
    for (uint32_t group : ranks.getGroups(rank))
      key = mix(key) + users[group];
    ArrayRef<uint32_t> backSlots = ranks.getBackSlots(rank);
    for (auto [slot, peer] : llvm::enumerate(ranks.getPeers(rank)))
      key = mix(key) +
            (peer == RankTable::none ? 0 : mix(classOf[peer], backSlots[slot]));
    keys.push_back(mix(key));
  }
  uint32_t before = size();
  renumber(keys);
  // The key has the class before, so that ranks are never put together.
  return size() > before;
}

//===----------------------------------------------------------------------===//
// GroupClasses
//===----------------------------------------------------------------------===//

GroupClasses::GroupClasses(const RankClasses &classes) {
  const RankTable &ranks = classes.getRanks();
  constexpr uint32_t none = UINT32_MAX;
  // The groups of first ranks, in order of their first use.
  std::vector<uint32_t> index(ranks.getSource().getNumGroups(), none);
  std::vector<std::vector<GroupUser>> usersOfGroup;
  for (uint32_t number = 0; number < classes.size(); ++number) {
    for (uint32_t group : ranks.getGroups(classes.getFirst(number))) {
      if (index[group] != none)
        continue;
      index[group] = static_cast<uint32_t>(usersOfGroup.size());
      usersOfGroup.emplace_back();
    }
  }
  DenseSet<std::pair<uint32_t, std::pair<uint32_t, uint32_t>>> known;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    ArrayRef<uint32_t> groupsOfRank = ranks.getGroups(rank);
    uint32_t number = classes.getClass(rank);
    for (uint32_t slot = 0; slot < groupsOfRank.size(); ++slot) {
      uint32_t i = index[groupsOfRank[slot]];
      if (i != none && known.insert({i, {number, slot}}).second)
        usersOfGroup[i].push_back({number, slot, rank});
    }
  }

  for (uint32_t number = 0; number < classes.size(); ++number)
    numbers.emplace_back(ranks.getGroups(classes.getFirst(number)).size(),
                         none);
  for (uint32_t number = 0; number < classes.size(); ++number) {
    ArrayRef<uint32_t> groupsOfRank = ranks.getGroups(classes.getFirst(number));
    for (uint32_t slot = 0; slot < groupsOfRank.size(); ++slot) {
      if (numbers[number][slot] != none)
        continue;
      const std::vector<GroupUser> &own =
          usersOfGroup[index[groupsOfRank[slot]]];
      for (const GroupUser &user : own)
        numbers[user.rankClass][user.slot] = size();
      groups.push_back(groupsOfRank[slot]);
      users.push_back(own);
    }
  }
}

} // namespace stg::trace
