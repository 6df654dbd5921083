//===- PipelineScheduleTest.cpp - Tests of pipeline schedules -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Schedules against published closed forms for bubbles, activations and
// messages. In formulas p is the number of devices, v of virtual stages on
// each, m of micro-batches, i is the device.
//
//===----------------------------------------------------------------------===//

#include "stg/Schedule/PipelineSchedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace stg;

namespace {

using Kind = PipelineAction::Kind;
using Counts = std::vector<unsigned>;

/// Durations that tell the terms of a formula apart, with `backwardWeight` the
/// shortest.
const ActionTimes unequalTimes[] = {
    {1, 1, 1}, {2, 3, 1}, {10, 12, 8}, {7, 7, 0}, {100, 230, 99}};

std::string getMessage(llvm::Error error) {
  return llvm::toString(std::move(error));
}

PipelineSchedule make(llvm::StringRef name, unsigned p, unsigned m,
                      unsigned v = 1, bool pairs = false) {
  llvm::Expected<PipelineSchedule> schedule =
      makeSchedule(name, {p, v, m, pairs});
  if (!schedule) {
    ADD_FAILURE() << getMessage(schedule.takeError());
    return {};
  }
  return *schedule;
}

std::string getError(llvm::StringRef name, unsigned p, unsigned m,
                     unsigned v = 1, bool pairs = false) {
  llvm::Expected<PipelineSchedule> schedule =
      makeSchedule(name, {p, v, m, pairs});
  return schedule ? "no error" : getMessage(schedule.takeError());
}

ScheduleTimes run(const PipelineSchedule &schedule, const ActionTimes &times) {
  llvm::Expected<ScheduleTimes> result = simulate(schedule, times);
  if (!result) {
    ADD_FAILURE() << getMessage(result.takeError());
    return {};
  }
  return *result;
}

int64_t getSum(const ActionTimes &times) {
  return times.forward + times.backwardInput + times.backwardWeight;
}

/// The idle time of each device, which must be the same for all.
int64_t getBubble(const PipelineSchedule &schedule, const ActionTimes &times) {
  ScheduleTimes result = run(schedule, times);
  int64_t work = int64_t(schedule.numMicroBatches) * schedule.numVirtualStages /
                 schedule.numDevices * getSum(times);
  for (int64_t busy : result.busy)
    EXPECT_EQ(busy, work);
  return result.makespan - work;
}

/// The actions of a device, with spaces between, or bars where they are side by
/// side.
std::string print(const PipelineSchedule &schedule, unsigned device) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const PipelineAction &action : schedule.actions[device])
    os << (text.empty() ? "" : action.isBeside ? "|" : " ") << action;
  return text;
}

