//===- TestDialect.cpp - Ops that no pass knows ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "stg/Dialect/Sym/IR/Bytecode.h"
#include <cstdlib>

using namespace mlir;
using namespace stg;

#include "TestDialect.h.inc"
#define GET_OP_CLASSES
#include "TestOps.h.inc"

#include "TestDialect.cpp.inc"
#define GET_OP_CLASSES
#include "TestOps.cpp.inc"

using namespace test;

/// Version 1 called `test.note` `test.remark`.
static LogicalResult renameRemarks(Operation *top) {
  top->walk([](Operation *op) {
    if (Attribute remark = op->removeDiscardableAttr("test.remark"))
      op->setDiscardableAttr("test.note", remark);
  });
  return success();
}

/// The version of the dialect, which a test can choose.
static uint64_t getVersion() {
  const char *text = std::getenv("STG_TEST_DIALECT_VERSION");
  return text ? std::strtoull(text, nullptr, 10) : 2;
}

void TestDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TestOps.cpp.inc"
      >();
  using Upgrades = std::vector<VersionedBytecode::Upgrade>;
  addInterface<VersionedBytecode>(getVersion(), Upgrades{{1, renameRemarks}});
}

static unsigned getRank(Value value) {
  return cast<SymTensorType>(value.getType()).getRank();
}

static SymExpr getElements(Value value) {
  return cast<SymTensorType>(value.getType()).getNumElements();
}

static ShardingRule makePointwise(Operation *op) {
  ShardingRule rule;
  TensorFactors tensor = rule.addFactors("d", getRank(op->getResult(0)));
  rule.operands.assign(op->getNumOperands(), tensor);
  rule.results = {tensor};
  return rule;
}

//===----------------------------------------------------------------------===//
// test.sum_features
//===----------------------------------------------------------------------===//

ShardingRule SumFeaturesOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input = rule.addFactors("d", getRank(getInput()));
  rule.operands = {input};
  input.pop_back();
  rule.results = {input};
  return rule;
}
bool SumFeaturesOp::isLinear() { return true; }

OpCost SumFeaturesOp::getCost() {
  return {getElements(getInput()), getOperandAndResultBytes(*this)};
}

//===----------------------------------------------------------------------===//
// test.add_previous
//===----------------------------------------------------------------------===//

/// The second dimension is that of tokens, all of which have to be here.
ShardingRule AddPreviousOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors tensor = rule.addFactors("d", getRank(getInput()));
  rule.factors[1].kind = FactorKind::Whole;
  rule.operands = {tensor};
  tensor[1] = {rule.addFactor("s")};
  rule.results = {tensor};
  return rule;
}

OpCost AddPreviousOp::getCost() {
  return {getElements(getResult()), getOperandAndResultBytes(*this)};
}

/// What fails has to say why; this says nothing.
LogicalResult AddPreviousOp::buildGradient(GradientBuilder &gradient) {
  return failure();
}

LogicalResult AddPreviousOp::buildIncrement(IncrementBuilder &increment) {
  if ((*this)->hasAttr("test.fails"))
    return failure();
  getInputMutable().assign(increment.keep(getInput(), "x"));
  return success();
}

//===----------------------------------------------------------------------===//
// test.quantized_all_reduce
//===----------------------------------------------------------------------===//

SymExpr QuantizedAllReduceOp::getExactBytes() {
  SymExpr bits = SymExpr::get(getContext(), 0);
  for (Value input : getInputs())
    bits = bits + getElements(input) * static_cast<int64_t>(getBits());
  return bits.exactDiv(SymExpr::get(getContext(), 8));
}

//===----------------------------------------------------------------------===//
// test.loop
//===----------------------------------------------------------------------===//

SmallVector<Region *> LoopOp::getLoopRegions() { return {&getBody()}; }

MutableArrayRef<OpOperand> LoopOp::getInitsMutable() {
  return (*this)->getOpOperands();
}

Block::BlockArgListType LoopOp::getRegionIterArgs() {
  return getBody().getArguments();
}

std::optional<MutableArrayRef<OpOperand>> LoopOp::getYieldedValuesMutable() {
  return getBody().front().getTerminator()->getOpOperands();
}

std::optional<ResultRange> LoopOp::getLoopResults() { return getResults(); }

std::optional<APInt> LoopOp::getStaticTripCount() {
  return APInt(64, getCount());
}

OperandRange LoopOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getStarts();
}

void LoopOp::getSuccessorRegions(RegionBranchPoint point,
                                 SmallVectorImpl<RegionSuccessor> &regions) {
  regions.emplace_back(&getBody(), getBody().getArguments());
  if (!point.isParent())
    regions.emplace_back(getOperation(), getResults());
}

//===----------------------------------------------------------------------===//
// test.plain: interfaces from outside
//===----------------------------------------------------------------------===//

namespace {
struct PlainSharding
    : ShardableOpInterface::ExternalModel<PlainSharding, PlainOp> {
  ShardingRule getShardingRule(Operation *op) const {
    return makePointwise(op);
  }
};

struct PlainCost : CostOpInterface::ExternalModel<PlainCost, PlainOp> {
  OpCost getCost(Operation *op) const {
    return {getElements(op->getResult(0)) * 2, getOperandAndResultBytes(op)};
  }
};

struct PlainGradient
    : DifferentiableOpInterface::ExternalModel<PlainGradient, PlainOp> {
  LogicalResult buildGradient(Operation *op, GradientBuilder &gradient) const {
    gradient.addGradient(
        0, gradient.create<PlainOp>(std::nullopt, gradient.getGradientType(0),
                                    gradient.getResultGradient(0)));
    return success();
  }
};
} // namespace

void test::registerTestDialect(DialectRegistry &registry) {
  registry.insert<TestDialect>();
  registry.addExtension(+[](MLIRContext *context, TestDialect *) {
    PlainOp::attachInterface<PlainSharding, PlainCost, PlainGradient>(*context);
  });
}
