//===- ChakraSchedule.cpp - Schedules of pipeline devices -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/Sym/IR/Schedules.h"

using namespace mlir;
using namespace stg::chakra;
using stg::detail::CalleeTypes;

LogicalResult ScheduleOp::verify() {
  if (failed(stg::chakra::detail::verifyInSteps(*this))) // C7
    return failure();
  return stg::chakra::detail::verifyName(*this, getName()); // C6
}

LogicalResult ScheduleOp::verifyRegions() {
  if (failed(stg::detail::verifyTurns( // C1, C2
          *this, stg::chakra::detail::haveSameSize)))
    return failure();
  Block &body = getBody().front();
  for (Operation &op : body)
    if (!isa<CallOp, TurnCallOp, CompOp, SendOp, RecvOp>(op)) // C3
      return op.emitOpError(
          "is in a schedule, which has calls, messages and compute nodes");
  return stg::detail::verifyOrder(*this, getOrder(), getCount(), body); // C4
}

/// Adds the functions that a call executes, also within others.
static void collectCallees(Operation *from, FlatSymbolRefAttr name,
                           SymbolTableCollection &symbolTable,
                           DenseSet<Attribute> &callees) {
  if (!callees.insert(name).second)
    return;
  if (auto callee = symbolTable.lookupNearestSymbolFrom<FuncOp>(from, name))
    callee.walk([&](CallOp call) {
      collectCallees(from, call.getCalleeAttr(), symbolTable, callees);
    });
}

/// A function has one place in which it is executed at a time.
static LogicalResult verifyPairs(ScheduleOp schedule,
                                 SymbolTableCollection &symbolTable) { // C8
  if (!schedule.getOrder().getOrder().hasPairs())
    return success();
  using Execution = stg::detail::Execution<TurnCallOp>;
  auto collect = [&](Execution &execution) {
    DenseSet<Attribute> callees;
    auto call = dyn_cast<CallOp>(execution.op);
    if (call || execution.adder)
      collectCallees(schedule->getParentOp(),
                     call ? call.getCalleeAttr() : execution.getCallee(),
                     symbolTable, callees);
    return callees;
  };
  std::optional<Execution> before;
  return stg::detail::walkSchedule<TurnCallOp>(
      schedule, [&](Execution &execution) -> LogicalResult {
        if (execution.isBeside) {
          DenseSet<Attribute> first = collect(*before);
          for (Attribute name : collect(execution))
            if (first.contains(name))
              return schedule.emitOpError("executes ")
                     << name << " side by side with itself";
        }
        before = execution;
        return success();
      });
}

LogicalResult
ScheduleOp::verifySymbolUses(SymbolTableCollection &symbolTable) { // C5
  auto getCallee = [&](TurnCallOp call,
                       FlatSymbolRefAttr name) -> std::optional<CalleeTypes> {
    auto callee = symbolTable.lookupNearestSymbolFrom<FuncOp>(
        (*this)->getParentOp(), name);
    if (!callee || !stg::chakra::detail::isBeforeCall(callee, *this))
      return std::nullopt;
    return CalleeTypes{llvm::to_vector(callee.getArgumentTypes()),
                       llvm::to_vector(callee.getResultTypes())};
  };
  if (failed(stg::detail::verifyTotals<TurnCallOp>(
          *this, getCallee, stg::chakra::detail::haveSameSize)))
    return failure();
  return verifyPairs(*this, symbolTable);
}

LogicalResult TurnCallOp::verify() { // C2
  return getCallees().empty() ? emitOpError("calls no function") : success();
}
