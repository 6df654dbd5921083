//===- StepPlanTest.cpp - The steps that requests are executed in ---------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/StepPlan.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace stg;

static std::string expect(StringRef acceptance, int64_t drafts) {
  Expected<TokenRate> rate = getExpectedTokens(acceptance, drafts);
  return rate ? rate->str() : toString(rate.takeError());
}

TEST(TokenRate, ExpectedTokens) {
  EXPECT_EQ(expect("0.8", 4), "2101/625");
  EXPECT_EQ(expect("0.85", 1), "37/20");
  EXPECT_EQ(expect("1", 64), "65");
  EXPECT_EQ(expect("1.0", 1), "2");
  EXPECT_EQ(expect("0", 64), "1");
  EXPECT_EQ(expect("0.000", 3), "1");
  EXPECT_EQ(expect("0.5", 31), "4294967295/2147483648");
  for (StringRef wrong : {"", "-0.5", ".5", "1.1", "0.", "0,5", "1e-1", "2",
                          "0.1234567890", "00.5"})
    EXPECT_TRUE(StringRef(expect(wrong, 1)).starts_with("expected a decimal"))
        << wrong.str();
  for (auto [acceptance, drafts] : {std::pair("0.5", 32), {"0.123456789", 2}})
    EXPECT_TRUE(StringRef(expect(acceptance, drafts)).contains("too many"));
}

/// No token is lost, however many rounds there are.
TEST(TokenRate, Totals) {
  for (StringRef text :
       {"1", "2101/625", "37/20", "65", "4294967295/2147483648"}) {
    TokenRate rate = cantFail(readTokenRate(text));
    EXPECT_EQ(rate.str(), text.str());
    for (int64_t step : {0, 1, 2, 625, 626, 1 << 20}) {
      __int128 exact = static_cast<__int128>(step) * rate.numerator;
      __int128 total = rate.getTotal(step);
      EXPECT_LE(total * rate.denominator, exact);
      EXPECT_GT((total + 1) * rate.denominator, exact);
    }
  }
  for (StringRef wrong : {"", "-1", "1/0", "1/", "x", "1/2/3", "3000000000",
                          "1/2+2", "1/2+", "3/2+-1", "1+1", "1/2+x"})
    EXPECT_TRUE(errorToBool(readTokenRate(wrong).takeError())) << wrong.str();
}

/// A loop that is cut has the same totals.
TEST(TokenRate, GoesOn) {
  for (StringRef text : {"1", "2101/625", "37/20", "37/20+19"})
    for (int64_t cut : {0, 1, 17, 625, 1000}) {
      TokenRate rate = cantFail(readTokenRate(text));
      TokenRate rest = cantFail(readTokenRate(rate.getAfter(cut).str()));
      for (int64_t step : {0, 1, 2, 624, 12345})
        EXPECT_EQ(rate.getTotal(cut) + rest.getTotal(step),
                  rate.getTotal(cut + step));
    }
  EXPECT_EQ(cantFail(readTokenRate("2101/625")).getAfter(17).str(),
            "2101/625+92");
}

TEST(Requests, MicroBatches) {
  Requests requests = cantFail(readRequests("2*(1,9)#1/0,(1,9)#0/1,(5,0)#1/1,"
                                            "(1,9)#0/0"));
  EXPECT_EQ(requests.str(), "2*(1,9)#1/0,(1,9)#0/1,(5,0)#1/1,(1,9)#0/0");
  std::vector<Requests> lists = requests.getMicroBatches();
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].str(), "2*(1,9)#1,(1,9)#0");
  EXPECT_EQ(lists[1].str(), "(1,9)#0,(5,0)#1");
  json::Value written = writeRequests(requests);
  EXPECT_EQ(cantFail(readRequests(*written.getAsArray())).str(),
            requests.str());
  for (StringRef wrong : {"(1,9)/", "(1,9)/x", "(1,9)/0#1", "(1,9)/-1",
                          "(1,9)/4096", "(1,9)/0,(1,9)", "(1,9)/1"})
    EXPECT_TRUE(errorToBool(readRequests(wrong).takeError())) << wrong.str();
}

