//===- PropagateShardings.cpp - Completes the plan ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the program into a `ShardingPlan`, lets that propagate, and writes the
// result back into types and `stg.factors`. What flows where:
//
//   - all reads of one parameter are one tensor; a repeat's carried argument
//     and result are one tensor;
//   - init and yielded value of a carried argument are tied to it by an edge:
//     they may be sharded differently, and will then be resharded; in a loop of
//     another dialect that is no scan they are one tensor with it;
//   - a stack and its slices are tied dimension by dimension;
//   - an axis that only the stream is sharded over does not flow to what makes
//     its first value, nor from its gradient to what reads that.
//
//===----------------------------------------------------------------------===//

#include "ShardingRules.h"
#include "stg/Analysis/ShardingPropagation.h"
#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

#define DEBUG_TYPE "stg-propagate-shardings"

namespace stg {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct PropagateShardings
    : stg::impl::PropagateShardingsBase<PropagateShardings> {
  using PropagateShardingsBase::PropagateShardingsBase;
  void runOnOperation() override;
};

/// A function as a sharding plan.
class FunctionPlan {
public:
  FunctionPlan(MeshOp mesh, bool startsWhole)
      : mesh(mesh.getMesh()), noAxes(ArrayAttr::get(mesh.getContext(), {})),
        rules(mesh.getSharding()), startsWhole(startsWhole) {}

  LogicalResult build(func::FuncOp function);
  void propagate() { plan.propagate(); }
  void writeBack(func::FuncOp function, bool delayGradients);

private:
  LogicalResult addBlock(Block &block, const std::string &scope);
  LogicalResult addOp(Operation *op, const std::string &scope);
  LogicalResult addLoop(Operation *loop, const std::string &scope);
  void addCarried(ScanOpInterface scan);
  void addCarriedAsOne(Operation *loop);
  void addEdge(Value from, Value to, unsigned fromDim, unsigned toDim);
  void addEdge(unsigned from, unsigned to, unsigned fromDim, unsigned toDim,
               const AxisList &blocked = {});
  unsigned addTensor(Value value);
  /// The tensor that the readers of a value plan with.
  unsigned getRead(Value value) {
    auto it = readAs.find(value);
    return it == readAs.end() ? addTensor(value) : it->second;
  }
  AxisList getStreamAxes(ArrayRef<DimAttr> dims);
  void addClaims(unsigned tensor, Value value);
  unsigned getPriority(Value value, unsigned dim, StringAttr axis);

  ArrayAttr getAxes(const AxisList &axes);
  ShardingAttr getSharding(unsigned tensor, ArrayRef<Attribute> partial,
                           ReduceKind kind);
  void setTokenAxes(Operation *op, PlannedOp &planned);
  LogicalResult addFactorClaims(ShardableOpInterface op, PlannedOp &planned);
  void writeFactors(ShardableOpInterface op, const PlannedOp &planned);
  void joinPartials(ShardableOpInterface op);
  void joinProducts(func::FuncOp function);
  void passThroughOps(func::FuncOp function, const GradientFlow &gradients);
  void setPartial(Value value, ArrayRef<Attribute> axes);
  void delayPartials(ScanOpInterface scan, bool delayGradients);
  void delaySums(Operation *loop, const GradientFlow &gradients);
  void passPartials(ShardableOpInterface op, const GradientFlow &gradients);

  MeshAttr mesh;
  ArrayAttr noAxes; ///< What most dimensions have.
  DimensionRules rules;
  bool startsWhole; ///< The first value of a stream is made whole.
  ShardingPlan plan;
  DenseMap<Value, unsigned> tensors;
  /// Values that their readers look at as another tensor than they are.
  DenseMap<Value, unsigned> readAs;
  struct PlannedParam {
    unsigned tensor;
    ParamOp read; ///< The first one.
  };
  llvm::StringMap<PlannedParam> params;
  SmallVector<std::pair<ShardableOpInterface, unsigned>> plannedOps;
};
} // namespace

//===----------------------------------------------------------------------===//
// Building the plan
//===----------------------------------------------------------------------===//

/// Claims of rules come in the order of the rules; what a person wrote into a
/// type beyond them comes first.
unsigned FunctionPlan::getPriority(Value value, unsigned dim, StringAttr axis) {
  auto type = cast<SymTensorType>(value.getType());
  auto arg = dyn_cast<BlockArgument>(value);
  RuleScope kind = RuleScope::Stream;
  if (value.getDefiningOp<ParamOp>())
    kind = RuleScope::Param;
  else if (arg && isa<func::FuncOp>(arg.getOwner()->getParentOp()))
    kind = RuleScope::Input;
  for (auto [i, rule] : llvm::enumerate(rules.getRules()))
    if (rule.getAxis() == axis && rules.matches(i, type.getDim(dim), kind))
      return i + 1;
  return 0;
}

