//===- LoadExperts.cpp - Experts that get different numbers of tokens -----===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows that a device has for its experts are a dimension. Here its extent
// becomes an expression in the device's coordinate, in every type that has it;
// all costs, sizes and messages follow from types.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "LocalLayouts.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace stg {
#define GEN_PASS_DEF_LOADEXPERTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// The first two dimensions of experts' buffers: experts and rows of each.
/// Their names tell them from others of the same extents, their extents where
/// they are divided.
using Buffers = std::pair<DimAttr, DimAttr>;

/// How the buffers of all experts are divided over a group of devices.
struct Division {
  ArrayAttr axes;             ///< The first is the fastest.
  SmallVector<int64_t> sizes; ///< Of the axes.
  int64_t numDevices = 1;
  SymExpr tokens; ///< Rows that the group's tokens make.
};

/// The rows that experts' buffers get.
using NewRows = DenseMap<Buffers, DimAttr>;

struct LoadExperts : stg::impl::LoadExpertsBase<LoadExperts> {
  using LoadExpertsBase::LoadExpertsBase;
  void runOnOperation() override;

private:
  LogicalResult checkLoads();
  LogicalResult findExchanges(func::FuncOp function);
  LogicalResult findShares(func::FuncOp function);
  LogicalResult addExchange(AllToAllOp op, SymTensorType atExperts,
                            SymExpr tokens);
  LogicalResult addDivision(Operation *op, ArrayAttr axes, Buffers buffers,
                            SymExpr tokens);
  /// Of each device of a group, of all of its experts.
  struct Shares {
    SmallVector<SymExpr> rows, used;
  };
  Shares getShares(Buffers buffers, const Division &division);
  SymExpr lookUp(ArrayRef<SymExpr> table, const Division &division);
  FailureOr<NewRows> addLoads(func::FuncOp function);
  FailureOr<NewRows> setExchanges();
  void setUsed(func::FuncOp function);
  LogicalResult replace(func::FuncOp function);

  /// By the buffers that a device has for its own experts.
  llvm::MapVector<Buffers, Division> divisions;
  SmallVector<std::pair<AllToAllOp, Buffers>> exchanges;
  /// By the same buffers, how many of a device's experts have a row.
  DenseMap<Buffers, SymExpr> usedOf;
};
} // namespace

static Buffers getBuffers(SymTensorType type) {
  return {type.getDim(0), type.getDim(1)};
}

LogicalResult LoadExperts::checkLoads() {
  int64_t sum = 0;
  for (int64_t load : loads) {
    if (load < 0)
      return getOperation().emitError("load of an expert is ")
             << load << ", expected none below zero";
    if (llvm::AddOverflow(sum, load, sum))
      return getOperation().emitError("sum of the loads does not fit 64 bits");
  }
  if (sum == 0)
    return getOperation().emitError(
        "loads of all experts are zero, expected one above");
  return success();
}

/// Notes how the experts are divided that `op` sends rows to or gets them from,
/// or makes rows of. All devices together make so many rows.
LogicalResult LoadExperts::addDivision(Operation *op, ArrayAttr axes,
                                       Buffers buffers, SymExpr tokens) {
  Division division;
  division.axes = axes;
  MeshAttr mesh = MeshOp::lookup(op).getMesh();
  for (auto axis : division.axes.getAsRange<StringAttr>()) {
    std::optional<int64_t> size = mesh.getAxisSize(axis).getInt64();
    if (!size)
      return op->emitOpError("is over axis '")
             << axis.getValue() << "', whose size is not a number";
    division.sizes.push_back(*size);
    division.numDevices *= *size;
  }
  int64_t numLoads = loads.size();
  if (numLoads % division.numDevices)
    return op->emitOpError("divides experts over ")
           << division.numDevices << " devices, which do not divide the "
           << numLoads << " loads that are given";
  SymExpr numExperts = buffers.first.getExtent() * division.numDevices;
  std::optional<int64_t> number = numExperts.getInt64();
  if (number && *number != numLoads)
    return op->emitOpError("is for ")
           << *number << " experts, but there are " << numLoads << " loads";
  division.tokens = tokens;
  divisions.try_emplace(buffers, division);
  return success();
}

