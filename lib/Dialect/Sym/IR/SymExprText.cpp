//===- SymExprText.cpp - Text of symbolic expressions ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Printing, and parsing by one grammar from two sources of tokens: a file under
// MLIR's parser, or a piece of text such as the value of a flag.
//
//   expr   ::= `-`? term ((`+` | `-`) term)*
//   term   ::= factor ((`*` | `/`) factor)*
//   factor ::= integer | symbol | `(` expr `)`
//            | (`ceildiv` | `min` | `max` | `hits`) `(` expr (`,` expr)* `)`
//
//===----------------------------------------------------------------------===//

#include "SymExprDetail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;
using llvm::DynamicAPInt;
using llvm::SMLoc;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printAtom(raw_ostream &os, Attribute atom) {
  if (auto symbol = dyn_cast<StringAttr>(atom))
    os << symbol.getValue();
  else
    cast<SymExpr>(atom).print(os);
}

/// Prints the product of `number` and of the atoms whose exponents have the
/// sign `sign`, and returns how many factors that were. A number of one is
/// printed only if nothing else is.
static unsigned printProduct(raw_ostream &os, const DynamicAPInt &number,
                             ArrayRef<Factor> factors, int sign) {
  unsigned count = 0;
  if (number != 1) {
    os << number;
    ++count;
  }
  for (const Factor &factor : factors) {
    for (int64_t i = 0; i < factor.exponent * sign; ++i) {
      os << (count++ == 0 ? "" : "*");
      printAtom(os, factor.atom);
    }
  }
  if (count == 0)
    os << 1;
  return count;
}

static void printNumerator(raw_ostream &os, const Term &term) {
  printProduct(os, abs(term.coefficient.num), term.factors, 1);
}

static void printDenominator(raw_ostream &os, const Term &term) {
  std::string text;
  llvm::raw_string_ostream product(text);
  unsigned count =
      printProduct(product, term.coefficient.den, term.factors, -1);
  if (count == 1)
    os << '/' << text;
  else if (count > 1)
    os << "/(" << text << ')';
}

static bool hasDenominator(const Term &term) {
  return !term.coefficient.isInteger() ||
         llvm::any_of(term.factors,
                      [](const Factor &factor) { return factor.exponent < 0; });
}

static bool haveSameDenominator(const Term &lhs, const Term &rhs) {
  auto isBelow = [](const Factor &factor) { return factor.exponent < 0; };
  return lhs.coefficient.den == rhs.coefficient.den &&
         llvm::equal(llvm::make_filter_range(lhs.factors, isBelow),
                     llvm::make_filter_range(rhs.factors, isBelow),
                     [](const Factor &left, const Factor &right) {
                       return left.atom == right.atom &&
                              left.exponent == right.exponent;
                     });
}

static void printSign(raw_ostream &os, const Term &term, bool isFirst) {
  bool isNegative = term.coefficient.num < 0;
  if (isFirst)
    os << (isNegative ? "-" : "");
  else
    os << (isNegative ? " - " : " + ");
}

static void printSum(raw_ostream &os, ArrayRef<Term> terms,
                     bool withDenominators) {
  for (const auto &[index, term] : llvm::enumerate(terms)) {
    printSign(os, term, /*isFirst=*/index == 0);
    printNumerator(os, term);
    if (withDenominators)
      printDenominator(os, term);
  }
}

void SymExpr::print(raw_ostream &os) const {
  if (isFunction()) {
    os << getFunctionName(getFunctionKind()) << '(';
    llvm::interleaveComma(getFunctionOperands(), os,
                          [&](SymExpr operand) { operand.print(os); });
    os << ')';
    return;
  }
  ArrayRef<Term> terms = getTerms();
  if (terms.empty()) {
    os << 0;
    return;
  }
  const Term &first = terms.front();
  bool isOneFraction = terms.size() > 1 && hasDenominator(first) &&
                       llvm::all_of(terms, [&](const Term &term) {
                         return haveSameDenominator(first, term);
                       });
  if (!isOneFraction)
    return printSum(os, terms, /*withDenominators=*/true);
  os << '(';
  printSum(os, terms, /*withDenominators=*/false);
  os << ')';
  printDenominator(os, first);
}

std::string SymExpr::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

raw_ostream &stg::operator<<(raw_ostream &os, SymExpr expr) {
  if (expr)
    expr.print(os);
  else
    os << "<<null expression>>";
  return os;
}