void FunctionPlan::addClaims(unsigned tensor, Value value) {
  ShardingAttr sharding = cast<SymTensorType>(value.getType()).getSharding();
  if (!sharding)
    return;
  for (auto [dim, axes] : llvm::enumerate(sharding.getDimAxes()))
    for (auto axis : axes.getAsRange<StringAttr>())
      if (std::optional<unsigned> index = mesh.getAxisIndex(axis)) {
        unsigned priority = getPriority(value, dim, axis);
        // A rule that is for parameters alone means all of them.
        bool yields =
            priority > 0 && value.getDefiningOp<ParamOp>() &&
            rules.getRules()[priority - 1].getScope() == RuleScope::All;
        plan.claims.push_back(
            {tensor, static_cast<unsigned>(dim), *index, priority, yields});
      }
}

unsigned FunctionPlan::addTensor(Value value) {
  auto [it, isNew] = tensors.try_emplace(value);
  if (isNew) {
    it->second = plan.addTensor(cast<SymTensorType>(value.getType()).getRank());
    addClaims(it->second, value);
  }
  return it->second;
}

void FunctionPlan::addEdge(Value from, Value to, unsigned fromDim,
                           unsigned toDim) {
  addEdge(getRead(from), addTensor(to), fromDim, toDim);
}

/// Ties dimensions `fromDim...` of one tensor to `toDim...` of another.
void FunctionPlan::addEdge(unsigned from, unsigned to, unsigned fromDim,
                           unsigned toDim, const AxisList &blocked) {
  unsigned fromRank = plan.tensors[from].dims.size();
  unsigned toRank = plan.tensors[to].dims.size();
  PlannedOp edge;
  edge.blocked = blocked;
  TensorFactors shared =
      edge.rule.addFactors("d", std::min(fromRank - fromDim, toRank - toDim));
  auto withLeading = [&](unsigned leading) {
    TensorFactors tensor(leading);
    llvm::append_range(tensor, shared);
    return tensor;
  };
  edge.rule.operands = {withLeading(fromDim)};
  edge.rule.results = {withLeading(toDim)};
  edge.operands = {from};
  edge.results = {to};
  plan.ops.push_back(std::move(edge));
}

/// The axes over which rules shard dimensions because they are those of the
/// stream.
AxisList FunctionPlan::getStreamAxes(ArrayRef<DimAttr> dims) {
  AxisList axes;
  for (auto [i, rule] : llvm::enumerate(rules.getRules())) {
    std::optional<unsigned> axis = mesh.getAxisIndex(rule.getAxis());
    auto isRuled = [this, number = i](DimAttr dim) {
      return rules.matches(number, dim, RuleScope::Stream);
    };
    if (axis && rule.getScope() == RuleScope::Stream &&
        llvm::any_of(dims, isRuled))
      axes.push_back(*axis);
  }
  return axes;
}

/// What a scan carries. Where a stream starts whole, its first value is made,
/// and the gradient of that is read, without regard to the axes of the stream:
/// between them and the stream stand a slice, and a gather in backward.
void FunctionPlan::addCarried(ScanOpInterface scan) {
  bool isOutermost = isa<func::FuncOp>(scan->getParentOp());
  for (const CarriedValue &value : getCarriedValues(scan)) {
    unsigned carried = tensors[value.result] = addTensor(value.arg);
    AxisList blocked;
    if (startsWhole && isOutermost && !isSum(value))
      blocked =
          getStreamAxes(cast<SymTensorType>(value.arg.getType()).getDims());
    bool isForward = !scan.getReverse();
    addEdge(getRead(value.init->get()), carried, 0, 0,
            isForward ? blocked : AxisList());
    if (isForward || blocked.empty())
      continue;
    unsigned rank = plan.tensors[carried].dims.size();
    unsigned read = readAs[value.result] = plan.addTensor(rank);
    addEdge(carried, read, 0, 0, blocked);
  }
}

/// A loop that is no scan has one type for what it carries, what it starts with
/// and what it yields, so all of them are sharded alike.
void FunctionPlan::addCarriedAsOne(Operation *loop) {
  for (const CarriedValue &value : getCarriedValues(loop)) {
    unsigned carried = addTensor(value.init->get());
    for (Value same : {Value(value.arg), Value(value.result)}) {
      addClaims(carried, same);
      tensors[same] = carried;
    }
    tensors.try_emplace(value.yielded->get(), carried);
  }
}