LogicalResult LoadExperts::addExchange(AllToAllOp op, SymTensorType atExperts,
                                       SymExpr tokens) {
  Buffers buffers = getBuffers(atExperts);
  SymExpr devices = MeshOp::lookup(op).getMesh().getGroupSize(op.getAxes());
  if (!divisions.contains(buffers) &&
      failed(addDivision(op, op.getAxes(), buffers, tokens * devices)))
    return failure();
  exchanges.emplace_back(op, buffers);
  return success();
}

/// All-to-alls between the buffers that tokens are dispatched to and those of a
/// device's own experts, in both directions.
LogicalResult LoadExperts::findExchanges(func::FuncOp function) {
  llvm::MapVector<Buffers, SymExpr> tokensOf;
  function.walk([&](DispatchOp op) {
    tokensOf[getBuffers(op.getResult().getType())] =
        op.getIndices().getType().getNumElements();
  });
  WalkResult walked = function.walk([&](AllToAllOp op) {
    SymTensorType input = op.getInput().getType(),
                  result = op.getResult().getType();
    bool goesToExperts = op.getFrom() == 1 && op.getTo() == 0;
    bool comesBack = op.getFrom() == 0 && op.getTo() == 1;
    if (!goesToExperts && !comesBack)
      return WalkResult::advance();
    SymTensorType atTokens = goesToExperts ? input : result;
    auto it = tokensOf.find(getBuffers(atTokens));
    if (it == tokensOf.end())
      return WalkResult::advance();
    return WalkResult(
        addExchange(op, goesToExperts ? result : input, it->second));
  });
  return failure(walked.wasInterrupted());
}

/// Devices that have the same tokens and each some of the experts make the rows
/// of these.
LogicalResult LoadExperts::findShares(func::FuncOp function) {
  MeshOp mesh = MeshOp::lookup(function);
  if (!mesh)
    return success();
  LocalLayouts layouts(function, mesh.getMesh());
  WalkResult walked = function.walk([&](DispatchOp op) {
    SmallVector<Attribute> axes;
    for (StringAttr axis : layouts.getAxes())
      if (layouts.get(op.getResult(), axis) == AxisState::getDivided(0))
        axes.push_back(axis);
    if (axes.empty())
      return WalkResult::advance();
    Buffers buffers = getBuffers(op.getResult().getType());
    bool isSent = llvm::any_of(
        op->getUsers(), [](Operation *user) { return isa<AllToAllOp>(user); });
    if (isSent)
      return WalkResult(op.emitOpError(
          "makes rows of some of the experts, which are then sent to others; "
          "loads are of experts that are divided in one of these ways"));
    if (divisions.contains(buffers))
      return WalkResult::advance();
    return WalkResult(addDivision(op, ArrayAttr::get(&getContext(), axes),
                                  buffers,
                                  op.getIndices().getType().getNumElements()));
  });
  return failure(walked.wasInterrupted());
}

/// The rows of all experts of a device and how many of these have one, for each
/// device of the group. The experts' shares of the tokens are consecutive
/// ranges of them, each with its end rounded up, so that their sum is exact.
LoadExperts::Shares LoadExperts::getShares(Buffers buffers,
                                           const Division &division) {
  MLIRContext *context = &getContext();
  int64_t sum = 0;
  for (int64_t load : loads)
    sum += load;
  SymExpr begin = SymExpr::get(context, 0), zero = begin,
          one = SymExpr::get(context, 1);
  int64_t reached = 0, numOwn = loads.size() / division.numDevices;
  Shares result;
  for (auto [expert, load] : llvm::enumerate(loads)) {
    if (expert % numOwn == 0) {
      result.rows.push_back(zero);
      result.used.push_back(zero);
    }
    reached += load;
    SymExpr end = reached == sum
                      ? division.tokens
                      : SymExpr::getFunction(SymFunc::CeilDiv,
                                             {division.tokens * reached,
                                              SymExpr::get(context, sum)});
    SymExpr rows = end - begin;
    if (clip)
      rows = SymExpr::getFunction(SymFunc::Min,
                                  {rows, buffers.second.getExtent()});
    result.rows.back() = result.rows.back() + rows;
    result.used.back() =
        result.used.back() + SymExpr::getFunction(SymFunc::Min, {rows, one});
    begin = end;
  }
  return result;
}

/// The element of a table that has the number of this device in the group.
SymExpr LoadExperts::lookUp(ArrayRef<SymExpr> table, const Division &division) {
  SmallVector<SizedAxis> axes;
  for (auto [axis, size] :
       llvm::zip_equal(division.axes.getAsRange<StringAttr>(), division.sizes))
    axes.push_back({axis, size});
  return lookUpByCoordinates(getOperation(), axes, table);
}

