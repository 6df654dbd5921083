//===- STGAttrs.cpp - Attributes and types of the stg dialect -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/STGAttrs.h"
#include "mlir/IR/DialectImplementation.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "stg/Support/Names.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace stg;

#include "stg/Dialect/STG/IR/STGEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "stg/Dialect/STG/IR/STGAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "stg/Dialect/STG/IR/STGTypes.cpp.inc"

void STGDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "stg/Dialect/STG/IR/STGAttrs.cpp.inc"
      >();
}

void STGDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "stg/Dialect/STG/IR/STGTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// OriginAttr
//===----------------------------------------------------------------------===//

static ParseResult parsePhaseOrRole(AsmParser &parser, SMLoc loc,
                                    StringRef keyword, Origin &origin) {
  if (std::optional<Phase> phase = symbolizePhase(keyword);
      phase && !origin.phase && !origin.role) {
    origin.phase = phase;
    return success();
  }
  if (std::optional<Role> role = symbolizeRole(keyword); role && !origin.role) {
    origin.role = role;
    return success();
  }
  auto list = [](auto kind, auto stringify) {
    std::string all;
    for (uint32_t i = 0; !stringify(decltype(kind)(i)).empty(); ++i)
      all += ((i ? ", " : "") + stringify(decltype(kind)(i))).str();
    return all;
  };
  return parser.emitError(loc)
         << "unexpected '" << keyword << "' in an origin, expected a phase ("
         << list(Phase(), stringifyPhase) << ") and then a role ("
         << list(Role(), stringifyRole) << ")";
}

Attribute OriginAttr::parse(AsmParser &parser, Type) {
  return parser.parseLess() ? Attribute() : parseRest(parser);
}

Attribute OriginAttr::parseRest(AsmParser &parser) {
  Origin origin;
  std::string name;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalString(&name)))
    origin.name = parser.getBuilder().getStringAttr(name);
  StringRef keyword;
  SMLoc keywordLoc = parser.getCurrentLocation();
  while (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (parsePhaseOrRole(parser, keywordLoc, keyword, origin))
      return {};
    keywordLoc = parser.getCurrentLocation();
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<OriginAttr>(loc, parser.getContext(), origin.name,
                                       origin.phase, origin.role);
}

void OriginAttr::print(AsmPrinter &printer) const {
  SmallVector<std::string, 3> parts;
  if (getName())
    llvm::raw_string_ostream(parts.emplace_back()) << getName();
  if (getPhase())
    parts.push_back(stringifyPhase(*getPhase()).str());
  if (getRole())
    parts.push_back(stringifyRole(*getRole()).str());
  printer << '<' << llvm::join(parts, " ") << '>';
}

LogicalResult OriginAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr name, std::optional<Phase> phase,
                                 std::optional<Role> role) {
  if (!name && !phase && !role) // origin_c1
    return emitError() << "expects a name, a phase or a role in an origin";
  if (name && name.empty()) // origin_c2
    return emitError() << "expects a name that is not empty in an origin";
  if (std::string flaw = name ? findFlawOfName(name) : ""; !flaw.empty())
    return emitError() << "expects " << flaw;
  return success();
}

OriginAttr Origin::getAttr(MLIRContext *context) const {
  return name || phase || role ? OriginAttr::get(context, name, phase, role)
                               : OriginAttr();
}

//===----------------------------------------------------------------------===//
// DimAttr
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr> sortNames(ArrayRef<StringAttr> names) {
  SmallVector<StringAttr> sorted(names);
  llvm::sort(sorted, [](StringAttr lhs, StringAttr rhs) {
    return lhs.getValue() < rhs.getValue();
  });
  sorted.erase(llvm::unique(sorted), sorted.end());
  return sorted;
}

static void collectNames(SymExpr expr, SmallVectorImpl<StringAttr> &names) {
  if (expr.isFunction()) {
    ArrayRef<SymExpr> operands = expr.getFunctionOperands();
    SymFunc function = expr.getFunctionKind();
    bool isOneOf = function == SymFunc::Min || function == SymFunc::Max;
    for (SymExpr operand : isOneOf ? operands : operands.take_front())
      collectNames(operand, names);
    return;
  }
  for (const SymExpr::Term &term : expr.getTerms())
    for (const SymExpr::Factor &factor : term.factors) {
      if (factor.exponent < 0)
        continue;
      if (auto symbol = dyn_cast<StringAttr>(factor.atom))
        names.push_back(symbol);
      else
        collectNames(cast<SymExpr>(factor.atom), names);
    }
}

static SmallVector<StringAttr> getDefaultNames(SymExpr extent) {
  // Most extents are one symbol.
  if (StringAttr symbol = extent.getAsSymbol())
    return {symbol};
  SmallVector<StringAttr> names;
  collectNames(extent, names);
  return sortNames(names);
}

DimAttr DimAttr::get(SymExpr extent) {
  return get(extent.getContext(), getDefaultNames(extent), extent);
}

DimAttr DimAttr::get(StringAttr name, SymExpr extent) {
  return get(extent.getContext(), ArrayRef<StringAttr>(name), extent);
}

DimAttr DimAttr::withExtent(SymExpr extent) const {
  return get(getContext(), getNames(), extent);
}

