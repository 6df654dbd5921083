//===- InsertCollectives.cpp - Makes the program of one device ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each value has a layout (its type's sharding), each op needs its operands and
// makes its results in layouts that follow from its rule and its sharded
// factors. Where two layouts differ, a reshard goes in between. All ops that
// are inserted have the shapes of one device already; at the end every other
// value gets them too.
//
//===----------------------------------------------------------------------===//

#include "Local/LocalLayouts.h"
#include "ShardingRules.h"
#include "mlir/IR/Remarks.h"
#include "stg/Dialect/STG/Analysis/GradientFlow.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <map>

#define DEBUG_TYPE "stg-insert-collectives"

namespace stg {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// Where the elements of a value are: the axes of each dimension and the axes
/// over which it is a partial result. The axes of a dimension are a set: which
/// of several devices holds which part of a dimension is a matter of how they
/// are numbered, and the numbering that communicates least is chosen.
struct Layout {
  SmallVector<AxisNames, 4> dims;
  AxisNames partial;
  ReduceKind partialKind = ReduceKind::Sum;

  explicit Layout(unsigned rank) : dims(rank) {}
  static Layout get(SymTensorType type);

  bool operator==(const Layout &other) const {
    return llvm::all_of_zip(dims, other.dims, isSameSet) &&
           isSameSet(partial, other.partial) && isCombinedLike(other);
  }
  bool operator!=(const Layout &other) const { return !(*this == other); }

  static bool isSameSet(const AxisNames &lhs, const AxisNames &rhs) {
    return lhs.size() == rhs.size() &&
           std::is_permutation(lhs.begin(), lhs.end(), rhs.begin());
  }

  /// True if partial results of both are combined alike, or if one has none.
  bool isCombinedLike(const Layout &other) const {
    return partial.empty() || other.partial.empty() ||
           partialKind == other.partialKind;
  }

  /// The dimension that is sharded over the axis.
  std::optional<unsigned> findDim(StringAttr axis) const {
    for (auto [dim, axes] : llvm::enumerate(dims))
      if (llvm::is_contained(axes, axis))
        return dim;
    return std::nullopt;
  }
};

struct InsertCollectives : stg::impl::InsertCollectivesBase<InsertCollectives> {
  using InsertCollectivesBase::InsertCollectivesBase;
  void runOnOperation() override;
};

/// Rewrites one function to the local level.
class Localizer {
public:
  explicit Localizer(MeshOp op)
      : declaration(op), mesh(op.getMesh()), rewriter(mesh.getContext()) {}
  /// Replaces what can compute with a factor sharded only in parts.
  LogicalResult decompose(func::FuncOp function);
  LogicalResult run(func::FuncOp function, const GradientFlow &gradients);

private:
  void planDecomposed(ShardableOpInterface original,
                      ArrayRef<Operation *> parts);
  LogicalResult localizeBlock(Block &block);
  LogicalResult localizeOp(Operation *op);
  LogicalResult localizeCompute(ShardableOpInterface op);
  LogicalResult localizeLoop(Operation *loop);
  LayoutAttr getLayoutAttr(SymTensorType type);
  void recordLayouts(func::FuncOp function);
  SymTensorType getPlannedType(Value value);
  /// Axes, and the only operand that is partial over them; none: all are.
  struct PassedSum {
    AxisNames axes;
    std::optional<unsigned> operand;
  };
  PassedSum getPassedSum(ShardableOpInterface op);
  LogicalResult convert(OpOperand &use, const Layout &need);
  LogicalResult convertResult(OpResult result, const Layout &made);

