//===- DivideCaches.cpp - Caches whose tokens several devices have --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices that keep the same keys and values can each keep some of the tokens.
// From a cache on, up to attention, there are fewer tokens then; attention is
// that with the own ones, and a sum over devices makes it whole. Tokens are
// dealt one by one, so that all have equally many, up to one.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "LocalLayouts.h"
#include "ShardingRules.h"
#include "SymbolValues.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace stg {
#define GEN_PASS_DEF_DIVIDECACHES
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

/// Steps with more new tokens of a request are counted one by one by nobody.
static constexpr int64_t kMostNewTokens = 1 << 16;

namespace {
struct DivideCaches : stg::impl::DivideCachesBase<DivideCaches> {
  using DivideCachesBase::DivideCachesBase;
  void runOnOperation() override;
};

/// Rewrites one function.
class CacheDivider {
public:
  CacheDivider(func::FuncOp function, MeshOp mesh, ArrayRef<SizedAxis> axes,
               StringAttr tokens, const SymBinding &values)
      : function(function), mesh(mesh.getMesh()), axes(axes), tokens(tokens),
        values(values), layouts(function, this->mesh) {
    for (SizedAxis axis : axes)
      devices *= axis.size;
  }

  LogicalResult run();

private:
  LogicalResult divide(AttentionOp op);
  LogicalResult collect(AttentionOp op, llvm::SetVector<Value> &kept);
  LogicalResult checkKeys(AttentionOp op, const llvm::SetVector<Value> &kept);
  SymExpr
  sumOverRequests(AttentionOp op,
                  function_ref<SymExpr(SymExpr fresh, SymExpr cached)> get);
  SymExpr countOwn(SymExpr tokens);
  SymExpr countPairs(SymExpr fresh, SymExpr cached, bool isCausal);
  bool isAlong(Value value, AxisState::Kind kind, int64_t dim = 0);
  ArrayAttr getAxes() {
    SmallVector<Attribute> names;
    for (SizedAxis axis : axes)
      names.push_back(axis.name);
    return ArrayAttr::get(function.getContext(), names);
  }

  func::FuncOp function;
  MeshAttr mesh;
  ArrayRef<SizedAxis> axes;
  StringAttr tokens;
  const SymBinding &values;
  LocalLayouts layouts;
  int64_t devices = 1;
};
} // namespace

/// True if devices along all of the axes have that of a value.
bool CacheDivider::isAlong(Value value, AxisState::Kind kind, int64_t dim) {
  return llvm::all_of(axes, [&](SizedAxis axis) {
    AxisState state = layouts.get(value, axis.name);
    return state.kind == kind &&
           (kind != AxisState::Divided || state.dim == dim);
  });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// How many of the first so many tokens of a request this device keeps: those
/// whose number, modulo the devices, is its own.
SymExpr CacheDivider::countOwn(SymExpr all) {
  MLIRContext *context = function.getContext();
  SmallVector<SymExpr> table;
  for (int64_t device = 0; device < devices; ++device)
    table.push_back(SymExpr::getFunction(
        SymFunc::CeilDiv, {all - device, SymExpr::get(context, devices)}));
  // Without a number tokens may divide evenly, or may not.
  std::optional<int64_t> number = stg::evaluate(all, values);
  if (number && *number % devices == 0 && !all.isConstant())
    return all.exactDiv(devices);
  return lookUpByCoordinates(function->getParentOfType<ModuleOp>(), axes,
                             table);
}

/// Pairs of the new tokens with the keys that the device keeps. Null if it is
/// not known how many new tokens there are.
SymExpr CacheDivider::countPairs(SymExpr fresh, SymExpr cached, bool isCausal) {
  if (!isCausal)
    return fresh * countOwn(fresh + cached);
  std::optional<int64_t> number = stg::evaluate(fresh, values);
  if (!number || *number > kMostNewTokens)
    return {};
  SymExpr pairs = SymExpr::get(function.getContext(), 0);
  for (int64_t token = 1; token <= *number; ++token)
    pairs = pairs + countOwn(cached + token);
  return pairs;
}

SymExpr
CacheDivider::sumOverRequests(AttentionOp op,
                              function_ref<SymExpr(SymExpr, SymExpr)> get) {
  SymExpr fresh = op.getQuery().getType().getShape()[1];
  SymExpr keys = op.getKey().getType().getShape()[1];
  RequestsAttr requests = op.getRequestsAttr();
  if (!requests)
    return get(fresh, keys - fresh);
  bool isKnown = true;
  SymExpr sum = requests.getSum([&](SymExpr own, SymExpr cached) {
    SymExpr one = get(own, cached);
    isKnown &= static_cast<bool>(one);
    return one ? one : own;
  });
  return isKnown ? sum : SymExpr();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The values between caches and the keys and values of attention, which have
/// all tokens of its requests.
LogicalResult CacheDivider::collect(AttentionOp op,
                                    llvm::SetVector<Value> &kept) {
  SymExpr keys = op.getKey().getType().getShape()[1];
  auto hasKeys = [&](Value value) {
    auto type = dyn_cast<SymTensorType>(value.getType());
    return type && llvm::any_of(type.getDims(), [&](DimAttr dim) {
             return dim.hasName(tokens) && dim.getExtent() == keys;
           });
  };
  SmallVector<Value> worklist{op.getKey(), op.getValue()};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!hasKeys(value) || !kept.insert(value))
      continue;
    Operation *maker = value.getDefiningOp();
    if (!maker)
      return op.emitOpError("has keys that are not made beside it");
    for (Operation *user : value.getUsers())
      for (Value result : user->getResults())
        if (user != op)
          worklist.push_back(result);
    if (!isa<CacheOp>(maker))
      llvm::append_range(worklist, maker->getOperands());
  }
  return success();
}