/// Calls `check(p, m)` for the sizes that closed forms are compared at.
template <typename Check> void forEachSize(Check check) {
  for (unsigned p : {1, 2, 3, 4, 8})
    for (unsigned rounds : {1, 2, 4}) {
      SCOPED_TRACE("p = " + std::to_string(p) +
                   ", m = " + std::to_string(p * rounds));
      check(p, p * rounds);
    }
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

TEST(PipelineSchedule, OrdersOfTwoDevices) {
  PipelineSchedule gpipe = make("gpipe", 2, 3);
  EXPECT_EQ(print(gpipe, 0), "F0.0 F0.1 F0.2 B0.2 B0.1 B0.0");
  EXPECT_EQ(print(gpipe, 1), "F1.0 F1.1 F1.2 B1.2 B1.1 B1.0");
  PipelineSchedule oneByOne = make("1f1b", 2, 3);
  EXPECT_EQ(print(oneByOne, 0), "F0.0 F0.1 B0.0 F0.2 B0.1 B0.2");
  EXPECT_EQ(print(oneByOne, 1), "F1.0 B1.0 F1.1 B1.1 F1.2 B1.2");
  PipelineSchedule zeroBubble = make("zb-h1", 2, 3);
  EXPECT_EQ(print(zeroBubble, 0),
            "F0.0 F0.1 I0.0 W0.0 F0.2 I0.1 W0.1 I0.2 W0.2");
  EXPECT_EQ(print(zeroBubble, 1),
            "F1.0 I1.0 F1.1 I1.1 W1.0 F1.2 I1.2 W1.1 W1.2");
}

TEST(PipelineSchedule, InterleavedTakesRoundsThroughItsStages) {
  PipelineSchedule schedule = make("interleaved", 2, 4, 2);
  EXPECT_EQ(schedule.deviceOf, Counts({0, 1, 0, 1}));
  EXPECT_EQ(print(schedule, 0),
            "F0.0 F0.1 F2.0 F2.1 F0.2 B2.0 F0.3 B2.1 F2.2 B0.0 F2.3 B0.1 "
            "B2.2 B2.3 B0.2 B0.3");
  EXPECT_EQ(print(schedule, 1),
            "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 F1.3 B1.1 F3.2 B3.2 "
            "F3.3 B3.3 B1.2 B1.3");
}

TEST(PipelineSchedule, DualPipeVPutsForwardsNextToBackwards) {
  PipelineSchedule schedule = make("dualpipe-v", 2, 4, 2);
  EXPECT_EQ(schedule.deviceOf, Counts({0, 1, 1, 0}));
  EXPECT_EQ(print(schedule, 0),
            "F0.0 F0.1 F0.2 F3.0 I3.0 W3.0 F3.1 F0.3 B3.1 F3.2 B0.0 B3.2 F3.3 "
            "B0.1 B3.3 I0.2 W0.2 I0.3 W0.3");
  EXPECT_EQ(print(schedule, 1),
            "F1.0 F2.0 F1.1 F2.1 F1.2 B2.0 F2.2 B1.0 F1.3 B2.1 F2.3 B1.1 B2.2 "
            "B1.2 I2.3 I1.3 W2.3 W1.3");
}

TEST(PipelineSchedule, PairsAreOfTwoMicroBatches) {
  PipelineSchedule oneByOne = make("1f1b", 2, 4, 1, /*pairs=*/true);
  EXPECT_EQ(print(oneByOne, 0), "F0.0 F0.1 F0.2 B0.0|F0.3 B0.1 B0.2 B0.3");
  EXPECT_EQ(print(oneByOne, 1), "F1.0 B1.0|F1.1 B1.1|F1.2 B1.2|F1.3 B1.3");
  EXPECT_TRUE(oneByOne.hasPairs());
  EXPECT_FALSE(make("1f1b", 2, 4).hasPairs());
  PipelineSchedule interleaved = make("interleaved", 2, 4, 2, /*pairs=*/true);
  EXPECT_EQ(print(interleaved, 0),
            "F0.0 F0.1 F2.0 F2.1 F0.2 B2.0|F0.3 B2.1|F2.2 B0.0|F2.3 B0.1 B2.2 "
            "B2.3 B0.2 B0.3");
  EXPECT_EQ(print(interleaved, 1),
            "F1.0 F1.1 F3.0 B3.0|F3.1 B3.1|F1.2 B1.0|F1.3 B1.1|F3.2 B3.2|F3.3 "
            "B3.3 B1.2 B1.3");
  // What is next to each other without pairs, but for one.
  PipelineSchedule dual = make("dualpipe-v", 2, 4, 2, /*pairs=*/true);
  EXPECT_EQ(print(dual, 0),
            "F0.0 F0.1 F0.2 F3.0 I3.0 W3.0 F3.1 B3.1|F0.3 B0.0|F3.2 B3.2 "
            "B0.1|F3.3 B3.3 I0.2 W0.2 I0.3 W0.3");
  EXPECT_EQ(print(dual, 1),
            "F1.0 F2.0 F1.1 F2.1 F1.2 B2.0 B1.0|F2.2 B2.1|F1.3 B1.1|F2.3 B2.2 "
            "B1.2 I2.3 I1.3 W2.3 W1.3");
  // What is left in inference.
  oneByOne.dropBackward();
  EXPECT_EQ(print(oneByOne, 0), "F0.0 F0.1 F0.2 F0.3");
}

TEST(PipelineSchedule, InterleavedWithOneStageIs1F1B) {
  PipelineSchedule expected = make("1f1b", 4, 6);
  EXPECT_EQ(make("interleaved", 4, 6).actions, expected.actions);
}

TEST(PipelineSchedule, OneDevice) {
  EXPECT_EQ(print(make("gpipe", 1, 2), 0), "F0.0 F0.1 B0.1 B0.0");
  EXPECT_EQ(print(make("1f1b", 1, 2), 0), "F0.0 B0.0 F0.1 B0.1");
  EXPECT_EQ(print(make("zb-h1", 1, 2), 0), "F0.0 I0.0 W0.0 F0.1 I0.1 W0.1");
  EXPECT_EQ(print(make("interleaved", 1, 2, 2), 0),
            "F0.0 F1.0 B1.0 F0.1 B0.0 F1.1 B1.1 B0.1");
  EXPECT_EQ(run(make("zb-v", 1, 3, 2), {}).makespan, 18);
  EXPECT_EQ(run(make("dualpipe-v", 1, 3, 2), {}).makespan, 18);
}

TEST(PipelineSchedule, MoreDevicesThanMicroBatches) {
  for (llvm::StringRef name : {"gpipe", "1f1b", "zb-h1"})
    for (unsigned m = 1; m < 8; ++m) {
      PipelineSchedule schedule = make(name, 8, m);
      EXPECT_EQ(run(schedule, {}).peakInFlight[0], m) << name.str();
    }
  for (unsigned m = 1; m < 8; ++m)
    EXPECT_EQ(run(make("zb-v", 8, m, 2), {}).busy,
              std::vector<int64_t>(8, 6 * m));
}

TEST(PipelineSchedule, SplitsBackward) {
  EXPECT_FALSE(make("gpipe", 2, 2).splitsBackward());
  EXPECT_FALSE(make("1f1b", 2, 2).splitsBackward());
  EXPECT_FALSE(make("interleaved", 2, 2, 2).splitsBackward());
  EXPECT_TRUE(make("zb-h1", 2, 2).splitsBackward());
  EXPECT_TRUE(make("zb-v", 2, 2, 2).splitsBackward());
  EXPECT_TRUE(make("dualpipe-v", 2, 4, 2).splitsBackward());
}

//===----------------------------------------------------------------------===//
// Closed forms: bubbles
//===----------------------------------------------------------------------===//

TEST(PipelineSchedule, BubbleOfOneStagePerDevice) {
  for (llvm::StringRef name : {"gpipe", "1f1b"})
    forEachSize([&](unsigned p, unsigned m) {
      for (const ActionTimes &times : unequalTimes)
        EXPECT_EQ(getBubble(make(name, p, m), times), (p - 1) * getSum(times));
    });
  // The formula does not need whole rounds, and holds for long W.
  EXPECT_EQ(getBubble(make("1f1b", 4, 7), {2, 3, 9}), 3 * 14);
  EXPECT_EQ(getBubble(make("gpipe", 8, 3), {2, 3, 9}), 7 * 14);
}

TEST(PipelineSchedule, BubbleOfInterleaved) {
  for (unsigned v : {2, 3, 4})
    forEachSize([&](unsigned p, unsigned m) {
      // Times are of a virtual stage, so the division by v is in them.
      for (const ActionTimes &times : unequalTimes)
        EXPECT_EQ(getBubble(make("interleaved", p, m, v), times),
                  (p - 1) * getSum(times));
    });
}

TEST(PipelineSchedule, BubbleOfPairs) {
  // That of the schedule without pairs.
  for (unsigned v : {1, 2, 3, 4})
    forEachSize([&](unsigned p, unsigned m) {
      if (m < 2 * p)
        return;
      for (const ActionTimes &times : unequalTimes)
        EXPECT_EQ(getBubble(make(v > 1 ? "interleaved" : "1f1b", p, m, v,
                                 /*pairs=*/true),
                            times),
                  (p - 1) * getSum(times));
    });
  // A device waits for the messages of both.
  for (unsigned p : {1, 2, 3, 4, 5, 8})
    for (unsigned m : {2 * p, 2 * p + 1, 3 * p, 4 * p + 1})
      if (m > 2)
        EXPECT_EQ(getBubble(make("dualpipe-v", p, m, 2, /*pairs=*/true), {}),
                  2 * (p - 1))
            << "p = " << p << ", m = " << m;
}

TEST(PipelineSchedule, BubbleOfZBH1) {
  forEachSize([](unsigned p, unsigned m) {
    PipelineSchedule schedule = make("zb-h1", p, m);
    for (const ActionTimes &t : unequalTimes)
      EXPECT_EQ(getBubble(schedule, t),
                (p - 1) * (t.forward + t.backwardInput - t.backwardWeight));
  });
}

TEST(PipelineSchedule, BubbleOfZBH1WithLongWeightGradients) {
  const ActionTimes longWeights[] = {
      {1, 1, 2}, {3, 1, 2}, {1, 3, 2}, {2, 5, 9}};
  forEachSize([&](unsigned p, unsigned m) {
    for (const ActionTimes &t : longWeights) {
      int64_t shortest = std::min(t.forward, t.backwardInput);
      EXPECT_EQ(getBubble(make("zb-h1", p, m), t),
                (p - 1) * (t.forward + t.backwardInput - shortest));
    }
  });
}

TEST(PipelineSchedule, ZBVOnlyWaitsForTheFirstForward) {
  // What the last device waits for is p - 1 virtual stages; nothing is lost
  // after that.
  for (unsigned p : {1, 2, 3, 4, 5, 8})
    for (unsigned m : {2 * p, 3 * p, 4 * p + 1}) {
      PipelineSchedule schedule = make("zb-v", p, m, 2);
      ScheduleTimes times = run(schedule, {});
      EXPECT_EQ(times.makespan, 6 * m + p - 1) << "p = " << p << ", m = " << m;
      EXPECT_LE(*llvm::max_element(times.peakInFlight), 2 * p);
    }
}

TEST(PipelineSchedule, DualPipeVOnlyWaitsForTheFirstForward) {
  // As zb-v, with one more activation: a forward comes before the backward that
  // it is put next to.
  for (unsigned p : {1, 2, 3, 4, 5, 8})
    for (unsigned m : {2 * p, 2 * p + 1, 3 * p, 4 * p + 1}) {
      PipelineSchedule schedule = make("dualpipe-v", p, m, 2);
      ScheduleTimes times = run(schedule, {});
      EXPECT_EQ(times.makespan, 6 * m + p - 1) << "p = " << p << ", m = " << m;
      EXPECT_EQ(times.busy, std::vector<int64_t>(p, 6 * m));
      EXPECT_EQ(times.peakInFlight, Counts(p, 2 * p + 1));
    }
}

TEST(PipelineSchedule, PublishedBubbles) {
  ActionTimes equal;
  // Of 8 * 3 and, with two virtual stages, of 16 * 3.
  EXPECT_EQ(getBubble(make("1f1b", 4, 8), equal) / 24.0, 0.375);
  EXPECT_NEAR(9.0 / run(make("1f1b", 4, 8), equal).makespan, 0.272727, 1e-6);
  EXPECT_EQ(getBubble(make("interleaved", 4, 8, 2), equal) / 48.0, 0.1875);
  EXPECT_EQ(getBubble(make("zb-h1", 4, 8), equal) / 24.0, 0.125);
  EXPECT_EQ(getBubble(make("1f1b", 4, 8), {1, 1, 1}), 9);
  EXPECT_EQ(getBubble(make("zb-h1", 4, 8), {1, 1, 1}), 3);
  EXPECT_EQ(getBubble(make("1f1b", 8, 16), {1, 1, 1}), 21);
  EXPECT_EQ(getBubble(make("zb-h1", 8, 16), {1, 1, 1}), 7);
}

TEST(PipelineSchedule, MessagesDelay) {
  // One micro-batch passes both cuts twice, and nothing hides it.
  EXPECT_EQ(run(make("1f1b", 3, 1), {2, 3, 1, 10}).makespan, 3 * 6 + 4 * 10);
  EXPECT_EQ(run(make("zb-h1", 3, 1), {2, 3, 1, 10}).makespan,
            3 * 5 + 4 * 10 + 1);
  // Stages on one device need no message.
  EXPECT_EQ(run(make("interleaved", 1, 2, 3), {2, 3, 1, 10}).makespan, 36);
}

//===----------------------------------------------------------------------===//
// Closed forms: activations and messages
//===----------------------------------------------------------------------===//

TEST(PipelineSchedule, ActivationsInFlight) {
  EXPECT_EQ(run(make("1f1b", 4, 8), {}).peakInFlight, Counts({4, 3, 2, 1}));
  EXPECT_EQ(run(make("interleaved", 4, 8, 2), {}).peakInFlight,
            Counts({11, 9, 7, 5}));
  forEachSize([](unsigned p, unsigned m) {
    Counts all(p, m), falling, level(p, p);
    for (unsigned i = 0; i < p; ++i)
      falling.push_back(p - i);
    EXPECT_EQ(run(make("gpipe", p, m), {}).peakInFlight, all);
    EXPECT_EQ(run(make("1f1b", p, m), {}).peakInFlight, falling);
    EXPECT_EQ(run(make("zb-h1", p, m), {}).peakInFlight, level);
  });
}

TEST(PipelineSchedule, ActivationsInFlightOfPairs) {
  // One forward more before the first backward.
  forEachSize([](unsigned p, unsigned m) {
    if (m < 2 * p)
      return;
    Counts oneByOne;
    for (unsigned i = 0; i < p; ++i)
      oneByOne.push_back(std::min(m, 2 * (p - i)));
    EXPECT_EQ(run(make("1f1b", p, m, 1, /*pairs=*/true), {}).peakInFlight,
              oneByOne);
    for (unsigned v : {2, 3, 4}) {
      Counts interleaved;
      for (unsigned i = 0; i < p; ++i)
        interleaved.push_back(
            std::min(m * v, 2 * (p - i - 1) + (v - 1) * p + 2));
      EXPECT_EQ(
          run(make("interleaved", p, m, v, /*pairs=*/true), {}).peakInFlight,
          interleaved)
          << "p = " << p << ", m = " << m << ", v = " << v;
    }
    if (m > 2)
      EXPECT_EQ(
          run(make("dualpipe-v", p, m, 2, /*pairs=*/true), {}).peakInFlight,
          Counts(p, 2 * p + 1))
          << "p = " << p << ", m = " << m;
  });
}

TEST(PipelineSchedule, PairsBeginTogether) {
  // Both wait for what either waits for, and take the time of both.
  ScheduleTimes times =
      run(make("1f1b", 2, 4, 1, /*pairs=*/true), {2, 3, 1, 10});
  EXPECT_EQ(times.starts[0],
            std::vector<int64_t>({0, 2, 4, 30, 30, 36, 62, 66}));
  EXPECT_EQ(times.starts[1],
            std::vector<int64_t>({12, 14, 14, 20, 20, 46, 46, 52}));
  EXPECT_EQ(times.makespan, 70);
}

TEST(PipelineSchedule, ActivationsInFlightOfInterleaved) {
  for (unsigned v : {2, 3, 4})
    forEachSize([&](unsigned p, unsigned m) {
      Counts expected;
      for (unsigned i = 0; i < p; ++i) {
        unsigned warmUp = std::min(m * v, 2 * (p - i - 1) + (v - 1) * p);
        expected.push_back(std::min(m * v, warmUp + 1));
      }
      EXPECT_EQ(run(make("interleaved", p, m, v), {}).peakInFlight, expected);
    });
}

uint64_t sum(const std::vector<uint64_t> &counts) {
  uint64_t total = 0;
  for (uint64_t count : counts)
    total += count;
  return total;
}

TEST(PipelineSchedule, Messages) {
  using Messages = std::vector<uint64_t>;
  EXPECT_EQ(sum(make("1f1b", 8, 16).countMessages()), 224u);
  EXPECT_EQ(sum(make("interleaved", 8, 16, 3).countMessages()), 736u);
  EXPECT_EQ(make("1f1b", 4, 8).countMessages(), Messages({8, 16, 16, 8}));
  EXPECT_EQ(make("interleaved", 4, 8, 2).countMessages(),
            Messages({24, 32, 32, 24}));
  // The turn of the V is on one device.
  for (llvm::StringRef name : {"zb-v", "dualpipe-v"})
    EXPECT_EQ(make(name, 4, 8, 2).countMessages(), Messages({16, 32, 32, 16}));
  EXPECT_EQ(make("1f1b", 1, 8).countMessages(), Messages({0}));
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The smallest schedule in which devices depend on each other.
PipelineSchedule makeSmall() { return make("1f1b", 2, 2); }

std::string getVerifyError(const PipelineSchedule &schedule) {
  return getMessage(schedule.verify());
}

TEST(PipelineSchedule, VerifiesSizes) {
  PipelineSchedule schedule = makeSmall();
  EXPECT_EQ(getVerifyError(schedule), "");
  schedule.numMicroBatches = 0;
  EXPECT_EQ(getVerifyError(schedule),
            "a schedule needs at least one device, one virtual stage and one "
            "micro-batch");
  schedule.numMicroBatches = 4000000;
  EXPECT_EQ(getVerifyError(schedule),
            "2 virtual stages of 4000000 micro-batches are too many: their "
            "product is at most 4194304");
  schedule = makeSmall();
  schedule.deviceOf.push_back(0);
  EXPECT_EQ(getVerifyError(schedule),
            "there are 2 virtual stages, but devices for 3");
  schedule = makeSmall();
  schedule.actions.pop_back();
  EXPECT_EQ(getVerifyError(schedule), "there are 2 devices, but actions for 1");
}

TEST(PipelineSchedule, VerifiesPlacement) {
  PipelineSchedule schedule = makeSmall();
  schedule.deviceOf[1] = 2;
  EXPECT_EQ(getVerifyError(schedule),
            "virtual stage 1 is on device 2, but devices are 0 to 1");
  schedule.deviceOf[1] = 0;
  EXPECT_EQ(getVerifyError(schedule), "device 1 has no virtual stage");
}

TEST(PipelineSchedule, VerifiesActions) {
  PipelineSchedule schedule = makeSmall();
  schedule.actions[0][0].stage = 2;
  EXPECT_EQ(getVerifyError(schedule), "F2.0: virtual stages are 0 to 1");
  schedule = makeSmall();
  schedule.actions[0][0].microBatch = 2;
  EXPECT_EQ(getVerifyError(schedule), "F0.2: micro-batches are 0 to 1");
  schedule = makeSmall();
  schedule.actions[0][0].stage = 1;
  EXPECT_EQ(getVerifyError(schedule), "F1.0 is an action of device 0, but "
                                      "virtual stage 1 is on device 1");
  schedule = makeSmall();
  schedule.actions[0].push_back({Kind::Forward, 0, 1});
  EXPECT_EQ(getVerifyError(schedule), "F0.1 is there more than once");
}

TEST(PipelineSchedule, VerifiesThatNothingIsMissing) {
  PipelineSchedule schedule = makeSmall();
  schedule.actions[1].erase(schedule.actions[1].begin());
  EXPECT_EQ(getVerifyError(schedule), "F1.0 is missing on device 1");
  schedule = makeSmall();
  schedule.actions[1].pop_back();
  EXPECT_EQ(getVerifyError(schedule),
            "B1.1 (or I1.1 and W1.1) is missing on device 1");
  schedule.actions[1].push_back({Kind::BackwardInput, 1, 1});
  EXPECT_EQ(getVerifyError(schedule), "W1.1 is missing on device 1");
  schedule.actions[1].push_back({Kind::BackwardWeight, 1, 1});
  EXPECT_EQ(getVerifyError(schedule), "") << "one micro-batch may be split";
  schedule.actions[1].erase(schedule.actions[1].end() - 2);
  EXPECT_EQ(getVerifyError(schedule), "I1.1 is missing on device 1");
}

TEST(PipelineSchedule, VerifiesThatNothingIsDoneTwice) {
  PipelineSchedule schedule = makeSmall();
  schedule.actions[0].push_back({Kind::BackwardWeight, 0, 1});
  EXPECT_EQ(getVerifyError(schedule),
            "there is B0.1 and also W0.1, which is a part of it");
  schedule.actions[0].back().kind = Kind::BackwardInput;
  EXPECT_EQ(getVerifyError(schedule),
            "there is B0.1 and also I0.1, which is a part of it");
}

TEST(PipelineSchedule, VerifiesThatItRuns) {
  PipelineSchedule schedule = makeSmall();
  // The first backward before the second forward, for which the other waits.
  std::swap(schedule.actions[0][1], schedule.actions[0][2]);
  std::swap(schedule.actions[1][1], schedule.actions[1][2]);
  EXPECT_EQ(getVerifyError(schedule),
            "deadlock: device 0 is at B0.0 and waits for B1.0 of device 1; "
            "device 1 is at F1.1 and waits for F0.1 of device 0");
  // A device can also wait for itself.
  schedule = makeSmall();
  std::swap(schedule.actions[1][0], schedule.actions[1][1]);
  EXPECT_EQ(getVerifyError(schedule),
            "deadlock: device 1 is at B1.0 and waits for F1.0 of device 1");
  schedule = make("zb-h1", 1, 1);
  std::swap(schedule.actions[0][1], schedule.actions[0][2]);
  EXPECT_EQ(getVerifyError(schedule),
            "deadlock: device 0 is at W0.0 and waits for I0.0 of device 0");
}

TEST(PipelineSchedule, LongDeadlocksAreCut) {
  // The first device begins with its second stage, so all wait in a ring.
  PipelineSchedule schedule = make("interleaved", 12, 12, 2);
  std::vector<PipelineAction> &actions = schedule.actions[0];
  std::iter_swap(actions.begin(),
                 llvm::find(actions, PipelineAction{Kind::Forward, 12, 0}));
  std::string message = getVerifyError(schedule);
  llvm::StringRef error = message;
  EXPECT_TRUE(error.starts_with("deadlock: device 0 is at F12.0 and waits for "
                                "F11.0 of device 11; device 11 is at F11.0"))
      << error.str();
  EXPECT_TRUE(error.ends_with("device 5 is at F5.0 and waits for F4.0 of "
                              "device 4; 4 more devices wait so"))
      << error.str();
}

// Two stages, two micro-batches; the second stage is slower and its messages
// are.
//   device 0: F0 F1 .  .  .  .  .  .  .  B0 .  .  .  B1
//   device 1: . . F0 F0 B0 B0 F1 F1 B1 B1
TEST(PipelineSchedule, SimulatesStages) {
  PipelineSchedule schedule = make("1f1b", 2, 2);
  ActionTimes first{1, 1, 0, 1}, second{2, 1, 1, 3};
  llvm::Expected<ScheduleTimes> result =
      simulateStages(schedule, {first, second});
  ASSERT_TRUE(bool(result)) << getMessage(result.takeError());
  using Starts = std::vector<int64_t>;
  EXPECT_EQ(result->starts[0], (Starts{0, 1, 9, 13}));
  EXPECT_EQ(result->starts[1], (Starts{2, 4, 6, 8}));
  EXPECT_EQ(result->makespan, 14);
  EXPECT_EQ(result->busy, (Starts{4, 8}));
  EXPECT_EQ(getMessage(simulateStages(schedule, first).takeError()),
            "times of 1 stages for 2");
  EXPECT_EQ(
      getMessage(simulateStages(schedule, {first, {2, 1, -1}}).takeError()),
      "a time is negative: -1");
}

TEST(PipelineSchedule, SimulationRefusesTimes) {
  PipelineSchedule schedule = makeSmall();
  EXPECT_EQ(getMessage(simulate(schedule, {1, -1, 1}).takeError()),
            "a time is negative: -1");
  int64_t longest = std::numeric_limits<int64_t>::max() / 4 / 8;
  EXPECT_EQ(getMessage(simulate(schedule, {1, 1, longest + 1}).takeError()),
            "a time is too long for a schedule of this size: "
            "288230376151711744 is more than 288230376151711743");
  EXPECT_EQ(run(schedule, {longest, longest, longest}).makespan, 9 * longest);
  schedule.actions.clear();
  EXPECT_NE(getMessage(simulate(schedule, {}).takeError()), "");
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

TEST(PipelineSchedule, RequestErrorsSayWhatWorks) {
  EXPECT_EQ(getError("interleaved", 4, 6, 2),
            "schedule 'interleaved': interleaved needs a number of "
            "micro-batches that 4 divides; 6 were given: use 4 or 8");
  EXPECT_EQ(getError("interleaved", 4, 1, 2),
            "schedule 'interleaved': interleaved needs a number of "
            "micro-batches that 4 divides; 1 was given: use 4");
  for (std::string name : {"gpipe", "1f1b", "zb-h1"})
    EXPECT_EQ(getError(name, 4, 8, 2),
              "schedule '" + name + "': " + name +
                  " has one virtual stage on each device; 2 were given: use "
                  "interleaved");
  EXPECT_EQ(getError("zb-v", 4, 8, 1),
            "schedule 'zb-v': zb-v has two virtual stages on each device; 1 "
            "was given: use 2, or zb-h1 with 1");
  EXPECT_EQ(getError("dualpipe-v", 4, 8, 3),
            "schedule 'dualpipe-v': dualpipe-v has two virtual stages on each "
            "device; 3 were given: use 2, or zb-h1 with 1");
  EXPECT_EQ(getError("dualpipe-v", 4, 7, 2),
            "schedule 'dualpipe-v': dualpipe-v needs at least two "
            "micro-batches for each device; 7 were given: use 8 or more, or "
            "zb-v");
  EXPECT_EQ(getError("gpipe", 0, 8),
            "schedule 'gpipe': a pipeline needs at least one device, one "
            "virtual stage for each and one micro-batch");
  EXPECT_EQ(getError("gpipe", 4294967295, 4294967295, 4294967295),
            "schedule 'gpipe': 4294967295 devices with 4294967295 virtual "
            "stages of 4294967295 micro-batches are too many: their product "
            "is at most 4194304");
}

TEST(PipelineSchedule, UnknownNames) {
  std::string error = getError("2f2b", 4, 8);
  EXPECT_EQ(error.find("schedule '2f2b': is not a schedule: use 1f1b, "
                       "dualpipe-v, gpipe, interleaved, "),
            0u)
      << error;
  EXPECT_NE(error.find("zb-h1, zb-v, or the path of a .json file"),
            std::string::npos)
      << error;
}

TEST(PipelineSchedule, ListIsSorted) {
  auto list = listSchedules();
  EXPECT_TRUE(llvm::is_sorted(list));
  for (llvm::StringRef name :
       {"1f1b", "dualpipe-v", "gpipe", "interleaved", "zb-h1", "zb-v"})
    EXPECT_TRUE(llvm::any_of(list, [&](const auto &entry) {
      return entry.first == name && !entry.second.empty();
    })) << name.str();
}

/// One micro-batch after the other, without overlap.
llvm::Expected<PipelineSchedule> makeSerial(const ScheduleRequest &request) {
  llvm::Expected<PipelineSchedule> schedule = makeSchedule("1f1b", request);
  if (!schedule)
    return schedule;
  for (std::vector<PipelineAction> &actions : schedule->actions)
    llvm::sort(actions, [](PipelineAction lhs, PipelineAction rhs) {
      return std::pair(lhs.microBatch, lhs.kind) <
             std::pair(rhs.microBatch, rhs.kind);
    });
  return schedule;
}

TEST(PipelineSchedule, OwnSchedules) {
  registerSchedule("test-serial", "one micro-batch after the other",
                   makeSerial);
  PipelineSchedule serial = make("test-serial", 3, 4);
  EXPECT_EQ(print(serial, 1), "F1.0 B1.0 F1.1 B1.1 F1.2 B1.2 F1.3 B1.3");
  EXPECT_EQ(run(serial, {2, 3, 1}).makespan, 4 * 3 * 6);
}

TEST(PipelineSchedule, OwnSchedulesAreVerified) {
  registerSchedule("test-one", "all on one device",
                   [](const ScheduleRequest &request) {
                     return makeSchedule("1f1b", {1, 1, request.microBatches});
                   });
  EXPECT_EQ(print(make("test-one", 1, 1), 0), "F0.0 B0.0");
  EXPECT_EQ(getError("test-one", 2, 1),
            "schedule 'test-one': its number of devices is 1, but 2 was asked "
            "for: ask for 1 or use another schedule");
  registerSchedule("test-one", "wrong", [](const ScheduleRequest &request) {
    auto schedule = makeSchedule("1f1b", request);
    schedule->actions[0].pop_back();
    return schedule;
  });
  EXPECT_EQ(getError("test-one", 1, 1),
            "schedule 'test-one': B0.0 (or I0.0 and W0.0) is missing on "
            "device 0");
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

std::string write(const PipelineSchedule &schedule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeSchedule(schedule, os);
  return text;
}

TEST(PipelineSchedule, WritesJSON) {
  EXPECT_EQ(write(make("1f1b", 2, 1)),
            "{\"name\": \"1f1b\", \"devices\": 2, \"virtual_stages\": 2, "
            "\"micro_batches\": 1,\n"
            " \"device_of\": [0, 1],\n"
            " \"actions\": [\n"
            "  [\"F0.0\", \"B0.0\"],\n"
            "  [\"F1.0\", \"B1.0\"]]}\n");
}

TEST(PipelineSchedule, JSONRoundTrip) {
  for (const auto &[name, v, pairs] : {std::tuple("gpipe", 1, false),
                                       {"interleaved", 3, false},
                                       {"interleaved", 3, true},
                                       {"zb-h1", 1, false},
                                       {"zb-v", 2, false},
                                       {"dualpipe-v", 2, true}}) {
    PipelineSchedule schedule = make(name, 4, 12, v, pairs);
    schedule.name = "\"quoted\"\n";
    llvm::Expected<PipelineSchedule> read = parseSchedule(write(schedule));
    ASSERT_TRUE(bool(read)) << getMessage(read.takeError());
    EXPECT_EQ(read->name, schedule.name);
    EXPECT_EQ(read->numDevices, schedule.numDevices);
    EXPECT_EQ(read->numVirtualStages, schedule.numVirtualStages);
    EXPECT_EQ(read->numMicroBatches, schedule.numMicroBatches);
    EXPECT_EQ(read->deviceOf, schedule.deviceOf);
    EXPECT_EQ(read->actions, schedule.actions);
  }
}

std::string getParseError(llvm::StringRef text) {
  llvm::Expected<PipelineSchedule> schedule = parseSchedule(text);
  return schedule ? "no error" : getMessage(schedule.takeError());
}

/// The JSON form of a small schedule with `from` replaced by `to`.
std::string replaced(llvm::StringRef from, llvm::StringRef to) {
  std::string text = write(make("1f1b", 2, 1));
  size_t position = text.find(from.str());
  EXPECT_NE(position, std::string::npos);
  return text.replace(position, from.size(), to.str());
}

TEST(PipelineSchedule, JSONErrors) {
  EXPECT_EQ(
      getParseError("{\"name\": 1"),
      "not valid JSON: [1:10, byte=10]: Expected , or } after object property");
  EXPECT_EQ(getParseError("[]"), "a schedule is a JSON object");
  EXPECT_EQ(getParseError("{}"), "'name' is missing");
  EXPECT_EQ(getParseError(replaced("\"micro_batches\"", "\"batches\"")),
            "'micro_batches' is missing");
  EXPECT_EQ(getParseError(replaced("{", "{\"more\": 1, ")),
            "'more' is unknown: a schedule has name, devices, virtual_stages, "
            "micro_batches, device_of, actions");
  EXPECT_EQ(getParseError(replaced("\"1f1b\"", "1")), "'name' is not a string");
  for (llvm::StringRef key : {"devices", "virtual_stages"})
    for (llvm::StringRef value : {"-1", "4294967296", "1.5", "\"2\""})
      EXPECT_EQ(getParseError(replaced(("\"" + key + "\": 2").str(),
                                       ("\"" + key + "\": " + value).str())),
                "'" + key.str() + "' is not a number from 0 to 4294967295");
  EXPECT_EQ(getParseError(
                replaced("\"micro_batches\": 1", "\"micro_batches\": null")),
            "'micro_batches' is not a number from 0 to 4294967295");
  for (llvm::StringRef value : {"0", "[0, -1]", "[[0], 1]"})
    EXPECT_EQ(getParseError(replaced("[0, 1]", value)),
              "'device_of' is not a list of devices");
  EXPECT_EQ(getParseError(replaced("[\"F1.0\", \"B1.0\"]", "\"F1.0\"")),
            "'actions' is not a list with a list for each device");
  EXPECT_EQ(getParseError("{\"name\": \"\", \"devices\": 1, "
                          "\"virtual_stages\": 1, \"micro_batches\": 1, "
                          "\"device_of\": [0], \"actions\": {}}"),
            "'actions' is not a list with a list for each device");
  for (llvm::StringRef value :
       {"F", "f1.0", "F1", "F1.", "F.0", "F-1.0", "F1.0.0", "F1.0 ", "F 1.0",
        "F4294967296.0", "|B1.0", "B1.0|", "B1.0||F1.0"})
    EXPECT_EQ(getParseError(replaced("B1.0", value)),
              "action 1 of device 1, '" + value.str() +
                  "', is not written KIND STAGE . MICROBATCH with the kind F, "
                  "B, I or W, such as \"F0.3\", nor are two side by side, such "
                  "as \"B0.1|F0.4\"");
  EXPECT_EQ(getParseError(replaced("\"B1.0\"", "7")),
            "action 1 of device 1, '', is not written KIND STAGE . MICROBATCH "
            "with the kind F, B, I or W, such as \"F0.3\", nor are two side "
            "by side, such as \"B0.1|F0.4\"");
}

/// A file that is gone at the end.
struct TemporaryFile {
  explicit TemporaryFile(llvm::StringRef text) {
    int file = -1;
    std::error_code error =
        llvm::sys::fs::createTemporaryFile("schedule", "json", file, path);
    EXPECT_FALSE(error) << error.message();
    llvm::raw_fd_ostream(file, /*shouldClose=*/true) << text;
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }

  llvm::SmallString<128> path;
};

TEST(PipelineSchedule, Files) {
  PipelineSchedule schedule = make("zb-v", 2, 4, 2);
  TemporaryFile file(write(schedule));
  std::string prefix = ("schedule '" + file.path + "': ").str();
  EXPECT_EQ(make(file.path, 2, 4, 2).actions, schedule.actions);
  std::string suffix = " or use another schedule";
  EXPECT_EQ(getError(file.path, 4, 4, 2),
            prefix +
                "its number of devices is 2, but 4 was asked for: ask for 2" +
                suffix);
  EXPECT_EQ(getError(file.path, 2, 1, 2),
            prefix +
                "its number of micro-batches is 4, but 1 was asked for: ask "
                "for 4" +
                suffix);
  EXPECT_EQ(getError(file.path, 2, 4, 1),
            prefix +
                "its number of virtual stages on each device is 2, but 1 was "
                "asked for: ask for 2" +
                suffix);
}

TEST(PipelineSchedule, ExampleFile) {
  PipelineSchedule schedule =
      make(STG_EXAMPLES_DIR "/serial-schedule.json", 2, 2);
  EXPECT_EQ(print(schedule, 1), "F1.0 B1.0 F1.1 I1.1 W1.1");
  // The last weight gradient runs beside the last backward of device 0.
  EXPECT_EQ(run(schedule, {2, 3, 1}).makespan, 2 * 2 * 6 - 1);
}

TEST(PipelineSchedule, FilesWithUnequalDevices) {
  TemporaryFile file("{\"name\": \"\", \"devices\": 2, \"virtual_stages\": 3, "
                     "\"micro_batches\": 1, \"device_of\": [0, 1, 0], "
                     "\"actions\": [[\"F0.0\", \"F2.0\", \"B2.0\", \"B0.0\"], "
                     "[\"F1.0\", \"B1.0\"]]}");
  EXPECT_EQ(getError(file.path, 2, 1, 2),
            ("schedule '" + file.path +
             "': its 3 virtual stages are not the same number for each of 2 "
             "devices: use another schedule")
                .str());
}

TEST(PipelineSchedule, FileErrors) {
  EXPECT_EQ(
      getError("no-such-file.json", 2, 4),
      "schedule 'no-such-file.json': cannot read the file: No such file or "
      "directory");
  TemporaryFile malformed("{}");
  EXPECT_EQ(getError(malformed.path, 2, 4),
            ("schedule '" + malformed.path + "': 'name' is missing").str());
  TemporaryFile wrong(replaced("\"F1.0\", \"B1.0\"", "\"B1.0\", \"F1.0\""));
  EXPECT_EQ(getError(wrong.path, 2, 1),
            ("schedule '" + wrong.path +
             "': deadlock: device 1 is at B1.0 and waits for F1.0 of device 1")
                .str());
}

} // namespace

TEST(PipelineSchedule, VerifiesPairs) {
  PipelineSchedule schedule = make("1f1b", 2, 4, 1, /*pairs=*/true);
  auto getVerifyError = [](const PipelineSchedule &changed) {
    return getMessage(changed.verify());
  };
  PipelineSchedule first = schedule;
  first.actions[1][0].isBeside = true;
  EXPECT_EQ(getVerifyError(first),
            "F1.0 is the first action of device 1, and is beside none");
  PipelineSchedule three = schedule;
  three.actions[0][5].isBeside = true;
  EXPECT_EQ(getVerifyError(three),
            "F0.3|B0.1: at most two actions are side by side");
  PipelineSchedule alike = schedule;
  alike.actions[0][1].isBeside = true;
  EXPECT_EQ(getVerifyError(alike),
            "F0.0|F0.1: what is side by side is a forward and a backward");
  PipelineSchedule same = make("1f1b", 1, 2);
  same.actions[0][1].isBeside = true;
  EXPECT_EQ(getVerifyError(same),
            "F0.0|B0.0: what is side by side is of two micro-batches");
  // Both begin together, so that neither device can begin.
  PipelineSchedule stuck = make("1f1b", 2, 4);
  stuck.actions[0][2].isBeside = stuck.actions[1][2].isBeside = true;
  EXPECT_EQ(getVerifyError(stuck),
            "deadlock: device 0 is at B0.0 and waits for B1.0 of device 1; "
            "device 1 is at F1.1 and waits for F0.1 of device 0");
}

TEST(PipelineSchedule, PairsOfSchedulesThatHaveNone) {
  for (auto [name, v] : {std::pair("gpipe", 1u), {"zb-h1", 1u}, {"zb-v", 2u}})
    EXPECT_EQ(getError(name, 2, 8, v, /*pairs=*/true),
              "schedule '" + std::string(name) +
                  "': it executes no forward side by side with a backward of "
                  "another micro-batch: use 1f1b, interleaved or dualpipe-v, "
                  "with more micro-batches than are on the way before the "
                  "first backward, or a file that has such actions");
  // All are on the way.
  EXPECT_NE(getError("1f1b", 4, 1, 1, /*pairs=*/true), "no error");
}

TEST(PipelineSchedule, PairsCanBeExecuted) {
  for (unsigned p : {1, 2, 3, 5, 8})
    for (unsigned m : {2 * p, 3 * p, 4 * p})
      for (auto [name, v] : {std::pair("1f1b", 1u),
                             {"interleaved", 2u},
                             {"interleaved", 5u},
                             {"dualpipe-v", 2u}}) {
        PipelineSchedule schedule = make(name, p, m, v, /*pairs=*/true);
        EXPECT_EQ(run(schedule, {}).busy, std::vector<int64_t>(p, 3 * m * v));
      }
}

TEST(PipelineSchedule, ReceivesArePostedEarlyEnough) {
  ScheduleRequest request;
  request.devices = 4;
  request.microBatches = 8;
  for (const char *name : {"gpipe", "1f1b", "zb-h1"}) {
    llvm::Expected<PipelineSchedule> schedule = makeSchedule(name, request);
    ASSERT_TRUE(bool(schedule));
    EXPECT_EQ(getReceiveAhead(*schedule), 1u) << name;
  }
  request.virtualStagesPerDevice = 2;
  llvm::Expected<PipelineSchedule> interleaved =
      makeSchedule("interleaved", request);
  ASSERT_TRUE(bool(interleaved));
  EXPECT_EQ(getReceiveAhead(*interleaved), 1u);
  // Messages of both arms of the V cross.
  llvm::Expected<PipelineSchedule> crossing = makeSchedule("zb-v", request);
  ASSERT_TRUE(bool(crossing));
  EXPECT_GT(getReceiveAhead(*crossing), 1u);
}
