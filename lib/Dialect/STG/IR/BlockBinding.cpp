//===- BlockBinding.cpp - What calls make of blocks -----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/Blocks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

DimAttr BlockBinding::lookup(StringAttr symbol) const {
  auto it = symbols.find(symbol);
  return it != symbols.end() ? it->second
                             : DimAttr::get(SymExpr::getSymbol(symbol));
}

void BlockBinding::set(StringAttr symbol, DimAttr dim) {
  if (dim == DimAttr::get(SymExpr::getSymbol(symbol)))
    symbols.erase(symbol);
  else
    symbols[symbol] = dim;
}

void BlockBinding::rename(StringAttr from, StringAttr to) { names[from] = to; }

SymExpr BlockBinding::substitute(SymExpr expr, std::string &problem) const {
  if (symbols.empty())
    return expr;
  SymBinding extents;
  bool isWhole = true;
  expr.walkSymbols([&](StringAttr name) {
    auto it = symbols.find(name);
    if (it == symbols.end())
      return;
    if (it->second) {
      extents[name] = it->second.getExtent();
      return;
    }
    isWhole = false;
    problem = "symbol '" + name.str() +
              "' of the block has no value: no operand has it, there is no "
              "symbol '" +
              name.str() + "' here, and the call does not give it, as in {" +
              name.str() + " = ...}";
  });
  if (!isWhole)
    return {};
  SymExpr result = extents.empty() ? expr : expr.substitute(extents);
  if (!result)
    problem = "what stands for the symbols of " + expr.str() +
              " does not divide exactly";
  return result;
}

DimAttr BlockBinding::substitute(DimAttr dim, std::string &problem) const {
  SymExpr extent = substitute(dim.getExtent(), problem);
  if (!extent)
    return {};
  SmallVector<DimAttr> parts;
  for (StringAttr name : dim.getNames()) {
    auto it = symbols.find(name);
    auto renamed = names.find(name);
    if (it != symbols.end() && it->second)
      parts.push_back(it->second);
    else
      parts.push_back(DimAttr::get(
          renamed != names.end() ? renamed->second : name, extent));
  }
  return DimAttr::getJoined(parts, extent);
}

void BlockBinding::addReplacements(AttrTypeReplacer &replacer,
                                   std::string &problem) const {
  using Replacement = std::optional<std::pair<Attribute, WalkResult>>;
  auto replace = [&](auto attr) -> Replacement {
    auto result = substitute(attr, problem);
    return {{result ? Attribute(result) : Attribute(attr), WalkResult::skip()}};
  };
  replacer.addReplacement([=](DimAttr dim) { return replace(dim); });
  replacer.addReplacement([=](SymExpr expr) { return replace(expr); });
}

Type BlockBinding::substitute(Type type, std::string &problem) const {
  if (symbols.empty() && names.empty())
    return type;
  AttrTypeReplacer replacer;
  addReplacements(replacer, problem);
  Type result = replacer.replace(type);
  return problem.empty() ? result : Type();
}

LogicalResult BlockBinding::substitute(Operation *op, Operation *place) const {
  if (symbols.empty() && names.empty())
    return success();
  std::string problem;
  AttrTypeReplacer replacer;
  addReplacements(replacer, problem);
  replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                             /*replaceTypes=*/true);
  return problem.empty() ? success() : place->emitOpError(problem);
}

//===----------------------------------------------------------------------===//
// What a call says
//===----------------------------------------------------------------------===//

namespace {
/// Finds what stands for the symbols of a block.
class SymbolBinder {
public:
  SymbolBinder(BlockCallOp call, BlockOp block, const BlockBinding &caller,
               SymbolTableCollection &symbolTable)
      : call(call), block(block), caller(caller), symbolTable(symbolTable) {}

  LogicalResult takeWritten();
  void takeOperands(TypeRange types);
  LogicalResult takeOthers();

  BlockBinding binding;

private:
  LogicalResult takeValue(NamedAttribute entry);
  LogicalResult checkOptions(NamedAttribute entry);
  LogicalResult takeDefault(SymbolOp symbol);
  SymbolOp find(StringAttr name) {
    return lookupDeclared<SymbolOp>(&block.getBody().front().front(), name,
                                    symbolTable);
  }
  bool isSeenHere(StringAttr name) {
    return static_cast<bool>(lookupDeclared<SymbolOp>(call, name, symbolTable));
  }

  BlockCallOp call;
  BlockOp block;
  const BlockBinding &caller;
  SymbolTableCollection &symbolTable;
  DenseSet<StringAttr> bound;
};
} // namespace

