//===- EstimateTest.cpp - Times of kernels and of collectives -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/CollectiveCosts.h"
#include "stg/Estimate/KernelTimes.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <array>
#include <cmath>

using namespace llvm;
using namespace stg;

static Machine load(StringRef name, ArrayRef<StringRef> changes = {}) {
  Machine machine = cantFail(Machine::load(name));
  for (StringRef change : changes)
    cantFail(machine.set(change));
  return machine;
}

static KernelTimes getTimes(const Machine &machine) {
  return cantFail(KernelTimes::get(machine, "flash"));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// A second implementation, in another language, gave these.
TEST(KernelTimes, ProductsOfA100) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  auto get = [&](int64_t m, int64_t n, int64_t k, int64_t batch) {
    return times.getProduct(*times.findRates("bf16"), {m, n, k, batch});
  };
  EXPECT_NEAR(get(8192, 8192, 8192, 1), 0.004180445177785879, 1e-12);
  EXPECT_NEAR(get(64, 12288, 12288, 1), 0.0002033770322983305, 1e-12);
  EXPECT_NEAR(get(4096, 1536, 2048, 8), 0.0007878959708348523, 1e-12);
  EXPECT_NEAR(get(2048, 3072, 12288, 1), 0.0005921719781261393, 1e-12);
  EXPECT_NEAR(get(100, 8192, 1024, 1), 1.9147234770976576e-05, 1e-12);
}

TEST(KernelTimes, AttentionOfA100) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  auto get = [&](int64_t batch, int64_t length, int64_t heads, int64_t kvHeads,
                 bool isBackward = false) {
    return times.getAttention(
        *times.findRates("bf16"),
        {heads,
         kvHeads,
         128,
         128,
         isBackward,
         {{batch, length, double(length), double(length * (length + 1) / 2)}}});
  };
  EXPECT_NEAR(get(1, 2048, 64, 8), 0.000494528618628667, 1e-12);
  EXPECT_NEAR(get(1, 512, 16, 1), 3.081949628394248e-05, 1e-12);
  EXPECT_NEAR(get(4, 4096, 32, 32), 0.003449578850916128, 1e-12);
  EXPECT_NEAR(get(1, 384, 2, 2), 2.5838794872146723e-05, 1e-12);
  EXPECT_NEAR(get(1, 2048, 64, 8, true), 3 * 0.000494528618628667, 1e-12);
}

// 792 tiles of 256 x 128 are 8 waves on 108 cores, 864 would be, too.
TEST(KernelTimes, WavesAreWhole) {
  Machine machine = load("a100-80gb-dgx", {"device.product.bf16.ceiling=1"});
  KernelTimes times = getTimes(machine);
  const ProductRates &rates = *times.findRates("bf16");
  double partial = times.getProduct(rates, {256 * 72, 128 * 11, 8192});
  EXPECT_DOUBLE_EQ(partial,
                   times.getProduct(rates, {256 * 72, 128 * 12, 8192}));
  EXPECT_DOUBLE_EQ(partial, 5e-6 + 8 * (2. * 256 * 128) * (8192 + 194.7) /
                                       (312e12 / 108 * 0.993));
}

TEST(KernelTimes, PowerClockAndAlignment) {
  Machine machine =
      load("a100-80gb-dgx",
           {"device.product.bf16.ceiling=0.5", "device.product.bf16.fixed=0",
            "device.sustained=0.8", "device.unaligned=0.25"});
  KernelTimes times = getTimes(machine);
  const ProductRates &rates = *times.findRates("bf16");
  double power = 2. * 8192 * 8192 * 8192 / (312e12 * 0.5 * 0.8);
  EXPECT_DOUBLE_EQ(times.getProduct(rates, {8192, 8192, 8192}), power);
  double odd = 2. * 8192 * 8191 * 8192 / (312e12 * 0.5 * 0.8);
  EXPECT_DOUBLE_EQ(times.getProduct(rates, {8192, 8191, 8192}), odd / 0.25);
  EXPECT_DOUBLE_EQ(times.getProduct(rates, {8192, 8192, 8191}), odd / 0.25);
  EXPECT_DOUBLE_EQ(times.getProduct(rates, {8191, 8192, 8192}), odd);
}

