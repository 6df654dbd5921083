//===- DivideUnevenly.cpp - Dimensions that devices do not divide evenly --===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is divided among devices is the same fraction of it on each of them, in
// every type. Where that is no integer, the fractions become here what each
// device has, expressions in its coordinates. All costs, sizes and messages
// follow from types.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "LocalLayouts.h"
#include "ShardingRules.h"
#include "SymbolValues.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace stg {
#define GEN_PASS_DEF_DIVIDEUNEVENLY
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct DivideUnevenly : stg::impl::DivideUnevenlyBase<DivideUnevenly> {
  using DivideUnevenlyBase::DivideUnevenlyBase;
  void runOnOperation() override;
};

using AxisSet = llvm::SmallSetVector<StringAttr, 2>;

/// Divides one dimension of one function.
class UnevenDivider {
public:
  UnevenDivider(func::FuncOp function, MeshOp mesh, StringAttr name,
                const SymBinding &binding)
      : function(function), mesh(mesh.getMesh()), name(name), binding(binding),
        layouts(function, this->mesh) {}

  LogicalResult run();

private:
  template <typename Fn> LogicalResult forEachValue(Fn visit);
  AxisSet getAxes(Value value, unsigned dim) const;
  AxisSet getPossibleAxes(Value value, unsigned dim) const;
  std::optional<int64_t> countAll(SymTensorType type, unsigned dim,
                                  const AxisSet &axes) const;
  LogicalResult classify(Value value);
  LogicalResult classifyOthers();
  LogicalResult makeParts();
  LogicalResult setSizes(CollectiveOpInterface op);
  SymExpr look(const AxisSet &own, ArrayAttr largestOf = {}) const;
  SymTensorType getType(Value value, ArrayAttr largestOf = {}) const;

  func::FuncOp function;
  MeshAttr mesh;
  StringAttr name;
  const SymBinding &binding;
  LocalLayouts layouts;
  int64_t all = 0;           ///< The whole dimension.
  AxisSet dividing;          ///< The axes that are known to divide it anywhere.
  SmallVector<Value> others; ///< Of which the layout does not say all.
  DeviceNumbers parts;       ///< Along all axes that divide it anywhere.
  /// Where a value has the dimension, and what divides it there.
  struct Place {
    unsigned dim;
    AxisSet axes;
  };
  llvm::MapVector<Value, Place> places;
};
} // namespace

