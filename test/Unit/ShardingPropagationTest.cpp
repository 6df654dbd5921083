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

// Only the major factor of a flattened dimension can be sharded.
TEST(ShardingPropagation, FlattenedDimensionShardsItsMajorFactor) {
  ShardingPlan plan;
  unsigned x = plan.addTensor(2), y = plan.addTensor(1);
  PlannedOp flatten;
  unsigned b = flatten.rule.addFactor("b"), s = flatten.rule.addFactor("s");
  flatten.rule.operands = {{{b}, {s}}};
  flatten.rule.results = {{{b, s}}};
  flatten.operands = {x};
  flatten.results = {y};
  plan.ops.push_back(flatten);
  plan.claims = {{x, 0, dp, 1}, {x, 1, tp, 2}};
  plan.propagate();
  EXPECT_EQ(plan.tensors[y].dims[0], overDp);
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
