//===- GatherLogits.cpp - Where parts of logits meet ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vocabulary that is divided is gathered before tokens are sampled. Engines
// also sample parts first, or have one device sample.
//
//===----------------------------------------------------------------------===//

#include "Channels.h"
#include "Coordinates.h"
#include "ShardingRules.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_GATHERLOGITS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct GatherLogits : stg::impl::GatherLogitsBase<GatherLogits> {
  using GatherLogitsBase::GatherLogitsBase;
  void runOnOperation() override;

private:
  LogicalResult sendToOne(SampleOp sample, AllGatherOp gather, MeshAttr mesh);
};

/// Builds what one device of the group does and others do not.
class ToOneBuilder {
public:
  ToOneBuilder(SampleOp sample, AllGatherOp gather, SizedAxis axis,
               int64_t channel)
      : sample(sample), gather(gather), axis(axis), channel(channel),
        builder(sample) {}

  Value run();

private:
  template <typename OpTy> OpTy setOrigin(OpTy op) {
    copyOrigin(sample, op);
    return op;
  }
  SymTensorType getPart(int64_t device);
  SymTensorType join(ValueRange parts);
  Value buildFor(int64_t device, Value tokens,
                 function_ref<Value(OpBuilder &)> build);
  void send(OpBuilder &own, int64_t shift, int64_t number, Value value);
  Value receive(OpBuilder &own, int64_t shift, int64_t number, Type type);

  SampleOp sample;
  AllGatherOp gather;
  SizedAxis axis;
  int64_t channel;
  OpBuilder builder;
};
} // namespace

/// The part of the logits that a device has: parts may be unequal.
SymTensorType ToOneBuilder::getPart(int64_t device) {
  auto coordinate = SymbolOp::lookupCoordinate(
      sample->getParentOfType<ModuleOp>(), axis.name);
  SymTensorType type = gather.getInput().getType();
  if (!coordinate)
    return type;
  SymBinding binding;
  binding[coordinate.getSymNameAttr()] =
      SymExpr::get(sample.getContext(), device);
  SmallVector<DimAttr> dims(type.getDims());
  for (DimAttr &dim : dims)
    dim = dim.withExtent(dim.getExtent().substitute(binding));
  return type.withDims(dims);
}

/// Parts that may depend on the device are the whole on the first one only.
SymTensorType ToOneBuilder::join(ValueRange parts) {
  SymExpr extent = SymExpr::get(sample.getContext(), 0);
  for (Value part : parts)
    extent = extent +
             cast<SymTensorType>(part.getType()).getShape()[gather.getDim()];
  SmallVector<DimAttr> dims(gather.getType().getDims());
  dims[gather.getDim()] = dims[gather.getDim()].withExtent(extent);
  return gather.getType().withDims(dims);
}

/// What is executed once on the device with that coordinate; on others `tokens`
/// stay what they are.
Value ToOneBuilder::buildFor(int64_t device, Value tokens,
                             function_ref<Value(OpBuilder &)> build) {
  auto module = sample->getParentOfType<ModuleOp>();
  SmallVector<SymExpr> table(axis.size, SymExpr::get(sample.getContext(), 0));
  table[device] = SymExpr::get(sample.getContext(), 1);
  Origin origin = getOrigin(sample);
  std::string name =
      (origin.name ? origin.name.getValue() : StringRef("sample")).str() +
      (device == 0 ? ".first" : ".other" + std::to_string(device));
  auto once = RepeatOp::create(
      builder, sample.getLoc(), name, lookUpByCoordinates(module, axis, table),
      /*reverse=*/false, ValueRange(tokens), ValueRange(), TypeRange());
  setOrigin(once);
  OpBuilder own = OpBuilder::atBlockBegin(&once.getBody().front());
  Value made = build(own);
  YieldOp::create(own, sample.getLoc(), ValueRange(made));
  return once.getResult(0);
}

void ToOneBuilder::send(OpBuilder &own, int64_t shift, int64_t number,
                        Value value) {
  setOrigin(SendOp::create(own, sample.getLoc(), ValueRange(value), axis.name,
                           own.getI64IntegerAttr(shift),
                           own.getI64IntegerAttr(channel + number),
                           IntegerAttr(), /*payload=*/SymExpr(), OriginAttr()));
}