/// Loops as a text: `2 x (1,1000),(1948,0); ...`.
static std::string print(Expected<std::vector<StepLoop>> loops) {
  if (!loops)
    return toString(loops.takeError());
  std::string text;
  for (const StepLoop &loop : *loops) {
    text += text.empty() ? "" : "; ";
    if (loop.count != 1)
      text += std::to_string(loop.count) + " x ";
    text += loop.requests.str();
  }
  return text;
}

static Requests read(StringRef text) { return cantFail(readRequests(text)); }

static std::string schedule(StringRef text, StepLimits limits = {},
                            std::optional<int64_t> steps = std::nullopt) {
  return print(scheduleSteps(read(text), limits, steps));
}

static std::string repeat(StringRef text, int64_t steps) {
  return print(repeatSteps(read(text), steps));
}

/// What a scheduler with a budget makes of a prompt beside requests that
/// generate.
TEST(StepPlanTest, Budget) {
  EXPECT_EQ(schedule("100*(1,1000),(5000,0)", {2048, 0}),
            "2 x 100*(1,1000),(1948,0); 100*(1,1002),(1104,3896)");
  // Of those that are alike the last one that gets something gets less.
  EXPECT_EQ(schedule("3*(400,0)", {1000, 0}),
            "2*(400,0),(200,0); 2*(1,400),(200,200)");
  // Requests that do not fit wait; who is there comes first.
  EXPECT_EQ(schedule("(300,0),(10,0),(5,0)@1", {256, 0}),
            "(256,0); (44,256),(10,0),(5,0)");
  EXPECT_EQ(schedule("4*(1,10)", {3, 0}, 2), "2 x 3*(1,10)");
}

TEST(StepPlanTest, Chunk) {
  EXPECT_EQ(schedule("(1000,64)", {0, 384}), "2 x (384,64); (232,832)");
  EXPECT_EQ(schedule("(1000,64)", {0, 384}, 8),
            "2 x (384,64); (232,832); 5 x (1,1064)");
  EXPECT_EQ(schedule("2*(8,0),(4,0)", {0, 4}), "3*(4,0); 2*(4,4),(1,4)");
  // Of what is left of the budget.
  EXPECT_EQ(schedule("2*(100,0)", {60, 40}),
            "2 x (40,0),(20,0); (20,80),(40,40); (1,100),(20,80)");
}

/// Rows of logits are those of the last new tokens of a request, in whatever
/// chunks these are; each chunk has one of its last token, and so has each
/// token that is generated. None are none.
TEST(StepPlanTest, Logits) {
  EXPECT_EQ(schedule("(20,0,5)", {0, 7}), "2 x (7,0,1); (6,14,5)");
  EXPECT_EQ(schedule("(20,0,8)", {0, 7}), "(7,0,1); (7,7,2); (6,14,6)");
  EXPECT_EQ(schedule("(20,0,20)", {7, 0}), "2 x (7,0,7); (6,14,6)");
  EXPECT_EQ(schedule("(20,0,0)", {7, 0}), "2 x (7,0,0); (6,14,0)");
  EXPECT_EQ(schedule("(20,0)", {7, 0}), "2 x (7,0); (6,14)");
  EXPECT_EQ(schedule("(20,0,3)+3", {0, 16}),
            "(16,0,1); (4,16,3); 2 x (1,20,1)");
  EXPECT_EQ(toString(readRequests("(20,0,0)+3").takeError()),
            "request 0: a request that generates has 'logits' of 0, from which "
            "no token can be sampled; expected at least 1");
}

