//===- LocalLayouts.cpp - What devices have of each value -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalLayouts.h"
#include "stg/Dialect/STG/Transforms/Layouts.h"

using namespace mlir;
using namespace stg;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Zeros are of any layout, constants are whole and divided.
AxisState stg::joinStates(AxisState lhs, AxisState rhs) {
  if (rhs.kind < lhs.kind)
    std::swap(lhs, rhs);
  bool isSubset =
      lhs == rhs || lhs.kind == AxisState::Zero ||
      (lhs.kind == AxisState::Constant &&
       (rhs.kind == AxisState::Whole || rhs.kind == AxisState::Divided ||
        rhs.kind == AxisState::Flat));
  return isSubset ? rhs : AxisState{AxisState::Unknown};
}

/// The factor that all shards among the operands are shards of, if they are.
static std::optional<unsigned> findFactor(const ShardingRule &rule,
                                          ArrayRef<AxisState> operands) {
  std::optional<SmallVector<unsigned, 1>> candidates;
  for (auto [tensor, state] : llvm::zip_equal(rule.operands, operands)) {
    if (state.kind != AxisState::Divided)
      continue;
    if (state.dim >= static_cast<int64_t>(tensor.size()))
      return std::nullopt;
    const auto &own = tensor[state.dim];
    if (!candidates)
      candidates.emplace(own.begin(), own.end());
    llvm::erase_if(*candidates, [&](unsigned factor) {
      return !llvm::is_contained(own, factor);
    });
  }
  if (!candidates || candidates->size() != 1)
    return std::nullopt;
  return candidates->front();
}

/// The results if each device computes the same share of one factor.
static void transferFactor(const ShardingRule &rule, unsigned factor,
                           MutableArrayRef<AxisState> results) {
  for (auto [number, tensor] : llvm::enumerate(rule.results)) {
    auto dim = llvm::find_if(tensor, [&](const auto &factors) {
      return llvm::is_contained(factors, factor);
    });
    if (dim != tensor.end())
      results[number] = AxisState::getDivided(dim - tensor.begin());
    else if (rule.factors[factor].kind == FactorKind::Separate)
      results[number] = {AxisState::Whole};
    else
      results[number] = AxisState::getPartial(rule.reduceKinds.empty()
                                                  ? ReduceKind::Sum
                                                  : rule.reduceKinds[number]);
  }
}

/// The results if operands are the same on each device, or have equal elements:
/// the same, unless devices may compute different shares of a factor that is in
/// none of the former, such as the vocabulary of an embedding's gradient, or
/// the batch where the gradient of a mean is multiplied with a parameter.
static SmallVector<AxisState, 2> transferWhole(const OpFacts &op,
                                               ArrayRef<AxisState> operands) {
  const ShardingRule &rule = op.rule;
  auto isOfWhole = [&](unsigned factor) {
    return llvm::any_of(llvm::zip_equal(rule.operands, operands), [&](auto it) {
      auto [tensor, state] = it;
      return state.kind >= AxisState::Whole && runsOver(tensor, factor);
    });
  };
  // A device sums its share of what only constants have, and makes its share
  // of what no operand has.
  auto mayBeShare = [&](unsigned factor, const TensorFactors &result) {
    bool isOfOperand = llvm::any_of(rule.operands, [&](const auto &tensor) {
      return runsOver(tensor, factor);
    });
    return rule.factors[factor].kind == FactorKind::Shardable &&
           !llvm::is_contained(op.wholeFactors, factor) && !isOfWhole(factor) &&
           (isOfOperand || runsOver(result, factor));
  };
  SmallVector<AxisState, 2> results;
  for (const TensorFactors &tensor : rule.results) {
    bool isShare = llvm::any_of(
        llvm::seq<unsigned>(0, rule.factors.size()),
        [&](unsigned factor) { return mayBeShare(factor, tensor); });
    results.push_back({isShare ? AxisState::Unknown : AxisState::Whole});
  }
  return results;
}

/// True if devices may each have a shard of the dimension.
static bool mayDivide(const TensorFactors &tensor, int64_t dim,
                      const ShardingRule &rule) {
  // A flat shard has the dimensions of another tensor.
  return dim >= static_cast<int64_t>(tensor.size()) ||
         llvm::all_of(tensor[dim], [&](unsigned factor) {
           return rule.factors[factor].kind == FactorKind::Shardable;
         });
}

