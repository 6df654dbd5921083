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

/// A function has one place in which it is executed at a time.
static LogicalResult verifyPairs(ScheduleOp schedule) { // C8
  if (!schedule.getOrder().getOrder().hasPairs())
    return success();
  using Execution = stg::detail::Execution<TurnCallOp>;
  FlatSymbolRefAttr before;
  return stg::detail::walkSchedule<TurnCallOp>(
      schedule, [&](Execution &execution) -> LogicalResult {
        FlatSymbolRefAttr callee;
        if (auto call = dyn_cast<CallOp>(execution.op))
          callee = call.getCalleeAttr();
        else if (execution.adder)
          callee = execution.getCallee();
        if (execution.isBeside && callee == before)
          return schedule.emitOpError("executes ")
                 << callee << " side by side with itself";
        before = callee;
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
  if (failed(stg::detail::verifySwitchAxes( // C9
          *this, getSwitchAxesAttr(),
          (*this)->getParentOfType<GraphOp>().getMesh())))
    return failure();
  return verifyPairs(*this);
}

LogicalResult TurnCallOp::verify() { // C2
  return getCallees().empty() ? emitOpError("calls no function") : success();
}
