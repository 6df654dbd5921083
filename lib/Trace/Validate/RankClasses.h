//===- RankClasses.h - Ranks that cannot be told apart ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divides the ranks into classes such that the rules across ranks can be
// decided on one rank of each. Ranks are of one class if
//
//   - they have the same graph,
//   - for each slot of groups, the two groups have as many users of each class
//     that use them by each slot, and
//   - for each slot of peers, the two peers are of one class, and the slot by
//     which they refer back is the same (or neither does, or there is no peer).
//
// Such a division is found by refinement: from classes of equal graphs, classes
// are split until the conditions hold, which gives the coarsest one.
//
// Why one rank of each is enough: let the ranks run against each other in
// rounds (DeadlockSimulation.cpp), where what a rank does in a round follows
// from its graph, its own state, the states of the users of its groups and the
// states of its peers. In the beginning ranks of a class have the same state.
// If they have before a round, they have after it: the users of the groups of a
// slot are of the same classes and know the group by the same slots, so that
// their states agree in all that concerns the group; likewise for peers. The
// same holds for which collectives and messages belong together, which takes no
// more than the order of operations of each slot.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_VALIDATE_RANKCLASSES_H
#define STG_LIB_TRACE_VALIDATE_RANKCLASSES_H

#include "RankTable.h"

namespace stg::trace {

/// The classes of the ranks of a table, numbered by their first ranks.
class RankClasses {
public:
  /// With `merge` unset, each rank is a class.
  RankClasses(const RankTable &ranks, bool merge);

  const RankTable &getRanks() const { return ranks; }
  uint32_t size() const { return static_cast<uint32_t>(first.size()); }
  uint32_t getClass(uint32_t rank) const { return classOf[rank]; }
  /// The first rank of a class, which stands for it.
  uint32_t getFirst(uint32_t number) const { return first[number]; }
  uint32_t getNumRanks(uint32_t number) const { return numRanks[number]; }
  const RankGraph &getGraph(uint32_t number) const {
    return ranks.getGraph(first[number]);
  }

private:
  bool refine();
  void renumber(llvm::ArrayRef<uint64_t> keys);

  const RankTable &ranks;
  std::vector<uint32_t> classOf;
  std::vector<uint32_t> first;
  std::vector<uint32_t> numRanks;
};

/// A class of ranks that use a group by one slot.
struct GroupUser {
  uint32_t rankClass;
  uint32_t slot;
  /// The first of them in the group.
  uint32_t firstRank;
};

/// What the groups of the classes' first ranks are, as classes of groups: those
/// with the same users.
class GroupClasses {
public:
  explicit GroupClasses(const RankClasses &classes);

  uint32_t size() const { return static_cast<uint32_t>(groups.size()); }
  /// One group of the class.
  uint32_t getGroup(uint32_t number) const { return groups[number]; }
  /// The users of that group, by their first ranks.
  llvm::ArrayRef<GroupUser> getUsers(uint32_t number) const {
    return users[number];
  }
  /// The class of groups that ranks of a class use by a slot.
  uint32_t find(uint32_t rankClass, uint32_t slot) const {
    return numbers[rankClass][slot];
  }

private:
  std::vector<uint32_t> groups;
  std::vector<std::vector<GroupUser>> users;
  std::vector<std::vector<uint32_t>> numbers;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_VALIDATE_RANKCLASSES_H