SmallVector<AxisState, 2> stg::transferAxis(const OpFacts &op,
                                            ArrayRef<AxisState> operands) {
  const ShardingRule &rule = op.rule;
  AxisState all{AxisState::Zero};
  for (AxisState state : operands)
    all = joinStates(all, state);
  auto fill = [&](AxisState state) {
    return SmallVector<AxisState, 2>(rule.results.size(), state);
  };
  if (op.isLinear && all.kind == AxisState::Zero)
    return fill(all);
  // What elements that are equal make has equal elements. A sum of them is
  // partial if a device has a shard, which nothing says.
  if (all.kind < AxisState::Whole)
    return fill({op.isElementwise ? AxisState::Constant : AxisState::Unknown});
  if (all.kind == AxisState::Whole)
    return transferWhole(op, operands);
  if (op.isLinear && all == AxisState::getPartial(ReduceKind::Sum))
    return fill(all);
  // One operand is a partial sum, as a factor of a product, the others are the
  // same everywhere.
  for (unsigned linear : op.linearOperands)
    if (operands[linear] == AxisState::getPartial(ReduceKind::Sum) &&
        llvm::all_of(llvm::enumerate(operands), [&](auto operand) {
          return operand.index() == linear ||
                 operand.value().kind <= AxisState::Whole;
        })) {
      SmallVector<AxisState, 2> results = transferWhole(op, operands);
      for (AxisState &state : results)
        if (state.kind == AxisState::Whole)
          state = operands[linear];
      return results;
    }
  if (op.isElementwise && all.kind == AxisState::Flat)
    return fill(all);
  if (op.isElementwise && all.kind == AxisState::Divided &&
      mayDivide(rule.operands.front(), all.dim, rule))
    return fill(all);
  SmallVector<AxisState, 2> results = fill({AxisState::Unknown});
  std::optional<unsigned> factor = findFactor(rule, operands);
  if (!factor || (rule.factors[*factor].kind != FactorKind::Shardable &&
                  rule.factors[*factor].kind != FactorKind::Separate))
    return results;
  // A device that has all of an operand computes all of its factors.
  for (auto [tensor, state] : llvm::zip_equal(rule.operands, operands))
    if (state.kind > AxisState::Divided ||
        (state.kind == AxisState::Whole && runsOver(tensor, *factor)))
      return results;
  transferFactor(rule, *factor, results);
  return results;
}

//===----------------------------------------------------------------------===//
// LocalLayouts
//===----------------------------------------------------------------------===//

LocalLayouts::LocalLayouts(func::FuncOp function, MeshAttr mesh)
    : module(function->getParentOfType<ModuleOp>()) {
  for (auto [axis, role] :
       llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisRoles()))
    if (role != AxisRole::Pipeline)
      axes.push_back(axis);
  for (BlockArgument arg : function.getArguments())
    if (auto layout = function.getArgAttrOfType<LayoutAttr>(
            arg.getArgNumber(), STGDialect::kLayoutAttr))
      setStates(arg, getLeaf(layout));
  visitBlock(function.getBody().front());
}

AxisState LocalLayouts::get(Value value, StringAttr axis) const {
  size_t number = llvm::find(axes, axis) - axes.begin();
  auto it = layouts.find(value);
  bool isKnown = it != layouts.end() && number < axes.size();
  return isKnown ? it->second[number] : AxisState{AxisState::Unknown};
}

bool LocalLayouts::isWhole(Value value, ArrayAttr group) const {
  return llvm::all_of(group.getAsRange<StringAttr>(), [&](StringAttr axis) {
    AxisState::Kind kind = get(value, axis).kind;
    return kind >= AxisState::Zero && kind <= AxisState::Whole;
  });
}