  using CreateCollective =
      function_ref<Operation *(Location, Value, SymTensorType)>;
  using EmitCollective = function_ref<void(CreateCollective)>;
  SmallVector<AxisNames> groupAxes(ArrayRef<StringAttr> axes);
  void reducePartials(Layout &from, const Layout &to, EmitCollective emit);
  void moveAndGather(Layout &from, const Layout &to, EmitCollective emit);
  void sliceDims(Layout &from, const Layout &to, EmitCollective emit);
  FailureOr<Value> reshard(Value value, SymTensorType global, Layout from,
                           const Layout &to, const Origin &owner,
                           OpOperand *reader);
  void explain(Operation *collective, Value value, SymTensorType has,
               SymTensorType needed, OpOperand *reader);
  SymTensorType getType(SymTensorType global, const Layout &layout);
  FailureOr<SymTensorType> getLocalType(SymTensorType global,
                                        const Layout &layout);
  /// The axes as an attribute, in the order of the mesh.
  ArrayAttr getAxes(ArrayRef<StringAttr> axes) {
    SmallVector<Attribute> attrs(axes.begin(), axes.end());
    llvm::sort(attrs, [&](Attribute lhs, Attribute rhs) {
      return mesh.getAxisIndex(cast<StringAttr>(lhs)) <
             mesh.getAxisIndex(cast<StringAttr>(rhs));
    });
    return rewriter.getArrayAttr(attrs);
  }
  /// True if one collective serves both axes.
  bool areTogether(StringAttr lhs, StringAttr rhs) {
    return declaration.areJoined(lhs, rhs);
  }

  MeshOp declaration;
  MeshAttr mesh;
  IRRewriter rewriter;
  const GradientFlow *flow = nullptr;
  DenseSet<Value> isLocal; ///< Made here, with a local type.
  /// Resharded values: not to be converted again by the same user.
  DenseMap<Value, SymTensorType> globalTypes;
};
} // namespace

Layout Layout::get(SymTensorType type) {
  Layout layout(type.getRank());
  ShardingAttr sharding = type.getSharding();
  if (!sharding)
    return layout;
  for (auto [dim, axes] : llvm::enumerate(sharding.getDimAxes()))
    llvm::append_range(layout.dims[dim], axes.getAsRange<StringAttr>());
  llvm::append_range(layout.partial,
                     sharding.getPartialAxes().getAsRange<StringAttr>());
  layout.partialKind = sharding.getPartialKind();
  return layout;
}

/// What a person wrote into the factors must be possible.
static LogicalResult checkFactors(ShardableOpInterface op,
                                  const ShardingRule &rule) {
  FactorsAttr factors = op.getFactorsAttr();
  if (!factors)
    return success();
  for (StringAttr name : factors.getFactors()) {
    FailureOr<unsigned> factor = findFactor(op, rule, name);
    if (failed(factor))
      return failure();
    if (rule.factors[*factor].kind == FactorKind::Whole)
      return op->emitOpError("cannot compute with its factor '")
             << name.getValue() << "' sharded";
  }
  return success();
}

/// The layout in which an op needs an operand.
static Layout getOperandLayout(const TensorFactors &tensor,
                               ArrayRef<AxisNames> factorAxes) {
  Layout layout(tensor.size());
  for (auto [dim, factors] : llvm::enumerate(tensor))
    for (unsigned factor : factors)
      llvm::append_range(layout.dims[dim], factorAxes[factor]);
  return layout;
}

/// The layout in which an op makes a result: partial over the axes of the
/// factors that the result does not run over.
static Layout getResultLayout(const ShardingRule &rule, unsigned result,
                              ArrayRef<AxisNames> factorAxes) {
  Layout layout = getOperandLayout(rule.results[result], factorAxes);
  layout.partial = getPartialAxes(rule, result, factorAxes);
  if (!rule.reduceKinds.empty())
    layout.partialKind = rule.reduceKinds[result];
  return layout;
}

/// Whom a collective is for: the op that needs it, in its phase.
static Origin getOwner(Operation *op) {
  Origin owner = getOrigin(op);
  owner.phase = getPhase(op);
  return owner;
}

//===----------------------------------------------------------------------===//
// Resharding
//===----------------------------------------------------------------------===//