DimAttr DimAttr::getJoined(ArrayRef<DimAttr> dims, SymExpr extent) {
  SmallVector<StringAttr> names;
  for (DimAttr dim : dims)
    llvm::append_range(names, dim.getNames());
  return get(extent.getContext(), sortNames(names), extent);
}

LogicalResult DimAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<StringAttr> names, SymExpr) {
  for (size_t i = 1; i < names.size(); ++i)
    if (names[i - 1].getValue() >= names[i].getValue()) // dim_c1
      return emitError() << "dimension has the names '"
                         << names[i - 1].getValue() << "' and '"
                         << names[i].getValue()
                         << "', expected them sorted and distinct";
  return success();
}

/// True for what reads back as a name without quotes.
static bool isWord(StringRef name) {
  return !name.empty() && name != "_" &&
         (llvm::isAlpha(name.front()) || name.front() == '_') &&
         llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
         });
}

static void printName(raw_ostream &os, StringAttr name) {
  if (isWord(name)) {
    os << name.getValue();
    return;
  }
  os << '"';
  llvm::printEscapedString(name.getValue(), os);
  os << '"';
}

static void printNames(raw_ostream &os, ArrayRef<StringAttr> names) {
  if (names.empty())
    os << '_';
  os << (names.size() > 1 ? "(" : "");
  llvm::interleaveComma(names, os,
                        [&](StringAttr name) { printName(os, name); });
  os << (names.size() > 1 ? ")" : "");
}

std::string DimAttr::getNamesText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printNames(os, getNames());
  return text;
}

void DimAttr::printInline(raw_ostream &os) const {
  if (getNames() != ArrayRef(getDefaultNames(getExtent()))) {
    printNames(os, getNames());
    os << " = ";
  }
  getExtent().print(os);
}

std::string DimAttr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printInline(os);
  return text;
}

namespace {
/// Reads a dimension. Its extent may begin as its names do, so what has been
/// read until there is no `=` belongs to the extent.
class DimParser {
public:
  explicit DimParser(AsmParser &parser) : parser(parser) {}
  FailureOr<DimAttr> parse();

private:
  StringAttr parseOptionalName(bool &isQuoted);
  FailureOr<DimAttr> parseNamed();
  FailureOr<DimAttr> parseList(StringAttr first);
  FailureOr<DimAttr> parseExtent();

  AsmParser &parser;
  SmallVector<StringAttr> names;
  SymExpr::Beginning beginning;
};
} // namespace

StringAttr DimParser::parseOptionalName(bool &isQuoted) {
  StringRef keyword;
  std::string text;
  isQuoted = succeeded(parser.parseOptionalString(&text));
  if (isQuoted)
    return parser.getBuilder().getStringAttr(text);
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    return parser.getBuilder().getStringAttr(keyword);
  return {};
}

/// After `=`.
FailureOr<DimAttr> DimParser::parseNamed() {
  FailureOr<SymExpr> extent = SymExpr::parse(parser);
  if (failed(extent))
    return failure();
  return DimAttr::get(parser.getContext(), sortNames(names), *extent);
}

FailureOr<DimAttr> DimParser::parseExtent() {
  FailureOr<SymExpr> extent = SymExpr::parse(parser, beginning);
  if (failed(extent))
    return failure();
  return DimAttr::get(*extent);
}

/// After `(H,`.
FailureOr<DimAttr> DimParser::parseList(StringAttr first) {
  names.push_back(first);
  auto parseName = [&]() -> ParseResult {
    bool isQuoted;
    SMLoc loc = parser.getCurrentLocation();
    StringAttr name = parseOptionalName(isQuoted);
    if (!name)
      return parser.emitError(loc, "expected a name of the dimension");
    names.push_back(name);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseName) || parser.parseRParen() ||
      parser.parseEqual())
    return failure();
  return parseNamed();
}

FailureOr<DimAttr> DimParser::parse() {
  bool isQuoted;
  beginning.location = parser.getCurrentLocation();
  beginning.opens = succeeded(parser.parseOptionalLParen());
  StringAttr name = parseOptionalName(isQuoted);
  if (beginning.opens && name &&
      (succeeded(parser.parseOptionalComma()) || isQuoted))
    return parseList(name);
  if (!beginning.opens && name && succeeded(parser.parseOptionalEqual())) {
    if (isQuoted || name != "_")
      names.push_back(name);
    return parseNamed();
  }
  if (isQuoted)
    return parser.parseEqual(); // Which is not there.
  beginning.symbol = name;
  return parseExtent();
}

FailureOr<DimAttr> DimAttr::parseInline(AsmParser &parser) {
  return DimParser(parser).parse();
}

Attribute DimAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<DimAttr> dim = parseInline(parser);
  if (failed(dim) || parser.parseGreater())
    return {};
  return *dim;
}

void DimAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printInline(printer.getStream());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// TaskAttr, CoordinatesAttr, GradientAttr
//===----------------------------------------------------------------------===//

