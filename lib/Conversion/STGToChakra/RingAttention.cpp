//===- RingAttention.cpp - Ring attention as nodes ------------------------===//
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

namespace {
/// Ring attention as nodes. In each step keys and values go on to the next
/// device while the block of those that are here is computed. Forward begins
/// with the device's own block and then has those of the devices before it, the
/// nearest first. Backward goes the other way, begins with the block that
/// forward ended with and ends with the own one; the gradients of keys and
/// values follow one step behind.
///
/// Where queries are those of one range, a causal mask hides the blocks of
/// later ranges. They are passed on all the same, but not computed.
class RingBuilder {
public:
  RingBuilder(OpBuilder &builder, Operation *op, StringRef name, StringRef axis,
              SymExpr size, function_ref<Value(Value)> getBuffer)
      : builder(builder), op(op), name(name), axis(axis), size(size),
        range(op->getAttrOfType<SymExpr>("range")) {
    for (Value operand : op->getOperands())
      buffers.push_back(getBuffer(operand));
  }

  /// The buffers of the results.
  SmallVector<Value> build(TypeRange resultTypes) {
    return isBackward() ? buildBackward(resultTypes)
                        : buildForward(resultTypes);
  }

private:
  using Values = SmallVector<Value, 5>;

  SmallVector<Value> buildForward(TypeRange resultTypes);
  SmallVector<Value> buildBackward(TypeRange resultTypes);

  Values pass(ArrayRef<Value> values, StringRef what, int64_t channel);
  Values passKeys(ArrayRef<Value> keys, StringRef what);
  Values passGradients(ArrayRef<Value> made, StringRef what);
  chakra::CompOp compute(ArrayRef<Value> keys, ArrayRef<Value> updates,
                         SymExpr pairs, StringRef suffix, TypeRange newTypes);
  void repeat(StringRef suffix, SymExpr count, Values &keys, Values &made,
              function_ref<void(Values &, Values &)> buildStep);
  void repeatMiddle(bool isHidden, Values &keys, Values &made);

  bool isBackward() const { return isa<AttentionGradOp>(op); }
  SymExpr getBlockPairs(bool isOwn);
  SymExpr getNumVisible();
  SymExpr seesFarthest();

  OpBuilder &builder;
  Operation *op;
  std::string name;
  StringRef axis;
  SymExpr size;
  SymExpr range;  ///< The number of the queries' range; null: none.
  Values buffers; ///< Of the operands: queries, keys, values, others.
};
} // namespace

/// The pairs of the device's queries with one block of keys: its own, half of
/// which a causal mask hides but for the diagonal, or another's, of which
/// balanced queries see half.
SymExpr RingBuilder::getBlockPairs(bool isOwn) {
  SymExpr queries =
      cast<SymTensorType>(op->getOperand(0).getType()).getShape()[1];
  bool isBalanced = op->hasAttr("balanced");
  if (isOwn && (isBalanced || range))
    return (queries * (queries + 1)).exactDiv(2);
  if (isBalanced)
    return (queries * queries).exactDiv(2);
  return queries * queries;
}

/// Of the steps between the first and the last, those whose block is seen: as
/// many as there are ranges before the own one.
SymExpr RingBuilder::getNumVisible() {
  if (!range)
    return size - 2;
  return SymExpr::getFunction(SymFunc::Min, {range, size - 2});
}

/// 1 if the block that goes the longest way is seen, as all are by the last
/// range, else 0.
SymExpr RingBuilder::seesFarthest() {
  SymExpr one = SymExpr::get(op->getContext(), 1);
  if (!range)
    return one;
  return SymExpr::getFunction(SymFunc::Max, {range - size + 2, one - 1});
}

RingBuilder::Values RingBuilder::pass(ArrayRef<Value> values, StringRef what,
                                      int64_t channel) {
  // Backward turns the ring around.
  int64_t shift = isBackward() ? -1 : 1;
  auto attr = [&](StringRef text) { return builder.getStringAttr(text); };
  std::string message = (name + "." + what).str();
  chakra::SendOp::create(
      builder, op->getLoc(), attr(message + ".send"), values, ValueRange(),
      attr(axis), builder.getI64IntegerAttr(shift),
      builder.getI64IntegerAttr(channel), attr(getPhaseName(op)));
  auto recv = chakra::RecvOp::create(
      builder, op->getLoc(), ValueRange(values).getTypes(),
      attr(message + ".recv"), ValueRange(), attr(axis),
      builder.getI64IntegerAttr(-shift), builder.getI64IntegerAttr(channel),
      attr(getPhaseName(op)));
  return Values(recv.getResults());
}

RingBuilder::Values RingBuilder::passKeys(ArrayRef<Value> keys,
                                          StringRef what) {
  // Apart from pipelines' channels, one for each kind of message.
  return pass(keys, what, 1000000 + (isBackward() ? 1 : 0));
}

/// In backward gradients of keys and values travel; those of queries stay.
RingBuilder::Values RingBuilder::passGradients(ArrayRef<Value> made,
                                               StringRef what) {
  Values result(made);
  Values moved = pass(made.drop_front(), what, /*channel=*/1000002);
  llvm::copy(moved, result.begin() + 1);
  return result;
}