LogicalResult FunctionPlan::addLoop(Operation *loop, const std::string &scope) {
  auto scan = dyn_cast<ScanOpInterface>(loop);
  if (!scan) {
    addCarriedAsOne(loop);
    for (Region &region : loop->getRegions())
      for (Block &block : region)
        if (failed(addBlock(block, scope)))
          return failure();
    return success();
  }
  addCarried(scan);
  for (auto [arg, stack] :
       llvm::zip_equal(scan.getSliceArgs(), scan.getStacks()))
    addEdge(stack, arg, 1, 0);
  std::string inner = scope + scan.getScopeName().str() + "/";
  if (failed(addBlock(scan.getLoopBlock(), inner)))
    return failure();
  for (const CarriedValue &value : getCarriedValues(scan))
    addEdge(value.yielded->get(), value.arg, 0, 0);
  for (OpResult stack : scan.getStackedResults())
    addEdge(getStackedOperand(stack)->get(), stack, 0, 1);
  return success();
}

/// Samples that are several things one behind the other, such as frames: where
/// they become samples of something else, ranks keep those that they have.
static std::optional<unsigned> getLeadingFactor(Operation *op,
                                                const ShardingRule &rule) {
  auto rearrange = dyn_cast<RearrangeOp>(op);
  if (!rearrange || rule.operands[0].empty() || rule.results[0].empty())
    return std::nullopt;
  ArrayRef<unsigned> from = rule.operands[0].front(),
                     to = rule.results[0].front();
  auto getNames = [](Value value) {
    return cast<SymTensorType>(value.getType()).getDim(0).getNames();
  };
  if (from.empty() || to.empty() || from.front() != to.front() ||
      (from.size() == 1 && to.size() == 1) ||
      getNames(rearrange.getInput()) != getNames(rearrange.getResult()))
    return std::nullopt;
  return from.front();
}

LogicalResult FunctionPlan::addOp(Operation *op, const std::string &scope) {
  if (isa<LoopLikeOpInterface>(op))
    return addLoop(op, scope);
  if (auto param = dyn_cast<ParamOp>(op)) {
    std::string path = scope + param.getParamName().str();
    auto [it, isNew] = params.try_emplace(path);
    ShardingAttr sharding = param.getType().getSharding();
    if (isNew) {
      it->second = {addTensor(param), param};
    } else if (sharding && !it->second.read.getType().getSharding()) {
      // The first read that says how the parameter is sharded says it for all.
      addClaims(it->second.tensor, param);
      it->second.read = param;
    } else if (sharding && sharding != it->second.read.getType().getSharding())
      return (param.emitOpError("reads parameter '")
              << param.getParamName() << "' as " << param.getType())
                 .attachNote(it->second.read.getLoc())
             << "here it is read as " << it->second.read.getType();
    tensors[param] = it->second.tensor;
    return success();
  }
  if (isa<SplatOp>(op)) {
    addTensor(op->getResult(0));
    return success();
  }
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  if (!shardable) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return success();
    if (isa<func::CallOp>(op))
      return op->emitOpError("is a call; run --inline first");
    return op->emitOpError("has no sharding rule; implement "
                           "ShardableOpInterface");
  }
  PlannedOp planned{shardable.getShardingRule(), {}, {}, {}};
  if (auto cost = dyn_cast<CostOpInterface>(op))
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      planned.isUpdate |= cost.updatesOperand(i);
  for (Value operand : op->getOperands())
    planned.operands.push_back(getRead(operand));
  for (Value result : op->getResults())
    planned.results.push_back(addTensor(result));
  if (planned.rule.operands.size() != planned.operands.size() ||
      planned.rule.results.size() != planned.results.size())
    return op->emitOpError("has a sharding rule for ")
           << planned.rule.operands.size() << " operands and "
           << planned.rule.results.size() << " results, but "
           << planned.operands.size() << " and " << planned.results.size();
  if (failed(addFactorClaims(shardable, planned)))
    return failure();
  setTokenAxes(op, planned);
  planned.leading = getLeadingFactor(op, planned.rule);
  plannedOps.emplace_back(shardable, plan.ops.size());
  plan.ops.push_back(std::move(planned));
  return success();
}

