//===- GradientFlow.cpp - What reaches the optimizer ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/IR/Loops.h"

using namespace mlir;
using namespace stg;

/// True for what gradients are clipped by.
static bool isNorm(OpOperand &use) {
  auto clipped = dyn_cast<ClippedOpInterface>(use.getOwner());
  return clipped &&
         llvm::any_of(clipped.getNormMutable(),
                      [&](OpOperand &norm) { return &norm == &use; });
}

bool stg::isOptimizerRead(OpOperand &use) {
  return getPhase(use.getOwner()) == Phase::Optimizer &&
         !use.get().getDefiningOp<ParamOp>() && !isNorm(use);
}

std::string stg::getUpdatedParameter(Operation *step) {
  auto cost = dyn_cast<CostOpInterface>(step);
  for (OpOperand &use : step->getOpOperands())
    if (auto param = use.get().getDefiningOp<ParamOp>();
        param && cost && cost.updatesOperand(use.getOperandNumber()))
      return getParameterPath(param);
  return "";
}

bool stg::isReduction(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.isCoalescableReduction() &&
         collective.getReduction() == ReduceKind::Sum;
}

bool stg::isStepReduction(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.isCoalescableReduction() &&
         getPhase(op) == Phase::GradSync;
}

/// Adds parameters and constants, and what ops make of these alone, also where
/// a scan has stacked it. That is more than `isMadeOfParameters`: a gradient
/// goes through a product with any of it, but who makes a value again needs it
/// where it is, and a constant has no gradient.
void GradientFlow::addMadeOfParameters(Block &block) {
  auto isMade = [&](Value value) { return madeOfParameters.contains(value); };
  for (Operation &op : block) {
    auto scan = dyn_cast<ScanOpInterface>(op);
    if (scan)
      for (auto [arg, stack] :
           llvm::zip_equal(scan.getSliceArgs(), scan.getStacks()))
        if (isMade(stack))
          madeOfParameters.insert(arg);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        addMadeOfParameters(inner);
    if (scan) {
      for (OpResult stack : scan.getStackedResults())
        if (isMade(getStackedOperand(stack)->get()))
          madeOfParameters.insert(stack);
    } else if (isa<ParamOp, SplatOp>(op) ||
               (op.getNumRegions() == 0 && op.getNumOperands() > 0 &&
                llvm::all_of(op.getOperands(), isMade))) {
      madeOfParameters.insert_range(op.getResults());
    }
  }
}

/// Each value after all that it is handed on to, so that each is looked at
/// once: what a loop makes before its body, what it reads after that.
GradientFlow::GradientFlow(Operation *function, bool throughOps)
    : throughOps(throughOps) {
  if (throughOps)
    for (Region &region : function->getRegions())
      for (Block &block : region)
        addMadeOfParameters(block);
  for (Region &region : function->getRegions())
    for (Block &block : region)
      visitBlock(block);
}

void GradientFlow::visitBlock(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    for (Value result : op.getResults())
      visit(result);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        visitBlock(inner);
  }
  for (BlockArgument arg : block.getArguments())
    visit(arg);
}

void GradientFlow::visit(Value value) {
  if (value.use_empty())
    return;
  Flow flow;
  for (OpOperand &use : value.getUses())
    if (!addUse(use, flow))
      return;
  flows[value] = std::move(flow);
}

/// Adds another way to the optimizer.
void GradientFlow::Flow::join(const Flow &way) {
  bool isFirst = steps.empty() && !isReturned;
  stacks = isFirst || stacks == way.stacks ? way.stacks : std::nullopt;
  steps.insert(way.steps.begin(), way.steps.end());
  isReturned |= way.isReturned;
  isTerm |= way.isTerm;
}

/// Goes on with `next`, which the value becomes. False if that is no gradient.
bool GradientFlow::addNext(Value next, int stacks, bool isTerm, Flow &flow) {
  const Flow *known = lookup(next);
  if (!known)
    return false;
  Flow way = *known;
  way.isTerm |= isTerm;
  if (way.stacks)
    *way.stacks += stacks;
  flow.join(way);
  return true;
}

/// False if `use` leads to anything but the optimizer. What a loop carries is
/// no gradient any more, as it is made of those of several iterations; but if
/// it is nothing but their sum.
bool GradientFlow::addUse(OpOperand &use, Flow &flow) {
  Operation *user = use.getOwner();
  if (std::optional<CarriedValue> sum = getYieldedSum(use))
    return addNext(sum->result, /*stacks=*/0, /*isTerm=*/true, flow);
  SmallVector<PassedValue> passed = getPassedValues(use);
  if (!passed.empty())
    return passed.size() == 1 && passed[0].as != PassedAs::Same &&
           addNext(passed[0].value, passed[0].as == PassedAs::Slice ? 1 : -1,
                   /*isTerm=*/false, flow);
  Flow end;
  end.stacks = 0;
  if (isa<func::ReturnOp>(user)) {
    end.isReturned = true;
    flow.join(end);
    auto function = cast<func::FuncOp>(user->getParentOp());
    return static_cast<bool>(function.getResultAttr(use.getOperandNumber(),
                                                    STGDialect::kGradientAttr));
  }
  if (isOptimizerRead(use)) {
    end.steps.insert(user);
    flow.join(end);
    return true;
  }
  if (isReduction(user))
    return addNext(user->getResult(use.getOperandNumber()), /*stacks=*/0,
                   /*isTerm=*/false, flow);
  return addOp(use, flow);
}

/// Goes on with what an op makes that is linear in all that it reads, or in the
/// gradient alone.
bool GradientFlow::addOp(OpOperand &use, Flow &flow) {
  auto op = dyn_cast<ShardableOpInterface>(use.getOwner());
  if (!op)
    return false;
  if (!op.isLinear()) {
    auto isOther = [&](OpOperand &other) {
      return &other != &use && !madeOfParameters.contains(other.get());
    };
    if (!throughOps || !op.isLinearIn(use.getOperandNumber()) ||
        llvm::any_of(op->getOpOperands(), isOther))
      return false;
  }
  return llvm::all_of(op->getResults(), [&](Value result) {
    return (throughOps && result.use_empty()) ||
           addNext(result, /*stacks=*/0, /*isTerm=*/true, flow);
  });
}

const GradientFlow::Flow *GradientFlow::lookup(Value value) const {
  auto it = flows.find(value);
  return it == flows.end() ? nullptr : &it->second;
}
