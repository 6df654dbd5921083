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
