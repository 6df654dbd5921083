//===- Parallelize.cpp - States mesh and sharding rules -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardingRules.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace stg {
#define GEN_PASS_DEF_PARALLELIZE
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct Parallelize : stg::impl::ParallelizeBase<Parallelize> {
  using ParallelizeBase::ParallelizeBase;
  void runOnOperation() override;

private:
  FailureOr<MeshAttr> makeMesh();
  FailureOr<std::pair<SymExpr, AxisRole>> parseAxis(StringRef text);
  LogicalResult declareSymbols(SymExpr size);
  FailureOr<SmallVector<RuleAttr>> makeRules(MeshAttr mesh);
  LogicalResult checkRule(RuleAttr rule, MeshAttr mesh);
  LogicalResult makeClaims(MeshAttr mesh);
  LogicalResult checkMatches(const DimensionRules &rules);
  LogicalResult checkUse(const DimensionRules &rules, MeshAttr mesh);

  ArrayAttr makeJoined();
  Operation *findScope();
  void nameProgram(MeshOp made);

  bool hasDimension(StringRef name) {
    return llvm::is_contained(dimensions, name);
  }
  std::string listDimensions() { return llvm::join(dimensions, ", "); }

  Operation *scope = nullptr;   ///< What the mesh is for: a program, or all.
  SmallVector<bool> isOptional; ///< Rules that may shard nothing.
  SmallVector<StringRef> dimensions; ///< Their names.
};
} // namespace

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

/// `NAME=SIZE` or `NAME=SIZE:ROLE`.
FailureOr<std::pair<SymExpr, AxisRole>> Parallelize::parseAxis(StringRef text) {
  auto [name, rest] = text.split('=');
  auto [size, role] = rest.split(':');
  std::optional<SymExpr> expr =
      llvm::expectedToOptional(SymExpr::parse(&getContext(), size));
  std::optional<AxisRole> known =
      rest.contains(':') ? symbolizeAxisRole(role) : AxisRole::None;
  if (name.empty() || !expr || !known)
    return getOperation().emitError("mesh axis is '")
           << text
           << "', expected NAME=SIZE or NAME=SIZE:ROLE with an expression and "
              "data, replica, context, expert, tensor or pipeline";
  return std::pair(*expr, *known);
}

