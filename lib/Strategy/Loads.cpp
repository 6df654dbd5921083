//===- Loads.cpp - Loads of experts that have replicas --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/Strategy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace stg;

/// How often each expert is there. Of experts that are loaded alike the first
/// one gets the replica.
static Integers countReplicas(const Integers &loads, int64_t replicas) {
  Integers counts(loads.size(), 1);
  for (int64_t i = 0; i < replicas; ++i) {
    size_t most = 0;
    for (size_t expert = 1; expert < loads.size(); ++expert)
      if (static_cast<__int128>(loads[expert]) * counts[most] >
          static_cast<__int128>(loads[most]) * counts[expert])
        most = expert;
    ++counts[most];
  }
  return counts;
}

/// A factor that makes loads divisible by how often experts are there, as far
/// as it fits.
static int64_t getFactor(const Integers &loads, const Integers &counts) {
  int64_t factor = 1, most = *llvm::max_element(loads);
  for (int64_t count : counts) {
    int64_t next = factor / std::gcd(factor, count), product;
    if (MulOverflow<int64_t>(next, count, next) ||
        MulOverflow<int64_t>(next, most, product) ||
        product > INT64_MAX / static_cast<int64_t>(loads.size() + 1))
      return factor;
    factor = next;
  }
  return factor;
}

Integers stg::spreadLoads(const Integers &loads, int64_t replicas,
                          int64_t ranks) {
  Integers counts = countReplicas(loads, replicas), all;
  int64_t factor = getFactor(loads, counts);
  for (auto [load, count] : llvm::zip_equal(loads, counts))
    for (int64_t i = 0; i < count; ++i)
      all.push_back(load * factor / count + (i < load * factor % count));
  int64_t number = all.size();
  if (ranks < 2 || number % ranks != 0)
    return all;
  Integers order(number);
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t lhs, int64_t rhs) {
    return std::pair(all[rhs], lhs) < std::pair(all[lhs], rhs);
  });
  std::vector<Integers> ofRank(ranks);
  Integers sums(ranks);
  size_t room = number / ranks;
  for (int64_t replica : order) {
    int64_t least = -1;
    for (int64_t rank = 0; rank < ranks; ++rank)
      if (ofRank[rank].size() < room && (least < 0 || sums[rank] < sums[least]))
        least = rank;
    ofRank[least].push_back(all[replica]);
    sums[least] += all[replica];
  }
  Integers result;
  for (const Integers &own : ofRank)
    result.insert(result.end(), own.begin(), own.end());
  return result;
}
