//===- RepeatSteps.cpp - A loop over steps of inference -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps hand on what states keep, and nothing else. So the loop around a step
// carries nothing, and what a step makes is gone at its end. Tokens that one
// stage samples and another one reads in the next step are a message.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/Chakra/Transforms/Passes.h"

namespace stg::chakra {
#define GEN_PASS_DEF_REPEATSTEPS
#include "stg/Dialect/Chakra/Transforms/Passes.h.inc"
} // namespace stg::chakra

using namespace mlir;
using namespace stg;
using namespace stg::chakra;

namespace {
struct RepeatSteps : chakra::impl::RepeatStepsBase<RepeatSteps> {
  using RepeatStepsBase::RepeatStepsBase;
  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  LogicalResult wrap(GraphOp graph);
};
} // namespace

LogicalResult RepeatSteps::checkOptions() {
  if (count < 1 || first < 0)
    return getOperation().emitError("has ")
           << count.getValue() << " steps from " << first.getValue()
           << " on, expected at least one from 0 on";
  return success();
}

/// True for what is there before and after a step: states, loops that stack
/// those of layers, and functions.
static bool isPersistent(Operation &op) {
  if (isa<StateOp, chakra::FuncOp>(op))
    return true;
  if (!isa<chakra::RepeatOp>(op))
    return false;
  return !op.walk([](NodeOpInterface) {
              return WalkResult::interrupt();
            }).wasInterrupted();
}

LogicalResult RepeatSteps::wrap(GraphOp graph) {
  Block &body = graph.getBody().front();
  SmallVector<Operation *> moved;
  for (Operation &op : body) {
    if (isPersistent(op)) {
      if (!moved.empty() && op.getNumOperands())
        return op.emitOpError("reads what a step makes, and is no part of it");
      continue;
    }
    moved.push_back(&op);
  }
  auto builder = OpBuilder::atBlockEnd(&body);
  auto getNumber = [&](int64_t value) {
    return SymExpr::get(graph.getContext(), value);
  };
  auto repeat = chakra::RepeatOp::create(
      builder, graph.getLoc(), "step", getNumber(count), ValueRange(),
      ValueRange(), TypeRange(), /*reverse=*/false,
      first == 0 ? SymExpr() : getNumber(first));
  repeat.setIndexAttr(builder.getStringAttr(index));
  Block &inner = repeat.getBody().front();
  for (Operation *op : moved)
    op->moveBefore(&inner, inner.end());
  builder.setInsertionPointToEnd(&inner);
  chakra::YieldOp::create(builder, graph.getLoc());
  return success();
}

void RepeatSteps::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  for (auto graph : getOperation().getOps<GraphOp>())
    if (failed(wrap(graph)))
      return signalPassFailure();
}