/// A size may use symbols that the model does not declare.
LogicalResult Parallelize::declareSymbols(SymExpr size) {
  ModuleOp module = getOperation();
  LogicalResult result = success();
  size.walkSymbols([&](StringAttr name) {
    if (failed(result) || module.lookupSymbol<SymbolOp>(name))
      return;
    if (Operation *other = module.lookupSymbol(name)) {
      result = other->emitOpError("has the name of mesh degree '")
               << name.getValue() << "'";
      return;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    SymbolOp::create(builder, module.getLoc(), name, SymExpr(), StringAttr(),
                     builder.getStringAttr("parallel degree"));
  });
  return result;
}

FailureOr<MeshAttr> Parallelize::makeMesh() {
  SmallVector<StringAttr> names;
  SmallVector<SymExpr> sizes;
  SmallVector<AxisRole> roles;
  for (StringRef text : mesh) {
    FailureOr<std::pair<SymExpr, AxisRole>> axis = parseAxis(text);
    if (failed(axis) || failed(declareSymbols(axis->first)))
      return failure();
    names.push_back(StringAttr::get(&getContext(), text.split('=').first));
    sizes.push_back(axis->first);
    roles.push_back(axis->second);
  }
  MeshAttr made = MeshAttr::getChecked(
      [&] { return getOperation().emitError(); }, &getContext(),
      ArrayRef(names), ArrayRef(sizes), ArrayRef(roles));
  if (!made)
    return failure();
  return made;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Names a dimension of the model and an axis.
LogicalResult Parallelize::checkRule(RuleAttr rule, MeshAttr mesh) {
  ModuleOp module = getOperation();
  if (!mesh.getAxisIndex(rule.getAxis()))
    return module.emitError("rule '")
           << rule.str() << "' names mesh axis '" << rule.getAxis().getValue()
           << "', expected one of "
           << llvm::join(llvm::map_range(
                             mesh.getAxisNames(),
                             [](StringAttr axis) { return axis.getValue(); }),
                         ", ");
  if (hasDimension(rule.getDim()))
    return success();
  return module.emitError("rule '")
         << rule.str() << "' names dimension '" << rule.getDim().getValue()
         << "', which the model does not have; its dimensions are named "
         << listDimensions();
}

FailureOr<SmallVector<RuleAttr>> Parallelize::makeRules(MeshAttr mesh) {
  SmallVector<RuleAttr> all;
  for (StringRef text : rules) {
    bool mayShardNothing = text.consume_back("?");
    llvm::Expected<RuleAttr> rule = RuleAttr::parseText(&getContext(), text);
    if (!rule)
      return getOperation().emitError(llvm::toString(rule.takeError()));
    // A part of a model, such as a module that predicts tokens, need not have
    // all of its dimensions.
    if (mayShardNothing && !hasDimension(rule->getDim()))
      continue;
    isOptional.push_back(mayShardNothing);
    if (failed(checkRule(*rule, mesh)))
      return failure();
    all.push_back(*rule);
  }
  return all;
}

/// The dimensions with the rule's name, of the values that it is for.
static std::string listNamed(Operation *scope, RuleAttr rule) {
  llvm::SetVector<DimAttr> dims;
  forEachRuledValue(scope, [&](Value value, RuleScope scope) {
    for (DimAttr dim : cast<SymTensorType>(value.getType()).getDims())
      if (rule.covers(scope) && dim.hasName(rule.getDim()))
        dims.insert(dim);
  });
  std::string text;
  for (DimAttr dim : dims)
    text += (text.empty() ? "" : ", ") + dim.str();
  return text;
}

/// A rule that shards nothing is a mistake. One that may, because it is not the
/// user's own, is only mentioned if it is for few values.
LogicalResult Parallelize::checkMatches(const DimensionRules &rules) {
  SmallVector<bool> isUsed(rules.getRules().size());
  forEachRuledValue(scope, [&](Value value, RuleScope scope) {
    for (DimAttr dim : cast<SymTensorType>(value.getType()).getDims())
      for (auto [index, used] : llvm::enumerate(isUsed))
        used |= rules.matches(index, dim, scope);
  });
  for (auto [rule, used, mayBeUnused] :
       llvm::zip_equal(rules.getRules(), isUsed, isOptional)) {
    if (used || (mayBeUnused && rule.getScope() == RuleScope::All))
      continue;
    InFlightDiagnostic diag =
        mayBeUnused ? getOperation().emitWarning() : getOperation().emitError();
    diag << "rule '" << rule.str() << "' shards nothing: no "
         << describeScope(rule.getScope()) << " has a dimension '"
         << rule.getDim().getValue() << "'";
    std::string dims = listNamed(scope, rule);
    if (!dims.empty())
      diag << " whose names all have rules for the axis; there are " << dims;
    if (!mayBeUnused)
      return diag;
  }
  return success();
}

/// An axis that shards nothing is a mistake: every device along it would do the
/// same.
LogicalResult Parallelize::checkUse(const DimensionRules &rules,
                                    MeshAttr mesh) {
  DenseSet<StringAttr> used;
  LogicalResult result = success();
  forEachRuledValue(scope, [&](Value value, RuleScope scope) {
    FailureOr<SymTensorType> type = cast<SymTensorType>(value.getType());
    if (failed(result))
      return;
    if (!type->getSharding())
      type = rules.apply(value, scope);
    result = type;
    if (failed(type) || !type->getSharding())
      return;
    for (ArrayAttr axes : type->getSharding().getDimAxes())
      for (auto axis : axes.getAsRange<StringAttr>())
        used.insert(axis);
  });
  if (failed(result))
    return failure();
  for (auto [axis, role] :
       llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisRoles())) {
    // Stages divide the program, not its values.
    if (used.contains(axis) || role == AxisRole::Pipeline ||
        llvm::is_contained(late, axis.getValue()))
      continue;
    return getOperation().emitError("mesh axis '")
           << axis.getValue()
           << "' shards nothing: no rule for it names a dimension of "
           << "a parameter, an argument or a carried value (dimensions are "
              "named "
           << listDimensions() << "); give a rule 'DIM:" << axis.getValue()
           << "'";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Claims
//===----------------------------------------------------------------------===//

/// True if a dimension of what the op reads or makes has the name.
static bool hasNamedDim(Operation *op, StringRef name) {
  auto hasIt = [&](Type type) {
    auto tensor = dyn_cast<SymTensorType>(type);
    return tensor && llvm::any_of(tensor.getDims(), [&](DimAttr dim) {
             return dim.hasName(StringAttr::get(dim.getContext(), name));
           });
  };
  return llvm::any_of(op->getOperandTypes(), hasIt) ||
         llvm::any_of(op->getResultTypes(), hasIt);
}

/// The factors, and `factor` over one more axis.
static FactorsAttr addAxis(FactorsAttr factors, StringAttr factor,
                           StringAttr axis) {
  SmallVector<FactorsAttr::Entry> entries;
  bool isNew = true;
  if (factors)
    for (auto [name, axes] :
         llvm::zip_equal(factors.getFactors(), factors.getAxes())) {
      if (llvm::is_contained(axes, axis))
        return factors;
      SmallVector<Attribute> all(axes.getValue());
      if (name == factor) {
        all.push_back(axis);
        isNew = false;
      }
      entries.emplace_back(name, ArrayAttr::get(factor.getContext(), all));
    }
  if (isNew)
    entries.emplace_back(factor, ArrayAttr::get(factor.getContext(), {axis}));
  return FactorsAttr::get(factor.getContext(), std::move(entries));
}

/// Plans the results with the dimensions that are the factor over the axis, as
/// if that had been written into their types.
static void divideResults(ShardableOpInterface op, const ShardingRule &rule,
                          unsigned factor, StringAttr axis) {
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), rule.results))
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      auto type = cast<SymTensorType>(result.getType());
      if (factors.size() != 1 || factors.front() != factor)
        continue;
      MLIRContext *context = axis.getContext();
      ArrayAttr none = ArrayAttr::get(context, {});
      ShardingAttr before = type.getSharding();
      if (before && before.shardsOver(axis))
        continue;
      SmallVector<ArrayAttr> dims(type.getRank(), none);
      if (before)
        dims.assign(before.getDimAxes().begin(), before.getDimAxes().end());
      SmallVector<Attribute> axes(dims[dim].getValue());
      axes.push_back(axis);
      dims[dim] = ArrayAttr::get(context, axes);
      result.setType(type.withSharding(
          ShardingAttr::get(context, dims, none, ReduceKind::Sum)));
    }
}