FailureOr<SymTensorType> Localizer::getLocalType(SymTensorType global,
                                                 const Layout &layout) {
  SmallVector<DimAttr> dims(global.getDims());
  for (auto [dim, axes] : llvm::zip_equal(dims, layout.dims)) {
    SymExpr local = dim.getExtent();
    if (!axes.empty()) {
      SymExpr size = mesh.getGroupSize(getAxes(axes));
      local = size ? local.exactDiv(size) : SymExpr();
    }
    std::optional<Rational> value = local ? local.getConstant() : std::nullopt;
    if (!local || (value && !value->isInteger()))
      return failure();
    if (!axes.empty())
      dim = dim.withExtent(local);
  }
  return SymTensorType::get(global.getContext(), dims, global.getElementType());
}

/// Splits `axes` into those that one collective serves: axes in a row whose
/// roles go together form one group, every other axis is a group of its own.
SmallVector<AxisNames> Localizer::groupAxes(ArrayRef<StringAttr> axes) {
  SmallVector<AxisNames> groups;
  for (StringAttr axis : axes) {
    if (!groups.empty() && areTogether(axis, groups.back().back()))
      groups.back().push_back(axis);
    else
      groups.push_back({axis});
  }
  return groups;
}

/// Reduces what is partial, the axes that vary fastest among the factors first.
/// Over an axis that `to` shards a dimension by, the reduction leaves a shard.
void Localizer::reducePartials(Layout &from, const Layout &to,
                               EmitCollective emit) {
  // By the dimension that is scattered; none: all-reduce.
  SmallVector<std::pair<std::optional<unsigned>, AxisNames>> steps;
  SmallVector<StringAttr> partial(llvm::reverse(from.partial));
  for (StringAttr axis : partial) {
    if (llvm::is_contained(to.partial, axis))
      continue;
    std::optional<unsigned> dim =
        from.partialKind == ReduceKind::Sum ? to.findDim(axis) : std::nullopt;
    if (!steps.empty() && steps.back().first == dim &&
        areTogether(axis, steps.back().second.back()))
      steps.back().second.push_back(axis);
    else
      steps.push_back({dim, {axis}});
  }
  for (auto &[dim, axes] : steps) {
    for (StringAttr axis : axes)
      llvm::erase(from.partial, axis);
    if (dim)
      llvm::append_range(from.dims[*dim], axes);
    emit([&, dim = dim, axes = getAxes(axes)](Location loc, Value value,
                                              SymTensorType type) {
      if (dim)
        return ReduceScatterOp::create(rewriter, loc, type, value, *dim, axes,
                                       /*payload=*/SymExpr(),
                                       /*padded=*/SymExpr())
            .getOperation();
      return AllReduceOp::create(rewriter, loc, TypeRange(type),
                                 ValueRange(value), from.partialKind, axes)
          .getOperation();
    });
  }
}

/// Moves axes to the dimensions where `to` has them and gathers over those that
/// it does not have.
void Localizer::moveAndGather(Layout &from, const Layout &to,
                              EmitCollective emit) {
  for (unsigned dim = 0, rank = from.dims.size(); dim != rank; ++dim) {
    std::map<unsigned, AxisNames> moved; ///< By the dimension they move to.
    AxisNames gathered;
    for (StringAttr axis : llvm::reverse(from.dims[dim])) {
      if (llvm::is_contained(to.dims[dim], axis))
        continue;
      if (std::optional<unsigned> target = to.findDim(axis))
        moved[*target].push_back(axis);
      else
        gathered.push_back(axis);
    }
    auto take = [&](ArrayRef<StringAttr> axes) {
      for (StringAttr axis : axes)
        llvm::erase(from.dims[dim], axis);
    };
    for (auto &[target, axes] : moved) {
      take(axes);
      llvm::append_range(from.dims[target], axes);
      emit([&, target = target, axes = getAxes(axes)](Location loc, Value value,
                                                      SymTensorType type) {
        return AllToAllOp::create(rewriter, loc, type, value, dim, target, axes,
                                  /*payload=*/SymExpr(),
                                  /*padded=*/SymExpr())
            .getOperation();
      });
    }
    for (AxisNames &axes : groupAxes(gathered)) {
      take(axes);
      emit([&, axes = getAxes(axes)](Location loc, Value value,
                                     SymTensorType type) {
        return AllGatherOp::create(rewriter, loc, type, value, dim, axes,
                                   /*payload=*/SymExpr(), /*padded=*/SymExpr())
            .getOperation();
      });
    }
  }
}