LayoutAttr LocalLayouts::getAttr(Value value) const {
  SmallVector<StringAttr> listed;
  SmallVector<AxisState> states;
  bool isKnown = false;
  AxisStates own = getStates(value);
  for (auto [axis, state] : llvm::zip_equal(axes, own)) {
    // Constants are of more layouts than can be written.
    if (state.kind < AxisState::Whole)
      state = {AxisState::Unknown};
    isKnown |= state.kind != AxisState::Unknown;
    if (state.kind == AxisState::Whole)
      continue;
    listed.push_back(axis);
    states.push_back(state);
  }
  return isKnown ? LayoutAttr::get(value.getContext(), listed, states)
                 : LayoutAttr();
}

AxisStates LocalLayouts::getLeaf(LayoutAttr layout) const {
  AxisStates states;
  for (StringAttr axis : axes)
    states.push_back(layout.getState(axis));
  return states;
}

AxisStates LocalLayouts::getStates(Value value) const {
  auto it = layouts.find(value);
  return it == layouts.end() ? AxisStates(axes.size()) : it->second;
}

void LocalLayouts::setStates(Value value, AxisStates states) {
  bool isKnown = llvm::any_of(
      states, [](AxisState state) { return state.kind != AxisState::Unknown; });
  if (isKnown)
    layouts[value] = std::move(states);
  else
    layouts.erase(value);
}

bool LocalLayouts::mentionsCoordinate(SymExpr expr) const {
  bool mentions = false;
  ModuleOp scope = module;
  expr.walkSymbols([&](StringAttr name) {
    auto symbol = scope ? scope.lookupSymbol<SymbolOp>(name) : SymbolOp();
    mentions |= symbol && symbol.getCoordinate();
  });
  return mentions;
}