namespace {
/// The options of a block and of those that it calls.
class OptionCollector {
public:
  explicit OptionCollector(SymbolTableCollection &symbolTable)
      : symbolTable(symbolTable) {}

  void collect(BlockOp block);

  SmallVector<OptionOp> options;
  bool isComplete = true; ///< All blocks are there.

private:
  SymbolTableCollection &symbolTable;
  DenseSet<Operation *> seen;
};
} // namespace

void OptionCollector::collect(BlockOp block) {
  if (!seen.insert(block).second)
    return;
  llvm::append_range(options, block.getBody().getOps<OptionOp>());
  block.walk([&](BlockCallOp call) {
    if (BlockOp callee = getBlock(call, symbolTable))
      collect(callee);
    else
      isComplete = false;
  });
}

/// Says what there is.
static LogicalResult reportUnknown(BlockCallOp call, BlockOp block,
                                   StringRef name, ArrayRef<OptionOp> options) {
  InFlightDiagnostic diag = call.emitOpError("gives a value to '")
                            << name << "', which is neither a symbol nor an "
                            << "option of '" << block.getSymName()
                            << "' or of what it calls";
  SmallVector<StringRef> symbols;
  for (auto symbol : block.getBody().getOps<SymbolOp>())
    symbols.push_back(symbol.getSymName());
  llvm::SmallSetVector<StringRef, 8> names;
  for (OptionOp option : options)
    names.insert(option.getSymName());
  Diagnostic &note = diag.attachNote(block.getLoc());
  note << "it has ";
  if (!symbols.empty())
    note << "the symbols " << llvm::join(symbols, ", ") << " and ";
  note << (names.empty() ? "no options"
                         : "the options " + llvm::join(names, ", "));
  return diag;
}

/// An option that is seen here, or a text that the option may be.
static LogicalResult checkOptionEntry(BlockCallOp call, OptionOp option,
                                      Attribute value,
                                      SymbolTableCollection &symbolTable) {
  if (auto text = dyn_cast<StringAttr>(value)) {
    // What stands in braces is a name that is not known yet.
    if (text.getValue().contains('{'))
      return success();
    return checkOptionValue(option, text, [&] { return call.emitOpError(); });
  }
  auto expr = dyn_cast<SymExpr>(value);
  StringAttr name = expr ? expr.getAsSymbol() : StringAttr();
  if (name && lookupDeclared<OptionOp>(call, name, symbolTable))
    return success();
  InFlightDiagnostic diag = call.emitOpError("gives option '")
                            << option.getSymName() << "' the value "
                            << (expr ? expr.str() : "of a dimension")
                            << ", expected " << option.getExpected()
                            << ", or an option that is declared here";
  diag.attachNote(option.getLoc()) << "the option is declared here";
  return diag;
}

/// Options of the block, and of what it calls, by that name.
LogicalResult SymbolBinder::checkOptions(NamedAttribute entry) {
  OptionCollector collector(symbolTable);
  collector.collect(block);
  bool isKnown = !collector.isComplete;
  for (OptionOp option : collector.options)
    if (option.getSymNameAttr() == entry.getName()) {
      isKnown = true;
      if (failed(checkOptionEntry(call, option, entry.getValue(), symbolTable)))
        return failure();
    }
  if (isKnown)
    return success();
  return reportUnknown(call, block, entry.getName(), collector.options);
}

LogicalResult SymbolBinder::takeValue(NamedAttribute entry) {
  StringAttr name = entry.getName();
  if (!find(name)) // call_c3
    return checkOptions(entry);
  std::string problem;
  DimAttr dim;
  if (auto expr = dyn_cast<SymExpr>(entry.getValue())) {
    if (SymExpr extent = caller.substitute(expr, problem))
      dim = DimAttr::get(name, extent);
  } else if (auto other = dyn_cast<DimAttr>(entry.getValue())) {
    dim = caller.substitute(other, problem);
  } else {
    problem = "gives symbol '" + name.str() + "' the value " +
              "of a text, expected an expression";
  }
  if (!dim)
    return call.emitOpError(problem);
  binding.set(name, dim);
  bound.insert(name);
  return success();
}

LogicalResult SymbolBinder::takeWritten() {
  if (call.getValuesAttr())
    for (NamedAttribute entry : call.getValuesAttr())
      if (failed(takeValue(entry)))
        return failure();
  return success();
}