Diagnostic &stg::operator<<(Diagnostic &diag, SymExpr expr) {
  return diag << (expr ? expr.str() : std::string("<<null expression>>"));
}

//===----------------------------------------------------------------------===//
// Sources of tokens
//===----------------------------------------------------------------------===//

namespace {
/// What the grammar needs of a lexer. Nothing is consumed where the result is
/// negative.
class TokenSource {
public:
  virtual ~TokenSource() = default;
  virtual MLIRContext *getContext() = 0;
  virtual SMLoc getLocation() = 0;
  /// One of `+-*/(),`.
  virtual bool consumeIf(char punctuation) = 0;
  virtual bool consumeKeyword(StringRef &keyword) = 0;
  /// An integer without a sign.
  virtual bool consumeInteger(llvm::APInt &value) = 0;
  virtual void emitError(SMLoc location, const Twine &message) = 0;
};

class AsmTokenSource final : public TokenSource {
public:
  AsmTokenSource(AsmParser &parser, const SymExpr::Beginning &beginning)
      : parser(parser), beginning(beginning) {}

  MLIRContext *getContext() override { return parser.getContext(); }
  SMLoc getLocation() override {
    return isInBeginning() ? beginning.location : parser.getCurrentLocation();
  }
  bool consumeIf(char punctuation) override;
  bool consumeKeyword(StringRef &keyword) override;
  bool consumeInteger(llvm::APInt &value) override {
    if (isInBeginning())
      return false;
    OptionalParseResult result = parser.parseOptionalDecimalInteger(value);
    return result.has_value() && succeeded(*result);
  }
  void emitError(SMLoc location, const Twine &message) override {
    parser.emitError(location, message);
  }

private:
  bool isInBeginning() const { return beginning.opens || beginning.symbol; }

  AsmParser &parser;
  SymExpr::Beginning beginning; ///< What is left of it.
};

class TextTokenSource final : public TokenSource {
public:
  TextTokenSource(MLIRContext *context, StringRef text)
      : context(context), text(text), rest(text) {}

  MLIRContext *getContext() override { return context; }
  SMLoc getLocation() override {
    rest = rest.ltrim();
    return SMLoc::getFromPointer(rest.data());
  }
  bool consumeIf(char punctuation) override {
    getLocation();
    return rest.consume_front(StringRef(&punctuation, 1));
  }
  bool consumeKeyword(StringRef &keyword) override;
  bool consumeInteger(llvm::APInt &value) override;
  void emitError(SMLoc location, const Twine &message) override;
  bool isAtEnd() {
    getLocation();
    return rest.empty();
  }
  llvm::Error getError() const { return llvm::createStringError(message); }

private:
  MLIRContext *context;
  StringRef text, rest;
  std::string message; ///< What is wrong.
};
} // namespace

bool AsmTokenSource::consumeKeyword(StringRef &keyword) {
  if (!isInBeginning())
    return succeeded(parser.parseOptionalKeyword(&keyword));
  if (beginning.opens)
    return false;
  keyword = beginning.symbol.getValue();
  beginning.symbol = {};
  return true;
}

bool AsmTokenSource::consumeIf(char punctuation) {
  if (isInBeginning()) {
    bool isNext = beginning.opens && punctuation == '(';
    beginning.opens &= !isNext;
    return isNext;
  }
  switch (punctuation) {
  case '+':
    return succeeded(parser.parseOptionalPlus());
  case '-':
    return succeeded(parser.parseOptionalMinus());
  case '*':
    return succeeded(parser.parseOptionalStar());
  case '/':
    return succeeded(parser.parseOptionalSlash());
  case '(':
    return succeeded(parser.parseOptionalLParen());
  case ')':
    return succeeded(parser.parseOptionalRParen());
  case ',':
    return succeeded(parser.parseOptionalComma());
  }
  llvm_unreachable("not punctuation of the grammar");
}

/// The same names as in a file: `[a-zA-Z_][a-zA-Z0-9_$.]*`.
bool TextTokenSource::consumeKeyword(StringRef &keyword) {
  getLocation();
  if (rest.empty() || (!llvm::isAlpha(rest.front()) && rest.front() != '_'))
    return false;
  keyword = rest.take_while([](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
  });
  rest = rest.drop_front(keyword.size());
  return true;
}

