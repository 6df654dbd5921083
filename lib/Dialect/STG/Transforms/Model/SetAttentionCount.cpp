//===- SetAttentionCount.cpp - Which pairs attention counts ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_SETATTENTIONCOUNT
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct SetAttentionCount : stg::impl::SetAttentionCountBase<SetAttentionCount> {
  using SetAttentionCountBase::SetAttentionCountBase;

  void runOnOperation() override {
    bool full = count == AttentionCount::Full;
    getOperation().walk(
        [&](AttentionOpInterface op) { op.setFullCount(full); });
  }
};
} // namespace
