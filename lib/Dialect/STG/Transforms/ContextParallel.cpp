//===- ContextParallel.cpp - How attention sees the tokens of others ------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_CONTEXTPARALLEL
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct ContextParallel : stg::impl::ContextParallelBase<ContextParallel> {
  using ContextParallelBase::ContextParallelBase;

  void runOnOperation() override {
    if (type != "all_gather" && type != "a2a" && type != "p2p") {
      getOperation().emitError("type is '")
          << type << "', expected all_gather, a2a or p2p";
      return signalPassFailure();
    }
    Builder builder(&getContext());
    getOperation().walk([&](Operation *op) {
      if (!isa<AttentionOp, AttentionGradOp>(op) || type == "all_gather")
        return;
      op->setAttr("context", builder.getStringAttr(type));
      // Heads take the place of tokens.
      if (type == "a2a")
        op->setAttr(STGDialect::kClaimsAttr,
                    builder.getDictionaryAttr(builder.getNamedAttr(
                        "h", builder.getStrArrayAttr({"cp"}))));
    });
  }
};
} // namespace
