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
#include "stg/Dialect/STG/IR/Loops.h"

using namespace mlir;
using namespace stg;

/// Finds the sums of contributions to the gradient of a parameter that several
/// ops read.
void StageAssignment::collectGradientSums(const GradientFlow &gradients) {
  Block &body = program.getBody().front();
  for (auto sum : body.getOps<AddOp>())
    if (getSection(sum) == Section::Backward && gradients.lookup(sum))
      gradientSums.insert(sum);
  for (auto scan : body.getOps<ScanOpInterface>())
    for (const CarriedValue &carried : getCarriedValues(scan))
      if (isSumFromZero(carried) && gradients.lookup(carried.result))
        parameterSums.insert(carried.result);
}

/// What several stages have a part of is added up once per step: a sum of one
/// term, which each of them has.
void StageAssignment::addUpOncePerStep(Value part, Operation *like) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(part);
  Value zero = makeZero(part);
  auto total = AddOp::create(builder, like->getLoc(), part, zero);
  copyOrigin(like, total);
  setRole(total, Role::Add);
  part.replaceAllUsesExcept(total, total);
  parameterSums.insert(part);
  gradientSums.insert(total);
}

/// True if terms of a gradient are in different stages, or in the same ones
/// that have parts of one.
bool StageAssignment::areOfSeveralStages(ArrayRef<Value> terms) const {
  return llvm::any_of(terms, [&](Value term) {
    return getStages(term) != getStages(terms.front()) ||
           (parameterSums.contains(term) && getStages(term).count() > 1);
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
  if (!areOfSeveralStages(terms)) {
    if (terms.empty())
      return placeBackward(sum);
    setStages(sum, set);
    return success();
  }
  setStages(sum, set);
  Operation *reader = sum->hasOneUse() ? *sum->user_begin() : nullptr;
  bool isTerm = reader && gradientSums.contains(reader);
  bool isReduced =
      reader && isReduction(reader) && getSection(reader) == Section::Backward;
  if (terms.size() == 1 && !isTerm && !isReduced) {
    sharedGradients[sum] = terms.front();
    return success();
  }
  parameterSums.insert(sum);
  gradientSums.erase(sum);
  stageSums.insert(sum);
  // Parts are reduced instead of the sum: each stage its own.
  if (isReduced)
    addUpOncePerStep(reader->getResult(sum->use_begin()->getOperandNumber()),
                     sum);
  else if (!isTerm)
    addUpOncePerStep(sum, sum);
  return success();
}