Attribute TaskAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<TaskKind> kind = symbolizeTaskKind(keyword);
  if (!kind) {
    parser.emitError(loc) << "unknown kind of task '" << keyword << "'";
    return {};
  }
  int64_t sends = 0;
  bool saves = false, variant = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("saves")))
      saves = true;
    else if (succeeded(parser.parseOptionalKeyword("variant")))
      variant = true;
    else if (parser.parseKeyword("sends") || parser.parseEqual() ||
             parser.parseInteger(sends))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TaskAttr>(loc, parser.getContext(), *kind, sends,
                                     saves, variant);
}

void TaskAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyTaskKind(getKind());
  if (getSends())
    printer << ", sends = " << getSends();
  printer << (getSaves() ? ", saves" : "") << (getVariant() ? ", variant" : "")
          << '>';
}

LogicalResult TaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               TaskKind, int64_t sends, bool, bool) {
  if (sends < 0) // task_c1
    return emitError() << "has a task that sends " << sends
                       << " values, expected at least 0";
  return success();
}

Attribute CoordinatesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> coordinates;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    StringRef axis;
    if (parser.parseKeyword(&axis) || parser.parseEqual() ||
        parser.parseInteger(coordinates.emplace_back()))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(axis));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis, " in coordinates"))
    return {};
  return parser.getChecked<CoordinatesAttr>(loc, parser.getContext(), axes,
                                            coordinates);
}

void CoordinatesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(
      llvm::zip_equal(getAxes(), getCoordinates()), printer, [&](auto entry) {
        printer << std::get<0>(entry).getValue() << " = " << std::get<1>(entry);
      });
  printer << '>';
}

LogicalResult
CoordinatesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        ArrayRef<StringAttr> axes,
                        ArrayRef<int64_t> coordinates) {
  SmallPtrSet<Attribute, 4> seen;
  for (auto [axis, coordinate] : llvm::zip_equal(axes, coordinates)) {
    if (!seen.insert(axis).second) // coordinates_c1
      return emitError() << "has two coordinates on axis '" << axis.getValue()
                         << "'";
    if (coordinate < 0) // coordinates_c2
      return emitError() << "has the coordinate " << coordinate << " on axis '"
                         << axis.getValue() << "', expected at least 0";
  }
  return success();
}

DictionaryAttr CoordinatesAttr::getDictionary() const {
  Builder builder(getContext());
  NamedAttrList entries;
  for (auto [axis, coordinate] : llvm::zip_equal(getAxes(), getCoordinates()))
    entries.set(axis, builder.getI64IntegerAttr(coordinate));
  return entries.getDictionary(getContext());
}

LogicalResult ContextAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  KeyExchange, TokenShare, ArrayAttr axes) {
  if (!axes)
    return success();
  SmallPtrSet<Attribute, 4> seen;
  for (Attribute axis : axes) // context_c1
    if (!isa<StringAttr>(axis) || !seen.insert(axis).second)
      return emitError() << "has tokens over " << axes
                         << ", expected distinct names of axes";
  if (axes.empty())
    return emitError() << "has tokens over no axis";
  return success();
}

LogicalResult GradientAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<StringAttr> path) {
  if (path.empty() || llvm::any_of(path, [](StringAttr name) { // gradient_c1
        return name.empty();
      }))
    return emitError() << "expects the repeats around a parameter and its "
                          "name, none of them empty";
  return success();
}

//===----------------------------------------------------------------------===//
// RequestsAttr
//===----------------------------------------------------------------------===//

/// `(512, 0)` or `(5, 1024, 5)`.
static ParseResult parseRequest(AsmParser &parser,
                                SmallVectorImpl<SymExpr> &numbers) {
  auto parseNumber = [&]() -> ParseResult {
    FailureOr<SymExpr> number = SymExpr::parse(parser);
    if (failed(number))
      return failure();
    numbers.push_back(*number);
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseNumber,
                                     " in request"))
    return failure();
  if (numbers.size() == 2)
    numbers.push_back(SymExpr::get(parser.getContext(), 1));
  if (numbers.size() == 3)
    return success();
  return parser.emitError(loc)
         << "has " << numbers.size()
         << " numbers, expected new and cached tokens and rows of logits";
}

/// `64 *` or `[n] *`; 1 where there is nothing.
static FailureOr<SymExpr> parseCount(AsmParser &parser) {
  int64_t number = 1;
  if (succeeded(parser.parseOptionalLSquare())) {
    FailureOr<SymExpr> count = SymExpr::parse(parser);
    if (failed(count) || parser.parseRSquare() || parser.parseStar())
      return failure();
    return count;
  }
  if (OptionalParseResult parsed = parser.parseOptionalInteger(number);
      parsed.has_value() && (failed(*parsed) || parser.parseStar()))
    return failure();
  return SymExpr::get(parser.getContext(), number);
}

Attribute RequestsAttr::parse(AsmParser &parser, Type) {
  SmallVector<SymExpr> counts, newTokens, cachedTokens, logits;
  auto parseEntry = [&]() -> ParseResult {
    SmallVector<SymExpr> numbers;
    FailureOr<SymExpr> count = parseCount(parser);
    if (failed(count) || parseRequest(parser, numbers))
      return failure();
    counts.push_back(*count);
    newTokens.push_back(numbers[0]);
    cachedTokens.push_back(numbers[1]);
    logits.push_back(numbers[2]);
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseEntry, " in requests"))
    return {};
  return parser.getChecked<RequestsAttr>(loc, parser.getContext(), counts,
                                         newTokens, cachedTokens, logits);
}

void RequestsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  for (unsigned i = 0, e = getCounts().size(); i != e; ++i) {
    printer << (i ? ", " : "");
    SymExpr count = getCounts()[i];
    if (!count.isConstant())
      printer << '[' << count.str() << "] * ";
    else if (!count.isOne())
      printer << count.str() << " * ";
    printer << '(' << getNewTokens()[i].str() << ", "
            << getCachedTokens()[i].str();
    if (!getLogits()[i].isOne())
      printer << ", " << getLogits()[i].str();
    printer << ')';
  }
  printer << '>';
}

LogicalResult RequestsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<SymExpr> counts,
                                   ArrayRef<SymExpr> newTokens,
                                   ArrayRef<SymExpr> cachedTokens,
                                   ArrayRef<SymExpr> logits) {
  if (counts.empty()) // requests_c1
    return emitError() << "expects a request";
  for (SymExpr count : counts)
    if (!count.canBeExtent()) // requests_c2
      return emitError() << "has a request " << count.str()
                         << " times, expected at least 1";
  if (newTokens.size() != counts.size() ||
      cachedTokens.size() != counts.size() || logits.size() != counts.size())
    return emitError() << "expects three numbers for each request";
  return success();
}

SymExpr RequestsAttr::getSum(
    function_ref<SymExpr(SymExpr newTokens, SymExpr cachedTokens)> get) const {
  SymExpr sum = SymExpr::get(getContext(), 0);
  for (auto [count, fresh, cached] :
       llvm::zip_equal(getCounts(), getNewTokens(), getCachedTokens()))
    sum = sum + get(fresh, cached) * count;
  return sum;
}

SymExpr RequestsAttr::getNumNew() const {
  return getSum([](SymExpr fresh, SymExpr) { return fresh; });
}

SymExpr RequestsAttr::getNumCached() const {
  return getSum([](SymExpr, SymExpr cached) { return cached; });
}

SymExpr RequestsAttr::getNumLogits() const {
  SymExpr sum = SymExpr::get(getContext(), 0);
  for (auto [count, rows] : llvm::zip_equal(getCounts(), getLogits()))
    sum = sum + rows * count;
  return sum;
}

//===----------------------------------------------------------------------===//
// RuleAttr
//===----------------------------------------------------------------------===//

FailureOr<RuleAttr> RuleAttr::parseBare(AsmParser &parser) {
  StringRef dim, axis;
  if (parser.parseKeyword(&dim) || parser.parseColon() ||
      parser.parseKeyword(&axis))
    return failure();
  RuleScope scope = RuleScope::All;
  // '@' alone is no token: '@stream' is one, a symbol name.
  StringAttr name;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalSymbolName(name))) {
    std::optional<RuleScope> known = symbolizeRuleScope(name.getValue());
    if (!known || *known == RuleScope::All)
      return parser.emitError(loc) << "expected one of @param, @input, @stream "
                                      "for the scope of a rule, found '@"
                                   << name.getValue() << "'";
    scope = *known;
  }
  Builder &builder = parser.getBuilder();
  return RuleAttr::get(parser.getContext(), builder.getStringAttr(dim),
                       builder.getStringAttr(axis), scope);
}

void RuleAttr::printBare(AsmPrinter &printer) const {
  printer << getDim().getValue() << " : " << getAxis().getValue();
  if (getScope() != RuleScope::All)
    printer << " @" << stringifyRuleScope(getScope());
}

Attribute RuleAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<RuleAttr> rule = parseBare(parser);
  if (failed(rule) || parser.parseGreater())
    return {};
  return *rule;
}

void RuleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBare(printer);
  printer << '>';
}

llvm::Expected<RuleAttr> RuleAttr::parseText(MLIRContext *context,
                                             StringRef text) {
  auto [dim, rest] = text.split(':');
  auto [axis, scope] = rest.split('@');
  dim = dim.trim();
  axis = axis.trim();
  std::optional<RuleScope> known =
      rest.contains('@') ? symbolizeRuleScope(scope.trim()) : RuleScope::All;
  // Nothing is written for all values.
  bool isAll = rest.contains('@') && known == RuleScope::All;
  if (dim.empty() || axis.empty() || !known || isAll)
    return llvm::createStringError(
        "'" + text.trim() +
        "' is not a sharding rule, expected 'DIM:AXIS' or 'DIM:AXIS@SCOPE' "
        "with the scope param, input or stream");
  return RuleAttr::get(context, StringAttr::get(context, dim),
                       StringAttr::get(context, axis), *known);
}

std::string RuleAttr::str() const {
  std::string text = (getDim().getValue() + ":" + getAxis().getValue()).str();
  if (getScope() != RuleScope::All)
    text += ("@" + stringifyRuleScope(getScope())).str();
  return text;
}

//===----------------------------------------------------------------------===//
// ShardingAttr
//===----------------------------------------------------------------------===//

static ParseResult parseAxisName(AsmParser &parser,
                                 SmallVectorImpl<Attribute> &axes) {
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  axes.push_back(parser.getBuilder().getStringAttr(name));
  return success();
}

