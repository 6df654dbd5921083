//===- CollectiveCosts.h - How long a collective takes ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seconds of collectives and messages from the place of a group: its ranks,
// and how far apart they are. docs/Rationale/Estimates.md has the model.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_COLLECTIVECOSTS_H
#define STG_ESTIMATE_COLLECTIVECOSTS_H

#include "stg/Analysis/ExpertChoice.h"
#include "stg/Machine/Machine.h"
#include "llvm/ADT/SmallVector.h"

namespace stg {

/// Where the ranks of a group are: along some axes, on each of which `stride`
/// apart.
class GroupPlace {
public:
  GroupPlace() = default;
  GroupPlace(int64_t ranks, int64_t stride) { add(ranks, stride); }
  void add(int64_t ranks, int64_t stride) { axes.push_back({ranks, stride}); }

  int64_t getRanks() const;
  /// The part of the group that is among so many neighbouring ranks.
  GroupPlace getLocal(int64_t neighbours) const;

private:
  struct Axis {
    int64_t ranks, stride;
  };
  llvm::SmallVector<Axis, 2> axes;
};

class CollectiveCosts {
public:
  /// The machine has to outlive the costs. With `hasDirect` an all-reduce is a
  /// direct one of the machine where that is faster. A job of `ranks` devices
  /// has a torus of its own, no larger than that of the machine; 0: all of it.
  explicit CollectiveCosts(const Machine &machine, bool hasDirect = false,
                           int64_t ranks = 0);

  /// `name` is a collective of a program, `bytes` the whole buffer of a
  /// rank: gathered, or before it is scattered. An all-to-all of a copy of each
  /// token for each expert of a `choice` sends one of them to a rank, and to a
  /// group of ranks that a tier joins, at most.
  double getCollective(llvm::StringRef name, const GroupPlace &place,
                       double bytes, const ExpertChoice &choice = {}) const;
  /// An exchange of rows of experts by a kernel of its own, which sends within
  /// a domain and between domains at the same time. With a `choice` a row is
  /// sent to a domain once, and handed on to each rank there that has one of
  /// the token's experts; `bytes` are those of such rows if `isOnce`, or of a
  /// copy for each expert.
  double getExchange(const GroupPlace &place, double bytes,
                     const ExpertChoice *choice, bool isOnce) const;
  /// Between two ranks.
  double getMessage(int64_t from, int64_t to, double bytes) const;
  /// The innermost tier that joins the group.
  llvm::StringRef getTier(const GroupPlace &place) const;

private:
  struct Factors {
    double scalar, offset;
  };
  struct Tier {
    const NetworkTier *tier;
    double bandwidth, latency; ///< What large messages reach.
    double partialShare;       ///< Of groups with a part of a node.
    /// Ranks in the longest dimension of a torus; 0: not known.
    int64_t longestSide;
    std::map<std::string, Factors, std::less<>> factors;
  };

  unsigned findTier(const GroupPlace &place) const;
  double getLibrary(const Tier &tier, llvm::StringRef name, int64_t ranks,
                    double bytes) const;
  double getInside(const Tier &tier, llvm::StringRef name, int64_t ranks,
                   double bytes) const;
  double getMeasured(const Tier &tier, llvm::StringRef name, int64_t ranks,
                     double bytes, llvm::ArrayRef<CollectiveTimes> times) const;
  double getBandwidth(const Tier &tier, int64_t ranks) const;
  /// Links that a byte of an all-to-all takes on the way to its rank, on the
  /// average of those that leave: others lie between two ranks of a ring.
  double getDistance(const Tier &tier, int64_t ranks) const;

  double getDirect(const Tier &tier, int64_t ranks, double bytes) const;

  bool hasDirect;
  std::optional<double> exchangeFixed; ///< Of an exchange of nothing.
  std::vector<Tier> tiers;
};

} // namespace stg

#endif // STG_ESTIMATE_COLLECTIVECOSTS_H
