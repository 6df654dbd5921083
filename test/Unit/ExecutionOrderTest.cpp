//===- ExecutionOrderTest.cpp - Orders as runs ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/ExecutionOrder.h"
#include "gtest/gtest.h"
#include <random>

using namespace stg;

namespace {

/// What device `device` of `devices` does in 1F1B: forwards are step 0,
/// backwards step 1.
std::vector<OrderEntry>
makeOneForwardOneBackward(uint32_t devices, uint32_t device, uint32_t turns) {
  std::vector<OrderEntry> entries;
  uint32_t ahead = std::min(turns, devices - device - 1);
  for (uint32_t i = 0; i < ahead; ++i)
    entries.push_back({0, i});
  for (uint32_t i = 0; i < turns; ++i) {
    if (i + ahead < turns)
      entries.push_back({0, i + ahead});
    entries.push_back({1, i});
  }
  return entries;
}

TEST(ExecutionOrder, RunsDoNotGrowWithTurns) {
  for (uint32_t turns : {64u, 4096u, 65536u}) {
    auto entries = makeOneForwardOneBackward(16, 5, turns);
    ExecutionOrder order = ExecutionOrder::compress(entries);
    // Warm-up with the first forward after it, the steady part and the end.
    ASSERT_EQ(order.runs.size(), 3u);
    EXPECT_EQ(order.runs[0].times, 11u);
    EXPECT_EQ(order.runs[1].times, turns - 11);
    EXPECT_EQ(order.runs[2].times, 11u);
    EXPECT_EQ(order.runs[1].items.size(), 2u);
    EXPECT_EQ(order.expand(), entries);
  }
}

TEST(ExecutionOrder, TurnsGoBackward) {
  std::vector<OrderEntry> entries;
  for (uint32_t i = 0; i < 100; ++i)
    entries.push_back({0, 99 - i});
  ExecutionOrder order = ExecutionOrder::compress(entries);
  ASSERT_EQ(order.runs.size(), 1u);
  EXPECT_EQ(order.runs[0].times, 100u);
  EXPECT_EQ(order.runs[0].items[0].stride, -1);
  EXPECT_EQ(order.expand(), entries);
}

TEST(ExecutionOrder, AnyOrderComesBack) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<OrderEntry> entries(random() % 200);
    for (OrderEntry &entry : entries)
      entry = {static_cast<uint32_t>(random() % 3),
               static_cast<uint32_t>(random() % (trial % 2 ? 4 : 1000))};
    ExecutionOrder order = ExecutionOrder::compress(entries);
    EXPECT_EQ(order.size(), entries.size());
    EXPECT_EQ(order.expand(), entries);
    ExecutionOrder again;
    ASSERT_TRUE(ExecutionOrder::unflatten(order.flatten(), again));
    EXPECT_EQ(again.expand(), entries);
  }
}

TEST(ExecutionOrder, WhatIsSideBySideIsOfOneRun) {
  std::mt19937 random(13);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<OrderEntry> entries(random() % 200);
    for (size_t i = 0; i < entries.size(); ++i)
      entries[i] = {static_cast<uint32_t>(random() % 3),
                    static_cast<uint32_t>(random() % (trial % 2 ? 4 : 1000)),
                    i > 0 && !entries[i - 1].isBeside && random() % 4 == 0};
    ExecutionOrder order = ExecutionOrder::compress(entries);
    EXPECT_EQ(order.expand(), entries);
    for (const ExecutionOrder::Run &run : order.runs)
      EXPECT_FALSE(run.items.front().isBeside);
    ExecutionOrder again;
    ASSERT_TRUE(ExecutionOrder::unflatten(order.flatten(), again));
    EXPECT_EQ(again.expand(), entries);
  }
  // Forward and backward of the steady part.
  std::vector<OrderEntry> steady = {{0, 0}};
  for (uint32_t i = 0; i < 100; ++i) {
    steady.push_back({1, i});
    steady.push_back({0, i + 1, true});
  }
  ExecutionOrder order = ExecutionOrder::compress(steady);
  EXPECT_TRUE(order.hasPairs());
  ASSERT_EQ(order.runs.size(), 2u);
  EXPECT_EQ(order.runs[1].times, 100u);
  // Neither the first of all nor more than two.
  const int64_t beside = ExecutionOrder::kBeside;
  for (std::vector<int64_t> numbers :
       {std::vector<int64_t>{1, 1, beside, 0, 0},
        {1, 3, 0, 0, 0, 1 + beside, 1, 0, 2 + beside, 2, 0}}) {
    ExecutionOrder wrong;
    EXPECT_FALSE(ExecutionOrder::unflatten(numbers, wrong));
  }
}

