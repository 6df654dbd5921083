//===- STGBlocks.cpp - Blocks, their options and their calls --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static bool isBoolType(ArrayAttr cases) {
  return cases && cases.size() == 2 &&
         cast<StringAttr>(cases[0]).getValue() == "false" &&
         cast<StringAttr>(cases[1]).getValue() == "true";
}

bool OptionOp::isBool() { return isBoolType(getCasesAttr()); }

bool OptionOp::accepts(StringRef value) {
  return !getCases() || llvm::any_of(*getCases(), [&](Attribute known) {
    return cast<StringAttr>(known).getValue() == value;
  });
}

std::string OptionOp::getExpected() {
  if (!getCases())
    return "a text";
  if (isBool())
    return "true or false";
  std::string text;
  for (auto known : getCases()->getAsRange<StringAttr>())
    text += (text.empty() ? "one of '" : ", '") + known.str() + "'";
  return text;
}

StringAttr stg::getOptionValue(Attribute attr) {
  if (auto flag = dyn_cast<BoolAttr>(attr))
    return StringAttr::get(attr.getContext(),
                           flag.getValue() ? "true" : "false");
  return dyn_cast<StringAttr>(attr);
}

LogicalResult
stg::checkOptionValue(OptionOp option, StringRef value,
                      function_ref<InFlightDiagnostic()> emitError) {
  if (option.accepts(value))
    return success();
  InFlightDiagnostic diag =
      emitError() << "gives option '" << option.getSymName() << "' the value '"
                  << value << "', expected " << option.getExpected();
  diag.attachNote(option.getLoc()) << "the option is declared here";
  return diag;
}

LogicalResult OptionOp::verify() {
  DenseSet<Attribute> seen;
  if (getCases()) // option_c1
    for (auto known : getCases()->getAsRange<StringAttr>())
      if (!seen.insert(known).second)
        return emitOpError("lists '") << known.getValue() << "' twice";
  if (getValue() && !accepts(*getValue())) // option_c2
    return emitOpError("has the default '")
           << *getValue() << "', expected " << getExpected();
  return success();
}

/// `"rms" | "layer"`
ParseResult stg::detail::parseCases(OpAsmParser &parser, ArrayAttr &cases) {
  SmallVector<Attribute> texts;
  do {
    StringAttr text;
    if (parser.parseAttribute(text, parser.getBuilder().getType<NoneType>()))
      return failure();
    texts.push_back(text);
  } while (succeeded(parser.parseOptionalVerticalBar()));
  cases = parser.getBuilder().getArrayAttr(texts);
  return success();
}

void stg::detail::printCases(OpAsmPrinter &printer, Operation *,
                             ArrayAttr cases) {
  llvm::interleave(
      cases, printer,
      [&](Attribute text) { printer.printAttributeWithoutType(text); }, " | ");
}

/// `bool`, `string` or the cases.
ParseResult stg::detail::parseOptionType(OpAsmParser &parser,
                                         ArrayAttr &cases) {
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword, {"bool", "string"})))
    return parseCases(parser, cases);
  if (keyword == "bool")
    cases = parser.getBuilder().getStrArrayAttr({"false", "true"});
  return success();
}

void stg::detail::printOptionType(OpAsmPrinter &printer, Operation *op,
                                  ArrayAttr cases) {
  if (!cases)
    printer << "string";
  else if (isBoolType(cases))
    printer << "bool";
  else
    printCases(printer, op, cases);
}

/// `true`, `false` or a text.
static OptionalParseResult parseText(OpAsmParser &parser, StringAttr &value) {
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"true", "false"}))) {
    value = parser.getBuilder().getStringAttr(keyword);
    return success();
  }
  return parser.parseOptionalAttribute(value,
                                       parser.getBuilder().getType<NoneType>());
}

ParseResult stg::detail::parseOptionValue(OpAsmParser &parser,
                                          StringAttr &value) {
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult parsed = parseText(parser, value);
  if (parsed.has_value())
    return *parsed;
  return parser.emitError(loc) << "expected true, false or a text";
}

static void printText(OpAsmPrinter &printer, StringAttr value, bool isBool) {
  if (isBool)
    printer << value.getValue();
  else
    printer.printAttributeWithoutType(value);
}

