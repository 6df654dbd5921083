//===- LowerContextParallel.cpp - Attention to the tokens of others -------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one device computes and sends for an attention whose tokens are divided
// among devices: one block of queries and keys where keys have been gathered,
// or a ring of them.
//
//===----------------------------------------------------------------------===//

#include "Channels.h"
#include "ShardingRules.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_LOWERCONTEXTPARALLEL
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// The channels of the rings along an axis, from the first one on.
enum RingChannel : int64_t { Keys, KeysBack, Gradients, NumRingChannels };

/// One attention or gradient of one, as blocks.
///
/// In each step of a ring keys and values go on to the next device while the
/// block of those that are here is computed. Forward begins with the device's
/// own block and then has those of the devices before it, the nearest first.
/// Backward goes the other way, begins with the block that forward ended with
/// and ends with the own one; the gradients of keys and values follow one step
/// behind.
///
/// Where queries are those of one range, a causal mask hides the blocks of
/// later ranges. They are passed on all the same, but not computed.
class AttentionLowering {
public:
  AttentionLowering(AttentionOpInterface op, SymExpr group, SymExpr size,
                    SymExpr range, int64_t firstChannel)
      : op(op), builder(op), group(group), size(size), range(range),
        firstChannel(firstChannel) {}

  /// False where a number is too large.
  bool hasPairs() {
    return isRing() ? getOwnPairs() && getOtherPairs()
                    : static_cast<bool>(getGatheredPairs());
  }
  void lower();
  SymExpr getCached();

private:
  using Values = SmallVector<Value, 5>;

  Values buildForward();
  Values buildBackward();

  Values exchange(ArrayRef<Value> values, Role role, RingChannel channel);
  Values passKeys(ArrayRef<Value> keys, Role role);
  Values passGradients(ArrayRef<Value> made, Role role);
  Values compute(ArrayRef<Value> keys, ArrayRef<Value> partial, SymExpr pairs,
                 std::optional<Role> role, SymExpr seen = {});
  void repeat(StringRef suffix, SymExpr count, Values &keys, Values &made,
              function_ref<void(Values &, Values &)> buildStep);
  void repeatMiddle(bool isHidden, Values &keys, Values &made);

  Origin getOrigin(std::optional<Role> role);
  SymExpr getTokens(unsigned operand) {
    return cast<SymTensorType>(op->getOperand(operand).getType()).getShape()[1];
  }
  bool isRing() { return static_cast<bool>(size); }
  bool isBackward() { return isa<AttentionGradOp>(*op); }
  /// True if masked pairs cost nothing, so that places matter.
  bool skipsMasked() {
    return op.getMask() == AttentionMask::Causal && !op.getFullCount();
  }
  bool isBalanced() { return skipsMasked() && !range; }
  SymExpr getGatheredPairs();
  SymExpr getOwnPairs();
  SymExpr getOtherPairs();
  SymExpr getNumVisible();
  SymExpr seesFarthest();

  AttentionOpInterface op;
  OpBuilder builder;
  SymExpr group; ///< The devices that divide the queries.
  SymExpr size;  ///< Of the ring; null if keys have been gathered.
  SymExpr range; ///< The number of the queries' range; null: none.
  int64_t firstChannel;
  SmallVector<Value> operands; ///< Queries, keys, values, others.
};

struct LowerContextParallel
    : stg::impl::LowerContextParallelBase<LowerContextParallel> {
  using LowerContextParallelBase::LowerContextParallelBase;
  void runOnOperation() override;

private:
  LogicalResult lower(AttentionOpInterface op, MeshAttr mesh);
  FailureOr<SymExpr> getRange(AttentionOpInterface op, MeshAttr mesh);

  std::optional<Channels> channels;
  DenseMap<StringAttr, int64_t> firstChannels; ///< Of rings, by axis.
};
} // namespace

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// Keys that are here and of no token of the step: what earlier steps have
/// kept, which all queries see.
SymExpr AttentionLowering::getCached() {
  SymExpr queries = getTokens(0), keys = getTokens(2);
  return keys - (isRing() ? queries : queries * group);
}

/// All keys are here. Of those of the step balanced queries see half, those of
/// a range all of the ranges before it and half of their own.
SymExpr AttentionLowering::getGatheredPairs() {
  SymExpr queries = getTokens(0), keys = getTokens(2);
  if (!skipsMasked())
    return queries * keys;
  SymExpr cached = queries * getCached();
  if (range)
    return cached + queries * queries * range +
           (queries * (queries + 1)).exactDiv(2);
  return cached + (queries * (queries * group + 1)).exactDiv(2);
}

/// Those with the device's own keys, half of which a causal mask hides but for
/// the diagonal.
SymExpr AttentionLowering::getOwnPairs() {
  SymExpr queries = getTokens(0);
  SymExpr own =
      skipsMasked() ? (queries * (queries + 1)).exactDiv(2) : queries * queries;
  return queries * getCached() + own;
}