/// Takes the shard of what `to` shards and `from` has whole.
void Localizer::sliceDims(Layout &from, const Layout &to, EmitCollective emit) {
  for (unsigned dim = 0, rank = from.dims.size(); dim != rank; ++dim) {
    AxisNames missing;
    for (StringAttr axis : to.dims[dim])
      if (!llvm::is_contained(from.dims[dim], axis))
        missing.push_back(axis);
    for (AxisNames &axes : groupAxes(missing)) {
      llvm::append_range(from.dims[dim], axes);
      emit([&, axes = getAxes(axes)](Location loc, Value value,
                                     SymTensorType type) {
        return LocalSliceOp::create(rewriter, loc, type, value, dim, axes)
            .getOperation();
      });
    }
  }
}

/// `global`, laid out like that.
SymTensorType Localizer::getType(SymTensorType global, const Layout &layout) {
  SmallVector<ArrayAttr> dims;
  for (const AxisNames &axes : layout.dims)
    dims.push_back(getAxes(axes));
  return global.withSharding(ShardingAttr::get(
      global.getContext(), dims, getAxes(layout.partial), layout.partialKind));
}

/// An op as remarks call it: by its name, and that of the op of the model.
static std::string describe(Operation *op) {
  std::string text = ("'" + op->getName().getStringRef() + "'").str();
  if (StringAttr name = getOrigin(op).name)
    text += (" of '" + name.getValue() + "'").str();
  return text;
}

/// Says why a collective is there: how a value is laid out, and how it is read
/// or, without a reader, planned.
void Localizer::explain(Operation *collective, Value value, SymTensorType has,
                        SymTensorType needed, OpOperand *reader) {
  Operation *maker = value.getDefiningOp();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (maker ? describe(maker) + " makes " : "an argument is ") << has
     << ", ";
  if (reader)
    os << describe(reader->getOwner()) << " reads it as operand #"
       << reader->getOperandNumber() << " of type ";
  else
    os << "it is planned as ";
  os << needed;
  remark::passed(collective->getLoc(),
                 remark::RemarkOpts::name(collective->getName().stripDialect())
                     .category(DEBUG_TYPE))
      << remark::reason("{0}", text);
}

/// Brings `value`, which has the local shape of `from`, into layout `to`. First
/// what is partial is reduced, then axes move between dimensions and dimensions
/// are gathered, then sliced.
FailureOr<Value> Localizer::reshard(Value value, SymTensorType global,
                                    Layout from, const Layout &to,
                                    const Origin &owner, OpOperand *reader) {
  Location loc = value.getLoc();
  LogicalResult status = success();
  Value made = value;
  // Nobody may be listening.
  bool isExplained = rewriter.getContext()->getRemarkEngine();
  SymTensorType has = isExplained ? getType(global, from) : SymTensorType();
  auto emit = [&](CreateCollective create) {
    FailureOr<SymTensorType> type = getLocalType(global, from);
    if (failed(type)) {
      status = failure();
      return;
    }
    Operation *op = create(loc, value, *type);
    setOrigin(op, owner);
    if (isExplained)
      explain(op, made, has, getType(global, to), reader);
    value = op->getResult(0);
  };
  reducePartials(from, to, emit);
  moveAndGather(from, to, emit);
  sliceDims(from, to, emit);
  if (failed(status))
    return failure();
  isLocal.insert(value);
  return value;
}

/// A whole value cannot become partial sums.
static bool canReshard(const Layout &from, const Layout &to) {
  return from.isCombinedLike(to) && llvm::all_of(to.partial, [&](StringAttr a) {
           return llvm::is_contained(from.partial, a);
         });
}

