//===- SendIds.cpp - Ids go to the device that has their rows -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the rows of a table are divided, ids of all devices are gathered, and
// what each device finds is scattered. A device needs the ids of its own rows
// only: here they are sorted by device and exchanged.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_SENDIDS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// Ids that were sent here, and how many of them each sample has for a table.
struct SentIds {
  Value ids, lengths;
};

struct SendIds : stg::impl::SendIdsBase<SendIds> {
  void runOnOperation() override;

private:
  SentIds send(Operation *op, AllGatherOp gather);
  void replaceLookup(EmbeddingOp op, AllGatherOp gather);
  void replaceGradients(AllGatherOp gather, const SentIds &sent);

  /// What takes the place of ids that are gathered, by these and the axes.
  DenseMap<std::pair<Value, ArrayAttr>, SentIds> sentIds;
  bool isFound = false;
};
} // namespace

/// The ids of all devices along the axes, of which only this device's rows are
/// looked up: what is found is summed over them.
static AllGatherOp getGatheredIds(EmbeddingOp op) {
  auto gather = op.getIds().getDefiningOp<AllGatherOp>();
  if (!gather || gather.getPayloadAttr() || gather.getDim() != 0 ||
      op.getTable().getType().getRank() != 2 || op.getRows() ||
      !op.getResult().hasOneUse())
    return {};
  auto scatter = dyn_cast<ReduceScatterOp>(*op.getResult().user_begin());
  return scatter && scatter.getDim() == 0 &&
                 scatter.getAxes() == gather.getAxes()
             ? gather
             : AllGatherOp();
}

/// Sorts the ids before they are gathered, and exchanges them.
SentIds SendIds::send(Operation *op, AllGatherOp gather) {
  Value ids = gather.getInput();
  SentIds &sent = sentIds[{ids, gather.getAxes()}];
  if (sent.ids)
    return sent;
  MLIRContext *context = &getContext();
  auto type = cast<SymTensorType>(ids.getType());
  MeshAttr mesh = MeshOp::lookup(op).getMesh();
  SymExpr one = SymExpr::get(context, 1), devices = one;
  for (auto axis : gather.getAxes().getAsRange<StringAttr>())
    devices = devices * mesh.getAxisSize(axis);
  auto getDim = [&](SymExpr extent) {
    return DimAttr::get(context, {}, extent);
  };
  auto getType = [&](ArrayRef<DimAttr> dims) { return type.withDims(dims); };
  DimAttr samples = type.getDim(0), tables = type.getDim(2);
  SymExpr bucket = type.getNumElements().exactDiv(devices);
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto sorted =
      BucketizeOp::create(builder, loc,
                          TypeRange{getType({getDim(devices), samples, tables}),
                                    getType({getDim(devices), getDim(bucket)})},
                          ids);
  auto exchange = [&](Value value, ArrayRef<DimAttr> dims) -> Value {
    return AllToAllOp::create(builder, loc, getType(dims), value, /*from=*/1,
                              /*to=*/0, gather.getAxes(), SymExpr(), SymExpr());
  };
  sent.lengths = exchange(
      sorted.getLengths(),
      {getDim(one), samples.withExtent(samples.getExtent() * devices), tables});
  sent.ids =
      exchange(sorted.getSorted(), {getDim(one), getDim(bucket * devices)});
  for (Operation *made : {sorted.getOperation(), sent.lengths.getDefiningOp(),
                          sent.ids.getDefiningOp()})
    setOrigin(made, getOrigin(gather));
  return sent;
}

void SendIds::replaceLookup(EmbeddingOp op, AllGatherOp gather) {
  SentIds sent = send(op, gather);
  OpBuilder builder(op);
  auto bag = EmbeddingBagOp::create(builder, op.getLoc(), op.getType(),
                                    op.getTable(), sent.ids, sent.lengths);
  setOrigin(bag, getOrigin(op));
  op.replaceAllUsesWith(bag.getResult());
  op.erase();
}

/// Backward has the ids that forward was sent.
void SendIds::replaceGradients(AllGatherOp gather, const SentIds &sent) {
  for (Operation *user : llvm::make_early_inc_range(gather->getUsers())) {
    OpBuilder builder(user);
    if (auto gradient = dyn_cast<EmbeddingGradOp>(user)) {
      auto bag = EmbeddingBagGradOp::create(
          builder, gradient.getLoc(), gradient.getResult().getType(), sent.ids,
          sent.lengths, gradient.getDy());
      setOrigin(bag, getOrigin(gradient));
      gradient.replaceAllUsesWith(bag.getResult());
      gradient.erase();
    } else if (auto step = dyn_cast<RowAdagradOp>(user)) {
      step.getIdsMutable().assign(sent.ids);
      step.getLengthsMutable().assign(sent.lengths);
      step.removePooledAttr();
      step.removeAmongAttr();
    }
  }
}

void SendIds::runOnOperation() {
  isFound = false;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    sentIds.clear();
    SmallVector<EmbeddingOp> lookups;
    function.walk([&](EmbeddingOp op) {
      if (op.getPooled() == 1 && op.getIds().getType().getRank() == 3)
        lookups.push_back(op);
    });
    for (EmbeddingOp op : lookups)
      if (AllGatherOp gather = getGatheredIds(op)) {
        replaceLookup(op, gather);
        isFound = true;
      }
    SmallVector<AllGatherOp> gathers;
    function.walk([&](AllGatherOp op) { gathers.push_back(op); });
    for (AllGatherOp gather : gathers) {
      auto it = sentIds.find({gather.getInput(), gather.getAxes()});
      if (it == sentIds.end())
        continue;
      replaceGradients(gather, it->second);
      if (gather->use_empty())
        gather.erase();
    }
  }
  if (isFound)
    return;
  getOperation().emitError(
      "no ids of pooled lookups are gathered that could be sent; divide the "
      "rows of tables over the axes that divide the samples, as with NR:dp+, "
      "of tables that are joined or listed, not stacked");
  signalPassFailure();
}
