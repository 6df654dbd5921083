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

/// The mesh axis that divides the tokens.
static constexpr StringLiteral kContextAxis = "cp";

namespace {
struct ContextParallel : stg::impl::ContextParallelBase<ContextParallel> {
  using ContextParallelBase::ContextParallelBase;
  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  void mark(Operation *attention);
};
} // namespace

LogicalResult ContextParallel::checkOptions() {
  if (type != "all_gather" && type != "a2a" && type != "p2p")
    return getOperation().emitError("type is '")
           << type << "', expected all_gather, a2a or p2p";
  if (balance != "zigzag" && balance != "none")
    return getOperation().emitError("balance is '")
           << balance << "', expected zigzag or none";
  return success();
}

void ContextParallel::mark(Operation *attention) {
  Builder builder(&getContext());
  if (type != "all_gather")
    attention->setAttr("context", builder.getStringAttr(type));
  // Heads take the place of tokens.
  if (type == "a2a")
    attention->setAttr(STGDialect::kClaimsAttr,
                       builder.getDictionaryAttr(builder.getNamedAttr(
                           "h", builder.getStrArrayAttr({kContextAxis}))));
  if (balance == "none")
    attention->setAttr("contiguous", builder.getUnitAttr());
}

void ContextParallel::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  if (balance == "none")
    SymbolOp::declareCoordinate(getOperation(), kContextAxis);
  getOperation().walk([&](Operation *op) {
    if (isa<AttentionOp, AttentionGradOp>(op))
      mark(op);
  });
}
