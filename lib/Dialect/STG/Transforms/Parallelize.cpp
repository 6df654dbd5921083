//===- Parallelize.cpp - States mesh and sharding intent ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShardingRules.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
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
  /// A mesh axis and its size, from the fastest in rank order to the slowest.
  using Axes = SmallVector<std::pair<StringRef, SymExpr>>;

  FailureOr<MeshAttr> makeMesh();
  FailureOr<SymExpr> parseDegree(StringRef axis, StringRef text);
  FailureOr<Axes> carveDataAxes();
  FailureOr<Axes> carveTensorAxes();
  bool hasWholeExperts() { return etp == "1"; }
  LogicalResult checkExperts();
  FailureOr<Axes> getExpertAxes();
  SmallVector<std::string> getDefaultRules();
  FailureOr<Axes> getParts(StringRef axis);
  LogicalResult declareSymbols(SymExpr degree);
  FailureOr<SmallVector<DimensionRule>> makeRules(MeshAttr mesh);
  void addRule(const DimensionRule &rule, MeshAttr mesh,
               SmallVectorImpl<DimensionRule> &all);
  void distributeReplicas(MeshAttr mesh);
  LogicalResult checkUserRules(ArrayRef<DimensionRule> userRules);
  LogicalResult annotate(const DimensionRules &rules);
  LogicalResult checkUse(MeshAttr mesh);
  bool hasDimension(StringRef name) {
    return llvm::is_contained(dimensions, name);
  }
  std::string listDimensions() { return llvm::join(dimensions, ", "); }
  void warnWithoutStream(const DimensionRules &rules);

  SmallVector<StringRef> dimensions; ///< Their names.
};
} // namespace

/// Batch over dp, tokens over cp, then Megatron-LM's tensor parallelism (heads,
/// feed-forward and vocabulary over tp) and experts over ep.
static constexpr StringLiteral defaultRules[] = {"B:dp", "S:cp", "H:tp", "K:tp",
                                                 "F:tp", "V:tp", "X:ep"};
static constexpr StringLiteral sequenceParallelRule = "S:tp@stream";

/// The parts that dp is carved into, from the fastest to the slowest: expert
/// parallelism (`ep` of the ranks hold different experts, `edp` the same), and
/// replicas of hybrid sharding. A part of size 1 is left out; dp that is not
/// carved is the axis `dp`.
static constexpr StringLiteral dataParts[] = {"ep", "edp", "dp",
                                              "dp_replicate"};

/// The parts of tp where there are replicas of key/value heads, from the
/// fastest to the slowest: neighbours hold the same heads. Without replicas it
/// is the axis `tp`.
static constexpr StringLiteral tensorParts[] = {"tp_replicate", "tp_kv", "tp"};

FailureOr<SymExpr> Parallelize::parseDegree(StringRef axis, StringRef text) {
  std::string error;
  FailureOr<SymExpr> degree = SymExpr::parse(&getContext(), text, error);
  bool isNumber = succeeded(degree) && degree->isConstant();
  bool isValid = succeeded(degree) &&
                 (isNumber ? degree->getInt64().value_or(0) >= 1
                           : static_cast<bool>(degree->getAsSymbol()));
  if (!isValid)
    return getOperation().emitError("degree of '")
           << axis << "' is '" << text
           << "', expected an integer of at least 1 or a symbol";
  return degree;
}

/// A degree may be a symbol that the model does not declare.
LogicalResult Parallelize::declareSymbols(SymExpr degree) {
  ModuleOp module = getOperation();
  StringAttr name = degree.getAsSymbol();
  if (!name || module.lookupSymbol<SymbolOp>(name))
    return success();
  if (Operation *other = module.lookupSymbol(name))
    return other->emitOpError("has the name of mesh degree '")
           << name.getValue() << "'";
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  SymbolOp::create(builder, module.getLoc(), name, SymExpr(), StringAttr(),
                   builder.getStringAttr("parallel degree"));
  return success();
}

/// The quotient, or none if it is a number that is not an integer.
static SymExpr divideEvenly(SymExpr dividend, SymExpr divisor) {
  SymExpr result = dividend.exactDiv(divisor);
  std::optional<Rational> number = result ? result.getConstant() : std::nullopt;
  return number && !number->isInteger() ? SymExpr() : result;
}

