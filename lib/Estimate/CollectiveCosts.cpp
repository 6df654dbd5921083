//===- CollectiveCosts.cpp - How long a collective takes ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/CollectiveCosts.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace stg;

int64_t GroupPlace::getRanks() const {
  int64_t ranks = 1;
  for (const Axis &axis : axes)
    ranks *= axis.ranks;
  return ranks;
}

GroupPlace GroupPlace::getLocal(int64_t neighbours) const {
  GroupPlace local;
  for (const Axis &axis : axes)
    local.add(
        std::min(axis.ranks, std::max<int64_t>(1, neighbours / axis.stride)),
        axis.stride);
  return local;
}

/// Ranks in the longest dimension of a torus whose dimensions are as equal as
/// they can be: 8 of 128 ranks in three dimensions, 4 x 4 x 8.
static int64_t getLongestSide(int64_t ranks, int64_t dimensions) {
  auto fits = [&](int64_t side) {
    int64_t most = 1;
    for (int64_t i = 0; i < dimensions && most < ranks; ++i)
      most *= side;
    return most >= ranks;
  };
  auto guess = int64_t(std::pow(double(ranks), 1. / double(dimensions))) - 1;
  int64_t side = std::max<int64_t>(1, guess);
  while (ranks % side != 0 || !fits(side))
    ++side;
  return side;
}

CollectiveCosts::CollectiveCosts(const Machine &machine, bool hasDirect,
                                 int64_t ranks)
    : hasDirect(hasDirect),
      exchangeFixed(machine.get("device.exchange.fixed")) {
  for (const NetworkTier &tier : machine.getTiers()) {
    std::string key = "network." + tier.name;
    auto read = [&](StringRef member, double missing) {
      return machine.get(key + member.str()).value_or(missing);
    };
    Tier &result = tiers.emplace_back();
    result.tier = &tier;
    result.bandwidth = read(".bandwidth", 0) * read(".share", 1);
    result.latency = read(".latency", 0);
    result.partialShare = read(".partial_share", 1);
    int64_t most = tier.ranks.value_or(ranks);
    result.longestSide =
        tier.topology == Topology::Torus && most > 0
            ? getLongestSide(ranks > 0 ? std::min(ranks, most) : most,
                             tier.dimensions)
            : 0;
    for (StringRef name : getMachineCollectives())
      if (std::optional<double> scalar =
              machine.get(key + ".collectives." + name.str() + ".scalar"))
        result.factors[name.str()] = {
            *scalar, read((".collectives." + name + ".offset").str(), 0)};
  }
}

unsigned CollectiveCosts::findTier(const GroupPlace &place) const {
  for (auto [i, tier] : llvm::enumerate(tiers))
    if (!tier.tier->ranks ||
        place.getLocal(*tier.tier->ranks).getRanks() == place.getRanks())
      return i;
  // More ranks than the machine joins: as if its last tier went on.
  return tiers.size() - 1;
}

StringRef CollectiveCosts::getTier(const GroupPlace &place) const {
  return tiers[findTier(place)].tier->name;
}

//===----------------------------------------------------------------------===//
// In one tier
//===----------------------------------------------------------------------===//

/// Bytes that a rank sends in a ring, over those of the buffer.
static double getVolume(StringRef name, double ranks) {
  double once = (ranks - 1) / ranks;
  return name == "all_reduce" ? 2 * once : once;
}

/// Steps of a ring, or of trees where those are fewer. With a link for each
/// pair all ranks send each other their parts at once; a sum is scattered, and
/// then gathered.
static double getSteps(const NetworkTier &network, StringRef name,
                       double ranks) {
  if (network.topology == Topology::FullyConnected)
    return name == "all_reduce" ? 2 : 1;
  double ring = ranks - 1, tree = 2 * std::log2(ranks) + 2;
  return std::min(name == "all_reduce" ? 2 * ring : ring, tree);
}

/// Of a torus, in how many of its dimensions the ranks of a group are.
static int64_t countDimensions(const NetworkTier &torus, int64_t longestSide,
                               int64_t ranks) {
  int64_t dimensions = 1;
  if (longestSide > 1)
    for (int64_t most = longestSide;
         most < ranks && dimensions < torus.dimensions; most *= longestSide)
      ++dimensions;
  return dimensions;
}

