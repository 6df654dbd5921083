//===- CutLayers.cpp - Layers between which a pipeline may cut ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline is cut between the iterations of repeats at the top of a program.
// The first and last layers of a model may have to be repeats of their own.
// An iteration of a period of layers in which a stage would end is therefore
// taken out of its repeat, before gradients are derived from the model, or from
// a step of inference, which may have less than it. What is in it has the names
// that it had: `layers.3.local` is a repeat in iteration 3.
//
//===----------------------------------------------------------------------===//

#include "LayerRanges.h"
#include "SymbolValues.h"
#include "mlir/IR/IRMapping.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_CUTLAYERS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct CutLayers : stg::impl::CutLayersBase<CutLayers> {
  using CutLayersBase::CutLayersBase;
  void runOnOperation() override;

private:
  LogicalResult cutFunction(func::FuncOp function);
  SmallVector<int64_t> getStageEnds(int64_t layers) const;

  SymBinding binding;
};

/// A repeat that may be cut, and the layers before it.
struct Section {
  RepeatOp repeat;
  int64_t begin;
};

/// Takes iterations out of repeats, and divides repeats.
class LayerCutter {
public:
  LayerCutter(SmallVector<int64_t> stages, SmallVector<int64_t> parts,
              const SymBinding &binding);

  LogicalResult cut(Section section);

private:
  int64_t count(SymExpr expr) const { return *evaluate(expr, binding); }
  bool hasCut(int64_t begin, int64_t end) const;
  LogicalResult checkCarried(RepeatOp repeat) const;
  SmallVector<Value> copyPart(RepeatOp repeat, int64_t first, int64_t count,
                              ValueRange inits, unsigned number);
  SmallVector<Value> unroll(RepeatOp repeat, int64_t iteration,
                            ValueRange inits, SmallVectorImpl<RepeatOp> &inner);

  SmallVector<int64_t> cuts;  ///< Layers before each, in order.
  SmallVector<int64_t> parts; ///< Those at which repeats are divided.
  const SymBinding &binding;
};
} // namespace

/// `stages` and `parts` are numbers of layers before a cut.
LayerCutter::LayerCutter(SmallVector<int64_t> stages,
                         SmallVector<int64_t> parts, const SymBinding &binding)
    : cuts(std::move(stages)), parts(std::move(parts)), binding(binding) {
  llvm::append_range(cuts, this->parts);
  llvm::sort(cuts);
}

/// True if there is a cut inside of these layers.
bool LayerCutter::hasCut(int64_t begin, int64_t end) const {
  auto it = llvm::upper_bound(cuts, begin);
  return it != cuts.end() && *it < end;
}

/// The iteration of that number, counted from the first one of the repeat.
static SymExpr getNumber(RepeatOp repeat, int64_t iteration) {
  SymExpr first =
      repeat.getFirst().value_or(SymExpr::get(repeat.getContext(), 0));
  return first + iteration;
}

/// Iterations that stay together. A part has a number in its name: what is
/// taken out of the repeat has its name in front, with that of the iteration.
SmallVector<Value> LayerCutter::copyPart(RepeatOp repeat, int64_t first,
                                         int64_t count, ValueRange inits,
                                         unsigned number) {
  OpBuilder builder(repeat);
  std::string name =
      repeat.getRepeatName().str() + "_" + std::to_string(number);
  auto part = cast<RepeatOp>(builder.clone(*repeat));
  part.setRepeatName(name);
  part.setRange(getNumber(repeat, first),
                SymExpr::get(repeat.getContext(), count));
  for (auto [number, init] : llvm::enumerate(inits))
    part->setOperand(number, init);
  return llvm::to_vector_of<Value>(part.getResults());
}

/// The ops of one iteration, in the place of the repeat.
SmallVector<Value> LayerCutter::unroll(RepeatOp repeat, int64_t iteration,
                                       ValueRange inits,
                                       SmallVectorImpl<RepeatOp> &inner) {
  OpBuilder builder(repeat);
  std::string prefix =
      (repeat.getRepeatName() + "." + getNumber(repeat, iteration).str() + ".")
          .str();
  auto rename = [&](StringAttr name) {
    return builder.getStringAttr(prefix + name.getValue());
  };
  IRMapping mapping;
  mapping.map(repeat.getCarriedArgs(), inits);
  for (Operation &op : repeat.getBody().front().without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    if (StringAttr name = getOrigin(copy).name)
      setName(copy, rename(name));
    if (auto param = dyn_cast<ParamOp>(copy))
      param.setParamNameAttr(rename(param.getParamNameAttr()));
    // What is kept for later steps has the name of what keeps it.
    if (auto cache = dyn_cast<CacheOp>(copy))
      cache.setCacheNameAttr(rename(cache.getCacheNameAttr()));
    if (auto state = copy->getAttrOfType<StringAttr>("state"))
      copy->setAttr("state", rename(state));
    if (auto nested = dyn_cast<RepeatOp>(copy)) {
      nested.setRepeatNameAttr(rename(nested.getRepeatNameAttr()));
      inner.push_back(nested);
    }
  }
  return llvm::map_to_vector(repeat.getYield().getValues(), [&](Value value) {
    return mapping.lookupOrDefault(value);
  });
}

