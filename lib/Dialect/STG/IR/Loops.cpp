//===- Loops.cpp - What passes ask of a loop ------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/Loops.h"

using namespace mlir;
using namespace stg;

/// What a scan's body and its results have as many of.
static LogicalResult verifyNumbers(ScanOpInterface scan) {
  if (scan->getNumRegions() != 1 || !scan->getRegion(0).hasOneBlock() ||
      scan.getLoopBlock().empty())
    return scan->emitOpError("is a scan, expected one region of one block");
  size_t yielded = scan.getYielded().size();
  if (yielded != scan->getNumResults())
    return scan->emitOpError("has ")
           << scan->getNumResults() << " results, its body yields " << yielded
           << " values";
  unsigned arguments = scan.getLoopBlock().getNumArguments();
  if (arguments != scan->getNumOperands())
    return scan->emitOpError("has ")
           << scan->getNumOperands() << " operands, its body has " << arguments
           << " arguments";
  unsigned carried = scan.getNumCarried();
  if (carried > scan->getNumResults() || carried > scan->getNumOperands())
    return scan->emitOpError("carries ") << carried << " values, but has "
                                         << scan->getNumResults() << " results";
  return success();
}

/// repeat_c2; what the leading dimension is called does not matter, as a scan
/// may read what another one has stacked.
static LogicalResult verifyStack(ScanOpInterface scan, StringRef kind,
                                 Value stack) {
  auto type = dyn_cast<SymTensorType>(stack.getType());
  if (type && type.getRank() > 0 && type.getShape().front() == scan.getCount())
    return success();
  return scan->emitOpError("has a stacked ")
         << kind << " of type " << stack.getType()
         << ", expected leading extent " << scan.getCount().str();
}

static Type getSlice(Value stack) {
  return cast<SymTensorType>(stack.getType()).getSlice();
}

/// repeat_c1, repeat_c4
static LogicalResult verifyBody(ScanOpInterface scan) {
  for (auto [number, pair] : llvm::enumerate(
           llvm::zip_equal(scan.getYielded(), scan->getResults()))) {
    auto [yielded, result] = pair;
    Type expected =
        number < scan.getNumCarried() ? result.getType() : getSlice(result);
    if (!SymTensorType::equalUpToSharding(yielded.getType(), expected))
      return scan.getLoopBlock().getTerminator()->emitOpError("value #")
             << number << " has type " << yielded.getType() << ", expected "
             << expected;
  }
  for (auto [arg, init, result] :
       llvm::zip_equal(scan.getCarriedArgs(), scan.getCarriedInits(),
                       scan.getCarriedResults()))
    if (!SymTensorType::equalUpToSharding(arg.getType(), init.getType()) ||
        arg.getType() != result.getType())
      return scan->emitOpError("carries a value of type ")
             << init.getType() << " as " << arg.getType()
             << " into a result of type " << result.getType();
  for (auto [arg, stack] :
       llvm::zip_equal(scan.getSliceArgs(), scan.getStacks()))
    if (!SymTensorType::equalUpToSharding(arg.getType(), getSlice(stack)))
      return scan->emitOpError("reads a slice of ")
             << stack.getType() << " as " << arg.getType() << ", expected "
             << getSlice(stack);
  return success();
}

LogicalResult stg::detail::verifyScan(Operation *op) {
  auto scan = cast<ScanOpInterface>(op);
  if (failed(verifyNumbers(scan)))
    return failure();
  for (Value stack : scan.getStacks())
    if (failed(verifyStack(scan, "operand", stack)))
      return failure();
  for (Value stack : scan.getStackedResults())
    if (failed(verifyStack(scan, "result", stack)))
      return failure();
  return verifyBody(scan);
}

SmallVector<CarriedValue> stg::getCarriedValues(Operation *op) {
  SmallVector<CarriedValue> carried;
  if (op->getNumRegions() == 0)
    return carried;
  if (auto scan = dyn_cast<ScanOpInterface>(op)) {
    MutableArrayRef<OpOperand> yielded = scan.getYieldedOperands();
    for (auto [number, arg] : llvm::enumerate(scan.getCarriedArgs()))
      carried.push_back({&op->getOpOperand(number), arg, &yielded[number],
                         op->getResult(number)});
    return carried;
  }
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop || !loop.getYieldedValuesMutable() || !loop.getLoopResults())
    return carried;
  for (auto [init, arg, yielded, result] :
       llvm::zip_equal(loop.getInitsMutable(), loop.getRegionIterArgs(),
                       *loop.getYieldedValuesMutable(), *loop.getLoopResults()))
    carried.push_back({&init, arg, &yielded, result});
  return carried;
}

SmallVector<Operation *> stg::getSummands(const CarriedValue &carried) {
  SmallVector<Operation *> ops;
  Value value = carried.arg;
  while (value != carried.yielded->get()) {
    if (!value.hasOneUse())
      return {};
    auto linear = dyn_cast<ShardableOpInterface>(*value.user_begin());
    if (!linear || !linear.isLinear() || linear->getNumResults() != 1 ||
        linear->getNumOperands() != 2 ||
        !SymTensorType::equalUpToSharding(linear->getResult(0).getType(),
                                          value.getType()) ||
        linear->getBlock() != carried.arg.getOwner())
      return {};
    ops.push_back(linear);
    value = linear->getResult(0);
  }
  if (!value.hasOneUse())
    return {};
  return ops;
}

bool stg::isSum(const CarriedValue &carried) {
  return !getSummands(carried).empty();
}