/// A dimension that the block calls by one symbol is that of the operand.
void SymbolBinder::takeOperands(TypeRange types) {
  for (auto [formal, actual] : llvm::zip(block.getArgumentTypes(), types)) {
    auto own = dyn_cast<SymTensorType>(formal);
    auto given = dyn_cast<SymTensorType>(actual);
    if (!own || !given || own.getRank() != given.getRank())
      continue;
    for (auto [dim, other] : llvm::zip_equal(own.getDims(), given.getDims())) {
      StringAttr symbol = dim.getExtent().getAsSymbol();
      if (!symbol || !find(symbol) || !bound.insert(symbol).second)
        continue;
      bool isNamedAfter = dim == DimAttr::get(dim.getExtent());
      binding.set(symbol, isNamedAfter
                              ? other
                              : DimAttr::get(symbol, other.getExtent()));
    }
  }
}

/// What is seen here by the name, or the default, of symbols that are seen
/// there by it; the default may need others first.
LogicalResult SymbolBinder::takeDefault(SymbolOp symbol) {
  StringAttr name = symbol.getSymNameAttr();
  if (!bound.insert(name).second)
    return success();
  DimAttr seen = isSeenHere(name) ? caller.lookup(name) : DimAttr();
  binding.set(name, seen);
  if (seen)
    return success();
  if (!symbol.getValue())
    return success();
  SmallVector<StringAttr> needed;
  symbol.getValue()->walkSymbols(
      [&](StringAttr other) { needed.push_back(other); });
  for (StringAttr other : needed)
    if (SymbolOp declared = symbolTable.lookupSymbolIn<SymbolOp>(block, other))
      if (failed(takeDefault(declared)))
        return failure();
  std::string problem;
  if (SymExpr value = binding.substitute(*symbol.getValue(), problem))
    binding.set(name, DimAttr::get(name, value));
  return success();
}

LogicalResult SymbolBinder::takeOthers() {
  for (auto symbol : block.getBody().getOps<SymbolOp>())
    if (failed(takeDefault(symbol)))
      return failure();
  // Symbols of the module that stand for something else around the call.
  for (auto [name, dim] : caller.getSymbols()) {
    auto seen = find(name);
    if (seen && !isa<BlockOp>(seen->getParentOp()) && bound.insert(name).second)
      binding.set(name, dim);
  }
  return success();
}

std::string BlockBinding::print(Type type) const {
  std::string text;
  type.walk([&](SymExpr expr) {
    expr.walkSymbols([&](StringAttr name) {
      DimAttr dim = lookup(name);
      std::string entry =
          name.str() + " = " + (dim ? dim.getExtent().str() : "?");
      if (dim && !StringRef(text).contains(entry))
        text += (text.empty() ? "" : ", ") + entry;
    });
    return WalkResult::skip();
  });
  return text;
}

/// Compares what a call has with what the block says, for what stands for its
/// symbols.
static LogicalResult checkTypes(BlockCallOp call, BlockOp block,
                                const BlockBinding &binding, StringRef what,
                                TypeRange formals, TypeRange actuals) {
  if (formals.size() != actuals.size()) // call_c4
    return call.emitOpError("has ")
           << actuals.size() << " " << what << "s, expected the "
           << formals.size() << " of '" << block.getSymName() << "'";
  for (auto [number, formal, actual] : llvm::enumerate(formals, actuals)) {
    std::string problem;
    Type expected = binding.substitute(formal, problem);
    if (!expected)
      return call.emitOpError(problem);
    if (expected == actual)
      continue;
    InFlightDiagnostic diag = call.emitOpError()
                              << what << " #" << number << " has type "
                              << actual << ", expected " << expected;
    diag.attachNote(block.getLoc())
        << "'" << block.getSymName() << "' says " << formal << ", here with "
        << binding.print(formal);
    return diag;
  }
  return success();
}

LogicalResult stg::checkResults(BlockCallOp call, BlockOp block,
                                const BlockBinding &binding, TypeRange types) {
  return checkTypes(call, block, binding, "result", block.getResultTypes(),
                    types);
}

FailureOr<BlockBinding> stg::bindSymbols(BlockCallOp call, BlockOp block,
                                         const BlockBinding &caller,
                                         TypeRange operandTypes,
                                         SymbolTableCollection &symbolTable) {
  SymbolBinder binder(call, block, caller, symbolTable);
  if (failed(binder.takeWritten()))
    return failure();
  binder.takeOperands(operandTypes);
  if (failed(binder.takeOthers()) ||
      failed(checkTypes(call, block, binder.binding, "operand",
                        block.getArgumentTypes(), operandTypes)))
    return failure();
  return std::move(binder.binding);
}