/// `tp` or `(dp, cp)`
static ParseResult parseAxes(AsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseCommaSeparatedList(
            [&] { return parseAxisName(parser, names); }) ||
        parser.parseRParen())
      return failure();
  } else if (parseAxisName(parser, names)) {
    return failure();
  }
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxisNames(AsmPrinter &printer, ArrayAttr axes) {
  llvm::interleaveComma(axes.getAsRange<StringAttr>(), printer,
                        [&](StringAttr axis) { printer << axis.getValue(); });
}

static void printAxes(AsmPrinter &printer, ArrayAttr axes) {
  bool several = axes.size() > 1;
  printer << (several ? "(" : "");
  printAxisNames(printer, axes);
  printer << (several ? ")" : "");
}

/// `sum(tp, dp)`, after the comma.
static ParseResult parsePartial(AsmParser &parser, ReduceKind &kind,
                                ArrayAttr &axes) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<ReduceKind> parsed = symbolizeReduceKind(keyword);
  if (!parsed)
    return parser.emitError(loc)
           << "expected 'sum' or 'max' for a partial value, found '" << keyword
           << "'";
  kind = *parsed;
  SmallVector<Attribute> names;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parseAxisName(parser, names);
      }))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printPartial(AsmPrinter &printer, ShardingAttr sharding) {
  if (sharding.getPartialAxes().empty())
    return;
  printer << ", " << stringifyReduceKind(sharding.getPartialKind()) << '(';
  printAxisNames(printer, sharding.getPartialAxes());
  printer << ')';
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<ArrayAttr> dims;
  ArrayAttr partial = parser.getBuilder().getArrayAttr({});
  ReduceKind kind = ReduceKind::Sum;
  auto parseDim = [&]() -> ParseResult {
    SmallVector<Attribute> names;
    if (parser.parseCommaSeparatedList(
            AsmParser::Delimiter::OptionalBraces,
            [&] { return parseAxisName(parser, names); }))
      return failure();
    dims.push_back(parser.getBuilder().getArrayAttr(names));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      parsePartial(parser, kind, partial))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ShardingAttr>(loc, parser.getContext(), dims,
                                         partial, kind);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDimAxes(), printer, [&](ArrayAttr axes) {
    printer << '{';
    printAxisNames(printer, axes);
    printer << '}';
  });
  printer << ']';
  printPartial(printer, *this);
  printer << '>';
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ArrayAttr> dimAxes,
                                   ArrayAttr partialAxes, ReduceKind) {
  SmallPtrSet<Attribute, 4> seen;
  auto check = [&](ArrayAttr axes) -> LogicalResult {
    for (auto axis : axes.getAsRange<StringAttr>())
      if (!seen.insert(axis).second) // sharding_c1, tensor_c2
        return emitError() << "mesh axis '" << axis.getValue()
                           << "' is used twice in one tensor";
    return success();
  };
  for (ArrayAttr axes : dimAxes)
    if (failed(check(axes)))
      return failure();
  return check(partialAxes);
}

bool ShardingAttr::isTrivial() const {
  return getPartialAxes().empty() &&
         llvm::all_of(getDimAxes(),
                      [](ArrayAttr axes) { return axes.empty(); });
}

bool ShardingAttr::shardsOver(StringAttr axis) const {
  return llvm::any_of(getDimAxes(), [&](ArrayAttr axes) {
    return llvm::is_contained(axes, axis);
  });
}

bool ShardingAttr::uses(StringAttr axis) const {
  return shardsOver(axis) || llvm::is_contained(getPartialAxes(), axis);
}

//===----------------------------------------------------------------------===//
// FactorsAttr
//===----------------------------------------------------------------------===//

static void sortByName(SmallVectorImpl<FactorsAttr::Entry> &entries) {
  llvm::sort(entries, [](const auto &lhs, const auto &rhs) {
    return lhs.first.getValue() < rhs.first.getValue();
  });
}

FactorsAttr FactorsAttr::get(MLIRContext *context, SmallVector<Entry> entries) {
  if (entries.empty())
    return {};
  sortByName(entries);
  return get(context, llvm::to_vector(llvm::make_first_range(entries)),
             llvm::to_vector(llvm::make_second_range(entries)));
}

ArrayAttr FactorsAttr::lookup(StringRef factor) const {
  for (auto [name, axes] : llvm::zip_equal(getFactors(), getAxes()))
    if (name.getValue() == factor)
      return axes;
  return {};
}

Attribute FactorsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Entry> entries;
  auto parseFactor = [&]() -> ParseResult {
    StringRef factor;
    ArrayAttr axes;
    if (parser.parseKeyword(&factor) || parser.parseColon() ||
        parseAxes(parser, axes))
      return failure();
    entries.emplace_back(parser.getBuilder().getStringAttr(factor), axes);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseFactor, " in factors"))
    return {};
  sortByName(entries);
  return parser.getChecked<FactorsAttr>(
      loc, parser.getContext(),
      llvm::to_vector(llvm::make_first_range(entries)),
      llvm::to_vector(llvm::make_second_range(entries)));
}

void FactorsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(llvm::zip_equal(getFactors(), getAxes()), printer,
                        [&](auto entry) {
                          auto [factor, axes] = entry;
                          printer << factor.getValue() << " : ";
                          printAxes(printer, axes);
                        });
  printer << '>';
}