/// Those with another device's keys, of which balanced queries see half.
SymExpr AttentionLowering::getOtherPairs() {
  SymExpr queries = getTokens(0);
  SymExpr other =
      isBalanced() ? (queries * queries).exactDiv(2) : queries * queries;
  return queries * getCached() + other;
}

/// Of the steps between the first and the last, those whose block is seen: as
/// many as there are ranges before the own one.
SymExpr AttentionLowering::getNumVisible() {
  if (!range)
    return size - 2;
  return SymExpr::getFunction(SymFunc::Min, {range, size - 2});
}

/// 1 if the block that goes the longest way is seen, as all are by the last
/// range, else 0.
SymExpr AttentionLowering::seesFarthest() {
  SymExpr one = SymExpr::get(op->getContext(), 1);
  return SymExpr::getFunction(SymFunc::Max, {range - size + 2, one - 1});
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What an op is made for, which names its node.
Origin AttentionLowering::getOrigin(std::optional<Role> role) {
  Origin origin = stg::getOrigin(op);
  if (!origin.name)
    origin.name =
        StringAttr::get(op->getContext(), op->getName().stripDialect());
  origin.role = role;
  return origin;
}

AttentionLowering::Values AttentionLowering::exchange(ArrayRef<Value> values,
                                                      Role role,
                                                      RingChannel channel) {
  // Backward turns the ring around.
  auto context = op.getContextAttr();
  auto made = ExchangeOp::create(
      builder, op.getLoc(), values, cast<StringAttr>(context.getAxes()[0]),
      /*shift=*/isBackward() ? -1 : 1, firstChannel + channel);
  setOrigin(made, getOrigin(role));
  return Values(made.getResults());
}

AttentionLowering::Values AttentionLowering::passKeys(ArrayRef<Value> keys,
                                                      Role role) {
  return exchange(keys, role, isBackward() ? KeysBack : Keys);
}

/// In backward gradients of keys and values travel; those of queries stay.
AttentionLowering::Values AttentionLowering::passGradients(ArrayRef<Value> made,
                                                           Role role) {
  Values result(made);
  llvm::copy(exchange(made.drop_front(), role, Gradients), result.begin() + 1);
  return result;
}

AttentionLowering::Values AttentionLowering::compute(ArrayRef<Value> keys,
                                                     ArrayRef<Value> partial,
                                                     SymExpr pairs,
                                                     std::optional<Role> role,
                                                     SymExpr seen) {
  Values inputs(operands.begin(), operands.end());
  llvm::copy(keys, inputs.begin() + 1);
  Operation *block = op.createBlock(builder, inputs, partial, pairs, seen);
  setOrigin(block, getOrigin(role));
  return Values(block->getResults());
}

/// So many steps, which replace `keys` and `made`.
void AttentionLowering::repeat(
    StringRef suffix, SymExpr count, Values &keys, Values &made,
    function_ref<void(Values &, Values &)> buildStep) {
  if (count.isZero())
    return;
  Origin origin = getOrigin(/*role=*/std::nullopt);
  std::string name =
      (origin.name.getValue() + "." + stringifyPhase(getPhase(op)) + suffix)
          .str();
  size_t numKeys = keys.size();
  Values carried(keys);
  llvm::append_range(carried, made);
  auto loop =
      RepeatOp::create(builder, op.getLoc(), name, count,
                       /*reverse=*/false, carried, ValueRange(), TypeRange());
  setOrigin(loop, origin);
  auto split = [&](ValueRange values) {
    keys = Values(values.take_front(numKeys));
    made = Values(values.drop_front(numKeys));
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&loop.getBody().front());
    split(loop.getCarriedArgs());
    buildStep(keys, made);
    llvm::append_range(keys, made);
    YieldOp::create(builder, op.getLoc(), keys);
  }
  split(loop.getResults());
}

/// The steps between the first and the last whose block is hidden, or seen.
void AttentionLowering::repeatMiddle(bool isHidden, Values &keys,
                                     Values &made) {
  SymExpr visible = getNumVisible();
  repeat(isHidden ? ".hidden" : ".ring",
         isHidden ? size - 2 - visible : visible, keys, made,
         [&](Values &keys, Values &made) {
           Values here = keys;
           keys = passKeys(here, Role::Keys);
           if (isBackward())
             made = passGradients(made, Role::Gradients);
           if (!isHidden)
             made = compute(here, made, getOtherPairs(), Role::Block);
         });
}

AttentionLowering::Values AttentionLowering::buildForward() {
  Values here{operands[1], operands[2]};
  Values keys = passKeys(here, Role::First);
  Values made = compute(here, {}, getOwnPairs(), Role::Own);
  repeatMiddle(/*isHidden=*/false, keys, made);
  if (range)
    repeatMiddle(/*isHidden=*/true, keys, made);
  auto computeLast = [&](Values &keys, Values &made) {
    made = compute(keys, made, getOtherPairs(), Role::Last);
  };
  if (range)
    repeat(".farthest", seesFarthest(), keys, made, computeLast);
  else
    computeLast(keys, made);
  return made;
}

