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

/// The sums that `sum` consists of, itself the last one, and what they add.
void StageAssignment::collectTerms(AddOp sum, SmallVectorImpl<AddOp> &sums,
                                   SmallVectorImpl<Value> &terms) {
  for (Value operand : sum->getOperands()) {
    auto inner = operand.getDefiningOp<AddOp>();
    if (inner && operand.hasOneUse() && gradientSums.contains(inner))
      collectTerms(inner, sums, terms);
    else if (!operand.getDefiningOp<SplatOp>())
      terms.push_back(operand);
  }
  sums.push_back(sum);
}

/// Reduces the terms of a sum instead of the sum: each stage its own.
void StageAssignment::reduceTerms(AddOp sum, ArrayRef<Value> sumTerms,
                                  OpOperand &use) {
  Operation *reduce = use.getOwner();
  unsigned number = use.getOperandNumber();
  SmallVector<Value> operands(reduce->getOperands());
  SmallVector<Type> types(reduce->getResultTypes());
  auto origins = llvm::map_to_vector(
      reduce->getOpOperands(), [](OpOperand &operand) { return &operand; });
  operands[number] = sumTerms.front();
  llvm::append_range(operands, sumTerms.drop_front());
  types.resize(operands.size(), types[number]);
  origins.resize(operands.size(), origins[number]);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(reduce);
  Operation *terms = createCoalesced(
      builder, cast<CollectiveOpInterface>(reduce), origins, operands, types);
  Value total = terms->getResult(number);
  for (Value term : terms->getResults().drop_front(reduce->getNumResults())) {
    Operation *newSum = builder.clone(*sum);
    newSum->getResult(0).setType(types[number]);
    newSum->setOperands({total, term});
    gradientSums.insert(newSum);
    total = newSum->getResult(0);
  }
  if (sumTerms.size() == 1) {
    // Several stages have it.
    parameterSums.insert(total);
    auto newSum = cast<AddOp>(builder.clone(*sum));
    newSum.getResult().setType(cast<SymTensorType>(types[number]));
    newSum->setOperands({total, makeZero(total)});
    gradientSums.insert(newSum);
    total = newSum;
  }
  for (auto [index, result] : llvm::enumerate(reduce->getResults())) {
    if (parameterSums.erase(result))
      parameterSums.insert(terms->getResult(index));
    result.replaceAllUsesWith(index == number ? total
                                              : terms->getResult(index));
  }
  reduce->erase();
  replacedSums.push_back(sum);
}

/// Makes one term of those that are in the same stage, which adds them.
LogicalResult StageAssignment::sumTermsOfStages(ArrayRef<AddOp> sums,
                                                SmallVectorImpl<Value> &terms) {
  SmallVector<Value> result;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(sums.back());
  for (Value term : terms) {
    auto same = llvm::find_if(result, [&](Value other) {
      return getStages(other) == getStages(term);
    });
    if (same == result.end()) {
      result.push_back(term);
      continue;
    }
    // As many are left over of the sums as are needed here.
    Operation *local = builder.clone(*sums.front());
    sums = sums.drop_front();
    local->setOperands({*same, term});
    if (failed(placeBackward(local)))
      return failure();
    *same = local->getResult(0);
  }
  terms = std::move(result);
  return success();
}

/// A sum of contributions to the gradient of a parameter. Stages that hold it
/// add up their own in every micro-batch, and all of them once per step.
LogicalResult StageAssignment::assignGradientSum(AddOp sum) {
  if (sum->hasOneUse() && gradientSums.contains(*sum->user_begin()))
    return success(); // Assigned with the sum that it is a term of.
  SmallVector<AddOp> sums;
  SmallVector<Value> terms;
  collectTerms(sum, sums, terms);
  bool isShared = llvm::any_of(terms, [&](Value term) {
    return getStages(term) != getStages(terms.front()) ||
           (parameterSums.contains(term) && getStages(term).count() > 1);
  });
  if (!isShared) {
    for (AddOp part : sums)
      if (failed(placeBackward(part)))
        return failure();
    return success();
  }
  if (failed(sumTermsOfStages(sums, terms)))
    return failure();
  if (terms.size() > 1)
    sum->setOperands({terms[0], terms[1]});
  for (AddOp part : llvm::reverse(ArrayRef(sums).drop_back())) {
    gradientSums.erase(part);
    part->erase();
  }
  Operation *reader = sum->hasOneUse() ? *sum->user_begin() : nullptr;
  if (reader && isReduction(reader) &&
      getSection(reader) == Section::Backward) {
    reduceTerms(sum, terms, *sum->use_begin());
    return success();
  }
  BitVector set(getNumStages());
  for (Value term : terms)
    set |= getStages(term);
  sharedGradients[sum] = std::move(terms);
  setStages(sum, set);
  return success();
}
