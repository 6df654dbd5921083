//===- LowerRecurrence.cpp - Scans over the tokens of a device ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one device computes, receives and sends for a recurrent op whose tokens
// are divided among devices: a chain from the first one to the last, or, for
// gradients, from the last one to the first.
//
//===----------------------------------------------------------------------===//

#include "Channels.h"
#include "ShardingRules.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_LOWERRECURRENCE
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// The channels along an axis, from the first one on.
enum StateChannel : int64_t {
  Tails,
  TailsBack,
  States,
  StatesBack,
  NumStateChannels
};

/// Where a device is in the chain along an axis.
struct ChainPlace {
  StringAttr axis;
  SymExpr index, size;
  int64_t firstChannel;

  /// 1 if there is a device before (or behind), which hands something on, else
  /// 0.
  SymExpr hasNeighbour(bool isBefore) const {
    SymExpr others = isBefore ? index : size - index - 1;
    return SymExpr::getFunction(SymFunc::Min,
                                {SymExpr::get(index.getContext(), 1), others});
  }
};

/// One recurrent op, as parts.
class RecurrenceLowering {
public:
  /// What a neighbour has sent of a value, in a block, by its type.
  using Tails = DenseMap<std::pair<std::pair<Value, Block *>, Type>, Value>;

  RecurrenceLowering(RecurrentOpInterface op, const ChainPlace &place)
      : op(op), builder(op), place(place), parts(op.getDeviceParts()) {}

  LogicalResult checkTail();
  void lower(Tails &tails);

private:
  Origin getOrigin(Role role);
  RepeatOp repeat(StringRef suffix, SymExpr count, ValueRange inits,
                  function_ref<Value(ValueRange)> build);
  Value receive(Role role, StateChannel channel);
  void send(Role role, StateChannel channel, function_ref<Value()> get);
  SmallVector<Value> compute(Role role, SymExpr operations, bool isMatrix,
                             ArrayRef<Value> completed, ValueRange inputs,
                             TypeRange types);
  SmallVector<Value> lowerTail(Tails &tails);
  SmallVector<Value> lowerState(Value &start);

  RecurrentOpInterface op;
  OpBuilder builder;
  const ChainPlace &place;
  RecurrenceParts parts;
};

struct LowerRecurrence : stg::impl::LowerRecurrenceBase<LowerRecurrence> {
  using LowerRecurrenceBase::LowerRecurrenceBase;
  void runOnOperation() override;

private:
  LogicalResult lower(RecurrentOpInterface op, MeshAttr mesh);
  FailureOr<ChainPlace> getPlace(RecurrentOpInterface op, MeshAttr mesh);

  std::optional<Channels> channels;
  DenseMap<StringAttr, int64_t> firstChannels; ///< By axis.
  RecurrenceLowering::Tails tails;
};
} // namespace

//===----------------------------------------------------------------------===//
// Parts and messages
//===----------------------------------------------------------------------===//

Origin RecurrenceLowering::getOrigin(Role role) {
  Origin origin = stg::getOrigin(op);
  if (!origin.name)
    origin.name =
        StringAttr::get(op->getContext(), op->getName().stripDialect());
  origin.role = role;
  return origin;
}

/// Executed on the devices that have a neighbour on that side.
RepeatOp RecurrenceLowering::repeat(StringRef suffix, SymExpr count,
                                    ValueRange inits,
                                    function_ref<Value(ValueRange)> build) {
  Origin origin = getOrigin(Role::State);
  origin.role = std::nullopt;
  std::string name =
      (origin.name.getValue() + "." + stringifyPhase(getPhase(op)) + suffix)
          .str();
  // Both gradients of a convolution are called like it.
  if (std::optional<Role> role = stg::getOrigin(op).role)
    name += ("." + stringifyRole(*role)).str();
  auto loop =
      RepeatOp::create(builder, op.getLoc(), name, count,
                       /*reverse=*/false, inits, ValueRange(), TypeRange());
  setOrigin(loop, origin);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  Value result = build(loop.getCarriedArgs());
  YieldOp::create(builder, op.getLoc(),
                  result ? ValueRange(result) : ValueRange());
  return loop;
}