/// States go from device to device along axes of context: other axes that
/// divide the residual stream give their tokens to such an op, as they do where
/// no tokens are divided by context. What is kept for later steps is that of
/// whole requests, too: they would gather all of it again.
void FunctionPlan::setTokenAxes(Operation *op, PlannedOp &planned) {
  auto recurrent = dyn_cast<RecurrentOpInterface>(op);
  std::optional<unsigned> tokens = planned.rule.getFactor("s");
  if (recurrent && recurrent.getAlongAttr() && tokens) {
    AxisList axes;
    for (StringAttr axis : mesh.getAxes(AxisRole::Context))
      axes.push_back(*mesh.getAxisIndex(axis));
    planned.only.emplace(*tokens, std::move(axes));
  }
  auto cache = dyn_cast<CacheOp>(op);
  if (!cache)
    return;
  for (auto [dim, factors] :
       llvm::zip_equal(cache.getInput().getType().getDims(),
                       planned.rule.operands.front())) {
    const AxisList stream = getStreamAxes(dim);
    if (stream.empty() || factors.size() != 1)
      continue;
    AxisList others;
    for (unsigned axis = 0; axis < mesh.getAxisNames().size(); ++axis)
      if (!llvm::is_contained(stream, axis))
        others.push_back(axis);
    planned.only.emplace(factors.front(), std::move(others));
    return;
  }
}

/// What is written of an op's factors before propagation.
LogicalResult FunctionPlan::addFactorClaims(ShardableOpInterface op,
                                            PlannedOp &planned) {
  FactorsAttr claims = op.getFactorsAttr();
  if (!claims)
    return success();
  for (auto [name, axes] :
       llvm::zip_equal(claims.getFactors(), claims.getAxes())) {
    if (name.getValue() == kNoFactor) {
      for (auto axis : axes.getAsRange<StringAttr>())
        planned.blocked.push_back(*mesh.getAxisIndex(axis));
      continue;
    }
    FailureOr<unsigned> factor = findFactor(op, planned.rule, name);
    if (failed(factor))
      return failure();
    for (auto axis : axes.getAsRange<StringAttr>())
      plan.factorClaims.push_back({static_cast<unsigned>(plan.ops.size()),
                                   *factor, *mesh.getAxisIndex(axis)});
  }
  return success();
}

LogicalResult FunctionPlan::addBlock(Block &block, const std::string &scope) {
  for (Operation &op : block)
    if (failed(addOp(&op, scope)))
      return failure();
  return success();
}

LogicalResult FunctionPlan::build(func::FuncOp function) {
  for (Value arg : function.getArguments())
    if (isa<SymTensorType>(arg.getType()))
      addTensor(arg);
  return addBlock(function.getBody().front(), "");
}

//===----------------------------------------------------------------------===//
// Writing it back
//===----------------------------------------------------------------------===//

ArrayAttr FunctionPlan::getAxes(const AxisList &axes) {
  if (axes.empty())
    return noAxes;
  SmallVector<Attribute> names;
  for (unsigned axis : axes)
    names.push_back(mesh.getAxisNames()[axis]);
  return ArrayAttr::get(mesh.getContext(), names);
}

ShardingAttr FunctionPlan::getSharding(unsigned tensor,
                                       ArrayRef<Attribute> partial,
                                       ReduceKind kind) {
  SmallVector<ArrayAttr> dims;
  for (const AxisList &axes : plan.tensors[tensor].dims)
    dims.push_back(getAxes(axes));
  return ShardingAttr::get(
      mesh.getContext(), dims,
      partial.empty() ? noAxes : ArrayAttr::get(mesh.getContext(), partial),
      kind);
}

void FunctionPlan::writeFactors(ShardableOpInterface op,
                                const PlannedOp &planned) {
  SmallVector<FactorsAttr::Entry> factors;
  for (auto [factor, axes] :
       llvm::zip_equal(planned.rule.factors, planned.factorAxes))
    if (!axes.empty())
      factors.emplace_back(StringAttr::get(mesh.getContext(), factor.name),
                           getAxes(axes));
  op.setFactorsAttr(FactorsAttr::get(mesh.getContext(), std::move(factors)));
}

/// The axes over which a value is planned to be a partial sum.
static ArrayRef<Attribute> getPlannedPartial(Value value) {
  auto type = dyn_cast<SymTensorType>(value.getType());
  if (!type || !type.getSharding())
    return {};
  return type.getSharding().getPartialAxes().getValue();
}

