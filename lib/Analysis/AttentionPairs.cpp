//===- AttentionPairs.cpp - Pairs that attention works on -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Analysis/AttentionPairs.h"
#include <algorithm>
#include <numeric>

using namespace stg;

/// 1 + 2 + ... + n, and 0 for a negative number.
static int64_t getTriangle(int64_t n) { return n > 0 ? n * (n + 1) / 2 : 0; }

static TokenRange intersect(TokenRange lhs, TokenRange rhs) {
  TokenRange both = {std::max(lhs.begin, rhs.begin),
                     std::min(lhs.end, rhs.end)};
  return both.begin < both.end ? both : TokenRange();
}

/// Keys up to the query's own place plus `reach`. The query at i sees
/// max(0, i + 1 + reach - begin) keys from `begin` on, so the queries before n
/// see a triangle.
static int64_t countUpTo(TokenRange queries, TokenRange keys, int64_t reach) {
  auto countFrom = [&](int64_t begin) {
    return getTriangle(queries.end + reach - begin) -
           getTriangle(queries.begin + reach - begin);
  };
  return countFrom(keys.begin) - countFrom(keys.end);
}

static int64_t countAll(TokenRange queries, TokenRange keys) {
  return (queries.end - queries.begin) * (keys.end - keys.begin);
}

/// In a part of the row that sees no other.
static int64_t countInside(const AttentionPattern &pattern, TokenRange queries,
                           TokenRange keys) {
  if (pattern.isCausal) {
    int64_t pairs = countUpTo(queries, keys, 0);
    return pattern.window ? pairs - countUpTo(queries, keys, -*pattern.window)
                          : pairs;
  }
  if (!pattern.window)
    return countAll(queries, keys);
  int64_t side = *pattern.window / 2;
  return countUpTo(queries, keys, side) - countUpTo(queries, keys, -side - 1);
}

int64_t AttentionPattern::countTokens() const {
  return std::accumulate(documents.begin(), documents.end(), int64_t(0));
}

int64_t AttentionPattern::countPairs(llvm::ArrayRef<TokenRange> queries,
                                     llvm::ArrayRef<TokenRange> keys) const {
  int64_t pairs = 0, begin = 0;
  auto countIn = [&](TokenRange part, TokenRange both) {
    for (TokenRange own : queries)
      for (TokenRange other : keys) {
        pairs +=
            countInside(*this, intersect(own, part), intersect(other, part));
        // Those of the prefix that are later.
        TokenRange first = intersect(own, both), all = intersect(other, both);
        pairs += countAll(first, all) - countUpTo(first, all, 0);
      }
  };
  for (int64_t tokens : documents) {
    int64_t end = begin + tokens, each = chunk.value_or(tokens);
    for (int64_t start = begin; start < end; start += each)
      countIn({start, std::min(start + each, end)}, {begin, begin + prefix});
    begin = end;
  }
  return pairs;
}

std::vector<TokenRange> stg::getTokensOf(int64_t device, int64_t devices,
                                         int64_t tokens, bool zigzag) {
  if (!zigzag) {
    int64_t each = tokens / devices;
    return {{device * each, (device + 1) * each}};
  }
  int64_t each = tokens / (2 * devices), last = 2 * devices - 1 - device;
  return {{device * each, (device + 1) * each},
          {last * each, (last + 1) * each}};
}
