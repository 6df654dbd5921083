//===- ShardingPropagationTest.cpp - Tests of sharding propagation --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm on plain data. Tensors are written as lists of factors, axes
// are numbers: 0 is tp, 1 is dp.
//
//===----------------------------------------------------------------------===//

#include "stg/Analysis/ShardingPropagation.h"
#include "gtest/gtest.h"
#include <cctype>

using namespace stg;

namespace {
constexpr unsigned tp = 0, dp = 1;

/// A plan in which ops are written as einsums.
struct EinsumPlan : ShardingPlan {
  /// Adds an op over existing tensors; letters name factors, upper case is
  /// whole.
  unsigned addOp(std::vector<std::string> operands,
                 std::vector<unsigned> inputs, std::string result,
                 unsigned output) {
    PlannedOp op;
    auto addTerm = [&](const std::string &term) {
      TensorFactors tensor;
      for (char letter : term) {
        std::string name(1, letter);
        auto factor = op.rule.getFactor(name);
        tensor.push_back(
            {factor ? *factor
                    : op.rule.addFactor(name, isupper(letter)
                                                  ? FactorKind::Whole
                                                  : FactorKind::Shardable)});
      }
      return tensor;
    };
    for (const std::string &term : operands)
      op.rule.operands.push_back(addTerm(term));
    op.rule.results.push_back(addTerm(result));
    op.operands.assign(inputs.begin(), inputs.end());
    op.results = {output};
    ops.push_back(std::move(op));
    return ops.size() - 1;
  }
  AxisList factor(unsigned op, llvm::StringRef name) {
    return ops[op].factorAxes[*ops[op].rule.getFactor(name)];
  }
};

const AxisList none = {};
const AxisList overTp = {tp};
const AxisList overDp = {dp};

TEST(ShardingPropagation, FlowsForwardThroughFactors) {
  EinsumPlan plan;
  unsigned x = plan.addTensor(2), w = plan.addTensor(2), y = plan.addTensor(2);
  unsigned op = plan.addOp({"bd", "df"}, {x, w}, "bf", y);
  plan.claims = {{w, 1, tp, 1}};
  plan.propagate();
  EXPECT_EQ(plan.factor(op, "f"), overTp);
  EXPECT_EQ(plan.tensors[y].dims[1], overTp);
  EXPECT_EQ(plan.tensors[x].dims[0], none);
  EXPECT_EQ(plan.tensors[x].dims[1], none);
}

TEST(ShardingPropagation, FlowsBackwardThroughFactors) {
  EinsumPlan plan;
  unsigned x = plan.addTensor(2), w = plan.addTensor(2), y = plan.addTensor(2);
  plan.addOp({"bd", "df"}, {x, w}, "bf", y);
  plan.claims = {{y, 0, dp, 1}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[x].dims[0], overDp);
  EXPECT_EQ(plan.tensors[w].dims[0], none);
  EXPECT_EQ(plan.tensors[w].dims[1], none);
}

TEST(ShardingPropagation, ContractedFactorStopsAtTheResult) {
  EinsumPlan plan;
  unsigned x = plan.addTensor(2), w = plan.addTensor(2), y = plan.addTensor(2);
  unsigned op = plan.addOp({"bf", "fd"}, {x, w}, "bd", y);
  plan.claims = {{w, 0, tp, 1}};
  plan.propagate();
  EXPECT_EQ(plan.factor(op, "f"), overTp);
  EXPECT_EQ(plan.tensors[x].dims[1], overTp);
  EXPECT_FALSE(plan.tensors[y].uses(tp));
}

// Sequence parallelism meets tensor parallelism: the op computes heads over tp,
// the stream keeps its tokens over tp, and the two are resharded in between.
TEST(ShardingPropagation, EarlierRuleKeepsTheOp) {
  EinsumPlan plan;
  unsigned x = plan.addTensor(2), n = plan.addTensor(2), w = plan.addTensor(2),
           q = plan.addTensor(2);
  unsigned norm = plan.addOp({"sD"}, {x}, "sD", n);
  unsigned product = plan.addOp({"sd", "dh"}, {n, w}, "sh", q);
  plan.claims = {{x, 0, tp, 2}, {w, 1, tp, 1}};
  plan.propagate();
  EXPECT_EQ(plan.factor(product, "h"), overTp);
  EXPECT_EQ(plan.factor(product, "s"), none);
  EXPECT_EQ(plan.factor(norm, "s"), overTp);
  EXPECT_EQ(plan.tensors[n].dims[0], overTp);
  EXPECT_EQ(plan.tensors[q].dims[0], none);
  EXPECT_EQ(plan.tensors[q].dims[1], overTp);
}

TEST(ShardingPropagation, OrderOfClaimsDoesNotMatterAcrossPriorities) {
  for (bool reversed : {false, true}) {
    EinsumPlan plan;
    unsigned x = plan.addTensor(2), w = plan.addTensor(2),
             y = plan.addTensor(2);
    unsigned op = plan.addOp({"sd", "dh"}, {x, w}, "sh", y);
    plan.claims = {{x, 0, tp, 2}, {w, 1, tp, 1}};
    if (reversed)
      std::swap(plan.claims[0], plan.claims[1]);
    plan.propagate();
    EXPECT_EQ(plan.factor(op, "h"), overTp);
    EXPECT_EQ(plan.factor(op, "s"), none);
  }
}

TEST(ShardingPropagation, TensorTakesAnAxisOnce) {
  EinsumPlan plan;
  unsigned x = plan.addTensor(2);
  plan.claims = {{x, 0, tp, 1}, {x, 1, tp, 2}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[x].dims[0], overTp);
  EXPECT_EQ(plan.tensors[x].dims[1], none);
}

TEST(ShardingPropagation, WholeFactorIsNotSharded) {
  EinsumPlan plan;
  unsigned x = plan.addTensor(2), y = plan.addTensor(2);
  unsigned op = plan.addOp({"sD"}, {x}, "sD", y);
  plan.claims = {{x, 1, tp, 1}};
  plan.propagate();
  EXPECT_EQ(plan.factor(op, "D"), none);
  EXPECT_EQ(plan.tensors[x].dims[1], overTp);
  EXPECT_FALSE(plan.tensors[y].uses(tp));
}

TEST(ShardingPropagation, SeveralAxesOnOneDimensionComeInTheOrderOfRules) {
  EinsumPlan plan;
  unsigned x = plan.addTensor(1), y = plan.addTensor(1);
  plan.addOp({"b"}, {x}, "b", y);
  plan.claims = {{x, 0, dp, 1}, {x, 0, tp, 2}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[y].dims[0], (AxisList{dp, tp}));
}

/// x[b,s] -> y[C], where C runs over b and s.
struct CompoundPlan : EinsumPlan {
  unsigned x = addTensor(2), y = addTensor(1);

