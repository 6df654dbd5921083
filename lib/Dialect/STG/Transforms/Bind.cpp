//===- Bind.cpp - Replaces symbols by numbers -----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Substitutes symbols in every type and attribute. Dimensions keep their names,
// so it may run between any two passes. What becomes a number must
// be a positive integer wherever it is an extent or a count; this is checked
// before anything is replaced, so that the error stands at the op and names the
// expression.
//
//===----------------------------------------------------------------------===//

#include "Model/Blocks.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace stg {
#define GEN_PASS_DEF_BIND
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct Bind : stg::impl::BindBase<Bind> {
  using BindBase::BindBase;

  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) override;
  void runOnOperation() override;

private:
  LogicalResult checkBlocks();
  LogicalResult collectConfig();
  LogicalResult collectValues();
  void collectDefaults();
  LogicalResult resolve();
  bool isEmpty(ScanOpInterface scan);
  LogicalResult checkOp(Operation *op);
  LogicalResult check(Operation *op, SymExpr expr, bool isExtent);
  void collectMeans();
  bool isMean(SymTensorType type, unsigned number);
  void eraseEmpty();
  void replace();
  std::string listValues(Operation *op);
  LogicalResult verifyBound();

  SymExpr substitute(SymExpr expr) {
    auto [it, isNew] = substituted.try_emplace(expr);
    if (isNew)
      it->second = expr.substitute(binding);
    return it->second;
  }

  SymBinding binding;
  DenseMap<SymExpr, SymExpr> substituted;
  /// Dimensions, as of extent 1, that are means of several: the rows of
  /// experts, or of tables.
  DenseSet<DimAttr> means;
  /// The types of values before symbols had numbers.
  DenseMap<Value, Type> unbound;
  /// Extents and other expressions that have been looked at.
  DenseSet<SymExpr> checkedExtents, checkedOthers;
  /// Types and attributes all of whose expressions have been looked at.
  DenseSet<Type> checkedTypes;
  DenseSet<Attribute> checkedAttrs;
};
} // namespace

std::string stg::gatherValues(StringRef options,
                              function_ref<bool(StringRef)> isDeclared) {
  SmallVector<StringRef> words, declared, values;
  options.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    if (word.consume_front("values="))
      values.push_back(word);
    else
      (isDeclared(word) ? declared : values).push_back(word);
  }
  std::string text = llvm::join(declared, " ");
  if (!values.empty())
    text += " values=" + llvm::join(values, ",");
  return text;
}

LogicalResult Bind::initializeOptions(
    StringRef options,
    function_ref<LogicalResult(const Twine &)> errorHandler) {
  auto isDeclared = [](StringRef word) {
    return word.starts_with("config=") || word == "config" ||
           word == "defaults=true" || word == "defaults=false" ||
           word == "defaults";
  };
  return Pass::initializeOptions(gatherValues(options, isDeclared),
                                 errorHandler);
}

LogicalResult Bind::collectConfig() {
  if (config.empty())
    return success();
  ModuleOp module = getOperation();
  auto op = module.lookupSymbol<ConfigOp>(config);
  if (!op) {
    InFlightDiagnostic diag = module.emitError("has no configuration '")
                              << config << "'";
    SmallVector<StringRef> names;
    for (auto known : module.getOps<ConfigOp>())
      names.push_back(known.getSymName());
    if (!names.empty())
      diag << "; known ones are " << llvm::join(names, ", ");
    return diag;
  }
  for (NamedAttribute entry : op.getBindings())
    if (!getOptionValue(entry.getValue()))
      binding[entry.getName()] = SymExpr::get(
          &getContext(), cast<IntegerAttr>(entry.getValue()).getInt());
  return success();
}

LogicalResult Bind::collectValues() {
  ModuleOp module = getOperation();
  for (const std::string &assignment : values) {
    auto [name, text] = StringRef(assignment).split('=');
    name = name.trim();
    if (name.empty() || text.empty())
      return module.emitError("cannot bind '")
             << assignment << "', expected SYMBOL=EXPRESSION";
    if (name == "defaults")
      return module.emitError("option 'defaults' has the value '")
             << text << "', expected true or false";
    if (module.lookupSymbol<OptionOp>(name))
      continue;
    llvm::Expected<SymExpr> value = SymExpr::parse(&getContext(), text);
    if (!value)
      return module.emitError("cannot bind '")
             << assignment << "': " << llvm::toString(value.takeError());
    if (!module.lookupSymbol<SymbolOp>(name)) {
      InFlightDiagnostic diag = module.emitError("cannot bind '")
                                << name << "': no such symbol";
      SmallVector<StringRef> names;
      for (auto symbol : module.getOps<SymbolOp>())
        names.push_back(symbol.getSymName());
      if (!names.empty())
        diag << "; declared are " << llvm::join(names, ", ");
      return diag;
    }
    binding[StringAttr::get(&getContext(), name)] = *value;
  }
  return success();
}