SymTensorType Localizer::getPlannedType(Value value) {
  SymTensorType planned = globalTypes.lookup(value);
  return planned ? planned : cast<SymTensorType>(value.getType());
}

/// The axes over which an op is planned to read partial sums, which then pass
/// through it: all operands of a linear op, or one that it is linear in.
Localizer::PassedSum Localizer::getPassedSum(ShardableOpInterface op) {
  // Where an op takes a partial sum apart, its parts are reduced instead only
  // if they are planned so.
  auto isPartial = [&](Value result) {
    return !Layout::get(getPlannedType(result)).partial.empty();
  };
  if (op->getNumOperands() == 0 || (op.isLinear() && op->getNumResults() != 1 &&
                                    llvm::none_of(op->getResults(), isPartial)))
    return {};
  SmallVector<AxisNames> partial;
  std::optional<unsigned> only;
  for (OpOperand &use : op->getOpOperands()) {
    Layout layout = Layout::get(getPlannedType(use.get()));
    bool isSum = layout.partialKind == ReduceKind::Sum;
    partial.push_back(isSum ? layout.partial : AxisNames());
    if (!partial.back().empty())
      only = only ? op->getNumOperands() : use.getOperandNumber();
  }
  bool areAlike = llvm::all_of(partial, [&](const AxisNames &axes) {
    return Layout::isSameSet(axes, partial.front());
  });
  if (op.isLinear() && areAlike)
    return {partial.front(), std::nullopt};
  if (only && *only < op->getNumOperands() && op.isLinearIn(*only))
    return {partial[*only], only};
  return {};
}

/// Makes a use read its value in layout `need`.
LogicalResult Localizer::convert(OpOperand &use, const Layout &need) {
  Value value = use.get();
  SymTensorType global = getPlannedType(value);
  Layout have = Layout::get(global);
  if (have == need)
    return success();
  Operation *user = use.getOwner();
  if (!canReshard(have, need))
    return user->emitOpError("operand #")
           << use.getOperandNumber() << " of type " << global
           << " is planned as a partial result, which it is not";
  Origin owner = getOwner(user);
  // What is reduced for the optimizer is gradient synchronization.
  if (owner.phase == Phase::Optimizer ||
      (!have.partial.empty() && flow->reachesOptimizer(value)))
    owner.phase = Phase::GradSync;
  if (!owner.name)
    if (Operation *producer = value.getDefiningOp())
      owner.name = getOrigin(producer).name;
  rewriter.setInsertionPoint(user);
  FailureOr<Value> converted = reshard(value, global, have, need, owner, &use);
  if (failed(converted))
    return user->emitOpError("operand #")
           << use.getOperandNumber() << " of type " << global
           << " cannot be divided among the devices of its axes";
  use.set(*converted);
  return success();
}