/// What the device before (backward: behind) hands on; zeros if there is none.
Value RecurrenceLowering::receive(Role role, StateChannel channel) {
  Value zero = SplatOp::create(builder, op.getLoc(), parts.state,
                               SymExpr::get(op->getContext(), 0));
  RepeatOp loop =
      repeat(".before", place.hasNeighbour(/*isBefore=*/!parts.isBackward),
             zero, [&](ValueRange) -> Value {
               auto recv = RecvOp::create(
                   builder, op.getLoc(), TypeRange(parts.state),
                   /*into=*/Value(), place.axis,
                   builder.getI64IntegerAttr(parts.isBackward ? 1 : -1),
                   builder.getI64IntegerAttr(place.firstChannel + channel),
                   IntegerAttr(), /*payload=*/SymExpr(), OriginAttr());
               setOrigin(recv, getOrigin(role));
               return recv.getResult(0);
             });
  return loop.getResult(0);
}

void RecurrenceLowering::send(Role role, StateChannel channel,
                              function_ref<Value()> get) {
  repeat(".after", place.hasNeighbour(/*isBefore=*/parts.isBackward),
         ValueRange(), [&](ValueRange) -> Value {
           auto made = SendOp::create(
               builder, op.getLoc(), ValueRange(get()), place.axis,
               builder.getI64IntegerAttr(parts.isBackward ? -1 : 1),
               builder.getI64IntegerAttr(place.firstChannel + channel),
               IntegerAttr(), /*payload=*/SymExpr(), OriginAttr());
           setOrigin(made, getOrigin(role));
           return Value();
         });
}

