//===- ReplicateHeads.cpp - Several replicas of key/value heads and groups ===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// More devices than key/value heads can share the heads only if they hold some
// of them twice. Parameters keep their heads and are replicated where they are
// read, so that everything that follows works on more heads, which divide among
// the devices like any dimension. Autodiff then sums the gradients of replicas.
//
//===----------------------------------------------------------------------===//

#include "ProductSplitter.h"
#include "ShardingRules.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_REPLICATEHEADS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct ReplicateHeads : stg::impl::ReplicateHeadsBase<ReplicateHeads> {
  using ReplicateHeadsBase::ReplicateHeadsBase;
  void runOnOperation() override;

private:
  FailureOr<SymExpr> parse(StringRef name, StringRef text);
  LogicalResult refuse(Operation *op, const Twine &reason);
  bool isOther(DimAttr dim) const;
  void renameOthers(func::FuncOp function);
  LogicalResult separateHeads(SplitOp split);
  LogicalResult checkOp(Operation *op);
  LogicalResult checkParam(ParamOp param);
  void replicate(func::FuncOp function);
  LogicalResult replicateParameters(func::FuncOp function);
  bool startsExchange(Operation *op);
  Value replicateValue(Value value, OpBuilder &builder);
  LogicalResult replicateExchanged(func::FuncOp function);

  bool isReplicated(DimAttr dim) const { return dim.hasName(heads); }
  bool isReplicated(Type type) const {
    auto tensor = dyn_cast<SymTensorType>(type);
    return tensor && llvm::any_of(tensor.getDims(), [&](DimAttr dim) {
             return isReplicated(dim);
           });
  }

  StringAttr heads;
  SymExpr replicas, exchangedReplicas;
};
} // namespace

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

LogicalResult ReplicateHeads::refuse(Operation *op, const Twine &reason) {
  return op->emitOpError("cannot replicate '")
         << heads.getValue() << "': " << reason << "; without replicas at most "
         << heads.getValue() << " devices can divide it";
}

//===----------------------------------------------------------------------===//
// Other heads of the same name
//===----------------------------------------------------------------------===//

/// True for what is called like the heads, but has a number of its own.
bool ReplicateHeads::isOther(DimAttr dim) const {
  bool hasSymbols = false, hasHeads = false;
  dim.getExtent().walkSymbols([&](StringAttr symbol) {
    hasSymbols = true;
    hasHeads |= symbol == heads;
  });
  return dim.hasName(heads) && hasSymbols && !hasHeads;
}

/// A block that is called with another number of heads, as by a tower of
/// images, has them under the same name. They are called like the queries that
/// see them, and divide as these do.
void ReplicateHeads::renameOthers(func::FuncOp function) {
  StringAttr queries;
  function.walk([&](AttentionOpInterface op) {
    auto query = cast<SymTensorType>(op->getOperand(0).getType());
    auto key = cast<SymTensorType>(op->getOperand(1).getType());
    for (auto [mine, theirs] : llvm::zip(query.getDims(), key.getDims()))
      if (isOther(theirs) && !mine.getNames().empty())
        queries = mine.getNames().front();
  });
  if (!queries)
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](DimAttr dim) -> std::optional<std::pair<Attribute, WalkResult>> {
        if (isOther(dim)) {
          SmallVector<StringAttr> names(dim.getNames());
          llvm::replace(names, heads, queries);
          llvm::sort(names, [](StringAttr a, StringAttr b) {
            return a.getValue() < b.getValue();
          });
          names.erase(llvm::unique(names), names.end());
          dim = DimAttr::get(&getContext(), names, dim.getExtent());
        }
        return {{dim, WalkResult::skip()}};
      });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

//===----------------------------------------------------------------------===//
// Parameters that hold other heads, too
//===----------------------------------------------------------------------===//

/// Cuts what is cut into these heads and others into two products, so that no
/// parameter holds both.
LogicalResult ReplicateHeads::separateHeads(SplitOp split) {
  unsigned dim = split.getDim();
  SmallVector<OpResult> parts[2]; ///< Others, these heads.
  SmallVector<DimAttr> joined(2, DimAttr::get(SymExpr::get(&getContext(), 0)));
  for (OpResult result : split->getResults()) {
    DimAttr part = cast<SymTensorType>(result.getType()).getDim(dim);
    bool number = isReplicated(part);
    parts[number].push_back(result);
    joined[number] = DimAttr::getJoined(
        {joined[number], part}, joined[number].getExtent() + part.getExtent());
  }
  if (parts[0].empty() || parts[1].empty())
    return success();
  ProductSplitter splitter(joined);
  SmallVector<Value> products;
  if (!split.getOrdered())
    products = splitter.split(split.getInput(), dim);
  if (products.empty())
    return refuse(split, "what it cuts is not a product with a parameter");
  OpBuilder builder(split);
  for (auto [product, results] : llvm::zip_equal(products, parts)) {
    SmallVector<Value> values{product};
    if (results.size() > 1) {
      SmallVector<Type> types;
      for (OpResult result : results)
        types.push_back(result.getType());
      auto part = SplitOp::create(builder, split.getLoc(), types, product, dim,
                                  /*ordered=*/false);
      part->setDiscardableAttrs(split->getDiscardableAttrDictionary());
      copyOrigin(split, part);
      values.assign(part->result_begin(), part->result_end());
    }
    for (auto [result, value] : llvm::zip_equal(results, values))
      result.replaceAllUsesWith(value);
  }
  split.erase();
  splitter.eraseUnread();
  return success();
}