double CollectiveCosts::getDistance(const Tier &tier, int64_t ranks) const {
  const NetworkTier &network = *tier.tier;
  bool isTorus = network.topology == Topology::Torus;
  if (ranks <= 1 || (!isTorus && network.topology != Topology::Ring))
    return 1;
  double count = double(ranks), leaving = (count - 1) / count;
  int64_t dimensions =
      isTorus ? countDimensions(network, tier.longestSide, ranks) : 1;
  // The shorter way around is at most half of a ring.
  if (dimensions == 1)
    return std::floor(count * count / 4) / count / leaving;
  double side = std::pow(count, 1. / double(dimensions));
  return double(dimensions) * side / 4 / leaving;
}

double CollectiveCosts::getBandwidth(const Tier &tier, int64_t ranks) const {
  const NetworkTier &network = *tier.tier;
  if (network.topology == Topology::FullyConnected)
    return tier.bandwidth * (ranks - 1);
  if (network.topology != Topology::Torus)
    return tier.bandwidth;
  // There are rings in all dimensions that the group is in, each with two links
  // of a device.
  int64_t used = countDimensions(network, tier.longestSide, ranks);
  int64_t links =
      std::max<int64_t>(2, network.links * used / network.dimensions);
  return tier.bandwidth * double(links);
}

/// On logarithms between points. Smaller buffers take as long as the smallest,
/// larger ones in proportion to the largest.
static double interpolate(ArrayRef<std::pair<double, double>> points,
                          double bytes) {
  if (bytes <= points.front().first)
    return points.front().second;
  if (bytes >= points.back().first)
    return points.back().second * bytes / points.back().first;
  auto after = llvm::upper_bound(
      points, bytes, [](double x, const auto &p) { return x < p.first; });
  const auto &[x1, y1] = *after;
  const auto &[x0, y0] = *std::prev(after);
  double part = std::log(bytes / x0) / std::log(x1 / x0);
  return y0 * std::pow(y1 / y0, part);
}

double CollectiveCosts::getMeasured(const Tier &tier, StringRef name,
                                    int64_t ranks, double bytes,
                                    ArrayRef<CollectiveTimes> times) const {
  const CollectiveTimes *nearest = &times.front();
  for (const CollectiveTimes &candidate : times)
    if (candidate.ranks <= ranks)
      nearest = &candidate;
  double time = interpolate(nearest->points, bytes);
  if (nearest->ranks == ranks)
    return time;
  double scaled =
      time * getVolume(name, ranks) / getVolume(name, nearest->ranks);
  double steps = getSteps(*tier.tier, name, ranks) -
                 getSteps(*tier.tier, name, nearest->ranks);
  return scaled + std::max(0., steps) * tier.latency;
}

/// Kernels of inference engines, which were written for some numbers of ranks;
/// infinite for others.
double CollectiveCosts::getDirect(const Tier &tier, int64_t ranks,
                                  double bytes) const {
  auto known = tier.tier->times.find("direct_all_reduce");
  if (known != tier.tier->times.end())
    for (const CollectiveTimes &candidate : known->second)
      if (candidate.ranks == ranks)
        return interpolate(candidate.points, bytes);
  return std::numeric_limits<double>::infinity();
}

double CollectiveCosts::getLibrary(const Tier &tier, StringRef name,
                                   int64_t ranks, double bytes) const {
  auto measured = tier.tier->times.find(name.str());
  if (measured != tier.tier->times.end())
    return getMeasured(tier, name, ranks, bytes, measured->second);
  double sent = getVolume(name, ranks) * bytes / getBandwidth(tier, ranks);
  if (name == "all_to_all")
    sent *= getDistance(tier, ranks);
  auto factors = tier.factors.find(name);
  if (factors == tier.factors.end())
    return getSteps(*tier.tier, name, ranks) * tier.latency + sent;
  double given = tier.latency + factors->second.scalar * bytes *
                                    (1 + factors->second.offset / ranks) /
                                    getBandwidth(tier, ranks);
  // Two ranks just exchange what they have, whatever is done for more.
  return ranks == 2 ? std::min(given, tier.latency + sent) : given;
}

double CollectiveCosts::getInside(const Tier &tier, StringRef name,
                                  int64_t ranks, double bytes) const {
  if (ranks <= 1)
    return 0;
  double time = getLibrary(tier, name, ranks, bytes);
  return hasDirect && name == "all_reduce"
             ? std::min(time, getDirect(tier, ranks, bytes))
             : time;
}

//===----------------------------------------------------------------------===//
// Across tiers
//===----------------------------------------------------------------------===//