Value ToOneBuilder::receive(OpBuilder &own, int64_t shift, int64_t number,
                            Type type) {
  return setOrigin(RecvOp::create(own, sample.getLoc(), TypeRange(type),
                                  /*into=*/Value(), axis.name,
                                  own.getI64IntegerAttr(shift),
                                  own.getI64IntegerAttr(channel + number),
                                  IntegerAttr(), /*payload=*/SymExpr(),
                                  OriginAttr()))
      .getResult(0);
}

/// The first device samples. It has a channel to each other one, and one back.
Value ToOneBuilder::run() {
  Value part = gather.getInput();
  Type type = sample.getTokens().getType();
  Value tokens = setOrigin(SplatOp::create(
      builder, sample.getLoc(), type, SymExpr::get(sample.getContext(), 0)));
  for (int64_t device = 1; device < axis.size; ++device)
    tokens = buildFor(device, tokens, [&](OpBuilder &own) {
      send(own, -device, 2 * (device - 1), part);
      return receive(own, -device, 2 * device - 1, type);
    });
  return buildFor(0, tokens, [&](OpBuilder &own) {
    SmallVector<Value> parts{part};
    for (int64_t device = 1; device < axis.size; ++device)
      parts.push_back(receive(own, device, 2 * (device - 1), getPart(device)));
    auto whole = setOrigin(ConcatOp::create(own, sample.getLoc(), join(parts),
                                            parts, gather.getDim()));
    auto sampled = cast<SampleOp>(own.clone(*sample));
    sampled.getLogitsMutable().assign(whole);
    for (int64_t device = 1; device < axis.size; ++device)
      send(own, device, 2 * device - 1, sampled.getTokens());
    return Value(sampled.getTokens());
  });
}

LogicalResult GatherLogits::sendToOne(SampleOp sample, AllGatherOp gather,
                                      MeshAttr mesh) {
  if (gather.getAxes().size() != 1)
    return sample.emitOpError("has logits that are divided over ")
           << gather.getAxes() << ", and is on one device of a single axis";
  auto name = cast<StringAttr>(gather.getAxes()[0]);
  std::optional<int64_t> size = mesh.getAxisSize(name).getInt64();
  if (!size)
    return sample.emitOpError("is on one device of axis '")
           << name.getValue() << "', whose size is not a number";
  Channels channels(getOperation());
  int64_t first = channels.take(name, 2 * (*size - 1));
  Value tokens = ToOneBuilder(sample, gather, {name, *size}, first).run();
  sample.getTokens().replaceAllUsesWith(tokens);
  sample.erase();
  gather.erase();
  return success();
}

/// Each device samples its part.
static void samplePart(SampleOp sample, AllGatherOp gather, MeshAttr mesh) {
  OpBuilder builder(sample);
  auto best = SamplePartOp::create(builder, sample.getLoc(), gather.getInput());
  copyOrigin(sample, best);
  if (StringAttr name = getOrigin(sample).name)
    setName(best, builder.getStringAttr(name.getValue() + ".part"));
  SymTensorType type = best.getType();
  SmallVector<DimAttr> dims(type.getDims());
  dims.back() = dims.back().withExtent(dims.back().getExtent() *
                                       mesh.getGroupSize(gather.getAxes()));
  auto all = AllGatherOp::create(builder, gather.getLoc(), type.withDims(dims),
                                 best, type.getRank() - 1, gather.getAxes(),
                                 /*payload=*/SymExpr(), /*padded=*/SymExpr());
  copyOrigin(gather, all);
  sample.getLogitsMutable().assign(all);
  gather.erase();
}

void GatherLogits::runOnOperation() {
  if (how == LogitsGather::All)
    return markAllAnalysesPreserved();
  auto run = [&](func::FuncOp function, MeshOp mesh) -> LogicalResult {
    SmallVector<std::pair<SampleOp, AllGatherOp>> found;
    function.walk([&](SampleOp sample) {
      auto gather = sample.getLogits().getDefiningOp<AllGatherOp>();
      if (gather && gather->hasOneUse() &&
          static_cast<int64_t>(gather.getDim()) ==
              gather.getType().getRank() - 1)
        found.emplace_back(sample, gather);
    });
    for (auto [sample, gather] : found) {
      if (how == LogitsGather::Top)
        samplePart(sample, gather, mesh.getMesh());
      else if (failed(sendToOne(sample, gather, mesh.getMesh())))
        return failure();
    }
    return success();
  };
  if (failed(forEachProgram(getOperation(), run)))
    signalPassFailure();
}