/// `OP/FACTOR:AXIS`: every op of that name that has the factor computes it over
/// the axis; with `OP/FACTOR@DIM:AXIS` those with a dimension of that name. The
/// factor `none` stands for none of them. With '>' for '/' the op computes
/// nothing over the axis, but what it makes is planned with the factor over it.
LogicalResult Parallelize::makeClaims(MeshAttr mesh) {
  for (StringRef text : claims) {
    size_t end = text.find_first_of("/>");
    StringRef op = text.take_front(end), rest = text.substr(end).drop_front(1);
    bool isBehind = text.substr(end).starts_with(">");
    auto [where, axis] = rest.split(':');
    auto [factor, dimension] = where.split('@');
    if (op.empty() || factor.empty() || !mesh.getAxisIndex(axis))
      return getOperation().emitError("claim is '")
             << text
             << "', expected OP/FACTOR:AXIS, OP/FACTOR@DIM:AXIS, or these with "
                "'>' for '/', with an axis of the mesh";
    Builder builder(&getContext());
    auto name = builder.getStringAttr(factor),
         axisName = builder.getStringAttr(axis),
         none = builder.getStringAttr(kNoFactor);
    StringRef dim = dimension;
    scope->walk([&](ShardableOpInterface user) {
      if (user->getName().getStringRef() != op ||
          (!dim.empty() && !hasNamedDim(user, dim)))
        return;
      ShardingRule rule = user.getShardingRule();
      std::optional<unsigned> number = rule.getFactor(name.getValue());
      if (!number && name != none)
        return;
      user.setFactorsAttr(
          addAxis(user.getFactorsAttr(), isBehind ? none : name, axisName));
      if (isBehind && number)
        divideResults(user, rule, *number, axisName);
    });
  }
  return success();
}

