//===- Collectives.cpp - Collectives and messages to nodes ----------------===//
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

/// The buffer that a collective makes of one piece of its operand: scaled like
/// the whole.
static FailureOr<Type> scalePiece(Type piece, SymTensorType from,
                                  SymTensorType to, Category category) {
  if (auto stack = dyn_cast<chakra::StackType>(piece)) {
    FailureOr<Type> element =
        scalePiece(stack.getElementType(), from, to, category);
    if (failed(element))
      return failure();
    return Type(chakra::StackType::get(*element, stack.getCount()));
  }
  SymExpr bytes = cast<chakra::TensorType>(piece).getBytes();
  if (bytes == from.getNumBytes())
    return Type(chakra::TensorType::get(piece.getContext(), to.getNumBytes(),
                                        category));
  SymExpr scaled = (bytes * to.getNumBytes()).exactDiv(from.getNumBytes());
  if (!scaled)
    return failure();
  return Type(chakra::TensorType::get(piece.getContext(), scaled, category));
}

/// True for a shard that is a part, in one piece, of the buffer that it has
/// been scattered in.
bool GraphBuilder::isShardOfBuffer(Value value) {
  auto scatter = value.getDefiningOp<FlatReduceScatterOp>();
  return scatter && tables.owners.isInPlace(scatter);
}

LogicalResult GraphBuilder::convertCollective(Operation *op,
                                              chakra::CollKind kind,
                                              ArrayAttr axes, bool inPlace) {
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<Value> resultOf;
  // Buffers say more than what is exchanged of them.
  SymExpr payload;
  if (llvm::any_of(op->getOperands(),
                   [&](Value operand) { return isShardOfBuffer(operand); }))
    payload = SymExpr::get(builder.getContext(), 0);
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults())) {
    // What is sent lies in one piece: a slice of a larger buffer is copied out
    // of it.
    Pieces pieces = map[operand];
    if (payload)
      payload = payload + cast<SymTensorType>(operand.getType()).getNumBytes();
    if (!isShardOfBuffer(operand) && pieces.size() == 1 &&
        isa<chakra::TensorType>(pieces[0].getType()))
      pieces = {toOneBuffer(op, operand, Category::Communication)};
    for (Value piece : pieces) {
      FailureOr<Type> type =
          inPlace ? FailureOr<Type>(piece.getType())
                  : scalePiece(piece.getType(),
                               cast<SymTensorType>(operand.getType()),
                               cast<SymTensorType>(result.getType()),
                               getCategories().get(result));
      if (failed(type))
        return op->emitOpError("has an operand of ")
               << cast<SymTensorType>(operand.getType()).getNumBytes().str()
               << " bytes, which cannot be scaled to its result";
      inputs.push_back(piece);
      types.push_back(*type);
      resultOf.push_back(result);
    }
  }
  if (inputs.empty()) {
    for (Value result : op->getResults())
      map[result] = {};
    return success();
  }
  auto coll = chakra::CollOp::create(
      builder, op->getLoc(), kind,
      makeName(op, chakra::stringifyCollKind(kind)), inputs, axes, types,
      inPlace, getPhaseName(op), ValueRange(), payload);
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    coll.setAmongAttr(reduce.getAmongAttr());
  if (auto exchange = dyn_cast<AllToAllOp>(op))
    coll.setPayloadAttr(exchange.getPayloadAttr());
  for (auto [result, piece] : llvm::zip_equal(resultOf, coll.getResults()))
    map[result].push_back(piece);
  return success();
}

/// Flat shards are padded, so the payload is said: that of the shards for a
/// gather, in the type that they are gathered in, of whole padded tensors for a
/// scatter.
LogicalResult GraphBuilder::convertFlat(Operation *op, chakra::CollKind kind,
                                        ArrayAttr axes) {
  SymExpr shards = SymExpr::get(builder.getContext(), 0);
  bool inPlace = tables.owners.isInPlace(op);
  bool isGather = kind == chakra::CollKind::AllGather;
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperandTypes(), op->getResultTypes())) {
    auto made = cast<SymTensorType>(result);
    if (isGather)
      made =
          cast<SymTensorType>(operand).withElementType(made.getElementType());
    shards = shards + made.getNumBytes();
  }
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults())) {
    Pieces pieces = map[operand];
    if (pieces.size() != 1)
      return op->emitOpError("has an operand that is not one buffer");
    inputs.push_back(pieces.front());
    if (inPlace) {
      types.push_back(pieces.front().getType());
      continue;
    }
    // A stack stays one: its tensors are divided one by one.
    auto stack = dyn_cast<chakra::StackType>(pieces.front().getType());
    auto type = cast<SymTensorType>(result.getType());
    Category category = getCategories().get(result);
    if (!stack) {
      types.push_back(getTensorType(type, category));
      continue;
    }
    SmallVector<SymExpr> counts;
    Type inner = stack;
    while (auto next = dyn_cast<chakra::StackType>(inner)) {
      counts.push_back(next.getCount());
      type = type.getSlice();
      inner = next.getElementType();
    }
    Type made = getTensorType(type, category);
    for (SymExpr count : llvm::reverse(counts))
      made = chakra::StackType::get(made, count);
    types.push_back(made);
  }
  SymExpr payload = isGather ? shards : shards * mesh.getGroupSize(axes);
  auto coll = chakra::CollOp::create(
      builder, op->getLoc(), kind,
      makeName(op, chakra::stringifyCollKind(kind)), inputs, axes, types,
      inPlace, getPhaseName(op), ValueRange(), payload);
  if (auto gather = dyn_cast<FlatAllGatherOp>(op))
    coll.setAheadAttr(gather.getAheadAttr());
  for (auto [result, made] :
       llvm::zip_equal(op->getResults(), coll.getResults()))
    map[result] = {made};
  return success();
}

/// Nothing but the buffers of the parameters is touched.
LogicalResult GraphBuilder::convertGatherUpdated(GatherUpdatedOp op) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    appendPieces(input, inputs);
  chakra::CollOp::create(builder, op.getLoc(), chakra::CollKind::AllGather,
                         makeName(op, "all_gather"), inputs, op.getAxes(),
                         ValueRange(inputs).getTypes(), /*inPlace=*/true,
                         getPhaseName(op), ValueRange(), op.getPayload());
  return success();
}

LogicalResult GraphBuilder::convertSend(SendOp op) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    Pieces pieces = map[input];
    if (pieces.size() == 1 && isa<chakra::TensorType>(pieces[0].getType()))
      pieces = {toOneBuffer(op, input, Category::Communication)};
    llvm::append_range(inputs, pieces);
  }
  chakra::SendOp::create(
      builder, op.getLoc(), builder.getStringAttr(makeName(op, "send")), inputs,
      ValueRange(), op.getAxisAttr(), op.getShiftAttr(), op.getChannelAttr(),
      builder.getStringAttr(getPhaseName(op)));
  return success();
}

LogicalResult GraphBuilder::convertRecv(RecvOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(getType(result, cast<SymTensorType>(result.getType())));
  auto recv = chakra::RecvOp::create(
      builder, op.getLoc(), types, builder.getStringAttr(makeName(op, "recv")),
      ValueRange(), op.getAxisAttr(), op.getShiftAttr(), op.getChannelAttr(),
      builder.getStringAttr(getPhaseName(op)));
  for (auto [result, made] :
       llvm::zip_equal(op.getResults(), recv.getResults()))
    map[result] = {made};
  return success();
}