LogicalResult CacheDivider::checkKeys(AttentionOp op,
                                      const llvm::SetVector<Value> &kept) {
  if (op.getWindowAttr() || op.getChunkAttr())
    return op.emitOpError(
        "sees some of the earlier tokens only; which of them "
        "a device keeps when caches are divided is not known");
  if (op.getContextAttr() || op.getPrefixAttr())
    return op.emitOpError(
        "has tokens that are divided, or a prefix, and cannot "
        "have a cache that is divided");
  // A head for all, which a rule could divide, leaves it open what keys are.
  auto areAlike = [&](Value value) {
    return llvm::all_of(axes, [&](SizedAxis axis) {
      AxisState::Kind kind = layouts.get(value, axis.name).kind;
      bool isCache = kept.contains(value) && value.getDefiningOp<CacheOp>();
      return kind == AxisState::Whole ||
             (kind == AxisState::Unknown && !isCache);
    });
  };
  for (Value value : kept)
    if (!areAlike(value))
      return op.emitOpError("has keys or values that devices along ")
             << getAxes()
             << " do not have all alike, so their tokens cannot be divided "
                "over "
                "these; axes are those of ranks with the same key/value heads";
  return success();
}

LogicalResult CacheDivider::divide(AttentionOp op) {
  llvm::SetVector<Value> kept;
  if (failed(collect(op, kept)) || failed(checkKeys(op, kept)))
    return failure();
  bool isDivided = isAlong(op.getQuery(), AxisState::Divided, 2);
  if (!isDivided && !isAlong(op.getQuery(), AxisState::Whole))
    return op.emitOpError("has queries of which it is not known what devices "
                          "along ")
           << getAxes() << " have";
  bool isCausal = op.getMask() == AttentionMask::Causal && !op.getFullCount();
  SymExpr keys = op.getKey().getType().getShape()[1];
  SymExpr own = sumOverRequests(op, [&](SymExpr fresh, SymExpr cached) {
    return countOwn(fresh + cached);
  });
  SymExpr pairs = sumOverRequests(op, [&](SymExpr fresh, SymExpr cached) {
    return countPairs(fresh, cached, isCausal);
  });
  if (!own || !pairs)
    return op.emitOpError("has new tokens whose number is not known, or is too "
                          "large, so that pairs with the keys of a device "
                          "cannot be counted");
  // Fewer tokens, from caches on.
  for (Value value : kept) {
    auto type = cast<SymTensorType>(value.getType());
    SmallVector<DimAttr> dims(type.getDims());
    for (DimAttr &dim : dims)
      if (dim.hasName(tokens) && dim.getExtent() == keys)
        dim = dim.withExtent(own);
    value.setType(type.withDims(dims));
    auto cache = value.getDefiningOp<CacheOp>();
    if (!cache)
      continue;
    cache.setDividedOverAttr(getAxes());
    if (SymExpr capacity = cache.getCapacityAttr())
      cache.setCapacityAttr(SymExpr::getFunction(
          SymFunc::CeilDiv,
          {capacity, SymExpr::get(function.getContext(), devices)}));
  }
  op.removeRequestsAttr();
  op.setPairsAttr(pairs);
  // All heads that any of the devices has.
  Location loc = op.getLoc();
  OpBuilder builder(op);
  ArrayAttr over = getAxes();
  auto scale = [&](SymTensorType type) {
    SmallVector<DimAttr> dims(type.getDims());
    dims[2] = dims[2].withExtent(dims[2].getExtent() * devices);
    return type.withDims(dims);
  };
  auto name = [&](Operation *made, StringRef suffix) {
    copyOrigin(op, made);
    StringAttr own = getOrigin(op).name;
    setName(made,
            builder.getStringAttr(
                (own ? own.getValue() : StringRef("attention")) + suffix));
    return made->getResult(0);
  };
  SymTensorType before = op.getResult().getType();
  if (isDivided) {
    Value all =
        name(AllGatherOp::create(builder, loc, scale(op.getQuery().getType()),
                                 op.getQuery(), 2, over, /*payload=*/SymExpr(),
                                 /*padded=*/SymExpr()),
             ".q");
    op.getQueryMutable().assign(all);
    op.getResult().setType(scale(before));
    op.getLse().setType(scale(op.getLse().getType()));
  }
  builder.setInsertionPointAfter(op);
  Value lse =
      name(AllGatherOp::create(builder, loc, scale(op.getLse().getType()),
                               op.getLse(), 2, over,
                               /*payload=*/SymExpr(),
                               /*padded=*/SymExpr()),
           ".lse");
  auto merge = MergePartialOp::create(builder, loc, op.getResult().getType(),
                                      op.getResult(), lse);
  Value partial = name(merge, ".merge");
  Value result =
      isDivided ? name(ReduceScatterOp::create(builder, loc, before, partial, 2,
                                               over, /*payload=*/SymExpr(),
                                               /*padded=*/SymExpr()),
                       ".output")
                : name(AllReduceOp::create(builder, loc, TypeRange(before),
                                           ValueRange(partial), ReduceKind::Sum,
                                           over),
                       ".output");
  op.getResult().replaceAllUsesExcept(result, merge);
  return success();
}