/// Visits arguments and results, of ops in all regions.
template <typename Fn> LogicalResult UnevenDivider::forEachValue(Fn visit) {
  WalkResult walked = function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (failed(visit(result)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(visit(argument)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// The axes that are known to divide a dimension of a value.
AxisSet UnevenDivider::getAxes(Value value, unsigned dim) const {
  AxisSet names;
  for (StringAttr axis : layouts.getAxes())
    if (AxisState state = layouts.get(value, axis);
        state.kind == AxisState::Divided && state.dim == int64_t(dim))
      names.insert(axis);
  return names;
}

/// The same with those that divide the dimension elsewhere, and along which the
/// layout does not say what this value is.
AxisSet UnevenDivider::getPossibleAxes(Value value, unsigned dim) const {
  AxisSet names = getAxes(value, dim);
  for (StringAttr axis : dividing) {
    AxisState::Kind kind = layouts.get(value, axis).kind;
    if (kind == AxisState::Zero || kind == AxisState::Constant ||
        kind == AxisState::Unknown)
      names.insert(axis);
  }
  return names;
}

std::optional<int64_t> UnevenDivider::countAll(SymTensorType type, unsigned dim,
                                               const AxisSet &axes) const {
  SymExpr extent = type.getDim(dim).getExtent();
  for (StringAttr axis : axes)
    extent = extent * mesh.getAxisSize(axis);
  return evaluate(extent, binding);
}

/// The number of the dimension with that name; -1 if there is none.
static FailureOr<int64_t> findDim(Value value, StringAttr name) {
  auto type = dyn_cast<SymTensorType>(value.getType());
  int64_t found = -1;
  for (unsigned i = 0; type && i < type.getRank(); ++i) {
    if (!type.getDim(i).hasName(name))
      continue;
    if (found >= 0 || type.getDim(i).getNames().size() != 1)
      return emitError(value.getLoc())
             << "value of type " << type << " has dimension '"
             << name.getValue()
             << "' joined with another one or twice, so that it cannot be "
                "divided unevenly";
    found = i;
  }
  return found;
}

/// Notes where `value` has the dimension. Those of which the layout says all
/// say how large it is.
LogicalResult UnevenDivider::classify(Value value) {
  FailureOr<int64_t> dim = findDim(value, name);
  if (failed(dim) || *dim < 0)
    return failure(failed(dim));
  AxisSet axes = getAxes(value, *dim);
  std::optional<int64_t> number =
      countAll(cast<SymTensorType>(value.getType()), *dim, axes);
  if (number && all == 0)
    all = *number;
  // In order of values, whatever is found out of them.
  places[value] = {static_cast<unsigned>(*dim), axes};
  if (number && number == all)
    dividing.insert_range(axes);
  else
    others.push_back(value);
  return success();
}

/// Of values of which the layout does not say all, the extent does.
LogicalResult UnevenDivider::classifyOthers() {
  for (Value value : others) {
    Place &place = places[value];
    place.axes = getPossibleAxes(value, place.dim);
    auto type = cast<SymTensorType>(value.getType());
    std::optional<int64_t> number = countAll(type, place.dim, place.axes);
    if (!number || *number != all)
      return emitError(value.getLoc())
             << "value of type " << type << " has dimension '"
             << name.getValue()
             << "' with another extent than other values have, or with one "
                "that is not known, so that it cannot be divided unevenly";
  }
  return success();
}

/// Each device gets the same number, rounded up, as long as there are any.
LogicalResult UnevenDivider::makeParts() {
  int64_t devices = 1;
  for (StringAttr axis : layouts.getAxes()) {
    if (!dividing.contains(axis))
      continue;
    std::optional<int64_t> size = mesh.getAxisSize(axis).getInt64();
    if (!size)
      return function.emitOpError("divides '")
             << name.getValue() << "' unevenly over axis '" << axis.getValue()
             << "', whose size is not a number";
    parts.axes.push_back({axis, *size});
    devices *= *size;
  }
  int64_t part = llvm::divideCeil(all, devices);
  if ((devices - 1) * part >= all)
    return function.emitOpError("divides '")
           << name.getValue() << "' = " << all << " over " << devices
           << " devices, with " << part
           << " on each, so that nothing is left for the last one";
  for (int64_t device = 0; device < devices; ++device)
    parts.numbers.push_back(std::min(part, all - device * part));
  return success();
}

/// What devices have that divide the dimension over the axes `own`, or the one
/// with most along `largestOf`.
SymExpr UnevenDivider::look(const AxisSet &own, ArrayAttr largestOf) const {
  DeviceNumbers numbers =
      parts.join([&](StringAttr axis) { return !own.contains(axis); },
                 [](int64_t lhs, int64_t rhs) { return lhs + rhs; });
  if (largestOf)
    numbers = numbers.join(
        [&](StringAttr axis) { return llvm::is_contained(largestOf, axis); },
        [](int64_t lhs, int64_t rhs) { return std::max(lhs, rhs); });
  return lookUpByCoordinates(function->getParentOfType<ModuleOp>(), numbers);
}

SymTensorType UnevenDivider::getType(Value value, ArrayAttr largestOf) const {
  auto type = cast<SymTensorType>(value.getType());
  const Place &place = places.find(value)->second;
  SmallVector<DimAttr> dims(type.getDims());
  dims[place.dim] = dims[place.dim].withExtent(look(place.axes, largestOf));
  return type.withDims(dims);
}

/// Devices bring parts of different size, and agree on the largest.
LogicalResult UnevenDivider::setSizes(CollectiveOpInterface op) {
  auto getPlace = [&](ValueRange values) -> const Place * {
    const auto *it = values.size() == 1 ? places.find(values[0]) : places.end();
    return it == places.end() ? nullptr : &it->second;
  };
  const Place *from = getPlace(op->getOperands()),
              *to = getPlace(op->getResults());
  if (!from || !to || from->axes.size() == to->axes.size())
    return success();
  Value operand = op->getOperand(0), result = op->getResult(0);
  SymExpr payload = getType(operand).getNumBytes(), padded;
  if (op.isKind(CollectiveKind::AllGather))
    padded = getType(operand, op.getAxes()).getNumBytes();
  else if (op.isKind(CollectiveKind::ReduceScatter))
    padded = getType(result, op.getAxes()).getNumBytes() *
             mesh.getGroupSize(op.getAxes());
  else
    return op.emitOpError("takes or exchanges parts of dimension '")
           << name.getValue() << "', which cannot be divided unevenly";
  op->setAttr("payload", payload);
  if (padded != payload)
    op->setAttr("padded", padded);
  return success();
}

LogicalResult UnevenDivider::run() {
  if (failed(forEachValue([&](Value value) { return classify(value); })) ||
      failed(classifyOthers()))
    return failure();
  bool isEven = llvm::all_of(places, [&](auto &entry) {
    SymExpr extent = cast<SymTensorType>(entry.first.getType())
                         .getDim(entry.second.dim)
                         .getExtent();
    return evaluate(extent, binding).has_value();
  });
  if (isEven)
    return success();
  if (failed(makeParts()))
    return failure();
  WalkResult attended = function.walk([&](AttentionOpInterface op) {
    bool isDivided = op.getContextAttr() &&
                     llvm::any_of(op->getOperands(), [&](Value operand) {
                       return places.contains(operand);
                     });
    if (!isDivided)
      return WalkResult::advance();
    op.emitOpError("needs equally many tokens on each rank, so that dimension "
                   "'")
        << name.getValue() << "' cannot be divided unevenly";
    return WalkResult::interrupt();
  });
  if (attended.wasInterrupted())
    return failure();
  WalkResult walked = function.walk(
      [&](CollectiveOpInterface op) { return WalkResult(setSizes(op)); });
  if (walked.wasInterrupted())
    return failure();
  for (auto &[value, place] : places)
    value.setType(getType(value));
  updateFunctionType(function);
  return success();
}

void DivideUnevenly::runOnOperation() {
  FailureOr<SymBinding> known =
      collectSymbolValues(getOperation(), config, *values);
  if (failed(known))
    return signalPassFailure();
  auto run = [&](func::FuncOp function, MeshOp mesh) -> LogicalResult {
    for (const std::string &dim : dims)
      if (failed(UnevenDivider(function, mesh,
                               StringAttr::get(&getContext(), dim), *known)
                     .run()))
        return failure();
    return success();
  };
  if (failed(forEachProgram(getOperation(), run)))
    signalPassFailure();
}