LogicalResult FactorsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<StringAttr> factors,
                                  ArrayRef<ArrayAttr> axes) {
  if (factors.empty() || factors.size() != axes.size())
    return emitError() << "expects axes for each of at least one factor";
  if (!llvm::is_sorted(factors, [](StringAttr lhs, StringAttr rhs) {
        return lhs.getValue() < rhs.getValue();
      }))
    return emitError() << "factors are not in the order of their names";
  SmallPtrSet<Attribute, 4> seen, used;
  for (auto [factor, own] : llvm::zip_equal(factors, axes)) {
    if (own.empty() || !seen.insert(factor).second) // factors_c1
      return emitError() << "factor '" << factor.getValue()
                         << (own.empty() ? "' has no mesh axis"
                                         : "' is listed twice");
    for (auto axis : own.getAsRange<StringAttr>())
      if (!used.insert(axis).second) // factors_c2
        return emitError() << "factors are over mesh axis '" << axis.getValue()
                           << "' twice";
  }
  return success();
}

LogicalResult
FactorsAttr::verifySymbolUses(Operation *op,
                              SymbolTableCollection &symbolTable) const {
  MeshOp mesh = MeshOp::lookup(op, symbolTable);
  if (!mesh)
    return op->emitOpError("computes factors over mesh axes, but there is no "
                           "mesh; declare one with 'stg.mesh'");
  for (ArrayAttr axes : getAxes()) // factors_c3
    if (failed(stg::detail::verifyMeshAxes(op, mesh, axes)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

static ParseResult parseState(AsmParser &parser, AxisState &state) {
  int64_t dim;
  OptionalParseResult number = parser.parseOptionalInteger(dim);
  if (number.has_value()) {
    state = AxisState::getDivided(dim);
    return *number;
  }
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  if (word == "flat")
    state = {AxisState::Flat};
  else if (word == "unknown")
    state = {AxisState::Unknown};
  else if (std::optional<ReduceKind> kind = symbolizeReduceKind(word))
    state = AxisState::getPartial(*kind);
  else
    return parser.emitError(loc) << "expected a dimension, 'flat', 'sum', "
                                    "'max' or 'unknown', found '"
                                 << word << "'";
  return success();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<AxisState> states;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    StringRef axis;
    if (parser.parseKeyword(&axis) || parser.parseColon() ||
        parseState(parser, states.emplace_back()))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(axis));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis, " in layout"))
    return {};
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), axes, states);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(
      llvm::zip_equal(getAxes(), getStates()), printer, [&](auto entry) {
        auto [axis, state] = entry;
        printer << axis.getValue() << " : ";
        if (state.kind == AxisState::Divided)
          printer << state.dim;
        else if (state.kind == AxisState::Partial)
          printer << stringifyReduceKind(state.reduction);
        else
          printer << (state.kind == AxisState::Flat ? "flat" : "unknown");
      });
  printer << '>';
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<StringAttr> axes,
                                 ArrayRef<AxisState> states) {
  if (axes.size() != states.size())
    return emitError() << "layout has " << axes.size() << " axes and "
                       << states.size() << " states, expected as many";
  SmallPtrSet<Attribute, 4> seen;
  for (auto [axis, state] : llvm::zip_equal(axes, states)) {
    if (!seen.insert(axis).second) // layout_c1
      return emitError() << "layout lists axis '" << axis.getValue()
                         << "' twice";
    if (state.kind == AxisState::Whole)
      return emitError() << "layout lists axis '" << axis.getValue()
                         << "', over which the value is whole";
  }
  return success();
}

AxisState LayoutAttr::getState(StringAttr axis) const {
  for (auto [name, state] : llvm::zip_equal(getAxes(), getStates()))
    if (name == axis)
      return state;
  return {AxisState::Whole};
}

LogicalResult stg::detail::verifyLayout(Operation *op, LayoutAttr layout,
                                        Type type) { // layout_c2
  if (!layout)
    return success();
  auto tensor = dyn_cast<SymTensorType>(type);
  if (!tensor)
    return op->emitOpError("has a layout of what is no !stg.tensor");
  bool isFlat = llvm::any_of(layout.getStates(), [](AxisState state) {
    return state.kind == AxisState::Flat;
  });
  for (auto [axis, state] :
       llvm::zip_equal(layout.getAxes(), layout.getStates())) {
    bool isDim = state.dim >= 0 && (isFlat || state.dim < tensor.getRank());
    if (state.kind == AxisState::Divided && !isDim)
      return op->emitOpError("has the layout ")
             << layout << ", which divides dimension " << state.dim
             << " of a tensor of rank " << tensor.getRank();
  }
  return success();
}

LogicalResult stg::detail::verifyLayoutAxes(Operation *op, LayoutAttr layout,
                                            MeshOp mesh) { // layout_c2
  if (mesh)
    return verifyMeshAxes(op, mesh, layout.getAxes());
  return op->emitOpError("has a layout, but there is no mesh; declare one with "
                         "'stg.mesh'");
}

LogicalResult
LayoutAttr::verifySymbolUses(Operation *op,
                             SymbolTableCollection &symbolTable) const {
  return stg::detail::verifyLayoutAxes(op, *this,
                                       MeshOp::lookup(op, symbolTable));
}