LogicalResult CacheDivider::run() {
  SmallVector<AttentionOp> ops;
  function.walk([&](AttentionOp op) {
    if (op.getKey().getType().getShape()[1] !=
        op.getQuery().getType().getShape()[1])
      ops.push_back(op);
  });
  for (AttentionOp op : ops)
    if (failed(divide(op)))
      return failure();
  if (!ops.empty())
    return success();
  return function.emitOpError("has no attention with keys of earlier steps, "
                              "whose cache could be divided over ")
         << getAxes();
}

void DivideCaches::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<SymBinding> known = collectSymbolValues(module, config, *values);
  if (failed(known))
    return signalPassFailure();
  auto run = [&](func::FuncOp function, MeshOp op) -> LogicalResult {
    MeshAttr mesh = op.getMesh();
    SmallVector<SizedAxis> own;
    for (const std::string &text : axes) {
      auto name = StringAttr::get(&getContext(), text);
      if (!mesh.getAxisIndex(name)) {
        SmallVector<StringRef> names;
        for (StringAttr axis : mesh.getAxisNames())
          names.push_back(axis);
        return op.emitOpError("has no axis '")
               << text << "' over which caches could be divided; it has "
               << llvm::join(names, ", ");
      }
      std::optional<int64_t> size = mesh.getAxisSize(name).getInt64();
      if (!size)
        return op.emitOpError("has axis '")
               << text << "', over which caches are divided, of size "
               << mesh.getAxisSize(name) << ", which is not a number";
      own.push_back({name, *size});
    }
    return CacheDivider(function, op, own,
                        StringAttr::get(&getContext(), tokens), *known)
        .run();
  };
  if (failed(forEachProgram(module, run)))
    signalPassFailure();
}
