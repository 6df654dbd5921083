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

#include "stg/Machine/Machine.h"

namespace stg {

/// Ranks that are `stride` apart.
struct GroupPlace {
  int64_t ranks = 1, stride = 1;
};

class CollectiveCosts {
public:
  /// The machine has to outlive the costs.
  explicit CollectiveCosts(const Machine &machine);

  /// `name` is one of getMachineCollectives(), `bytes` the whole buffer of a
  /// rank: gathered, or before it is scattered.
  double getCollective(llvm::StringRef name, GroupPlace place,
                       double bytes) const;
  /// Between two ranks that are so far apart.
  double getMessage(int64_t distance, double bytes) const;
  /// The innermost tier that joins the group.
  llvm::StringRef getTier(GroupPlace place) const;

private:
  struct Factors {
    double scalar, offset;
  };
  struct Tier {
    const NetworkTier *tier;
    double bandwidth, latency; ///< What large messages reach.
    std::map<std::string, Factors, std::less<>> factors;
  };

  unsigned findTier(GroupPlace place) const;
  double getInside(const Tier &tier, llvm::StringRef name, int64_t ranks,
                   double bytes) const;
  double getMeasured(const Tier &tier, llvm::StringRef name, int64_t ranks,
                     double bytes, llvm::ArrayRef<CollectiveTimes> times) const;
  double getBandwidth(const Tier &tier, int64_t ranks) const;

  std::vector<Tier> tiers;
};

} // namespace stg

#endif // STG_ESTIMATE_COLLECTIVECOSTS_H
