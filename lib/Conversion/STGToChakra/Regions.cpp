//===- Regions.cpp - Repeats and calls ------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

using namespace mlir;
using namespace stg;
using chakra::Category;

/// Converts a function for its first call; the arguments have the pieces of the
/// operands.
FailureOr<chakra::FuncOp> GraphBuilder::convertCallee(func::CallOp call,
                                                      func::FuncOp callee,
                                                      const StateEnv &env) {
  Block &body = callee.getBody().front();
  SmallVector<Type> argTypes;
  for (Value operand : call.getOperands())
    for (Value piece : map[operand])
      argTypes.push_back(piece.getType());
  OpBuilder::InsertionGuard guard(builder);
  // Before the first call, behind the states.
  auto function = chakra::FuncOp::create(
      builder, callee.getLoc(), callee.getSymName(), argTypes, TypeRange());
  Block &entry = function.getBody().front();
  auto next = entry.args_begin();
  for (auto [operand, arg] :
       llvm::zip_equal(call.getOperands(), body.getArguments())) {
    Pieces pieces;
    for (size_t i = 0, e = map[operand].size(); i < e; ++i)
      pieces.push_back(*next++);
    map[arg] = pieces;
  }
  builder.setInsertionPointToEnd(&entry);
  std::string outerPath = scopePath;
  // The nodes of a variant have the names of those of the others.
  auto task = callee->getAttrOfType<TaskAttr>(STGDialect::kTaskAttr);
  if (task && task.getVariant())
    scopePath += ("@" + callee.getSymName() + "/").str();
  categories.push_back(
      std::make_unique<MemoryCategories>(callee, tables.owners));
  LogicalResult converted = convertBlock(body, env);
  categories.pop_back();
  scopePath = outerPath;
  if (failed(converted))
    return failure();
  SmallVector<Value> results;
  Callee &entryOf = callees[callee];
  for (Value value : body.getTerminator()->getOperands()) {
    entryOf.results.push_back(map[value].size());
    appendPieces(value, results);
  }
  chakra::ReturnOp::create(builder, callee.getLoc(), results);
  function.setType(
      builder.getFunctionType(argTypes, ValueRange(results).getTypes()));
  entryOf.function = function;
  return function;
}

LogicalResult GraphBuilder::convertCall(func::CallOp call,
                                        const StateEnv &env) {
  auto callee = tables.symbols.lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.isPrivate())
    return call.emitOpError("calls '")
           << call.getCallee() << "', which is not a private function with a "
           << "body";
  if (!callees.contains(callee) && failed(convertCallee(call, callee, env)))
    return failure();
  const Callee &converted = callees[callee];
  SmallVector<Value> operands;
  for (Value operand : call.getOperands())
    appendPieces(operand, operands);
  auto scope = call->getAttrOfType<StringAttr>(STGDialect::kScopeAttr);
  chakra::FuncOp function = converted.function;
  auto op = chakra::CallOp::create(
      builder, call.getLoc(), function.getResultTypes(),
      FlatSymbolRefAttr::get(function.getSymNameAttr()), operands,
      scope ? scope : builder.getStringAttr(""));
  auto next = op.getResults().begin();
  for (auto [result, count] :
       llvm::zip_equal(call.getResults(), converted.results)) {
    map[result] = {};
    for (unsigned i = 0; i < count; ++i)
      map[result].push_back(*next++);
  }
  return success();
}

/// Carried values are one buffer each. The body is converted before the op is
/// made, because only then the stacked buffers are known.
LogicalResult GraphBuilder::convertRepeat(RepeatOp repeat,
                                          const StateEnv &env) {
  Location loc = repeat.getLoc();
  std::string prefix = getScopeKey(repeat).str() + "/";
  SmallVector<Value> inits, slices;
  Block body;
  StateEnv inner;
  for (auto [init, arg] :
       llvm::zip_equal(repeat.getInits(), repeat.getCarriedArgs())) {
    inits.push_back(toOneBuffer(repeat, init, getCategories().get(arg)));
    map[arg] = {body.addArgument(inits.back().getType(), loc)};
  }
  auto addSlice = [&](Value stack) {
    slices.push_back(stack);
    return body.addArgument(
        cast<chakra::StackType>(stack.getType()).getElementType(), loc);
  };
  for (auto [stack, arg] :
       llvm::zip_equal(repeat.getStacks(), repeat.getSliceArgs())) {
    Pieces pieces;
    for (Value piece : map[stack]) {
      if (!isa<chakra::StackType>(piece.getType()))
        return repeat.emitOpError("reads slices of a value that no repeat has "
                                  "stacked");
      pieces.push_back(addSlice(piece));
    }
    map[arg] = pieces;
  }
  for (auto [path, value] :
       getUsedStates(repeat.getBody().front(), prefix, env))
    inner[builder.getStringAttr(path.getValue().drop_front(prefix.size()))] =
        addSlice(value);

  SmallVector<Value> carried, stacked;
  SmallVector<std::pair<Value, unsigned>> stackedPieces;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body);
    std::string outerPath = scopePath;
    scopePath += prefix;
    if (failed(convertBlock(repeat.getBody().front(), inner)))
      return failure();
    scopePath = outerPath;
    for (auto [number, value] :
         llvm::enumerate(repeat.getYield().getValues())) {
      if (number >= repeat.getNumCarried()) {
        appendPieces(value, stacked);
        stackedPieces.emplace_back(repeat.getResult(number), map[value].size());
      } else {
        carried.push_back(
            toOneBuffer(repeat, value,
                        getCategories().get(repeat.getCarriedArgs()[number])));
      }
    }
    chakra::YieldOp::create(builder, loc, carried, stacked);
  }
  SmallVector<Type> types;
  for (Value value : stacked)
    types.push_back(chakra::StackType::get(value.getType(), repeat.getCount()));
  auto op = chakra::RepeatOp::create(builder, loc, repeat.getRepeatName(),
                                     repeat.getCount(), inits, slices, types,
                                     repeat.getReverse());
  if (repeat.getFirst())
    op.setFirstAttr(*repeat.getFirst());
  Block &target = op.getBody().front();
  target.getOperations().clear();
  for (auto [from, to] :
       llvm::zip_equal(body.getArguments(), target.getArguments()))
    from.replaceAllUsesWith(to);
  target.getOperations().splice(target.end(), body.getOperations());
  for (auto [result, piece] :
       llvm::zip_equal(repeat.getCarriedResults(), op.getCarryResults()))
    map[result] = {piece};
  auto pieces = op.getStackResults().begin();
  for (auto [result, count] : stackedPieces) {
    map[result] = {};
    for (unsigned i = 0; i < count; ++i)
      map[result].push_back(*pieces++);
  }
  return success();
}
