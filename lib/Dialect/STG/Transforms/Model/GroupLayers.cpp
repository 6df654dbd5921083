//===- GroupLayers.cpp - Repeats of groups of layers ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recomputation replays the iterations of repeats. What is to be replayed
// together, or not at all, is therefore made an iteration, or a repeat, of its
// own, before anything is derived from the model.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_GROUPLAYERS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct GroupLayers : stg::impl::GroupLayersBase<GroupLayers> {
  using GroupLayersBase::GroupLayersBase;
  void runOnOperation() override;

private:
  LogicalResult checkRepeat(RepeatOp repeat);
  FailureOr<RepeatOp> group(RepeatOp repeat, SymExpr size);
  LogicalResult replayFirst(RepeatOp repeat);
};
} // namespace

static void setPolicy(RepeatOp repeat, RecomputePolicy policy) {
  repeat.setRecompute(policy);
}

/// Creates a repeat with the body of `layers` that carries `inits`.
static RepeatOp copyLayers(OpBuilder &builder, RepeatOp layers, StringRef name,
                           SymExpr count, ValueRange inits) {
  auto copy =
      RepeatOp::create(builder, layers.getLoc(), name, count,
                       /*reverse=*/false, inits, ValueRange(), TypeRange());
  IRMapping mapping;
  mapping.map(layers.getCarriedArgs(), copy.getCarriedArgs());
  OpBuilder body = OpBuilder::atBlockEnd(&copy.getBody().front());
  for (Operation &op : layers.getBody().front())
    body.clone(op, mapping);
  return copy;
}

LogicalResult GroupLayers::checkRepeat(RepeatOp repeat) {
  if (repeat.getNumResults() == repeat.getNumCarried() &&
      repeat.getStacks().empty())
    return success();
  return repeat.emitOpError("reads or makes stacks, whose layers cannot be "
                            "grouped; group them before --stg-autodiff");
}

/// Makes a repeat over groups of `size` layers, in which `repeat` runs over the
/// layers of one. Returns the inner one.
FailureOr<RepeatOp> GroupLayers::group(RepeatOp repeat, SymExpr size) {
  SymExpr count = size ? repeat.getCount().exactDiv(size) : SymExpr();
  for (SymExpr number : {count, size})
    if (!number || (number.isConstant() && !number.getInt64()))
      return repeat.emitOpError("repeats ")
             << repeat.getCount().str() << " times, which "
             << (method == RecomputeMethod::Block ? "pipeline stages"
                                                  : "groups of layers")
             << " do not divide";
  OpBuilder builder(repeat);
  auto groups = RepeatOp::create(
      builder, repeat.getLoc(), (repeat.getRepeatName() + "_groups").str(),
      count, /*reverse=*/false, repeat.getCarriedInits(), ValueRange(),
      TypeRange());
  builder.setInsertionPointToEnd(&groups.getBody().front());
  RepeatOp layers = copyLayers(builder, repeat, repeat.getRepeatName(), size,
                               groups.getCarriedArgs());
  YieldOp::create(builder, repeat.getLoc(), layers.getResults());
  if (method == RecomputeMethod::Block)
    setPolicy(groups, RecomputePolicy::None);
  repeat.replaceAllUsesWith(groups.getResults());
  repeat.erase();
  return layers;
}

/// Makes two repeats, of the first layers, which are replayed, and of the
/// others, which are not.
LogicalResult GroupLayers::replayFirst(RepeatOp repeat) {
  SymExpr first = SymExpr::get(&getContext(), size);
  SymExpr rest = repeat.getCount() - first;
  std::optional<Rational> number = rest.getConstant();
  if (number && !(Rational(0) < *number)) {
    return repeat.emitOpError("repeats ")
           << repeat.getCount().str() << " times, but more than the first "
           << size.getValue()
           << " layers are needed for some that are not replayed";
  }
  OpBuilder builder(repeat);
  StringRef name = repeat.getRepeatName();
  RepeatOp replayed = copyLayers(builder, repeat, (name + "_replayed").str(),
                                 first, repeat.getCarriedInits());
  setPolicy(replayed, RecomputePolicy::Full);
  RepeatOp saved =
      copyLayers(builder, repeat, name, rest, replayed.getResults());
  setPolicy(saved, RecomputePolicy::None);
  repeat.replaceAllUsesWith(saved.getResults());
  repeat.erase();
  return success();
}

void GroupLayers::runOnOperation() {
  func::FuncOp function = getOperation();
  if (size == 0 || stages == 0) {
    function.emitError("layers are grouped with 'size' and 'stages' of at "
                       "least 1");
    return signalPassFailure();
  }
  if (function.isExternal() ||
      (method == RecomputeMethod::Uniform && size == 1))
    return;
  SmallVector<RepeatOp> repeats(function.getBody().getOps<RepeatOp>());
  if (method == RecomputeMethod::Block && repeats.size() > 1) {
    repeats[1].emitOpError("is a second repeat; the first layers of a pipeline "
                           "stage can be replayed where there is one");
    return signalPassFailure();
  }
  for (RepeatOp repeat : repeats) {
    if (failed(checkRepeat(repeat)))
      return signalPassFailure();
    SymExpr layers = SymExpr::get(&getContext(), size);
    if (method == RecomputeMethod::Block)
      layers = repeat.getCount().exactDiv(stages);
    bool isGrouped = method == RecomputeMethod::Uniform || stages > 1;
    FailureOr<RepeatOp> inner =
        isGrouped ? group(repeat, layers) : FailureOr<RepeatOp>(repeat);
    if (failed(inner) ||
        (method == RecomputeMethod::Block && failed(replayFirst(*inner))))
      return signalPassFailure();
  }
}
