//===- LoadRequests.cpp - Devices that have different requests ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many tokens a row of the batch has, and how many requests of each kind,
// are symbols. Here they become expressions in the device's coordinates: of a
// value of its own rows what is on the list of this device, of a value that has
// been gathered what is on the lists of the whole group. All costs, sizes and
// messages follow from types.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "LocalLayouts.h"
#include "RequestLists.h"
#include "ShardingRules.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace stg {
#define GEN_PASS_DEF_LOADREQUESTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// A set of the axes that divide the batch.
using AxisSet = unsigned;

struct LoadRequests : stg::impl::LoadRequestsBase<LoadRequests> {
  using LoadRequestsBase::LoadRequestsBase;
  void runOnOperation() override;
};

/// Rewrites one function.
class RequestLoader {
public:
  RequestLoader(func::FuncOp function, MeshOp mesh, const RequestLists &lists,
                GatheredRows rows, StringAttr batch, StringAttr tokens)
      : function(function), mesh(mesh.getMesh()), lists(lists), rows(rows),
        batch(batch), tokens(tokens), layouts(function, this->mesh) {}

  LogicalResult run();

private:
  LogicalResult findAxes();
  LogicalResult findExchanges();
  bool hasOwnRows(Value value, StringAttr axis) const;
  LogicalResult classify(Value value);
  LogicalResult collectCollectives();
  LogicalResult addCollective(CollectiveOpInterface op);
  LogicalResult replace();
  void sumRows(Operation *op);
  LogicalResult checkReplaced(Operation *op);

  bool hasRows(SymTensorType type) const;
  AxisSet getSet(CollectiveOpInterface op) const;
  bool isPadded(AxisSet gathered) const {
    return rows == GatheredRows::Padded && gathered != 0 &&
           (gathered & exchanged) == 0;
  }
  int64_t countDevices(AxisSet set) const;
  SymExpr look(AxisSet gathered, AxisSet largestOf,
               function_ref<int64_t(size_t)> ofList);
  SymBinding bind(AxisSet gathered, AxisSet largestOf = 0);
  SymExpr getBytes(Value value, AxisSet gathered, AxisSet largestOf = 0);

  func::FuncOp function;
  MeshAttr mesh;
  const RequestLists &lists;
  GatheredRows rows;
  StringAttr batch, tokens;
  LocalLayouts layouts;
  /// Those that divide the batch, the first is the fastest.
  SmallVector<SizedAxis> axes;
  /// Over which rows go to experts, each of its own.
  AxisSet exchanged = 0;
  /// Over which a value has the rows of the whole group; of values with rows.
  DenseMap<Value, AxisSet> gatheredOver;
  /// What collectives say, once types are others.
  struct Sizes {
    SymExpr payload, padded;
    bool isSum = false; ///< Of buffers with the rows of all.
  };
  llvm::MapVector<Operation *, Sizes> sizes;
};
} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

bool RequestLoader::hasRows(SymTensorType type) const {
  return llvm::any_of(type.getDims(), [&](DimAttr dim) {
    return dim.hasName(batch) || dim.hasName(tokens);
  });
}

/// The axes along which arguments are divided by rows of the batch.
LogicalResult RequestLoader::findAxes() {
  int64_t devices = 1;
  for (StringAttr axis : layouts.getAxes()) {
    bool divides = llvm::any_of(function.getArguments(), [&](Value argument) {
      auto type = dyn_cast<SymTensorType>(argument.getType());
      AxisState state = layouts.get(argument, axis);
      return type && state.kind == AxisState::Divided &&
             state.dim < type.getRank() &&
             type.getDim(state.dim).hasName(batch);
    });
    if (!divides)
      continue;
    std::optional<int64_t> size = mesh.getAxisSize(axis).getInt64();
    if (!size)
      return function.emitOpError("divides the batch over axis '")
             << axis.getValue() << "', whose size is not a number";
    axes.push_back({axis, *size});
    devices *= *size;
  }
  if (static_cast<size_t>(devices) == lists.counts.size())
    return success();
  return function.emitOpError("divides the batch over ")
         << devices << " devices, but there are " << lists.counts.size()
         << " lists of requests";
}