AttentionLowering::Values AttentionLowering::buildBackward() {
  Values here{operands[1], operands[2]};
  Values keys = passKeys(here, Role::First);
  Values made = compute(here, {}, getOtherPairs(), Role::Farthest,
                        range ? seesFarthest() : SymExpr());
  if (range)
    repeatMiddle(/*isHidden=*/true, keys, made);
  repeatMiddle(/*isHidden=*/false, keys, made);
  made = passGradients(made, Role::Last);
  return compute(keys, made, getOwnPairs(), Role::Own);
}

void AttentionLowering::lower() {
  operands = llvm::to_vector(op->getOperands());
  Values made;
  if (isRing()) {
    // What goes around, or is read by many blocks, is in one piece.
    for (Value &operand : operands) {
      auto pack = PackOp::create(builder, op.getLoc(), operand);
      setOrigin(pack, getOrigin(/*role=*/std::nullopt));
      operand = pack;
    }
    made = isBackward() ? buildBackward() : buildForward();
  } else {
    made = compute({operands[1], operands[2]}, {}, getGatheredPairs(),
                   stg::getOrigin(op).role);
  }
  op->replaceAllUsesWith(made);
  op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Which of the ranges of queries a device has: its number among the devices
/// that divide them. The first axis is the fastest. Null if places do not
/// matter, as nothing is masked or all have equally many pairs.
FailureOr<SymExpr> LowerContextParallel::getRange(AttentionOpInterface op,
                                                  MeshAttr mesh) {
  ContextAttr context = op.getContextAttr();
  if (context.getTokens() != TokenShare::Range ||
      op.getMask() != AttentionMask::Causal || op.getFullCount())
    return SymExpr();
  SymExpr range = SymExpr::get(&getContext(), 0);
  SymExpr stride = SymExpr::get(&getContext(), 1);
  for (auto axis : context.getAxes().getAsRange<StringAttr>()) {
    SymbolOp coordinate =
        SymbolOp::lookupCoordinate(getOperation(), axis.getValue());
    if (!coordinate)
      return op->emitOpError("has ranges of tokens over mesh axis '")
             << axis.getValue() << "', whose coordinate is not a symbol, as "
             << "--stg-context-parallel=\"balance=none\" declares it for axes "
                "with the role context";
    range = range + SymExpr::getSymbol(coordinate.getSymNameAttr()) * stride;
    stride = stride * mesh.getAxisSize(axis);
  }
  return range;
}

LogicalResult LowerContextParallel::lower(AttentionOpInterface op,
                                          MeshAttr mesh) {
  ContextAttr context = op.getContextAttr();
  ArrayAttr axes = context.getAxes();
  if (!axes)
    return op->emitOpError("does not say over which axes its tokens are; run "
                           "--stg-insert-collectives first");
  for (auto axis : axes.getAsRange<StringAttr>())
    if (!mesh.getAxisIndex(axis))
      return op->emitOpError("has tokens over '")
             << axis.getValue() << "', which is not an axis of the mesh";
  bool isRing = context.getExchange() == KeyExchange::Ring;
  if (isRing && axes.size() != 1)
    return op->emitOpError("goes around the axes ") << axes << ", expected one";
  FailureOr<SymExpr> range = getRange(op, mesh);
  if (failed(range))
    return failure();
  SymExpr size;
  int64_t firstChannel = 0;
  if (isRing && !mesh.getGroupSize(axes).isOne()) {
    size = mesh.getGroupSize(axes);
    auto axis = cast<StringAttr>(axes[0]);
    if (!channels)
      channels.emplace(getOperation());
    auto [it, isNew] = firstChannels.try_emplace(axis);
    if (isNew)
      it->second = channels->take(axis, NumRingChannels);
    firstChannel = it->second;
  }
  AttentionLowering lowering(op, mesh.getGroupSize(axes), size, *range,
                             firstChannel);
  // A block that is hidden has keys of earlier steps that are not.
  SymExpr cached = lowering.getCached();
  if (size && *range && cached && !cached.isZero())
    return op->emitOpError("goes around a ring with keys of earlier steps; "
                           "needs tokens that are balanced, or gathered keys");
  if (!lowering.hasPairs())
    return op->emitOpError("has a cost that is too large to be expressed");
  lowering.lower();
  return success();
}

/// The attention whose tokens are divided.
static SmallVector<AttentionOpInterface> collectDivided(Operation *root) {
  SmallVector<AttentionOpInterface> ops;
  root->walk([&](AttentionOpInterface op) {
    if (op.getContextAttr())
      ops.push_back(op);
  });
  return ops;
}

void LowerContextParallel::runOnOperation() {
  channels.reset();
  firstChannels.clear();
  if (collectDivided(getOperation()).empty())
    return markAllAnalysesPreserved();
  auto run = [&](func::FuncOp function, MeshOp mesh) -> LogicalResult {
    for (AttentionOpInterface op : collectDivided(function))
      if (failed(lower(op, mesh.getMesh())))
        return failure();
    return success();
  };
  if (failed(forEachProgram(getOperation(), run)))
    signalPassFailure();
}
