//===- DelayWeightGradients.cpp - Gradients beside an exchange ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Backward, what experts make goes to the devices that have the tokens, and the
// gradients of experts' parameters stay. An op executes when those before it
// are done, so that an exchange begins sooner with these gradients behind it,
// and they are computed meanwhile.
//
//===----------------------------------------------------------------------===//

#include "ExpertExchanges.h"
#include "stg/Dialect/STG/IR/Delayed.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_DELAYWEIGHTGRADIENTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct DelayWeightGradients
    : stg::impl::DelayWeightGradientsBase<DelayWeightGradients> {
  using DelayWeightGradientsBase::DelayWeightGradientsBase;
  void runOnOperation() override;
};

/// Ops that are to stand behind an exchange, in order.
struct Delay {
  Operation *exchange;
  SmallVector<Operation *> ops;
};
} // namespace

static std::optional<ExpertExchange> findBackwardExchange(Operation *op) {
  auto exchange = dyn_cast_if_present<AllToAllOp>(op);
  if (!exchange || getPhase(exchange) != Phase::Backward)
    return std::nullopt;
  return findExpertExchange(exchange);
}

/// True for what may be a part of the gradient of a parameter, or of its
/// reduction.
static bool isBackward(Operation &op) {
  return llvm::is_contained({Phase::Backward, Phase::GradSync}, getPhase(&op));
}

/// The ops of a block that its exchanges, and other layers, wait for: all but
/// those of which only gradients of parameters are made.
static DenseSet<Operation *> findAwaited(Block &block) {
  DenseSet<Operation *> awaited;
  auto isAwaited = [&](OpOperand &use) {
    Operation *user = block.findAncestorOpInBlock(*use.getOwner());
    if (user != block.getTerminator())
      return awaited.contains(user);
    auto scan = dyn_cast<ScanOpInterface>(block.getParentOp());
    return scan && use.getOperandNumber() < scan.getNumCarried() &&
           !getYieldedSum(use);
  };
  auto stepsParameters = [](Operation &op) {
    return op.walk([](OptimizerOpInterface) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    const bool isRoot =
        isBackward(op)
            ? findBackwardExchange(&op) || op.use_empty()
            : !stepsParameters(op) && getPhase(&op) != Phase::Optimizer;
    if (isRoot || llvm::any_of(op.getUses(), isAwaited))
      awaited.insert(&op);
  }
  return awaited;
}

/// Between an exchange of a layer and the one that sends back what its experts
/// have made.
static SmallVector<Delay> findDelays(Block &block) {
  SmallVector<Delay> delays;
  DenseSet<Operation *> awaited;
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator()) {
    std::optional<ExpertExchange> exchange = findBackwardExchange(&op);
    if (exchange && !exchange->isDispatch) {
      if (awaited.empty())
        awaited = findAwaited(block);
      llvm::erase_if(ops, [&](Operation *op) { return awaited.contains(op); });
      Operation *last = &op;
      while (findBackwardExchange(last->getNextNode()))
        last = last->getNextNode();
      delays.push_back({last, std::move(ops)});
    }
    if (exchange)
      ops.clear();
    else if (isBackward(op) && !isa<ScanOpInterface>(op))
      ops.push_back(&op);
  }
  return delays;
}

void DelayWeightGradients::runOnOperation() {
  getOperation().walk([](Block *block) {
    for (const Delay &delay : findDelays(*block)) {
      Operation *before = delay.exchange;
      for (Operation *op : delay.ops) {
        op->moveAfter(before);
        before = op;
        if (!isa<CollectiveOpInterface>(op))
          setDelayed(op);
      }
    }
  });
}
