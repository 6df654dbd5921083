//===- PhasesTest.cpp - Names of the parts of a step ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Phases.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "gtest/gtest.h"

using namespace stg;

/// What reads traces has the names that the dialect gives phases.
TEST(Phases, NamesOfTheDialect) {
  EXPECT_EQ(stringifyPhase(Phase::Forward), kForwardPhase);
  EXPECT_EQ(stringifyPhase(Phase::Recompute), kRecomputePhase);
  EXPECT_EQ(stringifyPhase(Phase::Backward), kBackwardPhase);
  EXPECT_EQ(stringifyPhase(Phase::GradSync), kGradSyncPhase);
  EXPECT_EQ(stringifyPhase(Phase::Optimizer), kOptimizerPhase);
  EXPECT_EQ(getMaxEnumValForPhase(), 4u);
}

TEST(Phases, OfMicroBatches) {
  for (llvm::StringRef phase :
       {kForwardPhase, kRecomputePhase, kBackwardPhase, kWeightGradPhase})
    EXPECT_TRUE(isOfMicroBatch(phase)) << phase.str();
  for (llvm::StringRef phase :
       {kGradSyncPhase, kOptimizerPhase, kTransferPhase})
    EXPECT_FALSE(isOfMicroBatch(phase)) << phase.str();
}
