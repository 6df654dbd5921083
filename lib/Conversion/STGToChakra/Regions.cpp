//===- Regions.cpp - Loops and calls --------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "stg/Dialect/STG/IR/Loops.h"

using namespace mlir;
using namespace stg;
using chakra::Category;

/// What becomes the body and the results of a repeat.
struct GraphBuilder::LoopParts {
  Block body;
  std::string prefix; ///< Of the names inside.
  SmallVector<Value> stacked;
  /// Into how many of them a stack of the loop is split.
  SmallVector<std::pair<Value, unsigned>> stackedPieces;

  void moveTo(chakra::RepeatOp repeat);
};

void GraphBuilder::LoopParts::moveTo(chakra::RepeatOp repeat) {
  Block &target = repeat.getBody().front();
  target.getOperations().clear();
  for (auto [from, to] :
       llvm::zip_equal(body.getArguments(), target.getArguments()))
    from.replaceAllUsesWith(to);
  target.getOperations().splice(target.end(), body.getOperations());
}

/// What an iteration of a scan reads of stacks, and its own states.
LogicalResult GraphBuilder::readSlices(ScanOpInterface scan,
                                       const StateEnv &env, LoopParts &parts,
                                       SmallVectorImpl<Value> &slices,
                                       StateEnv &inner) {
  auto addSlice = [&](Value stack) {
    slices.push_back(stack);
    return parts.body.addArgument(
        cast<chakra::StackType>(stack.getType()).getElementType(),
        scan->getLoc());
  };
  for (auto [stack, arg] :
       llvm::zip_equal(scan.getStacks(), scan.getSliceArgs())) {
    Pieces pieces;
    for (Value piece : map[stack]) {
      if (!isa<chakra::StackType>(piece.getType()))
        return scan->emitOpError("reads slices of a value that no repeat has "
                                 "stacked");
      pieces.push_back(addSlice(piece));
    }
    map[arg] = pieces;
  }
  for (auto [path, value] :
       getUsedStates(scan.getLoopBlock(), parts.prefix, env))
    inner[builder.getStringAttr(
        path.getValue().drop_front(parts.prefix.size()))] = addSlice(value);
  return success();
}

/// What the body of a loop hands out, but not how it starts. Carried values are
/// one buffer each.
LogicalResult GraphBuilder::convertBody(LoopLikeOpInterface loop,
                                        const StateEnv &inner,
                                        LoopParts &parts) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&parts.body);
  std::string outerPath = scopePath;
  scopePath += parts.prefix;
  if (failed(convertBlock(loop.getLoopRegions().front()->front(), inner)))
    return failure();
  scopePath = outerPath;
  SmallVector<Value> carried;
  for (const CarriedValue &value : getCarriedValues(loop))
    carried.push_back(toOneBuffer(loop, value.yielded->get(),
                                  getCategories().get(value.arg)));
  if (auto scan = dyn_cast<ScanOpInterface>(loop.getOperation()))
    for (OpResult stack : scan.getStackedResults()) {
      Value slice = getStackedOperand(stack)->get();
      appendPieces(slice, parts.stacked);
      parts.stackedPieces.emplace_back(stack, map[slice].size());
    }
  chakra::YieldOp::create(builder, loop->getLoc(), carried, parts.stacked);
  return success();
}

/// The body is converted before the op is made, because only then the stacked
/// buffers are known. Iterations of a loop that is no scan have the same
/// states, which it reads from outside.
LogicalResult GraphBuilder::convertLoop(LoopLikeOpInterface loop,
                                        const StateEnv &env) {
  Location loc = loop->getLoc();
  auto scan = dyn_cast<ScanOpInterface>(loop.getOperation());
  SymExpr count = getIterations(loop);
  SmallVector<Region *> regions = loop.getLoopRegions();
  if (!count || regions.size() != 1 || !regions.front()->hasOneBlock())
    return loop->emitOpError("is a loop that cannot be counted, expected one "
                             "block and a number of iterations");
  std::string name = scan ? scan.getScopeName().str() : makeName(loop, "");
  LoopParts parts;
  parts.prefix = (scan ? getScopeKey(scan).str() : name) + "/";
  SmallVector<Value> inits, slices;
  for (const CarriedValue &value : getCarriedValues(loop)) {
    inits.push_back(
        toOneBuffer(loop, value.init->get(), getCategories().get(value.arg)));
    map[value.arg] = {parts.body.addArgument(inits.back().getType(), loc)};
  }
  StateEnv inner;
  if (!scan)
    inner = env;
  if (scan && failed(readSlices(scan, env, parts, slices, inner)))
    return failure();
  if (failed(convertBody(loop, inner, parts)))
    return failure();
  SmallVector<Type> types;
  for (Value value : parts.stacked)
    types.push_back(chakra::StackType::get(value.getType(), count));
  auto op = chakra::RepeatOp::create(builder, loc, name, count, inits, slices,
                                     types, scan && scan.getReverse());
  if (scan && scan.getFirst())
    op.setFirstAttr(*scan.getFirst());
  parts.moveTo(op);
  for (auto [value, piece] :
       llvm::zip_equal(getCarriedValues(loop), op.getCarryResults()))
    map[value.result] = {piece};
  auto pieces = op.getStackResults().begin();
  for (auto [result, number] : parts.stackedPieces) {
    map[result] = {};
    for (unsigned i = 0; i < number; ++i)
      map[result].push_back(*pieces++);
  }
  return success();
}