/// The axes over which the op that makes `value` leaves it a partial sum.
static SmallVector<Attribute> getPartialSum(OpResult value) {
  if (isa<ScanOpInterface>(value.getOwner())) {
    // An inner scan, visited before, may have left its stack partial.
    ShardingAttr sharding = cast<SymTensorType>(value.getType()).getSharding();
    return sharding ? llvm::to_vector(sharding.getPartialAxes().getValue())
                    : SmallVector<Attribute>();
  }
  auto shardable = dyn_cast<ShardableOpInterface>(value.getOwner());
  if (!shardable)
    return {};
  ShardingRule rule = shardable.getShardingRule();
  if (!rule.reduceKinds.empty())
    return {};
  // What is partial already passes through a linear op, and through a product
  // with something complete.
  SmallVector<Attribute> partial;
  for (OpOperand &operand : shardable->getOpOperands())
    if (shardable.isLinearIn(operand.getOperandNumber()))
      llvm::append_range(partial, getPlannedPartial(operand.get()));
  llvm::append_range(partial, getPartialAxes(rule, value.getResultNumber(),
                                             getFactorAxes(shardable, rule)));
  return partial;
}

/// Leaves the axes over which the value can stay partial: over one that shards
/// it, a sum leaves a shard at once.
static void keepLasting(SmallVectorImpl<Attribute> &axes, Value value) {
  ShardingAttr sharding = cast<SymTensorType>(value.getType()).getSharding();
  llvm::erase_if(axes, [&](Attribute axis) {
    return sharding && sharding.shardsOver(cast<StringAttr>(axis));
  });
}

/// Of the axes of the partial sum, those over which it can stay one.
static SmallVector<Attribute> getLastingSum(OpResult value) {
  SmallVector<Attribute> partial = getPartialSum(value);
  keepLasting(partial, value);
  return partial;
}

/// A sum that a linear op reads stays partial if what the op makes is partial,
/// too: both are reduced as one.
void FunctionPlan::joinPartials(ShardableOpInterface op) {
  if (!op.isLinear() || op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      getPartialSum(op->getResult(0)).empty())
    return;
  auto operand = dyn_cast<OpResult>(op->getOperand(0));
  if (!operand || !operand.hasOneUse() ||
      isa<LoopLikeOpInterface>(operand.getOwner()))
    return;
  setPartial(operand, getLastingSum(operand));
}

/// True if the op computes nothing in shares over these axes.
static bool isWholeOver(ShardableOpInterface op, ArrayRef<Attribute> axes) {
  ShardingRule rule = op.getShardingRule();
  for (const AxisNames &own : getFactorAxes(op, rule))
    for (StringAttr axis : own)
      if (llvm::is_contained(axes, Attribute(axis)))
        return false;
  return true;
}

/// True if the op multiplies a partial sum over `axes` with what is complete.
static bool passesProduct(Operation *op, ArrayRef<Attribute> axes) {
  auto product = dyn_cast<ShardableOpInterface>(op);
  return product && product.isMultilinear() && isWholeOver(product, axes);
}

/// True if all that reads the value multiplies it with what is complete, also
/// where scans save it; `saved` receives the stacks and slices.
static bool isOnlyMultiplied(Value value, ArrayRef<Attribute> axes,
                             SmallVectorImpl<Value> &saved) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    SmallVector<PassedValue> passed = getPassedValues(use);
    if (passed.empty())
      return passesProduct(use.getOwner(), axes);
    return llvm::all_of(passed, [&](const PassedValue &next) {
      if (next.as == PassedAs::Same)
        return false;
      saved.push_back(next.value);
      return isOnlyMultiplied(next.value, axes, saved);
    });
  });
}

namespace {
/// A value that can be a partial sum.
struct PartialTerm {
  SmallVector<Attribute> axes;
  /// What has to be planned so.
  SmallVector<Value> values;
  /// True if a product has to be done with what is not complete.
  bool isMultiplied = false;
};
} // namespace

/// Sums that can be partial, with the axes: each is complete unless another one
/// of them reads it.
using JoinedSums = DenseMap<Value, SmallVector<Attribute>>;

