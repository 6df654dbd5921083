//===- MemoryCategories.cpp - What each value is for ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryCategories.h"

using namespace mlir;
using namespace stg;
using chakra::Category;

/// True for a task that a device executes once: what it is given, gradients,
/// nobody else reads.
static bool isStepTask(Operation *function) {
  return function->hasAttr(STGDialect::kStepAttr);
}

/// True if the value has a buffer of its own that has one reader. A view or an
/// argument may share its buffer with other values.
static bool hasOneReader(Value value) {
  Operation *producer = value.getDefiningOp();
  // The gradients that a task gets are its own.
  auto arg = dyn_cast<BlockArgument>(value);
  if (arg && isa<func::FuncOp>(arg.getOwner()->getParentOp()))
    return value.hasOneUse() && isStepTask(arg.getOwner()->getParentOp());
  if (!producer || !value.hasOneUse() || isa<ParamOp, SplatOp>(producer))
    return false;
  auto cost = dyn_cast<CostOpInterface>(producer);
  return !(cost && cost.isView()) && !isa<LocalSliceOp>(producer);
}

bool stg::isInPlace(AllReduceOp op) {
  return llvm::all_of(op.getInputs(), hasOneReader);
}

std::optional<unsigned> stg::getOverwrittenOperand(CostOpInterface op,
                                                   unsigned result) {
  std::optional<unsigned> operand = op.getReusableOperand(result);
  if (isa<AccumulateOp>(op.getOperation()))
    return operand;
  // A result that is cut into parts is written as parts.
  bool isSplit =
      llvm::any_of(op->getResult(result).getUsers(),
                   [](Operation *user) { return isa<SplitOp>(user); });
  if (!operand || isSplit || !hasOneReader(op->getOperand(*operand)) ||
      op->getOperand(*operand).getType() != op->getResult(result).getType())
    return std::nullopt;
  return operand;
}

/// Smaller is stronger.
static unsigned getRank(Category category) {
  switch (category) {
  case Category::Gradient:
    return 0;
  case Category::Activation:
    return 1;
  case Category::Communication:
    return 2;
  default:
    return 3;
  }
}

void MemoryCategories::mark(Value value, Category category) {
  void *leader = buffers.getOrInsertLeaderValue(value.getAsOpaquePointer());
  auto [it, isNew] = categories.try_emplace(leader, category);
  if (!isNew && getRank(category) < getRank(it->second))
    it->second = category;
}

void MemoryCategories::joinRepeat(RepeatOp repeat) {
  auto join = [&](Value lhs, Value rhs) {
    buffers.unionSets(lhs.getAsOpaquePointer(), rhs.getAsOpaquePointer());
  };
  for (auto [arg, operand] : llvm::zip_equal(
           repeat.getBody().front().getArguments(), repeat.getOperands()))
    join(arg, operand);
  for (auto [result, yielded] :
       llvm::zip_equal(repeat.getResults(), repeat.getYield().getValues()))
    join(result, yielded);
  for (auto [arg, result] :
       llvm::zip_equal(repeat.getCarriedArgs(), repeat.getCarriedResults()))
    join(arg, result);
}

/// The results of a task are what it sends, then what it saves for another one,
/// or gradients.
void MemoryCategories::markReturned(Operation *terminator) {
  Operation *function = terminator->getParentOp();
  auto sends = function->getAttrOfType<IntegerAttr>(STGDialect::kSendsAttr);
  if (!sends)
    return;
  bool saves = function->hasAttr(STGDialect::kSavesAttr);
  for (auto [number, value] : llvm::enumerate(terminator->getOperands()))
    mark(value, static_cast<int64_t>(number) < sends.getInt()
                    ? Category::Communication
                : saves ? Category::Activation
                        : Category::Gradient);
}

MemoryCategories::MemoryCategories(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (auto repeat = dyn_cast<RepeatOp>(op))
      joinRepeat(repeat);
    if (auto cost = dyn_cast<CostOpInterface>(op))
      for (OpResult result : op->getResults())
        if (auto operand =
                getOverwrittenOperand(cost, result.getResultNumber()))
          buffers.unionSets(op->getOperand(*operand).getAsOpaquePointer(),
                            result.getAsOpaquePointer());
    if (auto reduce = dyn_cast<AllReduceOp>(op); reduce && isInPlace(reduce))
      for (auto [input, result] :
           llvm::zip_equal(reduce.getInputs(), reduce.getResults()))
        buffers.unionSets(input.getAsOpaquePointer(),
                          result.getAsOpaquePointer());
  });
  function.walk([&](Operation *op) {
    StringRef phase = getPhase(op);
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (phase == "opt" && !isa_and_nonnull<ParamOp>(producer))
        mark(operand, Category::Gradient);
      if (phase == "bwd" && producer && getPhase(producer) == "fwd")
        mark(operand, Category::Activation);
    }
    if (isa<func::ReturnOp>(op))
      markReturned(op);
    // What is kept until the end of backward.
    if (isa<FlatReduceScatterOp>(op) && phase == "grad_sync")
      for (Value operand : op->getOperands())
        mark(operand, Category::Gradient);
    if (isa<RecvOp>(op))
      for (Value result : op->getResults())
        mark(result,
             phase == "fwd" ? Category::Activation : Category::Communication);
    if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp,
            FlatAllGatherOp, FlatReduceScatterOp>(op))
      for (Value result : op->getResults())
        mark(result, Category::Communication);
    // Whoever reads them, parameters are not activations.
    if (isa<FlatAllGatherOp>(op))
      for (Value result : op->getResults())
        gathered.insert(getLeader(result));
  });
}

void *MemoryCategories::getLeader(Value value) const {
  void *pointer = value.getAsOpaquePointer();
  auto member = buffers.findLeader(pointer);
  return member == buffers.member_end() ? pointer : *member;
}

Category MemoryCategories::get(Value value) const {
  void *leader = getLeader(value);
  if (gathered.contains(leader))
    return Category::Communication;
  auto it = categories.find(leader);
  return it == categories.end() ? Category::Temporary : it->second;
}