// Windows overlap, so a convolution reads less than its product has operands.
TEST(KernelTimes, BytesOfConvolutions) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  const ProductRates &rates = *times.findRates("bf16");
  ProductShape shape{1 << 20, 8, 8};
  double whole = times.getProduct(rates, shape);
  shape.bytes = 0;
  EXPECT_LE(times.getProduct(rates, shape), whole);
  shape.bytes = 1e12;
  EXPECT_DOUBLE_EQ(times.getProduct(rates, shape),
                   rates.fixed + 1e12 / rates.bandwidth);
}

TEST(KernelTimes, OperationsWithoutShape) {
  Machine machine = load("a100-80gb-dgx", {"device.product.bf16.rate=0.9",
                                           "device.product.bf16.ceiling=0.8",
                                           "device.sustained=0.5"});
  KernelTimes times = getTimes(machine);
  EXPECT_DOUBLE_EQ(times.getOperations(*times.findRates("bf16"), 312e12 * 0.4),
                   1);
}

TEST(KernelTimes, ShapesOfTraces) {
  auto derive = [](int64_t batch, int64_t m, int64_t n, int64_t k) {
    return deriveProduct(2 * batch * m * n * k, batch * m * k, batch * k * n,
                         batch * m * n);
  };
  for (auto [batch, m, n, k] : {std::array<int64_t, 4>{1, 8192, 6144, 2048},
                                {1, 1, 1, 1},
                                {8, 4096, 1536, 2048},
                                {512, 1024, 1024, 64},
                                {1, 131072, 128256, 16384}}) {
    std::optional<ProductShape> shape = derive(batch, m, n, k);
    ASSERT_TRUE(shape);
    EXPECT_EQ(shape->batch, batch);
    EXPECT_EQ(shape->m, m);
    EXPECT_EQ(shape->n, n);
    EXPECT_EQ(shape->k, k);
  }
  // A part of an operand, no operations, half an operation.
  EXPECT_FALSE(deriveProduct(2 * 8 * 8 * 8, 64, 32, 64));
  EXPECT_FALSE(deriveProduct(0, 64, 64, 64));
  EXPECT_FALSE(deriveProduct(1023, 64, 64, 64));
}

TEST(KernelTimes, BoundByMemory) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  EXPECT_DOUBLE_EQ(times.getElementwise(2.04e9), 3e-6 + 1e-3 / 0.8);
  // A row by a matrix reads the matrix.
  EXPECT_DOUBLE_EQ(
      times.getProduct(*times.findRates("bf16"), {8, 16384, 16384}),
      5e-6 + (2. * (8. * 16384 + 16384. * 16384) + 2. * 8 * 16384) /
                 (2.04e12 * 0.754));
}

// A type without a table of its own has the shares of bf16 and its own peak.
TEST(KernelTimes, TypesAndKernels) {
  Machine machine = load("b300-dgx");
  KernelTimes times = getTimes(machine);
  EXPECT_EQ(times.findRates("f64"), nullptr);
  ASSERT_TRUE(times.findRates("fp4"));
  EXPECT_EQ(times.findRates("fp4")->peak, 15e15);
  EXPECT_EQ(times.findRates("fp4")->tiles[0], 0.45);
  EXPECT_EQ(times.findRates("f16")->tiles[0], 0.703);
  EXPECT_EQ(times.findRates("fp8")->tiles[0], 0.532);
  // Of a kernel that a machine does not have it has its own.
  auto getAttention = [&](StringRef machineName, StringRef kernel) {
    Expected<KernelTimes> times = KernelTimes::get(load(machineName), kernel);
    EXPECT_TRUE(bool(times));
    return times->getAttention(
        *times->findRates("bf16"),
        {64, 8, 128, 128, false, {{8, 4096, 4096, 4096}}});
  };
  EXPECT_NE(getAttention("b300-dgx", "cudnn"),
            getAttention("b300-dgx", "flash"));
  EXPECT_EQ(getAttention("b300-dgx", "slow"),
            getAttention("b300-dgx", "flash"));
  EXPECT_EQ(getAttention("mi300x", "cudnn"), getAttention("mi300x", "flash"));
}

