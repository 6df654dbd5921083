//===- STGSchedule.cpp - Schedules of pipeline devices --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "stg/Dialect/Sym/IR/Schedules.h"

using namespace mlir;
using namespace stg;

//===----------------------------------------------------------------------===//
// ScheduleOp
//===----------------------------------------------------------------------===//

LogicalResult ScheduleOp::verifyRegions() {
  if (failed(stg::detail::verifyTurns( // schedule_c1, schedule_c2
          *this, std::equal_to<Type>())))
    return failure();
  Block &body = getBody().front();
  for (Operation &op : body)
    if (!isa<func::CallOp, TurnCallOp, SendOp, RecvOp>(op)) // schedule_c3
      return op.emitOpError("is in a schedule, which has calls and messages");
  return stg::detail::verifyOrder(*this, getOrder(), getCount(), // schedule_c4
                                  body);
}

LogicalResult ScheduleOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  using stg::detail::CalleeTypes;
  auto getCallee = [&](TurnCallOp call,
                       FlatSymbolRefAttr name) -> std::optional<CalleeTypes> {
    auto callee = symbolTable.lookupNearestSymbolFrom<func::FuncOp>(call, name);
    if (!callee)
      return std::nullopt;
    return CalleeTypes{llvm::to_vector(callee.getArgumentTypes()),
                       llvm::to_vector(callee.getResultTypes())};
  };
  if (failed(stg::detail::verifyTotals<TurnCallOp>(*this, getCallee,
                                                   std::equal_to<Type>())))
    return failure();
  MeshOp mesh = MeshOp::lookup(*this, symbolTable);
  if (failed(stg::detail::verifySwitchAxes( // schedule_c7
          *this, getSwitchAxesAttr(), mesh ? mesh.getMesh() : MeshAttr())))
    return failure();
  return stg::detail::verifyDeclaredSymbols(*this, symbolTable);
}

//===----------------------------------------------------------------------===//
// TurnCallOp
//===----------------------------------------------------------------------===//

LogicalResult TurnCallOp::verify() { // turn_call_c2
  return getCallees().empty() ? emitOpError("calls no function") : success();
}

LogicalResult TurnCallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return stg::detail::verifyDeclaredSymbols(*this, symbolTable);
}