/// An order in which each step is executed at most once in a turn.
std::vector<OrderEntry> makeRandom(std::mt19937 &random, uint32_t steps,
                                   uint32_t turns) {
  std::vector<OrderEntry> entries;
  for (uint32_t step = 0; step < steps; ++step)
    for (uint32_t turn = 0; turn < turns; ++turn)
      if (random() % 4 != 0)
        entries.push_back({step, step % 2 ? turns - turn - 1 : turn});
  // Blocks of the order change places, so that there are long runs too.
  for (int i = 0; i < 4 && !entries.empty(); ++i)
    std::rotate(entries.begin(), entries.begin() + random() % entries.size(),
                entries.end());
  return entries;
}

TEST(TurnRanges, ArePlacesOfAllTurns) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    uint32_t steps = 1 + random() % 4, turns = 1 + random() % 30;
    auto entries = trial % 2 ? makeRandom(random, steps, turns)
                             : makeOneForwardOneBackward(16, trial % 16, turns);
    steps = trial % 2 ? steps : 2;
    std::vector<int64_t> places(steps * turns, -1);
    for (size_t i = 0; i < entries.size(); ++i)
      places[entries[i].step * turns + entries[i].turn] = i;
    uint32_t alone = random() % turns;
    TurnRanges ranges(ExecutionOrder::compress(entries), steps, turns, {alone});
    EXPECT_FALSE(ranges.getRepeated().has_value());
    uint32_t next = 0;
    for (size_t range = 0; range < ranges.size(); ++range) {
      uint32_t first = ranges.getFirstTurn(range);
      uint32_t last = ranges.getLastTurn(range);
      ASSERT_EQ(first, next);
      ASSERT_LE(first, last);
      next = last + 1;
      EXPECT_TRUE(alone < first || alone > last || first == last);
      for (uint32_t step = 0; step < steps; ++step) {
        const int64_t *own = &places[step * turns];
        TurnRanges::Places there = ranges.get(step, range);
        EXPECT_EQ(there.first, own[first]);
        EXPECT_EQ(there.last, own[last]);
        for (uint32_t turn = first + 1; turn < last; ++turn)
          EXPECT_EQ(own[turn] - own[turn - 1], own[last] - own[last - 1]);
      }
    }
    EXPECT_EQ(next, turns);
  }
}

TEST(TurnRanges, DoNotGrowWithTurns) {
  for (uint32_t turns : {64u, 4096u}) {
    auto entries = makeOneForwardOneBackward(16, 5, turns);
    // The warm-up, the steady part of both and the end.
    EXPECT_EQ(TurnRanges(ExecutionOrder::compress(entries), 2, turns).size(),
              3u);
  }
}

TEST(TurnRanges, WhatIsThereTwice) {
  for (auto [entries, step, turn] :
       {std::tuple(std::vector<OrderEntry>{{0, 0}, {0, 0}}, 0u, 0u),
        std::tuple(std::vector<OrderEntry>{{0, 0}, {0, 1}, {1, 0}, {0, 1}}, 0u,
                   1u),
        std::tuple(std::vector<OrderEntry>{{1, 3}, {1, 2}, {1, 1}, {1, 2}}, 1u,
                   2u)}) {
    auto repeated =
        TurnRanges(ExecutionOrder::compress(entries), 2, 4).getRepeated();
    ASSERT_TRUE(repeated.has_value());
    EXPECT_EQ(*repeated, (OrderEntry{step, turn}));
  }
}

TEST(ExecutionOrder, NumbersAreChecked) {
  using Numbers = std::vector<int64_t>;
  for (const Numbers &numbers :
       {Numbers{0, 1, 0, 0, 0}, Numbers{1, 0}, Numbers{1}, Numbers{1, 1, 0, 0},
        Numbers{1, 1, -1, 0, 0}, Numbers{1, 1, 0, -1, 0},
        Numbers{3, 1, 0, 1, -1}, Numbers{2, 1, 0, INT32_MAX, 1},
        Numbers{1, INT64_MAX, 0, 0, 0}, Numbers{1, 2, 0, 0, 0}}) {
    ExecutionOrder order;
    EXPECT_FALSE(ExecutionOrder::unflatten(numbers, order));
  }
  ExecutionOrder order;
  EXPECT_TRUE(ExecutionOrder::unflatten(Numbers{3, 1, 0, 2, -1}, order));
  EXPECT_EQ(order.expand(), (std::vector<OrderEntry>{{0, 2}, {0, 1}, {0, 0}}));
}

} // namespace