/// Sets the sizes of the exchanges. Returns the new numbers of rows.
FailureOr<NewRows> LoadExperts::setExchanges() {
  NewRows newRows;
  DenseMap<Buffers, SymExpr> mostRows;
  for (auto &[buffers, division] : divisions) {
    auto [table, used] = getShares(buffers, division);
    SymExpr experts = buffers.first.getExtent();
    // Rows of a device as so many of each of its experts.
    newRows[buffers] =
        buffers.second.withExtent(lookUp(table, division).exactDiv(experts));
    usedOf[buffers] = lookUp(used, division);
    if (clip)
      table.assign({experts * buffers.second.getExtent()});
    mostRows[buffers] = table.size() == 1
                            ? table[0]
                            : SymExpr::getFunction(SymFunc::Max, table);
  }
  for (auto [op, buffers] : exchanges) {
    SymExpr rows = newRows[buffers].getExtent();
    std::optional<Rational> number = rows.getConstant();
    if (number && !(Rational(0) < *number))
      return op.emitOpError("gives each expert ")
             << rows << " rows, which is not a positive number";
    SymTensorType type =
        op.getTo() == 0 ? op.getResult().getType() : op.getInput().getType();
    SymExpr rowBytes = type.getNumBytes().exactDiv(buffers.first.getExtent() *
                                                   buffers.second.getExtent());
    op.setPayloadAttr(rowBytes * mostRows[buffers]);
  }
  return newRows;
}

/// Adds to the new numbers of rows those that tensor-parallel devices have
/// together.
FailureOr<NewRows> LoadExperts::addLoads(func::FuncOp function) {
  FailureOr<NewRows> newRows = setExchanges();
  if (failed(newRows))
    return failure();
  function.walk([&](CollectiveOpInterface op) {
    bool isGather = op.isKind(CollectiveKind::AllGather);
    if (op.isFlat() || !(isGather || op.isKind(CollectiveKind::ReduceScatter)))
      return;
    auto first = cast<SymTensorType>(op->getOperand(0).getType());
    auto second = cast<SymTensorType>(op->getResult(0).getType());
    SymTensorType shard = isGather ? first : second,
                  whole = isGather ? second : first;
    if (shard.getRank() < 2)
      return;
    Buffers own = getBuffers(shard), gathered = getBuffers(whole);
    DimAttr rows = newRows->lookup(own);
    if (!rows || gathered.first != own.first)
      return;
    newRows->try_emplace(
        gathered,
        rows.withExtent((rows.getExtent() * gathered.second.getExtent())
                            .exactDiv(own.second.getExtent())));
    usedOf.try_emplace(gathered, usedOf.lookup(own));
  });
  return newRows;
}

/// Says of products and biases how many experts have a row.
void LoadExperts::setUsed(func::FuncOp function) {
  function.walk([&](Operation *op) {
    auto product = dyn_cast<EinsumOp>(op);
    auto bias = dyn_cast<BiasAddOp>(op);
    if (!product && !bias)
      return;
    for (Value operand : op->getOperands()) {
      auto type = cast<SymTensorType>(operand.getType());
      SymExpr used =
          type.getRank() < 2 ? SymExpr() : usedOf.lookup(getBuffers(type));
      if (used && product)
        product.setUsedAttr(used);
      else if (used)
        bias.setUsedAttr(used);
    }
  });
}

LogicalResult LoadExperts::replace(func::FuncOp function) {
  FailureOr<NewRows> newRows = addLoads(function);
  if (failed(newRows))
    return failure();
  setUsed(function);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](SymTensorType type) -> std::optional<Type> {
    SmallVector<DimAttr> dims(type.getDims());
    // Stacks have further dimensions before those two.
    for (size_t i = 1; i < dims.size(); ++i)
      if (DimAttr rows = newRows->lookup({dims[i - 1], dims[i]}))
        dims[i] = rows;
    return type.withDims(dims);
  });
  function->walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
  return success();
}

void LoadExperts::runOnOperation() {
  if (failed(checkLoads()))
    return signalPassFailure();
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    divisions.clear();
    exchanges.clear();
    usedOf.clear();
    if (failed(findExchanges(function)) || failed(findShares(function)) ||
        failed(replace(function)))
      return signalPassFailure();
  }
}
