//===- Messages.cpp - Messages to nodes -----------------------------------===//
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

/// The buffers of a value that is sent: what is a slice of a larger buffer, or
/// of several that are joined, is copied out of it.
Pieces GraphBuilder::getSentPieces(Operation *op, Value value) {
  Pieces pieces = map[value];
  SymExpr bytes = SymExpr::get(builder.getContext(), 0);
  for (Value piece : pieces) {
    auto tensor = dyn_cast<chakra::TensorType>(piece.getType());
    if (!tensor)
      return pieces;
    bytes = bytes + tensor.getBytes();
  }
  bool isWhole = bytes == cast<SymTensorType>(value.getType()).getNumBytes();
  if (pieces.empty() || isWhole)
    return pieces;
  return {toOneBuffer(op, value, Category::Communication)};
}

chakra::SendOp GraphBuilder::makeSend(MessageOpInterface op, ValueRange values,
                                      int64_t shift, SymExpr payload) {
  SmallVector<Value> buffers;
  for (Value value : values)
    llvm::append_range(buffers, getSentPieces(op, value));
  return chakra::SendOp::create(
      builder, op.getLoc(), builder.getStringAttr(makeName(op, "send")),
      buffers, ValueRange(), op.getAxisAttr(), builder.getI64IntegerAttr(shift),
      builder.getI64IntegerAttr(op.getChannel()), op.getStrideAttr(),
      builder.getStringAttr(getPhaseName(op)), payload);
}

chakra::RecvOp GraphBuilder::makeRecv(MessageOpInterface op, TypeRange types,
                                      int64_t shift, Value into,
                                      SymExpr payload) {
  return chakra::RecvOp::create(
      builder, op.getLoc(), types, builder.getStringAttr(makeName(op, "recv")),
      into, ValueRange(), op.getAxisAttr(), builder.getI64IntegerAttr(shift),
      builder.getI64IntegerAttr(op.getChannel()), op.getStrideAttr(),
      builder.getStringAttr(getPhaseName(op)), payload);
}

LogicalResult GraphBuilder::convertSend(SendOp op) {
  makeSend(op, op.getInputs(), op.getShift(), op.getPayloadAttr());
  return success();
}

LogicalResult GraphBuilder::convertRecv(RecvOp op) {
  if (Value into = op.getInto()) {
    const Pieces &pieces = map[into];
    if (pieces.size() != 1)
      return op.emitOpError("receives into a value that is not one buffer");
    Value buffer = pieces[0];
    chakra::RecvOp recv = makeRecv(op, buffer.getType(), op.getShift(), buffer,
                                   op.getPayloadAttr());
    map[op.getResult(0)] = {recv.getResult(0)};
    return success();
  }
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(getType(result, cast<SymTensorType>(result.getType())));
  chakra::RecvOp recv = makeRecv(op, types, op.getShift());
  for (auto [result, made] :
       llvm::zip_equal(op.getResults(), recv.getResults()))
    map[result] = {made};
  return success();
}

/// What comes from the other side is what is sent, for the same.
LogicalResult GraphBuilder::convertExchange(ExchangeOp op) {
  auto shift = static_cast<int64_t>(op.getShift());
  chakra::SendOp send = makeSend(op, op.getInputs(), shift);
  chakra::RecvOp recv = makeRecv(op, send.getInputs().getTypes(), -shift);
  ValueRange made = recv.getResults();
  for (auto [input, result] :
       llvm::zip_equal(op.getInputs(), op.getResults())) {
    size_t count = map[input].size();
    map[result] = Pieces(made.take_front(count));
    made = made.drop_front(count);
  }
  return success();
}