bool TextTokenSource::consumeInteger(llvm::APInt &value) {
  getLocation();
  StringRef digits = rest.take_while(llvm::isDigit);
  if (digits.empty() || digits.getAsInteger(10, value))
    return false;
  rest = rest.drop_front(digits.size());
  return true;
}

void TextTokenSource::emitError(SMLoc location, const Twine &message) {
  size_t column = location.getPointer() - text.data() + 1;
  this->message = (message + " at column " + Twine(column)).str();
}

//===----------------------------------------------------------------------===//
// Grammar
//===----------------------------------------------------------------------===//

namespace {
/// Works on canonical lists of terms, so that the intermediate results of a
/// long expression are not interned.
class ExprParser {
public:
  explicit ExprParser(TokenSource &tokens) : tokens(tokens) {}

  FailureOr<SymExpr> parse();

private:
  ParseResult parseSum(Terms &result);
  ParseResult parseProduct(Terms &result);
  ParseResult parseFactor(Terms &result);
  ParseResult parseNested(Terms &result);
  ParseResult parseInteger(SMLoc location, const llvm::APInt &value,
                           Terms &result);
  ParseResult parseFunction(SMLoc location, SymFunc function, Terms &result);
  ParseResult parseOperands(SmallVectorImpl<SymExpr> &operands);
  ParseResult multiplyBy(SMLoc location, ArrayRef<Term> rhs, Terms &result);
  ParseResult divideBy(SMLoc location, ArrayRef<Term> rhs, Terms &result);

  ParseResult emitError(SMLoc location, const Twine &message) {
    tokens.emitError(location, message);
    return failure();
  }
  ParseResult emitTooLarge(SMLoc location) {
    return emitError(location, "expression is too large");
  }
  std::string describe(ArrayRef<Term> terms) {
    return "'" + intern(tokens.getContext(), terms).str() + "'";
  }

  TokenSource &tokens;
  unsigned nesting = 0;
};
} // namespace

FailureOr<SymExpr> ExprParser::parse() {
  Terms terms;
  if (parseSum(terms))
    return failure();
  return intern(tokens.getContext(), terms);
}

ParseResult ExprParser::parseSum(Terms &result) {
  SMLoc location = tokens.getLocation();
  bool isNegative = tokens.consumeIf('-');
  while (true) {
    Terms term;
    if (parseProduct(term))
      return failure();
    for (Term &part : term)
      if (isNegative)
        part.coefficient = part.coefficient * Rational(-1);
    llvm::append_range(result, term);
    if (result.size() > maxProducts)
      return emitTooLarge(location);
    isNegative = tokens.consumeIf('-');
    if (!isNegative && !tokens.consumeIf('+'))
      break;
  }
  return canonicalize(result) ? success() : emitTooLarge(location);
}

ParseResult ExprParser::parseProduct(Terms &result) {
  if (parseFactor(result))
    return failure();
  while (true) {
    SMLoc location = tokens.getLocation();
    bool isDivision = tokens.consumeIf('/');
    if (!isDivision && !tokens.consumeIf('*'))
      return success();
    Terms rhs;
    if (parseFactor(rhs) || (isDivision ? divideBy(location, rhs, result)
                                        : multiplyBy(location, rhs, result)))
      return failure();
  }
}

ParseResult ExprParser::multiplyBy(SMLoc location, ArrayRef<Term> rhs,
                                   Terms &result) {
  std::optional<Terms> product = multiply(result, rhs);
  if (!product)
    return emitTooLarge(location);
  result = std::move(*product);
  return success();
}

ParseResult ExprParser::divideBy(SMLoc location, ArrayRef<Term> rhs,
                                 Terms &result) {
  if (rhs.empty())
    return emitError(location, "division by zero");
  Quotient quotient = divide(result, rhs);
  if (quotient.status == Quotient::Status::TooLarge)
    return emitTooLarge(location);
  if (quotient.status == Quotient::Status::NotExact)
    return emitError(location, describe(result) + " is not divisible by " +
                                   describe(rhs));
  result = std::move(quotient.terms);
  return success();
}