void LocalLayouts::visitBlock(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void LocalLayouts::visit(Operation *op) {
  if (auto scan = dyn_cast<ScanOpInterface>(op))
    return visitScan(scan);
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return visitCollective(collective);
  if (auto shardable = dyn_cast<ShardableOpInterface>(op))
    return visitCompute(shardable);
  auto param = dyn_cast<ParamOp>(op);
  if (param && param.getLayout())
    setStates(param, getLeaf(param.getLayout()));
  auto splat = dyn_cast<SplatOp>(op);
  if (splat && !mentionsCoordinate(splat.getValue()))
    setStates(splat,
              AxisStates(axes.size(), AxisState{splat.getValue().isZero()
                                                    ? AxisState::Zero
                                                    : AxisState::Constant}));
}

/// True if all tensors of the op have one shape and run over the same factors.
static bool isElementwise(Operation *op, const ShardingRule &rule) {
  if (rule.operands.empty())
    return false;
  auto dims = cast<SymTensorType>(op->getOperand(0).getType()).getDims();
  auto hasDims = [&](Type type) {
    return cast<SymTensorType>(type).getDims() == dims;
  };
  auto isFirst = [&](const TensorFactors &tensor) {
    return tensor == rule.operands.front();
  };
  return llvm::all_of(op->getOperandTypes(), hasDims) &&
         llvm::all_of(op->getResultTypes(), hasDims) &&
         llvm::all_of(rule.operands, isFirst) &&
         llvm::all_of(rule.results, isFirst);
}

/// The factors of dimensions that are as large as their symbols say, such as
/// the one that a broadcast adds to what all devices have.
static SmallVector<unsigned, 2> findWholeFactors(Operation *op,
                                                 const ShardingRule &rule) {
  SmallVector<unsigned, 2> found;
  for (auto [type, tensor] :
       llvm::zip_equal(op->getResultTypes(), rule.results)) {
    ArrayRef<DimAttr> dims = cast<SymTensorType>(type).getDims();
    // A flat shard, such as that of a direction, has one for all of them.
    if (dims.size() != tensor.size())
      continue;
    for (auto [dim, factors] : llvm::zip_equal(dims, tensor))
      if (StringAttr symbol = dim.getExtent().getAsSymbol();
          symbol && dim.hasName(symbol) && factors.size() == 1)
        found.push_back(factors.front());
  }
  return found;
}

void LocalLayouts::visitCompute(ShardableOpInterface op) {
  if (op->getNumResults() == 0)
    return;
  SmallVector<AxisStates> operands;
  bool isKnown = false;
  for (Value operand : op->getOperands()) {
    isKnown |= layouts.contains(operand);
    operands.push_back(getStates(operand));
  }
  SmallVector<AxisStates, 2> results(op->getNumResults());
  if (isKnown) {
    OpFacts facts{op.getShardingRule(), op.isLinear(), false};
    facts.isElementwise = isElementwise(op, facts.rule);
    facts.wholeFactors = findWholeFactors(op, facts.rule);
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      if (op.isLinearIn(i))
        facts.linearOperands.push_back(i);
    SmallVector<AxisState> along(operands.size());
    for (size_t axis = 0; axis != axes.size(); ++axis) {
      for (auto [state, states] : llvm::zip_equal(along, operands))
        state = states[axis];
      for (auto [states, state] :
           llvm::zip_equal(results, transferAxis(facts, along)))
        states.push_back(state);
      // Which experts a device makes rows of follows from nothing that it
      // reads.
      auto dispatch = dyn_cast<DispatchOp>(op.getOperation());
      if (dispatch && dispatch.getDividedOver() &&
          llvm::is_contained(*dispatch.getDividedOver(), axes[axis]) &&
          llvm::all_of(along, [](AxisState state) {
            return state.kind <= AxisState::Whole;
          }))
        results[0].back() = AxisState::getDivided(0);
    }
  }
  for (auto [result, states] : llvm::zip_equal(op->getResults(), results))
    setStates(result, std::move(states));
}

/// What a collective leaves of each operand along the axes of its group.
static AxisState getMade(CollectiveOpInterface op) {
  if (std::optional<int64_t> dim = op.getDividedAfter())
    return AxisState::getDivided(*dim);
  bool isScatter = op.isKind(CollectiveKind::ReduceScatter);
  return {isScatter ? AxisState::Flat : AxisState::Whole};
}

/// Along other axes values are combined alike: shards stay shards, and sums of
/// partial sums partial sums.
void LocalLayouts::visitCollective(CollectiveOpInterface op) {
  for (auto [operand, result] :
       llvm::zip(op->getOperands(), op->getResults())) {
    AxisStates states = getStates(operand);
    for (auto [axis, state] : llvm::zip_equal(axes, states)) {
      bool isOther = state.kind == AxisState::Partial && op.getReduction() &&
                     op.getReduction() != state.reduction;
      if (llvm::is_contained(op.getAxes(), axis))
        state = getMade(op);
      else if (isOther)
        state = {AxisState::Unknown};
    }
    setStates(result, std::move(states));
  }
}

/// Moves shards to the dimension that a stack adds, or that a slice lacks.
static AxisStates shiftDims(AxisStates states, int64_t by) {
  for (AxisState &state : states)
    if (state.kind == AxisState::Divided) {
      state.dim += by;
      if (state.dim < 0)
        state = {AxisState::Unknown};
    }
  return states;
}

void LocalLayouts::visitScan(ScanOpInterface scan) {
  for (auto [arg, stack] :
       llvm::zip_equal(scan.getSliceArgs(), scan.getStacks()))
    setStates(arg, shiftDims(getStates(stack), -1));
  for (auto [arg, init] :
       llvm::zip_equal(scan.getCarriedArgs(), scan.getCarriedInits()))
    setStates(arg, getStates(init));
  Block &body = scan->getRegion(0).front();
  OperandRange yielded = body.getTerminator()->getOperands();
  // Along an axis, what is carried is joined with what is yielded until it
  // stays, at most a few times.
  for (bool changed = true; changed;) {
    changed = false;
    visitBlock(body);
    for (auto [arg, value] : llvm::zip(scan.getCarriedArgs(), yielded)) {
      AxisStates before = getStates(arg), joined = before;
      for (auto [state, next] : llvm::zip_equal(joined, getStates(value)))
        state = joinStates(state, next);
      changed |= joined != before;
      setStates(arg, std::move(joined));
    }
  }
  for (auto [number, value] : llvm::enumerate(yielded))
    setStates(scan->getResult(number), number < scan.getNumCarried()
                                           ? getStates(value)
                                           : shiftDims(getStates(value), 1));
}

SmallVector<LayoutAttr> stg::getLayouts(func::FuncOp function,
                                        ArrayRef<Value> values) {
  SmallVector<LayoutAttr> found(values.size());
  MeshOp mesh = MeshOp::lookup(function);
  if (!mesh)
    return found;
  LocalLayouts layouts(function, mesh.getMesh());
  for (auto [layout, value] : llvm::zip_equal(found, values))
    layout = layouts.getAttr(value);
  return found;
}

SmallVector<LayoutAttr> stg::getResultLayouts(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  return getLayouts(function, llvm::to_vector(terminator->getOperands()));
}

/// All at once: the list of all arguments is interned each time it is set.
void stg::setArgLayouts(func::FuncOp function, unsigned first,
                        ArrayRef<LayoutAttr> layouts) {
  SmallVector<DictionaryAttr> attrs;
  function.getAllArgAttrs(attrs);
  for (auto [number, layout] : llvm::enumerate(layouts)) {
    if (!layout)
      continue;
    NamedAttrList list(attrs[first + number]);
    list.set(STGDialect::kLayoutAttr, layout);
    attrs[first + number] = list.getDictionary(function.getContext());
  }
  function.setAllArgAttrs(attrs);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// What a collective needs of its operands along the axes of its group.
static AxisState getNeeded(CollectiveOpInterface op) {
  if (std::optional<ReduceKind> kind = op.getReduction())
    return AxisState::getPartial(*kind);
  if (std::optional<int64_t> dim = op.getDividedBefore())
    return AxisState::getDivided(*dim);
  return {op.isKind(CollectiveKind::LocalSlice) ? AxisState::Whole
                                                : AxisState::Flat};
}

static std::string describe(AxisState state) {
  switch (state.kind) {
  case AxisState::Whole:
    return "whole";
  case AxisState::Divided:
    return "divided along dimension " + std::to_string(state.dim);
  case AxisState::Flat:
    return "a flat shard";
  case AxisState::Partial:
    return state.reduction == ReduceKind::Sum ? "a partial sum"
                                              : "a partial maximum";
  default:
    return "unknown";
  }
}

/// What would work with what is there.
static std::string propose(CollectiveOpInterface op, AxisState found) {
  switch (found.kind) {
  case AxisState::Whole:
    return op.getDividedAfter() ? "take a local slice instead"
                                : "leave the axis out";
  case AxisState::Divided:
    return op.isKind(CollectiveKind::LocalSlice)
               ? "it is a shard already"
               : "gather dimension " + std::to_string(found.dim) + " over it";
  case AxisState::Flat:
    return "gather flat shards over it";
  default:
    return op.getDividedAfter() ? "reduce and scatter over it"
                                : "reduce it over the axis first";
  }
}

static LogicalResult checkCollective(CollectiveOpInterface op,
                                     const LocalLayouts &layouts) {
  // What completes its operands in place has shards of whole buffers.
  if (op->getNumResults() == 0)
    return success();
  AxisState needed = getNeeded(op);
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    for (auto axis : op.getAxes().getAsRange<StringAttr>()) {
      AxisState found = layouts.get(operand, axis);
      bool isKnown =
          found.kind >= AxisState::Whole && found.kind != AxisState::Unknown;
      if (!isKnown || found == needed)
        continue;
      return op->emitOpError("operand #")
             << number << " is " << describe(found) << " over mesh axis '"
             << axis.getValue() << "' (" << layouts.getAttr(operand)
             << "), expected " << describe(needed) << "; "
             << propose(op, found);
    }
  return success();
}

/// An optimizer step is not linear: partial gradients make wrong parameters.
static LogicalResult checkUpdate(CostOpInterface op,
                                 const LocalLayouts &layouts) {
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    for (StringAttr axis : layouts.getAxes()) {
      AxisState found = layouts.get(operand, axis);
      if (found.kind == AxisState::Partial)
        return op->emitOpError("operand #")
               << number << " is " << describe(found) << " over mesh axis '"
               << axis.getValue() << "' (" << layouts.getAttr(operand)
               << "); reduce it first";
    }
  return success();
}

LogicalResult stg::checkLayouts(func::FuncOp function,
                                const LocalLayouts &layouts) {
  WalkResult walked = function.walk([&](Operation *op) {
    LogicalResult result = success();
    auto cost = dyn_cast<CostOpInterface>(op);
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      result = checkCollective(collective, layouts);
    else if (cost && op->getNumOperands() > 0 && cost.updatesOperand(0))
      result = checkUpdate(cost, layouts);
    return succeeded(result) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}
