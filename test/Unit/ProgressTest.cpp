//===- ProgressTest.cpp - Tests of the line that tells progress -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/Progress.h"
#include "gtest/gtest.h"

using namespace stg::trace;

TEST(ProgressTest, TellsRateAndRest) {
  EXPECT_EQ(Progress::format("read", 0, 4096, 0, 2), "0 of 4,096 ranks read");
  // A quarter took 2 s, so three quarters take 6 s.
  EXPECT_EQ(Progress::format("checked", 1024, 4096, 0, 2),
            "1,024 of 4,096 ranks checked, 6 s left");
  EXPECT_EQ(Progress::format("written", 1024, 4096, uint64_t(3) << 30, 2),
            "1,024 of 4,096 ranks written, 1.5 GiB/s, 6 s left");
}