/// How a term of a sum can be partial; nothing if it cannot.
static std::optional<PartialTerm> getPartialTerm(Value term,
                                                 const JoinedSums &joined) {
  PartialTerm result;
  llvm::append_range(result.axes, getPlannedPartial(term));
  if (!result.axes.empty())
    return result;
  auto made = dyn_cast<OpResult>(term);
  if (!made || !made.hasOneUse() || isa<LoopLikeOpInterface>(made.getOwner()))
    return std::nullopt;
  result.values.push_back(term);
  auto sum = joined.find(term);
  result.axes = sum != joined.end() ? sum->second : getLastingSum(made);
  if (!result.axes.empty())
    return result;
  // A product of a partial sum that only products read, such as what lies
  // between the factors of a low-rank adapter.
  auto product = dyn_cast<ShardableOpInterface>(made.getOwner());
  if (!product || !product.isMultilinear())
    return std::nullopt;
  for (Value operand : product->getOperands()) {
    auto factor = dyn_cast<OpResult>(operand);
    auto maker = factor ? dyn_cast<ShardableOpInterface>(factor.getOwner())
                        : ShardableOpInterface();
    if (!maker || !maker.isMultilinear())
      continue;
    std::optional<PartialTerm> inner;
    if (factor.hasOneUse()) {
      inner = getPartialTerm(factor, joined);
    } else if (auto axes = getLastingSum(factor); !axes.empty()) {
      inner.emplace();
      inner->axes = axes;
      inner->values.push_back(factor);
    }
    if (!inner || inner->axes.empty() ||
        !isOnlyMultiplied(factor, inner->axes, inner->values))
      continue;
    inner->isMultiplied = true;
    inner->values.push_back(term);
    return inner;
  }
  return std::nullopt;
}

static bool areSameAxes(ArrayRef<Attribute> lhs, ArrayRef<Attribute> rhs) {
  return lhs.size() == rhs.size() &&
         std::is_permutation(lhs.begin(), lhs.end(), rhs.begin());
}

/// True if of the factors of each product only one is a partial sum once the
/// values are: a product of two of them is none.
static bool haveOneFactor(ArrayRef<Value> values) {
  llvm::SmallPtrSet<Value, 8> partial(values.begin(), values.end());
  auto isPartial = [&](Value factor) {
    return partial.contains(factor) || !getPlannedPartial(factor).empty();
  };
  return llvm::all_of(values, [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      auto product = dyn_cast<ShardableOpInterface>(user);
      return !product || !product.isMultilinear() ||
             llvm::count_if(user->getOperands(), isPartial) <= 1;
    });
  });
}

/// A sum of a partial sum and a product of one is reduced instead of both of
/// them: adapters beside a projection communicate nothing of their own.
void FunctionPlan::joinProducts(func::FuncOp function) {
  JoinedSums joined;
  function.walk([&](AddOp sum) {
    std::optional<PartialTerm> lhs = getPartialTerm(sum.getLhs(), joined);
    std::optional<PartialTerm> rhs = getPartialTerm(sum.getRhs(), joined);
    if (!lhs || !rhs || !(lhs->isMultiplied || rhs->isMultiplied) ||
        !areSameAxes(lhs->axes, rhs->axes))
      return;
    SmallVector<Value> values(lhs->values);
    llvm::append_range(values, rhs->values);
    if (!haveOneFactor(values))
      return;
    for (const PartialTerm &term : {*lhs, *rhs})
      for (Value value : term.values)
        setPartial(value, term.axes);
    joined[sum] = lhs->axes;
  });
}

void FunctionPlan::setPartial(Value value, ArrayRef<Attribute> axes) {
  value.setType(
      cast<SymTensorType>(value.getType())
          .withSharding(getSharding(tensors.at(value), axes, ReduceKind::Sum)));
}

//===----------------------------------------------------------------------===//
// Gradients of what ops make of parameters
//===----------------------------------------------------------------------===//

/// The axes over which all terms of a sum are partial.
static SmallVector<Attribute> getPartialOfAll(Operation *sum) {
  ArrayRef<Attribute> first = getPlannedPartial(sum->getOperand(0));
  bool areAlike = llvm::all_of(sum->getOperands(), [&](Value term) {
    return areSameAxes(getPlannedPartial(term), first);
  });
  return areAlike ? llvm::to_vector(first) : SmallVector<Attribute>();
}

static bool isSumOfSeveral(ShardableOpInterface op) {
  return op && op.isLinear() && op->getNumOperands() > 1;
}

/// The axes over which a value can be partial, as what it is made of is
/// planned.
static SmallVector<Attribute> getReachable(OpResult value) {
  SmallVector<Attribute> axes;
  auto op = dyn_cast<ShardableOpInterface>(value.getOwner());
  if (OpOperand *stacked = getStackedOperand(value))
    llvm::append_range(axes, getPlannedPartial(stacked->get()));
  else if (isSumOfSeveral(op))
    axes = getPartialOfAll(op);
  else if (op)
    axes = getPartialSum(value);
  keepLasting(axes, value);
  return axes;
}