/// Brings a result from the layout in which its op makes it into that of its
/// type.
LogicalResult Localizer::convertResult(OpResult result, const Layout &made) {
  auto global = cast<SymTensorType>(result.getType());
  Layout planned = Layout::get(global);
  if (made == planned || !isMade(result))
    return success();
  Operation *op = result.getOwner();
  if (!canReshard(made, planned))
    return op->emitOpError("result has the type ")
           << global << ", but it is not made as a partial result";
  Origin owner = getOwner(op);
  if (flow->reachesOptimizer(result))
    owner.phase = Phase::GradSync;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : result.getUses())
    uses.push_back(&use);
  rewriter.setInsertionPointAfter(op);
  FailureOr<Value> converted =
      reshard(result, global, made, planned, owner, /*reader=*/nullptr);
  FailureOr<SymTensorType> local = getLocalType(global, made);
  if (failed(converted) || failed(local))
    return op->emitOpError("result of type ")
           << global << " cannot be divided among the devices of its axes";
  // Users still look at the planned layout of what they read.
  globalTypes[*converted] = global;
  for (OpOperand *use : uses)
    use->set(*converted);
  result.setType(*local);
  isLocal.insert(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

/// The factors of an op that are those of dimensions that it reads divided, and
/// that it can compute with divided.
static FactorsAttr getReadFactors(Operation *op, const ShardingRule &rule) {
  SmallVector<FactorsAttr::Entry> read;
  for (auto [operand, tensor] :
       llvm::zip_equal(op->getOperandTypes(), rule.operands)) {
    ShardingAttr sharding = cast<SymTensorType>(operand).getSharding();
    if (!sharding)
      continue;
    for (auto [axes, factors] :
         llvm::zip_equal(sharding.getDimAxes(), tensor)) {
      if (axes.empty() || factors.size() != 1 ||
          rule.factors[factors.front()].kind == FactorKind::Whole)
        continue;
      auto name =
          StringAttr::get(op->getContext(), rule.factors[factors.front()].name);
      if (llvm::none_of(read, [&](const FactorsAttr::Entry &entry) {
            return entry.first == name;
          }))
        read.emplace_back(name, axes);
    }
  }
  return FactorsAttr::get(op->getContext(), std::move(read));
}

/// Gives the ops that replace `original` its name, phase and factors; one that
/// has other factors computes with what it reads as it is divided. Their
/// intermediate values are laid out as they are made, reduced where partial.
void Localizer::planDecomposed(ShardableOpInterface original,
                               ArrayRef<Operation *> parts) {
  FactorsAttr factors = original.getFactorsAttr();
  Origin owner = getOwner(original);
  for (Operation *part : parts) {
    owner.role = Role::Part;
    setOrigin(part, owner);
    auto shardable = dyn_cast<ShardableOpInterface>(part);
    if (!shardable)
      continue;
    ShardingRule rule = shardable.getShardingRule();
    SmallVector<FactorsAttr::Entry> own;
    for (auto [factor, axes] :
         llvm::zip_equal(factors.getFactors(), factors.getAxes()))
      if (rule.getFactor(factor))
        own.emplace_back(factor, axes);
    shardable.setFactorsAttr(
        own.empty() ? getReadFactors(part, rule)
                    : FactorsAttr::get(part->getContext(), std::move(own)));
    auto factorAxes = getFactorAxes(shardable, rule);
    for (OpResult result : part->getResults()) {
      auto type = cast<SymTensorType>(result.getType());
      if (type.getSharding())
        continue;
      Layout layout =
          getResultLayout(rule, result.getResultNumber(), factorAxes);
      SmallVector<ArrayAttr> dims;
      for (auto &axes : layout.dims)
        dims.push_back(getAxes(axes));
      result.setType(type.withSharding(
          ShardingAttr::get(part->getContext(), dims, rewriter.getArrayAttr({}),
                            ReduceKind::Sum)));
    }
  }
}

namespace {
/// Collects the ops that a decomposition makes.
struct CollectInserted : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    ops.push_back(op);
  }
  SmallVector<Operation *> ops;
};
} // namespace