//===----------------------------------------------------------------------===//
// SymTensorType
//===----------------------------------------------------------------------===//

Type SymTensorType::parse(AsmParser &parser) {
  SmallVector<DimAttr> dims;
  SmallVector<ArrayAttr> dimAxes;
  ArrayAttr none = parser.getBuilder().getArrayAttr({});
  auto parseDim = [&]() -> ParseResult {
    FailureOr<DimAttr> dim = DimAttr::parseInline(parser);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    dimAxes.push_back(none);
    if (succeeded(parser.parseOptionalColon()))
      return parseAxes(parser, dimAxes.back());
    return success();
  };
  Type elementType;
  ReduceKind kind = ReduceKind::Sum;
  ArrayAttr partial = none;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim,
                                     " in tensor shape") ||
      parser.parseComma() || parser.parseType(elementType))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      parsePartial(parser, kind, partial))
    return {};
  if (parser.parseGreater())
    return {};
  auto sharding = parser.getChecked<ShardingAttr>(loc, parser.getContext(),
                                                  dimAxes, partial, kind);
  if (!sharding)
    return {};
  return parser.getChecked<SymTensorType>(
      loc, parser.getContext(), ArrayRef<DimAttr>(dims), elementType,
      sharding.isTrivial() ? ShardingAttr() : sharding);
}

void SymTensorType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(
      llvm::seq<int64_t>(0, getRank()), printer, [&](int64_t dim) {
        getDim(dim).printInline(printer.getStream());
        if (!getSharding() || getSharding().getDimAxes()[dim].empty())
          return;
        printer << " : ";
        printAxes(printer, getSharding().getDimAxes()[dim]);
      });
  printer << "], " << getElementType();
  if (getSharding())
    printPartial(printer, getSharding());
  printer << '>';
}

bool SymTensorType::isValidElementType(Type type) {
  if (isa<ScaledType, MixedType>(type))
    return true;
  if (!type.isIntOrFloat())
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  return isa<Float4E2M1FNType>(type) || (width > 0 && width % 8 == 0);
}

LogicalResult
SymTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<DimAttr> dims, Type elementType,
                      ShardingAttr sharding) {
  // tensor_c1
  if (!isValidElementType(elementType))
    return emitError()
           << "element type " << elementType
           << " is not an integer or float of whole bytes, or f4E2M1FN";
  SymExpr count;
  for (DimAttr dim : dims) { // tensor_c3
    SymExpr extent = dim.getExtent();
    std::optional<Rational> number = extent.getConstant();
    if (number && !(Rational(0) < *number))
      return emitError() << "dimension " << extent
                         << " is not an integer of at least 1";
    count = count ? count * extent : extent;
  }
  if (count && !count.canBeExtent())
    for (DimAttr dim : dims)
      if (!dim.getExtent().canBeExtent())
        return emitError() << "dimension " << dim.getExtent()
                           << " is not an integer of at least 1, and the "
                           << count << " elements are no integer";
  if (auto mixed = dyn_cast<MixedType>(elementType)) { // tensor_c4
    SymExpr row;
    for (SymExpr extent : mixed.getExtents())
      row = row ? row + extent : extent;
    if (dims.empty() || dims.back().getExtent() != row)
      return emitError() << "rows of type " << elementType << " have "
                         << row.str()
                         << " elements, which the last dimension has not";
  }
  if (sharding && sharding.getDimAxes().size() != dims.size())
    return emitError() << "sharding has " << sharding.getDimAxes().size()
                       << " dimensions, the tensor has " << dims.size();
  return success();
}

SymExpr SymTensorType::getNumElements() const {
  // Numbers first, which are interned once; most extents are numbers in the
  // end.
  int64_t known = 1;
  SymExpr count;
  for (SymExpr dim : getShape()) {
    std::optional<int64_t> number = dim.getInt64();
    if (int64_t product; number && !llvm::MulOverflow(known, *number, product))
      known = product;
    else
      count = count ? count * dim : dim;
  }
  return count ? count * known : SymExpr::get(getContext(), known);
}

/// What is stored of an element beside its scale.
static Type getStoredType(Type elementType) {
  if (auto mixed = dyn_cast<MixedType>(elementType))
    elementType = mixed.getTypes().front();
  auto scaled = dyn_cast<ScaledType>(elementType);
  return scaled ? scaled.getElementType() : elementType;
}

int64_t SymTensorType::getElementBytes() const {
  return llvm::divideCeil(
      getStoredType(getElementType()).getIntOrFloatBitWidth(), 8);
}

/// Blocks of the tensor that have a scale each.
static SymExpr getNumScales(SymTensorType type, ArrayRef<int64_t> blocks) {
  MLIRContext *context = type.getContext();
  SymExpr one = SymExpr::get(context, 1), count = one, joined = one;
  // Tensors of fewer dimensions have the last blocks.
  int64_t offset = static_cast<int64_t>(blocks.size()) - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t block = offset + dim < 0 ? 1 : blocks[offset + dim];
    joined = joined * type.getShape()[dim];
    if (block == 0)
      continue;
    if (block > 0)
      count =
          count * SymExpr::getFunction(SymFunc::CeilDiv,
                                       {joined, SymExpr::get(context, block)});
    joined = one;
  }
  return count;
}