//===----------------------------------------------------------------------===//
// Replication
//===----------------------------------------------------------------------===//

/// Replicas must be treated one by one: an op that sums over heads would count
/// each of them as often as it is there.
LogicalResult ReplicateHeads::checkOp(Operation *op) {
  if (isa<LoopLikeOpInterface, ParamOp, SplatOp>(op) ||
      isRegionTerminator(op) ||
      (llvm::none_of(op->getOperandTypes(),
                     [&](Type type) { return isReplicated(type); })))
    return success();
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  if (!shardable)
    return refuse(op, "it has no sharding rule");
  ShardingRule rule = shardable.getShardingRule();
  for (auto [operand, factors] :
       llvm::zip_equal(op->getOperands(), rule.operands))
    for (auto [dim, dimFactors] : llvm::zip_equal(
             cast<SymTensorType>(operand.getType()).getDims(), factors)) {
      if (!isReplicated(dim))
        continue;
      bool isSeparate = llvm::all_of(dimFactors, [&](unsigned factor) {
        return rule.factors[factor].kind == FactorKind::Shardable &&
               llvm::all_of(rule.results, [&](const TensorFactors &result) {
                 return runsOver(result, factor);
               });
      });
      if (!isSeparate)
        return refuse(op, "it does not compute each of " +
                              dim.getExtent().str() + " alone");
    }
  return success();
}

LogicalResult ReplicateHeads::checkParam(ParamOp param) {
  unsigned dims = 0;
  for (DimAttr dim : param.getType().getDims()) {
    if (!isReplicated(dim))
      continue;
    // One that includes other heads has not been separated.
    if (dim.getNames().size() > 1 || ++dims > 1)
      return refuse(param, "its type " + toString(param.getType()) +
                               " has no dimension of its own for them");
  }
  return success();
}

/// The type with so many times the slices.
static Type replicateType(Type type, StringAttr heads, SymExpr times) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](DimAttr dim) -> std::optional<std::pair<Attribute, WalkResult>> {
        if (dim.hasName(heads))
          dim = dim.withExtent(dim.getExtent() * times);
        return {{dim, WalkResult::skip()}};
      });
  return replacer.replace(type);
}

/// Everything that has the heads gets more of them, but for the parameters,
/// which are replicated where they are read, and norms, which are of as many
/// groups as before.
void ReplicateHeads::replicate(func::FuncOp function) {
  auto replace = [&](Type type) {
    return replicateType(type, heads, replicas);
  };
  SmallVector<ParamOp> params;
  function.walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op)) {
      if (isReplicated(param.getType()))
        params.push_back(param);
      return;
    }
    if (auto norm = dyn_cast<GatedNormOp>(op)) {
      norm.setCut(norm.getCut() || isReplicated(norm.getRstd().getType()));
      norm.setGathered(norm.getCut() && gathersNorms);
      return;
    }
    for (Value result : op->getResults())
      result.setType(replace(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument arg : region.getArguments())
        arg.setType(replace(arg.getType()));
  });
  for (ParamOp param : params) {
    SymTensorType type = param.getType();
    auto dim = llvm::find_if(type.getDims(),
                             [&](DimAttr dim) { return isReplicated(dim); });
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(param);
    auto replicated = ReplicateOp::create(
        builder, param.getLoc(), replace(type), param.getResult(),
        std::distance(type.getDims().begin(), dim), /*together=*/false);
    setName(replicated, param.getParamNameAttr());
    setRole(replicated, Role::Replicas);
    param.getResult().replaceAllUsesExcept(replicated.getResult(), replicated);
  }
  updateFunctionType(function);
}