LogicalResult Localizer::decompose(func::FuncOp function) {
  SmallVector<ShardableOpInterface> ops;
  function.walk([&](ShardableOpInterface op) {
    ShardingRule rule = op.getShardingRule();
    auto axes = getFactorAxes(op, rule);
    for (auto [factor, factorAxes] : llvm::zip_equal(rule.factors, axes))
      if (factor.kind == FactorKind::Decomposed && !factorAxes.empty()) {
        ops.push_back(op);
        break;
      }
  });
  for (ShardableOpInterface op : ops) {
    CollectInserted collect;
    IRRewriter decomposer(function.getContext(), &collect);
    decomposer.setInsertionPoint(op);
    SmallVector<Type> types(op->getResultTypes());
    Operation *probe = op->clone();
    SmallVector<SmallVector<OpOperand *>> uses;
    for (OpResult result : op->getResults()) {
      uses.emplace_back();
      for (OpOperand &use : result.getUses())
        uses.back().push_back(&use);
    }
    LogicalResult status = op.decompose(decomposer);
    if (succeeded(status)) {
      planDecomposed(cast<ShardableOpInterface>(probe), collect.ops);
      for (auto [type, resultUses] : llvm::zip_equal(types, uses))
        if (!resultUses.empty())
          resultUses.front()->get().setType(type);
    }
    probe->destroy();
    if (failed(status))
      return op->emitOpError(
          "cannot compute with a factor sharded that its rule "
          "says it decomposes for");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Localizer::localizeCompute(ShardableOpInterface op) {
  ShardingRule rule = op.getShardingRule();
  if (failed(checkFactors(op, rule)))
    return failure();
  auto factorAxes = getFactorAxes(op, rule);
  PassedSum passed = getPassedSum(op);
  for (auto [use, tensor] :
       llvm::zip_equal(op->getOpOperands(), rule.operands)) {
    Layout need = getOperandLayout(tensor, factorAxes);
    if (!passed.operand || *passed.operand == use.getOperandNumber())
      need.partial = passed.axes;
    if (failed(convert(use, need)))
      return failure();
  }
  for (OpResult result : op->getResults()) {
    Layout made = getResultLayout(rule, result.getResultNumber(), factorAxes);
    made.partial.insert(made.partial.begin(), passed.axes.begin(),
                        passed.axes.end());
    if (failed(convertResult(result, made)))
      return failure();
  }
  auto getAxesOf = [&](StringRef name) {
    std::optional<unsigned> factor = rule.getFactor(name);
    return getAxes(factor ? ArrayRef<StringAttr>(factorAxes[*factor])
                          : ArrayRef<StringAttr>());
  };
  if (failed(op.becomeLocal(getAxesOf)))
    return failure();
  op.setFactorsAttr({});
  return success();
}

/// Inits and stacks are read in the layouts of the arguments; what a loop
/// starts with is complete. What the body hands out gets the layouts of the
/// results.
LogicalResult Localizer::localizeLoop(Operation *loop) {
  auto convertTo = [&](OpOperand &use, Value like, PassedAs as) {
    Layout need = Layout::get(cast<SymTensorType>(like.getType()));
    if (as == PassedAs::Slice)
      need.dims.insert(need.dims.begin(), SmallVector<StringAttr, 2>());
    if (as == PassedAs::Stack)
      need.dims.erase(need.dims.begin());
    if (isa<BlockArgument>(like) && as == PassedAs::Same)
      need.partial.clear();
    return convert(use, need);
  };
  auto scan = dyn_cast<ScanOpInterface>(loop);
  unsigned carried = getCarriedValues(loop).size();
  for (const CarriedValue &value : getCarriedValues(loop))
    if (failed(convertTo(*value.init, value.arg, PassedAs::Same)))
      return failure();
  if (scan)
    for (auto [use, slice] : llvm::zip_equal(
             loop->getOpOperands().drop_front(carried), scan.getSliceArgs()))
      if (failed(convertTo(use, slice, PassedAs::Slice)))
        return failure();
  for (Region &region : loop->getRegions())
    for (Block &block : region)
      if (failed(localizeBlock(block)))
        return failure();
  for (const CarriedValue &value : getCarriedValues(loop))
    if (failed(convertTo(*value.yielded, value.result, PassedAs::Same)))
      return failure();
  if (scan)
    for (OpResult stack : scan.getStackedResults())
      if (failed(convertTo(*getStackedOperand(stack), stack, PassedAs::Stack)))
        return failure();
  return success();
}

/// Ops without a sharding rule may stand beside sharded values, not touch them.
static LogicalResult checkKnown(Operation *op) {
  auto isSharded = [](Type type) {
    auto tensor = dyn_cast<SymTensorType>(type);
    return tensor && tensor.getSharding();
  };
  if (isa<ParamOp, SplatOp>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      (llvm::none_of(op->getOperandTypes(), isSharded) &&
       llvm::none_of(op->getResultTypes(), isSharded)))
    return success();
  if (isa<func::CallOp>(op))
    return op->emitOpError("is a call; run --inline first");
  return op->emitOpError(
      "has no sharding rule; implement ShardableOpInterface");
}

LogicalResult Localizer::localizeOp(Operation *op) {
  if (isa<LoopLikeOpInterface>(op))
    return localizeLoop(op);
  if (auto shardable = dyn_cast<ShardableOpInterface>(op))
    return localizeCompute(shardable);
  if (failed(checkKnown(op)))
    return failure();
  // A returned value stays as it is laid out, but complete.
  if (isa<func::ReturnOp>(op))
    for (OpOperand &use : op->getOpOperands()) {
      if (!isa<SymTensorType>(use.get().getType()))
        continue;
      Layout need = Layout::get(getPlannedType(use.get()));
      need.partial.clear();
      if (failed(convert(use, need)))
        return failure();
    }
  return success();
}

LogicalResult Localizer::localizeBlock(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(localizeOp(op)))
      return failure();
  return success();
}

/// What devices have of a value, from its sharding.
LayoutAttr Localizer::getLayoutAttr(SymTensorType type) {
  SmallVector<StringAttr> axes;
  SmallVector<AxisState> states;
  Layout layout = Layout::get(type);
  for (StringAttr axis : mesh.getAxisNames()) {
    bool isPartial = llvm::is_contained(layout.partial, axis);
    std::optional<unsigned> dim = layout.findDim(axis);
    if (!isPartial && !dim)
      continue;
    axes.push_back(axis);
    states.push_back(isPartial ? AxisState::getPartial(layout.partialKind)
                               : AxisState::getDivided(*dim));
  }
  return LayoutAttr::get(type.getContext(), axes, states);
}

/// Types say no more how a value is sharded: parameters and arguments do, and
/// from them that of all other values follows.
void Localizer::recordLayouts(func::FuncOp function) {
  setArgLayouts(function, 0,
                llvm::map_to_vector(function.getArgumentTypes(), [&](Type arg) {
                  auto type = dyn_cast<SymTensorType>(arg);
                  return type ? getLayoutAttr(type) : LayoutAttr();
                }));
  function.walk([&](ParamOp param) {
    param.setLayoutAttr(getLayoutAttr(param.getType()));
  });
}

LogicalResult Localizer::run(func::FuncOp function,
                             const GradientFlow &gradients) {
  flow = &gradients;
  if (failed(localizeBlock(function.getBody().front())))
    return failure();
  recordLayouts(function);
  LogicalResult status = success();
  DenseMap<SymTensorType, SymTensorType> localTypes;
  auto localize = [&](Value value) {
    auto type = dyn_cast<SymTensorType>(value.getType());
    if (!type || isLocal.contains(value) || !type.getSharding())
      return;
    SymTensorType &known = localTypes[type];
    if (known)
      return value.setType(known);
    FailureOr<SymTensorType> local = getLocalType(type, Layout::get(type));
    if (failed(local)) {
      status = emitError(value.getLoc())
               << "value of type " << type
               << " cannot be divided among the devices of its axes";
      return;
    }
    known = *local;
    value.setType(known);
  };
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), localize);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), localize);
  });
  updateFunctionType(function);
  return status;
}

void InsertCollectives::runOnOperation() {
  auto run = [](func::FuncOp function, MeshOp mesh) -> LogicalResult {
    WalkResult walked = function.walk([](ParamOp op) {
      return op.getLayout() ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return function.emitOpError("is at the local level: its collectives have "
                                  "been inserted");
    if (mesh.getRules())
      return mesh.emitOpError("has rules that have not been applied; run "
                              "--stg-propagate-shardings first");
    Localizer localizer(mesh);
    if (failed(localizer.decompose(function)))
      return failure();
    // Of what is made local; an analysis may know what stood there before.
    GradientFlow gradients(function);
    return localizer.run(function, gradients);
  };
  if (failed(forEachProgram(getOperation(), run)))
    signalPassFailure();
}