/// `AXIS+AXIS` for each list.
ArrayAttr Parallelize::makeJoined() {
  Builder builder(&getContext());
  SmallVector<Attribute> lists;
  for (StringRef text : joined) {
    SmallVector<StringRef> axes;
    text.split(axes, '+');
    lists.push_back(builder.getStrArrayAttr(axes));
  }
  return lists.empty() ? ArrayAttr() : builder.getArrayAttr(lists);
}

/// What roles say need not be said.
static void simplifyJoined(MeshOp mesh) {
  ArrayAttr joined = mesh.getJoinedAttr();
  auto countPairs = [&](bool asWritten) {
    mesh.setJoinedAttr(asWritten ? joined : ArrayAttr());
    SmallVector<bool> pairs;
    for (StringAttr lhs : mesh.getMesh().getAxisNames())
      for (StringAttr rhs : mesh.getMesh().getAxisNames())
        pairs.push_back(lhs == rhs || mesh.areJoined(lhs, rhs));
    return pairs;
  };
  bool isSame = countPairs(true) == countPairs(false);
  mesh.setJoinedAttr(isSame ? ArrayAttr() : joined);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The function that is to run on the mesh; of one program, the module.
Operation *Parallelize::findScope() {
  ModuleOp module = getOperation();
  SmallVector<StringRef> names;
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    names.push_back(function.getSymName());
    if (function.getSymName() == program.getValue())
      found = function;
  }
  if (!program.empty() && !found) {
    module.emitError("has no program '")
        << program.getValue() << "'; its programs are "
        << llvm::join(names, ", ");
    return nullptr;
  }
  bool isWhole = program.empty() || names.size() == 1;
  MeshOp other = !isWhole && !getProgramAttr(found) ? MeshOp()
                 : isWhole                          ? MeshOp::lookup(module)
                                                    : MeshOp::lookup(found);
  if (other) {
    other.emitOpError("already exists; a program has one mesh");
    return nullptr;
  }
  return isWhole ? module.getOperation() : found.getOperation();
}

/// Where there are several programs, this one says which its mesh is.
void Parallelize::nameProgram(MeshOp made) {
  auto function = dyn_cast<func::FuncOp>(scope);
  if (!function)
    return;
  std::string name = program.getValue() + "_mesh";
  while (getOperation().lookupSymbol(name))
    name += "_";
  made.setSymName(name);
  function->setAttr(
      STGDialect::kProgramAttr,
      ProgramAttr::get(&getContext(), function.getSymNameAttr(),
                       FlatSymbolRefAttr::get(made.getSymNameAttr())));
}

void Parallelize::runOnOperation() {
  ModuleOp module = getOperation();
  scope = findScope();
  if (!scope)
    return signalPassFailure();
  isOptional.clear();
  dimensions.clear();
  for (StringAttr name : collectDimensionNames(scope))
    dimensions.push_back(name);
  FailureOr<MeshAttr> made = makeMesh();
  if (failed(made))
    return signalPassFailure();
  FailureOr<SmallVector<RuleAttr>> all = makeRules(*made);
  if (failed(all))
    return signalPassFailure();
  SmallVector<Attribute> attrs(all->begin(), all->end());
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  for (Operation &op : module.getOps())
    if (isa<SymbolOp, MeshOp>(op))
      builder.setInsertionPointAfter(&op);
  auto declared = MeshOp::create(
      builder, module.getLoc(), "mesh", *made,
      attrs.empty() ? ArrayAttr() : builder.getArrayAttr(attrs), makeJoined());
  simplifyJoined(declared);
  nameProgram(declared);
  DimensionRules dimensionRules(std::move(*all));
  if (failed(checkMatches(dimensionRules)) ||
      failed(checkUse(dimensionRules, *made)) || failed(makeClaims(*made)))
    signalPassFailure();
}
