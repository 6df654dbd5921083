//===- SharedGradients.cpp - Gradients of parameters of several stages ----===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parameter that several stages read has a gradient that is a sum over them.
// Each adds up its own contributions in every micro-batch, and all of them are
// summed once per step.
//
//===----------------------------------------------------------------------===//

#include "StageAssignment.h"
#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/Analysis/ParameterValues.h"
#include "stg/Dialect/STG/IR/Loops.h"

using namespace mlir;
using namespace stg;

/// True if the op makes gradients of parameters, which are `known`, of what it
/// reads here and of parameters.
static bool makesGradients(OpOperand &use, const DenseSet<Value> &known) {
  Operation *user = use.getOwner();
  bool readsOthers =
      !isa<AddOp>(user) &&
      llvm::any_of(user->getOperands(), [&](Value operand) {
        return operand != use.get() && !isMadeOfParameters(operand);
      });
  return !readsOthers && !isa<ScanOpInterface>(user) &&
         user->getNumResults() > 0 &&
         llvm::all_of(user->getResults(),
                      [&](Value result) { return known.contains(result); });
}

/// Finds the sums of contributions to the gradient of a parameter that several
/// ops read, or of what is made of parameters alone.
void StageAssignment::collectGradientSums(const GradientFlow &gradients) {
  Block &body = program.getBody().front();
  DenseSet<Value> known;
  for (Operation &op : llvm::reverse(body)) {
    if (getSection(&op) != Section::Backward)
      continue;
    for (Value result : op.getResults()) {
      auto isKnown = [&](OpOperand &use) { return makesGradients(use, known); };
      if (gradients.lookup(result) ||
          (!result.use_empty() && llvm::all_of(result.getUses(), isKnown)))
        known.insert(result);
    }
    if (isa<AddOp>(op) && known.contains(op.getResult(0)))
      gradientSums.insert(&op);
  }
  for (auto scan : body.getOps<ScanOpInterface>())
    for (const CarriedValue &carried : getCarriedValues(scan))
      if (isSumFromZero(carried) && gradients.lookup(carried.result))
        parameterSums.insert(carried.result);
}

/// Notes that each stage of a value has a part of it, which is a sum over them.
/// Backward goes on with the parts, as all that it does with a gradient is
/// linear; what the step reads is their sum: one of one term, which each stage
/// has, and which is called like `like`.
void StageAssignment::addPart(Value part, Operation *like) {
  stageParts[part] = like;
  auto isOfStep = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user->getBlock() != &program.getBody().front() ||
           isa<ScanOpInterface>(user) || getSection(user) != Section::Backward;
  };
  if (llvm::none_of(part.getUses(), isOfStep))
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(part);
  Value zero = makeZero(part);
  auto total = AddOp::create(builder, like->getLoc(), part, zero);
  copyOrigin(like, total);
  setRole(total, Role::Add);
  part.replaceUsesWithIf(total, [&](OpOperand &use) {
    return use.getOwner() != total && isOfStep(use);
  });
  sharedGradients[total] = part;
}

/// True if terms of a gradient are in different stages, or each stage has a
/// part of one.
bool StageAssignment::areOfSeveralStages(ArrayRef<Value> terms) const {
  return llvm::any_of(terms, [&](Value term) {
    return getStages(term) != getStages(terms.front()) ||
           stageParts.contains(term);
  });
}

/// A sum of contributions to the gradient of a parameter. Stages that hold it
/// add up their own in every micro-batch, and all of them once per step.
LogicalResult StageAssignment::assignGradientSum(AddOp sum) {
  SmallVector<Value> terms;
  BitVector set(getNumStages());
  for (Value operand : sum->getOperands())
    if (getStages(operand).any()) {
      terms.push_back(operand);
      set |= getStages(operand);
    }
  if (terms.empty())
    return placeBackward(sum);
  setStages(sum, set);
  if (areOfSeveralStages(terms)) {
    stageSums.insert(sum);
    addPart(sum, sum);
  }
  return success();
}
