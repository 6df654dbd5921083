//===- RecomputeCheap.cpp - The example of docs/HowToWriteAPass.md --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page has the same text from here on; a test compares the two.
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "mlir/IR/IRMapping.h"
#include "stg/Dialect/STG/IR/STG.h"

namespace stg {
#define GEN_PASS_DEF_RECOMPUTECHEAP
#include "TestPasses.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

/// What the forward repeat saved for slice `number` of `backward`, or null.
static Value getSaved(RepeatOp backward, unsigned number) {
  auto stack = dyn_cast<OpResult>(backward.getStacks()[number]);
  auto forward = stack ? dyn_cast<RepeatOp>(stack.getOwner()) : RepeatOp();
  return forward ? forward.getYield().getValues()[stack.getResultNumber()]
                 : Value();
}

/// Maps the operands of `op` to what `backward` has of them: slices, and
/// parameters, which are read again. False if one is missing.
static bool mapOperands(Operation *op, RepeatOp backward, OpBuilder &builder,
                        IRMapping &map) {
  for (Value operand : op->getOperands()) {
    for (auto [number, arg] : llvm::enumerate(backward.getSliceArgs()))
      if (getSaved(backward, number) == operand)
        map.map(operand, arg);
    if (!map.contains(operand) && !operand.getDefiningOp<ParamOp>())
      return false;
  }
  for (Value operand : op->getOperands())
    if (!map.contains(operand))
      map.map(operand, builder.clone(*operand.getDefiningOp())->getResult(0));
  return true;
}

namespace {
struct RecomputeCheap : stg::impl::RecomputeCheapBase<RecomputeCheap> {
  void runOnOperation() override {
    getOperation().walk([&](RepeatOp repeat) {
      for (unsigned i = 0, e = repeat.getSliceArgs().size(); i != e; ++i)
        if (Value saved = getSaved(repeat, i))
          if (auto op = saved.getDefiningOp<CostOpInterface>())
            recompute(op, repeat);
    });
  }

  /// Replaces the slices of `backward` that `op` made, all at once.
  void recompute(CostOpInterface op, RepeatOp backward) {
    if (op.isView() || op.getCost().isMatrix || !isMemoryEffectFree(op))
      return;
    SmallVector<std::pair<BlockArgument, Value>> slices;
    Operation *first = nullptr;
    for (auto [number, slice] : llvm::enumerate(backward.getSliceArgs())) {
      Value saved = getSaved(backward, number);
      if (!saved || saved.getDefiningOp() != op || slice.use_empty())
        continue;
      slices.emplace_back(slice, saved);
      for (Operation *user : slice.getUsers()) {
        // A loop inside of this one may read it.
        user = backward.getLoopBlock().findAncestorOpInBlock(*user);
        if (!first || user->isBeforeInBlock(first))
          first = user;
      }
    }
    if (slices.empty())
      return;
    // Just before it is needed, so that it does not occupy memory before.
    OpBuilder builder(first);
    IRMapping map;
    if (!mapOperands(op, backward, builder, map))
      return;
    Operation *again = builder.clone(*op, map);
    setPhase(again, Phase::Recompute);
    for (auto [slice, saved] : slices)
      slice.replaceAllUsesWith(map.lookup(saved));
  }
};
} // namespace