/// A part that completes some values and makes others.
SmallVector<Value> RecurrenceLowering::compute(Role role, SymExpr operations,
                                               bool isMatrix,
                                               ArrayRef<Value> completed,
                                               ValueRange inputs,
                                               TypeRange types) {
  SmallVector<Value> operands(completed);
  llvm::append_range(operands, inputs);
  SmallVector<Type> made(ValueRange(completed).getTypes());
  llvm::append_range(made, types);
  auto part = RecurrencePartOp::create(builder, op.getLoc(), made, operands,
                                       operations, isMatrix, completed.size());
  setOrigin(part, getOrigin(role));
  return SmallVector<Value>(part.getResults());
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// A device hands on tokens of its own only.
LogicalResult RecurrenceLowering::checkTail() {
  if (!parts.tail)
    return success();
  SymExpr needed = parts.state.getShape()[1];
  SymExpr own =
      cast<SymTensorType>(op->getOperand(*parts.tail).getType()).getShape()[1];
  std::optional<Rational> left = (own - needed).getConstant();
  if (!left || !(*left < 0))
    return success();
  return op->emitOpError("needs ")
         << needed << " tokens of its neighbour, which has " << own
         << "; divide tokens among fewer devices, or exchange them for "
            "channels (--cp-scan-type a2a)";
}

/// Tokens go on as they are, before anything is computed.
SmallVector<Value> RecurrenceLowering::lowerTail(Tails &tails) {
  Value source = op->getOperand(*parts.tail);
  // Wider windows need more tokens.
  Value &tail = tails[{{source, op->getBlock()}, parts.state}];
  if (!tail) {
    StateChannel channel =
        parts.isBackward ? StateChannel::TailsBack : StateChannel::Tails;
    send(Role::Tail, channel, [&]() -> Value {
      SymExpr first = SymExpr::get(op->getContext(), 0);
      if (!parts.isBackward)
        first = cast<SymTensorType>(source.getType()).getShape()[1] -
                parts.state.getShape()[1];
      auto slice = SliceOp::create(builder, op.getLoc(), parts.state, source,
                                   builder.getI64IntegerAttr(1), first);
      setOrigin(slice, getOrigin(Role::Tail));
      return slice.getResult();
    });
    tail = receive(Role::Tail, channel);
  }
  SmallVector<Value> inputs(op->getOperands());
  inputs.push_back(tail);
  OriginAttr own = cast<StepOpInterface>(*op).getOriginAttr();
  SmallVector<Value> made = compute(Role::Rest, parts.rest, parts.isMatrix, {},
                                    inputs, op->getResultTypes());
  // It is the node that it was.
  cast<StepOpInterface>(made.front().getDefiningOp()).setOriginAttr(own);
  return made;
}

/// `start` becomes what the device is given.
SmallVector<Value> RecurrenceLowering::lowerState(Value &start) {
  StateChannel channel =
      parts.isBackward ? StateChannel::StatesBack : StateChannel::States;
  SmallVector<Value> operands(op->getOperands());
  SmallVector<Type> types(op->getResultTypes());
  // What a scan starts from is received, not computed.
  if (!parts.isBackward)
    types.pop_back();
  SmallVector<Value> made;
  Value own;
  if (parts.own) {
    SmallVector<Type> all(types);
    if (parts.isAdded)
      all.push_back(parts.state);
    made = compute(Role::Own, parts.own, parts.isMatrix, {}, operands, all);
    if (parts.isAdded)
      own = made.pop_back_val();
  }
  start = receive(Role::State, channel);
  Value last;
  if (own) {
    last = compute(Role::State, parts.passing, /*isMatrix=*/false, own, start,
                   TypeRange())
               .front();
  } else {
    SmallVector<Value> inputs(operands);
    inputs.push_back(start);
    SmallVector<Type> all(made.empty() ? types : SmallVector<Type>());
    all.push_back(parts.state);
    made =
        compute(Role::State, parts.passing, parts.isMatrix, made, inputs, all);
    last = made.pop_back_val();
  }
  send(Role::State, channel, [&] { return last; });
  if (parts.rest) {
    SmallVector<Value> inputs(operands);
    inputs.push_back(start);
    made = compute(Role::Rest, parts.rest, parts.isMatrix, made, inputs,
                   TypeRange());
  }
  return made;
}

void RecurrenceLowering::lower(Tails &tails) {
  if (parts.tail) {
    op->replaceAllUsesWith(lowerTail(tails));
  } else {
    Value start;
    SmallVector<Value> made = lowerState(start);
    if (!parts.isBackward)
      made.push_back(start);
    op->replaceAllUsesWith(made);
  }
  op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

FailureOr<ChainPlace> LowerRecurrence::getPlace(RecurrentOpInterface op,
                                                MeshAttr mesh) {
  ArrayAttr axes = op.getAlongAttr();
  if (axes.size() != 1)
    return op->emitOpError("has tokens along the axes ")
           << axes
           << ", but hands on states along one; exchange tokens for heads "
              "(--cp-scan-type a2a)";
  auto axis = cast<StringAttr>(axes[0]);
  if (!mesh.getAxisIndex(axis))
    return op->emitOpError("has tokens along '")
           << axis.getValue() << "', which is not an axis of the mesh";
  SymbolOp coordinate =
      SymbolOp::lookupCoordinate(getOperation(), axis.getValue());
  if (!coordinate)
    return op->emitOpError("has tokens along mesh axis '")
           << axis.getValue()
           << "', whose coordinate is not a symbol, as --stg-context-parallel "
              "declares it for axes with the role context";
  if (!channels)
    channels.emplace(getOperation());
  auto [it, isNew] = firstChannels.try_emplace(axis);
  if (isNew)
    it->second = channels->take(axis, NumStateChannels);
  return ChainPlace{axis, SymExpr::getSymbol(coordinate.getSymNameAttr()),
                    mesh.getAxisSize(axis), it->second};
}

LogicalResult LowerRecurrence::lower(RecurrentOpInterface op, MeshAttr mesh) {
  FailureOr<ChainPlace> place = getPlace(op, mesh);
  if (failed(place))
    return failure();
  RecurrenceLowering lowering(op, *place);
  if (failed(lowering.checkTail()))
    return failure();
  lowering.lower(tails);
  return success();
}

static SmallVector<RecurrentOpInterface> collectDivided(Operation *root) {
  SmallVector<RecurrentOpInterface> ops;
  root->walk([&](RecurrentOpInterface op) {
    if (op.getAlongAttr())
      ops.push_back(op);
  });
  return ops;
}

void LowerRecurrence::runOnOperation() {
  channels.reset();
  firstChannels.clear();
  tails.clear();
  if (collectDivided(getOperation()).empty())
    return markAllAnalysesPreserved();
  auto run = [&](func::FuncOp function, MeshOp mesh) -> LogicalResult {
    for (RecurrentOpInterface op : collectDivided(function))
      if (failed(lower(op, mesh.getMesh())))
        return failure();
    return success();
  };
  if (failed(forEachProgram(getOperation(), run)))
    signalPassFailure();
}
