//===- MemoryCategories.cpp - What each value is for ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryCategories.h"
#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include <map>

using namespace mlir;
using namespace stg;
using chakra::Category;

BufferOwners::BufferOwners(ModuleOp module) {
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      addCall(call, call.getCalleeAttr());
    if (auto call = dyn_cast<TurnCallOp>(op))
      for (FlatSymbolRefAttr callee : call.getCallees())
        addCall(call, callee);
  });
}

void BufferOwners::addCall(Operation *call, FlatSymbolRefAttr callee) {
  if (func::FuncOp function = getCallee(call, callee))
    calls[function].push_back(call);
}

/// An argument is its function's own if every caller gives up a buffer for it.
bool BufferOwners::isGivenUp(BlockArgument arg) {
  auto function = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp());
  if (!function)
    return false; // A repeat may get the buffer again in its next iteration.
  auto [it, isNew] = givenUp.try_emplace(arg, false);
  if (!isNew)
    return it->second;
  auto known = calls.find(function);
  bool result =
      known != calls.end() && llvm::all_of(known->second, [&](Operation *call) {
        return isGivenUpBy(call, arg.getArgNumber());
      });
  return givenUp[arg] = result;
}

/// What a call gives is a buffer of its own if what its callee returns is one.
bool BufferOwners::hasOneReader(Value value) {
  if (!value.hasOneUse())
    return false;
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return isGivenUp(cast<BlockArgument>(value));
  if (isa<ParamOp, SplatOp>(producer))
    return false;
  if (auto collective = dyn_cast<CollectiveOpInterface>(producer))
    return collective.communicates();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto call = dyn_cast<func::CallOp>(producer))
    return returnsOwnBuffer(call, call.getCalleeAttr(), number);
  if (auto call = dyn_cast<TurnCallOp>(producer))
    return llvm::all_of(call.getCallees(), [&](FlatSymbolRefAttr callee) {
      return returnsOwnBuffer(call, callee, number);
    });
  if (auto schedule = dyn_cast<ScheduleOp>(producer))
    return isTotalOwnBuffer(schedule, number);
  auto cost = dyn_cast<CostOpInterface>(producer);
  return !(cost && cost.isView());
}

bool BufferOwners::returnsOwnBuffer(Operation *call, FlatSymbolRefAttr callee,
                                    unsigned result) {
  func::FuncOp function = getCallee(call, callee);
  return function && !function.isExternal() &&
         hasOneReader(
             function.getBody().front().getTerminator()->getOperand(result));
}

/// What has been added up is given to who adds to it.
bool BufferOwners::isGivenUpBy(Operation *call, unsigned argument) {
  if (argument < call->getNumOperands())
    return hasOneReader(call->getOperand(argument));
  return isTotalGivenUp(cast<TurnCallOp>(call),
                        argument - call->getNumOperands());
}

/// True if all that add to a total, but what comes last, return a buffer of
/// their own.
bool BufferOwners::isTotalGivenUp(TurnCallOp call, unsigned number) {
  for (auto other :
       call->getParentOfType<ScheduleOp>().getBody().getOps<TurnCallOp>())
    if (other.getTotal() == call.getTotal())
      for (FlatSymbolRefAttr callee :
           {other.getFirstAttr(), other.getNextAttr()})
        if (callee &&
            !returnsOwnBuffer(other, callee, other.getNumResults() + number))
          return false;
  return true;
}

/// A result of a schedule is what the last function returns behind the results
/// of its call.
bool BufferOwners::isTotalOwnBuffer(ScheduleOp schedule, unsigned result) {
  std::map<uint64_t, TurnCallOp> lastOf; // By number of the total.
  for (auto call : schedule.getBody().getOps<TurnCallOp>())
    if (call.getLast())
      lastOf[call.getTotal()] = call;
  for (auto [total, call] : lastOf) {
    func::FuncOp last = getCallee(call, call.getLastAttr());
    if (!last)
      return false;
    unsigned count = last.getNumResults() - call.getNumResults();
    if (result < count)
      return returnsOwnBuffer(call, call.getLastAttr(),
                              call.getNumResults() + result);
    result -= count;
  }
  return false;
}

func::FuncOp BufferOwners::getCallee(Operation *call,
                                     FlatSymbolRefAttr callee) {
  return tables.lookupNearestSymbolFrom<func::FuncOp>(call, callee);
}

/// True if a shard of a gradient is only added to that of earlier
/// micro-batches.
static bool isOnlyAdded(Value shard) {
  auto isAllReduce = [](Operation *op) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    return collective && collective.isKind(CollectiveKind::AllReduce);
  };
  return llvm::all_of(shard.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isAllReduce(user))
      return isOnlyAdded(user->getResult(use.getOperandNumber()));
    auto accumulate = dyn_cast<AccumulateOp>(user);
    return accumulate && accumulate.getTerm() == shard;
  });
}

/// True for a shard that needs no buffer of its own: that of what all
/// micro-batches have added up, which is kept whole anyway, and one that is
/// added from where it lies to the shard that is kept.
static bool isPartOfWhole(CollectiveOpInterface scatter) {
  return isStepReduction(scatter) ||
         llvm::all_of(scatter->getResults(), isOnlyAdded);
}

