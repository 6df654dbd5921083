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
// dealt one by one, so that all have equally many, up to one. Or devices
// exchange what they have made for heads, and each makes some heads whole.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "LocalLayouts.h"
#include "PartialAttention.h"
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
               CacheMerge merge, StringAttr tokens, const SymBinding &values)
      : function(function), mesh(mesh.getMesh()), axes(axes), merge(merge),
        tokens(tokens), values(values), layouts(function, this->mesh) {
    for (SizedAxis axis : axes)
      devices *= axis.size;
  }

  LogicalResult run();

private:
  LogicalResult divide(AttentionOp op);
  LogicalResult collect(AttentionOp op, llvm::SetVector<Value> &kept);
  bool seesCache(AttentionOp op);
  CacheOp getSharedCache(Value value);
  void sumTokens(CacheOp cache);
  void setTokens(Value value, SymExpr all, SymExpr own);
  void divideCache(CacheOp cache);
  Value getNewTokens(SplitOp parts, OpResult part);
  void readNewTokens(AttentionOp op, const llvm::SetVector<Value> &kept);
  LogicalResult checkKeys(AttentionOp op, const llvm::SetVector<Value> &kept);
  SymExpr
  sumOverRequests(AttentionOp op,
                  function_ref<SymExpr(SymExpr fresh, SymExpr cached)> get);
  SymExpr countOwn(SymExpr tokens);
  SymExpr countPairs(SymExpr fresh, SymExpr cached, bool isCausal);
  LogicalResult sumParts(AttentionOp op, bool isDivided);
  LogicalResult exchangeParts(AttentionOp op, bool isDivided);
  void gatherQueries(AttentionOp op);
  Value gather(AttentionOp op, OpBuilder &builder, Value heads,
               StringRef suffix);
  Value name(AttentionOp op, Operation *made, StringRef suffix);
  SmallVector<LocalSliceOp> getSlices(AttentionOp op);
  std::pair<SymTensorType, SmallVector<LocalSliceOp>>
  gatherHeads(AttentionOp op, bool isDivided);
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
  CacheMerge merge;
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

/// The cache that a value is a part of, which has the tokens of some requests.
CacheOp CacheDivider::getSharedCache(Value value) {
  auto split = value.getDefiningOp<SplitOp>();
  if (!split || !split.getOrdered() ||
      !split.getInput().getType().getDim(split.getDim()).hasName(tokens))
    return {};
  return split.getInput().getDefiningOp<CacheOp>();
}

/// A device has as many tokens of a cache as of all its parts together.
void CacheDivider::sumTokens(CacheOp cache) {
  for (Operation *user : cache->getUsers()) {
    auto split = dyn_cast<SplitOp>(user);
    if (!split || !getSharedCache(split.getResult(0)))
      continue;
    SymExpr all = SymExpr::get(function.getContext(), 0);
    for (Type part : split.getResultTypes())
      all = all + cast<SymTensorType>(part).getShape()[split.getDim()];
    SmallVector<DimAttr> dims(cache.getType().getDims());
    dims[split.getDim()] = dims[split.getDim()].withExtent(all);
    cache.getResult().setType(cache.getType().withDims(dims));
  }
}

/// A device has `own` tokens of a value instead of `all`.
void CacheDivider::setTokens(Value value, SymExpr all, SymExpr own) {
  auto type = cast<SymTensorType>(value.getType());
  SmallVector<DimAttr> dims(type.getDims());
  for (DimAttr &dim : dims)
    if (dim.hasName(tokens) && dim.getExtent() == all)
      dim = dim.withExtent(own);
  value.setType(type.withDims(dims));
}

/// Says that a cache is divided, and has as many tokens as its parts have, if
/// it has parts. Attention to each of these comes here.
void CacheDivider::divideCache(CacheOp cache) {
  SymExpr capacity = cache.getCapacityAttr();
  if (capacity && !cache.getDividedOverAttr())
    cache.setCapacityAttr(SymExpr::getFunction(
        SymFunc::CeilDiv,
        {capacity, SymExpr::get(function.getContext(), devices)}));
  cache.setDividedOverAttr(getAxes());
  sumTokens(cache);
}

/// The values between caches and the keys and values of attention, which have
/// all tokens of its requests. Where these are some of the requests of a cache,
/// they are a part of what it gives. Fails if there is something else.
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
      return failure();
    for (Operation *user : value.getUsers())
      for (Value result : user->getResults())
        if (user != op)
          worklist.push_back(result);
    if (getSharedCache(value))
      kept.insert(maker->getOperand(0));
    else if (!isa<CacheOp>(maker))
      llvm::append_range(worklist, maker->getOperands());
  }
  return success();
}

