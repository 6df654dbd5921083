//===- AttentionPairsTest.cpp - Pairs that masks leave --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Analysis/AttentionPairs.h"
#include "gtest/gtest.h"

using namespace stg;

namespace {
/// The definition of a pattern, pair by pair.
bool sees(const AttentionPattern &pattern, int64_t query, int64_t key) {
  int64_t begin = 0;
  for (int64_t tokens : pattern.documents) {
    if (query < begin + tokens) {
      if (key < begin || key >= begin + tokens)
        return false;
      break;
    }
    begin += tokens;
  }
  query -= begin;
  key -= begin;
  if (pattern.chunk && query / *pattern.chunk != key / *pattern.chunk)
    return false;
  if (pattern.isCausal && key > query)
    return query < pattern.prefix && key < pattern.prefix;
  if (!pattern.window)
    return true;
  return pattern.isCausal ? query - key < *pattern.window
                          : std::abs(query - key) <= *pattern.window / 2;
}

int64_t countOneByOne(const AttentionPattern &pattern,
                      llvm::ArrayRef<TokenRange> queries,
                      llvm::ArrayRef<TokenRange> keys) {
  int64_t pairs = 0;
  for (TokenRange own : queries)
    for (TokenRange other : keys)
      for (int64_t query = own.begin; query < own.end; ++query)
        for (int64_t key = other.begin; key < other.end; ++key)
          pairs += sees(pattern, query, key);
  return pairs;
}

std::vector<AttentionPattern> getPatterns() {
  std::vector<AttentionPattern> patterns;
  std::vector<std::vector<int64_t>> rows = {{48}, {5, 1, 30, 12}, {24, 24}};
  for (const auto &documents : rows)
    for (bool isCausal : {true, false}) {
      AttentionPattern plain{isCausal, {}, {}, 0, documents};
      patterns.push_back(plain);
      for (int64_t tokens : {1, 4, 7, 100}) {
        AttentionPattern window = plain, chunk = plain;
        window.window = tokens;
        chunk.chunk = tokens;
        patterns.insert(patterns.end(), {window, chunk});
      }
    }
  for (int64_t prefix : {1, 7, 30, 48})
    patterns.push_back({true, {}, {}, prefix, {48}});
  return patterns;
}

TEST(AttentionPairs, AreThoseThatTheMaskLeaves) {
  for (const AttentionPattern &pattern : getPatterns())
    for (int64_t devices : {1, 2, 4, 8})
      for (bool zigzag : {false, true})
        for (int64_t own = 0; own < devices; ++own) {
          auto queries =
              getTokensOf(own, devices, pattern.countTokens(), zigzag);
          for (int64_t other = 0; other < devices; ++other) {
            auto keys =
                getTokensOf(other, devices, pattern.countTokens(), zigzag);
            ASSERT_EQ(pattern.countPairs(queries, keys),
                      countOneByOne(pattern, queries, keys))
                << devices << " devices, " << own << " and " << other;
          }
        }
}

TEST(AttentionPairs, EachTokenIsOnOneDevice) {
  for (bool zigzag : {false, true}) {
    std::vector<int> seen(48);
    for (int64_t device = 0; device < 4; ++device)
      for (TokenRange range : getTokensOf(device, 4, 48, zigzag))
        for (int64_t token = range.begin; token < range.end; ++token)
          ++seen[token];
    EXPECT_EQ(seen, std::vector<int>(48, 1));
  }
}
} // namespace
