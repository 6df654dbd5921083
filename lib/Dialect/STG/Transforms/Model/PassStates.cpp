//===- PassStates.cpp - States that go from device to device --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_PASSSTATES
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct PassStates : stg::impl::PassStatesBase<PassStates> {
  using PassStatesBase::PassStatesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    SmallVector<RecurrentOpInterface> ops;
    function.walk([&](RecurrentOpInterface op) { ops.push_back(op); });
    if (ops.empty()) {
      function.emitOpError("has no scan, and no causal convolution, that could "
                           "hand on a state");
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    for (RecurrentOpInterface op : ops)
      if (!op.getAlongAttr())
        op.passStates(rewriter);
  }
};
} // namespace