AxisSet RequestLoader::getSet(CollectiveOpInterface op) const {
  AxisSet set = 0;
  for (auto [number, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(op.getAxes(), axis.name))
      set |= AxisSet(1) << number;
  return set;
}

LogicalResult RequestLoader::findExchanges() {
  AxisSet joined = 0;
  Operation *sentLoads = nullptr;
  function.walk([&](CollectiveOpInterface op) {
    auto type = op->getNumOperands() == 1
                    ? dyn_cast<SymTensorType>(op->getOperand(0).getType())
                    : SymTensorType();
    if (!type || !hasRows(type) || op.isFlat())
      return;
    if (op.isKind(CollectiveKind::AllToAll)) {
      exchanged |= getSet(op);
      if (cast<AllToAllOp>(op.getOperation()).getPayloadAttr())
        sentLoads = op;
    } else if (op.isKind(CollectiveKind::AllGather))
      joined |= getSet(op);
  });
  if (sentLoads)
    return sentLoads->emitOpError(
        "sends rows to experts whose loads are given; with lists of devices "
        "they get as many as their tokens choose; give no loads");
  if ((joined & exchanged) == 0)
    return success();
  return function.emitOpError(
      "gathers rows over axes over which others go to experts, which devices "
      "with different requests cannot do");
}

/// Along an axis, whether devices have rows of their own. Constants, which are
/// of any layout, have the rows of what they are used beside.
bool RequestLoader::hasOwnRows(Value value, StringAttr axis) const {
  auto type = cast<SymTensorType>(value.getType());
  auto isOwn = [&](Value other) {
    AxisState state = layouts.get(other, axis);
    return other.getType() == type && state.kind == AxisState::Divided &&
           state.dim < type.getRank() &&
           (type.getDim(state.dim).hasName(batch) ||
            type.getDim(state.dim).hasName(tokens));
  };
  if (layouts.get(value, axis).kind >= AxisState::Whole)
    return isOwn(value);
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return llvm::any_of(user->getOperands(), isOwn) ||
           llvm::any_of(user->getResults(), isOwn);
  });
}