/// The axes over which experts are divided, from the fastest to the slowest. A
/// part of dp is the last one; whole experts fill tp and cp before.
FailureOr<Parallelize::Axes> Parallelize::getExpertAxes() {
  Axes result;
  FailureOr<SymExpr> rest = parseDegree("ep", ep);
  if (failed(rest))
    return failure();
  for (StringRef axis : {"tp", "cp"}) {
    if (!hasWholeExperts() || rest->isOne())
      break;
    FailureOr<SymExpr> degree = parseDegree(axis, axis == "tp" ? tp : cp);
    if (failed(degree))
      return failure();
    SymExpr others = divideEvenly(*rest, *degree);
    if (!others)
      return getOperation().emitError("ep is ")
             << ep << ", expected "
             << (axis == "tp" ? "1 or a multiple of tp = "
                              : "tp or a multiple of tp times cp, cp = ")
             << *degree
             << ": with etp = 1 experts are divided over tp, then cp, then a "
                "part of dp";
    result.push_back({axis, *degree});
    rest = others;
  }
  result.push_back({"ep", *rest});
  return result;
}

/// The axes that dp consists of, from the fastest to the slowest.
FailureOr<Parallelize::Axes> Parallelize::carveDataAxes() {
  FailureOr<Axes> expertAxes = getExpertAxes();
  FailureOr<SymExpr> all = parseDegree("dp", dp),
                     replicas = parseDegree("dp_replicate", dpReplicate);
  if (failed(expertAxes) || failed(all) || failed(replicas))
    return failure();
  SymExpr experts = expertAxes->back().second;
  SymExpr rest = divideEvenly(*all, experts * *replicas);
  if (!rest)
    return getOperation().emitError("dp is ")
           << *all << ", which ep = " << experts
           << " and dp-replicate = " << *replicas
           << " do not divide; expert parallelism and replicas are parts of dp";
  for (SymExpr degree : {*all, experts, *replicas})
    if (failed(declareSymbols(degree)))
      return failure();
  return Axes{{"ep", experts},
              {experts.isOne() ? "dp" : "edp", rest},
              {"dp_replicate", *replicas}};
}

/// The axes that tp consists of, from the fastest to the slowest.
FailureOr<Parallelize::Axes> Parallelize::carveTensorAxes() {
  FailureOr<SymExpr> all = parseDegree("tp", tp),
                     replicas = parseDegree("tp_replicate", tpReplicate);
  if (failed(all) || failed(replicas))
    return failure();
  SymExpr rest = divideEvenly(*all, *replicas);
  if (!rest)
    return getOperation().emitError("tp is ")
           << *all << ", which tp-replicate = " << *replicas
           << " does not divide; replicas are a part of tp";
  for (SymExpr degree : {*all, *replicas})
    if (failed(declareSymbols(degree)))
      return failure();
  return Axes{{"tp_replicate", *replicas},
              {replicas->isOne() ? "tp" : "tp_kv", rest}};
}

/// The axes that a degree of parallelism consists of.
FailureOr<Parallelize::Axes> Parallelize::getParts(StringRef axis) {
  if (axis == "dp")
    return carveDataAxes();
  if (axis == "tp")
    return carveTensorAxes();
  FailureOr<SymExpr> degree = parseDegree(axis, axis == "cp" ? cp : pp);
  if (failed(degree) || failed(declareSymbols(*degree)))
    return failure();
  return Axes{{axis, *degree}};
}

/// Axes in rank order, without those of size 1.
FailureOr<MeshAttr> Parallelize::makeMesh() {
  static constexpr StringLiteral known[] = {"tp", "cp", "dp", "pp"};
  SmallVector<StringRef> order;
  StringRef(rankOrder).split(order, '-');
  for (StringRef axis : order)
    if (!llvm::is_contained(known, axis) || llvm::count(order, axis) != 1)
      return getOperation().emitError("rank order is '")
             << rankOrder
             << "', expected tp, cp, dp and pp, each at most once, joined by "
                "'-'";
  for (StringRef axis : known)
    if (!llvm::is_contained(order, axis))
      order.push_back(axis);
  SmallVector<StringAttr> names;
  SmallVector<SymExpr> sizes;
  for (StringRef axis : order) {
    FailureOr<Axes> parts = getParts(axis);
    if (failed(parts))
      return failure();
    for (auto [name, size] : *parts) {
      if (size.isOne())
        continue;
      names.push_back(StringAttr::get(&getContext(), name));
      sizes.push_back(size);
    }
  }
  return MeshAttr::get(&getContext(), names, sizes);
}