chakra::CompOp RingBuilder::compute(ArrayRef<Value> keys,
                                    ArrayRef<Value> updates, SymExpr pairs,
                                    StringRef suffix, TypeRange newTypes) {
  Values inputs{buffers[0]};
  llvm::append_range(inputs, keys);
  llvm::append_range(inputs, ArrayRef<Value>(buffers).drop_front(3));
  auto comp = chakra::CompOp::create(
      builder, op->getLoc(), (name + "." + suffix).str(), inputs,
      getAttentionOperations(op, pairs), getOperandAndResultBytes(op), newTypes,
      getPhaseName(op), updates);
  comp.setMatrix(true);
  return comp;
}

/// So many steps, which replace `keys` and `made`.
void RingBuilder::repeat(StringRef suffix, SymExpr count, Values &keys,
                         Values &made,
                         function_ref<void(Values &, Values &)> buildStep) {
  size_t numKeys = keys.size();
  Values carried(keys);
  llvm::append_range(carried, made);
  auto loop =
      chakra::RepeatOp::create(builder, op->getLoc(), (name + suffix).str(),
                               count, carried, ValueRange(), TypeRange());
  auto split = [&](ValueRange values) {
    keys = Values(values.take_front(numKeys));
    made = Values(values.drop_front(numKeys));
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &body = loop.getBody().front();
    body.getOperations().clear();
    builder.setInsertionPointToStart(&body);
    split(body.getArguments());
    buildStep(keys, made);
    llvm::append_range(keys, made);
    chakra::YieldOp::create(builder, op->getLoc(), keys, ValueRange());
  }
  split(loop.getCarryResults());
}

/// The steps between the first and the last whose block is hidden, or seen.
void RingBuilder::repeatMiddle(bool isHidden, Values &keys, Values &made) {
  SymExpr visible = getNumVisible();
  repeat(isHidden ? ".hidden" : ".ring",
         isHidden ? size - 2 - visible : visible, keys, made,
         [&](Values &keys, Values &made) {
           Values here = keys;
           keys = passKeys(here, "keys");
           if (isBackward())
             made = passGradients(made, "gradients");
           if (!isHidden)
             made = Values(compute(here, made, getBlockPairs(/*isOwn=*/false),
                                   "block", {})
                               .getResults());
         });
}

SmallVector<Value> RingBuilder::buildForward(TypeRange resultTypes) {
  Values here{buffers[1], buffers[2]};
  Values keys = passKeys(here, "first");
  Values made(
      compute(here, {}, getBlockPairs(/*isOwn=*/true), "own", resultTypes)
          .getResults());
  repeatMiddle(/*isHidden=*/false, keys, made);
  if (range)
    repeatMiddle(/*isHidden=*/true, keys, made);
  auto computeLast = [&](Values &keys, Values &made) {
    made =
        Values(compute(keys, made, getBlockPairs(/*isOwn=*/false), "last", {})
                   .getResults());
  };
  if (range)
    repeat(".farthest", seesFarthest(), keys, made, computeLast);
  else
    computeLast(keys, made);
  return SmallVector<Value>(made.begin(), made.end());
}

SmallVector<Value> RingBuilder::buildBackward(TypeRange resultTypes) {
  Values here{buffers[1], buffers[2]};
  Values keys = passKeys(here, "first");
  chakra::CompOp first = compute(here, {}, getBlockPairs(/*isOwn=*/false),
                                 "farthest", resultTypes);
  if (range) {
    // Where the block is hidden the gradients are set to zero.
    SymExpr written = SymExpr::get(op->getContext(), 0);
    for (Type type : resultTypes)
      written = written + cast<chakra::TensorType>(type).getBytes();
    SymExpr isSeen = seesFarthest();
    first.setOpsAttr(first.getOps() * isSeen);
    first.setBytesAttr(written + (first.getBytes() - written) * isSeen);
  }
  Values made(first.getResults());
  if (range)
    repeatMiddle(/*isHidden=*/true, keys, made);
  repeatMiddle(/*isHidden=*/false, keys, made);
  made = passGradients(made, "last");
  return SmallVector<Value>(
      compute(keys, made, getBlockPairs(/*isOwn=*/true), "own", {})
          .getResults());
}

LogicalResult GraphBuilder::convertRing(Operation *op) {
  auto axes = op->getAttrOfType<ArrayAttr>("ring");
  if (axes.size() != 1)
    return op->emitOpError("goes around more than one axis");
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(getType(result, cast<SymTensorType>(result.getType())));
  RingBuilder ring(builder, op, makeName(op, ""),
                   cast<StringAttr>(axes[0]).getValue(),
                   mesh.getGroupSize(axes), [&](Value operand) {
                     return toOneBuffer(op, operand, Category::Temporary);
                   });
  for (auto [result, made] :
       llvm::zip_equal(op->getResults(), ring.build(types)))
    map[result] = {made};
  return success();
}