/// What fused attention takes: `unit` are the operations of a block of queries
/// and a block of keys of 128 elements each.
struct FlashNumbers {
  double overhead, fixed, rate, unit, cores;
};
static FlashNumbers getFlash(const Machine &machine) {
  auto value = [&](StringRef key) { return *machine.get(key); };
  return {value("device.attention.flash.block_overhead"),
          value("device.attention.flash.fixed"),
          value("device.peak.bf16") * value("device.attention.flash.rate"),
          4. * 128 * 128 * 128, value("device.cores")};
}

// A token after 2048 others, 64 heads on 8 of keys: a block of 8 queries for
// each of the 8, whose 16 blocks of keys idle cores share.
TEST(KernelTimes, FewQueries) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  auto get = [&](int64_t batch) {
    return times.getAttention(
        *times.findRates("bf16"),
        {64, 8, 128, 128, false, {{batch, 1, 2048, 2048}}});
  };
  auto [overhead, fixed, rate, unit, cores] = getFlash(machine);
  EXPECT_EQ(cores, 108);
  EXPECT_NEAR(get(1),
              fixed + (16 / (108. / 8) + overhead) * unit * cores / rate,
              1e-12);
  double bytes = 2. * 128 * 64 * (2 * 64 + 2 * 2048. * 8);
  double memory = bytes / (*machine.get("device.memory.bandwidth") *
                           *machine.get("device.kernel.memory_share"));
  double work = (16 + overhead) * unit * (64 * 8 + cores * (216. / 512) / 2);
  EXPECT_NEAR(get(64), fixed + std::max(work / rate, memory), 1e-12);
}

// A prompt beside tokens: work and bytes are those of both, blocks are spread
// over the cores together, and the prompt has the longest.
TEST(KernelTimes, SequencesOfSeveralLengths) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  using Sequences = AttentionShape::Sequences;
  Sequences prompt = {1, 4096, 4096, 4096. * 4097 / 2};
  Sequences tokens = {32, 1, 8192, 8192};
  auto get = [&](ArrayRef<Sequences> sequences) {
    AttentionShape shape = {64, 8, 128, 128, false, {}};
    shape.sequences.assign(sequences.begin(), sequences.end());
    return times.getAttention(*times.findRates("bf16"), shape);
  };
  auto [overhead, fixed, rate, unit, cores] = getFlash(machine);
  // 32 blocks of queries for each of 64 heads, and one for each of 8.
  double blocks = 32 * 64 + 32 * 8;
  double ofPrompt = 64 * ((prompt.pairs - 2048) / (128 * 128) + 16);
  double ofTokens = 32 * 8 * 64, all = ofPrompt + ofTokens;
  // As many of one size would vary as much.
  double alike =
      all * all /
      (ofPrompt * ofPrompt / (32 * 64) + ofTokens * ofTokens / (32 * 8));
  double tail = (64 + overhead) * cores / 2 * (2 * cores / alike);
  EXPECT_NEAR(get({prompt, tokens}),
              fixed + (all + blocks * overhead + tail) * unit / rate, 1e-12);
  // The same in two parts.
  Sequences half = {16, 1, 8192, 8192};
  EXPECT_DOUBLE_EQ(get({tokens}), get({half, half}));
}