/// True if what the use makes of a partial sum over `axes` is partial, too, or
/// a gradient, which is reduced then; or if it is reduced there in any case.
static bool passesSum(OpOperand &use, ArrayRef<Attribute> axes,
                      const GradientFlow &gradients) {
  // What the op computes in shares is partial over further axes.
  auto isPassed = [&](Value next) {
    return next.use_empty() || llvm::all_of(axes, [&](Attribute axis) {
             return llvm::is_contained(getPlannedPartial(next), axis);
           });
  };
  if (isOptimizerRead(use) || isa<func::ReturnOp>(use.getOwner()))
    return true;
  if (getYieldedSum(use))
    return false;
  SmallVector<PassedValue> passed = getPassedValues(use);
  if (!passed.empty())
    return passed.size() == 1 && passed[0].as == PassedAs::Stack &&
           isPassed(passed[0].value);
  auto op = cast<ShardableOpInterface>(use.getOwner());
  if (!isWholeOver(op, axes) ||
      !llvm::all_of(op->getResults(), [&](Value result) {
        return isPassed(result) || gradients.lookup(result);
      }))
    return false;
  if (isSumOfSeveral(op))
    return areSameAxes(getPartialOfAll(op), axes);
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &other) {
    return &other == &use || getPlannedPartial(other.get()).empty();
  });
}

/// What ops make of parameters alone has a gradient from which that of the
/// parameters is made by ops that are linear in it. It stays partial up to
/// there, where it is reduced with those of other parameters, once per step.
/// Values that cannot are reduced, which others may depend on.
void FunctionPlan::passThroughOps(func::FuncOp function,
                                  const GradientFlow &gradients) {
  GradientFlow reaching(function, /*throughOps=*/true);
  SmallVector<OpResult> values;
  function.walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      if (reaching.lookup(result) && !gradients.lookup(result) &&
          getPlannedPartial(result).empty())
        values.push_back(result);
  });
  for (bool changed = true; changed;) {
    changed = false;
    for (OpResult value : values)
      setPartial(value, getReachable(value));
    llvm::erase_if(values, [&](OpResult value) {
      SmallVector<Attribute> axes(getPlannedPartial(value));
      if (axes.empty() || llvm::all_of(value.getUses(), [&](OpOperand &use) {
            return passesSum(use, axes, gradients);
          }))
        return false;
      setPartial(value, {});
      return changed = true;
    });
  }
}

//===----------------------------------------------------------------------===//
// Gradients of loops
//===----------------------------------------------------------------------===//

/// True for what the iterations make of one parameter, which is added up.
static bool isAddedUp(Value stack) {
  return !stack.use_empty() &&
         llvm::all_of(stack.getUsers(),
                      [](Operation *op) { return isa<SumOp>(op); });
}

/// The axes over which all that is added in each iteration is partial, but not
/// those over which the sum is sharded: there it leaves a shard at once.
static SmallVector<Attribute> getCommonPartial(const CarriedValue &sum,
                                               ArrayRef<Operation *> ops) {
  std::optional<SmallVector<Attribute>> common;
  Value total = sum.arg;
  for (Operation *op : ops) {
    auto term = dyn_cast<OpResult>(op->getOperand(op->getOperand(0) == total));
    SmallVector<Attribute> partial;
    if (term && term.hasOneUse())
      partial = getPartialSum(term);
    if (!common)
      common = partial;
    llvm::erase_if(*common, [&](Attribute axis) {
      return !llvm::is_contained(partial, axis);
    });
    total = op->getResult(0);
  }
  keepLasting(*common, sum.arg);
  return *common;
}

/// The gradient of a parameter from outside of a loop stays partial while the
/// iterations add to it: it is reduced once. That of another value is complete
/// in each iteration, as frameworks have it.
void FunctionPlan::delaySums(Operation *loop, const GradientFlow &gradients) {
  for (const CarriedValue &sum : getCarriedValues(loop)) {
    if (!isSumFromZero(sum) || !gradients.lookup(sum.result))
      continue;
    SmallVector<Operation *> ops = getSummands(sum);
    SmallVector<Attribute> partial = getCommonPartial(sum, ops);
    if (partial.empty())
      continue;
    Value total = sum.arg;
    for (Operation *op : ops) {
      setPartial(op->getOperand(op->getOperand(0) == total), partial);
      total = op->getResult(0);
      setPartial(total, partial);
    }
    setPartial(sum.arg, partial);
    setPartial(sum.result, partial);
  }
}