TEST(StepPlanTest, Leaving) {
  EXPECT_EQ(schedule("(1,50),(1,7)+2,(64,0)@2+2", {64, 0}, 5),
            "2 x (1,50),(1,7); (1,52),(63,0); 2 x (1,53),(1,63)");
  // Prompts that generate one token leave with it.
  EXPECT_EQ(schedule("(10,0)+1,(5,0)@1+3", {}), "(10,0); (5,0); 2 x (1,5)");
  EXPECT_EQ(schedule("(1,0)@3+2", {}), "2 x (1,0)");
  EXPECT_EQ(repeat("(1,50),(1,7)+2,(64,0)@2+2", 5),
            "2 x (1,50),(1,7); 2 x (1,52),(64,0); (1,54)");
  EXPECT_EQ(repeat("(1,50)", 1000000), "1000000 x (1,50)");
  EXPECT_EQ(
      repeat("(1,50)@4", 4),
      "a request comes with step 4, and there are 4 steps, from 0 on; ask "
      "for more with --steps");
}

/// None is left out, however steps are made.
TEST(StepPlanTest, Late) {
  StringRef message = "a request comes with step 4, and there are 4 steps, "
                      "from 0 on; ask for more with --steps";
  EXPECT_EQ(schedule("(1,5),(1,5)@4", {0, 8}, 4), message);
  EXPECT_EQ(schedule("(1,5),(1,5)@4", {8, 0}, 4), message);
  EXPECT_EQ(schedule("(1,5),(1,5)@3", {8, 0}, 4), "3 x (1,5); (1,8),(1,5)");
}

/// Many steps of one kind are not made one by one.
TEST(StepPlanTest, Long) {
  EXPECT_EQ(schedule("(16,0),4*(1,7)+900000", {0, 0}, 1000000),
            "(16,0),4*(1,7); 899999 x (1,16),4*(1,8); 100000 x (1,900015)");
}

/// One step after the other, as the description says, with requests one by one.
static std::vector<std::vector<std::pair<int64_t, int64_t>>>
simulate(const Requests &requests, StepLimits limits, int64_t steps) {
  struct One {
    Request request;
    int64_t computed = 0, generated = 0;
  };
  std::vector<One> all;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> result;
  for (int64_t step = 0; step < steps; ++step) {
    for (const Request &request : requests.list)
      if (request.arrival == step)
        for (int64_t i = 0; i < request.count; ++i)
          all.push_back({request});
    int64_t budget = limits.tokens ? limits.tokens : INT64_MAX;
    auto &own = result.emplace_back();
    for (One &one : all) {
      bool isPrompt = one.computed < one.request.newTokens;
      int64_t tokens = isPrompt ? one.request.newTokens - one.computed : 1;
      if (limits.chunk)
        tokens = std::min(tokens, limits.chunk);
      tokens = std::min(tokens, budget);
      if (tokens == 0)
        continue;
      budget -= tokens;
      own.push_back({tokens, one.request.cachedTokens + one.computed});
      one.computed += tokens;
      one.generated += one.computed >= one.request.newTokens;
    }
    llvm::erase_if(all, [](const One &one) {
      return one.request.generate && one.generated >= *one.request.generate;
    });
    llvm::sort(own);
    if (own.empty())
      result.pop_back();
  }
  return result;
}