/// True if the model has replicas along the dimension.
static bool isReplicated(ModuleOp module, StringAttr dim) {
  return module
      .walk([&](ReplicateOp op) {
        DimAttr replicated = op.getInput().getType().getDim(op.getDim());
        return replicated.hasName(dim) ? WalkResult::interrupt()
                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Adds a rule; one for dp or tp becomes one for each of its parts, the slowest
/// first. Rules for axes of size 1 are dropped.
void Parallelize::addRule(const DimensionRule &rule, MeshAttr mesh,
                          SmallVectorImpl<DimensionRule> &all) {
  SmallVector<StringRef> parts{rule.axis};
  if (rule.axis == "dp")
    parts.assign(std::begin(dataParts), std::end(dataParts));
  else if (rule.axis == "tp")
    parts.assign(std::begin(tensorParts), std::end(tensorParts));
  for (StringRef axis : llvm::reverse(parts)) {
    // Its replicas are divided, not its slices.
    if (!mesh.getAxisIndex(axis) ||
        (rule.axis == "tp" && axis == "tp_replicate" &&
         isReplicated(getOperation(), rule.dim)))
      continue;
    DimensionRule part = rule;
    part.axis = StringAttr::get(&getContext(), axis);
    all.push_back(part);
  }
}

/// Each device along `tp_replicate` works with one replica of each slice.
void Parallelize::distributeReplicas(MeshAttr mesh) {
  if (!mesh.getAxisIndex("tp_replicate"))
    return;
  Builder builder(&getContext());
  DictionaryAttr claims = builder.getDictionaryAttr(builder.getNamedAttr(
      "replica", builder.getStrArrayAttr({"tp_replicate"})));
  getOperation().walk([&](Operation *op) {
    if (isa<ReplicateOp, ReplicateGradOp>(op))
      op->setAttr(STGDialect::kClaimsAttr, claims);
  });
}

LogicalResult Parallelize::checkExperts() {
  if (!etp.empty() && etp != "1" && etp != tp)
    return getOperation().emitError("etp is ")
           << etp << ", expected 1 or the degree of tp, " << tp;
  if (!hasWholeExperts())
    return success();
  if (!hasDimension("X"))
    return getOperation().emitError(
        "etp = 1 is for models with experts, a dimension named 'X'");
  if (!sequenceParallel && tp != "1")
    return getOperation().emitError(
        "etp = 1 needs sequence-parallel: experts over tp get their tokens "
        "from ranks that have different ones");
  return success();
}

/// Where experts are whole, no feed-forward dimension is over tp. Rules for
/// experts then come last: the router, too, has experts, but computes tokens
/// over these axes.
SmallVector<std::string> Parallelize::getDefaultRules() {
  SmallVector<std::string> result;
  for (StringRef rule : defaultRules)
    if (!hasWholeExperts() ||
        !(rule.starts_with("F:") || rule.starts_with("X:")))
      result.push_back(rule.str());
  if (sequenceParallel)
    result.push_back(sequenceParallelRule.str());
  if (hasWholeExperts()) {
    Axes axes = *getExpertAxes(); // The mesh was made of them.
    for (auto [axis, size] : llvm::reverse(axes))
      result.push_back(("X:" + axis).str());
  }
  return result;
}

/// The user's rules, then the default ones for dimensions that the user does
/// not mention.
FailureOr<SmallVector<DimensionRule>> Parallelize::makeRules(MeshAttr mesh) {
  static constexpr StringLiteral axes[] = {
      "tp", "cp", "dp", "ep", "edp", "dp_replicate", "tp_kv", "tp_replicate"};
  SmallVector<DimensionRule> userRules, all;
  std::string error;
  for (const std::string &text : rules) {
    FailureOr<DimensionRule> rule =
        DimensionRule::parse(&getContext(), text, error);
    if (failed(rule))
      return getOperation().emitError(error);
    if (rule->axis && !llvm::is_contained(axes, rule->axis.getValue()))
      return getOperation().emitError("rule '")
             << text << "' names mesh axis '" << rule->axis.getValue()
             << "', expected one of "
             << llvm::join(ArrayRef<StringLiteral>(axes), ", ");
    userRules.push_back(*rule);
  }
  if (failed(checkUserRules(userRules)))
    return failure();
  for (const DimensionRule &rule : userRules)
    if (rule.axis)
      addRule(rule, mesh, all);
  for (const std::string &text : getDefaultRules()) {
    DimensionRule rule = *DimensionRule::parse(&getContext(), text, error);
    // A default rule may be for a dimension that this model does not have.
    bool isReplaced = llvm::any_of(userRules, [&](const DimensionRule &user) {
      return user.dim == rule.dim;
    });
    if (!isReplaced && hasDimension(rule.dim))
      addRule(rule, mesh, all);
  }
  return all;
}

LogicalResult Parallelize::checkUserRules(ArrayRef<DimensionRule> userRules) {
  ModuleOp module = getOperation();
  for (const DimensionRule &rule : userRules) {
    if (!hasDimension(rule.dim))
      return module.emitError("rule '")
             << rule.str() << "' names dimension '" << rule.dim.getValue()
             << "', which the model does not have; its dimensions are named "
             << listDimensions();
  }
  return success();
}

LogicalResult Parallelize::annotate(const DimensionRules &rules) {
  LogicalResult result = success();
  auto apply = [&](Value value, ShardedValue kind) {
    auto type = dyn_cast<SymTensorType>(value.getType());
    if (!type || type.getSharding() || failed(result))
      return;
    FailureOr<SymTensorType> sharded = rules.apply(value, kind);
    if (failed(sharded))
      result = failure();
    else
      value.setType(*sharded);
  };
  getOperation().walk([&](Operation *op) {
    if (auto param = dyn_cast<ParamOp>(op))
      apply(param, ShardedValue::Parameter);
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      for (Value arg : repeat.getCarriedArgs())
        apply(arg, ShardedValue::Stream);
      for (Value result : repeat.getCarriedResults())
        apply(result, ShardedValue::Stream);
    }
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || function.isExternal())
      return;
    for (Value arg : function.getArguments())
      apply(arg, ShardedValue::Argument);
    // Post-order: what the function returns has been annotated by now.
    updateFunctionType(function);
  });
  return result;
}

/// Sequence parallelism needs a residual stream: a value that a repeat carries.
void Parallelize::warnWithoutStream(const DimensionRules &rules) {
  bool found = false;
  getOperation().walk([&](RepeatOp repeat) {
    for (BlockArgument arg : repeat.getCarriedArgs())
      for (DimAttr dim : cast<SymTensorType>(arg.getType()).getDims())
        for (unsigned i = 0, e = rules.getRules().size(); i != e; ++i)
          found |= rules.getRules()[i].streamOnly &&
                   rules.matches(i, dim, ShardedValue::Stream);
  });
  if (!found)
    getOperation().emitWarning(
        "sequence parallelism has no effect: no repeat carries a value with a "
        "dimension that rule '")
        << sequenceParallelRule << "' names";
}

/// An axis that shards nothing is a mistake: every device along it would do the
/// same.
LogicalResult Parallelize::checkUse(MeshAttr mesh) {
  DenseSet<StringAttr> used;
  auto collect = [&](Value value) {
    auto type = dyn_cast<SymTensorType>(value.getType());
    if (type && type.getSharding())
      for (ArrayAttr axes : type.getSharding().getDimAxes())
        for (auto axis : axes.getAsRange<StringAttr>())
          used.insert(axis);
  };
  getOperation().walk([&](Operation *op) {
    llvm::for_each(op->getResults(), collect);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), collect);
  });
  for (StringAttr axis : mesh.getAxisNames()) {
    // Stages divide the program, not its values.
    if (used.contains(axis) || axis == "pp")
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

void Parallelize::runOnOperation() {
  ModuleOp module = getOperation();
  if (MeshOp mesh = MeshOp::lookup(module)) {
    mesh.emitOpError("already exists; a program has one mesh");
    return signalPassFailure();
  }
  dimensions.clear();
  for (StringAttr name : collectDimensionNames(module))
    dimensions.push_back(name);
  if (failed(checkExperts()))
    return signalPassFailure();
  FailureOr<MeshAttr> mesh = makeMesh();
  if (failed(mesh))
    return signalPassFailure();
  FailureOr<SmallVector<DimensionRule>> all = makeRules(*mesh);
  if (failed(all))
    return signalPassFailure();
  SmallVector<Attribute> texts;
  for (const DimensionRule &rule : *all)
    texts.push_back(StringAttr::get(&getContext(), rule.str()));
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  for (auto symbol : module.getOps<SymbolOp>())
    builder.setInsertionPointAfter(symbol);
  SmallVector<Attribute> dataAxes, tensorAxes;
  for (StringAttr axis : mesh->getAxisNames())
    if (axis == "cp" || llvm::is_contained(dataParts, axis.getValue()))
      dataAxes.push_back(axis);
    else if (llvm::is_contained(tensorParts, axis.getValue()))
      tensorAxes.push_back(axis);
  if (tensorAxes.size() < 2)
    tensorAxes.clear();
  auto makeList = [&](ArrayRef<Attribute> entries) {
    return entries.empty() ? ArrayAttr() : builder.getArrayAttr(entries);
  };
  MeshOp::create(builder, module.getLoc(), "mesh", *mesh, makeList(texts),
                 makeList(dataAxes), makeList(tensorAxes));
  distributeReplicas(*mesh);
  DimensionRules dimensionRules(std::move(*all));
  if (failed(annotate(dimensionRules)))
    return signalPassFailure();
  if (sequenceParallel && llvm::any_of(tensorParts, [&](StringRef axis) {
        return mesh->getAxisIndex(axis).has_value();
      }))
    warnWithoutStream(dimensionRules);
  if (failed(checkUse(*mesh)))
    signalPassFailure();
}
