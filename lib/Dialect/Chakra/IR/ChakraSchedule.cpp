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
  return stg::chakra::detail::verifyName(*this, getName()); // C6
}

LogicalResult ScheduleOp::verifyRegions() {
  auto count = static_cast<int64_t>(getCount());
  if (count < 2 || count > INT32_MAX) // C1
    return emitOpError("has ") << count << " turns, expected 2 to 2^31 - 1";
  Block &body = getBody().front();
  if (getInputs().size() != body.getNumArguments() * getCount()) // C2
    return emitOpError("has ")
           << getInputs().size() << " inputs, expected " << count
           << " for each of " << body.getNumArguments()
           << " arguments of its body";
  for (auto [number, arg] : llvm::enumerate(body.getArguments()))
    for (uint64_t turn = 0; turn < getCount(); ++turn)
      if (Type type = getInput(number, turn).getType();
          !stg::chakra::detail::haveSameSize(type, arg.getType()))
        return emitOpError("has an input of type ")
               << type << " for argument #" << number << " of type "
               << arg.getType();
  for (Operation &op : body)
    if (!isa<CallOp, TurnCallOp, CompOp, SendOp, RecvOp>(op)) // C3
      return op.emitOpError(
          "is in a schedule, which has calls, messages and compute nodes");
  return stg::detail::verifyOrder(*this, getOrder(), getCount(), body); // C4
}

LogicalResult
ScheduleOp::verifySymbolUses(SymbolTableCollection &symbolTable) { // C5
  auto getCallee = [&](TurnCallOp call,
                       FlatSymbolRefAttr name) -> std::optional<CalleeTypes> {
    auto callee = symbolTable.lookupNearestSymbolFrom<FuncOp>(
        (*this)->getParentOp(), name);
    if (!callee || !callee->isBeforeInBlock(*this))
      return std::nullopt;
    return CalleeTypes{llvm::to_vector(callee.getArgumentTypes()),
                       llvm::to_vector(callee.getResultTypes())};
  };
  return stg::detail::verifyTotals<TurnCallOp>(
      *this, getCallee, stg::chakra::detail::haveSameSize);
}

LogicalResult TurnCallOp::verify() { // C2
  return getCallees().empty() ? emitOpError("calls no function") : success();
}