ParseResult ExprParser::parseFactor(Terms &result) {
  SMLoc location = tokens.getLocation();
  StringRef keyword;
  if (tokens.consumeKeyword(keyword)) {
    // Kept before another token is read, which may overwrite the keyword.
    auto symbol = StringAttr::get(tokens.getContext(), keyword);
    auto function = llvm::StringSwitch<std::optional<SymFunc>>(keyword)
                        .Case("ceildiv", SymFunc::CeilDiv)
                        .Case("min", SymFunc::Min)
                        .Case("max", SymFunc::Max)
                        .Case("hits", SymFunc::Hits)
                        .Default(std::nullopt);
    if (function && tokens.consumeIf('('))
      return parseFunction(location, *function, result);
    result.push_back(Term{Rational(1), {Factor{symbol, 1}}});
    return success();
  }
  if (tokens.consumeIf('('))
    return parseNested(result);
  llvm::APInt value;
  // A minus is tried first because MLIR's parser takes it as part of an
  // integer, which this grammar does not have.
  if (!tokens.consumeIf('-') && tokens.consumeInteger(value))
    return parseInteger(location, value, result);
  return emitError(location, "expected a symbol, an integer or '('");
}

ParseResult ExprParser::parseInteger(SMLoc location, const llvm::APInt &value,
                                     Terms &result) {
  DynamicAPInt number(value.zext(value.getBitWidth() + 1));
  result.push_back(Term{Rational(number, DynamicAPInt(1)), {}});
  return canonicalize(result) ? success() : emitTooLarge(location);
}

/// Parses what follows an opening parenthesis.
ParseResult ExprParser::parseNested(Terms &result) {
  llvm::SaveAndRestore<unsigned> restore(nesting, nesting + 1);
  SMLoc location = tokens.getLocation();
  if (nesting > maxNesting)
    return emitError(location, "expression is nested too deeply");
  if (parseSum(result))
    return failure();
  location = tokens.getLocation();
  return tokens.consumeIf(')') ? success()
                               : emitError(location, "expected ')'");
}

/// Parses what follows the opening parenthesis of a function.
ParseResult ExprParser::parseOperands(SmallVectorImpl<SymExpr> &operands) {
  llvm::SaveAndRestore<unsigned> restore(nesting, nesting + 1);
  SMLoc location = tokens.getLocation();
  if (nesting > maxNesting)
    return emitError(location, "expression is nested too deeply");
  do {
    Terms operand;
    if (parseSum(operand))
      return failure();
    operands.push_back(intern(tokens.getContext(), operand));
  } while (tokens.consumeIf(','));
  location = tokens.getLocation();
  return tokens.consumeIf(')') ? success()
                               : emitError(location, "expected ',' or ')'");
}

ParseResult ExprParser::parseFunction(SMLoc location, SymFunc function,
                                      Terms &result) {
  SmallVector<SymExpr, 2> operands;
  if (parseOperands(operands))
    return failure();
  unsigned number = getNumOperands(function);
  bool mayBeMore = takesMoreOperands(function);
  if (mayBeMore ? operands.size() < number : operands.size() != number)
    return emitError(location, "'" + getFunctionName(function) + "' expects " +
                                   (mayBeMore ? "at least " : "") +
                                   Twine(number) + " operands, found " +
                                   Twine(operands.size()));
  SymExpr application = SymExpr::getFunction(function, operands);
  if (!application)
    return emitTooLarge(location);
  llvm::append_range(result, application.getTerms());
  return success();
}

FailureOr<SymExpr> SymExpr::parse(AsmParser &parser) {
  return parse(parser, Beginning());
}

FailureOr<SymExpr> SymExpr::parse(AsmParser &parser,
                                  const Beginning &beginning) {
  AsmTokenSource tokens(parser, beginning);
  return ExprParser(tokens).parse();
}

llvm::Expected<SymExpr> SymExpr::parse(MLIRContext *context, StringRef text) {
  TextTokenSource tokens(context, text);
  FailureOr<SymExpr> expr = ExprParser(tokens).parse();
  if (failed(expr))
    return tokens.getError();
  if (tokens.isAtEnd())
    return *expr;
  tokens.emitError(tokens.getLocation(), "expected the end of the expression");
  return tokens.getError();
}

//===----------------------------------------------------------------------===//
// custom<Expr>
//===----------------------------------------------------------------------===//

ParseResult stg::parseExpr(AsmParser &parser, SymExpr &expr) {
  FailureOr<SymExpr> parsed = SymExpr::parse(parser);
  if (failed(parsed))
    return failure();
  expr = *parsed;
  return success();
}

void stg::printExpr(AsmPrinter &printer, SymExpr expr) {
  expr.print(printer.getStream());
}

void stg::printExpr(OpAsmPrinter &printer, Operation *, SymExpr expr) {
  expr.print(printer.getStream());
}