/// True for a collective that leaves flat shards of what it sums.
static bool isFlatScatter(CollectiveOpInterface op) {
  return op.isFlat() && op.isKind(CollectiveKind::ReduceScatter);
}

bool BufferOwners::isInPlace(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  bool mayBe =
      collective && (collective.isKind(CollectiveKind::AllReduce) ||
                     (isFlatScatter(collective) && isPartOfWhole(collective)));
  return mayBe && llvm::all_of(op->getOperands(), [&](Value operand) {
           return hasOneReader(operand);
         });
}

std::optional<unsigned> BufferOwners::getOverwrittenOperand(CostOpInterface op,
                                                            unsigned result) {
  std::optional<unsigned> operand = op.getReusableOperand(result);
  if (operand && op.destroysOperand(*operand))
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

/// A value and what it is in a region, or around it, are one buffer; so are a
/// stack and its slices.
void MemoryCategories::joinPassed(Operation *op) {
  auto join = [&](Value lhs, Value rhs) {
    buffers.unionSets(lhs.getAsOpaquePointer(), rhs.getAsOpaquePointer());
  };
  for (OpOperand &use : op->getOpOperands())
    for (const PassedValue &passed : getPassedValues(use))
      join(passed.value, use.get());
  for (const CarriedValue &carried : getCarriedValues(op))
    join(carried.arg, carried.result);
}

/// The results of a task are what it sends, then what it saves for another one,
/// or gradients.
void MemoryCategories::markReturned(Operation *terminator) {
  Operation *function = terminator->getParentOp();
  auto task = function->getAttrOfType<TaskAttr>(STGDialect::kTaskAttr);
  if (!task || task.getKind() == TaskKind::Step)
    return;
  for (auto [number, value] : llvm::enumerate(terminator->getOperands()))
    mark(value, static_cast<int64_t>(number) < task.getSends()
                    ? Category::Communication
                : task.getSaves() ? Category::Activation
                                  : Category::Gradient);
}

MemoryCategories::MemoryCategories(func::FuncOp function,
                                   BufferOwners &owners) {
  function.walk([&](Operation *op) {
    joinPassed(op);
    if (auto cost = dyn_cast<CostOpInterface>(op))
      for (OpResult result : op->getResults())
        if (auto operand =
                owners.getOverwrittenOperand(cost, result.getResultNumber()))
          buffers.unionSets(op->getOperand(*operand).getAsOpaquePointer(),
                            result.getAsOpaquePointer());
    // What comes from the other side is for what was sent.
    if (auto exchange = dyn_cast<ExchangeOp>(op))
      for (auto [input, result] :
           llvm::zip_equal(exchange.getInputs(), exchange.getResults()))
        buffers.unionSets(input.getAsOpaquePointer(),
                          result.getAsOpaquePointer());
    // A view has none of its own.
    if (auto view = dyn_cast<CostOpInterface>(op);
        view && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
        view.isView() && !isa<SplitOp>(op))
      buffers.unionSets(op->getOperand(0).getAsOpaquePointer(),
                        op->getResult(0).getAsOpaquePointer());
    // What is joined has no buffers but those of its parts.
    if (auto concat = dyn_cast<ConcatOp>(op))
      for (Value part : concat.getInputs())
        buffers.unionSets(part.getAsOpaquePointer(),
                          concat.getResult().getAsOpaquePointer());
    if (owners.isInPlace(op))
      for (auto [input, result] :
           llvm::zip_equal(op->getOperands(), op->getResults()))
        buffers.unionSets(input.getAsOpaquePointer(),
                          result.getAsOpaquePointer());
  });
  function.walk([&](Operation *op) {
    Phase phase = getPhase(op);
    for (OpOperand &use : op->getOpOperands()) {
      Value operand = use.get();
      Operation *producer = operand.getDefiningOp();
      if (phase == Phase::Optimizer && isOptimizerRead(use))
        mark(operand, Category::Gradient);
      if (phase == Phase::Backward && producer &&
          getPhase(producer) == Phase::Forward)
        mark(operand, Category::Activation);
    }
    if (isa<func::ReturnOp>(op))
      markReturned(op);
    if (auto recv = dyn_cast<RecvOp>(op); recv && !recv.getInto())
      for (Value result : op->getResults())
        mark(result, phase == Phase::Forward ? Category::Activation
                                             : Category::Communication);
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      markCollective(collective, owners);
  });
  // What is saved as a whole is saved in its parts.
  function.walk([&](SplitOp split) {
    if (get(split.getInput()) == Category::Activation)
      for (Value part : split.getResults())
        mark(part, Category::Activation);
  });
}

void MemoryCategories::markCollective(CollectiveOpInterface op,
                                      BufferOwners &owners) {
  bool isScatter = isFlatScatter(op);
  // What is kept until the end of backward.
  if (isScatter && isStepReduction(op))
    for (Value operand : op->getOperands())
      mark(operand, Category::Gradient);
  // A shard in place is in a buffer that the collective has not made.
  if (op.communicates() && !(isScatter && owners.isInPlace(op)))
    for (Value result : op->getResults())
      mark(result, Category::Communication);
  // Whoever reads them, parameters are not activations.
  if (op.isFlat() && op.isKind(CollectiveKind::AllGather))
    for (Value result : op->getResults())
      gathered.insert(getLeader(result));
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
