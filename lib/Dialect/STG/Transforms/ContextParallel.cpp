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
  void mark(Operation *attention);
};
} // namespace

void ContextParallel::mark(Operation *attention) {
  Builder builder(&getContext());
  if (type != ContextExchange::AllGather)
    attention->setAttr("context",
                       builder.getStringAttr(stringify(type.getValue())));
  // Heads take the place of tokens.
  if (type == ContextExchange::AllToAll)
    attention->setAttr(STGDialect::kClaimsAttr,
                       builder.getDictionaryAttr(builder.getNamedAttr(
                           "h", builder.getStrArrayAttr({kContextAxis}))));
  if (balance == ContextBalance::None)
    attention->setAttr("contiguous", builder.getUnitAttr());
}

void ContextParallel::runOnOperation() {
  if (balance == ContextBalance::None)
    SymbolOp::declareCoordinate(getOperation(), kContextAxis);
  getOperation().walk([&](Operation *op) {
    if (isa<AttentionOp, AttentionGradOp>(op))
      mark(op);
  });
}