bool stg::isSumFromZero(const CarriedValue &carried) {
  auto init = carried.init->get().getDefiningOp<SplatOp>();
  return init && init.getValue().isZero() && isSum(carried);
}

/// True for most ops, which neither end a block nor have regions: what they
/// read goes nowhere else. Cheaper than to ask for traits and interfaces.
static bool isInnerLeaf(Operation *op) {
  Block *block = op->getBlock();
  return block && op != &block->back() && op->getNumRegions() == 0;
}

std::optional<CarriedValue> stg::getYieldedSum(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isInnerLeaf(user) || !user->hasTrait<OpTrait::IsTerminator>() ||
      !user->getParentOp())
    return std::nullopt;
  // What is stacked is not carried.
  if (auto scan = dyn_cast<ScanOpInterface>(user->getParentOp());
      scan && use.getOperandNumber() >= scan.getNumCarried())
    return std::nullopt;
  for (const CarriedValue &carried : getCarriedValues(user->getParentOp()))
    if (carried.yielded == &use && isSum(carried))
      return carried;
  return std::nullopt;
}

std::optional<CarriedValue> stg::getResultingSum(Value result) {
  if (Operation *loop = result.getDefiningOp())
    for (const CarriedValue &carried : getCarriedValues(loop))
      if (carried.result == result && isSum(carried))
        return carried;
  return std::nullopt;
}

/// What `point` forwards the operand to.
static void collectSuccessorInputs(RegionBranchOpInterface op,
                                   RegionBranchPoint point, OpOperand &use,
                                   SmallVectorImpl<PassedValue> &passed) {
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(point, successors);
  for (RegionSuccessor &successor : successors) {
    OperandRange operands = op.getSuccessorOperands(point, successor);
    if (operands.empty())
      continue;
    unsigned first = operands.getBeginOperandIndex();
    unsigned number = use.getOperandNumber();
    if (number >= first && number < first + operands.size())
      passed.push_back(
          {successor.getSuccessorInputs()[number - first], PassedAs::Same});
  }
}

SmallVector<PassedValue> stg::getPassedValues(OpOperand &use) {
  SmallVector<PassedValue> passed;
  Operation *user = use.getOwner();
  if (isInnerLeaf(user))
    return passed;
  unsigned number = use.getOperandNumber();
  if (auto branch = dyn_cast<RegionBranchOpInterface>(user)) {
    auto scan = dyn_cast<ScanOpInterface>(user);
    if (scan && number >= scan.getNumCarried())
      passed.push_back(
          {scan.getLoopBlock().getArgument(number), PassedAs::Slice});
    else
      collectSuccessorInputs(branch, RegionBranchPoint::parent(), use, passed);
    return passed;
  }
  auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(user);
  auto parent = dyn_cast_or_null<RegionBranchOpInterface>(user->getParentOp());
  if (!terminator || !parent)
    return passed;
  auto scan = dyn_cast<ScanOpInterface>(parent.getOperation());
  if (scan && number >= scan.getNumCarried())
    passed.push_back({parent->getResult(number), PassedAs::Stack});
  else
    collectSuccessorInputs(parent, RegionBranchPoint(terminator), use, passed);
  return passed;
}

bool stg::isRegionTerminator(Operation *op) {
  return isa<RegionBranchTerminatorOpInterface>(op) &&
         isa_and_nonnull<RegionBranchOpInterface>(op->getParentOp());
}

OpOperand *stg::getStackedOperand(Value stack) {
  auto result = dyn_cast_or_null<OpResult>(stack);
  auto scan =
      result ? dyn_cast<ScanOpInterface>(result.getOwner()) : ScanOpInterface();
  if (!scan || result.getResultNumber() < scan.getNumCarried())
    return nullptr;
  return &scan.getYieldedOperands()[result.getResultNumber()];
}

void stg::retypeStacks(ScanOpInterface scan) {
  for (OpResult result : scan.getStackedResults()) {
    auto slice =
        cast<SymTensorType>(getStackedOperand(result)->get().getType());
    DimAttr leading = cast<SymTensorType>(result.getType()).getDim(0);
    result.setType(slice.getStacked(leading));
  }
}

SymExpr stg::getIterations(LoopLikeOpInterface loop) {
  if (auto scan = dyn_cast<ScanOpInterface>(loop.getOperation()))
    return scan.getCount();
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!count || !count->isSignedIntN(64))
    return {};
  return SymExpr::get(loop.getContext(), count->getSExtValue());
}

SymExpr stg::getLayersOfIteration(ScanOpInterface scan) {
  SymExpr layers = SymExpr::get(scan.getContext(), 0);
  for (auto inner : scan.getLoopBlock().getOps<ScanOpInterface>())
    layers = layers + inner.getCount() * getLayersOfIteration(inner);
  return layers.isZero() ? SymExpr::get(scan.getContext(), 1) : layers;
}

SymExpr stg::getExecutions(Operation *op) {
  SymExpr executions = SymExpr::get(op->getContext(), 1);
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>()) {
    SymExpr iterations = getIterations(loop);
    if (!iterations)
      return {};
    executions = executions * iterations;
  }
  return executions;
}

std::string stg::getScopePath(Operation *op) {
  std::string path;
  for (auto scan = op->getParentOfType<ScanOpInterface>(); scan;
       scan = scan->getParentOfType<ScanOpInterface>())
    path = (scan.getScopeName().getValue() + "/" + path).str();
  return path;
}

std::string stg::getParameterPath(ParamOp param) {
  return getScopePath(param) + param.getParamName().str();
}