LogicalResult LayerCutter::checkCarried(RepeatOp repeat) const {
  if (repeat.getNumResults() == repeat.getNumCarried() &&
      repeat.getStacks().empty())
    return success();
  return repeat.emitOpError(
      "reads or makes stacks, so that it cannot be divided, and no pipeline "
      "stage can end inside of an iteration; cut layers before --stg-autodiff");
}

LogicalResult LayerCutter::cut(Section section) {
  RepeatOp repeat = section.repeat;
  int64_t each = count(getLayersOfIteration(repeat));
  int64_t iterations = count(repeat.getCount());
  if (!hasCut(section.begin, section.begin + iterations * each))
    return success();
  SmallVector<Value> carried(repeat.getCarriedInits());
  SmallVector<Section> sections;
  int64_t done = 0;
  unsigned number = 0;
  auto copyUntil = [&](int64_t end) {
    if (end > done)
      carried = copyPart(repeat, done, end - done, carried, number++);
    done = end;
  };
  for (int64_t i = 0; i < iterations; ++i) {
    int64_t begin = section.begin + i * each;
    bool isCut = hasCut(begin, begin + each);
    if (!isCut && !(i > 0 && llvm::is_contained(parts, begin)))
      continue;
    if (failed(checkCarried(repeat)))
      return failure();
    copyUntil(i);
    if (!isCut)
      continue;
    SmallVector<RepeatOp> inner;
    carried = unroll(repeat, i, carried, inner);
    for (RepeatOp nested : inner) {
      sections.push_back({nested, begin});
      begin += count(nested.getCount() * getLayersOfIteration(nested));
    }
    done = i + 1;
  }
  if (done == 0)
    return success();
  copyUntil(iterations);
  repeat.replaceAllUsesWith(carried);
  repeat.erase();
  for (Section nested : sections)
    if (failed(cut(nested)))
      return failure();
  return success();
}

/// The layers before the end of each stage but the last one.
SmallVector<int64_t> CutLayers::getStageEnds(int64_t layers) const {
  SmallVector<int64_t> ends;
  // What does not divide is an error of the schedule.
  if (layersPerStage.empty() && layers % stages != 0)
    return ends;
  int64_t done = 0;
  for (unsigned stage = 0; stage + 1 < stages; ++stage) {
    if (!layersPerStage.empty() && stage >= layersPerStage.size())
      break;
    done += layersPerStage.empty() ? layers / stages : layersPerStage[stage];
    ends.push_back(done);
  }
  return ends;
}

/// Values of the configuration and of options, then defaults.
LogicalResult CutLayers::cutFunction(func::FuncOp function) {
  LayerRanges layers = collectLayers(function, binding);
  SmallVector<int64_t> parts;
  if (atStart || atEnd) {
    if (failed(checkEndLayers(function, layers, atStart, atEnd)))
      return failure();
    parts = {int64_t(atStart), layers.getNumLayers() - atEnd};
  }
  // What has no value is an error of the schedule, too.
  if (layers.unknown)
    return success();
  LayerCutter cutter(getStageEnds(layers.getNumLayers()), std::move(parts),
                     binding);
  for (const LayerRange &range : layers.ranges)
    if (failed(cutter.cut({range.repeat, range.begin})))
      return failure();
  return success();
}

void CutLayers::runOnOperation() {
  if (stages == 0) {
    getOperation().emitError("layers are cut for 'stages' of at least 1");
    return signalPassFailure();
  }
  if (stages == 1 && !atStart && !atEnd)
    return;
  FailureOr<SymBinding> known =
      collectSymbolValues(getOperation(), config, *values);
  if (failed(known))
    return signalPassFailure();
  binding = std::move(*known);
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(cutFunction(function)))
      return signalPassFailure();
}
