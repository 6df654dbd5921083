//===- GraphEdits.cpp - Graphs that become parts of each other
//-------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What makes one graph of graphs that were compiled apart.
//
//===----------------------------------------------------------------------===//

#include "GraphEdits.h"

using namespace mlir;
using namespace stg;

bool stg::isStepLoop(Operation &op) {
  auto repeat = dyn_cast<chakra::RepeatOp>(op);
  return repeat && repeat.getIndexAttr();
}

chakra::GraphOp stg::findGraph(ModuleOp module, chakra::GraphOp graph) {
  for (auto other : module.getOps<chakra::GraphOp>())
    if (other.getMesh() == graph.getMesh() &&
        other.getCoordinatesAttr() == graph.getCoordinatesAttr())
      return other;
  return nullptr;
}

SmallVector<chakra::StateOp> stg::getStates(Operation &op) {
  SmallVector<chakra::StateOp> states;
  op.walk([&](chakra::StateOp state) { states.push_back(state); });
  return states;
}

void stg::setBufferType(Value value, Type type) {
  if (value.getType() == type)
    return;
  value.setType(type);
  for (OpOperand &use : value.getUses()) {
    Operation *owner = use.getOwner();
    if (auto node = dyn_cast<chakra::NodeOpInterface>(owner)) {
      for (OpResult result : owner->getResults())
        if (node.getChangedBuffer(result.getResultNumber()) == value)
          setBufferType(result, type);
    } else if (auto yield = dyn_cast<chakra::YieldOp>(owner)) {
      auto repeat = cast<chakra::RepeatOp>(yield->getParentOp());
      for (auto [stacked, result] :
           llvm::zip_equal(yield.getStacks(), repeat.getStackResults()))
        if (stacked == value)
          setBufferType(result,
                        chakra::StackType::get(type, repeat.getCount()));
    } else if (auto repeat = dyn_cast<chakra::RepeatOp>(owner)) {
      for (auto [slice, arg] :
           llvm::zip_equal(repeat.getSlices(), repeat.getSliceArgs()))
        if (slice == value)
          setBufferType(arg, cast<chakra::StackType>(type).getElementType());
    } else if (auto schedule = dyn_cast<chakra::ScheduleOp>(owner)) {
      unsigned arg = use.getOperandNumber() / schedule.getCount();
      setBufferType(schedule.getBody().getArgument(arg), type);
    } else if (auto call = dyn_cast<chakra::CallOp>(owner)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<chakra::FuncOp>(
          call, call.getCalleeAttr());
      setBufferType(callee.getBody().getArgument(use.getOperandNumber()), type);
      callee.setType(FunctionType::get(type.getContext(),
                                       callee.getBody().getArgumentTypes(),
                                       callee.getResultTypes()));
    }
  }
}

Operation *stg::findStates(Block &body, Operation &op,
                           llvm::function_ref<bool(Operation &)> isFree) {
  auto name = cast<chakra::NamedOpInterface>(op).getNameAttr();
  for (Operation &other : body)
    if (other.getName() == op.getName() && !isStepLoop(other) &&
        cast<chakra::NamedOpInterface>(other).getNameAttr() == name &&
        isFree(other))
      return &other;
  return nullptr;
}

void stg::moveFunction(chakra::FuncOp function, Block &body,
                       chakra::GraphOp from, const Twine &suffix) {
  SymbolTable known(body.getParentOp()), own(from);
  std::string name;
  for (unsigned number = 1;; ++number) {
    name = (function.getSymName() + suffix + Twine(number)).str();
    if (!known.lookup(name) && !own.lookup(name))
      break;
  }
  auto symbol = StringAttr::get(function.getContext(), name);
  // A graph has no symbols that are used elsewhere.
  (void)own.rename(function, symbol);
  auto caller = llvm::find_if(body, [](Operation &op) {
    return isStepLoop(op) || isa<chakra::ScheduleOp>(op);
  });
  function->moveBefore(&body, caller);
}