/// A value that has not the rows of one device along an axis has those of all.
LogicalResult RequestLoader::classify(Value value) {
  auto type = dyn_cast<SymTensorType>(value.getType());
  if (!type || !hasRows(type))
    return success();
  AxisSet gathered = 0;
  bool isOfBatch = llvm::any_of(
      type.getDims(), [&](DimAttr dim) { return dim.hasName(batch); });
  for (auto [number, axis] : llvm::enumerate(axes)) {
    AxisState state = layouts.get(value, axis.name);
    if (state.kind == AxisState::Unknown && isOfBatch)
      return emitError(value.getLoc())
             << "value of type " << type << ": it is not known what devices "
             << "along axis '" << axis.name.getValue()
             << "' have of it, so they cannot have different requests";
    if (isOfBatch && !hasOwnRows(value, axis.name))
      gathered |= AxisSet(1) << number;
  }
  gatheredOver[value] = gathered;
  if ((gathered & exchanged) != 0 && (gathered & ~exchanged) != 0)
    return emitError(value.getLoc())
           << "value of type " << type
           << " has rows that went to experts and rows that were gathered, "
              "which devices with different requests cannot have";
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

int64_t RequestLoader::countDevices(AxisSet set) const {
  int64_t devices = 1;
  for (auto [number, axis] : llvm::enumerate(axes))
    if (set >> number & 1)
      devices *= axis.size;
  return devices;
}

/// What devices have together over the axes `gathered`, where that is padded as
/// often as the one that has most; of the groups over `largestOf` the largest.
SymExpr RequestLoader::look(AxisSet gathered, AxisSet largestOf,
                            function_ref<int64_t(size_t)> ofList) {
  auto isIn = [&](AxisSet set) {
    return [this, set](StringAttr name) {
      return llvm::any_of(llvm::enumerate(axes), [&](auto entry) {
        return (set >> entry.index() & 1) && entry.value().name == name;
      });
    };
  };
  auto largest = [](int64_t lhs, int64_t rhs) { return std::max(lhs, rhs); };
  auto sum = [](int64_t lhs, int64_t rhs) { return lhs + rhs; };
  DeviceNumbers all{axes, {}};
  for (size_t list = 0; list != lists.counts.size(); ++list)
    all.numbers.push_back(ofList(list));
  DeviceNumbers groups = isPadded(gathered) ? all.join(isIn(gathered), largest)
                                            : all.join(isIn(gathered), sum);
  return lookUpByCoordinates(function->getParentOfType<ModuleOp>(),
                             groups.join(isIn(largestOf & ~gathered), largest));
}

/// Values of the symbols in what has been gathered over these axes.
SymBinding RequestLoader::bind(AxisSet gathered, AxisSet largestOf) {
  SymBinding binding;
  MLIRContext *context = function.getContext();
  ArrayRef<SymExpr> newTokens = lists.kinds.getNewTokens();
  int64_t devices = lists.counts.size();
  // Rows of different length are one row, padded ones are as many as there are.
  if (!isPadded(gathered))
    devices /= countDevices(gathered);
  binding[batch] = SymExpr::get(context, devices);
  binding[tokens] = look(gathered, largestOf, [&](size_t list) {
    int64_t sum = 0;
    for (auto [count, fresh] : llvm::zip_equal(lists.counts[list], newTokens))
      sum += count * *fresh.getInt64();
    return sum;
  });
  // The sum of what are maxima over kinds of their own is none of tokens.
  if (!isPadded(gathered) && largestOf == 0)
    for (size_t kind = 0; kind != lists.symbols.size(); ++kind)
      binding[lists.symbols[kind]] =
          look(gathered, largestOf,
               [&](size_t list) { return lists.counts[list][kind]; });
  return binding;
}

SymExpr RequestLoader::getBytes(Value value, AxisSet gathered,
                                AxisSet largestOf) {
  return cast<SymTensorType>(value.getType())
      .getNumBytes()
      .substitute(bind(gathered, largestOf));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// What devices say that bring different rows.
LogicalResult RequestLoader::addCollective(CollectiveOpInterface op) {
  AxisSet set = getSet(op);
  if (set == 0 || op.isFlat() || op->getNumOperands() != 1 ||
      op->getNumResults() != 1)
    return success();
  Value operand = op->getOperand(0), result = op->getResult(0);
  auto before = gatheredOver.find(operand), after = gatheredOver.find(result);
  if (before == gatheredOver.end() || after == gatheredOver.end() ||
      before->second == after->second)
    return success();
  AxisSet from = before->second, to = after->second;
  Sizes own;
  switch (op.getCollectiveKind()) {
  case CollectiveKind::AllGather:
    if (rows == GatheredRows::Summed)
      own.isSum = true;
    own.payload = getBytes(operand, from, isPadded(to) ? set : 0);
    if (!isPadded(to))
      own.padded = getBytes(operand, from, set);
    break;
  case CollectiveKind::ReduceScatter:
    if (rows == GatheredRows::Summed && (set & exchanged) == 0)
      own.isSum = true;
    own.payload = getBytes(operand, from);
    if (!isPadded(from))
      own.padded = getBytes(result, to, set) * countDevices(set);
    break;
  case CollectiveKind::AllToAll:
    own.payload = getBytes(operand, from);
    own.padded =
        SymExpr::getFunction(SymFunc::Max, {getBytes(operand, from, set),
                                            getBytes(result, to, set)});
    break;
  default:
    return op.emitOpError(
        "takes some of the rows of several devices, which those with different "
        "requests cannot do");
  }
  sizes[op] = own;
  return success();
}

LogicalResult RequestLoader::collectCollectives() {
  WalkResult walked = function.walk(
      [&](CollectiveOpInterface op) { return WalkResult(addCollective(op)); });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Nothing is left of the symbols.
LogicalResult RequestLoader::checkReplaced(Operation *op) {
  bool isLeft = false;
  AttrTypeWalker walker;
  walker.addWalk([&](SymExpr expr) {
    expr.walkSymbols([&](StringAttr name) {
      isLeft |= llvm::is_contained(lists.symbols, name);
    });
  });
  walker.walk(op->getAttrDictionary());
  for (Type type : op->getResultTypes())
    walker.walk(type);
  if (!isLeft)
    return success();
  return op->emitOpError("depends on the requests of several devices");
}

LogicalResult RequestLoader::replace() {
  DenseMap<AxisSet, std::unique_ptr<AttrTypeReplacer>> replacers;
  std::optional<std::string> undefined;
  auto getReplacer = [&](AxisSet gathered) -> AttrTypeReplacer & {
    std::unique_ptr<AttrTypeReplacer> &replacer = replacers[gathered];
    if (replacer)
      return *replacer;
    replacer = std::make_unique<AttrTypeReplacer>();
    replacer->addReplacement(
        [&, binding = bind(gathered)](
            SymExpr expr) -> std::optional<std::pair<Attribute, WalkResult>> {
          SymExpr made = expr.substitute(binding);
          if (!made)
            undefined = expr.str();
          return {{made ? made : expr, WalkResult::skip()}};
        });
    return *replacer;
  };
  auto retype = [&](Value value) {
    auto it = gatheredOver.find(value);
    if (it != gatheredOver.end())
      value.setType(getReplacer(it->second).replace(value.getType()));
  };
  // Attributes speak of what the op makes, or else of what it reads.
  auto replaceAttrs = [&](Operation *op) {
    for (ValueRange values :
         {ValueRange(op->getResults()), ValueRange(op->getOperands())})
      for (Value value : values)
        if (auto it = gatheredOver.find(value); it != gatheredOver.end()) {
          getReplacer(it->second)
              .replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false, /*replaceTypes=*/false);
          return;
        }
  };
  llvm::for_each(function.getArguments(), retype);
  WalkResult walked = function.walk([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    if (!isa<CollectiveOpInterface>(op))
      replaceAttrs(op);
    llvm::for_each(op->getResults(), retype);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), retype);
    if (undefined)
      return WalkResult(op->emitOpError("has expression ")
                        << *undefined
                        << ", which devices with different requests do not "
                           "have");
    return WalkResult(checkReplaced(op));
  });
  updateFunctionType(function);
  return failure(walked.wasInterrupted());
}

