//===- Compute.cpp - Compute ops and views --------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "stg/Dialect/STG/IR/Delayed.h"

using namespace mlir;
using namespace stg;
using chakra::Category;

LogicalResult GraphBuilder::convertCompute(CostOpInterface op,
                                           const StateEnv &env) {
  // A product that only adds to a gradient does so itself.
  AccumulateOp fused;
  if (op->getNumResults() == 1 && op->getResult(0).hasOneUse())
    fused = dyn_cast<AccumulateOp>(*op->getResult(0).user_begin());
  if (fused && (fused.getTerm() != op->getResult(0) || !isFused(fused)))
    fused = {};
  if (auto accumulate = dyn_cast<AccumulateOp>(op.getOperation()))
    if (isFused(accumulate)) // Converted with the product.
      return success();
  SmallVector<Value> inputs, updates;
  // Buffers that a result takes over come first among the updates.
  llvm::SmallDenseMap<unsigned, unsigned> overwritten; ///< Operand by result.
  SmallVector<unsigned> overwrittenOperands;
  for (unsigned i = 0, e = op->getNumResults(); i != e; ++i)
    if (auto operand = tables.owners.getOverwrittenOperand(op, i);
        operand && map[op->getOperand(*operand)].size() == 1) {
      overwritten[i] = updates.size();
      overwrittenOperands.push_back(*operand);
      appendPieces(op->getOperand(*operand), updates);
    }
  for (OpOperand &use : op->getOpOperands())
    if (!llvm::is_contained(overwrittenOperands, use.getOperandNumber()))
      appendPieces(use.get(), op.updatesOperand(use.getOperandNumber())
                                  ? updates
                                  : inputs);
  for (unsigned i = 0, e = op->getNumResults(); i != e; ++i)
    if (std::optional<unsigned> state = op.getResultState(i))
      overwritten[i] = updates.size() + *state;
  for (const StateBuffer &state : op.getStateBuffers())
    updates.push_back(env.lookup(getStateName(op, state)));
  if (fused) {
    overwritten[0] = updates.size();
    appendPieces(fused.getTotal(), updates);
  }
  // What an optimizer step makes is the parameter's buffer.
  if (op->getNumResults() == 1 && op.updatesOperand(0))
    overwritten[0] = 0;
  SmallVector<Type> types;
  SmallVector<unsigned> counts;
  for (OpResult result : op->getResults()) {
    if (overwritten.contains(result.getResultNumber()) || !isMade(result) ||
        isa<DequantizeOp>(op)) {
      counts.push_back(0);
      continue;
    }
    SmallVector<Type> pieces = getResultTypes(result);
    counts.push_back(pieces.size());
    llvm::append_range(types, pieces);
  }
  if (StringRef pass = op.getLoweringPass(); !pass.empty())
    return op.emitOpError("is not what one device executes; run --")
           << pass << " first";
  OpCost cost = op.getCost();
  if (!cost.operations || !cost.bytes)
    return op.emitOpError("has a cost that is too large to be expressed");
  if (fused) {
    // The buffer is read, too; the sum is part of the product.
    cost.bytes =
        cost.bytes + cast<SymTensorType>(fused.getType()).getNumBytes();
  }
  auto comp = chakra::CompOp::create(builder, op.getLoc(), makeName(op, ""),
                                     inputs, cost.operations, cost.bytes, types,
                                     getPhaseName(op), updates);
  comp.setMatrix(cost.isMatrix);
  if (isDelayed(op))
    comp.setDelayed();
  comp.setKernelAttr(getKernel(op, cost.isMatrix, static_cast<bool>(fused)));
  // Who reads what has been dequantized reads what is stored.
  if (isa<DequantizeOp>(op)) {
    appendPieces(op->getOperand(0), map[op->getResult(0)]);
    return success();
  }
  auto pieces = comp.getNewResults().begin();
  for (auto [result, count] : llvm::zip_equal(op->getResults(), counts))
    for (unsigned i = 0; i < count; ++i)
      map[result].push_back(*pieces++);
  for (auto [result, update] : overwritten)
    map[fused ? fused.getResult() : Value(op->getResult(result))] = {
        comp.getUpdatedResults()[update]};
  return success();
}

/// True if the product that makes the term can add it to the total: nobody else
/// reads it, and the total is there before.
bool GraphBuilder::isFused(AccumulateOp op) {
  Operation *product = op.getTerm().getDefiningOp();
  if (!isa_and_nonnull<EinsumOp, CastOp>(product) ||
      !op.getTerm().hasOneUse() || product->getBlock() != op->getBlock())
    return false;
  Operation *total = op.getTotal().getDefiningOp();
  return map[op.getTotal()].size() == 1 || !total ||
         (total->getBlock() == op->getBlock() &&
          total->isBeforeInBlock(product));
}

/// Parts of a value that its producer wrote as parts; of any other value, a
/// part is the whole of it.
static bool isSplitByProducer(SplitOp split, ArrayRef<Value> pieces) {
  return pieces.size() == split.getNumResults() &&
         llvm::all_of_zip(
             split.getResultTypes(), pieces, [](Type type, Value piece) {
               auto tensor = dyn_cast<chakra::TensorType>(piece.getType());
               return tensor && tensor.getBytes() ==
                                    cast<SymTensorType>(type).getNumBytes();
             });
}

LogicalResult GraphBuilder::convertView(Operation *op) {
  Pieces all;
  for (Value operand : op->getOperands())
    appendPieces(operand, all);
  auto split = dyn_cast<SplitOp>(op);
  bool byParts = split && isSplitByProducer(split, all);
  for (OpResult result : op->getResults())
    map[result] = byParts ? Pieces{all[result.getResultNumber()]} : all;
  return success();
}