/// Elements of 4 bits are two to a byte.
SymExpr SymTensorType::getNumBytes() const {
  if (auto mixed = dyn_cast<MixedType>(getElementType())) {
    SymExpr sum = SymExpr::get(getContext(), 0);
    SmallVector<DimAttr> dims(getDims());
    for (auto [extent, type] :
         llvm::zip_equal(mixed.getExtents(), mixed.getTypes())) {
      dims.back() = dims.back().withExtent(extent);
      sum = sum + SymTensorType::get(getContext(), dims, type).getNumBytes();
    }
    return sum;
  }
  SymExpr elements = getNumElements(), bytes = elements * getElementBytes();
  if (getStoredType(getElementType()).getIntOrFloatBitWidth() == 4)
    bytes = SymExpr::getFunction(SymFunc::CeilDiv,
                                 {elements, SymExpr::get(getContext(), 2)});
  auto scaled = dyn_cast<ScaledType>(getElementType());
  if (!scaled)
    return bytes;
  int64_t width = scaled.getScaleType().getIntOrFloatBitWidth() / 8;
  return bytes + getNumScales(*this, scaled.getBlocks()) * width;
}

LogicalResult ScaledType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Type elementType, Type scaleType,
                                 ArrayRef<int64_t> blocks) {
  unsigned width =
      elementType.isIntOrFloat() ? elementType.getIntOrFloatBitWidth() : 0;
  if (width != 4 && width != 8) // scaled_c1
    return emitError() << "element type " << elementType
                       << " is not an integer or float of 4 or 8 bits";
  if (!isa<FloatType>(scaleType) || scaleType.getIntOrFloatBitWidth() % 8)
    return emitError() << "scale type " << scaleType
                       << " is not a float of whole bytes";
  if (blocks.empty() || blocks.back() == 0 || // scaled_c2
      llvm::any_of(blocks, [](int64_t block) { return block < -1; }))
    return emitError() << "blocks are [" << blocks
                       << "], expected numbers of at least -1, of which the "
                          "last one is not 0";
  return success();
}

LogicalResult MixedType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<SymExpr> extents,
                                ArrayRef<Type> types) {
  if (extents.size() != types.size() || types.size() < 2) // mixed_c1
    return emitError() << "a row has " << extents.size() << " parts of "
                       << types.size() << " types, expected as many, at least "
                       << "two";
  for (Type type : types) // mixed_c2
    if (isa<MixedType>(type) || !SymTensorType::isValidElementType(type))
      return emitError() << "a part of a row has type " << type
                         << ", expected that of an element";
  return success();
}

SymTensorType SymTensorType::withoutSharding() const {
  return SymTensorType::get(getContext(), getDims(), getElementType());
}

SymTensorType SymTensorType::withSharding(ShardingAttr sharding) const {
  if (sharding && sharding.isTrivial())
    sharding = {};
  return SymTensorType::get(getContext(), getDims(), getElementType(),
                            sharding);
}

SymTensorType SymTensorType::withElementType(Type elementType) const {
  return SymTensorType::get(getContext(), getDims(), elementType,
                            getSharding());
}

SymTensorType SymTensorType::withDims(ArrayRef<DimAttr> dims) const {
  return SymTensorType::get(getContext(), dims, getElementType(),
                            getSharding());
}

SymTensorType SymTensorType::getStacked(DimAttr leading) const {
  SmallVector<DimAttr> stacked{leading};
  llvm::append_range(stacked, getDims());
  ShardingAttr sharding = getSharding();
  if (sharding) {
    SmallVector<ArrayAttr> dims{ArrayAttr::get(getContext(), {})};
    llvm::append_range(dims, sharding.getDimAxes());
    sharding = ShardingAttr::get(getContext(), dims, sharding.getPartialAxes(),
                                 sharding.getPartialKind());
  }
  return SymTensorType::get(getContext(), stacked, getElementType(), sharding);
}

SymTensorType SymTensorType::getSlice() const {
  assert(getRank() > 0 && "a stack has a leading dimension");
  ShardingAttr sharding = getSharding();
  if (sharding)
    sharding =
        ShardingAttr::get(getContext(), sharding.getDimAxes().drop_front(),
                          sharding.getPartialAxes(), sharding.getPartialKind());
  return SymTensorType::get(getContext(), getDims().drop_front(),
                            getElementType(), sharding)
      .withSharding(sharding);
}

bool SymTensorType::equalUpToSharding(Type lhs, Type rhs) {
  if (lhs == rhs)
    return true;
  auto lhsTensor = dyn_cast<SymTensorType>(lhs);
  auto rhsTensor = dyn_cast<SymTensorType>(rhs);
  if (!lhsTensor || !rhsTensor)
    return lhs == rhs;
  return lhsTensor.withoutSharding() == rhsTensor.withoutSharding();
}

bool stg::detail::equalUpToSharding(TypeRange lhs, TypeRange rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of(llvm::zip_equal(lhs, rhs), [](auto pair) {
           return SymTensorType::equalUpToSharding(std::get<0>(pair),
                                                   std::get<1>(pair));
         });
}