LogicalResult ReplicateHeads::replicateParameters(func::FuncOp function) {
  renameOthers(function);
  SmallVector<SplitOp> splits;
  function.walk([&](SplitOp split) { splits.push_back(split); });
  for (SplitOp split : splits)
    if (failed(separateHeads(split)))
      return failure();
  for (BlockArgument arg : function.getArguments())
    if (isReplicated(arg.getType()))
      return refuse(function, "argument #" + Twine(arg.getArgNumber()) +
                                  " has the type " + toString(arg.getType()));
  WalkResult result = function.walk([&](Operation *op) {
    auto param = dyn_cast<ParamOp>(op);
    return failed(checkOp(op)) || (param && failed(checkParam(param)))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  replicate(function);
  return success();
}

//===----------------------------------------------------------------------===//
// Replicas that are exchanged
//===----------------------------------------------------------------------===//

/// True for an op that divides heads in place of tokens: not where it works on
/// others, as those of an image, of which each device has all.
bool ReplicateHeads::startsExchange(Operation *op) {
  if (!(exchangesKeys && isa<AttentionOpInterface>(op)) &&
      !(exchangesScans && isa<RecurrentOpInterface>(op)))
    return false;
  auto type = cast<SymTensorType>(op->getOperand(0).getType());
  return type.getRank() > 1 &&
         type.getDims()[1].hasName(StringAttr::get(&getContext(), tokens));
}

/// What the device has of the value, each slice several times. Of a parameter
/// it takes what it then needs.
Value ReplicateHeads::replicateValue(Value value, OpBuilder &builder) {
  auto type = cast<SymTensorType>(value.getType());
  ParamOp param = getReadParameter(value);
  if (auto before = value.getDefiningOp<ReplicateOp>(); param && before)
    value = before.getInput();
  auto dim = llvm::find_if(type.getDims(),
                           [&](DimAttr dim) { return isReplicated(dim); });
  auto replicated = ReplicateOp::create(
      builder, value.getLoc(), replicateType(type, heads, exchangedReplicas),
      value, std::distance(type.getDims().begin(), dim), /*together=*/!param);
  Operation *made = value.getDefiningOp();
  StringAttr name = param  ? param.getParamNameAttr()
                    : made ? getOrigin(made).name
                           : StringAttr();
  if (name)
    setName(replicated, name);
  setRole(replicated, Role::Replicas);
  return replicated;
}

/// From the first op on that divides heads in place of tokens there are more
/// heads. What meets them there is replicated, too.
LogicalResult ReplicateHeads::replicateExchanged(func::FuncOp function) {
  DenseSet<Value> wide;
  WalkResult walked = function.walk([&](Operation *op) {
    auto isWide = [&](Value value) { return wide.contains(value); };
    auto has = [&](Value value) { return isReplicated(value.getType()); };
    bool starts = startsExchange(op) && llvm::any_of(op->getOperands(), has);
    if (isa<ParamOp>(op) ||
        !(starts || llvm::any_of(op->getOperands(), isWide)))
      return WalkResult::advance();
    if (failed(checkOp(op)))
      return WalkResult::interrupt();
    if (isRegionTerminator(op) || isa<LoopLikeOpInterface>(op)) {
      (void)refuse(op, "what is exchanged for tokens leaves its block");
      return WalkResult::interrupt();
    }
    OpBuilder builder(op);
    DenseMap<Value, Value> made; ///< Of this op, which may read one twice.
    for (OpOperand &use : op->getOpOperands()) {
      Value value = use.get();
      if (!has(value) || isWide(value))
        continue;
      Value &replicated = made[value];
      if (!replicated)
        replicated = replicateValue(value, builder);
      use.set(replicated);
    }
    // What nobody reads any more, of parameters that others do not read.
    for (auto [value, replicated] : made)
      if (auto before = value.getDefiningOp<ReplicateOp>();
          before && before->use_empty())
        before->erase();
    for (Value result : op->getResults())
      if (has(result)) {
        result.setType(
            replicateType(result.getType(), heads, exchangedReplicas));
        wide.insert(result);
      }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

FailureOr<SymExpr> ReplicateHeads::parse(StringRef name, StringRef text) {
  std::optional<SymExpr> parsed =
      llvm::expectedToOptional(SymExpr::parse(&getContext(), text));
  bool isValid =
      parsed && (parsed->isConstant() ? parsed->getInt64().value_or(0) >= 1
                                      : bool(parsed->getAsSymbol()));
  if (!isValid)
    return getOperation().emitError()
           << name << " is '" << text
           << "', expected an integer of at least 1 or a symbol";
  return *parsed;
}

void ReplicateHeads::runOnOperation() {
  func::FuncOp function = getOperation();
  FailureOr<SymExpr> all = parse("times", times),
                     each = parse("exchanged", exchanged);
  if (failed(all) || failed(each))
    return signalPassFailure();
  heads = StringAttr::get(&getContext(), dim);
  replicas = *all;
  exchangedReplicas = *each;
  if (function.isExternal())
    return;
  if ((!replicas.isOne() && failed(replicateParameters(function))) ||
      (!exchangedReplicas.isOne() && failed(replicateExchanged(function))))
    return signalPassFailure();
}