  CompoundPlan() {
    PlannedOp op;
    unsigned b = op.rule.addFactor("b"), s = op.rule.addFactor("s");
    op.rule.operands = {{{b}, {s}}};
    op.rule.results = {{{b, s}}};
    op.operands = {x};
    op.results = {y};
    ops.push_back(op);
  }
};

TEST(ShardingPropagation, CompoundDimensionIsOverTheAxesOfAllItsFactors) {
  CompoundPlan plan;
  plan.claims = {{plan.x, 0, dp, 1}, {plan.x, 1, tp, 2}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[plan.y].dims[0], (AxisList{dp, tp}));
}

TEST(ShardingPropagation, NothingFlowsOutOfACompoundDimension) {
  CompoundPlan plan;
  plan.claims = {{plan.y, 0, dp, 1}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[plan.y].dims[0], overDp);
  EXPECT_EQ(plan.tensors[plan.x].dims[0], none);
  EXPECT_EQ(plan.tensors[plan.x].dims[1], none);
}

// But into the factor that leads it, as long as claims are propagated.
TEST(ShardingPropagation, ACompoundDimensionIsThatOfTheFactorThatLeads) {
  CompoundPlan plan;
  plan.ops[0].leading = plan.ops[0].rule.getFactor("b");
  unsigned w = plan.addTensor(1), z = plan.addTensor(1);
  plan.addOp({"c", "c"}, {plan.y, w}, "c", z);
  plan.claims = {{plan.y, 0, dp, 1}, {plan.x, 1, tp, 2}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[plan.x].dims[0], overDp);
  EXPECT_EQ(plan.tensors[plan.x].dims[1], overTp);
  EXPECT_EQ(plan.tensors[plan.y].dims[0], (AxisList{dp, tp}));
}

// All claims come before compound dimensions, whatever their priority.
TEST(ShardingPropagation, CompoundDimensionLeavesAnAxisToALaterClaim) {
  CompoundPlan plan;
  unsigned w = plan.addTensor(1), z = plan.addTensor(1);
  unsigned op = plan.addOp({"c", "f"}, {plan.y, w}, "f", z);
  plan.claims = {{plan.x, 0, dp, 1}, {plan.x, 1, tp, 1}, {w, 0, dp, 2}};
  plan.propagate();
  EXPECT_EQ(plan.factor(op, "f"), overDp);
  // What the compound dimension gets flows on, where the op is free.
  EXPECT_EQ(plan.tensors[plan.y].dims[0], (AxisList{dp, tp}));
  EXPECT_EQ(plan.factor(op, "c"), overTp);
}

/// The plan of a mixture of experts: a router and two products, between which
/// tokens go to their experts and back. Besides tp and dp there are ep and cp.
struct ExpertPlan : EinsumPlan {
  static constexpr unsigned ep = 2, cp = 3;
  unsigned tokens = addTensor(3), router = addTensor(2), logits = addTensor(3),
           buffers = addTensor(3), up = addTensor(3), hidden = addTensor(3),
           down = addTensor(3), outputs = addTensor(3), combined = addTensor(3);
  unsigned route = 0, first = 0, second = 0;