/// Against a scheduler that looks at each request in each step.
TEST(StepPlanTest, OneByOne) {
  std::mt19937 random(7);
  auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int i = 0; i < 300; ++i) {
    Requests requests;
    for (int64_t j = pick(1, 5); j > 0; --j) {
      Request request;
      request.count = pick(1, 4);
      request.newTokens = pick(0, 2) ? pick(1, 40) : 1;
      request.cachedTokens = pick(0, 20);
      request.arrival = pick(0, 2) ? 0 : pick(1, 9);
      if (pick(0, 1))
        request.generate = pick(1, 8);
      requests.list.push_back(request);
    }
    StepLimits limits = {pick(0, 1) ? pick(1, 64) : 0,
                         pick(0, 1) ? pick(1, 20) : 0};
    auto want = simulate(requests, limits, 24);
    auto loops = scheduleSteps(requests, limits, 24);
    if (!loops) {
      EXPECT_EQ(toString(loops.takeError()),
                "no request has a token in any step");
      EXPECT_TRUE(want.empty());
      continue;
    }
    std::vector<std::vector<std::pair<int64_t, int64_t>>> found;
    for (const StepLoop &loop : *loops)
      for (int64_t step = 0; step < loop.count; ++step) {
        auto &own = found.emplace_back();
        for (const Request &request : loop.requests.list)
          own.insert(own.end(), request.count,
                     {request.newTokens,
                      request.cachedTokens + step * request.newTokens});
        llvm::sort(own);
      }
    EXPECT_EQ(found, want) << requests.str() << " with " << limits.tokens
                           << " and " << limits.chunk;
  }
}

/// Loops with the tokens that are received and sent in each step.
static std::string handOn(Expected<std::vector<StepLoop>> loops) {
  if (!loops)
    return toString(loops.takeError());
  handOnTokens(*loops);
  std::string text;
  for (const StepLoop &loop : *loops)
    text += (text.empty() ? "" : "; ") + std::to_string(loop.received) + " " +
            std::to_string(loop.count) + " x " + loop.requests.str() + " " +
            std::to_string(loop.sent);
  return text;
}

TEST(StepPlanTest, TokensAreReceivedInTheNextStep) {
  EXPECT_EQ(handOn(repeatSteps(read("2*(1,9)"), 1)), "0 1 x 2*(1,9) 0");
  EXPECT_EQ(handOn(repeatSteps(read("2*(1,9)"), 2)),
            "0 1 x 2*(1,9) 2; 2 1 x 2*(1,10) 0");
  EXPECT_EQ(handOn(repeatSteps(read("2*(1,9)"), 9)),
            "0 1 x 2*(1,9) 2; 2 7 x 2*(1,10) 2; 2 1 x 2*(1,17) 0");
  // Chunks give no tokens, but for the last one.
  StepLimits limits;
  limits.chunk = 4;
  limits.tellTokens = true;
  EXPECT_EQ(handOn(scheduleSteps(read("(12,0)"), limits, 6)),
            "0 2 x (4,0) 0; 0 1 x (4,8) 1; 1 2 x (1,12) 1; 1 1 x (1,14) 0");
  EXPECT_EQ(handOn(scheduleSteps(read("(12,0)"), limits, std::nullopt)),
            "0 2 x (4,0) 0; 0 1 x (4,8) 0");
  // Those that leave have got a token, too.
  EXPECT_EQ(handOn(repeatSteps(read("(1,9)+2,(1,5)"), 4)),
            "0 1 x (1,9),(1,5) 2; 2 1 x (1,10),(1,6) 2; 2 1 x (1,7) 1; "
            "1 1 x (1,8) 0");
}

/// A request that is like an earlier one waits for those between them.
TEST(StepPlan, BudgetInOrder) {
  Requests requests = cantFail(readRequests("(200,0),(300,7),(200,0)"));
  EXPECT_EQ(requests.str(), "(200,0),(300,7),(200,0)");
  std::vector<StepLoop> loops =
      cantFail(scheduleSteps(requests, {/*tokens=*/100, /*chunk=*/0}, {}));
  std::string text;
  for (const StepLoop &loop : loops)
    text += std::to_string(loop.count) + " x " + loop.requests.str() + "\n";
  EXPECT_EQ(text, "2 x (100,0)\n"
                  "3 x (1,200),(99,7)\n"
                  "1 x (1,203),(3,304),(96,0)\n"
                  "1 x (1,204),(1,307),(98,96)\n"
                  "1 x (1,205),(1,308),(6,194)\n");
  requests.joinEqual();
  EXPECT_EQ(requests.str(), "2*(200,0),(300,7)");
}