void stg::detail::printOptionValue(OpAsmPrinter &printer, OptionOp option,
                                   StringAttr value) {
  printText(printer, value, option.isBool());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

ParseResult BlockOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void BlockOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult BlockOp::verifyRegions() {
  auto returned =
      getBody().hasOneBlock() && getBody().front().mightHaveTerminator()
          ? dyn_cast<BlockReturnOp>(getBody().front().back())
          : BlockReturnOp();
  if (!returned) // block_c1
    return emitOpError("expects a body of one block with 'stg.return' at its "
                       "end");
  if (returned.getOperandTypes() == getResultTypes())
    return success();
  return returned.emitOpError("returns (")
         << returned.getOperandTypes() << "), but the block has the results ("
         << getResultTypes() << ")";
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

bool IfOp::isChosen(StringRef value) {
  if (!getCases())
    return value == "true";
  return llvm::any_of(getCases()->getAsRange<StringAttr>(),
                      [&](StringAttr known) { return known == value; });
}

void IfOp::getSuccessorRegions(RegionBranchPoint point,
                               SmallVectorImpl<RegionSuccessor> &regions) {
  if (!point.isParent()) {
    regions.emplace_back(getOperation(), getOperation()->getResults());
    return;
  }
  regions.emplace_back(&getThenRegion());
  regions.emplace_back(&getElseRegion());
}

LogicalResult IfOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto option =
      lookupDeclared<OptionOp>(*this, getOptionAttr().getAttr(), symbolTable);
  if (!option) // if_c1
    return emitOpError("asks for option '")
           << getOption() << "', which is not declared; declare it with "
           << "'stg.option @" << getOption() << "'";
  auto fail = [&](StringRef text) -> LogicalResult {
    InFlightDiagnostic diag = emitOpError("asks whether option '")
                              << getOption() << "' is '" << text
                              << "', expected " << option.getExpected();
    diag.attachNote(option.getLoc()) << "the option is declared here";
    return diag;
  };
  if (!getCases())
    return option.isBool() ? success() : fail("true");
  for (auto text : getCases()->getAsRange<StringAttr>())
    if (!option.accepts(text))
      return fail(text);
  return stg::detail::verifyDeclaredSymbols(*this, symbolTable);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// `{H = Hv, K as H, bias = true, norm = "layer"}`
ParseResult stg::detail::parseCallValues(OpAsmParser &parser,
                                         DictionaryAttr &values) {
  NamedAttrList entries;
  auto parseEntry = [&]() -> ParseResult {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name))
      return failure();
    if (entries.get(name))
      return parser.emitError(loc) << "'" << name << "' is given twice";
    bool isDimension = succeeded(parser.parseOptionalKeyword("as"));
    StringAttr text;
    if (!isDimension) {
      if (parser.parseEqual())
        return failure();
      if (OptionalParseResult parsed = parseText(parser, text);
          parsed.has_value()) {
        if (failed(*parsed))
          return failure();
        entries.set(name, text);
        return success();
      }
    }
    FailureOr<SymExpr> expr = SymExpr::parse(parser);
    if (failed(expr))
      return failure();
    entries.set(name, isDimension ? Attribute(DimAttr::get(*expr))
                                  : Attribute(*expr));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces,
                                     parseEntry))
    return failure();
  if (!entries.empty())
    values = entries.getDictionary(parser.getContext());
  return success();
}

void stg::detail::printCallValues(OpAsmPrinter &printer, Operation *,
                                  DictionaryAttr values) {
  if (!values)
    return;
  printer << '{';
  llvm::interleaveComma(values, printer, [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName());
    if (auto dim = dyn_cast<DimAttr>(entry.getValue())) {
      printer << " as ";
      dim.getExtent().print(printer.getStream());
      return;
    }
    printer << " = ";
    if (auto expr = dyn_cast<SymExpr>(entry.getValue()))
      expr.print(printer.getStream());
    else
      printText(printer, cast<StringAttr>(entry.getValue()),
                entry.getValue() == getOptionValue(BoolAttr::get(
                                        entry.getValue().getContext(), true)) ||
                    entry.getValue() ==
                        getOptionValue(BoolAttr::get(
                            entry.getValue().getContext(), false)));
  });
  printer << '}';
}

LogicalResult BlockCallOp::verify() {
  if (!getValuesAttr())
    return success();
  for (NamedAttribute entry : getValuesAttr()) // call_c1
    if (!isa<SymExpr, DimAttr, StringAttr>(entry.getValue()))
      return emitOpError("gives '")
             << entry.getName().getValue() << "' the value " << entry.getValue()
             << ", expected an expression, a dimension or a text";
  return success();
}

Operation *
BlockCallOp::resolveCallableInTable(SymbolTableCollection *symbolTable) {
  return getBlock(*this, *symbolTable);
}

Operation *BlockCallOp::resolveCallable() {
  SymbolTableCollection symbolTable;
  return resolveCallableInTable(&symbolTable);
}

DeclarationScope::DeclarationScope(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent && !module;
       parent = parent->getParentOp()) {
    if (auto inner = dyn_cast<BlockOp>(parent); inner && !block)
      block = inner;
    module = dyn_cast<ModuleOp>(parent);
  }
}

BlockOp stg::getBlock(BlockCallOp call, SymbolTableCollection &symbolTable) {
  auto module = call->getParentOfType<ModuleOp>();
  return module ? symbolTable.lookupSymbolIn<BlockOp>(
                      module, call.getCalleeAttr().getAttr())
                : BlockOp();
}

/// A file that is to be imported may have what is not there.
static bool hasImports(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  return module && !module.getOps<ImportOp>().empty();
}

LogicalResult
BlockCallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (failed(stg::detail::verifyDeclaredSymbols(*this, symbolTable)))
    return failure();
  BlockOp block = getBlock(*this, symbolTable);
  if (!block) { // call_c2
    if (hasImports(*this))
      return success();
    InFlightDiagnostic diag = emitOpError("calls '")
                              << getCallee() << "', which is no block here";
    SmallVector<StringRef> names;
    if (auto module = (*this)->getParentOfType<ModuleOp>())
      for (auto known : module.getOps<BlockOp>())
        names.push_back(known.getSymName());
    if (!names.empty())
      diag << "; there are " << llvm::join(names, ", ");
    diag << "; that of another file needs 'stg.import'";
    return diag;
  }
  if (block.getBody().empty() || block.getBody().front().empty())
    return success(); // The block's error.
  FailureOr<BlockBinding> binding =
      bindSymbols(*this, block, BlockBinding(), getOperandTypes(), symbolTable);
  return failed(binding)
             ? failure()
             : checkResults(*this, block, *binding, getResultTypes());
}