static bool seesEarlierKeys(AttentionOp op) {
  return op.getKey().getType().getShape()[1] !=
         op.getQuery().getType().getShape()[1];
}

/// True if attention sees keys of earlier steps, or others see them in the same
/// cache.
bool CacheDivider::seesCache(AttentionOp op) {
  if (seesEarlierKeys(op))
    return true;
  llvm::SetVector<Value> kept;
  return succeeded(collect(op, kept)) &&
         llvm::any_of(kept, [&](Value value) { return getSharedCache(value); });
}

LogicalResult CacheDivider::checkKeys(AttentionOp op,
                                      const llvm::SetVector<Value> &kept) {
  if (op.getWindowAttr() || op.getChunkAttr() || op.getSelected())
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

/// The new tokens of the requests that a part of a cache is of.
Value CacheDivider::getNewTokens(SplitOp parts, OpResult part) {
  auto cache = parts.getInput().getDefiningOp<CacheOp>();
  auto type = cast<SymTensorType>(cache.getInput().getType());
  unsigned dim = parts.getDim();
  SymExpr own = cast<SymTensorType>(part.getType()).getShape()[dim];
  // The tokens before those and behind them; caches have two parts.
  SmallVector<Type> types;
  for (OpResult result : parts->getResults()) {
    SmallVector<DimAttr> dims(type.getDims());
    dims[dim] = dims[dim].withExtent(
        result == part ? own : dims[dim].getExtent() - own);
    types.push_back(type.withDims(dims));
  }
  OpBuilder builder(parts);
  auto split = SplitOp::create(builder, parts.getLoc(), types, cache.getInput(),
                               dim, /*ordered=*/true);
  copyOrigin(parts, split);
  return split.getResult(part.getResultNumber());
}

/// Attention that sees new tokens only reads them as they are made; each device
/// keeps its own.
void CacheDivider::readNewTokens(AttentionOp op,
                                 const llvm::SetVector<Value> &kept) {
  SymExpr keys = op.getKey().getType().getShape()[1];
  SymExpr own = sumOverRequests(
      op, [&](SymExpr fresh, SymExpr) { return countOwn(fresh); });
  for (Value value : kept) {
    CacheOp cache = getSharedCache(value);
    if (!cache)
      continue;
    auto part = cast<OpResult>(value);
    Value made = getNewTokens(cast<SplitOp>(part.getOwner()), part);
    // What is kept in few bits is read as it was before.
    for (Operation *user : llvm::make_early_inc_range(part.getUsers()))
      if (isa<CastOp>(user) && user->getResult(0).getType() == made.getType()) {
        user->getResult(0).replaceAllUsesWith(made);
        user->erase();
      }
    if (!part.use_empty() && made.getType() != part.getType()) {
      OpBuilder builder(made.getContext());
      builder.setInsertionPointAfterValue(made);
      auto narrow = CastOp::create(builder, op.getLoc(), part.getType(), made);
      copyOrigin(cache, narrow);
      made = narrow.getResult();
    }
    part.replaceAllUsesWith(made);
    setTokens(part, keys, own);
    divideCache(cache);
  }
}

LogicalResult CacheDivider::divide(AttentionOp op) {
  llvm::SetVector<Value> kept;
  if (failed(collect(op, kept)))
    return op.emitOpError("has keys that are not made beside it");
  if (!seesEarlierKeys(op)) {
    readNewTokens(op, kept);
    return success();
  }
  if (failed(checkKeys(op, kept)))
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
    setTokens(value, keys, own);
    if (auto cache = value.getDefiningOp<CacheOp>())
      divideCache(cache);
  }
  op.removeRequestsAttr();
  op.setPairsAttr(pairs);
  return merge == CacheMerge::Exchange ? exchangeParts(op, isDivided)
                                       : sumParts(op, isDivided);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// A type with so many times the heads.
static SymTensorType scaleHeads(SymTensorType type, SymExpr times) {
  SmallVector<DimAttr> dims(type.getDims());
  dims[2] = dims[2].withExtent(dims[2].getExtent() * times);
  return type.withDims(dims);
}

Value CacheDivider::name(AttentionOp op, Operation *made, StringRef suffix) {
  copyOrigin(op, made);
  StringAttr own = getOrigin(op).name;
  setName(made, StringAttr::get(
                    op->getContext(),
                    (own ? own.getValue() : StringRef("attention")) + suffix));
  return made->getResult(0);
}

Value CacheDivider::gather(AttentionOp op, OpBuilder &builder, Value heads,
                           StringRef suffix) {
  auto type = scaleHeads(cast<SymTensorType>(heads.getType()),
                         SymExpr::get(op->getContext(), devices));
  return name(op,
              AllGatherOp::create(builder, op.getLoc(), type, heads, 2,
                                  getAxes(), /*payload=*/SymExpr(),
                                  /*padded=*/SymExpr()),
              suffix);
}

/// Attention has all heads that any of the devices has.
void CacheDivider::gatherQueries(AttentionOp op) {
  OpBuilder builder(op);
  SymExpr times = SymExpr::get(op->getContext(), devices);
  op.getQueryMutable().assign(gather(op, builder, op.getQuery(), ".q"));
  for (Value result : {op.getResult(), op.getLse()})
    result.setType(scaleHeads(cast<SymTensorType>(result.getType()), times));
}

/// Where all that reads the output takes the slice of a device, these slices.
SmallVector<LocalSliceOp> CacheDivider::getSlices(AttentionOp op) {
  SmallVector<LocalSliceOp> slices;
  for (Operation *user : op.getResult().getUsers()) {
    auto slice = dyn_cast<LocalSliceOp>(user);
    if (!slice || slice.getDim() != 2 || slice.getAxes() != getAxes())
      return {};
    slices.push_back(slice);
  }
  return slices;
}

/// Makes all devices see all heads. Gives what a device then gets of the merged
/// result, and the slices of it that are read, if it is read so.
std::pair<SymTensorType, SmallVector<LocalSliceOp>>
CacheDivider::gatherHeads(AttentionOp op, bool isDivided) {
  SymTensorType own = op.getResult().getType();
  if (isDivided) {
    gatherQueries(op);
    return {own, {}};
  }
  SmallVector<LocalSliceOp> slices = getSlices(op);
  return {slices.empty() ? own : slices.front().getType(), slices};
}

/// `made` takes the place of what a device has of the heads.
static void replaceHeads(AttentionOp op, ArrayRef<LocalSliceOp> slices,
                         Value made, Operation *reader) {
  if (slices.empty())
    op.getResult().replaceAllUsesExcept(made, reader);
  for (LocalSliceOp slice : slices) {
    slice.getResult().replaceAllUsesWith(made);
    slice.erase();
  }
}

/// Each device scales what it has made, so that the sum is attention.
LogicalResult CacheDivider::sumParts(AttentionOp op, bool isDivided) {
  auto [own, slices] = gatherHeads(op, isDivided);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  Value lse = gather(op, builder, op.getLse(), ".lse");
  auto scaled = MergePartialOp::create(builder, loc, op.getResult().getType(),
                                       op.getResult(), lse);
  Value partial = name(op, scaled, ".merge");
  Operation *sum =
      isDivided || !slices.empty()
          ? ReduceScatterOp::create(builder, loc, own, partial, 2, getAxes(),
                                    /*payload=*/SymExpr(),
                                    /*padded=*/SymExpr())
                .getOperation()
          : AllReduceOp::create(builder, loc, TypeRange(own),
                                ValueRange(partial), ReduceKind::Sum, getAxes())
                .getOperation();
  replaceHeads(op, slices, name(op, sum, ".output"), scaled);
  return success();
}

/// Each device gets the parts of some heads, and merges them.
LogicalResult CacheDivider::exchangeParts(AttentionOp op, bool isDivided) {
  auto [own, slices] = gatherHeads(op, isDivided);
  if (!isDivided && slices.empty())
    return op.emitOpError("is read whole by devices along ")
           << getAxes()
           << ", which cannot exchange parts of it for heads; use "
              "merge=sum, or a plan that divides heads behind attention over "
              "them, as preset 'helix' does";
  MLIRContext *context = op->getContext();
  OpBuilder builder(context);
  builder.setInsertionPointAfter(op);
  ExchangedParts made = stg::exchangeParts(
      builder, op.getLoc(), op.getResult(), op.getLse(), own, /*dim=*/2,
      SymExpr::get(context, devices), getAxes(),
      [&](Operation *part, StringRef suffix) { name(op, part, suffix); });
  replaceHeads(op, slices, made.merged, made.pack);
  return success();
}

LogicalResult CacheDivider::run() {
  SmallVector<AttentionOp> ops;
  function.walk([&](AttentionOp op) {
    if (seesCache(op))
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
               << (names.empty() ? "none" : llvm::join(names, ", "));
      }
      std::optional<int64_t> size = mesh.getAxisSize(name).getInt64();
      if (!size)
        return op.emitOpError("has axis '")
               << text << "', over which caches are divided, of size "
               << mesh.getAxisSize(name) << ", which is not a number";
      own.push_back({name, *size});
    }
    return CacheDivider(function, op, own, merge,
                        StringAttr::get(&getContext(), tokens), *known)
        .run();
  };
  if (failed(forEachProgram(module, run)))
    signalPassFailure();
}