/// The values that a gradient is the sum of, and the sums on the way, which can
/// all stay partial over the same axes; none if they cannot.
static SmallVector<Attribute> getTerms(OpResult value,
                                       SmallVectorImpl<Value> &values) {
  if (!value || !value.hasOneUse() ||
      isa<LoopLikeOpInterface>(value.getOwner()))
    return {};
  values.push_back(value);
  auto sum = dyn_cast<AddOp>(value.getOwner());
  if (!sum)
    return getLastingSum(value);
  auto lhs = getTerms(dyn_cast<OpResult>(sum.getLhs()), values),
       rhs = getTerms(dyn_cast<OpResult>(sum.getRhs()), values);
  return areSameAxes(lhs, rhs) ? lhs : SmallVector<Attribute>();
}

/// Sums that are only stacked stay partial: the stack is reduced as one.
void FunctionPlan::delayPartials(ScanOpInterface scan, bool delayGradients) {
  for (Value stack : scan.getStackedResults()) {
    if (!delayGradients && !isAddedUp(stack))
      continue;
    auto result = dyn_cast<OpResult>(getStackedOperand(stack)->get());
    if (!result || !result.hasOneUse())
      continue;
    // What several ops of an iteration make of one parameter is added up there.
    SmallVector<Value> values = {result};
    SmallVector<Attribute> partial = isa<AddOp>(result.getOwner())
                                         ? getTerms(result, values)
                                         : getPartialSum(result);
    // Over an axis that shards a dimension of the stack the sum leaves a shard
    // at once.
    auto stackType = cast<SymTensorType>(stack.getType());
    bool isSharded = llvm::any_of(partial, [&](Attribute axis) {
      return stackType.getSharding() &&
             stackType.getSharding().shardsOver(cast<StringAttr>(axis));
    });
    if (partial.empty() || isSharded)
      continue;
    values.push_back(stack);
    for (Value planned : values)
      setPartial(planned, partial);
  }
}

/// What a linear op makes of a partial gradient, or of a sum of several, is
/// reduced behind it.
void FunctionPlan::passPartials(ShardableOpInterface op,
                                const GradientFlow &gradients) {
  if (!op.isLinear() || op->getNumOperands() != 1 || op->getNumResults() != 1)
    return;
  auto operand = dyn_cast<OpResult>(op->getOperand(0));
  if (!operand || !gradients.lookup(operand))
    return;
  SmallVector<Value> values;
  SmallVector<Attribute> axes = getTerms(operand, values);
  if (!axes.empty())
    for (Value value : values)
      setPartial(value, axes);
}

void FunctionPlan::writeBack(func::FuncOp function, bool delayGradients) {
  for (auto [value, tensor] : tensors) {
    auto type = cast<SymTensorType>(value.getType());
    // A slice is read from a complete stack.
    value.setType(type.withSharding(getSharding(tensor, {}, ReduceKind::Sum)));
  }
  for (auto [op, index] : plannedOps)
    writeFactors(op, plan.ops[index]);
  function.walk([&](ShardableOpInterface op) { joinPartials(op); });
  joinProducts(function);
  GradientFlow gradients(function);
  passThroughOps(function, gradients);
  // What a value is made of is planned before it, and inner loops before outer
  // ones: a loop hands out what linear ops in it leave partial.
  function.walk([&](Operation *op) {
    if (auto shardable = dyn_cast<ShardableOpInterface>(op))
      passPartials(shardable, gradients);
    if (auto scan = dyn_cast<ScanOpInterface>(op))
      delayPartials(scan, delayGradients);
    if (isa<LoopLikeOpInterface>(op))
      delaySums(op, gradients);
  });
  updateFunctionType(function);
}

/// Shards by the rules what nothing is written about.
static LogicalResult applyRules(func::FuncOp function,
                                const DimensionRules &rules) {
  LogicalResult result = success();
  forEachRuledValue(function, [&](Value value, RuleScope scope) {
    if (failed(result) || cast<SymTensorType>(value.getType()).getSharding())
      return;
    FailureOr<SymTensorType> type = rules.apply(value, scope);
    result = type;
    if (succeeded(type))
      value.setType(*type);
  });
  updateFunctionType(function);
  return result;
}

void PropagateShardings::runOnOperation() {
  auto run = [&](func::FuncOp function, MeshOp mesh) -> LogicalResult {
    FunctionPlan plan(mesh, streamStart == StreamStart::Whole);
    if (failed(applyRules(function, DimensionRules(mesh.getSharding()))) ||
        failed(plan.build(function)))
      return failure();
    plan.propagate();
    plan.writeBack(function, delayGradients);
    return success();
  };
  if (failed(forEachProgram(getOperation(), run)))
    return signalPassFailure();
  // They are in the types now.
  for (auto mesh : getOperation().getOps<MeshOp>())
    mesh.removeRulesAttr();
}