  ExpertPlan() {
    route = addOp({"bsd", "dx"}, {tokens, router}, "bsx", logits);
    addExchange(/*dispatch=*/true, tokens, buffers);
    first = addOp({"xcd", "xdf"}, {buffers, up}, "xcf", hidden);
    second = addOp({"xcf", "xfd"}, {hidden, down}, "xcd", outputs);
    addExchange(/*dispatch=*/false, outputs, combined);
    addOp({"bsd", "bsd"}, {tokens, combined}, "bsd", addTensor(3));
  }

  void addExchange(bool dispatch, unsigned from, unsigned to) {
    PlannedOp op;
    TensorFactors sequence = op.rule.addFactors("d", 3);
    unsigned experts = op.rule.addFactor("x", FactorKind::Whole);
    unsigned b = sequence[0][0], s = sequence[1][0], width = sequence[2][0];
    TensorFactors rows = {{experts}, {b, s}, {width}};
    op.rule.operands = {dispatch ? sequence : rows};
    op.rule.results = {dispatch ? rows : sequence};
    op.operands = {from};
    op.results = {to};
    ops.push_back(op);
  }

  /// Claims of the rules B:dp, B:ep, S:cp, X:ep, F:tp, S:tp@stream.
  void claim() {
    claims = {{tokens, 0, dp, 1},   {tokens, 0, ep, 2},
              {tokens, 1, cp, 3},   {router, 1, ep, 4, true},
              {up, 0, ep, 4, true}, {down, 0, ep, 4, true},
              {up, 2, tp, 5, true}, {down, 1, tp, 5, true},
              {tokens, 1, tp, 6},   {combined, 1, tp, 6}};
  }
};

TEST(ShardingPropagation, TokensGoToShardedExperts) {
  ExpertPlan plan;
  plan.claim();
  plan.propagate();
  const unsigned ep = ExpertPlan::ep, cp = ExpertPlan::cp;
  const AxisList overEp = {ep};
  for (unsigned exchanged : {plan.buffers, plan.outputs}) {
    // ep is where the experts are; the rows have what else divides tokens.
    EXPECT_EQ(plan.tensors[exchanged].dims[0], overEp);
    AxisList rows = plan.tensors[exchanged].dims[1];
    llvm::sort(rows);
    EXPECT_EQ(rows, (AxisList{tp, dp, cp}));
  }
  for (unsigned op : {plan.first, plan.second}) {
    EXPECT_EQ(plan.factor(op, "x"), overEp);
    EXPECT_EQ(plan.factor(op, "c"), (AxisList{dp, cp}));
    EXPECT_EQ(plan.factor(op, "f"), overTp);
  }
  EXPECT_EQ(plan.tensors[plan.combined].dims[0], (AxisList{dp, ep}));
}

// The router computes its tokens over ep already.
TEST(ShardingPropagation, ClaimYieldsWhereReadersComputeAnotherFactor) {
  ExpertPlan plan;
  plan.claim();
  plan.propagate();
  EXPECT_FALSE(plan.tensors[plan.router].uses(ExpertPlan::ep));
  EXPECT_EQ(plan.tensors[plan.logits].dims[2], none);
}

TEST(ShardingPropagation, ClaimThatDoesNotYieldStays) {
  ExpertPlan plan;
  plan.claim();
  plan.claims[3].yields = false;
  plan.propagate();
  EXPECT_EQ(plan.tensors[plan.router].dims[1], (AxisList{ExpertPlan::ep}));
  EXPECT_EQ(plan.factor(plan.route, "x"), none);
}

// A tensor that several ops read keeps the claim if one of them can compute it.
TEST(ShardingPropagation, OneReaderIsEnoughToKeepAClaim) {
  ExpertPlan plan;
  unsigned free = plan.addTensor(2), other = plan.addTensor(2);
  plan.addOp({"nd", "dx"}, {free, plan.router}, "nx", other);
  plan.claim();
  plan.propagate();
  EXPECT_EQ(plan.tensors[plan.router].dims[1], (AxisList{ExpertPlan::ep}));
  EXPECT_EQ(plan.tensors[other].dims[1], (AxisList{ExpertPlan::ep}));
}

// A norm over all heads needs all of its weights, also where it is all that a
// rule is for. What does compute them over the axis keeps them divided.
TEST(ShardingPropagation, ClaimYieldsWhereReadersNeedTheDimensionWhole) {
  for (bool isRead : {false, true}) {
    EinsumPlan plan;
    unsigned heads = plan.addTensor(3), weight = plan.addTensor(2),
             normed = plan.addTensor(3), scaled = plan.addTensor(3);
    plan.addOp({"bHE", "HE"}, {heads, weight}, "bHE", normed);
    if (isRead)
      plan.addOp({"bhe", "he"}, {normed, weight}, "bhe", scaled);
    plan.claims = {{weight, 0, tp, 1, true}};
    plan.propagate();
    EXPECT_EQ(plan.tensors[weight].dims[0], isRead ? overTp : none);
  }
}

// An optimizer step could compute any dimension over the axis; it does not
// count.
TEST(ShardingPropagation, UpdateIsNoReader) {
  ExpertPlan plan;
  PlannedOp update;
  update.isUpdate = true;
  update.rule.operands = {update.rule.addFactors("d", 2)};
  update.operands = {plan.router};
  plan.ops.push_back(update);
  plan.claim();
  plan.propagate();
  EXPECT_FALSE(plan.tensors[plan.router].uses(ExpertPlan::ep));
}

// A parameter that nobody can compute with is sharded where that is what the
// rule means: then it holds for all parameters, and readers gather.
TEST(ShardingPropagation, ClaimsStayWhereAllWouldYield) {
  EinsumPlan plan;
  unsigned x = plan.addTensor(2), w = plan.addTensor(2), y = plan.addTensor(2);
  unsigned op = plan.addOp({"bd", "df"}, {x, w}, "bf", y);
  plan.claims = {{x, 0, dp, 1}, {w, 0, dp, 2, true}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[w].dims[0], overDp);
  EXPECT_EQ(plan.factor(op, "d"), none);
}

TEST(ShardingPropagation, ReachesAFixpointThroughALoop) {
  // x -> y -> x, as through the carried value of a repeat.
  EinsumPlan plan;
  unsigned x = plan.addTensor(1), y = plan.addTensor(1);
  plan.addOp({"b"}, {x}, "b", y);
  plan.addOp({"b"}, {y}, "b", x);
  plan.claims = {{y, 0, dp, 1}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[x].dims[0], overDp);
}
} // namespace
