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

#include "../SymbolValues.h"
#include "mlir/IR/IRMapping.h"
#include "stg/Dialect/STG/IR/Loops.h"
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
  FailureOr<int64_t> getIterations(RepeatOp repeat);
  FailureOr<RepeatOp> group(RepeatOp repeat, SymExpr iterations);
  LogicalResult replayFirst(RepeatOp repeat, int64_t iterations);
  LogicalResult groupIn(func::FuncOp function);

  SymBinding binding;
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

/// The iterations that have `size` layers: fewer where each has several.
FailureOr<int64_t> GroupLayers::getIterations(RepeatOp repeat) {
  SymExpr each = getLayersOfIteration(repeat);
  std::optional<int64_t> layers = each.substitute(binding).getInt64();
  if (!layers)
    return repeat.emitOpError("has ")
           << each.str()
           << " layers in an iteration; groups of layers need a number, give "
              "its symbols values";
  if (size % *layers == 0)
    return size / *layers;
  return repeat.emitOpError("has ")
         << *layers << " layers in an iteration, which groups of "
         << size.getValue() << " layers do not have whole";
}

/// Makes a repeat over groups of so many iterations, in which `repeat` runs
/// over those of one. Returns the inner one.
FailureOr<RepeatOp> GroupLayers::group(RepeatOp repeat, SymExpr iterations) {
  SymExpr count =
      iterations ? repeat.getCount().exactDiv(iterations) : SymExpr();
  for (SymExpr number : {count, iterations})
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
  RepeatOp layers = copyLayers(builder, repeat, repeat.getRepeatName(),
                               iterations, groups.getCarriedArgs());
  YieldOp::create(builder, repeat.getLoc(), layers.getResults());
  setPolicy(groups, method == RecomputeMethod::Block ? RecomputePolicy::None
                                                     : RecomputePolicy::Full);
  repeat.replaceAllUsesWith(groups.getResults());
  repeat.erase();
  return layers;
}

/// Makes two repeats, of the first layers, which are replayed, and of the
/// others, which are not.
LogicalResult GroupLayers::replayFirst(RepeatOp repeat, int64_t iterations) {
  SymExpr first = SymExpr::get(&getContext(), iterations);
  SymExpr rest = repeat.getCount() - first;
  SymExpr known = repeat.getCount().substitute(binding);
  std::optional<Rational> number = known ? known.getConstant() : std::nullopt;
  if (number && !(Rational(iterations) < *number)) {
    InFlightDiagnostic diag = repeat.emitOpError("repeats ");
    diag << repeat.getCount().str();
    if (known != repeat.getCount())
      diag << " = " << known.str();
    return diag << " times, but more than the first " << size.getValue()
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

LogicalResult GroupLayers::groupIn(func::FuncOp function) {
  SmallVector<RepeatOp> repeats(function.getBody().getOps<RepeatOp>());
  bool isBlock = method == RecomputeMethod::Block;
  if (isBlock && repeats.size() > 1)
    return repeats[1].emitOpError(
        "is a second repeat; the first layers of a pipeline stage can be "
        "replayed where there is one");
  for (RepeatOp repeat : repeats) {
    FailureOr<int64_t> iterations = getIterations(repeat);
    if (failed(checkRepeat(repeat)) || failed(iterations))
      return failure();
    FailureOr<RepeatOp> inner = repeat;
    if (!isBlock)
      inner = group(repeat, SymExpr::get(&getContext(), *iterations));
    else if (stages > 1)
      inner = group(repeat, repeat.getCount().exactDiv(stages));
    if (failed(inner) || (isBlock && failed(replayFirst(*inner, *iterations))))
      return failure();
  }
  return success();
}

void GroupLayers::runOnOperation() {
  ModuleOp module = getOperation();
  if (size == 0 || stages == 0) {
    module.emitError("layers are grouped with 'size' and 'stages' of at "
                     "least 1");
    return signalPassFailure();
  }
  if (method == RecomputeMethod::Uniform && size == 1)
    return;
  FailureOr<SymBinding> known = collectSymbolValues(module, config, *values);
  if (failed(known))
    return signalPassFailure();
  binding = std::move(*known);
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && failed(groupIn(function)))
      return signalPassFailure();
}