/// A gather as a sum of buffers that are zero where other devices have rows,
/// and a scatter as a sum of which each device takes its rows.
void RequestLoader::sumRows(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  OpBuilder builder(op);
  Value operand = op->getOperand(0), result = op->getResult(0);
  auto type = cast<SymTensorType>(result.getType());
  bool isGather = collective.isKind(CollectiveKind::AllGather);
  // Rows of different length are one row of the batch, so this is the dimension
  // that differs.
  unsigned dim = 0;
  for (auto [number, own, other] : llvm::enumerate(
           type.getDims(), cast<SymTensorType>(operand.getType()).getDims()))
    if (own.getExtent() != other.getExtent())
      dim = number;
  auto copy = [&](Operation *made) {
    copyOrigin(op, made);
    return made->getResult(0);
  };
  if (isGather)
    operand = copy(PlaceRowsOp::create(builder, op->getLoc(), type, operand));
  Operation *sum = AllReduceOp::create(
      builder, op->getLoc(), TypeRange(operand.getType()), ValueRange(operand),
      ReduceKind::Sum, collective.getAxes());
  Value made = copy(sum);
  if (!isGather)
    made = copy(SelectRowsOp::create(builder, op->getLoc(), type, made, dim));
  result.replaceAllUsesWith(made);
  op->erase();
}

LogicalResult RequestLoader::run() {
  if (failed(findAxes()) || failed(findExchanges()))
    return failure();
  for (Value argument : function.getArguments())
    if (failed(classify(argument)))
      return failure();
  WalkResult walked = function.walk([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    for (Value result : op->getResults())
      if (failed(classify(result)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(classify(argument)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walked.wasInterrupted() || failed(collectCollectives()) ||
      failed(replace()))
    return failure();
  for (auto [op, own] : sizes) {
    if (own.isSum) {
      sumRows(op);
      continue;
    }
    op->setAttr("payload", own.payload);
    if (own.padded && own.padded != own.payload)
      op->setAttr("padded", own.padded);
  }
  return success();
}

void LoadRequests::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<RequestLists> lists = parseRequestLists(module, requests);
  if (failed(lists))
    return signalPassFailure();
  for (SymExpr fresh : lists->kinds.getNewTokens())
    if (!fresh.getInt64()) {
      module.emitError("requests has ")
          << fresh << " new tokens in one of several lists, expected a number";
      return signalPassFailure();
    }
  auto get = [&](const std::string &name) {
    return StringAttr::get(&getContext(), name);
  };
  auto run = [&](func::FuncOp function, MeshOp mesh) {
    return RequestLoader(function, mesh, *lists, rows, get(batch), get(tokens))
        .run();
  };
  if (failed(forEachProgram(module, run)))
    return signalPassFailure();
  for (StringAttr name : lists->symbols)
    if (auto symbol = module.lookupSymbol<SymbolOp>(name))
      symbol.erase();
}
