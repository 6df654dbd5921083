//===- Collectives.cpp - Collectives to nodes -----------------------------===//
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

/// True for a stack whose slices are parts of larger buffers, which the loop
/// keeps as they are.
static bool hasLargerBuffers(Value value, ArrayRef<Value> pieces) {
  return pieces.size() == 1 && isa<chakra::StackType>(pieces[0].getType()) &&
         chakra::getTotalBytes(pieces[0].getType()) !=
             cast<SymTensorType>(value.getType()).getNumBytes();
}

/// True for a shard that is a part, in one piece, of the buffer that it has
/// been scattered in.
bool GraphBuilder::isShardOfBuffer(Value value) {
  auto scatter = value.getDefiningOp<CollectiveOpInterface>();
  return scatter && scatter.isFlat() && tables.owners.isInPlace(scatter);
}

static chakra::CollKind getKind(CollectiveOpInterface op) {
  switch (op.getCollectiveKind()) {
  case CollectiveKind::AllReduce:
    return chakra::CollKind::AllReduce;
  case CollectiveKind::AllGather:
    return chakra::CollKind::AllGather;
  case CollectiveKind::ReduceScatter:
    return chakra::CollKind::ReduceScatter;
  case CollectiveKind::AllToAll:
    return chakra::CollKind::AllToAll;
  case CollectiveKind::LocalSlice:
    break;
  }
  llvm_unreachable("nothing is communicated");
}

chakra::CollOp GraphBuilder::createCollective(CollectiveOpInterface op,
                                              ValueRange inputs,
                                              TypeRange types, bool inPlace,
                                              SymExpr payload) {
  chakra::CollKind kind = getKind(op);
  auto coll = chakra::CollOp::create(
      builder, op->getLoc(), kind,
      makeName(op, chakra::stringifyCollKind(kind)), inputs, op.getAxes(),
      types, inPlace, getPhaseName(op), ValueRange(), payload);
  coll.setAmongAttr(op.getAmongAttr());
  coll.setPaddedAttr(op.getPaddedBytes());
  coll.setAheadAttr(op.getAheadAttr());
  return coll;
}

LogicalResult GraphBuilder::convertCollective(CollectiveOpInterface op) {
  if (!op.communicates())
    return convertView(op);
  if (op->getNumResults() == 0)
    return convertCompletion(op);
  return op.isFlat() ? convertFlat(op) : convertPieces(op);
}

/// What is exchanged piece by piece.
LogicalResult GraphBuilder::convertPieces(CollectiveOpInterface op) {
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<Value> resultOf;
  bool inPlace = tables.owners.isInPlace(op);
  // Buffers say more than what is exchanged of them.
  SymExpr payload = op.getExactBytes();
  if (llvm::any_of(op->getOperands(), [&](Value operand) {
        return isShardOfBuffer(operand) ||
               hasLargerBuffers(operand, map[operand]);
      }))
    payload = getNumBytes(op);
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults())) {
    // What is sent lies in one piece: a slice of a larger buffer is copied out
    // of it.
    Pieces pieces = map[operand];
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
  auto coll = createCollective(op, inputs, types, inPlace, payload);
  for (auto [result, piece] : llvm::zip_equal(resultOf, coll.getResults()))
    map[result].push_back(piece);
  return success();
}

/// The buffer of a result, or the stack of those of its slices: the tensors of
/// a stack are divided one by one.
Type GraphBuilder::getStackedType(Value result, Type operand) {
  auto type = cast<SymTensorType>(result.getType());
  SmallVector<SymExpr> counts;
  for (auto next = dyn_cast<chakra::StackType>(operand); next;
       next = dyn_cast<chakra::StackType>(next.getElementType())) {
    counts.push_back(next.getCount());
    type = type.getSlice();
  }
  Type made = getTensorType(type, getCategories().get(result));
  for (SymExpr count : llvm::reverse(counts))
    made = chakra::StackType::get(made, count);
  return made;
}

/// Flat shards are padded, so the payload is always said.
LogicalResult GraphBuilder::convertFlat(CollectiveOpInterface op) {
  bool inPlace = tables.owners.isInPlace(op);
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (auto [operand, result] :
       llvm::zip_equal(op->getOperands(), op->getResults())) {
    Pieces pieces = map[operand];
    if (pieces.size() != 1)
      return op->emitOpError("has an operand that is not one buffer");
    Value piece = pieces.front();
    inputs.push_back(piece);
    types.push_back(inPlace ? piece.getType()
                            : getStackedType(result, piece.getType()));
  }
  auto coll = createCollective(op, inputs, types, inPlace, getNumBytes(op));
  for (auto [result, made] :
       llvm::zip_equal(op->getResults(), coll.getResults()))
    map[result] = {made};
  return success();
}

/// Nothing but the buffers of the operands is touched.
LogicalResult GraphBuilder::convertCompletion(CollectiveOpInterface op) {
  SmallVector<Value> inputs;
  for (Value input : op->getOperands())
    appendPieces(input, inputs);
  createCollective(op, inputs, ValueRange(inputs).getTypes(), /*inPlace=*/true,
                   getNumBytes(op));
  return success();
}