double CollectiveCosts::getCollective(StringRef name, const GroupPlace &place,
                                      double bytes,
                                      const ExpertChoice &choice) const {
  const int64_t count = place.getRanks();
  if (count <= 1)
    return 0;
  unsigned outer = findTier(place);
  GroupPlace local;
  if (outer > 0)
    local = place.getLocal(*tiers[outer - 1].tier->ranks);
  const int64_t members = local.getRanks();
  const Tier &tier = tiers[outer];
  double ranks = count,
         groups = std::ceil(ranks / std::max(members, int64_t(1)));
  if (members <= 1)
    return getInside(tier, name, count, bytes * choice.getDistinct(ranks));
  // What leaves the members goes through the links of its own device. What
  // comes once for all of them is then handed on.
  if (name == "all_to_all") {
    double here =
        choice.chosen > 1 ? choice.getDistinct(ranks) : members / ranks;
    return getCollective(name, local, bytes * here) +
           getSteps(*tier.tier, name, groups) * tier.latency +
           bytes * choice.getDistinct(groups) * (ranks - members) / ranks *
               getDistance(tier, int64_t(groups)) / getBandwidth(tier, groups);
  }
  double inside = getCollective(name, local, bytes);
  auto factors = tier.factors.find(name);
  double volume =
      factors == tier.factors.end()
          ? getVolume(name, ranks)
          : factors->second.scalar * (1 + factors->second.offset / ranks);
  // Rings within and between overlap; each member has one. A ring goes through
  // all ranks; only sums have trees.
  double between =
      volume * bytes / (getBandwidth(tier, groups) * double(members));
  // A ring that enters a node by one device and leaves it by another one far
  // from it does not get all of the links of both.
  if (members < *tiers[outer - 1].tier->ranks)
    between /= tier.partialShare;
  double latency = getSteps(*tier.tier, name, groups) * tier.latency;
  if (name != "all_reduce" && factors == tier.factors.end())
    latency = (groups - 1) * tier.latency +
              (ranks - groups) * tiers[outer - 1].latency;
  return std::max(inside, between) + latency;
}

double CollectiveCosts::getExchange(const GroupPlace &place, double bytes,
                                    const ExpertChoice *choice,
                                    bool isOnce) const {
  const auto ranks = static_cast<double>(place.getRanks());
  if (ranks <= 1)
    return 0;
  const unsigned number = findTier(place);
  const Tier &tier = tiers[number];
  // The domain that the tier joins others to, or the only one.
  const int64_t members =
      number > 0 ? place.getLocal(*tiers[number - 1].tier->ranks).getRanks()
                 : place.getRanks();
  const bool isOne = number == 0 || members <= 1;
  const Tier &inner = tiers[isOne ? number : number - 1];
  const double domain = isOne ? ranks : double(members);
  const double groups = std::ceil(ranks / domain);
  const double fixed = exchangeFixed.value_or(
      getSteps(*tier.tier, "all_to_all", isOne ? ranks : groups) *
      tier.latency);
  auto send = [&](const Tier &through, int64_t count, double sent) {
    auto factors = through.factors.find("all_to_all");
    return sent * getDistance(through, count) *
           (factors == through.factors.end() ? 1 : factors->second.scalar) /
           getBandwidth(through, count);
  };
  // Parts of what a rank brings, or would bring with a copy for each expert:
  // those for ranks of the own domain, or of all of them, and for others.
  double within = domain / ranks, between = 1;
  if (choice) {
    within = choice->getDistinct(ranks);
    between = choice->getDistinct(groups);
    if (isOnce)
      bytes /= between;
  }
  within = send(inner, static_cast<int64_t>(domain),
                bytes * within * (domain - 1) / domain);
  between = isOne ? 0
                  : send(tier, static_cast<int64_t>(groups),
                         bytes * between * (ranks - domain) / ranks);
  return fixed + std::max(within, between);
}

double CollectiveCosts::getMessage(int64_t from, int64_t to,
                                   double bytes) const {
  auto joining = llvm::find_if(tiers, [&](const Tier &tier) {
    std::optional<int64_t> ranks = tier.tier->ranks;
    return !ranks || from / *ranks == to / *ranks;
  });
  const Tier &tier = joining == tiers.end() ? tiers.back() : *joining;
  bool isLinks = tier.tier->topology == Topology::Torus;
  return tier.latency + bytes / (tier.bandwidth * (isLinks ? 2 : 1));
}