// Keys before new tokens are divided however many these are, of each sequence
// by itself: a prompt beside a token with many keys takes what it adds.
TEST(KernelTimes, KeysBeforeNewTokensAreDivided) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  using Sequences = AttentionShape::Sequences;
  auto get = [&](ArrayRef<Sequences> sequences) {
    AttentionShape shape = {8, 1, 128, 128, false, {}};
    shape.sequences.assign(sequences.begin(), sequences.end());
    return times.getAttention(*times.findRates("bf16"), shape);
  };
  auto expected = [&](double blocksOfKeys) {
    auto [overhead, fixed, rate, unit, cores] = getFlash(machine);
    return fixed + (blocksOfKeys / 108 + overhead) * unit * 108 / rate;
  };
  const double many = 131072;
  Sequences token = {1, 1, many, many};
  Sequences prompt = {1, 128, 128, 128. * 129 / 2};
  Sequences some = {1, 127, many, 127 * many - 127. * 126 / 2};
  Sequences more = {1, 128, many, 128 * many - 128. * 127 / 2};
  EXPECT_NEAR(get({token}), expected(1024), 1e-12);
  EXPECT_NEAR(get({token, prompt}), expected(1024 + 8), 1e-12);
  EXPECT_NEAR(get({some}), expected(8 * 1024), 1e-12);
  double work = (more.pairs - 64) / (128 * 128) + 0.5;
  EXPECT_NEAR(get({more}), expected(8 * work), 1e-12);
  // A prompt's own keys are not: its last block has all four of them.
  EXPECT_NEAR(get({{1, 512, 512, 512. * 513 / 2}}), expected(4 * 108), 1e-12);
}

TEST(KernelTimes, BytesOfAttention) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  AttentionShape shape = {64, 8, 128, 128, false, {{64, 1, 2048, 2048}}};
  auto get = [&] {
    return times.getAttention(*times.findRates("bf16"), shape);
  };
  double bandwidth = *machine.get("device.memory.bandwidth") *
                     *machine.get("device.kernel.memory_share");
  double fixed = getFlash(machine).fixed;
  double elements = 128. * 64 * (2 * 64 + 2 * 2048. * 8);
  shape.elementBytes = 4;
  EXPECT_NEAR(get(), fixed + elements * 4 / bandwidth, 1e-12);
  shape.bytes = 1e10;
  EXPECT_NEAR(get(), fixed + 1e10 / bandwidth, 1e-12);
}

// Heads of 64 have half of the products of heads of 128, and as many
// exponentials.
TEST(KernelTimes, SmallHeads) {
  Machine machine = load("h100-80gb-dgx");
  auto get = [&](double softmax, int64_t headSize) {
    EXPECT_EQ(toString(machine.set("device.attention.flash.softmax=" +
                                   std::to_string(softmax))),
              "");
    KernelTimes times = getTimes(machine);
    AttentionShape shape = {
        32, 32, headSize, headSize, false, {{4, 8192, 8192, 8192. * 8193 / 2}}};
    return times.getAttention(*times.findRates("bf16"), shape) -
           getFlash(machine).fixed;
  };
  EXPECT_NEAR(get(0.25, 64), get(0, 64) * 1.25, 1e-12);
  EXPECT_NEAR(get(1, 64), get(0, 128), 1e-12);
  EXPECT_EQ(get(0.25, 128), get(0, 128));
  EXPECT_EQ(get(0.25, 256), get(0, 256));
}

// Keys of 192 and values of 128: backward has three products over the one and
// two over the other, for one of each.
TEST(KernelTimes, HeadsOfTwoSizes) {
  Machine machine = load("h100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  auto get = [&](int64_t keys, int64_t values, bool isBackward) {
    AttentionShape shape = {
        32, 32, keys, values, isBackward, {{4, 8192, 8192, 8192. * 8192}}};
    return times.getAttention(*times.findRates("bf16"), shape);
  };
  double fixed = getFlash(machine).fixed;
  double backward = 2.5 * *machine.get("device.attention.flash.backward");
  double forward = get(128, 128, false) - fixed;
  EXPECT_NEAR(get(192, 128, false), fixed + forward * 320 / 256, 1e-12);
  EXPECT_NEAR(get(192, 128, true), backward * (fixed + forward * 832 / 640),
              1e-12);
  EXPECT_DOUBLE_EQ(get(128, 192, false), get(192, 128, false));
  EXPECT_NEAR(get(128, 192, true), backward * (fixed + forward * 768 / 640),
              1e-12);
}