void Bind::collectDefaults() {
  if (!bindDefaults)
    return;
  for (auto symbol : getOperation().getOps<SymbolOp>())
    if (symbol.getValue())
      binding.try_emplace(symbol.getSymNameAttr(), *symbol.getValue());
}

/// Substitutes values into each other until none uses a bound symbol.
LogicalResult Bind::resolve() {
  for (auto symbol : getOperation().getOps<SymbolOp>())
    if (symbol.getCoordinate() && binding.contains(symbol.getSymNameAttr()))
      return symbol.emitOpError("is the coordinate on axis '")
             << *symbol.getCoordinate()
             << "', which no value is bound to; run --chakra-split-classes at "
             << "the chakra level";
  for (size_t round = 0; round <= binding.size(); ++round) {
    SymBinding next;
    bool changed = false;
    for (auto symbol : getOperation().getOps<SymbolOp>()) {
      StringAttr name = symbol.getSymNameAttr();
      SymExpr value = binding.lookup(name);
      if (!value)
        continue;
      SymExpr resolved = value.substitute(binding);
      if (!resolved)
        return getOperation().emitError("cannot bind '")
               << name.getValue() << "': " << value.str()
               << " does not divide exactly";
      changed |= resolved != value;
      next[name] = resolved;
    }
    binding = std::move(next);
    if (!changed)
      return success();
  }
  return getOperation().emitError(
      "cannot bind symbols that are defined by each other");
}

/// `isExtent`: must be a positive integer once it is a number.
LogicalResult Bind::check(Operation *op, SymExpr expr, bool isExtent) {
  if (!(isExtent ? checkedExtents : checkedOthers).insert(expr).second)
    return success();
  SymExpr result = substitute(expr);
  auto values = [&] {
    SmallVector<std::string> values;
    expr.walkSymbols([&](StringAttr name) {
      auto it = binding.find(name);
      if (it != binding.end())
        values.push_back((name.getValue() + " = " + it->second.str()).str());
    });
    return (values.empty() ? "" : " with ") + llvm::join(values, ", ");
  };
  if (!result)
    return op->emitOpError("has expression ")
           << expr.str() << ", which has no value" << values();
  std::optional<Rational> value = result.getConstant();
  if (!isExtent || !value || (value->isInteger() && Rational(0) < *value))
    return success();
  return op->emitOpError("has extent ")
         << expr.str() << ", which is " << result.str()
         << " and not a positive integer" << values();
}

static DimAttr withoutExtent(DimAttr dim) {
  return dim.withExtent(SymExpr::get(dim.getContext(), 1));
}

/// Experts may get different numbers of rows, or some of them none, and tables
/// may have different ones.
void Bind::collectMeans() {
  getOperation().walk([&](DispatchOp op) {
    means.insert(withoutExtent(op.getResult().getType().getDim(1)));
  });
  getOperation().walk([&](EmbeddingOp op) {
    if (SymTensorType table = op.getTable().getType();
        op.getRows() && table.getRank() == 3)
      means.insert(withoutExtent(table.getDim(1)));
  });
}

/// True for a dimension that is a fraction and may be one: the rows of all of
/// the experts, which are the dimension before, are whole.
bool Bind::isMean(SymTensorType type, unsigned number) {
  if (number == 0 || !means.contains(withoutExtent(type.getDim(number))))
    return false;
  SymExpr extent = substitute(type.getShape()[number]);
  SymExpr slices = substitute(type.getShape()[number - 1]);
  std::optional<Rational> value = extent ? extent.getConstant() : std::nullopt;
  return value && !value->isInteger() && Rational(0) < *value && slices &&
         (slices * extent).canBeExtent();
}

/// True for a loop that is executed no more: it hands on what it starts with,
/// which it can if it stacks nothing.
bool Bind::isEmpty(ScanOpInterface scan) {
  SymExpr count = substitute(scan.getCount());
  return count && count.isZero() && scan.getStacks().empty() &&
         scan.getStackedResults().empty() &&
         scan.getCarriedInits().getTypes() == scan->getResultTypes();
}

LogicalResult Bind::checkOp(Operation *op) {
  LogicalResult result = success();
  // What stands in a type or a mesh is an extent or a size.
  AttrTypeWalker typeWalker, walker;
  typeWalker.addWalk([&](SymTensorType type) {
    auto all = llvm::seq<unsigned>(0, type.getRank());
    auto isMean = [&](unsigned number) { return this->isMean(type, number); };
    if (llvm::none_of(all, isMean))
      return WalkResult::advance();
    for (unsigned number : all)
      if (!isMean(number) &&
          failed(check(op, type.getShape()[number], /*isExtent=*/true)))
        result = failure();
    return WalkResult::skip();
  });
  typeWalker.addWalk([&](SymExpr expr) {
    if (failed(check(op, expr, /*isExtent=*/true)))
      result = failure();
    return WalkResult::skip();
  });
  walker.addWalk([&](Type type) {
    typeWalker.walk<WalkOrder::PreOrder>(type);
    return WalkResult::skip();
  });
  walker.addWalk([&](MeshAttr mesh) {
    typeWalker.walk(mesh);
    return WalkResult::skip();
  });
  walker.addWalk([&](SymExpr expr) {
    if (failed(check(op, expr, /*isExtent=*/false)))
      result = failure();
    return WalkResult::skip();
  });
  if (auto scan = dyn_cast<ScanOpInterface>(op); scan && !isEmpty(scan))
    result = check(op, scan.getCount(), /*isExtent=*/true);
  for (NamedAttribute attr : op->getAttrDictionary())
    if (checkedAttrs.insert(attr.getValue()).second)
      walker.walk(attr.getValue());
  // An operand is a result or an argument of others.
  auto checkTypes = [&](TypeRange types) {
    for (Type type : types)
      if (checkedTypes.insert(type).second)
        walker.walk(type);
  };
  checkTypes(op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      checkTypes(block.getArgumentTypes());
  return result;
}

void Bind::eraseEmpty() {
  getOperation().walk([&](ScanOpInterface scan) {
    if (!isEmpty(scan))
      return;
    scan->replaceAllUsesWith(scan.getCarriedInits());
    scan->erase();
  });
}

void Bind::replace() {
  for (auto symbol : getOperation().getOps<SymbolOp>()) {
    auto it = binding.find(symbol.getSymNameAttr());
    if (it != binding.end())
      symbol.setValueAttr(it->second);
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SymExpr expr) -> std::optional<std::pair<Attribute, WalkResult>> {
        return {{substitute(expr), WalkResult::skip()}};
      });
  replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// The values of the symbols that operands and results have, with what they
/// are.
std::string Bind::listValues(Operation *op) {
  llvm::SetVector<StringAttr> names;
  AttrTypeWalker walker;
  walker.addWalk([&](SymExpr expr) {
    expr.walkSymbols([&](StringAttr name) { names.insert(name); });
  });
  for (Value value : op->getOperands())
    walker.walk(unbound.lookup(value));
  for (Value value : op->getResults())
    walker.walk(unbound.lookup(value));
  SmallVector<std::string> values;
  for (auto symbol : getOperation().getOps<SymbolOp>()) {
    StringAttr name = symbol.getSymNameAttr();
    auto it = binding.find(name);
    if (!names.contains(name) || it == binding.end())
      continue;
    values.push_back((name.getValue() + " = " + it->second.str()).str());
    if (symbol.getDescription())
      values.back() += " (" + symbol.getDescription()->str() + ")";
  }
  return llvm::join(values, ", ");
}

/// What is wrong with a value, ops say: heads that do not divide others, or
/// sizes that belong together, of which only one has been given.
LogicalResult Bind::verifyBound() {
  Location failing = getOperation().getLoc();
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
    // What types cannot be inferred of, an op has said before.
    if (diagnostic.getLocation() == failing &&
        StringRef(diagnostic.str()).ends_with("failed to infer returned types"))
      return success();
    failing = diagnostic.getLocation();
    std::string values;
    getOperation().walk([&](Operation *op) {
      if (op->getLoc() == diagnostic.getLocation() && values.empty())
        values = listValues(op);
    });
    if (!values.empty())
      diagnostic.attachNote(diagnostic.getLocation()) << "where " << values;
    return failure();
  });
  return verify(getOperation());
}

/// What a block calls a symbol may stand for another one.
LogicalResult Bind::checkBlocks() {
  for (Operation &op : getOperation().getOps())
    if (isa<ImportOp, BlockOp>(op))
      return op.emitOpError("is there; symbols are bound where blocks have "
                            "been inlined, with --stg-inline-blocks");
  return bindOptions(getOperation(), config, values);
}

void Bind::runOnOperation() {
  if (failed(checkBlocks()) || failed(collectConfig()) ||
      failed(collectValues()))
    return signalPassFailure();
  collectDefaults();
  if (failed(resolve()))
    return signalPassFailure();
  collectMeans();
  WalkResult result = getOperation().walk([&](Operation *op) {
    return failed(checkOp(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  eraseEmpty();
  getOperation().walk([&](Operation *op) {
    for (Value value : op->getResults())
      unbound[value] = value.getType();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          unbound[value] = value.getType();
  });
  replace();
  if (failed(verifyBound()))
    signalPassFailure();
}