// Of a window no block sees more than twice its keys: a row of 8192 in windows
// of 512 takes no longer than one whose keys all are so near.
TEST(KernelTimes, Windows) {
  Machine machine = load("a100-80gb-dgx");
  KernelTimes times = getTimes(machine);
  auto get = [&](double keys, double pairs) {
    AttentionShape shape = {32, 8, 128, 128, false, {{1, 8192, keys, pairs}}};
    return times.getAttention(*times.findRates("bf16"), shape);
  };
  double pairs = 8192. * 512 - 512. * 511 / 2;
  EXPECT_LT(get(8192, pairs), get(8192, 8192. * 8193 / 2) / 4);
  EXPECT_DOUBLE_EQ(get(8192, pairs), get(1024, pairs));
  // 64 blocks of queries, each with a block more than its pairs are.
  auto [overhead, fixed, rate, unit, cores] = getFlash(machine);
  double all = 32 * ((pairs - 4096) / (128 * 128) + 64), blocks = 32 * 64;
  double tail =
      (2 * pairs / 8192 / 128 + overhead) * cores / 2 * (2 * cores / blocks);
  EXPECT_NEAR(get(8192, pairs),
              fixed + (all + blocks * overhead + tail) * unit / rate, 1e-12);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

TEST(CollectiveCosts, MeasuredTimes) {
  Machine machine = load("a100-80gb-dgx");
  CollectiveCosts costs(machine);
  ArrayRef<CollectiveTimes> times =
      machine.getTiers()[0].times.at("all_reduce");
  ASSERT_EQ(times.back().ranks, 8);
  const auto &points = times.back().points;
  EXPECT_DOUBLE_EQ(costs.getCollective("all_reduce", {8, 1}, points[5].first),
                   points[5].second);
  // Between two points: the middle on logarithms.
  EXPECT_NEAR(costs.getCollective("all_reduce", {8, 1},
                                  std::sqrt(points[5].first * points[6].first)),
              std::sqrt(points[5].second * points[6].second), 1e-12);
  EXPECT_DOUBLE_EQ(
      costs.getCollective("all_reduce", {8, 1}, 4 * points.back().first),
      4 * points.back().second);
  EXPECT_EQ(costs.getCollective("all_reduce", {8, 1}, 1),
            points.front().second);
  EXPECT_EQ(costs.getCollective("all_reduce", {1, 8}, 1e9), 0);
}

// 6 ranks take what 4 took, by volume, and 2 steps of latency more: trees have
// 2 log2(n) + 2 steps, which are fewer than 2 (n - 1).
TEST(CollectiveCosts, RanksBetweenMeasuredOnes) {
  Machine machine = load("a100-80gb-dgx");
  CollectiveCosts costs(machine);
  double four = costs.getCollective("all_reduce", {4, 1}, 1 << 26);
  double steps = (2 * std::log2(6.) + 2) - (2 * std::log2(4.) + 2);
  EXPECT_NEAR(costs.getCollective("all_reduce", {6, 1}, 1 << 26),
              four * (5. / 6) / (3. / 4) + steps * 3.4e-6, 1e-12);
}

TEST(CollectiveCosts, AcrossNodes) {
  Machine machine = load("a100-80gb-dgx");
  CollectiveCosts costs(machine);
  EXPECT_EQ(costs.getTier({8, 1}), "nvlink");
  EXPECT_EQ(costs.getTier({8, 2}), "network");
  double bytes = 1 << 30, link = 25e9 * 0.9;
  // A rank in each of 4 nodes.
  EXPECT_NEAR(costs.getCollective("all_gather", {4, 8}, bytes),
              3 * 14e-6 + 0.75 * bytes / link, 1e-12);
  // All ranks of 4 nodes: 8 rings share what is sent, and each goes through all
  // ranks.
  EXPECT_NEAR(costs.getCollective("reduce_scatter", {32, 1}, bytes),
              3 * 14e-6 + 28 * 3.4e-6 + 31. / 32 * bytes / (8 * link), 1e-12);
  // Sums of 64 nodes go through trees.
  EXPECT_NEAR(costs.getCollective("all_reduce", {512, 1}, bytes),
              14 * 14e-6 + 2 * 511. / 512 * bytes / (8 * link), 1e-12);
  // Of what a rank has for others, 24 of 32 leave the node, through one link.
  EXPECT_NEAR(costs.getCollective("all_to_all", {32, 1}, bytes),
              costs.getCollective("all_to_all", {8, 1}, bytes / 4) + 3 * 14e-6 +
                  0.75 * bytes / link,
              1e-12);
  // Between neighbours in a node, and in two.
  EXPECT_NEAR(costs.getMessage(6, 7, bytes), 3.4e-6 + bytes / (300e9 * 0.8),
              1e-12);
  EXPECT_NEAR(costs.getMessage(7, 8, bytes), 14e-6 + bytes / link, 1e-12);
  EXPECT_NEAR(costs.getMessage(8, 0, bytes), 14e-6 + bytes / link, 1e-12);
}

// What is between nodes of groups with 2 or 4 of the 8 devices of a node; those
// with one, and with all, have all of their links.
TEST(CollectiveCosts, GroupsWithPartsOfNodes) {
  Machine machine = load("a100-80gb-dgx");
  CollectiveCosts whole(machine);
  EXPECT_EQ(toString(machine.set("network.network.partial_share=0.25")), "");
  CollectiveCosts partial(machine);
  double bytes = 1 << 30, link = 25e9 * 0.9;
  auto getMore = [&](GroupPlace place) {
    return partial.getCollective("all_gather", place, bytes) -
           whole.getCollective("all_gather", place, bytes);
  };
  EXPECT_NEAR(getMore({8, 4}), 3 * 7. / 8 * bytes / (2 * link), 1e-12);
  EXPECT_NEAR(getMore({16, 2}), 3 * 15. / 16 * bytes / (4 * link), 1e-12);
  EXPECT_EQ(getMore({4, 8}), 0);
  EXPECT_EQ(getMore({32, 1}), 0);
  EXPECT_EQ(getMore({4, 2}), 0);
}

// Of 8 copies of a token for experts anywhere, one is sent to each of the
// places that at least one is for.
TEST(CollectiveCosts, TokensThatAreSentOnce) {
  Machine machine = load("a100-80gb-dgx");
  CollectiveCosts costs(machine);
  double bytes = 1 << 30, link = 25e9 * 0.9;
  auto distinct = [](double places) {
    return places * (1 - std::pow(1 - 1 / places, 8)) / 8;
  };
  ExpertChoice choice{8};
  EXPECT_DOUBLE_EQ(
      costs.getCollective("all_to_all", {8, 1}, bytes, choice),
      costs.getCollective("all_to_all", {8, 1}, bytes * distinct(8)));
  EXPECT_NEAR(costs.getCollective("all_to_all", {32, 1}, bytes, choice),
              costs.getCollective("all_to_all", {8, 1}, bytes * distinct(32)) +
                  3 * 14e-6 + 0.75 * bytes * distinct(4) / link,
              1e-12);
  EXPECT_EQ(costs.getCollective("all_to_all", {32, 1}, bytes, ExpertChoice{1}),
            costs.getCollective("all_to_all", {32, 1}, bytes));
}

/// The mean number of places over all choices, each of them made.
static double countPlacesByHand(unsigned experts, unsigned chosen,
                                unsigned groups, unsigned limit,
                                unsigned places) {
  double all = 0, sum = 0;
  unsigned ofGroup = experts / groups, ofPlace = experts / places;
  for (unsigned open = 0; open < 1u << groups; ++open)
    for (unsigned set = 0; set < 1u << experts; ++set) {
      unsigned hit = 0;
      bool isPossible = llvm::popcount(open) == int(limit) &&
                        llvm::popcount(set) == int(chosen);
      for (unsigned i = 0; i < experts && isPossible; ++i)
        if (set >> i & 1) {
          isPossible = open >> i / ofGroup & 1;
          hit |= 1u << i / ofPlace;
        }
      if (isPossible)
        ++all, sum += llvm::popcount(hit);
    }
  return sum / all;
}

TEST(CollectiveCosts, PlacesOfChosenExperts) {
  for (auto [chosen, groups, limit, places] :
       std::vector<std::array<unsigned, 4>>{{2, 1, 1, 4},
                                            {3, 4, 2, 4},
                                            {3, 4, 2, 2},
                                            {3, 4, 3, 2},
                                            {2, 4, 2, 8},
                                            {2, 2, 1, 4},
                                            {3, 4, 4, 2}})
    EXPECT_NEAR((ExpertChoice{double(chosen), 8, double(groups), double(limit)})
                    .countPlaces(places),
                countPlacesByHand(8, chosen, groups, limit, places), 1e-12)
        << chosen << " " << groups << " " << limit << " " << places;
  // 256 experts, of which a token chooses 8: on 8 nodes and 64 ranks, without
  // groups, and those of 4 of 8 groups.
  ExpertChoice any{8, 256}, grouped{8, 256, 8, 4};
  EXPECT_NEAR(any.countPlaces(8), 5.29465, 5e-6);
  EXPECT_NEAR(any.countPlaces(64), 7.67575, 5e-6);
  EXPECT_NEAR(grouped.countPlaces(8), 3.62901, 5e-6);
  EXPECT_NEAR(grouped.countPlaces(64), 7.35937, 5e-6);
}

TEST(CollectiveCosts, InTheNetwork) {
  double bytes = 1 << 30;
  Machine hardware = load("two-tier-64");
  Machine software = load("two-tier-64-software");
  double link = 1600e9 * 0.8;
  EXPECT_NEAR(
      CollectiveCosts(hardware).getCollective("all_reduce", {64, 1}, bytes),
      0.5e-6 + bytes * (1 + 1. / 64) / link, 1e-12);
  EXPECT_NEAR(
      CollectiveCosts(software).getCollective("all_reduce", {64, 1}, bytes),
      0.5e-6 + 2 * bytes * (1 - 1. / 64) / link, 1e-12);
}

// What a network does for all is more than two have to send.
TEST(CollectiveCosts, TwoRanksExchange) {
  Machine machine = load("fullflat"), software = load("fullflat-software");
  CollectiveCosts costs(machine), others(software);
  const double bandwidth = 1600e9 * 0.8, latency = 0.5e-6;
  auto get = [&](StringRef name, int64_t ranks) {
    return costs.getCollective(name, {ranks, 1}, 1e9) - latency;
  };
  EXPECT_DOUBLE_EQ(get("all_reduce", 2), 1e9 / bandwidth);
  EXPECT_DOUBLE_EQ(get("all_reduce", 4), 1.25e9 / bandwidth);
  EXPECT_DOUBLE_EQ(get("all_gather", 2), 0.5e9 / bandwidth);
  EXPECT_DOUBLE_EQ(get("all_gather", 3), 1e9 / bandwidth);
  for (StringRef name :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"})
    for (int64_t ranks : {2, 4, 8, 64})
      EXPECT_LE(costs.getCollective(name, {ranks, 1}, 1e9),
                others.getCollective(name, {ranks, 1}, 1e9) * (1 + 1e-12));
}

TEST(CollectiveCosts, LinksOfDevices) {
  double bytes = 1 << 30;
  Machine pairs = load("mi300x");
  // All pairs at once; a sum is scattered, and then gathered.
  EXPECT_NEAR(CollectiveCosts(pairs).getCollective("all_gather", {8, 1}, bytes),
              5e-6 + 7. / 8 * bytes / (7 * 64e9 * 0.8), 1e-12);
  EXPECT_NEAR(CollectiveCosts(pairs).getCollective("all_reduce", {8, 1}, bytes),
              2 * 5e-6 + 2 * 7. / 8 * bytes / (7 * 64e9 * 0.8), 1e-12);
  // A job of 64 ranks has a torus of 4 x 4 x 4: a ring in one dimension, and
  // rings in two and in three.
  Machine torus = load("tpu-v4");
  CollectiveCosts costs(torus, /*hasDirect=*/false, /*ranks=*/64);
  EXPECT_NEAR(costs.getCollective("all_gather", {4, 1}, bytes),
              3 * 1e-6 + 0.75 * bytes / (2 * 50e9), 1e-12);
  EXPECT_NEAR(costs.getCollective("all_gather", {64, 1}, bytes),
              14 * 1e-6 + 63. / 64 * bytes / (6 * 50e9), 1e-12);
  EXPECT_NEAR(costs.getCollective("all_gather", {16, 4}, bytes),
              10 * 1e-6 + 15. / 16 * bytes / (4 * 50e9), 1e-12);
  // One of 128 ranks has 4 x 4 x 8, and the whole machine 16 x 16 x 16.
  CollectiveCosts larger(torus, /*hasDirect=*/false, /*ranks=*/128);
  for (const CollectiveCosts &wide : {larger, CollectiveCosts(torus)})
    EXPECT_NEAR(wide.getCollective("all_gather", {8, 1}, bytes),
                7 * 1e-6 + 7. / 8 * bytes / (2 * 50e9), 1e-12);
  EXPECT_NEAR(
      CollectiveCosts(torus).getCollective("all_gather", {64, 1}, bytes),
      14 * 1e-6 + 63. / 64 * bytes / (4 * 50e9), 1e-12);
  // In an all-to-all a part for each rank of a ring of four goes over 0, 1, 1
  // and 2 links, and in each of three dimensions over as many.
  EXPECT_NEAR(costs.getCollective("all_to_all", {4, 1}, bytes),
              3 * 1e-6 + 4. / 4 * bytes / (2 * 50e9), 1e-12);
  EXPECT_NEAR(costs.getCollective("all_to_all", {64, 1}, bytes),
              14 * 1e-6 + 3 * 4. / 4 * bytes / (6 * 50e9), 1e-12);
}

//===----------------------------------------------------------------------===//
// More of anything is never slower
//===----------------------------------------------------------------------===//

TEST(Estimates, TwiceTheResourceIsNotSlower) {
  for (const std::string &name : Machine::listNames()) {
    Machine before = load(name);
    for (const auto &[key, quantity] : before.getQuantities()) {
      StringRef last = StringRef(key).rsplit('.').second;
      if (last != "bandwidth" && !StringRef(key).starts_with("device.peak."))
        continue;
      std::string change =
          key + "=" + std::to_string(quantity.given * 2) + quantity.unit;
      Machine after = before;
      ASSERT_FALSE(errorToBool(after.set(change)));
      CollectiveCosts slow(before), fast(after);
      KernelTimes few = cantFail(KernelTimes::get(before, "flash"));
      KernelTimes many = cantFail(KernelTimes::get(after, "flash"));
      for (int64_t size = 1 << 10; size <= 1 << 30; size <<= 4) {
        for (int64_t ranks : {2, 8, 24, 512})
          for (int64_t stride : {1, 4, 64})
            for (StringRef op : getMachineCollectives())
              EXPECT_LE(fast.getCollective(op, {ranks, stride}, size),
                        slow.getCollective(op, {ranks, stride}, size) *
                            (1 + 1e-12))
                  << change << " " << op.str();
        ProductShape shape{size >> 8, 4096, 1024};
        EXPECT_LE(many.getProduct(*many.findRates("bf16"), shape),
                  few.getProduct(*few.findRates("bf16"), shape))
            << change;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Places of groups
//===----------------------------------------------------------------------===//

// Of tp 4, pp 2, dp 8 a group over tp and dp is not in a row: 8 neighbours have
// 4 of its ranks, 64 all 32 of them.
TEST(GroupPlace, AxesThatAreApart) {
  GroupPlace place(4, 1);
  place.add(8, 8);
  EXPECT_EQ(place.getRanks(), 32);
  EXPECT_EQ(place.getLocal(8).getRanks(), 4);
  EXPECT_EQ(place.getLocal(16).getRanks(), 8);
  EXPECT_EQ(place.getLocal(64).getRanks(), 32);
  EXPECT_EQ(place.getLocal(1).getRanks(), 1);
}
